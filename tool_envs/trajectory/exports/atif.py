"""ATIF, the Agent Trajectory Interchange Format (v1.7, root and step as in the models of `atif` 1.8).

One row for each record, infrastructure failures too: ATIF is for keeping and looking at, and has no field for
rewards, masks or versions. Ours stand in `extra` under `tool_envs`: at the root all of the record but its
messages, at an agent's step who wrote it, under which policy versions, and whether it may be trained on.

The domain policy is the first step, from the `system`. What tools answered is the `observation` of the step
that called them; so is what the user said when the agent's step was one of several calls.
"""

from typing import Any

import msgspec

from tool_envs.messages import Json
from tool_envs.trajectory.exports.source import Row, Source
from tool_envs.trajectory.record import (
    AssistantMessage,
    RecordedMessage,
    Tokens,
    Trajectory,
    UserMessage,
)

SCHEMA_VERSION = "ATIF-v1.7"
"""The oldest version with all that is used here: `trajectory_id`, and `extra` of observations."""

_Step = dict[str, Any]


def rows(source: Source) -> list[Row]:
    """The row of a record."""
    record, context = source.record, source.context
    steps: list[_Step] = [{"source": "system", "message": context.policy}]
    for message in record.messages:
        _add(steps, message)
    numbered = [{"step_id": number, **step} for number, step in enumerate(steps, start=1)]
    rest = record.to_json()
    del rest["messages"]
    return [
        {
            "schema_version": SCHEMA_VERSION,
            "trajectory_id": source.name,
            "agent": {
                "name": record.agent.name,
                "version": record.agent.version,
                "tool_definitions": context.tools,
            },
            "steps": numbered,
            "final_metrics": _final_metrics(record, len(numbered)),
            "extra": {"tool_envs": rest},
        }
    ]


def _add(steps: list[_Step], message: RecordedMessage) -> None:
    """Add a step, or an observation to the last one."""
    if isinstance(message, AssistantMessage):
        steps.append(_agent_step(message))
    elif isinstance(message, UserMessage) and not (message.tool_call_id and _is_agents(steps[-1])):
        steps.append({"source": "user", "message": message.content})
    else:
        if not _is_agents(steps[-1]):
            steps.append({"source": "system", "message": ""})
        results = steps[-1].setdefault("observation", {"results": []})["results"]
        results.append(_result(message, _call_ids(steps[-1])))


def _is_agents(step: _Step) -> bool:
    return bool(step["source"] == "agent")


def _call_ids(step: _Step) -> set[str]:
    return {call["tool_call_id"] for call in step.get("tool_calls", ())}


def _result(message: RecordedMessage, calls: set[str]) -> dict[str, Json]:
    """What was answered; it names its call only when the step has that call, as ATIF demands."""
    ours = {
        "role": "user" if isinstance(message, UserMessage) else "tool",
        **{name: getattr(message, name, None) for name in ("name", "code", "tool_call_id")},
    }
    result = {"content": message.content, "extra": {"tool_envs": ours}}
    if ours["tool_call_id"] in calls:
        result["source_call_id"] = ours["tool_call_id"]
    return result


def _agent_step(message: AssistantMessage) -> _Step:
    ours = {
        name: msgspec.to_builtins(getattr(message, name))
        for name in ("author", "trainable", "override", "policy_version")
    }
    step: _Step = {"source": "agent", "message": message.content or message.aside}
    if message.thought:
        step["reasoning_content"] = message.thought
    if message.tool_calls:
        step["tool_calls"] = [
            {"tool_call_id": call.id, "function_name": call.name, "arguments": call.arguments}
            for call in message.tool_calls
        ]
    if message.tokens is not None:
        step["metrics"] = _metrics(message.tokens)
    return {**step, "extra": {"tool_envs": ours}}


def _metrics(tokens: Tokens) -> dict[str, Json]:
    return {
        "prompt_tokens": len(tokens.prompt_token_ids),
        "completion_tokens": len(tokens.token_ids),
        "prompt_token_ids": list(tokens.prompt_token_ids),
        "completion_token_ids": list(tokens.token_ids),
        "logprobs": list(tokens.logprobs),
    }


def _final_metrics(record: Trajectory, steps: int) -> dict[str, Json]:
    return {"total_cost_usd": sum(record.costs.values()), "total_steps": steps}
