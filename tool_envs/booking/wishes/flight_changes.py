"""Wishes for other flights of a reservation."""

from collections.abc import Sequence

from tool_envs.booking.dates import DAYS, NOW
from tool_envs.booking.flights import SHORTEST_STOP
from tool_envs.booking.rows import BASIC_ECONOMY, CABINS, DAY, Reservation
from tool_envs.booking.wishes.bookings import NOUNS
from tool_envs.booking.wishes.changes import cabin_words
from tool_envs.booking.wishes.criteria import (
    Criterion,
    Shape,
    choose,
    criterion_words,
    draw_shape,
    find_criterion,
)
from tool_envs.booking.wishes.payments import can_name
from tool_envs.booking.wishes.planned import flights_argument, wish_of
from tool_envs.booking.wishes.traveller import Traveller, segments
from tool_envs.booking.wishes.ways import (
    Leg,
    Option,
    Way,
    departures,
    has_seats,
    options,
    search_of,
    take_ways,
)
from tool_envs.messages import Json, ToolCall
from tool_envs.service.wishes import Planned

_TOOL = "update_reservation_flights"
_MOST_DAYS = 5  # earlier or later
_FIRST_DAY = NOW // DAY + 1


def change_flights(traveller: Traveller) -> Planned | None:
    """Other flights for the way there of a reservation, on the same day or another one."""
    trip = traveller.take_reservation(lambda trip: _can_change(traveller, trip))
    if trip is None:
        return None
    shape = draw_shape(traveller.draws)
    changes = (_change(traveller, trip, day, shape) for day in _draw_days(traveller, trip))
    return next(filter(None, changes), None)


def _can_change(traveller: Traveller, trip: Reservation) -> bool:
    return trip.cabin != BASIC_ECONOMY and traveller.is_ahead(trip)


def _draw_days(traveller: Traveller, trip: Reservation) -> list[int]:
    """The days on which they would leave; all will do, the first is wanted most."""
    first = max(_FIRST_DAY, trip.day[0] - _MOST_DAYS)
    days = list(range(first, min(DAYS, trip.day[0] + _MOST_DAYS + 1)))
    start = traveller.draws.below(len(days))
    return days[start:] + days[:start]


def _change(traveller: Traveller, trip: Reservation, day: int, shape: Shape) -> Planned | None:
    """Leave on that day; None when there is nothing to choose then, or other wishes are in the way."""
    there, back = _split(traveller, trip)
    stops = int(not traveller.base.routes(trip.origin, trip.destination))
    way = Way(trip.origin, trip.destination, day, stops)
    found = options(traveller.base, way, trip.cabin, trip.passengers)
    if not _is_clear(traveller, trip, way, shape) or not _are_back_in_time(traveller, found, back):
        return None
    criterion = find_criterion(traveller.draws, shape, [found], trip.passengers)
    chosen = choose(criterion, found, trip.passengers) if criterion else []
    if not criterion or any(list(option.legs) == there for option in chosen):
        return None
    if not take_ways(traveller, [way], but=trip):
        return None
    return _plan(traveller, trip, way, criterion, [[*option.legs, *back] for option in chosen])


def _is_clear(traveller: Traveller, trip: Reservation, way: Way, shape: Shape) -> bool:
    """Whether it is plain what can be had, and at which fare.

    On flights that they have already they keep their seats at the old prices, whatever a search shows.
    """
    base = traveller.base
    own = departures(base, way).intersection(segments(trip))
    has_room = all(has_seats(base, leg, trip.cabin, trip.passengers) for leg in own)
    return not own or (has_room and not shape.is_by_fare)


def _split(traveller: Traveller, trip: Reservation) -> tuple[list[Leg], list[Leg]]:
    """The flights there, and those back; none for a trip one way."""
    legs = segments(trip)
    arrivals = [traveller.base.flights.destination[flight] for flight, _ in legs]
    there = arrivals.index(trip.destination) + 1
    return legs[:there], legs[there:]


def _are_back_in_time(traveller: Traveller, found: Sequence[Option], back: Sequence[Leg]) -> bool:
    """Whether with any of the options there is time enough before the way back."""
    if not back:
        return True
    flight, day = back[0]
    leaves = day * DAY + traveller.base.flights.departure[flight]
    return all(option.arrives + SHORTEST_STOP <= leaves for option in found)


def _plan(
    traveller: Traveller, trip: Reservation, way: Way, criterion: Criterion, itineraries: list[list[Leg]]
) -> Planned | None:
    number = traveller.take_method(max(_difference(traveller, trip, legs) for legs in itineraries))
    if number is None or not can_name(traveller, number):
        return None
    words = {
        "reservation_id": traveller.trip_words(trip),
        **_way_words(traveller, trip, way, criterion),
        "payment_method": traveller.method_words(number),
    }
    fields = {"trip": words["reservation_id"], "wanted": words["flights"], "payment": words["payment_method"]}
    accepted = tuple(_arguments(traveller, trip, legs, number) for legs in itineraries)
    wish = wish_of("change_flights", traveller, fields, tool=_TOOL, accepted=accepted, words=words)
    reads = (traveller.read(trip), search_of(traveller.base, way))
    return Planned(wish, reads, (ToolCall(_TOOL, accepted[0]),))


def _difference(traveller: Traveller, trip: Reservation, legs: Sequence[Leg]) -> int:
    """What other flights cost beyond those of now, for all passengers, in cents.

    Those that stay keep their price.
    """
    paid = dict(zip(segments(trip), trip.price, strict=False))
    prices = [paid.get(leg) or traveller.base.departure(*leg).price[trip.cabin] for leg in legs]
    return (sum(prices) - sum(paid.values())) * trip.passengers


def _arguments(traveller: Traveller, trip: Reservation, legs: Sequence[Leg], number: int) -> dict[str, Json]:
    return {
        "reservation_id": traveller.reservation_id(trip),
        "cabin": CABINS[trip.cabin],
        "flights": flights_argument(traveller, legs),
        "payment_id": traveller.method_ids[number],
    }


def _way_words(traveller: Traveller, trip: Reservation, way: Way, criterion: Criterion) -> dict[str, str]:
    date = traveller.day_words(way.day)
    there, rest = (" there", ", with the way back as it is") if trip.round_trip else ("", "")
    wanted = criterion_words(criterion, f"{NOUNS[way.stops]}{there} on {date}")
    return {
        "origin": traveller.place(way.origin),
        "destination": traveller.place(way.destination),
        "date": date,
        "flights": wanted + rest,
        "cabin": cabin_words(trip.cabin),
    }
