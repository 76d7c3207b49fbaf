"""Tool calls for models that know none: the conversation as plain messages, and a call as the whole reply.

A server that holds a model's reply to a JSON Schema lets any model call tools, in the form
`{"name": ..., "arguments": {...}}`, with a `thought` before it if asked for.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tool_envs.messages import CONTENT, RESPOND, Json

TASK = """\
{policy}

You act by calling tools. Each of your replies is one call and nothing else, as a JSON object \
{{"name": ..., "arguments": {{...}}}}{thought}. What a tool answers comes as the next message. To say \
something to the user, call `{respond}` with it as `{content}`. These are the tools, and their parameters as \
JSON Schemas:
{tools}"""

THOUGHT = ', in which a short "thought" may stand first'
RESULT = "Result of {name}: {content}"

_LONGEST_THOUGHT = 600  # characters
_TAGS = re.compile(r"</?think>")
_SPEAK: dict[str, Json] = {
    "type": "function",
    "function": {
        "name": RESPOND,
        "description": "Say something to the user.",
        "parameters": {
            "type": "object",
            "properties": {CONTENT: {"type": "string"}},
            "required": [CONTENT],
            "additionalProperties": False,
        },
    },
}


def with_speech(tools: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The tools with `respond` among them; benchmarks whose agents simply talk do not list it."""
    listed = list(tools)
    return listed if any(tool["function"]["name"] == RESPOND for tool in listed) else [*listed, _SPEAK]


def call_format(tools: Iterable[Mapping[str, Any]], *, thought: bool) -> dict[str, Json]:
    """The `response_format` of one call of one of these tools, which are in OpenAI's form."""
    forms = [_call_schema(tool["function"], thought) for tool in tools]
    return {"type": "json_schema", "json_schema": {"name": "call", "schema": {"anyOf": forms}}}


def _call_schema(function: Mapping[str, Any], thought: bool) -> dict[str, Json]:
    before = {"thought": {"type": "string", "maxLength": _LONGEST_THOUGHT}} if thought else {}
    return {
        "type": "object",
        "properties": {
            **before,
            "name": {"const": function["name"]},
            "arguments": function.get("parameters", {"type": "object"}),
        },
        "required": [*before, "name", "arguments"],
        "additionalProperties": False,
    }


def as_plain_messages(
    messages: Sequence[Mapping[str, Any]], tools: Iterable[Mapping[str, Any]], *, thought: bool
) -> list[dict[str, Json]]:
    """A conversation in OpenAI's chat form, without tool calls and answers of tools.

    Args:
        messages: The conversation, with the domain policy as system message first.
        tools: In OpenAI's form.
        thought: Whether a thought may stand in a call.
    """
    first, *rest = messages
    described = "\n".join(json.dumps(tool["function"], ensure_ascii=False) for tool in tools)
    system = TASK.format(
        policy=first["content"],
        thought=THOUGHT if thought else "",
        respond=RESPOND,
        content=CONTENT,
        tools=described,
    )
    return [{"role": "system", "content": system}, *(plain(message) for message in rest)]


def plain(message: Mapping[str, Any]) -> dict[str, Json]:
    """A message without tool calls, or as the answer of a tool: the calls, or the answer, as text."""
    if message["role"] == "tool":
        return {"role": "user", "content": RESULT.format(name=message["name"], content=message["content"])}
    if message["role"] == "assistant":
        return {"role": "assistant", "content": "\n".join(_calls_of(message))}
    return {"role": message["role"], "content": message["content"]}


def _calls_of(message: Mapping[str, Any]) -> Iterator[str]:
    """What an assistant's message did, as calls."""
    for call in message.get("tool_calls", ()):
        arguments = json.loads(call["function"]["arguments"])
        yield _as_text({"name": call["function"]["name"], "arguments": arguments})
    if not message.get("tool_calls"):
        yield _as_text({"name": RESPOND, "arguments": {CONTENT: message["content"]}})


def _as_text(call: Json) -> str:
    return json.dumps(call, ensure_ascii=False)


def as_action(text: str) -> str:
    """The action that a reply is: the call, its thought in `<think>`; what is no call stays as it is."""
    try:
        call = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if not (isinstance(call, dict) and isinstance(call.get("thought"), str)):
        return text
    thought = _TAGS.sub("", call.pop("thought"))
    return f"<think>{thought}</think>{_as_text(call)}" if thought.strip() else _as_text(call)
