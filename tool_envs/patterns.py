"""Texts that match a regular expression, made from its parse tree."""

import functools
import re
from collections.abc import Callable, Iterable
from re import _parser  # type: ignore[attr-defined]  # the only parser of Python's own syntax there is
from typing import Any, TypeAlias

from tool_envs.errors import UsageError

Draw: TypeAlias = Callable[[int], int]
"""Chooses an integer in `range(n)`, n >= 1."""

_PRINTABLE = frozenset(range(0x20, 0x7F))
_CATEGORIES = {
    "CATEGORY_DIGIT": frozenset(map(ord, "0123456789")),
    "CATEGORY_WORD": frozenset(c for c in _PRINTABLE if chr(c).isalnum() or chr(c) == "_"),
    "CATEGORY_SPACE": frozenset(map(ord, " \t\n")),
}
_ATTEMPTS = 100


def sample_pattern(pattern: str, draw: Draw, least: int, most: int) -> str:
    """A text that matches the pattern and has `least` to `most` characters.

    Repeats stay short unless `least` asks for more. Characters are ASCII unless the pattern names others.

    Raises:
        UsageError: The pattern has a construct that is not supported (look-around, back references, flags),
            or no text of that length was found in 100 attempts.
    """
    tree = _parse(pattern)
    for attempt in range(_ATTEMPTS):
        text = _texts(tree, draw, _extra(attempt, least))
        if least <= len(text) <= most and re.search(pattern, text):
            return text
    raise UsageError(f"Found no text of {least} to {most} characters that matches {pattern!r}.")


def _extra(attempt: int, least: int) -> int:
    """How often a repeat may go beyond its minimum: as `least` needs, and less and less in later attempts."""
    return (8, least + 8, 0, 2)[attempt % 4] if attempt else 8


@functools.lru_cache(maxsize=1024)
def _parse(pattern: str) -> Any:  # noqa: ANN401 - the parser's own classes are not public
    try:
        return _parser.parse(pattern)
    except re.error as error:
        raise UsageError(f"{pattern!r} is not a regular expression: {error}.") from None


def _texts(tree: Iterable[Any], draw: Draw, extra: int) -> str:
    return "".join(_text(str(op), argument, draw, extra) for op, argument in tree)


def _text(op: str, argument: Any, draw: Draw, extra: int) -> str:  # noqa: ANN401
    match op:
        case "LITERAL":
            return chr(argument)
        case "IN" | "NOT_LITERAL" | "ANY":
            return _character(op, argument, draw)
        case "AT" if str(argument) in ("AT_BEGINNING", "AT_END", "AT_BEGINNING_STRING", "AT_END_STRING"):
            return ""
        case "SUBPATTERN" if not (argument[1] or argument[2]):
            return _texts(argument[3], draw, extra)
        case "BRANCH":
            branches = argument[1]
            return _texts(branches[draw(len(branches))], draw, extra)
        case "MAX_REPEAT" | "MIN_REPEAT":
            low, high, tree = argument
            times = low + draw(min(int(high) - low, extra) + 1)
            return "".join(_texts(tree, draw, extra) for _ in range(times))
        case _:
            raise UsageError(f"Cannot make texts for the construct {op} of a regular expression.")


def _character(op: str, argument: Any, draw: Draw) -> str:  # noqa: ANN401
    if op == "IN":
        choices = _class_members(argument)
    else:
        choices = sorted(_PRINTABLE - {argument if op == "NOT_LITERAL" else 0x0A})
    return chr(choices[draw(len(choices))])


def _class_members(parts: list[tuple[Any, Any]]) -> list[int]:
    members: set[int] = set()
    negated = False
    for op, argument in parts:
        match str(op):
            case "NEGATE":
                negated = True
            case "LITERAL":
                members.add(argument)
            case "RANGE":
                members.update(range(argument[0], argument[1] + 1))
            case "CATEGORY" if str(argument) in _CATEGORIES:
                members |= _CATEGORIES[str(argument)]
            case _:
                raise UsageError(f"Cannot make texts for {argument} in a class of a regular expression.")
    chosen = sorted(_PRINTABLE - members if negated else members)
    if not chosen:
        raise UsageError("Cannot make texts for a class of a regular expression without printable ASCII characters.")
    return chosen
