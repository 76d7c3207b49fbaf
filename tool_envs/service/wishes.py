"""What the makers of wishes share: a wish with the calls that it takes."""

from collections.abc import Mapping
from typing import NamedTuple

from tool_envs.messages import Json, ToolCall
from tool_envs.randomness import Draws
from tool_envs.simulators.goal import Wish
from tool_envs.simulators.phrasing import Pool, sentence

MAX_ACCEPTED = 6
"""Most sets of arguments that may be equally right for one wish."""


class Planned(NamedTuple):
    """A wish, the calls that look up what it is about (they become its evidence), and the write for it."""

    wish: Wish
    reads: tuple[ToolCall, ...]
    writes: tuple[ToolCall, ...] = ()


def make_wish(kind: str, draws: Draws, openings: Pool, fields: Mapping[str, str], **rest: Json) -> Wish:
    """A wish that is brought up by one of the openings.

    Args:
        kind: The family.
        draws: The choices.
        openings: Sentences with fields.
        fields: What stands in them.
        rest: The other attributes of the wish.
    """
    return Wish(kind=kind, opening=sentence(draws.pick(openings).format(**fields)), **rest)


def card_forms(brand: str, last_four: str, alone: bool) -> tuple[str, ...]:
    """What means a credit card, in lower case, the most telling form first.

    Args:
        brand: Such as `visa`.
        last_four: Last four digits of its number.
        alone: It is the only credit card of its owner.
    """
    known = (f"{brand} card ending in {last_four}", f"ending in {last_four}", f"ending {last_four}")
    return (*known, "credit card", f"{brand} card") if alone else known
