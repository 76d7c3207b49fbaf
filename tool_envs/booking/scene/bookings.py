"""Which bookings are of use, on what was shown. Kernels, as in `sight`.

A draft is one when some itineraries, cabin, party and insurance that it leaves cost more than what the other
payment methods hold, so that something is left to the credit card.
"""

from typing import Final

from tool_envs.booking.flights import SHORTEST_STOP
from tool_envs.booking.scene.payments import booking_price, least_held, party_sizes
from tool_envs.booking.scene.sight import (
    BACK,
    CABIN_COUNT,
    MAX_PEOPLE,
    NONE,
    OPEN,
    OWN,
    THERE,
    Draft,
    Offer,
    Sight,
    may_be,
)
from tool_envs.booking.scene.ways import fare, is_booking, room, side_by, wanted_search
from tool_envs.rows import kernel

ANY_PRICE: Final = 1 << 30
"""More than any price, in cents."""


@kernel
def fits_booking(sight: Sight, draft: Draft) -> bool:
    """Whether a booking of use can come of a draft."""
    if not is_booking_open(sight, draft):
        return False
    sizes, least = party_sizes(sight, draft), least_held(sight, draft)
    return sizes > 0 and least >= 0 and highest_price(sight, draft, sizes, least) > least


@kernel
def costs_more(sight: Sight, draft: Draft, sizes: int, least: int) -> bool:
    """Whether a booking that can come of a draft with so many people, as bits, costs more than that."""
    return is_booking_open(sight, draft) and highest_price(sight, draft, sizes, least) > least


@kernel
def is_booking_open(sight: Sight, draft: Draft) -> bool:
    """Whether a draft is of what the wish at hand asks for, who flies, what pays, and prices aside."""
    wanted = sight.wanted
    is_round = wanted.days[BACK] >= 0
    if not is_booking(sight.scene.wish) or wanted.bags < 0 or wanted.origin < 0:
        return False
    if not may_be(draft.round_trip, is_round) or (not is_round and not may_be(draft.flights[1], NONE)):
        return False
    return may_be(draft.origin, wanted.origin) and may_be(draft.destination, wanted.destination)


@kernel
def highest_price(sight: Sight, draft: Draft, sizes: int, enough: int) -> int:
    """The highest price of a booking that can come of a draft; -1: there is none.

    Args:
        sight: What is known.
        draft: The choices; who flies and what pays are not looked at.
        sizes: How many may fly, as bits.
        enough: The first price above this one is the answer.
    """
    scene, is_round, highest = sight.scene, sight.wanted.days[BACK] >= 0, -1
    start, end = rows_left(draft.flights[0], OWN, OWN + scene.offers)
    back_start, back_end = rows_left(draft.flights[1], OWN, OWN + scene.offers)
    search_there, search_back = wanted_search(sight, THERE), wanted_search(sight, BACK)
    for first in range(start, end):
        if side_by(scene.found_by[first - OWN], search_there, search_back) != THERE:
            continue
        if not is_round:
            highest = max(highest, _highest_fares(sight, draft, first, first, sizes, enough))
            if highest > enough:
                return highest
            continue
        for second in range(back_start, back_end):
            if side_by(scene.found_by[second - OWN], search_there, search_back) != BACK:
                continue
            if is_in_time(sight.offers[first - OWN], sight.offers[second - OWN]):
                highest = max(highest, _highest_fares(sight, draft, first, second, sizes, enough))
                if highest > enough:
                    return highest
    return highest


@kernel
def rows_left(chosen: int, first: int, end: int) -> tuple[int, int]:
    """The rows from one to before another one that a choice leaves, likewise."""
    if chosen == OPEN:
        return first, end
    return max(first, int(chosen)), min(end, int(chosen) + 1)


@kernel
def is_in_time(there: Offer, back: Offer) -> bool:
    """Whether there is time enough before the way back."""
    return back.departs - there.arrives >= SHORTEST_STOP


@kernel
def _highest_fares(sight: Sight, draft: Draft, first: int, second: int, sizes: int, enough: int) -> int:
    """The same with two ways: in some cabin that has seats.

    Args:
        sight: What is known.
        draft: The choices.
        first: Row of the way there.
        second: Row of the way back; the same one when there is none.
        sizes: How many may fly, as bits.
        enough: As of `highest_price`.
    """
    there, back = sight.offers[first - OWN], sight.offers[second - OWN]
    highest = -1
    for cabin in range(CABIN_COUNT):
        is_told = sight.wanted.cabin in (-1, cabin)
        if not may_be(draft.cabin, cabin) or not is_told:
            continue
        fares = fare(there, cabin)
        if first != second:
            fares += fare(back, cabin)
        seats = min(room(there, cabin), room(back, cabin))
        for size in range(1, min(seats, MAX_PEOPLE) + 1):
            if sizes >> size & 1:
                highest = max(highest, _highest_insured(sight, draft, fares, cabin, size))
                if highest > enough:
                    return highest
    return highest


@kernel
def _highest_insured(sight: Sight, draft: Draft, fares: int, cabin: int, size: int) -> int:
    """The same with all but the insurance: with it, where it may be, since that costs more."""
    for choice in range(2):
        insured = 1 - choice
        is_told = sight.wanted.insurance in (-1, insured)
        if may_be(draft.insurance, choice) and is_told:
            return booking_price(sight, fares, cabin, size, insured)
    return -1
