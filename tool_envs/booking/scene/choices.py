"""Choices to drafts, and masks over choices. Kernels, as in `sight`.

A slot demands an entity in some role. A choice is the entity's row in its table: `choose` writes it into a
draft. A mask says for each choice whether the draft with it fits.
"""

from collections.abc import MutableSequence, Sequence
from typing import Final

from tool_envs.booking.scene.masks import (
    SEARCH_DIRECT,
    SEARCH_ONE_STOP,
    allowed_verbs,
    fits,
    may_search,
)
from tool_envs.booking.scene.search_codes import (
    code_day,
    code_destination,
    code_origin,
)
from tool_envs.booking.scene.sight import (
    NONE,
    OPEN,
    Draft,
    Sight,
)
from tool_envs.booking.scene.ways import search_numbers
from tool_envs.row_lists import clear
from tool_envs.rows import kernel

ROLES: Final = (
    *("reservation_id", "origin", "destination", "date", "flight_type", "cabin", "flights", "passengers"),
    *("payment_methods", "payment_id", "insurance", "amount", "flight_number"),
)
"""The parameters whose values are chosen."""
(
    AS_TRIP,
    AS_ORIGIN,
    AS_DESTINATION,
    AS_DAY,
    AS_KIND,
    AS_CABIN,
    AS_FLIGHT,
    AS_PERSON,
    AS_PAYMENT,
    AS_METHOD,
    AS_INSURANCE,
    AS_CLAIM,
    AS_LEG,
) = range(len(ROLES))


@kernel
def choose(draft: Draft, role: int, place: int, choice: int) -> None:
    """Write a choice into a draft.

    Args:
        draft: The choices before it.
        role: Index of `ROLES`.
        place: Which of the values of a list; 0 for what is none.
        choice: A row; `NONE`; or `OPEN`, to take a choice back.
    """
    if role == AS_TRIP:
        draft.trip = choice
    elif role == AS_ORIGIN:
        draft.origin = choice
    elif role == AS_DESTINATION:
        draft.destination = choice
    elif role == AS_DAY:
        draft.day = choice
    elif role == AS_KIND:
        draft.round_trip = choice
    elif role == AS_CABIN:
        draft.cabin = choice
    elif role == AS_FLIGHT:
        draft.flights[place] = choice
    elif role == AS_PERSON:
        draft.people[place] = choice
    elif role == AS_PAYMENT:
        draft.methods[place] = choice
    elif role == AS_METHOD:
        draft.method = choice
    elif role == AS_INSURANCE:
        draft.insurance = choice
    elif role == AS_CLAIM:
        draft.claim = choice
    else:
        draft.leg = choice


@kernel
def mask_verbs(
    sight: Sight, policy: bool, verbs: Sequence[int], draft: Draft, out: MutableSequence[int]
) -> None:
    """Which verbs are allowed.

    Args:
        sight: What is known.
        policy: The level.
        verbs: Those that there are.
        draft: An open one.
        out: For each verb 1 or 0 is written here.
    """
    allowed = allowed_verbs(sight, policy, draft)
    for place in range(len(verbs)):
        out[place] = allowed >> int(verbs[place]) & 1


@kernel
def mask_choices(
    sight: Sight,
    policy: bool,
    verb: int,
    draft: Draft,
    role: int,
    place: int,
    width: int,
    out: MutableSequence[int],
) -> None:
    """Which choices of a slot are allowed after those of a draft; the draft is left as it came.

    Args:
        sight: What is known.
        policy: The level.
        verb: The verb.
        draft: The choices before it.
        role: Of the slot.
        place: As of `choose`.
        width: Rows of its table; a choice behind them means `NONE`.
        out: For each choice 1 or 0 is written here.
    """
    if policy and verb in (SEARCH_DIRECT, SEARCH_ONE_STOP):
        _mask_search(sight, verb - SEARCH_DIRECT, draft, role, out)
        return
    for choice in range(len(out)):
        choose(draft, role, place, choice if choice < width else NONE)
        out[choice] = fits(sight, policy, verb, draft)
    choose(draft, role, place, OPEN)


@kernel
def _mask_search(sight: Sight, stops: int, draft: Draft, role: int, out: MutableSequence[int]) -> None:
    """What the searches that are to be made have in a slot."""
    clear(out)
    first, end = search_numbers(sight.scene)
    for number in range(first, end):
        code = may_search(sight, number, stops, draft)
        if code >= 0:
            if role == AS_ORIGIN:
                out[code_origin(code)] = 1
            elif role == AS_DESTINATION:
                out[code_destination(code)] = 1
            else:
                out[code_day(code)] = 1


@kernel
def mask_reachable(
    sight: Sight,
    policy: bool,
    verb: int,
    draft: Draft,
    role: int,
    place: int,
    width: int,
    out: MutableSequence[int],
) -> None:
    """Which choices of a slot some allowed action has, whatever the others are.

    "No more" is a choice only after a row: behind an earlier "no more" the slot is skipped.

    Args:
        sight: As of `mask_choices`, and so all others.
        policy: See above.
        verb: See above.
        draft: An open one.
        role: See above.
        place: See above.
        width: See above.
        out: See above.
    """
    mask_choices(sight, policy, verb, draft, role, place, width, out)
    if place < 2 or len(out) == width or not out[width]:
        return
    out[width] = False
    choose(draft, role, place, NONE)
    for row in range(width):
        choose(draft, role, place - 1, row)
        if fits(sight, policy, verb, draft):
            out[width] = True
    choose(draft, role, place - 1, OPEN)
    choose(draft, role, place, OPEN)
