"""The tools that look up flights and airports; like those in `tools`, which lists them."""

import functools
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from tool_envs.booking.codes import Renderer, base_of, departure_row, renderer
from tool_envs.booking.connections import Itinerary, connections, direct_flights
from tool_envs.booking.data import BookingBase
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
    return _search(database, origin, destination, date, _direct)


def search_onestop_flight(database: Database, origin: str, destination: str, date: str) -> JsonText | No:
    """Connections that can be booked, the first flight on a date: by its departure, then by the second's."""
    return _search(database, origin, destination, date, _one_stop)


class _Kind(NamedTuple):
    """A kind of search.

    Attributes:
        timetable: Base, two airports and a day -> all itineraries of this kind, in order.
        text: Renderer and departures of the itineraries that can be booked -> the answer.
    """

    timetable: Callable[[BookingBase, int, int, int], Iterator[Itinerary]]
    text: Callable[[Renderer, list[tuple[Departure, ...]]], str]


class _Listed(NamedTuple):
    """What there is between two airports on a day.

    Attributes:
        itineraries: Whether they can be booked or not.
        keys: Of all departures in them, as in `Database.changed`.
        text: The answer as long as none of these departures changed.
    """

    itineraries: tuple[Itinerary, ...]
    keys: frozenset[tuple[str, str]]
    text: str


def _search(database: Database, origin: str, destination: str, date: str, kind: _Kind) -> JsonText | No:
    base = base_of(database)
    start, end = base.airport_codes.get(origin), base.airport_codes.get(destination)
    day = base.find_date(date)
    if start is None or end is None:
        return No.AIRPORT_NOT_FOUND
    if start == end:
        return No.SAME_AIRPORT
    if day is None:
        return No.DATE_OUT_OF_RANGE
    listed = _listed(base, kind, start, end, day)
    changed = not database.changed.keys().isdisjoint(listed.keys)
    return JsonText(_text(database, kind, listed.itineraries) if changed else listed.text)


@functools.lru_cache(maxsize=2048)
def _listed(base: BookingBase, kind: _Kind, start: int, end: int, day: int) -> _Listed:
    itineraries = tuple(kind.timetable(base, start, end, day))
    keys = {("departures", base.departure_key(*place)) for places in itineraries for place in places}
    return _Listed(itineraries, frozenset(keys), _text(Database(base), kind, itineraries))


def _text(database: Database, kind: _Kind, itineraries: Iterable[Itinerary]) -> str:
    """The answer with those that can be booked."""
    rows = (tuple(departure_row(database, *place) for place in places) for places in itineraries)
    found = [departures for departures in rows if all(each.status == AVAILABLE for each in departures)]
    return kind.text(renderer(base_of(database)), found)


_direct = _Kind(direct_flights, lambda look, found: look.direct_text(first for (first,) in found))
_one_stop = _Kind(connections, lambda look, found: look.one_stop_text((one, two) for one, two in found))
