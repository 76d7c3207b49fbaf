"""Values that were named against values that are wanted."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from tool_envs.messages import Json
from tool_envs.simulators.agenda_plan import Node
from tool_envs.simulators.goal import UserGoal
from tool_envs.simulators.phrasing import Phrases


class Mention(NamedTuple):
    """Values of one leaf of the arguments in a message.

    Attributes:
        firm: Named for sure.
        loose: Groups of which one is meant.
        free: Named by words that mean something else in an earlier slot; perhaps they are not meant.
    """

    firm: frozenset[Json]
    loose: tuple[frozenset[Json], ...] = ()
    free: frozenset[Json] = frozenset()


Mentions = dict[str, Mention]
"""Leaf -> what a message names of it."""


def chosen(node: Node, sets: int) -> list[dict[str, Json]]:
    """The leaves of the accepted sets of a mask."""
    return _chosen(node.leaves, sets)


def common(node: Node, leaf: str, sets: int) -> Json:
    """The value of a leaf in all sets of a mask; None when they differ. The order of a list is none."""
    return _common(leaf, _chosen(node.leaves, sets))


def common_argument(node: Node, name: str, sets: int) -> Json:
    """The whole value of an argument in all sets of a mask; None when they differ."""
    return _common(name, _chosen(node.wish.accepted, sets))


def _chosen(accepted: Iterable[dict[str, Json]], sets: int) -> list[dict[str, Json]]:
    return [each for k, each in enumerate(accepted) if sets >> k & 1]


def _common(name: str, accepted: list[dict[str, Json]]) -> Json:
    values = [each[name] for each in accepted if name in each]
    return values[0] if values and all(_same(value, values[0]) for value in values[1:]) else None


def _same(one: Json, other: Json) -> bool:
    if one != other and isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return sorted(map(_sortable, one)) == sorted(map(_sortable, other))
    return bool(one == other)


def _sortable(value: Json) -> Json:
    return sorted(value.items()) if isinstance(value, dict) else value


def said_as(node: Node, slot: str, sets: int, goal: UserGoal, phrases: Phrases) -> str:
    """How the user says what they want in a slot: in the words of the wish, or by the value that is left."""
    names = phrases.slots.get(slot, ())
    everything = (1 << len(node.leaves)) - 1
    left = [name for name in names if common(node, name, everything) is None]
    new = [
        _form(name, value, goal, phrases) for name in left if (value := common(node, name, sets)) is not None
    ]
    own = [node.wish.words[name] for name in (slot, *names) if name in node.wish.words]
    return ", ".join(dict.fromkeys(filter(None, new or own)))


def _form(leaf: str, value: Json, goal: UserGoal, phrases: Phrases) -> str:
    if isinstance(value, list | tuple):
        return " and ".join(dict.fromkeys(_form(leaf, one, goal, phrases) for one in value))
    known = (*goal.lexicon.get(leaf, ()), *phrases.language.values.get(leaf, ()))
    return next((one.forms[0] for one in known if one.value == value and one.forms), str(value))


def named_values(value: Json, mention: Mention) -> set[Json]:
    """Those parts of a wanted value that a mention names."""
    return parts_of(value) & (mention.firm | mention.free | frozenset().union(*mention.loose))


def parts_of(value: Json) -> set[Json]:
    """The elements of a list, or the one value."""
    return set(value) if isinstance(value, list | tuple) else {value}


def fits(value: Json, mention: Mention) -> bool:
    """A mention does not contradict a wanted value."""
    wanted = parts_of(value)
    return mention.firm <= wanted and all(group & wanted for group in mention.loose)


def agreeing(node: Node, mentions: Mentions) -> int:
    """The accepted sets that no mention contradicts."""
    return sum(1 << k for k, leaves in enumerate(node.leaves) if not _misfits(leaves, mentions))


def _misfits(leaves: Mapping[str, Json], mentions: Mentions) -> list[str]:
    return [leaf for leaf, value in leaves.items() if leaf in mentions and not fits(value, mentions[leaf])]


def wrong_leaves(node: Node, mentions: Mentions, sets: int) -> list[str]:
    """The leaves in which a message differs from the accepted set that is nearest to it."""
    return min((_misfits(leaves, mentions) for leaves in chosen(node, sets)), key=len, default=[])


def other_sets(node: Node, mentions: Mentions, sets: int, phrases: Phrases) -> int:
    """The sets that are left for one who agrees, and now wants one value differently; 0 for none.

    It is rather a payment method or a reason than the record or the thing.
    """
    agrees = agreeing(node, mentions) & sets
    others = [_misfits(leaves, mentions) for leaves in chosen(node, sets & ~agrees)]
    if not agrees or not others:
        return 0
    k = min(range(len(others)), key=lambda k: len(others[k]))
    leaf = min(others[k], key=lambda leaf: leaf in phrases.identifying)
    value = chosen(node, sets & ~agrees)[k][leaf]
    fitting = (k for k, leaves in enumerate(node.leaves) if _same(leaves[leaf], value))
    return sets & sum(1 << k for k in fitting)
