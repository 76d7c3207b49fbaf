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

import contextlib
import json
import math
import re
from collections.abc import Iterable
from typing import NoReturn

import msgspec

from tool_envs.errors import ActionTypeError
from tool_envs.messages import CONTENT, RESPOND, Json, ToolCall

MAX_DEPTH = 64
"""Deepest nesting of an action; the same on every Python, whatever its recursion limit."""


class ParsedAction(msgspec.Struct, frozen=True):
    """What an action says.

    Attributes:
        calls: The calls in order; none when there is a `problem`.
        aside: Text beside the calls.
        thought: What stood in `<think>`.
        problem: Why the action could not be read, as half a sentence; empty when it could.
    """

    calls: tuple[ToolCall, ...] = ()
    aside: str = ""
    thought: str = ""
    problem: str = ""


def parse_action(action: Json | bytes) -> ParsedAction:
    """Read an action.

    Raises:
        ActionTypeError: The action holds something that is neither text, bytes nor JSON.
    """
    try:
        if isinstance(action, bytes | bytearray):
            action = action.decode("utf-8")
        if isinstance(action, str):
            return _hide_thought(_parse_text(_checked(action)))
        return _hide_thought(_parse_value(_checked(action)))
    except _Malformed as problem:
        return ParsedAction(problem=str(problem))
    except UnicodeError:
        return ParsedAction(problem=_NOT_UNICODE)


def copy_action(action: Json | bytes) -> Json:
    """A copy for the record: strict JSON in valid Unicode, which `parse_action` reads as it reads the action.

    For what JSON cannot hold (NaN, broken Unicode, deep nesting, endless numbers) stands a text with the same
    problem.
    """
    try:
        return _checked(action.decode("utf-8") if isinstance(action, bytes | bytearray) else action)
    except UnicodeError:
        return _UNREADABLE[_NOT_UNICODE]
    except _Malformed as problem:
        return _UNREADABLE[str(problem)]


class _Malformed(Exception):  # noqa: N818 - it never leaves this module
    """The action cannot be read; the text says why."""


_NOT_UNICODE = "it is not valid Unicode text"
_NOT_JSON = "it is not valid JSON"
_ONLY_THOUGHT = "it holds nothing but thought"
_NOT_FINITE = "NaN and Infinity are not JSON"
_TOO_LONG = "it holds a number of too many digits"
_TOO_DEEP = f"it is nested deeper than {MAX_DEPTH} levels"
_MAX_BITS = 14_000  # fewer than the 4,300 digits at which Python stops to write and read integers

# Texts that are read with the same problem: they stand in a record for values that JSON cannot hold.
_UNREADABLE = {
    _NOT_UNICODE: '{"action": "\\ud800"}',
    _NOT_FINITE: '{"action": NaN}',
    _TOO_LONG: f'{{"action": {"9" * 5000}}}',
    _TOO_DEEP: "{" + '"": {' * MAX_DEPTH,
}


def _checked(value: Json, depth: int = 0) -> Json:
    """A deep copy that shares nothing mutable with `value` and is strict JSON in valid Unicode."""
    kind = type(value)
    if kind is str:
        if not value.isascii():
            value.encode("utf-8")
        return value
    if value is None or kind is bool:
        return value
    if kind is int:
        if value.bit_length() > _MAX_BITS:
            raise _Malformed(_TOO_LONG)
        return value
    if depth >= MAX_DEPTH:
        raise _Malformed(_TOO_DEEP)
    if kind is dict:
        copy = {}
        for key, item in value.items():
            if type(key) is not str:
                raise _not_json(key)
            copy[_checked(key)] = _checked(item, depth + 1)
        return copy
    if kind is list or kind is tuple:
        return [_checked(item, depth + 1) for item in value]
    if kind is float:
        if not math.isfinite(value):
            raise _Malformed(_NOT_FINITE)
        return value
    raise _not_json(value)


def _not_json(value: object) -> ActionTypeError:
    return ActionTypeError(
        f"An action is text, bytes or a JSON value; it holds {value!r:.60} of type {type(value).__name__}. "
        'Pass text as the model wrote it, or {"name": ..., "arguments": {...}} of plain Python values.'
    )


def _refuse_constant(_: str) -> NoReturn:
    raise _Malformed(_NOT_FINITE)


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
        raise _Malformed(_TOO_LONG) from None
    return _checked(value), end


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
            raise _Malformed(_TOO_DEEP)
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


def _read_call(value: Json) -> ToolCall:
    """One call, in the short form or in OpenAI's."""
    if not isinstance(value, dict):
        raise _Malformed("a call is a JSON object with `name` and `arguments`")
    call_id = value.get("id") or ""
    inner = value.get("function", value)
    if not isinstance(inner, dict) or not isinstance(call_id, str):
        raise _Malformed("a call is a JSON object with `name` and `arguments`")
    unknown = inner.keys() - {"name", "arguments", "id", "type", "index"}
    name = inner.get("name")
    if not isinstance(name, str):
        raise _Malformed("a call has the name of a tool, a string, as `name`")
    if unknown:
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
    if _has_thought(text) and _OPENED.match(text):
        # Tags in the strings of a whole JSON value do not cut it.
        with contextlib.suppress(_Malformed):
            return _parse_value(_decode_all(text))
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
