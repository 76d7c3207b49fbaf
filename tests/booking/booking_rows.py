"""Rows of generated airlines, for tests."""

from tool_envs.booking.rows import DAY

SIZES = {"default": (500, 300, 0), "tiny": (5, 60, 3), "wide": (40, 998, 7)}
"""Customers, flights and seed."""


def customers_of(base):
    return [base.customer(customer) for customer in range(base.customers)]


def reservations_of(base):
    return [base.reservation(*place) for place in base.reservation_places()]


def departures_of(base):
    return [base.departure(*place) for place in base.departure_places()]


def legs_of(reservation):
    """Flight code and day of each flight."""
    count = reservation.segments
    return list(zip(reservation.flight[:count], reservation.day[:count], strict=True))


def statuses_of(base, reservation):
    return [base.departure(*leg).status for leg in legs_of(reservation)]


def departure_time(base, flight, day):
    return day * DAY + base.flights.departure[flight]


def arrival_time(base, flight, day):
    return day * DAY + base.flights.arrival[flight]
