"""Checks of what must not be seen: the answer key, and anything of this machine."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from tool_envs.compliance.episodes import UNKNOWN_TOOL, planned, play, say
from tool_envs.compliance.expectations import expect
from tool_envs.compliance.subject import Subject
from tool_envs.messages import Json
from tool_envs.task import Task


def answer_key(subject: Subject) -> None:
    """What solves the task, and what the user was told about it, reaches the agent nowhere."""
    for seed in range(6):
        env = subject.bare(max_steps=5)
        talk = [UNKNOWN_TOOL, "{", say("Hello?"), say("What do you want?"), say("I see.")]
        transcript = play(env, seed, talk)
        heard = [message.content for message in env.episode.history if message.role == "user"]
        seen = [_without_user(entry) for entry in transcript]
        for secret in _secrets(env.task):
            if not any(secret in text for text in heard):
                found = [text for text in _strings(seen) if secret in text]
                expect(not found, f"{secret!r:.80} of task {env.task.id} is in {found[:1]!r:.200}")
        gold = [call.arguments for call in env.task.actions if call.arguments]
        leaked = [node for node in _objects(seen) if node in gold]
        expect(not leaked, f"arguments of a call that solves {env.task.id} are shown: {leaked[:1]!r:.200}")


# Their values are texts and digests that are the same whatever a task holds, or its name.
_PUBLIC_KEYS = frozenset({"domain_policy", "task_id", "task_digest", "schema_sha256", "schema_version"})


def _without_user(value: Json) -> Json:
    """The value without what the user said, which is the user's to tell, and without public names."""
    if isinstance(value, dict):
        if value.get("role") == "user":
            return None
        return {key: _without_user(item) for key, item in value.items() if key not in _PUBLIC_KEYS}
    return [_without_user(item) for item in value] if isinstance(value, list) else value


def _secrets(task: Task) -> Iterator[str]:
    """Texts that only those who know the task can write."""
    for call in task.actions:
        if call.arguments:
            yield json.dumps(call.arguments)
            yield json.dumps(call.arguments, separators=(",", ":"))
            yield repr(call.arguments)
    yield from (fact for fact in task.facts if len(fact) >= 4)
    yield from (text for text in _strings(msgspec.to_builtins(task.goal)) if len(text) >= 25)


def _strings(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)


def _objects(value: Json) -> Iterator[dict[str, Json]]:
    if isinstance(value, dict):
        yield value
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _objects(item)


_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def nothing_of_this_machine(subject: Subject) -> None:
    """No path and no uuid is shown; a clock shows as a difference in the checks of determinism."""
    places = {str(Path.cwd()), str(Path.home())} - {"/"}
    transcript = play(subject.bare(), 0, planned(subject, 0))
    for text in _strings(transcript):
        expect(not any(place in text for place in places), f"a path is shown: {text!r:.200}")
        expect(not _UUID.search(text), f"a uuid is shown: {text!r:.200}")


CHECKS = (answer_key, nothing_of_this_machine)
