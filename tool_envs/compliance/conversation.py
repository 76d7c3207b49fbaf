"""Checks of what is seen: the schema, infos, observations, and the chat."""

import json

from tool_envs.canonical import digest
from tool_envs.compliance.episodes import SEEDS, UNKNOWN_TOOL, go_on, plan_actions, planned, play
from tool_envs.compliance.expectations import expect
from tool_envs.compliance.subject import Subject
from tool_envs.errors import UnknownNameError
from tool_envs.messages import Json
from tool_envs.schema import ToolSchema, load_schema

RESET_KEYS = frozenset(
    ["task_id", "task_digest", "schema_version", "schema_sha256", "interface", "domain_policy", "messages"]
)
"""What the `info` of a reset holds at least."""


def schema(subject: Subject) -> None:
    """The schema's digest is that of its document, a released one is unchanged, and its tools are bound."""
    env = subject.bare()
    tools = env.schema
    expect(digest(tools.document) == tools.sha256, "`sha256` is not the digest of the document")
    try:
        expect(load_schema(tools.domain, tools.version) == tools, "it differs from the released one")
    except UnknownNameError:
        again = ToolSchema.from_document(tools.document, "compliance") if _is_ours(tools) else tools
        expect(again.tools == tools.tools, "the document gives other tools")
    bound = set(env.domain.toolkit.functions)
    wanted = {name for name, tool in tools.tools.items() if tool.effect != "message"}
    expect(bound == wanted, f"functions for {sorted(bound)}, tools {sorted(wanted)}")
    expect(json.loads(json.dumps(tools.to_openai())) == tools.to_openai(), "to_openai() is not JSON")


def _is_ours(tools: ToolSchema) -> bool:
    return str(tools.document["format"]).startswith("tool_schema/")


def reset_info(subject: Subject) -> None:
    """The `info` of a reset says what is played, and agrees with the environment."""
    env = subject.bare()
    for seed in SEEDS:
        observation, info = env.reset(seed=seed)
        expect(info.keys() >= RESET_KEYS, f"keys {sorted(RESET_KEYS - info.keys())} are missing")
        said = (info["task_id"], info["task_digest"], info["schema_version"], info["schema_sha256"])
        true = (env.task.id, env.task.digest, env.schema.version, env.schema.sha256)
        expect(said == true, f"expected {true}, got {said}")
        expect(info["messages"] == env.messages, "`messages` are not those of the environment")
        expect(observation["role"] == "user", f"the first observation is {observation!r:.200}")


def observations(subject: Subject) -> None:
    """Observations are in the space and are the newest message."""
    for seed in SEEDS:
        env = subject.bare()
        for entry in play(env, seed, planned(subject, seed)):
            observation, info = entry[0], entry[-2]
            expect(env.observation_space.contains(observation), f"{observation!r:.200} is not in the space")
            newest = info["messages"][-1]["content"]
            expect(observation["content"] == newest, f"{observation!r:.200} is not the newest message")


def chat_form(subject: Subject) -> None:
    """The conversation is what the infos said, and each call of a tool is answered once, by its id."""
    env = subject.bare(parallel_calls="run")
    for seed in SEEDS:
        env.reset(seed=seed)
        plan = plan_actions(env, seed)
        _, info = env.reset(seed=seed)
        transcript = go_on(env, [plan[:2], *plan[2:4], "{", [UNKNOWN_TOOL] * 3, *plan[4:]])
        told = [*info["messages"], *(message for entry in transcript for message in entry[4]["messages"])]
        expect(told == env.messages, "the messages of the infos are not the conversation")
        _expect_answered(told)


def _expect_answered(messages: list[Json]) -> None:
    open_ids: list[str] = []
    seen: set[str] = set()
    for message in messages:
        if message["role"] == "tool" and "tool_call_id" in message:
            expect(open_ids[:1] == [message["tool_call_id"]], f"open calls {open_ids}, but then {message}")
            open_ids = open_ids[1:]
            continue
        expect(not open_ids, f"the calls {open_ids} have no answer before {message!r:.200}")
        open_ids = [call["id"] for call in message.get("tool_calls") or ()]
        expect(len({*open_ids} - seen) == len(open_ids), f"ids stand twice: {open_ids}")
        seen.update(open_ids)
    expect(not open_ids, f"the calls {open_ids} have no answer")


CHECKS = (schema, reset_info, observations, chat_form)
