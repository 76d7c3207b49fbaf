"""All departures and connections as lists, for searches on rows."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tool_envs.booking.connections import connections
from tool_envs.booking.data import BookingBase
from tool_envs.booking.dates import DAYS
from tool_envs.booking.rows import Flights
from tool_envs.booking.scene.sight import (
    CABIN_COUNT,
    PLACES,
)
from tool_envs.booking.stepper.sentences import Book, book


class Timetable(NamedTuple):
    """What there is before anything is booked. A departure is flight code * `DAYS` + day.

    Attributes:
        flights: All flights.
        status: Of each departure.
        seats: By departure * `CABIN_COUNT` + cabin.
        price: Likewise, in cents.
        direct_from: By origin * `PLACES` + destination: which of the next list are the direct flights, up to
            where those of the next pair begin.
        direct: Flight codes, in the order of searches.
        via_from: As `direct_from`, for connections.
        via_first: Code of the first flight of each, in the order of searches.
        via_second: Of the second flight.
        via_later: How many days later that one leaves.
    """

    flights: Flights
    status: list[int]
    seats: list[int]
    price: list[int]
    direct_from: list[int]
    direct: list[int]
    via_from: list[int]
    via_first: list[int]
    via_second: list[int]
    via_later: list[int]


class Store(NamedTuple):
    """What never changes.

    Attributes:
        table: The departures.
        book: What the agent can say.
    """

    table: Timetable
    book: Book


def store_of(base: BookingBase) -> Store:
    """What never changes in episodes over a base."""
    departures = [base.departure(flight, day) for flight in range(base.flight_count) for day in range(DAYS)]
    pairs = [(start, end) for start in range(PLACES) for end in range(PLACES)]
    direct = [base.routes(*pair) for pair in pairs]
    # All second flights leave on the first day or the next, so none of them is cut off.
    via = [list(connections(base, *pair, 0)) for pair in pairs]
    legs = [leg for each in via for leg in each]
    table = Timetable(
        flights=base.flights,
        status=[each.status for each in departures],
        seats=[each.seats[cabin] for each in departures for cabin in range(CABIN_COUNT)],
        price=[each.price[cabin] for each in departures for cabin in range(CABIN_COUNT)],
        direct_from=_starts(direct),
        direct=[flight for each in direct for flight in each],
        via_from=_starts(via),
        via_first=[first for (first, _), _ in legs],
        via_second=[second for _, (second, _) in legs],
        via_later=[later for _, (_, later) in legs],
    )
    return Store(table, book())


def _starts(lists: Iterable[Sequence[object]]) -> list[int]:
    """Where each of some lists begins when they stand behind each other, and where the last one ends."""
    starts = [0]
    for each in lists:
        starts.append(starts[-1] + len(each))
    return starts
