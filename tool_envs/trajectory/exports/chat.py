"""Conversations of records as messages, led by a system message."""

import json
from typing import Any

from tool_envs.trajectory.chat_tokenizer import chat_of
from tool_envs.trajectory.exports.source import Source

Chat = list[dict[str, Any]]
"""Messages in OpenAI's chat form."""


def led_chat(source: Source) -> Chat:
    """The messages of a record, after the domain policy as system message."""
    return [{"role": "system", "content": source.context.policy}, *chat_of(source.record)]


def as_templates_expect(chat: Chat) -> Chat:
    """The messages with arguments of calls as objects, and an empty text where nothing was said beside."""
    return [_as_templates_expect(message) for message in chat]


def _as_templates_expect(message: dict[str, Any]) -> dict[str, Any]:
    if "tool_calls" not in message:
        return message
    calls = [
        {**call, "function": {**call["function"], "arguments": json.loads(call["function"]["arguments"])}}
        for call in message["tool_calls"]
    ]
    return {**message, "content": message["content"] or "", "tool_calls": calls}
