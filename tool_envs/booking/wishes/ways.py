"""Ways from one airport to another on a day, and what of them can be booked."""

import functools
from collections.abc import Callable, Collection
from typing import NamedTuple, TypeAlias

from tool_envs.booking.connections import Itinerary, connections, direct_flights
from tool_envs.booking.data import BookingBase
from tool_envs.booking.rows import AVAILABLE, DAY, Reservation
from tool_envs.booking.wishes.traveller import Traveller, segments
from tool_envs.messages import ToolCall

Leg: TypeAlias = tuple[int, int]
"""A flight code and the day on which it leaves."""

FEWEST_OPTIONS = 3
"""Of a way that is worth choosing on: one that is right, and two that are not."""


class Way(NamedTuple):
    """From one airport to another on a day.

    Attributes:
        origin: Airport code.
        destination: Airport code.
        day: On which the first flight leaves.
        stops: 0 by direct flights, 1 by connections.
    """

    origin: int
    destination: int
    day: int
    stops: int


class Option(NamedTuple):
    """One itinerary that can be booked for a way.

    Attributes:
        legs: Its flights.
        departs: Minutes since the start of the first day.
        arrives: Minutes since the start of the first day.
        fare: Of one passenger, in cents.
    """

    legs: Itinerary
    departs: int
    arrives: int
    fare: int


def search_of(base: BookingBase, way: Way) -> ToolCall:
    """The search that shows what there is for a way."""
    arguments = {
        "origin": base.airports[way.origin].iata,
        "destination": base.airports[way.destination].iata,
        "date": base.date(way.day),
    }
    return ToolCall("search_onestop_flight" if way.stops else "search_direct_flight", arguments)


def offers(base: BookingBase, way: Way) -> list[Itinerary]:
    """The itineraries that the search shows, in its order, whether or not they have seats enough."""
    itineraries = connections if way.stops else direct_flights
    found = itineraries(base, way.origin, way.destination, way.day)
    return [legs for legs in found if all(_is_available(base, leg) for leg in legs)]


def _is_available(base: BookingBase, leg: Leg) -> bool:
    return base.departure(*leg).status == AVAILABLE


def options(base: BookingBase, way: Way, cabin: int, party: int) -> list[Option]:
    """The offers with seats for a party in a cabin, in the order of the search."""
    return [
        _option(base, legs, cabin)
        for legs in offers(base, way)
        if all(has_seats(base, leg, cabin, party) for leg in legs)
    ]


def has_seats(base: BookingBase, leg: Leg, cabin: int, party: int) -> bool:
    """Whether a party gets seats on a flight in a cabin."""
    return base.departure(*leg).seats[cabin] >= party


def _option(base: BookingBase, legs: Itinerary, cabin: int) -> Option:
    (first, first_day), (last, last_day) = legs[0], legs[-1]
    departs = first_day * DAY + base.flights.departure[first]
    arrives = last_day * DAY + base.flights.arrival[last]
    return Option(legs, departs, arrives, sum(base.departure(*leg).price[cabin] for leg in legs))


def departures(base: BookingBase, way: Way) -> set[Leg]:
    """All departures that a choice for a way depends on."""
    return {leg for legs in offers(base, way) for leg in legs}


def take_ways(traveller: Traveller, ways: Collection[Way], but: Reservation | None = None) -> bool:
    """Take note that a wish depends on all seats of these ways; False when another wish may move them.

    Args:
        traveller: Whose wish.
        ways: Among which it chooses.
        but: The reservation that the wish is about; others of theirs may be cancelled or changed.
    """
    wanted = set().union(*(departures(traveller.base, way) for way in ways))
    others = [trip for trip in traveller.reservations if trip is not but]
    if any(wanted.intersection(segments(trip)) for trip in others):
        return False
    return traveller.take_departures(wanted)


@functools.lru_cache(maxsize=8)
def routes(base: BookingBase, stops: int) -> tuple[tuple[int, int], ...]:
    """Pairs of airports with enough to choose from: direct flights, or connections where there are none.

    Args:
        base: The airline.
        stops: 0 for direct flights, 1 for connections.
    """
    between: Callable[[int, int], Collection[object]] = base.connections if stops else base.routes
    codes = range(len(base.airports))
    return tuple(
        (origin, destination)
        for origin in codes
        for destination in codes
        if len(between(origin, destination)) >= FEWEST_OPTIONS
        and not (stops and base.routes(origin, destination))
    )
