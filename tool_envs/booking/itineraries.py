"""Itineraries: which flights can follow each other, and what they are between two airports.

Plain functions over rows and small integers, so that they can be compiled as they stand. A reservation may be
one that somebody wants to have: its flights and days are -1 where there is none such, and its prices those of
today. What is known of its departures comes beside it, as a list each for its segments.
"""

from collections.abc import Sequence

from tool_envs.booking.flights import SHORTEST_STOP
from tool_envs.booking.refusals import No
from tool_envs.booking.rows import AVAILABLE, DAY, FLYING, LANDED, Departure, Flights, Reservation
from tool_envs.rows import kernel


@kernel
def guard_itinerary(trip: Reservation, flights: Flights) -> int:
    """Whether the flights of a reservation exist, follow each other and make its trip."""
    for place in range(trip.segments):
        if trip.flight[place] < 0:
            return No.FLIGHT_NOT_FOUND
        if trip.day[place] < 0:
            return No.DATE_OUT_OF_RANGE
    for place in range(1, trip.segments):
        before, after = trip.flight[place - 1], trip.flight[place]
        if flights.destination[before] != flights.origin[after]:
            return No.FLIGHTS_NOT_CONNECTED
        if waiting(flights, before, trip.day[place - 1], after, trip.day[place]) < SHORTEST_STOP:
            return No.CONNECTION_TOO_SHORT
    return 0 if is_trip(trip, flights) else No.WRONG_ROUTE


@kernel
def is_trip(trip: Reservation, flights: Flights) -> bool:
    """Whether connected flights go from the origin to the destination and, of a round trip, back."""
    last = trip.segments - 1
    if flights.origin[trip.flight[0]] != trip.origin:
        return False
    if not trip.round_trip:
        return flights.destination[trip.flight[last]] == trip.destination
    if flights.destination[trip.flight[last]] != trip.origin:
        return False
    stops = 0
    for place in range(last):
        stops += flights.destination[trip.flight[place]] == trip.destination
    return stops > 0


@kernel
def waiting(flights: Flights, first: int, first_day: int, second: int, second_day: int) -> int:
    """Minutes from the arrival of one flight to the departure of another; below 0 when that is earlier."""
    return int(second_day - first_day) * DAY + flights.departure[second] - flights.arrival[first]


@kernel
def guard_seats(trip: Reservation, place: int, status: Sequence[int], seats: Sequence[int]) -> int:
    """Whether all passengers can get seats for a segment.

    Args:
        trip: The reservation.
        place: Which segment.
        status: Of the departure of each segment.
        seats: Free in the reservation's cabin, of each segment.
    """
    if status[place] != AVAILABLE:
        return No.FLIGHT_NOT_AVAILABLE
    if seats[place] < trip.passengers:
        return No.NOT_ENOUGH_SEATS
    return 0


@kernel
def guard_not_left(trip: Reservation, status: Sequence[int]) -> int:
    """Whether no flight of a reservation left."""
    for place in range(trip.segments):
        if has_left(status[place]):
            return No.ALREADY_FLOWN
    return 0


@kernel
def guard_kept(old: Reservation, new: Reservation, status: Sequence[int]) -> int:
    """Whether all flights of the old reservation that left, by their status, stay as they are in the new."""
    for place in range(old.segments):
        if has_left(status[place]) and same_segment(old, place, new) < 0:
            return No.ALREADY_FLOWN
    return 0


@kernel
def has_left(status: int) -> bool:
    """Whether a departure with that status took place."""
    return status in (FLYING, LANDED)


@kernel
def same_segment(trip: Reservation, place: int, other: Reservation) -> int:
    """Which segment of another reservation is this one, on the same day in the same cabin; -1 if none is."""
    if trip.cabin != other.cabin:
        return -1
    for found in range(other.segments):
        if other.flight[found] == trip.flight[place] and other.day[found] == trip.day[place]:
            return found
    return -1


@kernel
def same_itinerary(old: Reservation, new: Reservation) -> bool:
    """Whether two reservations have the same segments in the same cabin."""
    if old.segments != new.segments:
        return False
    same = 0
    for place in range(old.segments):
        same += same_segment(old, place, new) == place
    return same == old.segments


@kernel
def keep_prices(old: Reservation, new: Reservation) -> None:
    """Give the segments of the new reservation that stay as they are the price that they had in the old."""
    for place in range(new.segments):
        kept = same_segment(new, place, old)
        if kept >= 0:
            new.price[place] = old.price[kept]


@kernel
def move_seats(departure: Departure, cabin: int, seats: int) -> None:
    """Release so many seats, or take them when below 0; of what cannot be booked there are none to move."""
    if departure.status == AVAILABLE:
        departure.seats[cabin] += seats
