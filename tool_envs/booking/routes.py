"""Which flights lead where."""

from collections import defaultdict

from tool_envs.booking.rows import Flights
from tool_envs.generated import Kept


class Routes:
    """Look-ups over a timetable. All lists are in order of departure time, then of flight code.

    Args:
        flights: The timetable.
    """

    def __init__(self, flights: Flights) -> None:
        direct: dict[tuple[int, int], list[int]] = defaultdict(list)
        self._leaving: dict[int, list[int]] = defaultdict(list)
        self._arriving: dict[int, list[int]] = defaultdict(list)
        order = sorted(range(len(flights.origin)), key=lambda flight: (flights.departure[flight], flight))
        for flight in order:
            origin, destination = flights.origin[flight], flights.destination[flight]
            direct[(origin, destination)].append(flight)
            self._leaving[origin].append(flight)
            self._arriving[destination].append(flight)
        self._flights = flights
        self._direct = {pair: tuple(codes) for pair, codes in direct.items()}
        self._connections: Kept[tuple[int, int], tuple[tuple[int, int], ...]] = Kept(self._connect)

    def direct(self, origin: int, destination: int) -> tuple[int, ...]:
        """The flights from one airport to another."""
        return self._direct.get((origin, destination), ())

    def leaving(self, origin: int) -> list[int]:
        """The flights from an airport."""
        return self._leaving.get(origin, [])

    def arriving(self, destination: int) -> list[int]:
        """The flights to an airport."""
        return self._arriving.get(destination, [])

    def connections(self, origin: int, destination: int) -> tuple[tuple[int, int], ...]:
        """The pairs of flights by way of any third airport, whether or not one makes the connection."""
        return self._connections[(origin, destination)]

    def _connect(self, pair: tuple[int, int]) -> tuple[tuple[int, int], ...]:
        origin, destination = pair
        if origin == destination:
            return ()
        return tuple(
            (first, second)
            for first in self.leaving(origin)
            for second in self.direct(self._flights.destination[first], destination)
        )
