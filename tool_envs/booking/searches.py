"""The tools that look up flights and airports; like those in `tools`, which lists them."""

import functools
from collections.abc import Iterator

from tool_envs.booking.codes import base_of, departure_row, renderer
from tool_envs.booking.data import BookingBase
from tool_envs.booking.dates import DAYS
from tool_envs.booking.flights import connecting_day
from tool_envs.booking.refusals import No
from tool_envs.booking.rows import AVAILABLE, Departure
from tool_envs.database import Database
from tool_envs.toolkit import JsonText


def list_all_airports(database: Database) -> JsonText:
    """Cities by airport."""
    return JsonText(renderer(base_of(database)).airport_list_text)


def get_flight_status(database: Database, flight_number: str, date: str) -> JsonText | No:
    """A flight on a day, whatever its status."""
    base = base_of(database)
    flight, day = base.find_flight(flight_number), base.find_date(date)
    if flight is None:
        return No.FLIGHT_NOT_FOUND
    if day is None:
        return No.DATE_OUT_OF_RANGE
    return JsonText(renderer(base).status_text(departure_row(database, flight, day)))


def search_direct_flight(database: Database, origin: str, destination: str, date: str) -> JsonText | No:
    """The flights that can be booked on a date, by time of departure."""
    base = base_of(database)
    asked = _asked(base, origin, destination, date)
    if isinstance(asked, No):
        return asked
    start, end, day = asked
    departures = (departure_row(database, flight, day) for flight in base.routes(start, end))
    found = [departure for departure in departures if departure.status == AVAILABLE]
    return JsonText(renderer(base).direct_text(found))


def search_onestop_flight(database: Database, origin: str, destination: str, date: str) -> JsonText | No:
    """Connections that can be booked, the first flight on a date: by its departure, then by the second's."""
    base = base_of(database)
    asked = _asked(base, origin, destination, date)
    if isinstance(asked, No):
        return asked
    return JsonText(renderer(base).one_stop_text(list(_pairs(database, *asked))))


def _asked(base: BookingBase, origin: str, destination: str, date: str) -> tuple[int, int, int] | No:
    """Codes of both airports, and the day."""
    start, end = base.airport_codes.get(origin), base.airport_codes.get(destination)
    day = base.find_date(date)
    if start is None or end is None:
        return No.AIRPORT_NOT_FOUND
    if start == end:
        return No.SAME_AIRPORT
    return No.DATE_OUT_OF_RANGE if day is None else (start, end, day)


def _pairs(
    database: Database, origin: int, destination: int, day: int
) -> Iterator[tuple[Departure, Departure]]:
    """The departures of all connections of which both flights can be booked."""
    for first, second, days in _connections(base_of(database), origin, destination):
        if day + days < DAYS:
            pair = departure_row(database, first, day), departure_row(database, second, day + days)
            if pair[0].status == AVAILABLE and pair[1].status == AVAILABLE:
                yield pair


@functools.lru_cache(maxsize=1024)
def _connections(base: BookingBase, origin: int, destination: int) -> tuple[tuple[int, int, int], ...]:
    """First flight, second flight, and how many days after the first the second leaves, in order of time."""
    departure = base.flights.departure
    pairs = base.connections(origin, destination)
    timed = ((connecting_day(base.flights, first, 0, second), first, second) for first, second in pairs)
    return tuple(
        (first, second, days)
        for _, days, _, first, second in sorted(
            (departure[first], days, departure[second], first, second)
            for days, first, second in timed
            if days >= 0
        )
    )
