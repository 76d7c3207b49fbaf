"""Trips that customers could have booked: flights that connect, and that are in some state now."""

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from tool_envs.booking.dates import DAYS, NOW
from tool_envs.booking.departures import Departures
from tool_envs.booking.flights import SHORTEST_STOP, connecting_day
from tool_envs.booking.routes import Routes
from tool_envs.booking.rows import AVAILABLE, CALLED_OFF, DAY, DELAYED, FLYING, LANDED, ON_TIME
from tool_envs.generated import Kept
from tool_envs.randomness import Draws

Leg: TypeAlias = tuple[int, int]
"""A flight code and the day on which it leaves."""
Way: TypeAlias = list[Leg]
"""One or two flights that lead from one airport to another."""

_LONGEST_STAY = 7  # days
_TRIES = 8
_PER_CENT_ALONE, _PER_CENT_DIRECT, _PER_CENT_ROUND_TRIP = 55, 80, 60


class Kind(NamedTuple):
    """A kind of trip, by the statuses that its flights have now.

    Attributes:
        marked: Of the flight that the trip is built around.
        same_way: Of the flight that connects to it.
        other_way: Of the flights of the other way of a round trip.
        since: The marked flight leaves in this minute or later.
        returns: Whether it must be a round trip, with the marked flight on the way there.
    """

    marked: tuple[int, ...]
    same_way: tuple[int, ...]
    other_way: tuple[int, ...]
    since: int = 0
    returns: bool = False


_OPEN = (ON_TIME, AVAILABLE)
FLOWN = Kind((LANDED,), (LANDED,), (LANDED,))
UNDER_WAY = Kind((LANDED, FLYING), (LANDED, FLYING), _OPEN, NOW - 5 * DAY, returns=True)
SOON = Kind((ON_TIME,), _OPEN, (LANDED, *_OPEN))
LATE = Kind((DELAYED,), _OPEN, (LANDED, *_OPEN))
CALLED = Kind((CALLED_OFF,), _OPEN, (LANDED, *_OPEN), NOW)
AHEAD = Kind((AVAILABLE,), (AVAILABLE,), (AVAILABLE,))


class Trip(NamedTuple):
    """A trip.

    Attributes:
        origin: Code of the airport where it begins.
        destination: Code of the airport that it goes to.
        round_trip: Whether it leads back to `origin`.
        legs: All flights in order.
    """

    origin: int
    destination: int
    round_trip: bool
    legs: Way


class Trips:
    """Builds trips over the departures of a seed.

    Args:
        departures: What becomes of each flight on each day.
        routes: Which flights lead where.
    """

    def __init__(self, departures: Departures, routes: Routes) -> None:
        self._departures, self._routes = departures, routes
        self._flights = departures.flights
        self._marked: Kept[Kind, Way] = Kept(self._find_marked)

    def trip(self, kind: Kind, draws: Draws) -> Trip:
        """A trip of that kind; when none is found, one that was flown."""
        marked = self._marked[kind]
        for _ in range(_TRIES if marked else 0):
            way = self._way_with(draws.pick(marked), kind.same_way, draws)
            if not kind.returns and draws.below(100) >= _PER_CENT_ROUND_TRIP:
                return self._trip(way, [])
            is_there = kind.returns or draws.below(2) == 0
            other = self._other_way(way, is_there, kind.other_way, draws)
            if other:
                return self._trip(way, other) if is_there else self._trip(other, way)
        return self.trip(FLOWN, draws)

    def departure(self, leg: Leg) -> int:
        """When a leg leaves: minutes since the start of the first day."""
        flight, day = leg
        return day * DAY + self._flights.departure[flight]

    def _arrival(self, leg: Leg) -> int:
        flight, day = leg
        return day * DAY + self._flights.arrival[flight]

    def _trip(self, there: Way, back: Way) -> Trip:
        return Trip(self._origin(there), self._destination(there), bool(back), there + back)

    def _origin(self, way: Way) -> int:
        return self._flights.origin[way[0][0]]

    def _destination(self, way: Way) -> int:
        return self._flights.destination[way[-1][0]]

    def _find_marked(self, kind: Kind) -> Way:
        legs = [(flight, day) for flight in range(len(self._flights.origin)) for day in range(DAYS)]
        return [
            leg
            for leg in legs
            if self._departures.status(*leg) in kind.marked and self.departure(leg) >= kind.since
        ]

    def _way_with(self, leg: Leg, statuses: tuple[int, ...], draws: Draws) -> Way:
        """A way that the leg is all or one half of."""
        if draws.below(100) < _PER_CENT_ALONE:
            return [leg]
        ways = list(self._ways_on(leg, statuses) if draws.below(2) else self._ways_up_to(leg, statuses))
        return draws.pick(ways) if ways else [leg]

    def _ways_on(self, leg: Leg, statuses: tuple[int, ...]) -> Iterator[Way]:
        flight, day = leg
        origin = self._flights.origin[flight]
        for second in self._routes.leaving(self._flights.destination[flight]):
            second_day = connecting_day(self._flights, flight, day, second)
            open_ = self._departures.status(second, second_day) in statuses
            if open_ and self._flights.destination[second] != origin:
                yield [leg, (second, second_day)]

    def _ways_up_to(self, leg: Leg, statuses: tuple[int, ...]) -> Iterator[Way]:
        flight, day = leg
        destination = self._flights.destination[flight]
        for first in self._routes.arriving(self._flights.origin[flight]):
            for first_day in (day - 1, day):
                open_ = self._departures.status(first, first_day) in statuses
                connects = connecting_day(self._flights, first, first_day, flight) == day
                if open_ and connects and self._flights.origin[first] != destination:
                    yield [(first, first_day), leg]

    def _other_way(self, way: Way, is_there: bool, statuses: tuple[int, ...], draws: Draws) -> Way:
        """A way in the other direction, some days after the way there or before the way back, or none."""
        first_stay = draws.below(_LONGEST_STAY)
        for number in range(_LONGEST_STAY):
            stay = 1 + (first_stay + number) % _LONGEST_STAY
            day = way[-1][1] + stay if is_there else way[0][1] - stay
            other = self._way(self._destination(way), self._origin(way), day, statuses, draws)
            there, back = (way, other) if is_there else (other, way)
            if other and self._arrival(there[-1]) + SHORTEST_STOP <= self.departure(back[0]):
                return other
        return []

    def _way(self, origin: int, destination: int, day: int, statuses: tuple[int, ...], draws: Draws) -> Way:
        """A way that leaves on that day, mostly a direct one, or none."""
        ways: list[Way] = [
            [(flight, day)]
            for flight in self._routes.direct(origin, destination)
            if self._departures.status(flight, day) in statuses
        ]
        if not ways or draws.below(100) >= _PER_CENT_DIRECT:
            ways = list(self._ways_with_stop(origin, destination, day, statuses)) or ways
        return draws.pick(ways) if ways else []

    def _ways_with_stop(
        self, origin: int, destination: int, day: int, statuses: tuple[int, ...]
    ) -> Iterator[Way]:
        for first, second in self._routes.connections(origin, destination):
            if self._departures.status(first, day) in statuses:
                second_day = connecting_day(self._flights, first, day, second)
                if self._departures.status(second, second_day) in statuses:
                    yield [(first, day), (second, second_day)]
