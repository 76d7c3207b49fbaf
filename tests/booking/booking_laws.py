"""What must hold of the airline's seats, money and itineraries after any call."""

import itertools
from collections import Counter, defaultdict

from booking_calls import BASE, is_connection

from tool_envs.booking.codes import customer_row, renderer
from tool_envs.booking.rows import AVAILABLE, CERTIFICATE, CREDIT_CARD


def check_step(before, database):
    """Seats, money and itineraries of all that a call changed fit together.

    Args:
        before: Database before the call.
        database: The same one after it.
    """
    _check_seats(before, database)
    _check_balances(before, database)
    for key, row in _changed_rows(before, database, "reservations"):
        shown = renderer(BASE).reservation_json(database, row)
        assert sum(payment["amount"] for payment in shown["payment_history"]) == _price(shown), key
        check_itinerary(shown)


def _changed_rows(before, database, table):
    rows = {key: row for (name, key), row in database.changed.items() if name == table}
    return [(key, row) for key, row in rows.items() if row is not before.get(table, key)]


def _held(reservation):
    """Seats that a reservation holds, by departure and cabin."""
    if reservation is None or reservation.cancelled:
        return Counter()
    places = zip(reservation.flight, reservation.day, range(reservation.segments), strict=False)
    return Counter({(flight, day, reservation.cabin): reservation.passengers for flight, day, _ in places})


def _check_seats(before, database):
    """What reservations hold more than before is what fewer seats are free than before."""
    taken = Counter()
    for key, row in _changed_rows(before, database, "reservations"):
        taken.update(_held(row))
        taken.subtract(_held(before.get("reservations", key)))
    for key, row in _changed_rows(before, database, "departures"):
        old = before.get("departures", key)
        assert (row.status, row.price) == (old.status, old.price)
        for cabin, seats in enumerate(old.seats):
            assert row.seats[cabin] == seats - taken.pop((row.flight, row.day, cabin), 0) >= 0
    left = {place: seats for place, seats in taken.items() if seats}
    assert all(BASE.departure(flight, day).status != AVAILABLE for flight, day, _ in left)


def _check_balances(before, database):
    """Gift cards move by what was paid and refunded; a certificate is used up, or gets its refund."""
    entries = defaultdict(list)
    for key, row in _changed_rows(before, database, "reservations"):
        old = before.get("reservations", key)
        for place in range(old.payments if old else 0, row.payments):
            entries[row.customer, row.payment_method[place]].append(row.payment_amount[place])
    for _, row in _changed_rows(before, database, "customers"):
        old = customer_row(before, row.index)
        for method, kind in enumerate(row.method_kind[: old.methods]):
            amounts = entries.pop((row.index, method), [])
            used_up = kind == CERTIFICATE and any(amount > 0 for amount in amounts)
            left = 0 if used_up or kind == CREDIT_CARD else old.balance[method] - sum(amounts)
            assert row.balance[method] == left >= 0
    kinds = {BASE.customer(customer).method_kind[method] for customer, method in entries}
    assert kinds <= {CREDIT_CARD}
    assert all(len(amounts) == 1 and amounts[0] for amounts in entries.values())


def _price(shown):
    if shown["status"] == "cancelled":
        return 0
    insurance = 30 if shown["insurance"] == "yes" else 0
    fares = sum(flight["price"] for flight in shown["flights"])
    return (fares + insurance) * len(shown["passengers"]) + 50 * shown["nonfree_baggages"]


def check_itinerary(shown):
    flights = shown["flights"]
    for one, other in itertools.pairwise(flights):
        assert one["destination"] == other["origin"]
        assert is_connection(one, other)
    ends = [flight["destination"] for flight in flights]
    assert flights[0]["origin"] == shown["origin"]
    assert ends[-1] == shown["origin" if shown["flight_type"] == "round_trip" else "destination"]
    assert shown["destination"] in ends
