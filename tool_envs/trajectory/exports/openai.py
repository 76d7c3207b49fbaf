"""OpenAI's chat form for fine-tuning: one row for each record.

    {"messages": [{"role", "content", ...}], "tools": [{"type": "function", "function": {...}}]}

Arguments of calls are JSON texts. Every assistant message has a `weight`: 1, it is trained on; 0, it is not.
What answers no call (a message that could not be read as one) comes as a user message, since the form has no
tool message without a `tool_call_id`. Thoughts are left out: the form has no place for them.
"""

from collections.abc import Iterator
from typing import Any

from tool_envs.trajectory.exports.chat import led_chat
from tool_envs.trajectory.exports.source import Row, Source
from tool_envs.trajectory.record import assistant_messages


def rows(source: Source) -> list[Row]:
    """The row of a record; none when no message of it is trained on."""
    if not source.is_trainable:
        return []
    weights = (int(message.trainable) for _, message in assistant_messages(source.record))
    messages = [_weighted(message, weights) for message in led_chat(source)]
    return [{"messages": messages, "tools": source.context.tools}]


def _weighted(message: dict[str, Any], weights: Iterator[int]) -> dict[str, Any]:
    match message["role"]:
        case "assistant":
            return {**message, "weight": next(weights)}
        case "tool" if "tool_call_id" not in message:
            return {"role": "user", "content": message["content"]}
        case _:
            return message
