"""Reads an agent's action, text as a model wrote it or a JSON value, into tool calls.

One reader for training, evaluation and serving. What it takes:

* a JSON object `{"name": ..., "arguments": ...}`, or a list of them;
* an OpenAI tool call `{"type": "function", "function": {"name": ..., "arguments": ...}}`, or a whole
  assistant message with `content` and `tool_calls`; arguments are an object, a JSON string, or that string
  encoded again;
* text: `<tool_call>` blocks, JSON (bare, in a code fence, or after some text), else plain text, which is said
  to the user. `<think>` blocks are taken out first and reach nobody, out of the content of a `respond` too.

A call that was opened and is broken makes the whole action malformed: none of its calls is run.
"""

import json
import re
from collections.abc import Iterable
from typing import NoReturn

import msgspec

from tool_envs.errors import ActionTypeError
from tool_envs.json_values import (
    MAX_DEPTH,
    NOT_FINITE,
    NOT_UNICODE,
    TOO_DEEP,
    TOO_LONG,
    NotJsonError,
    copy_json,
)
from tool_envs.messages import CONTENT, RESPOND, Json, ToolCall


class ParsedAction(msgspec.Struct, frozen=True):
    """What an action says.

    Attributes:
        calls: The calls in order; none when there is a `problem`.
        aside: Text beside the calls; with a `problem`, the whole action as text.
        thought: What stood in `<think>`.
        problem: Why the action could not be read, as half a sentence; empty when it could.
        action: The action for the record: a copy in strict JSON and valid Unicode, which reads the same. For
            what JSON cannot hold (NaN, broken Unicode, deep nesting, endless numbers) stands a text with the
            same problem.
    """

    calls: tuple[ToolCall, ...] = ()
    aside: str = ""
    thought: str = ""
    problem: str = ""
    action: Json = None


def parse_action(action: Json | bytes) -> ParsedAction:
    """Read an action: text, bytes-like text, or a JSON value.

    Raises:
        ActionTypeError: The action holds something that is neither text, bytes nor JSON.
    """
    try:
        is_bytes = isinstance(action, bytes | bytearray | memoryview)
        copy = copy_json(bytes(action).decode() if is_bytes else action)
    except UnicodeDecodeError:
        return _unreadable(NOT_UNICODE, _UNREADABLE[NOT_UNICODE])
    except NotJsonError as problem:
        return _unreadable(str(problem), _UNREADABLE[str(problem)])
    except TypeError as problem:
        raise _not_json(problem.args[0]) from None
    try:
        read = _hide_thought(_parse_text(copy) if isinstance(copy, str) else _parse_value(copy))
    except (_Malformed, NotJsonError) as problem:
        return _unreadable(str(problem), copy)
    return ParsedAction(read.calls, read.aside, read.thought, "", copy)


def _unreadable(problem: str, action: Json) -> ParsedAction:
    text = action if isinstance(action, str) else json.dumps(action, ensure_ascii=False)
    return ParsedAction(aside=text, problem=problem, action=action)


class _Malformed(Exception):  # noqa: N818 - it never leaves this module
    """The action cannot be read; the text says why."""


_NOT_JSON = "it is not valid JSON"
_ONLY_THOUGHT = "it holds nothing but thought"

# Texts that are read with the same problem: they stand in a record for values that JSON cannot hold.
_UNREADABLE = {
    NOT_UNICODE: '{"action": "\\ud800"}',
    NOT_FINITE: '{"action": NaN}',
    TOO_LONG: f'{{"action": {"9" * 5000}}}',
    TOO_DEEP: "{" + '"": {' * MAX_DEPTH,
}


def _not_json(value: object) -> ActionTypeError:
    return ActionTypeError(
        f"An action is text, bytes or a JSON value; it holds {value!r:.60} of type {type(value).__name__}. "
        'Pass text as the model wrote it, or {"name": ..., "arguments": {...}} of plain Python values.'
    )


def _refuse_constant(_: str) -> NoReturn:
    raise _Malformed(NOT_FINITE)


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)
# The end quote is optional, so that a text without one is read once and not again from each quote in it.
_STRUCTURE = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[{\[]|[}\]]', re.DOTALL)


def _decode(text: str, start: int, *, shallow: bool) -> tuple[Json, int]:
    """The JSON value at `start` of a text, checked, and where it ends; `shallow`: it cannot be too deep."""
    if not shallow:
        _check_depth(text, start)
    try:
        value, end = _DECODER.raw_decode(text, start)
    except json.JSONDecodeError:
        # Without the decoder's message and position, which differ between versions of Python.
        raise _Malformed(_NOT_JSON) from None
    except ValueError:
        raise _Malformed(TOO_LONG) from None
    return copy_json(value), end


def _is_shallow(text: str) -> bool:
    """Whether a text has too few brackets for too deep a value."""
    return text.count("{") + text.count("[") <= MAX_DEPTH


def _check_depth(text: str, start: int) -> None:
    """Refuse deep nesting before the decoder recurses into it."""
    depth = 0
    for token in _STRUCTURE.finditer(text, start):
        first = token.group()[0]
        depth += (first in "{[") - (first in "}]")
        if depth > MAX_DEPTH:
            raise _Malformed(TOO_DEEP)
        if depth <= 0:
            return


def _decode_all(text: str) -> Json:
    """The one JSON value that a text consists of."""
    value, end = _decode(text, _skip_space(text, 0), shallow=_is_shallow(text))
    if _skip_space(text, end) < len(text):
        raise _Malformed(_NOT_JSON)
    return value


# --- JSON values


def _parse_value(value: Json) -> ParsedAction:
    """An action that is a JSON value: a call, a list of calls, or an assistant message."""
    if isinstance(value, list) and value:
        return ParsedAction(tuple(_read_call(item) for item in value))
    if isinstance(value, dict) and ("tool_calls" in value or value.get("role") == "assistant"):
        return _parse_message(value)
    return ParsedAction((_read_call(value),))


def _parse_message(message: dict[str, Json]) -> ParsedAction:
    """An OpenAI assistant message: its content is said to the user only when there are no calls."""
    content, calls = message.get("content") or "", message.get("tool_calls") or []
    if not isinstance(content, str) or not isinstance(calls, list):
        raise _Malformed("an assistant message has a text as `content` and a list as `tool_calls`")
    if not calls:
        return _parse_text(content)
    thought, text = _split_thought(content)
    return ParsedAction(tuple(_read_call(call) for call in calls), aside=text, thought=thought)


_CALL_KEYS = {"name", "arguments", "id", "type", "index"}


def _read_call(value: Json) -> ToolCall:
    """One call, in the short form or in OpenAI's."""
    if not isinstance(value, dict):
        raise _Malformed("a call is a JSON object with `name` and `arguments`")
    call_id = value.get("id") or ""
    inner = value.get("function", value)
    if not isinstance(inner, dict) or not isinstance(call_id, str):
        raise _Malformed("a call is a JSON object with `name` and `arguments`")
    name = inner.get("name")
    if not isinstance(name, str):
        raise _Malformed("a call has the name of a tool, a string, as `name`")
    if unknown := inner.keys() - _CALL_KEYS:
        raise _Malformed(f"a call has `name` and `arguments`, but not `{min(unknown)[:40]}`")
    return ToolCall(name, _read_arguments(inner.get("arguments")), call_id)


def _read_arguments(value: Json) -> dict[str, Json]:
    """Arguments: an object, or one encoded as a string once or twice; nothing means none."""
    for _ in range(2):
        if not isinstance(value, str):
            break
        value = _decode_all(value) if value.strip() else {}
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise _Malformed("`arguments` is a JSON object")
    return value


# --- Text

_THINK, _END_THINK = "<think>", "</think>"
_THINK_TAGS = re.compile(f"({_THINK}|{_END_THINK})")
_CALL, _END_CALL = "<tool_call>", "</tool_call>"
_SPACE = re.compile(r"\s*")
_FENCES = ("```", "```json")
_OPENED = re.compile(r"\s*(?:\{|\[\s*\{)")
_OBJECT = re.compile(r'^[ \t]*(?=\{\s*"(?:name|arguments|function|tool_calls|type|id)"\s*:)', re.MULTILINE)


def _parse_text(text: str) -> ParsedAction:
    """An action that is text as a model wrote it."""
    if _OPENED.match(text):
        try:
            return _parse_value(_decode_all(text))
        except _Malformed:
            # Tags in the strings of a whole JSON value do not cut it; elsewhere they may.
            if not _has_thought(text):
                raise
    thought, said = _split_thought(text)
    body = _unfence(said)
    if _OPENED.match(body):
        values, aside = [_decode_all(body)], ""
    elif _CALL in body:
        values, aside = _take_blocks(body)
    elif _OBJECT.search(body):
        values, aside = _take_objects(body)
    elif thought and not said:
        raise _Malformed(_ONLY_THOUGHT)
    else:
        return ParsedAction((ToolCall(RESPOND, {CONTENT: said}),), thought=thought)
    parts = [_parse_value(value) for value in values]
    calls = tuple(call for part in parts for call in part.calls)
    return ParsedAction(
        calls, _join([aside, *(p.aside for p in parts)]), _join([thought, *(p.thought for p in parts)])
    )


def _hide_thought(parsed: ParsedAction) -> ParsedAction:
    """The same without the thought that stands in the content of an explicit `respond`."""
    thoughts, calls = [parsed.thought], []
    for call in parsed.calls:
        content = call.arguments.get(CONTENT)
        if call.name == RESPOND and isinstance(content, str) and _has_thought(content):
            thought, said = _split_thought(content)
            if thought and not said:
                raise _Malformed(_ONLY_THOUGHT)
            thoughts.append(thought)
            call = ToolCall(RESPOND, {**call.arguments, CONTENT: said}, call.id)
        calls.append(call)
    return parsed if len(thoughts) == 1 else ParsedAction(tuple(calls), parsed.aside, _join(thoughts))


def _has_thought(text: str) -> bool:
    return _THINK in text or _END_THINK in text


def _join(parts: Iterable[str]) -> str:
    return "\n".join(filter(None, parts))


def _split_thought(text: str) -> tuple[str, str]:
    """(thought, the rest). A block may lack its opening tag (the prompt had it) or its end (it was cut)."""
    if not _has_thought(text):
        return "", text
    thoughts: list[str] = []
    rest: list[str] = []
    opened = False
    for part in _THINK_TAGS.split(text):
        if part == _END_THINK:
            # Without an opening tag, all since the last block was thought.
            if not opened and rest:
                thoughts.append(rest.pop())
            opened = False
        elif part == _THINK:
            opened = True
        else:
            (thoughts if opened else rest).append(part.strip())
    return _join(thoughts), _join(rest)


def _unfence(text: str) -> str:
    """What stands in the code fence that is the whole text, if it looks like a call; else the text."""
    first, _, rest = text.strip().partition("\n")
    if first.rstrip() in _FENCES and rest.endswith("```") and _OPENED.match(rest):
        return rest.removesuffix("```")
    return text


def _take_blocks(text: str) -> tuple[list[Json], str]:
    """The JSON values of all `<tool_call>` blocks, and the text around them.

    The last block may lack its end tag: servers that stop at the tag do not return it.
    """
    values, around = [], []
    shallow = _is_shallow(text)
    position = 0
    while (start := text.find(_CALL, position)) >= 0:
        around.append(text[position:start].strip())
        value, end = _decode(text, _skip_space(text, start + len(_CALL)), shallow=shallow)
        values.append(value)
        position = _skip_space(text, end)
        if text.startswith(_END_CALL, position):
            position += len(_END_CALL)
        elif position < len(text):
            raise _Malformed(_NOT_JSON)
    around.append(text[position:].strip())
    return values, _join(around)


def _take_objects(text: str) -> tuple[list[Json], str]:
    """The JSON calls that begin a line of a text, and the text around them."""
    values, around = [], []
    shallow = _is_shallow(text)
    position = 0
    while match := _OBJECT.search(text, position):
        around.append(text[position : match.start()].strip())
        value, position = _decode(text, match.end(), shallow=shallow)
        values.append(value)
    around.append(text[position:].strip())
    return values, _join(around)


def _skip_space(text: str, start: int) -> int:
    match = _SPACE.match(text, start)
    return match.end() if match else start
