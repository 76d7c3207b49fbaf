"""What makes a flight the right one for a customer: limits, and what is best of those within them.

A criterion is a value: `choose` says which options it leaves, `decides` whether it is worth asking for,
`find_criterion` finds one that is, and `criterion_words` says it in words.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from tool_envs.booking.rows import DAY
from tool_envs.booking.wishes.ways import FEWEST_OPTIONS, Option
from tool_envs.randomness import Draws
from tool_envs.service.wishes import MAX_ACCEPTED

ANY = "any"
CHEAPEST, LEAVES_FIRST, ARRIVES_FIRST, LEAVES_LAST = (
    "cheapest",
    "earliest-departing",
    "earliest-arriving",
    "latest-departing",
)
BEST: Mapping[str, Callable[[Option], int]] = {
    CHEAPEST: lambda option: option.fare,
    LEAVES_FIRST: lambda option: option.departs,
    ARRIVES_FIRST: lambda option: option.arrives,
    LEAVES_LAST: lambda option: -option.departs,
}
"""What can be best, in the words of customers -> a number that is least for it."""

LEAVES_AFTER, ARRIVES_BEFORE, AT_MOST = "leaves_after", "arrives_before", "at_most"
"""The limits that there can be."""

_SAME_AS = {CHEAPEST: AT_MOST, ARRIVES_FIRST: ARRIVES_BEFORE, LEAVES_LAST: LEAVES_AFTER}
"""What can be best -> the limit that makes no difference to it."""

_HOUR, _NOON = 60, 12 * 60
_ROUND = 10_00  # budgets are multiples of it, in cents


class Criterion(NamedTuple):
    """What a customer wants of the flights of one way; None where there is no limit.

    Attributes:
        best: A key of `BEST`; `ANY` when all within the limits are equally good.
        leaves_after: Minutes after midnight; one that leaves in that minute is too early.
        arrives_before: Minutes after midnight of the day on which the way begins; one that arrives in that
            minute is too late.
        at_most: What the fares of all passengers may cost, in cents.
    """

    best: str = ANY
    leaves_after: int | None = None
    arrives_before: int | None = None
    at_most: int | None = None


def choose(criterion: Criterion, options: Sequence[Option], party: int) -> list[Option]:
    """The options that are right by a criterion, all of them equally; empty when there is none.

    Args:
        criterion: What is wanted.
        options: All for one way.
        party: How many fly.
    """
    within = [option for option in options if _is_within(criterion, option, party)]
    if criterion.best == ANY or not within:
        return within
    number = BEST[criterion.best]
    least = min(map(number, within))
    return [option for option in within if number(option) == least]


def _is_within(criterion: Criterion, option: Option, party: int) -> bool:
    midnight = option.legs[0][1] * DAY
    _, after, before, most = criterion
    return (
        (after is None or option.departs > midnight + after)
        and (before is None or option.arrives < midnight + before)
        and (most is None or option.fare * party <= most)
    )


def decides(criterion: Criterion, options: Sequence[Option], party: int) -> bool:
    """Whether a criterion leaves few of the options, and fewer or others than without any part of it."""
    chosen = choose(criterion, options, party)
    if not 0 < len(chosen) <= min(MAX_ACCEPTED, len(options) - FEWEST_OPTIONS + 1):
        return False
    return all(choose(weaker, options, party) != chosen for weaker in _weaker(criterion))


def _weaker(criterion: Criterion) -> Iterator[Criterion]:
    """The criterion without each of its parts."""
    for part, nothing in Criterion()._asdict().items():
        if getattr(criterion, part) != nothing:
            yield criterion._replace(**{part: nothing})


class Shape(NamedTuple):
    """What a criterion is about: what is best, and which of its limits it has."""

    best: str
    limits: tuple[str, ...]

    @property
    def is_by_fare(self) -> bool:
        """Fares matter for it."""
        return self.best == CHEAPEST or AT_MOST in self.limits


_SHAPES = tuple(
    Shape(best, limits)
    for best in (ANY, *BEST)
    for count in range(3)
    for limits in itertools.combinations((LEAVES_AFTER, ARRIVES_BEFORE, AT_MOST), count)
    if _SAME_AS.get(best) not in limits and (limits or best not in (ANY, LEAVES_FIRST))
)


def draw_shape(draws: Draws) -> Shape:
    """One of the shapes that a criterion can have and still decide something.

    What leaves first is not among them without limits: searches show it first.
    """
    return draws.pick(_SHAPES)


def find_criterion(
    draws: Draws, shape: Shape, ways: Sequence[Sequence[Option]], party: int
) -> Criterion | None:
    """A criterion of a shape that decides on each of some ways; None when there is none.

    Args:
        draws: The choices.
        shape: What it is about.
        ways: The options for each way.
        party: How many fly.
    """
    limits = [_limits(limit, ways[0], party) if ways[0] else [] for limit in shape.limits]
    criteria = [
        Criterion(shape.best, **dict(zip(shape.limits, values, strict=True)))
        for values in itertools.product(*limits)
    ]
    deciding = [each for each in criteria if all(decides(each, options, party) for options in ways)]
    return draws.pick(deciding) if deciding else None


def _limits(limit: str, options: Sequence[Option], party: int) -> list[int]:
    """The narrowest limits that each of the options is within: full hours, or round sums."""
    midnight = options[0].legs[0][1] * DAY
    if limit == LEAVES_AFTER:
        hours = {(option.departs - midnight - 1) // _HOUR for option in options}
        return [hour * _HOUR for hour in sorted(hours)]
    if limit == ARRIVES_BEFORE:
        hours = {(option.arrives - midnight) // _HOUR + 1 for option in options}
        return [hour * _HOUR for hour in sorted(hours) if hour * _HOUR < DAY]
    return sorted({round_up(option.fare * party) for option in options})


def round_up(amount: int) -> int:
    """The next sum that a customer would name as a budget, in cents."""
    return -(-amount // _ROUND) * _ROUND


def round_down(amount: int) -> int:
    """The last sum before it that a customer would name as a budget, in cents."""
    return amount // _ROUND * _ROUND


def criterion_words(criterion: Criterion, noun: str) -> str:
    """How customers say what they want.

    Args:
        criterion: What is wanted.
        noun: What they look for: "direct flight".
    """
    best, after, before, most = criterion
    limits = []
    if after is not None:
        limits.append(f"that leaves after {_clock_words(after)}")
    if before is not None:
        limits.append(f"that arrives before {_clock_words(before)} on the same day")
    if most is not None:
        limits.append(f"whose fares cost at most ${most // 100:,} in all")
    wanted = f"any {noun}" if best == ANY else f"the {best} {noun}"
    return " ".join(filter(None, (wanted, " and ".join(limits))))


def _clock_words(minutes: int) -> str:
    """A full hour but midnight, from minutes after midnight."""
    if minutes == _NOON:
        return "noon"
    hour = minutes // _HOUR
    return f"{hour % 12} {'AM' if minutes < _NOON else 'PM'}"
