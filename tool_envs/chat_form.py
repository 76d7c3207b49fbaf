"""Renders a conversation: in OpenAI's chat form, and as lines for people."""

import json
from collections.abc import Iterable
from typing import Any

import orjson

from tool_envs.messages import RESPOND, Json, Message


def to_chat(history: Iterable[Message]) -> list[dict[str, Any]]:
    """The messages as a list of fresh dicts.

    What the agent only said is an assistant message with `content`, and the user's answer a user message.
    Calls are `tool_calls`, each answered by a tool message. When several calls of one action hold a
    `respond`, the user's answer is the tool message of that call, since the form demands one for each id.
    What could not be read is shown as it was written.
    """
    return [_RENDER[message.role](message) for message in history]


def as_line(message: Message) -> str:
    """A message as a person reads it, calls as `name(arguments)`."""
    calls = [f"{call.name}({call.arguments})" for call in message.tool_calls]
    text = " ".join(filter(None, [message.content, *calls]))
    return f"{message.name or 'agent'}: {text}"


def _render_agent(message: Message) -> dict[str, Any]:
    if not message.tool_calls:
        return {"role": "assistant", "content": message.content or message.aside}
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": _dump(call.arguments)},
        }
        for call in message.tool_calls
    ]
    return {"role": "assistant", "content": message.aside or None, "tool_calls": calls}


def _render_tool(message: Message) -> dict[str, Any]:
    rendered = {"role": "tool", "name": message.name, "content": message.content}
    if message.tool_call_id:
        rendered["tool_call_id"] = message.tool_call_id
    return rendered


def _render_user(message: Message) -> dict[str, Any]:
    if message.tool_call_id:
        return {
            "role": "tool",
            "name": RESPOND,
            "content": message.content,
            "tool_call_id": message.tool_call_id,
        }
    return {"role": "user", "content": message.content}


_RENDER = {"assistant": _render_agent, "tool": _render_tool, "user": _render_user}


def _dump(arguments: dict[str, Json]) -> str:
    try:
        return orjson.dumps(arguments).decode()
    except TypeError:  # an integer of more than 64 bits
        return json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))
