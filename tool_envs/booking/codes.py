"""Rows <-> what the agent sees: rendering to JSON, and texts to integer codes.

```python
look = renderer(base)                            # or renderer(base, "payments"), for schema 2.0.0
look.reservation_json(database, reservation)     # a JSON object as get_reservation_details answers it
look.user_json(customer)                         # as get_user_details does
look.flight_json(departure)                      # one of those that the searches answer
look.direct_text(departures)                     # JSON text of what search_direct_flight answers
look.one_stop_text(pairs)                        # of what search_onestop_flight does
look.status_text(departure)                      # of what get_flight_status does
look.airport_list_text                           # of what list_all_airports does
customer_row(database, 7), reservation_row(database, 7, 0), departure_row(database, 4, 20)  # the rows now
passenger_now(database, code)                    # Passenger, also one written in this episode
passenger_code(database, 7, passenger)           # its code; it is stored when it has none yet
method_code(base, customer, "gift_card_1234567")     # -1 when there is none
changed_records(database), state_digest(database)    # what differs from the base data, as JSON
```

`reservation_text`, `user_text` and `flight_text` give the JSON texts; those of untouched rows come from a
cache. A reservation shows its flights with the statuses of the base data, which never change in an episode.
"""

import functools
from collections.abc import Iterable
from typing import Any, Literal, TypeAlias, cast

import orjson

from tool_envs.booking.data import BookingBase
from tool_envs.booking.dates import clock_text, instant_text
from tool_envs.booking.rows import (
    CABINS,
    CERTIFICATE,
    CREDIT_CARD,
    MEMBERSHIPS,
    METHOD_KINDS,
    STATUSES,
    Customer,
    Departure,
    Passenger,
    Reservation,
)
from tool_envs.canonical import digest
from tool_envs.database import Database
from tool_envs.generated import Kept
from tool_envs.messages import Json

PaymentsName: TypeAlias = Literal["payment_methods", "payments"]
"""What a schema version calls the payment methods of a profile."""

FLIGHT_TYPES = ("one_way", "round_trip")
"""By `Reservation.round_trip`."""
YES_NO = ("no", "yes")
"""By `Reservation.insurance`."""

_RESERVATION_STATUSES = ("active", "cancelled")


class Renderer:
    """How the rows over one base look under one schema. `renderer` makes it once.

    Args:
        base: The data.
        payments_name: What the schema calls the payment methods of a profile.
    """

    def __init__(self, base: BookingBase, payments_name: PaymentsName) -> None:
        self.base, self.payments_name = base, payments_name
        self._reservations: Kept[tuple[int, int], str] = Kept(self._base_reservation_text)
        self._users: Kept[int, str] = Kept(lambda index: _text(self._user(base.customer(index))))
        self._departures: Kept[tuple[int, int], str] = Kept(
            lambda place: _text(self._departure(base.departure(*place)))
        )
        self._legs: Kept[tuple[int, int], dict[str, str]] = Kept(self._leg)

    def reservation_json(self, database: Database, reservation: Reservation) -> Json:
        """A reservation as `get_reservation_details` answers it."""
        return orjson.loads(self.reservation_text(database, reservation))

    def reservation_text(self, database: Database, reservation: Reservation) -> str:
        """The JSON text of `reservation_json`."""
        customer, number = reservation.customer, reservation.number
        is_new = number >= self.base.customer(customer).reservations
        if not is_new and reservation is self.base.reservation(customer, number):
            return self._reservations[(customer, number)]
        people = [passenger_now(database, code) for code in reservation.passenger[: reservation.passengers]]
        return _text(self._reservation(reservation, customer_row(database, customer), people))

    def user_json(self, customer: Customer) -> Json:
        """A customer as `get_user_details` answers it."""
        return orjson.loads(self.user_text(customer))

    def user_text(self, customer: Customer) -> str:
        """The JSON text of `user_json`."""
        if customer is self.base.customer(customer.index):
            return self._users[customer.index]
        return _text(self._user(customer))

    def flight_json(self, departure: Departure) -> Json:
        """A flight on a day, as searches answer it."""
        return orjson.loads(self.flight_text(departure))

    def flight_text(self, departure: Departure) -> str:
        """The JSON text of `flight_json`."""
        place = (departure.flight, departure.day)
        if departure is self.base.departure(*place):
            return self._departures[place]
        return _text(self._departure(departure))

    def direct_text(self, departures: Iterable[Departure]) -> str:
        """The JSON text of what `search_direct_flight` answers."""
        return f'{{"flights":[{",".join(map(self.flight_text, departures))}]}}'

    def one_stop_text(self, connections: Iterable[tuple[Departure, Departure]]) -> str:
        """The JSON text of what `search_onestop_flight` answers."""
        pairs = (f"[{self.flight_text(first)},{self.flight_text(second)}]" for first, second in connections)
        return f'{{"connections":[{",".join(pairs)}]}}'

    def status_text(self, departure: Departure) -> str:
        """The JSON text of what `get_flight_status` answers."""
        leg = self._legs[(departure.flight, departure.day)]
        return _text({**leg, "status": STATUSES[departure.status]})

    @functools.cached_property
    def airport_list_text(self) -> str:
        """The JSON text of what `list_all_airports` answers."""
        return _text({"airports": {airport.iata: airport.city for airport in self.base.airports}})

    def _base_reservation_text(self, place: tuple[int, int]) -> str:
        reservation = self.base.reservation(*place)
        people = list(map(self.base.passenger, reservation.passenger[: reservation.passengers]))
        return _text(self._reservation(reservation, self.base.customer(place[0]), people))

    def _reservation(
        self, reservation: Reservation, customer: Customer, passengers: list[Passenger]
    ) -> dict[str, Any]:
        return {
            "reservation_id": self.base.reservation_id(customer.index, reservation.number),
            "user_id": self.base.user_id(customer.index),
            "origin": self.base.airports[reservation.origin].iata,
            "destination": self.base.airports[reservation.destination].iata,
            "flight_type": FLIGHT_TYPES[reservation.round_trip],
            "cabin": CABINS[reservation.cabin],
            "flights": [self._segment(reservation, place) for place in range(reservation.segments)],
            "passengers": [passenger._asdict() for passenger in passengers],
            "payment_history": _payments(reservation, method_ids(self.base, customer)),
            "created_at": instant_text(reservation.created),
            "total_baggages": reservation.total_bags,
            "nonfree_baggages": reservation.nonfree_bags,
            "insurance": YES_NO[reservation.insurance],
            "status": _RESERVATION_STATUSES[reservation.cancelled],
        }

    def _segment(self, reservation: Reservation, place: int) -> dict[str, Any]:
        flight, day = reservation.flight[place], reservation.day[place]
        status = STATUSES[self.base.departure(flight, day).status]
        return {**self._legs[(flight, day)], "price": reservation.price[place] // 100, "status": status}

    def _leg(self, place: tuple[int, int]) -> dict[str, str]:
        flight, day = place
        flights, airports = self.base.flights, self.base.airports
        return {
            "flight_number": self.base.flight_number(flight),
            "origin": airports[flights.origin[flight]].iata,
            "destination": airports[flights.destination[flight]].iata,
            "date": self.base.date(day),
            "scheduled_departure_time_est": clock_text(flights.departure[flight]),
            "scheduled_arrival_time_est": clock_text(flights.arrival[flight]),
        }

    def _departure(self, departure: Departure) -> dict[str, Any]:
        return {
            **self._legs[(departure.flight, departure.day)],
            "status": STATUSES[departure.status],
            "available_seats": dict(zip(CABINS, departure.seats, strict=True)),
            "prices": {cabin: price // 100 for cabin, price in zip(CABINS, departure.price, strict=True)},
        }

    def _user(self, customer: Customer) -> dict[str, Any]:
        index = customer.index
        first_name, last_name = self.base.name(index)
        ids = method_ids(self.base, customer)
        methods = [method for method in range(customer.methods) if not is_used_up(customer, method)]
        return {
            "name": {"first_name": first_name, "last_name": last_name},
            "address": self.base.address(index)._asdict(),
            "email": self.base.email(index),
            "dob": self.base.dob(index),
            self.payments_name: {ids[each]: self._method(customer, each, ids[each]) for each in methods},
            "saved_passengers": [passenger._asdict() for passenger in self.base.saved_passengers(index)],
            "membership": MEMBERSHIPS[customer.membership],
            "reservations": [
                self.base.reservation_id(index, number) for number in range(customer.reservations)
            ],
        }

    def _method(self, customer: Customer, method: int, method_id: str) -> dict[str, Any]:
        kind = customer.method_kind[method]
        members: dict[str, Any] = {"source": METHOD_KINDS[kind]}
        if kind == CREDIT_CARD:
            members["brand"], members["last_four"] = self.base.card(customer.index, method)
        else:
            members["amount"] = customer.balance[method] // 100
        members["id"] = method_id
        return members


@functools.lru_cache(maxsize=16)
def renderer(base: BookingBase, payments_name: PaymentsName = "payment_methods") -> Renderer:
    """The renderer of a base and a schema."""
    return Renderer(base, payments_name)


def _text(value: Json) -> str:
    return orjson.dumps(value).decode()


def _payments(reservation: Reservation, ids: tuple[str, ...]) -> list[dict[str, Any]]:
    methods = reservation.payment_method[: reservation.payments]
    amounts = reservation.payment_amount[: reservation.payments]
    return [
        {"payment_id": ids[method], "amount": amount // 100}
        for method, amount in zip(methods, amounts, strict=True)
    ]


def base_of(database: Database) -> BookingBase:
    """The base data of an episode of this domain."""
    return cast("BookingBase", database.base)


def customer_row(database: Database, customer: int) -> Customer:
    """The row of a customer now, by index. Change a copy of it only."""
    return cast("Customer", database.get("customers", base_of(database).user_id(customer)))


def reservation_row(database: Database, customer: int, number: int) -> Reservation:
    """The row of a reservation now, by the customer's index and its number. Change a copy of it only."""
    key = base_of(database).reservation_id(customer, number)
    return cast("Reservation", database.get("reservations", key))


def departure_row(database: Database, flight: int, day: int) -> Departure:
    """The row of a flight on a day now. Change a copy of it only."""
    return cast("Departure", database.get("departures", base_of(database).departure_key(flight, day)))


def passenger_now(database: Database, code: int) -> Passenger:
    """Who it is by a code."""
    if code >= 0:
        return base_of(database).passenger(code)
    return cast("Passenger", database.get("passengers", str(code)))


def passenger_code(database: Database, customer: int, passenger: Passenger) -> int:
    """The code of a passenger that an agent writes for a customer; it is stored when it has none yet.

    The customer, and whom they saved, keep their codes, and so does who was written before.
    """
    code = base_of(database).passenger_code(customer, passenger)
    if code >= 0:
        return code
    written = [(key, record) for (table, key), record in database.changed.items() if table == "passengers"]
    for key, record in written:
        if record == passenger:
            return int(key)
    code = -1 - len(written)
    database.put("passengers", str(code), passenger)
    return code


def method_ids(base: BookingBase, customer: Customer) -> tuple[str, ...]:
    """The ids of all payment methods of a customer, by number; also of what is used up."""
    first = base.method_ids(customer.index)
    added = range(len(first), customer.methods)
    return first + tuple(base.method_id(customer.index, each, customer.method_kind[each]) for each in added)


def is_used_up(customer: Customer, method: int) -> bool:
    """Whether a payment method is a certificate that paid for something, and so gone from the profile."""
    return customer.method_kind[method] == CERTIFICATE and not customer.balance[method]


def method_code(base: BookingBase, customer: Customer, method_id: str) -> int:
    """Which of a customer's payment methods an id names; -1 for none, and for what is used up."""
    ids = method_ids(base, customer)
    method = ids.index(method_id) if method_id in ids else -1
    return -1 if method >= 0 and is_used_up(customer, method) else method


def changed_records(
    database: Database, payments_name: PaymentsName = "payment_methods"
) -> dict[tuple[str, str], Json]:
    """The users, reservations and flights that differ from the base data, by (table, key) in sorted order.

    They are JSON. Two states over the same base data are equal exactly when these are.
    """
    start = Database(database.base)
    found = {}
    for table, key in sorted(database.changed):
        now = record_json(database, table, key, payments_name)
        if now is not None and now != record_json(start, table, key, payments_name):
            found[(table, key)] = now
    return found


def record_json(
    database: Database, table: str, key: str, payments_name: PaymentsName = "payment_methods"
) -> Json | None:
    """A user, reservation or flight as their tools answer them; None: there is none, or it is a passenger.

    A passenger counts where they fly.
    """
    look, row = renderer(base_of(database), payments_name), database.get(table, key)
    if row is None:
        return None
    match table:
        case "customers":
            return look.user_json(row)
        case "departures":
            return look.flight_json(row)
        case "reservations":
            return look.reservation_json(database, row)
    return None


def state_digest(database: Database) -> str:
    """Digest of the whole state; equal states have equal digests, whichever way they were reached."""
    changes = [[table, key, record] for (table, key), record in changed_records(database).items()]
    return digest({"base": database.base.digest, "changes": changes})
