"""The itineraries between two airports on a day, bookable or not, in the order of the searches."""

from collections.abc import Iterator
from typing import TypeAlias

from tool_envs.booking.data import BookingBase
from tool_envs.booking.dates import DAYS
from tool_envs.booking.flights import connecting_day

Itinerary: TypeAlias = tuple[tuple[int, int], ...]
"""Flight code and day of each flight."""


def direct_flights(base: BookingBase, start: int, end: int, day: int) -> Iterator[Itinerary]:
    """Sorted by the time of departure."""
    return (((flight, day),) for flight in base.routes(start, end))


def connections(base: BookingBase, start: int, end: int, day: int) -> Iterator[Itinerary]:
    """With one stop; sorted by the time of the first flight, then of the second, then by their codes."""
    pairs = base.connections(start, end)
    timed = ((first, second, connecting_day(base.flights, first, day, second)) for first, second in pairs)
    departure = base.flights.departure
    for first, second, second_day in sorted(
        timed, key=lambda pair: (departure[pair[0]], pair[2], departure[pair[1]], pair[0], pair[1])
    ):
        if day <= second_day < DAYS:
            yield (first, day), (second, second_day)
