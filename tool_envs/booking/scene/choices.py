"""Choices to drafts, and masks over choices. Kernels, as in `sight`.

A slot demands an entity in some role. A choice is the entity's row in its table: `choose` writes it into a
draft. A mask says for each choice whether the draft with it fits.
"""

from collections.abc import MutableSequence, Sequence
from typing import Final

from tool_envs.booking.scene.bookings import ANY_PRICE, costs_more, highest_price, is_booking_open
from tool_envs.booking.scene.masks import (
    PROPOSE,
    READ_TRIP,
    SEARCH_DIRECT,
    SEARCH_ONE_STOP,
    allowed_verbs,
    fits,
    mask_unseen,
    may_be_proposed,
    may_search,
)
from tool_envs.booking.scene.payments import least_held, party_sizes
from tool_envs.booking.scene.search_codes import (
    code_day,
    code_destination,
    code_origin,
)
from tool_envs.booking.scene.sight import (
    BOOK,
    MAX_PEOPLE,
    NONE,
    OPEN,
    OWN,
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
    sight: Sight,
    policy: bool,
    verbs: Sequence[int],
    draft: Draft,
    possible: int,
    out: MutableSequence[int],
) -> None:
    """Which verbs are allowed.

    Args:
        sight: What is known.
        policy: The level.
        verbs: Those that there are.
        draft: An open one.
        possible: What `possible_writes` says of it.
        out: For each verb 1 or 0 is written here.
    """
    allowed = allowed_verbs(sight, policy, draft, possible)
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
    clear(out)
    if policy and verb in (SEARCH_DIRECT, SEARCH_ONE_STOP):
        _mask_search(sight, verb - SEARCH_DIRECT, draft, role, out)
    elif policy and verb == READ_TRIP:
        mask_unseen(sight, out)
    elif policy and verb == PROPOSE + BOOK:
        if may_be_proposed(sight, policy, draft):
            _mask_booking(sight, draft, role, place, width, out)
    else:
        first, end = _rows(sight, role, width)
        for choice in range(len(out)):
            if first <= choice < end or choice == width:
                choose(draft, role, place, choice if choice < width else NONE)
                out[choice] = fits(sight, policy, verb, draft)
        choose(draft, role, place, OPEN)


@kernel
def _rows(sight: Sight, role: int, width: int) -> tuple[int, int]:
    """The rows of the table of a role among which all are that fit: the first, and the one behind the last.

    Args:
        sight: What is known.
        role: Index of `ROLES`.
        width: Rows of the table.
    """
    if role == AS_FLIGHT:
        return 0, OWN + int(sight.scene.offers)
    if role == AS_PERSON:
        return 0, int(sight.scene.people)
    if role in (AS_PAYMENT, AS_METHOD):
        return 0, int(sight.customer.methods)
    return 0, width


@kernel
def _mask_search(sight: Sight, stops: int, draft: Draft, role: int, out: MutableSequence[int]) -> None:
    """What the searches that are to be made have in a slot."""
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


# --- Bookings of use: `fits`, with what is the same for all choices of a slot looked at once


@kernel
def _mask_booking(
    sight: Sight, draft: Draft, role: int, place: int, width: int, out: MutableSequence[int]
) -> None:
    """What a booking that may be proposed has in a slot."""
    if role == AS_PERSON:
        _mask_people(sight, draft, place, width, out)
    elif role == AS_PAYMENT:
        _mask_payments(sight, draft, place, width, out)
    else:
        sizes, least = party_sizes(sight, draft), least_held(sight, draft)
        if sizes == 0 or least < 0:
            return
        first, end = _booking_rows(sight, role, width)
        for choice in range(len(out)):
            if first <= choice < end or choice == width:
                choose(draft, role, place, choice if choice < width else NONE)
                out[choice] = costs_more(sight, draft, sizes, least)
        choose(draft, role, place, OPEN)


@kernel
def _booking_rows(sight: Sight, role: int, width: int) -> tuple[int, int]:
    """As `_rows`; its route can only be the one that the words of the wish name."""
    if role == AS_ORIGIN:
        return max(0, int(sight.wanted.origin)), int(sight.wanted.origin) + 1
    if role == AS_DESTINATION:
        return max(0, int(sight.wanted.destination)), int(sight.wanted.destination) + 1
    return _rows(sight, role, width)


@kernel
def _mask_people(sight: Sight, draft: Draft, place: int, width: int, out: MutableSequence[int]) -> None:
    """Who flies."""
    if not is_booking_open(sight, draft):
        return
    least, sizes = least_held(sight, draft), 0
    open_sizes = party_sizes(sight, draft) if least >= 0 else 0
    for size in range(1, MAX_PEOPLE + 1):
        if open_sizes >> size & 1 and highest_price(sight, draft, 1 << size, least) > least:
            sizes |= 1 << size
    for person in range(sight.scene.people):
        draft.people[place] = person
        out[person] = party_sizes(sight, draft) & sizes > 0
    if len(out) > width:
        draft.people[place] = NONE
        out[width] = party_sizes(sight, draft) & sizes > 0
    draft.people[place] = OPEN


@kernel
def _mask_payments(sight: Sight, draft: Draft, place: int, width: int, out: MutableSequence[int]) -> None:
    """What pays."""
    if not is_booking_open(sight, draft):
        return
    highest = highest_price(sight, draft, party_sizes(sight, draft), ANY_PRICE)
    for method in range(sight.customer.methods):
        draft.methods[place] = method
        out[method] = 0 <= least_held(sight, draft) < highest
    if len(out) > width:
        draft.methods[place] = NONE
        out[width] = 0 <= least_held(sight, draft) < highest
    draft.methods[place] = OPEN


# --- Whatever is chosen in the other slots


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
