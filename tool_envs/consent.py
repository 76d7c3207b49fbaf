"""The explicit yes before a write: one definition, over what the user meant and never over the agent's words.

The `affirm` of a user opens a *yes*: a tool, and the arguments as the user understood them, plus what they
added. An open yes covers a call of that tool when none of its arguments contradicts the call; what it says
nothing about does not contradict. A write that succeeds uses one yes up. A `deny` revokes every open yes, a
`correct` those that it contradicts.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypeAlias

from tool_envs.messages import Json, ToolCall

Value: TypeAlias = Json
"""A JSON value in which lists are tuples."""
Pairs: TypeAlias = tuple[tuple[str, str], ...]
"""Arguments that are lists of the same length, of which elements at the same place belong together."""


class Yes(NamedTuple):
    """An open yes of the user: a tool and the arguments that it is about, sorted by name."""

    tool: str
    arguments: tuple[tuple[str, Value], ...]


def yes_to(tool: str, arguments: Mapping[str, Json]) -> Yes:
    """The yes that an `affirm` gives."""
    return Yes(tool, tuple(sorted((name, _frozen(value)) for name, value in arguments.items())))


def covering(open_yeses: Iterable[Yes], call: ToolCall, pairs: Pairs = ()) -> Yes | None:
    """The yes that a call would use up: of those that cover it the most definite one, then the oldest."""
    given = {name: _frozen(value) for name, value in call.arguments.items()}
    fitting = [
        yes for yes in open_yeses if yes.tool == call.name and _agree(dict(yes.arguments), given, pairs)
    ]
    return max(fitting, key=lambda yes: len(yes.arguments), default=None)


def heard(open_yeses: tuple[Yes, ...], acts: Iterable[Mapping[str, Json]]) -> tuple[Yes, ...]:
    """The open yeses after the acts of a turn of the user, taken in order."""
    for act in acts:
        match act:
            case {"act": "affirm", "tool": tool}:
                open_yeses = (*open_yeses, yes_to(tool, act.get("arguments", {})))
            case {"act": "deny"}:
                open_yeses = ()
            case {"act": "correct", "slot": slot, "value": value}:
                open_yeses = tuple(yes for yes in open_yeses if not _revokes(slot, _frozen(value), yes))
    return open_yeses


def used(open_yeses: tuple[Yes, ...], call: ToolCall, pairs: Pairs = ()) -> tuple[Yes, ...]:
    """The open yeses after a write that succeeded."""
    yes = covering(open_yeses, call, pairs)
    if yes is None:
        return open_yeses
    place = open_yeses.index(yes)
    return open_yeses[:place] + open_yeses[place + 1 :]


def _agree(yes: Mapping[str, Value], given: Mapping[str, Value], pairs: Pairs) -> bool:
    alike = all(_same(yes[name], given[name]) for name in yes.keys() & given.keys())
    return alike and all(_paired_alike(yes, given, pair) for pair in pairs)


def _same(value: Value, other: Value) -> bool:
    """Equal; for lists, whatever the order."""
    if isinstance(value, tuple) and isinstance(other, tuple):
        return Counter(value) == Counter(other)
    return bool(value == other)


def _paired_alike(yes: Mapping[str, Value], given: Mapping[str, Value], pair: tuple[str, str]) -> bool:
    """Whether the same elements of two lists belong together on both sides, where both name both lists."""
    sides = [[side.get(name) for name in pair] for side in (yes, given)]
    if not all(isinstance(values, tuple) for lists in sides for values in lists):
        return True
    agreed, asked = (Counter(zip(*lists, strict=False)) for lists in sides)
    return agreed == asked


def _revokes(slot: str, value: Value, yes: Yes) -> bool:
    """Whether a correction contradicts a yes; a single value does so with a list that lacks it."""
    arguments = dict(yes.arguments)
    if slot not in arguments:
        return False
    agreed = arguments[slot]
    if isinstance(agreed, tuple) and not isinstance(value, tuple):
        return value not in agreed
    return not _same(value, agreed)


def _frozen(value: Json) -> Value:
    if isinstance(value, list | tuple):
        return tuple(map(_frozen, value))
    if isinstance(value, dict):
        return tuple(sorted((name, _frozen(inner)) for name, inner in value.items()))
    return value
