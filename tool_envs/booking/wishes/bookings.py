"""Wishes for a new reservation: the right flights, seats for a party, bags, insurance, and how it is paid."""

import itertools
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from tool_envs.booking.codes import FLIGHT_TYPES, YES_NO
from tool_envs.booking.dates import DAYS, NOW
from tool_envs.booking.rows import (
    BAG_PRICE,
    BUSINESS,
    CABINS,
    DAY,
    ECONOMY,
    FREE_BAGS,
    INSURANCE_PRICE,
    Passenger,
)
from tool_envs.booking.wishes.changes import cabin_words
from tool_envs.booking.wishes.criteria import (
    ANY,
    AT_MOST,
    Criterion,
    Shape,
    choose,
    criterion_words,
    draw_shape,
    find_criterion,
    round_down,
)
from tool_envs.booking.wishes.payments import draw_payment, payment_words, payments_argument
from tool_envs.booking.wishes.planned import flights_argument, passengers_argument, wish_of
from tool_envs.booking.wishes.traveller import Traveller, passenger_words
from tool_envs.booking.wishes.ways import (
    FEWEST_OPTIONS,
    Option,
    Way,
    options,
    routes,
    search_of,
    take_ways,
)
from tool_envs.messages import Json, ToolCall
from tool_envs.service.wishes import MAX_ACCEPTED, Planned
from tool_envs.simulators.goal import Wish

ONE_WAY, ROUND_TRIP, ONE_STOP = "book_one_way", "book_round_trip", "book_one_stop"
NOUNS = ("direct flight", "connection with one stop")
"""What customers call an itinerary, by its stops."""

_TOOL = "book_reservation"
_TRIES = 24
_IF_AFFORDABLE = 5  # one booking in so many
_FIRST_DAY = NOW // DAY + 2  # from which all flights can be booked
_SHORTEST_STAY, _LONGEST_STAY = 2, 7  # days
_MOST_PASSENGERS, _MOST_BAGS_EACH = 3, 2


class Booking(NamedTuple):
    """A reservation that a customer wants, but for the flights.

    Attributes:
        kind: Of the wish.
        ways: The way there, and the way back.
        party: Who flies.
        cabin: In which cabin.
        bags: Checked bags in all.
        insured: With travel insurance.
    """

    kind: str
    ways: tuple[Way, ...]
    party: list[Passenger]
    cabin: int
    bags: int
    insured: bool


Itinerary: TypeAlias = tuple[Option, ...]
"""One option for each way."""


def book_one_way(traveller: Traveller) -> Planned | None:
    """A direct flight; now and then in business for a budget, and in economy where that is too low."""
    if traveller.draws.below(_IF_AFFORDABLE):
        return _book(traveller, ONE_WAY)
    make = traveller.draws.pick((_book_affordable, _book_too_dear))
    return _first_of(lambda booking: make(traveller, booking), traveller, ONE_WAY)


def book_round_trip(traveller: Traveller) -> Planned | None:
    """A direct flight there, and another one back some days later."""
    return _book(traveller, ROUND_TRIP)


def book_one_stop(traveller: Traveller) -> Planned | None:
    """A connection between airports without a direct flight."""
    return _book(traveller, ONE_STOP)


def _book(traveller: Traveller, kind: str) -> Planned | None:
    shape = draw_shape(traveller.draws)
    return _first_of(lambda booking: _choose(traveller, booking, shape), traveller, kind)


def _first_of(make: Callable[[Booking], Planned | None], traveller: Traveller, kind: str) -> Planned | None:
    """The first wish that is made of some drawn bookings."""
    bookings = (_draw_booking(traveller, kind) for _ in range(_TRIES))
    return next(filter(None, (make(booking) for booking in bookings if booking)), None)


# --- What is wanted


def _draw_booking(traveller: Traveller, kind: str) -> Booking | None:
    """A booking with enough to choose from in its cabin; None when there is not."""
    draws, base = traveller.draws, traveller.base
    ways, party = _draw_ways(traveller, kind), _draw_party(traveller)
    cabins = [
        cabin
        for cabin in range(len(CABINS))
        if all(len(options(base, way, cabin, len(party))) >= FEWEST_OPTIONS for way in ways)
    ]
    if not ways or not cabins:
        return None
    bags = draws.below(_MOST_BAGS_EACH * len(party) + 1)
    return Booking(kind, ways, party, draws.pick(cabins), bags, draws.below(2) == 1)


def _draw_ways(traveller: Traveller, kind: str) -> tuple[Way, ...]:
    """Where to and when; empty when there is no such route or day."""
    draws = traveller.draws
    stops = int(kind == ONE_STOP)
    pairs = routes(traveller.base, stops)
    if not pairs:
        return ()
    origin, destination = draws.pick(pairs)
    there = Way(origin, destination, _FIRST_DAY + draws.below(DAYS - _FIRST_DAY), stops)
    if kind != ROUND_TRIP:
        return (there,)
    stay = _SHORTEST_STAY + draws.below(_LONGEST_STAY - _SHORTEST_STAY + 1)
    back = Way(destination, origin, there.day + stay, stops)
    return (there, back) if back.day < DAYS else ()


def _draw_party(traveller: Traveller) -> list[Passenger]:
    """The customer and others, or now and then only others."""
    size = 1 + traveller.draws.below(_MOST_PASSENGERS)
    if traveller.draws.below(5) == 0:
        return traveller.party(size + 1)[1:]
    return traveller.party(size)


def _choose(traveller: Traveller, booking: Booking, shape: Shape) -> Planned | None:
    """Flights by a criterion of a shape."""
    criterion = find_criterion(traveller.draws, shape, _found(traveller, booking), len(booking.party))
    return criterion and _plan(traveller, booking, criterion)


def _book_affordable(traveller: Traveller, booking: Booking) -> Planned | None:
    """In business for a budget that is enough."""
    return _choose(traveller, booking._replace(cabin=BUSINESS), Shape(ANY, (AT_MOST,)))


def _book_too_dear(traveller: Traveller, booking: Booking) -> Planned | None:
    """In business for a budget that is too low; if so, in economy."""
    draws, party, business = traveller.draws, len(booking.party), booking._replace(cabin=BUSINESS)
    found = _found(traveller, business)[0]
    if not found:
        return None
    least = min(option.fare for option in found) * party
    too_low = Criterion(at_most=round_down(least * (70 + draws.below(26)) // 100))
    instead = _choose(traveller, booking._replace(cabin=ECONOMY), draw_shape(draws))
    if instead is None:
        return None
    words = {**instead.wish.words, **_choice_words(business, too_low)}
    wish = _wish(traveller, business, words, forbidden=True, otherwise=instead.wish)
    return instead._replace(wish=wish)


def _found(traveller: Traveller, booking: Booking) -> list[list[Option]]:
    """The options for each way."""
    party = len(booking.party)
    return [options(traveller.base, way, booking.cabin, party) for way in booking.ways]


# --- What is right


def _plan(traveller: Traveller, booking: Booking, criterion: Criterion) -> Planned | None:
    """The wish for a booking; None when too many itineraries are right, or other wishes are in the way."""
    party = len(booking.party)
    right = [choose(criterion, found, party) for found in _found(traveller, booking)]
    itineraries = list(itertools.product(*right))
    if not 0 < len(itineraries) <= MAX_ACCEPTED or not take_ways(traveller, booking.ways):
        return None
    if not traveller.take_new_trip():
        return None
    totals = [_total(traveller, booking, itinerary) for itinerary in itineraries]
    methods = draw_payment(traveller, totals)
    if methods is None:
        return None
    accepted = tuple(
        _arguments(traveller, booking, itinerary, payments_argument(traveller, methods, total))
        for itinerary, total in zip(itineraries, totals, strict=True)
    )
    words = {
        **_booking_words(traveller, booking),
        **_choice_words(booking, criterion),
        "payment_method": payment_words(traveller, methods),
    }
    wish = _wish(traveller, booking, words, tool=_TOOL, accepted=accepted)
    reads = tuple(search_of(traveller.base, way) for way in booking.ways)
    return Planned(wish, reads, (ToolCall(_TOOL, accepted[0]),))


def _total(traveller: Traveller, booking: Booking, itinerary: Itinerary) -> int:
    """What a booking costs in all, in cents."""
    fares = sum(option.fare for option in itinerary) + booking.insured * INSURANCE_PRICE
    return fares * len(booking.party) + _nonfree_bags(traveller, booking) * BAG_PRICE


def _nonfree_bags(traveller: Traveller, booking: Booking) -> int:
    free = FREE_BAGS[traveller.row.membership][booking.cabin] * len(booking.party)
    return max(0, booking.bags - free)


def _arguments(
    traveller: Traveller, booking: Booking, itinerary: Itinerary, payments: list[dict[str, Json]]
) -> dict[str, Json]:
    airports, there = traveller.base.airports, booking.ways[0]
    legs = [leg for option in itinerary for leg in option.legs]
    return {
        "user_id": traveller.user_id,
        "origin": airports[there.origin].iata,
        "destination": airports[there.destination].iata,
        "flight_type": FLIGHT_TYPES[booking.kind == ROUND_TRIP],
        "cabin": CABINS[booking.cabin],
        "flights": flights_argument(traveller, legs),
        "passengers": passengers_argument(booking.party),
        "payment_methods": payments,
        "total_baggages": booking.bags,
        "nonfree_baggages": _nonfree_bags(traveller, booking),
        "insurance": YES_NO[booking.insured],
    }


# --- In words


def _wish(traveller: Traveller, booking: Booking, words: dict[str, str], **rest: Json) -> Wish:
    """A wish that is brought up by some of its words."""
    fields = {
        "route": f"from {words['origin']} to {words['destination']}",
        "dates": f"on {words['date']}",
        "wanted": words["flights"],
        "cabin": words["cabin"],
        "payment": words["payment_method"],
    }
    return wish_of(booking.kind, traveller, fields, words=words, **rest)


def _booking_words(traveller: Traveller, booking: Booking) -> dict[str, str]:
    there = booking.ways[0]
    is_round = booking.kind == ROUND_TRIP
    return {
        "origin": traveller.place(there.origin),
        "destination": traveller.place(there.destination),
        "date": " and back on ".join(traveller.day_words(way.day) for way in booking.ways),
        "trip_type": "a round trip" if is_round else "one way",
        "passengers": _party_words(traveller, booking.party),
        "baggage": _bags_words(booking.bags),
        "insurance": f"{'with' if booking.insured else 'without'} travel insurance",
    }


def _choice_words(booking: Booking, criterion: Criterion) -> dict[str, str]:
    wanted = criterion_words(criterion, NOUNS[booking.ways[0].stops])
    each = ", for each way on its own" if booking.kind == ROUND_TRIP else ""
    return {"flights": wanted + each, "cabin": cabin_words(booking.cabin)}


def _party_words(traveller: Traveller, party: Sequence[Passenger]) -> str:
    people = passenger_words(party)
    return f"me, {people}" if party[0] == traveller.themselves else people


def _bags_words(bags: int) -> str:
    if not bags:
        return "no checked bags"
    return "1 checked bag in all" if bags == 1 else f"{bags} checked bags in all"
