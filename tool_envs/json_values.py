"""JSON values: strict reading, a check of Python objects, and short texts that show them."""

import json
import math
from typing import Any

from tool_envs.messages import Json

_MAX_DEPTH = 100
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


def is_json(value: Any, depth: int = _MAX_DEPTH) -> bool:  # noqa: ANN401 - any object may be asked about
    """Whether a Python object is what a JSON parser makes: exact types, finite floats, no lone surrogates.

    Tuples and subclasses of `str`, `dict` and so on are not. Nesting deeper than `depth` is not either, so
    that no value can exhaust the stack of those who walk it.
    """
    kind = type(value)
    if kind is str:
        return value.isascii() or _encodable(value)
    if kind is int or kind is bool or value is None:
        return True
    if kind is float:
        return math.isfinite(value)
    if depth <= 0:
        return False
    if kind is dict:
        return _is_object(value, depth - 1)
    return kind is list and all(is_json(item, depth - 1) for item in value)


def _is_object(value: dict[Any, Any], depth: int) -> bool:
    for key, member in value.items():
        if type(key) is not str or not (key.isascii() or _encodable(key)):
            return False
        # Nearly all arguments are ASCII texts, and every call passes here: it is worth a shortcut.
        if not ((type(member) is str and member.isascii()) or is_json(member, depth)):
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
