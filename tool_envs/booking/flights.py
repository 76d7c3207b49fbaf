"""The timetable: which flights there are every day, and how they connect."""

import itertools
from collections.abc import Iterable
from typing import TypeVar

from tool_envs.booking.airports import AIRPORT_CODES, AIRPORTS, distance
from tool_envs.booking.rows import DAY, Flights
from tool_envs.booking.streams import ROUTES, TIMES
from tool_envs.randomness import Draws
from tool_envs.rows import kernel

T = TypeVar("T")

MIN_FLIGHTS, MAX_FLIGHTS = 60, 998
"""Of a timetable: enough for all airports, and no more than there are flight numbers for."""
SHORTEST_STOP, LONGEST_STOP = 45, 8 * 60
"""Minutes between the arrival of a flight and the departure of the one that it connects to."""

_HUBS = 5
_POSSIBLE_HUBS = [
    AIRPORT_CODES[iata] for iata in ("ATL", "CLT", "DEN", "DFW", "DTW", "IAH", "LAX", "MSP", "ORD", "PHX")
]
_SHORTEST_ROUTE = 250  # km
_FLIGHTS_PER_ROUTE = 7  # there and back
_FEWEST_ROUTES = 25  # all airports to a hub, and hubs to each other
_WEIGHTS = (1, 2, 2, 3, 3, 4)  # of routes, when flights are shared out
_FIRST_DEPARTURE, _LAST_DEPARTURE = 5 * 60 + 30, 22 * 60 + 30
_LEAST_HEADWAY = 30  # minutes between departures on one route
_SPEED, _TAXIING = 13, 35  # km in a minute, minutes


def timetable(count: int, seed: int) -> Flights:
    """The flights of every day: pairs of one there and one back, route by route.

    Args:
        count: An even number, `MIN_FLIGHTS` to `MAX_FLIGHTS`.
        seed: 64 bits.
    """
    draws = Draws(seed, ROUTES, 0)
    routes = _routes(max(_FEWEST_ROUTES, count // _FLIGHTS_PER_ROUTE), draws)
    flights = Flights([], [], [], [])
    for (one, other), frequency in zip(routes, _frequencies(count // 2, len(routes), draws), strict=True):
        for number in range(frequency):
            for origin, destination in ((one, other), (other, one)):
                departure = _departure(number, frequency, Draws(seed, TIMES, len(flights.origin)))
                flights.origin.append(origin)
                flights.destination.append(destination)
                flights.departure.append(departure)
                flights.arrival.append(departure + duration(distance(origin, destination)))
    return flights


def duration(kilometres: int) -> int:
    """Minutes of a flight of that length, from gate to gate; a multiple of 5."""
    return 5 * round((_TAXIING + kilometres / _SPEED) / 5)


@kernel
def connecting_day(flights: Flights, first: int, day: int, second: int) -> int:
    """The day on which one flight leaves for those who arrive with another.

    Args:
        flights: The timetable.
        first: Code of the flight that they arrive with.
        day: The day on which that one leaves.
        second: Code of the flight that goes on from there.

    Returns:
        The day, which may be behind the last of the window; -1 when they would stop for less than
        `SHORTEST_STOP` or more than `LONGEST_STOP`.
    """
    ready = day * DAY + flights.arrival[first] + SHORTEST_STOP
    departure = flights.departure[second]
    next_day = (ready - departure + DAY - 1) // DAY
    if next_day * DAY + departure - ready > LONGEST_STOP - SHORTEST_STOP:
        return -1
    return next_day


def _routes(count: int, draws: Draws) -> list[tuple[int, int]]:
    """Pairs of airports: all others to a hub, hubs to each other, all others to a second hub, then any."""
    hubs = _shuffled(_POSSIBLE_HUBS, draws)[:_HUBS]
    others = [airport.code for airport in AIRPORTS if airport.code not in hubs]
    homes = [_shuffled(hubs, draws) for _ in others]
    first = [(hub[0], other) for hub, other in zip(homes, others, strict=True)]
    second = [(hub[1], other) for hub, other in zip(homes, others, strict=True)]
    routes = [*first, *itertools.combinations(hubs, 2), *second]
    known = {frozenset(route) for route in routes}
    pairs = [
        pair
        for pair in itertools.combinations(range(len(AIRPORTS)), 2)
        if frozenset(pair) not in known and distance(*pair) >= _SHORTEST_ROUTE
    ]
    return [*routes, *_shuffled(pairs, draws)][:count]


def _frequencies(pairs: int, routes: int, draws: Draws) -> list[int]:
    """How many pairs of flights each route has: at least one, the others by weight."""
    weights = _shuffled((_WEIGHTS[route % len(_WEIGHTS)] for route in range(routes)), draws)
    counts = [1 + (pairs - routes) * weight // sum(weights) for weight in weights]
    for route in range(pairs - sum(counts)):
        counts[route] += 1
    return counts


def _departure(number: int, frequency: int, draws: Draws) -> int:
    """Minutes after midnight: each flight of a route has its own part of the day."""
    part = (_LAST_DEPARTURE - _FIRST_DEPARTURE) // frequency
    return (_FIRST_DEPARTURE + number * part + draws.below(part - _LEAST_HEADWAY)) // 5 * 5


def _shuffled(values: Iterable[T], draws: Draws) -> list[T]:
    return sorted(values, key=lambda _: draws.below(2**32))
