"""The tools of the airline, over ids and texts as the agent writes them; those that search are in `searches`.

Each takes the database and the parameters of its schema, under one name for all versions, and answers a row,
a JSON value or a reason to refuse. `toolkit` renders rows and renames parameters for a schema version.
A number may come as 2.0, which to JSON Schema is an integer too; `int` makes it one.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from tool_envs.booking import searches, writes
from tool_envs.booking.codes import (
    FLIGHT_TYPES,
    YES_NO,
    base_of,
    customer_row,
    departure_row,
    method_code,
    passenger_code,
    passenger_now,
)
from tool_envs.booking.data import BookingBase
from tool_envs.booking.dates import NOW
from tool_envs.booking.itineraries import keep_prices, move_seats, same_segment
from tool_envs.booking.refusals import No
from tool_envs.booking.rows import (
    CABINS,
    CALLED_OFF,
    MAX_PASSENGERS,
    MAX_PAYMENTS,
    MAX_SEGMENTS,
    Customer,
    Departure,
    Passenger,
    Reservation,
)
from tool_envs.database import Database
from tool_envs.generated import padded
from tool_envs.messages import Json
from tool_envs.toolkit import JsonText

Answer: TypeAlias = Reservation | Customer | JsonText | dict[str, Json] | No
"""A row to be rendered, a JSON value, or why not."""

_DOLLAR = 100  # cents


def get_user_details(database: Database, user_id: str) -> Answer:
    """The user."""
    customer: Customer | None = database.get("customers", user_id)
    return No.USER_NOT_FOUND if customer is None else customer


def get_reservation_details(database: Database, reservation_id: str) -> Answer:
    """The reservation."""
    reservation: Reservation | None = database.get("reservations", reservation_id)
    return No.RESERVATION_NOT_FOUND if reservation is None else reservation


def book_reservation(
    database: Database,
    user_id: str,
    origin: str,
    destination: str,
    flight_type: str,
    cabin: str,
    flights: list[dict[str, str]],
    passengers: list[dict[str, str]],
    payments: list[dict[str, Any]],
    total_baggages: int,
    nonfree_baggages: int,
    insurance: str,
) -> Answer:
    """Make a reservation, pay for it and take its seats."""
    base = base_of(database)
    found: Customer | None = database.get("customers", user_id)
    if found is None:
        return No.USER_NOT_FOUND
    start, end = base.airport_codes.get(origin), base.airport_codes.get(destination)
    if start is None or end is None:
        return No.AIRPORT_NOT_FOUND
    people = [Passenger(**each) for each in passengers]
    wanted = _empty_reservation(found)
    wanted.origin, wanted.destination = start, end
    wanted.round_trip, wanted.cabin = FLIGHT_TYPES.index(flight_type), CABINS.index(cabin)
    wanted.passengers, wanted.insurance = len(people), YES_NO.index(insurance)
    wanted.total_bags, wanted.nonfree_bags = int(total_baggages), int(nonfree_baggages)
    departures = _set_flights(database, wanted, flights)
    status, seats = _status(departures), _seats(departures, wanted.cabin)
    _set_payments(base, wanted, found, payments)
    if refused := writes.guard_book(wanted, found, base.flights, status, seats, len(set(people))):
        return No(refused)
    customer = found.copy()
    writes.apply_book(wanted, customer)
    _set_passengers(database, wanted, people)
    _move_seats(database, wanted, range(wanted.segments), -wanted.passengers)
    return _put(database, wanted, customer)


def cancel_reservation(database: Database, reservation_id: str) -> Answer:
    """Cancel a reservation, refund it and release its seats."""
    found: Reservation | None = database.get("reservations", reservation_id)
    if found is None:
        return No.RESERVATION_NOT_FOUND
    if refused := writes.guard_cancel(found, _status(_departures(database, found))):
        return No(refused)
    trip, customer = _copies(database, found)
    writes.apply_cancel(trip, customer)
    _move_seats(database, trip, range(trip.segments), trip.passengers)
    return _put(database, trip, customer)


def update_reservation_flights(
    database: Database, reservation_id: str, cabin: str, flights: list[dict[str, str]], payment_id: str
) -> Answer:
    """Replace flights and cabin, settle the difference and move the seats of flights that do not stay."""
    old: Reservation | None = database.get("reservations", reservation_id)
    if old is None:
        return No.RESERVATION_NOT_FOUND
    new, customer = _copies(database, old)
    new.cabin = CABINS.index(cabin)
    departures = _set_flights(database, new, flights)
    status, seats = _status(departures), _seats(departures, new.cabin)
    keep_prices(old, new)
    base, old_status = base_of(database), _status(_departures(database, old))
    method = method_code(base, customer, payment_id)
    if refused := writes.guard_change_flights(
        old, new, customer, base.flights, old_status, status, seats, method
    ):
        return No(refused)
    writes.apply_change_flights(old, new, customer, method)
    _move_seats(database, old, _not_in(new, old), old.passengers)
    _move_seats(database, new, _not_in(old, new), -new.passengers)
    return _put(database, new, customer)


def update_reservation_baggages(
    database: Database, reservation_id: str, total_baggages: int, nonfree_baggages: int, payment_id: str
) -> Answer:
    """Add checked bags and charge those that are not free."""
    found: Reservation | None = database.get("reservations", reservation_id)
    if found is None:
        return No.RESERVATION_NOT_FOUND
    trip, customer = _copies(database, found)
    method = method_code(base_of(database), customer, payment_id)
    total, nonfree = int(total_baggages), int(nonfree_baggages)
    if refused := writes.guard_add_bags(trip, customer, total, nonfree, method):
        return No(refused)
    writes.apply_add_bags(trip, customer, total, nonfree, method)
    return _put(database, trip, customer)


def update_reservation_passengers(
    database: Database, reservation_id: str, passengers: list[dict[str, str]]
) -> Answer:
    """Replace passengers by as many others."""
    found: Reservation | None = database.get("reservations", reservation_id)
    if found is None:
        return No.RESERVATION_NOT_FOUND
    people = [Passenger(**each) for each in passengers]
    now = {passenger_now(database, code) for code in found.passenger[: found.passengers]}
    different = set(people)
    if refused := writes.guard_passengers(found, len(people), len(different), len(different & now)):
        return No(refused)
    trip, customer = _copies(database, found)
    _set_passengers(database, trip, people)
    return _put(database, trip, customer)


def send_certificate(database: Database, user_id: str, amount: int) -> Answer:
    """Give a user a certificate over an amount in dollars."""
    found: Customer | None = database.get("customers", user_id)
    if found is None:
        return No.USER_NOT_FOUND
    if refused := writes.guard_send_certificate(found):
        return No(refused)
    customer = found.copy()
    writes.apply_send_certificate(customer, int(amount) * _DOLLAR)
    database.put("customers", user_id, customer)
    return customer


TOOLS: Mapping[str, Callable[..., Answer]] = {
    tool.__name__: tool
    for tool in (
        book_reservation,
        cancel_reservation,
        searches.get_flight_status,
        get_reservation_details,
        get_user_details,
        searches.list_all_airports,
        searches.search_direct_flight,
        searches.search_onestop_flight,
        send_certificate,
        update_reservation_baggages,
        update_reservation_flights,
        update_reservation_passengers,
    )
}
"""The tools of all schema versions but those that every desk has, by name."""


def _empty_reservation(customer: Customer) -> Reservation:
    """The customer's next reservation, with nothing in it."""
    return Reservation(
        customer=customer.index,
        number=customer.reservations,
        origin=0,
        destination=0,
        round_trip=0,
        cabin=0,
        segments=0,
        flight=[-1] * MAX_SEGMENTS,
        day=[-1] * MAX_SEGMENTS,
        price=[0] * MAX_SEGMENTS,
        passengers=0,
        passenger=[0] * MAX_PASSENGERS,
        payments=0,
        payment_method=[0] * MAX_PAYMENTS,
        payment_amount=[0] * MAX_PAYMENTS,
        created=NOW,
        total_bags=0,
        nonfree_bags=0,
        insurance=0,
        cancelled=0,
    )


def _set_flights(database: Database, trip: Reservation, flights: list[dict[str, str]]) -> list[Departure]:
    """Give a reservation flights at today's prices; answers their departures."""
    departures = [_departure(database, **each) for each in flights]
    trip.segments = len(departures)
    trip.flight = padded([each.flight for each in departures], MAX_SEGMENTS, -1)
    trip.day = padded([each.day for each in departures], MAX_SEGMENTS, -1)
    trip.price = padded([each.price[trip.cabin] for each in departures], MAX_SEGMENTS, 0)
    return departures


def _departure(database: Database, flight_number: str, date: str) -> Departure:
    """A flight on a date; if there is none, a row that cannot be booked, with -1 for what is unknown."""
    found: Departure | None = database.get("departures", f"{flight_number} {date}")
    if found is not None:
        return found
    flight, day = base_of(database).find_flight(flight_number), base_of(database).find_date(date)
    nothing = [0] * len(CABINS)
    return Departure(
        flight=-1 if flight is None else flight,
        day=-1 if day is None else day,
        status=CALLED_OFF,
        seats=nothing,
        price=nothing,
    )


def _status(departures: list[Departure]) -> list[int]:
    return [each.status for each in departures]


def _seats(departures: list[Departure], cabin: int) -> list[int]:
    return [each.seats[cabin] for each in departures]


def _set_payments(
    base: BookingBase, trip: Reservation, customer: Customer, payments: list[dict[str, Any]]
) -> None:
    """Give a reservation payments, sorted by method."""
    made = sorted(
        (method_code(base, customer, each["payment_id"]), int(each["amount"]) * _DOLLAR) for each in payments
    )
    trip.payments = len(made)
    trip.payment_method = padded([method for method, _ in made], MAX_PAYMENTS, 0)
    trip.payment_amount = padded([amount for _, amount in made], MAX_PAYMENTS, 0)


def _set_passengers(database: Database, trip: Reservation, people: list[Passenger]) -> None:
    codes = [passenger_code(database, trip.customer, each) for each in people]
    trip.passenger = padded(codes, MAX_PASSENGERS, 0)


def _departures(database: Database, trip: Reservation) -> list[Departure]:
    """Of each segment."""
    return [departure_row(database, trip.flight[place], trip.day[place]) for place in range(trip.segments)]


def _not_in(other: Reservation, trip: Reservation) -> list[int]:
    """The segments of a reservation that another one does not have in its cabin."""
    return [place for place in range(trip.segments) if same_segment(trip, place, other) < 0]


def _move_seats(database: Database, trip: Reservation, segments: Iterable[int], seats: int) -> None:
    """Release so many seats of some segments of a reservation, or take them when below 0."""
    for place in segments:
        before = departure_row(database, trip.flight[place], trip.day[place])
        after = before.copy()
        move_seats(after, trip.cabin, seats)
        if after != before:
            database.put("departures", base_of(database).departure_key(after.flight, after.day), after)


def _copies(database: Database, trip: Reservation) -> tuple[Reservation, Customer]:
    return trip.copy(), customer_row(database, trip.customer).copy()


def _put(database: Database, trip: Reservation, customer: Customer) -> Reservation:
    """Store a reservation that changed, and its customer if they did."""
    base = base_of(database)
    database.put("reservations", base.reservation_id(trip.customer, trip.number), trip)
    if customer != customer_row(database, customer.index):
        database.put("customers", base.user_id(customer.index), customer)
    return trip
