"""What becomes of each flight on each day: its status, free seats and fares."""

import functools

from tool_envs.booking.airports import distance
from tool_envs.booking.dates import DAYS, NOW
from tool_envs.booking.rows import (
    AVAILABLE,
    CABINS,
    CALLED_OFF,
    DAY,
    DELAYED,
    FLYING,
    LANDED,
    ON_TIME,
    Departure,
    Flights,
)
from tool_envs.booking.streams import DEPARTURES, FARES
from tool_envs.randomness import Draws, draw_below

MOST_SEATS = 20
"""Of each cabin that can be free."""

_SOLD_UNTIL = DAY  # minutes before it leaves a flight can be booked
_PER_CENT_CALLED_OFF, _PER_CENT_CALLED_OFF_EARLY, _PER_CENT_DELAYED = 8, 3, 15
_SMALLEST_FARE, _KILOMETRES_FOR_A_DOLLAR = 70, 22
_SURCHARGES = ((3, 35), (7, 20), (14, 10))  # per cent, fewer than so many days ahead


class Departures:
    """All departures of a timetable under one seed.

    Args:
        flights: The timetable.
        seed: 64 bits.
    """

    def __init__(self, flights: Flights, seed: int) -> None:
        self.flights, self._seed = flights, seed

    @functools.cached_property
    def statuses(self) -> list[int]:
        """The status of each, by flight code * `DAYS` + day."""
        return [
            self._status(flight, day) for flight in range(len(self.flights.origin)) for day in range(DAYS)
        ]

    def status(self, flight: int, day: int) -> int:
        """The status of a departure; -1 outside of the window."""
        return self.statuses[flight * DAYS + day] if 0 <= day < DAYS else -1

    def departure(self, flight: int, day: int) -> Departure:
        """A new row."""
        draws = Draws(self._seed, DEPARTURES, flight * DAYS + day)
        status = self.status(flight, day)
        seats = [draws.below(MOST_SEATS + 1) for _ in CABINS]
        price = self.fares(flight, day, sum(seats), day - NOW // DAY)
        if status != AVAILABLE:
            seats = [0] * len(CABINS)
        return Departure(flight=flight, day=day, status=status, seats=seats, price=price)

    def fares(self, flight: int, day: int, free: int, days_ahead: int) -> list[int]:
        """What a seat costs by cabin, in cents: whole dollars, more for each better cabin.

        Fewer free seats or days ahead are never cheaper.

        Args:
            flight: Flight code.
            day: The day on which it leaves.
            free: Free seats of all cabins, up to `MOST_SEATS` in each.
            days_ahead: How many days before that day it is bought.
        """
        draws = Draws(self._seed, FARES, flight * DAYS + day)
        kilometres = distance(self.flights.origin[flight], self.flights.destination[flight])
        fare = _SMALLEST_FARE + kilometres // _KILOMETRES_FOR_A_DOLLAR
        demand = 90 + draws.below(21)
        load = 100 + len(CABINS) * MOST_SEATS - free + _surcharge(days_ahead)
        economy = fare * demand * load // 10_000
        basic, business = economy * (60 + draws.below(11)) // 100, economy * (250 + draws.below(51)) // 100
        return [basic * 100, economy * 100, business * 100]

    def _status(self, flight: int, day: int) -> int:
        share = draw_below(100, self._seed, DEPARTURES, flight * DAYS + day, 0)
        departure = day * DAY + self.flights.departure[flight]
        if departure > NOW + _SOLD_UNTIL:
            return CALLED_OFF if share < _PER_CENT_CALLED_OFF_EARLY else AVAILABLE
        if share < _PER_CENT_CALLED_OFF:
            return CALLED_OFF
        if departure > NOW:
            return DELAYED if share < _PER_CENT_CALLED_OFF + _PER_CENT_DELAYED else ON_TIME
        return FLYING if day * DAY + self.flights.arrival[flight] > NOW else LANDED


def _surcharge(days_ahead: int) -> int:
    """Per cent that those who book late pay more."""
    for days, per_cent in _SURCHARGES:
        if days_ahead < days:
            return per_cent
    return 0
