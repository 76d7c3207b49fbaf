"""One episode for those who look at it: what was said and done, what that changed, why it was graded so."""

import json
from collections.abc import Iterator

import gymnasium
import msgspec

from tool_envs.env import unwrap
from tool_envs.errors import ToolEnvsError
from tool_envs.evaluation.changes import Change, answered_calls, answers_after, changes_of
from tool_envs.evaluation.runs import Stage
from tool_envs.json_values import parse_json
from tool_envs.messages import Json
from tool_envs.simulators import HumanUser
from tool_envs.trajectory.record import AssistantMessage, Trajectory, UserMessage
from tool_envs.trajectory.replay import replay_on

_SHOWN_ELSEWHERE = ("components", "violations")
"""Of what a domain explains: these stand in the ledger."""

_Changes = dict[tuple[int, int], list[Change]]


def conversation_of(trajectory: Trajectory, stage: Stage) -> dict[str, Json]:
    """The episode of a record as a JSON object.

    Whatever holds JSON of the episode (arguments, answers, records of the database) is text, since readers in
    JavaScript change large integers.

    Args:
        trajectory: The record.
        stage: Where its actions are taken again, for changes and explanations. Where that is not possible,
            `notes` says why.

    Returns:
        `messages`, `outcome`, `versions` (pairs of texts), `why` (what the domain explains; None: nothing)
        and `notes`.
    """
    changes, change_note = _changes(trajectory, stage)
    why, why_note = _explain(trajectory, stage)
    return {
        "messages": list(_messages(trajectory, changes)),
        "outcome": msgspec.to_builtins(trajectory.outcome),
        "versions": [list(pair) for pair in _versions(trajectory)],
        "why": why,
        "notes": [note for note in (change_note, why_note) if note],
    }


# --- What was said and done


def _messages(trajectory: Trajectory, changes: _Changes) -> Iterator[dict[str, Json]]:
    """The conversation: users' messages, and the agent's with the calls and what these were answered."""
    messages = trajectory.messages
    calls: dict[int, list[Json]] = {}
    for index, place, call, answer in answered_calls(messages):
        shown = {
            "name": call.name,
            "arguments": indented(call.arguments),
            "answer": None if answer is None else pretty(answer.content),
            "by": "user" if isinstance(answer, UserMessage) else "tool",
            "code": None if answer is None or isinstance(answer, UserMessage) else answer.code,
            "changes": [_change(change) for change in changes.get((index, place), ())],
        }
        calls.setdefault(index, []).append(shown)
    step = 0
    for index, message in enumerate(messages):
        if isinstance(message, AssistantMessage):
            yield {**_agent_message(trajectory, message, step), "calls": calls.get(index, [])}
            for answer in answers_after(messages, index)[len(message.tool_calls) :]:
                yield _other_message(answer)
            step += 1
        elif step == 0:
            yield _other_message(message)


def _agent_message(trajectory: Trajectory, message: AssistantMessage, step: int) -> dict[str, Json]:
    broken = [str(each["rule"]) for each in trajectory.outcome.violations if each["step"] == step]
    return {
        "role": "agent",
        "text": message.content,
        "thought": message.thought,
        "aside": message.aside,
        "author": message.author,
        "step": step,
        "broken": broken,
    }


def _other_message(message: Json) -> dict[str, Json]:
    if isinstance(message, UserMessage):
        return {"role": "user", "text": message.content}
    return {"role": "tool", "text": pretty(message.content), "code": message.code}


def _change(change: Change) -> dict[str, Json]:
    return {
        "table": change.table,
        "key": change.key,
        "before": None if change.before is None else indented(change.before),
        "after": None if change.after is None else indented(change.after),
        "fields": [[each.path, each.before, each.after] for each in change.differences],
    }


def indented(value: Json) -> str:
    """A JSON value as a text for people."""
    return json.dumps(value, indent=2, ensure_ascii=False)


def pretty(text: str) -> str:
    """A text, indented if it is a JSON object or array."""
    if not text.startswith(("{", "[")):
        return text
    try:
        return indented(parse_json(text))
    except (ValueError, RecursionError):
        return text


# --- What is found by taking the actions again


def _changes(trajectory: Trajectory, stage: Stage) -> tuple[_Changes, str]:
    """What its calls changed, and why that is not known."""
    try:
        return changes_of(unwrap(stage.env_of(trajectory)).domain, trajectory), ""
    except (ToolEnvsError, gymnasium.error.Error) as problem:
        return {}, f"Changes of the database are not shown: {problem}"


def _explain(trajectory: Trajectory, stage: Stage) -> tuple[Json, str]:
    """What the domain says of a reward of 0, and why it could not be asked."""
    if trajectory.outcome.reward != 0.0:
        return None, ""
    try:
        env = stage.env_of(trajectory)
        domain = unwrap(env).domain
        if domain.explain is None:
            return None, ""
        user = domain.simulators[unwrap(env).user_kind](domain.tasks.find(trajectory.task.id), {})
        if isinstance(user, HumanUser):
            return None, "Why the reward is 0 is not explained: its user does not answer by itself."
        replay_on(env, trajectory)
        why = domain.explain(unwrap(env).episode)
    except (ToolEnvsError, gymnasium.error.Error) as problem:
        return None, f"Why the reward is 0 is not explained: {problem}"
    rest = {name: value for name, value in why.items() if name not in _SHOWN_ELSEWHERE}
    return _without_empty(rest), ""


def _without_empty(value: Json) -> Json:
    """A JSON value without members that say nothing: objects and lists with nothing in them."""
    if not isinstance(value, dict):
        return value
    parts = {name: _without_empty(part) for name, part in value.items()}
    return {name: part for name, part in parts.items() if part not in ({}, [])}


# --- Under which versions


def _versions(trajectory: Trajectory) -> Iterator[tuple[str, str]]:
    schema, user = trajectory.schema, trajectory.simulator
    yield "agent", f"{trajectory.agent.name} {trajectory.agent.version}"
    later = [each.version for each in trajectory.policy_versions[1:]]
    if later:
        yield "later versions of the policy", ", ".join(later)
    yield "environment", f"{trajectory.env.id} {json.dumps(trajectory.env.kwargs)}"
    yield "schema", f"{schema.domain} {schema.version}, sha256 {schema.sha256}"
    yield "interface", schema.interface
    yield "task", f"{trajectory.task.id}, digest {trajectory.task.digest}"
    yield "user", f"{user.name} {user.version}, digest {user.digest}"
    yield "grader", f"digest {trajectory.grader_digest}"
    yield "data before", f"digest {trajectory.data.base_digest}"
    yield "data after", f"digest {trajectory.data.final_digest}"
    yield "seed", str(trajectory.seed)
    yield "options of reset", json.dumps(trajectory.options)
    for side, counts in (("agent", trajectory.usage.agent), ("user", trajectory.usage.user)):
        if counts is not None:
            yield f"tokens of the {side}", f"{counts.prompt} sent, {counts.completion} sampled"
    yield "cost", ", ".join(f"{side} {dollars:.4f} USD" for side, dollars in trajectory.costs.items())
