"""JSON values: strict reading, checked copies of Python objects, and short texts that show them."""

import json
import math

from tool_envs.messages import Json

MAX_DEPTH = 64
"""Deepest nesting; the same on every Python, whatever its recursion limit."""

_MAX_BITS = 14_000  # fewer than the 4,300 digits at which Python stops to write and read integers
_SHOWN = 80


def parse_json(text: str) -> Json:
    """The value of a JSON text; unlike `json.loads`, NaN, Infinity and repeated keys are refused.

    Raises:
        json.JSONDecodeError: The text is not JSON; it carries the line.
        ValueError: A key stands twice in one object, or a number is not finite.
    """
    return json.loads(text, object_pairs_hook=_distinct, parse_constant=_refuse_constant)


def _distinct(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    members = dict(pairs)
    if len(members) < len(pairs):
        keys = [key for key, _ in pairs]
        repeated = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {shown(repeated)} stands twice in one object")
    return members


def _refuse_constant(name: str) -> Json:
    raise ValueError(f"{name} is not a JSON number")


class NotJsonError(ValueError):
    """Raised by `copy_json`; the text, one of the constants of this module, says why."""


NOT_UNICODE = "it is not valid Unicode text"
NOT_FINITE = "NaN and Infinity are not JSON"
TOO_LONG = "it holds a number of too many digits"
TOO_DEEP = f"it is nested deeper than {MAX_DEPTH} levels"


def copy_json(value: Json, depth: int = 0) -> Json:
    """A deep copy of a JSON value: exact types, finite floats, valid Unicode, bounded depth.

    Raises:
        NotJsonError: It is no such value, though a JSON reader could have made it.
        TypeError: It holds an object that no JSON reader makes: a tuple, a subclass of `dict`, ...; the
            exception's one argument is that object.
    """
    kind = type(value)
    if kind is str:
        if not (value.isascii() or _encodable(value)):
            raise NotJsonError(NOT_UNICODE)
        return value
    if value is None or kind is bool:
        return value
    if kind is int:
        if value.bit_length() > _MAX_BITS:
            raise NotJsonError(TOO_LONG)
        return value
    if kind is float:
        if not math.isfinite(value):
            raise NotJsonError(NOT_FINITE)
        return value
    if depth >= MAX_DEPTH:
        raise NotJsonError(TOO_DEEP)
    if kind is dict:
        copy = {}
        for key, item in value.items():
            if type(key) is not str:
                raise TypeError(key)
            if not (key.isascii() or _encodable(key)):
                raise NotJsonError(NOT_UNICODE)
            copy[key] = copy_json(item, depth + 1)
        return copy
    if kind is list:
        return [copy_json(item, depth + 1) for item in value]
    raise TypeError(value)


def is_json(value: object) -> bool:
    """Whether `copy_json` can copy an object."""
    try:
        copy_json(value)
    except (NotJsonError, TypeError):
        return False
    return True


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def shown(value: Json) -> str:
    """A short text for messages, on one line: scalars as JSON cut to 80 characters, else kind and size."""
    match value:
        case str():
            cut = value[:_SHOWN] if len(value) > _SHOWN else value
            return f'"{printable(cut)}"' + ("..." if len(value) > _SHOWN else "")
        case None | bool() | float():
            return json.dumps(value)
        case int():
            return str(value) if value.bit_length() <= 64 else "an integer of more than 64 bits"
        case list():
            return f"an array of {len(value)}"
        case dict():
            return f"an object of {len(value)}"
        case _:
            return f"a {type(value).__name__}, which is no JSON value"


def printable(text: str) -> str:
    """The text with quotes, line breaks and whatever else cannot be printed escaped as in JSON."""
    if text.isprintable() and '"' not in text and "\\" not in text:
        return text
    return "".join(c if c.isprintable() and c not in '"\\' else json.dumps(c)[1:-1] for c in text)
