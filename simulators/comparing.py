"""Values that were named against values that are wanted."""

from collections.abc import Mapping
from typing import NamedTuple

from tool_envs.messages import Json
from tool_envs.simulators.goal import UserGoal, Wish
from tool_envs.simulators.phrasing import Phrases


class Mention(NamedTuple):
    """Values of one argument in a message.

    Attributes:
        firm: Named for sure.
        loose: Groups of which one is meant.
        free: Named by words that mean something else in an earlier argument; perhaps they are not meant.
    """

    firm: frozenset[Json]
    loose: tuple[frozenset[Json], ...] = ()
    free: frozenset[Json] = frozenset()


Mentions = dict[str, Mention]


def arguments_of(wish: Wish) -> tuple[str, ...]:
    """The arguments of the write that fulfils a wish."""
    return tuple(wish.accepted[0]) if wish.accepted else ()


def slot_of(name: str, phrases: Phrases) -> str:
    """The slot of an argument; data that says who the user is comes last."""
    return phrases.slot_of_argument.get(name, name)


def wish_slots(wish: Wish, phrases: Phrases) -> list[str]:
    """The slots of a wish's arguments."""
    return list(dict.fromkeys(slot_of(name, phrases) for name in arguments_of(wish)))


def chosen(wish: Wish, sets: int) -> list[dict[str, Json]]:
    """The accepted sets of a mask."""
    return [arguments for k, arguments in enumerate(wish.accepted) if sets >> k & 1]


def common(wish: Wish, name: str, sets: int) -> Json:
    """The value of an argument in all sets of a mask; None when they differ. The order of a list is none."""
    values = [arguments[name] for arguments in chosen(wish, sets) if name in arguments]
    return values[0] if values and all(_same(value, values[0]) for value in values) else None


def _same(one: Json, other: Json) -> bool:
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return sorted(one) == sorted(other)
    return bool(one == other)


def said_as(wish: Wish, slot: str, sets: int, goal: UserGoal, phrases: Phrases) -> str:
    """How the user says what they want in a slot: in the words of the wish, or by the value that is left."""
    names = phrases.slots.get(slot, ())
    everything = (1 << len(wish.accepted)) - 1
    left = [name for name in names if common(wish, name, everything) is None]
    new = [
        _form(name, value, goal, phrases) for name in left if (value := common(wish, name, sets)) is not None
    ]
    own = [wish.words[name] for name in (slot, *names) if name in wish.words]
    return ", ".join(dict.fromkeys(filter(None, new or own)))


def _form(name: str, value: Json, goal: UserGoal, phrases: Phrases) -> str:
    if isinstance(value, list | tuple):
        return " and ".join(_form(name, one, goal, phrases) for one in value)
    known = (*goal.lexicon.get(name, ()), *phrases.language.values.get(name, ()))
    return next((one.forms[0] for one in known if one.value == value and one.forms), str(value))


def named_values(value: Json, mention: Mention) -> set[Json]:
    """Those parts of a wanted value that a mention names."""
    wanted = _parts(value)
    return wanted & (mention.firm | mention.free | frozenset().union(*mention.loose))


def _parts(value: Json) -> set[Json]:
    return set(value) if isinstance(value, list | tuple) else {value}


def fits(value: Json, mention: Mention) -> bool:
    """A mention does not contradict a wanted value."""
    wanted = _parts(value)
    return mention.firm <= wanted and all(group & wanted for group in mention.loose)


def agreeing(wish: Wish, mentions: Mentions) -> int:
    """The accepted sets that no mention contradicts."""
    return sum(1 << k for k, arguments in enumerate(wish.accepted) if not _misfits(arguments, mentions))


def _misfits(arguments: Mapping[str, Json], mentions: Mentions) -> list[str]:
    return [name for name, value in arguments.items() if name in mentions and not fits(value, mentions[name])]


def wrong_arguments(wish: Wish, mentions: Mentions, sets: int) -> list[str]:
    """The arguments in which a message differs from the accepted set that is nearest to it."""
    return min((_misfits(arguments, mentions) for arguments in chosen(wish, sets)), key=len, default=[])


def other_sets(wish: Wish, mentions: Mentions, sets: int, phrases: Phrases) -> int:
    """The sets that are left for one who agrees, and now wants one value differently; 0 for none.

    It is rather a payment method or a reason than the record or the thing.
    """
    agrees = agreeing(wish, mentions) & sets
    others = [_misfits(arguments, mentions) for arguments in chosen(wish, sets & ~agrees)]
    if not agrees or not others:
        return 0
    k = min(range(len(others)), key=lambda k: len(others[k]))
    name = min(others[k], key=lambda name: name in phrases.identifying)
    value = chosen(wish, sets & ~agrees)[k][name]
    fitting = (k for k, arguments in enumerate(wish.accepted) if _same(arguments[name], value))
    return sets & sum(1 << k for k in fitting)
