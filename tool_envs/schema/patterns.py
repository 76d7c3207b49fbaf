"""Texts that match a regular expression, made from its parse tree."""

import functools
import re
from collections.abc import Callable
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
_ATTEMPTS = 20
_MORE_REPEATS = 8


def sample_pattern(pattern: str, draw: Draw, least: int, most: int) -> str:
    """A text that matches the pattern and has `least` to `most` characters.

    Repeats stay short unless `least` asks for more. Characters are ASCII unless the pattern names others.

    Raises:
        UsageError: The pattern has a construct that is not supported (look-around, back references, flags),
            or no text of that length was found in 20 attempts.
    """
    tree = _parse(pattern)
    for attempt in range(_ATTEMPTS):
        text = _text(tree, shifted(draw, attempt), least, most)
        if least <= len(text) <= most and re.search(pattern, text):
            return text
    raise UsageError(f"Found no text of {least} to {most} characters that matches {pattern!r}.")


def shifted(draw: Draw, by: int) -> Draw:
    """A draw as random as the given one; it makes other choices where that one always makes the same."""
    return lambda n: (draw(n) + by) % n


@functools.lru_cache(maxsize=1024)
def _parse(pattern: str) -> Any:  # noqa: ANN401 - the parser's own classes are not public
    try:
        return _parser.parse(pattern)
    except re.error as error:
        raise UsageError(f"{pattern!r} is not a regular expression: {error}.") from None


def _text(tree: Any, draw: Draw, least: int, most: int) -> str:  # noqa: ANN401
    """A text for a tree, of `least` to `most` characters where its parts' lengths allow it."""
    if len(tree) == 1:
        return _node_text(str(tree[0][0]), tree[0][1], draw, least, most)
    return _joined([tree[index : index + 1] for index in range(len(tree))], draw, least, most)


def _joined(trees: list[Any], draw: Draw, least: int, most: int) -> str:
    """Texts of several trees in a row: each as long as the lengths of those after it leave open."""
    texts = []
    widths = [tree.getwidth() for tree in trees]
    low_after, high_after = sum(low for low, _ in widths), sum(high for _, high in widths)
    for tree, (low, high) in zip(trees, widths, strict=True):
        low_after, high_after = low_after - low, high_after - high
        text = _text(tree, draw, max(low, least - high_after), min(high, most - low_after))
        least, most = least - len(text), most - len(text)
        texts.append(text)
    return "".join(texts)


def _node_text(op: str, argument: Any, draw: Draw, least: int, most: int) -> str:  # noqa: ANN401
    match op:
        case "LITERAL":
            return chr(argument)
        case "IN" | "NOT_LITERAL" | "ANY":
            return _character(op, argument, draw)
        case "AT" if str(argument) in ("AT_BEGINNING", "AT_END", "AT_BEGINNING_STRING", "AT_END_STRING"):
            return ""
        case "SUBPATTERN" if not (argument[1] or argument[2]):
            return _text(argument[3], draw, least, most)
        case "BRANCH":
            fitting = [b for b in argument[1] if b.getwidth()[0] <= most and b.getwidth()[1] >= least]
            branches = fitting or argument[1]
            return _text(branches[draw(len(branches))], draw, least, most)
        case "MAX_REPEAT" | "MIN_REPEAT":
            low, high, tree = argument
            times = _times(int(low), int(high), tree.getwidth(), draw, least, most)
            return _joined([tree] * times, draw, least, most)
        case _:
            raise UsageError(f"Cannot make texts for the construct {op} of a regular expression.")


def _times(low: int, high: int, width: tuple[int, int], draw: Draw, least: int, most: int) -> int:
    fewest = max(low, -(-least // width[1])) if width[1] else low
    bounds = (high, most // width[0] if width[0] else high, max(fewest, low + _MORE_REPEATS))
    return fewest + draw(max(min(bounds) - fewest, 0) + 1)


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
        raise UsageError(
            "Cannot make texts for a class of a regular expression without printable ASCII characters."
        )
    return chosen
