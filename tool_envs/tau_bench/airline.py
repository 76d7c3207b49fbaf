"""tau-bench's 14 airline tools: the same answers byte for byte, over a copy-on-write database.

They are made as the retail tools are: upstream's parameters in upstream's order, the same operations on them
in the same order, no checks and no rollback. What upstream forgets is forgotten here too: seats are not
taken, a change of cabin is charged but not stored, the rest of a certificate is lost, and a second leg shows
the prices of the first one's day. One answer is ours: where a user has all three certificates that can be
sent, upstream's tool returns nothing, on which its environment crashes; here that is an error text.
"""

import json
from collections.abc import Mapping, Sequence
from copy import copy
from typing import cast

from tool_envs.database import Database, Record
from tool_envs.messages import Json
from tool_envs.tau_bench.data import AirlineData
from tool_envs.tau_bench.tools import (
    NO_PAYMENT_METHOD,
    USER_NOT_FOUND,
    TauTool,
    details,
    find_record,
    get_record,
    named_as_upstream,
    own,
    put_record,
    shared_tools,
)

_RESERVATION_NOT_FOUND = "Error: reservation not found"
_NEW_IDS = ("HATHAT", "HATHAU", "HATHAV")
_CERTIFICATE_IDS = ("certificate_3221322", "certificate_3221323", "certificate_3221324")
_NOW = "2024-05-15T15:00:00"

_AIRPORTS = {
    "SFO": "San Francisco",
    "JFK": "New York",
    "LAX": "Los Angeles",
    "ORD": "Chicago",
    "DFW": "Dallas",
    "DEN": "Denver",
    "SEA": "Seattle",
    "ATL": "Atlanta",
    "MIA": "Miami",
    "BOS": "Boston",
    "PHX": "Phoenix",
    "IAH": "Houston",
    "LAS": "Las Vegas",
    "MCO": "Orlando",
    "EWR": "Newark",
    "CLT": "Charlotte",
    "MSP": "Minneapolis",
    "DTW": "Detroit",
    "PHL": "Philadelphia",
    "LGA": "LaGuardia",
}

_named_as_upstream = named_as_upstream("airline")
calculate, get_user_details, think, transfer_to_human_agents = shared_tools("airline")


@_named_as_upstream
def book_reservation(
    data: Database,
    user_id: str,
    origin: str,
    destination: str,
    flight_type: str,
    cabin: str,
    flights: list[Record],
    passengers: list[Record],
    payment_methods: list[Record],
    total_baggages: int,
    nonfree_baggages: int,
    insurance: str,
) -> str:
    """Book flights; the payments must add up to the price. A fourth booking replaces the third."""
    user = find_record(data, "users", user_id)
    if user is None:
        return USER_NOT_FOUND
    flights = own(flights)
    price = 0
    for flight in flights:
        problem = _add_offer(data, flight, cabin, passengers)
        if problem is not None:
            return problem
        price += flight["price"] * len(passengers)
    if insurance == "yes":
        price += 30 * len(passengers)
    price += 50 * nonfree_baggages
    problem = _payment_problem(user, payment_methods, price)
    if problem is not None:
        return problem
    for payment in payment_methods:
        _pay(data, user_id, payment["payment_id"], payment["amount"])
    reservation_id = _new_id(data)
    user = get_record(data, "users", user_id)
    data.put("users", user_id, {**user, "reservations": [*user["reservations"], reservation_id]})
    reservation = {
        "reservation_id": reservation_id,
        "user_id": user_id,
        "origin": own(origin),
        "destination": own(destination),
        "flight_type": own(flight_type),
        "cabin": own(cabin),
        "flights": flights,
        "passengers": own(passengers),
        "payment_history": own(payment_methods),
        "created_at": _NOW,
        "total_baggages": own(total_baggages),
        "nonfree_baggages": nonfree_baggages,
        "insurance": own(insurance),
    }
    return put_record(data, "reservations", reservation_id, reservation)


@_named_as_upstream
def cancel_reservation(data: Database, reservation_id: str) -> str:
    """Cancel a reservation and note the refund of all its payments, earlier refunds included."""
    reservation = find_record(data, "reservations", reservation_id)
    if reservation is None:
        return _RESERVATION_NOT_FOUND
    payments = reservation["payment_history"]
    refunds = [_payment(payment["payment_id"], -payment["amount"]) for payment in payments]
    # An agent may have booked with payments that are no list; upstream stores them and fails only here.
    history = copy(payments)
    history.extend(refunds)
    reservation = {**reservation, "payment_history": history, "status": "cancelled"}
    return put_record(data, "reservations", reservation_id, reservation)


@_named_as_upstream
def get_reservation_details(data: Database, reservation_id: str) -> str:
    """A reservation as JSON."""
    return details(data, "reservations", reservation_id) or USER_NOT_FOUND  # upstream's words


@_named_as_upstream
def list_all_airports(data: Database) -> str:  # noqa: ARG001 - every tool gets the database
    """All airports as JSON: code -> city."""
    return json.dumps(_AIRPORTS)


@_named_as_upstream
def search_direct_flight(data: Database, origin: str, destination: str, date: str) -> str:
    """The flights between two airports that can be booked on a date, as JSON."""
    base = _base(data)
    flights = base.tables["flights"]
    found = [
        base.flight_text(key, date)
        for key in _flights_between(base, origin, destination)
        if _is_available(flights[key], date)
    ]
    return f"[{', '.join(found)}]"


@_named_as_upstream
def search_onestop_flight(data: Database, origin: str, destination: str, date: str) -> str:
    """The pairs of flights between two airports that can be booked on a date, as JSON."""
    base = _base(data)
    flights = base.tables["flights"]
    found = []
    for first_key in base.flights_from.get(origin, ()) if isinstance(origin, str) else ():
        first = flights[first_key]
        arrival = first["scheduled_arrival_time_est"]
        for second_key in _flights_between(base, first["destination"], destination):
            second = flights[second_key]
            second_date = f"2024-05-{int(date[-2:]) + 1}" if "+1" in arrival else date
            if arrival > second["scheduled_departure_time_est"]:
                continue
            if _are_available(first, date, second, second_date):
                legs = (
                    base.flight_text(first_key, date, date),
                    base.flight_text(second_key, date, second_date),
                )
                found.append(f"[{', '.join(legs)}]")
    return f"[{', '.join(found)}]"


@_named_as_upstream
def send_certificate(data: Database, user_id: str, amount: float) -> str:
    """Give a user a certificate, of which there are three for each."""
    user = find_record(data, "users", user_id)
    if user is None:
        return USER_NOT_FOUND
    methods = user["payment_methods"]
    for payment_id in _CERTIFICATE_IDS:
        if payment_id not in methods:
            certificate = {"source": "certificate", "amount": own(amount), "id": payment_id}
            data.put("users", user_id, {**user, "payment_methods": {**methods, payment_id: certificate}})
            return f"Certificate {payment_id} added to user {user_id} with amount {amount}."
    return "Error: no more certificates can be sent to this user"  # ours: upstream crashes


@_named_as_upstream
def update_reservation_baggages(
    data: Database, reservation_id: str, total_baggages: int, nonfree_baggages: int, payment_id: str
) -> str:
    """Set the numbers of bags of a reservation, and pay for those that are new and not free."""
    reservation = find_record(data, "reservations", reservation_id)
    if reservation is None:
        return _RESERVATION_NOT_FOUND
    price = 50 * max(0, nonfree_baggages - reservation["nonfree_baggages"])
    problem = _charge_problem(data, reservation, payment_id, price)
    if problem is not None:
        return problem
    bags = {"total_baggages": own(total_baggages), "nonfree_baggages": nonfree_baggages}
    return _put_charged(data, reservation_id, {**reservation, **bags}, payment_id, price)


@_named_as_upstream
def update_reservation_flights(
    data: Database, reservation_id: str, cabin: str, flights: list[Record], payment_id: str
) -> str:
    """Replace the flights of a reservation, and pay or refund the difference. The cabin is not stored."""
    reservation = find_record(data, "reservations", reservation_id)
    if reservation is None:
        return _RESERVATION_NOT_FOUND
    passengers = reservation["passengers"]
    flights = own(flights)
    price = 0
    for flight in flights:
        kept = _kept(reservation, flight, cabin)
        if kept is not None:
            flight.update({field: kept[field] for field in ("price", "origin", "destination")})
        else:
            problem = _add_offer(data, flight, cabin, passengers)
            if problem is not None:
                return problem
        price += flight["price"] * len(passengers)
    price -= sum(flight["price"] for flight in reservation["flights"]) * len(passengers)
    problem = _charge_problem(data, reservation, payment_id, price)
    if problem is not None:
        return problem
    return _put_charged(data, reservation_id, {**reservation, "flights": flights}, payment_id, price)


@_named_as_upstream
def update_reservation_passengers(data: Database, reservation_id: str, passengers: list[Record]) -> str:
    """Replace the passengers of a reservation by as many others."""
    reservation = find_record(data, "reservations", reservation_id)
    if reservation is None:
        return _RESERVATION_NOT_FOUND
    if len(passengers) != len(reservation["passengers"]):
        return "Error: number of passengers does not match"
    return put_record(data, "reservations", reservation_id, {**reservation, "passengers": own(passengers)})


def _base(data: Database) -> AirlineData:
    return cast("AirlineData", data.base)


def _flights_between(base: AirlineData, origin: Json, destination: Json) -> Sequence[str]:
    """Keys of the flights from one airport to another; none where one of the two is no text at all."""
    if not (isinstance(origin, str) and isinstance(destination, str)):
        return ()
    return base.routes.get((origin, destination), ())


def _is_available(flight: Record, date: str) -> bool:
    return date in flight["dates"] and flight["dates"][date]["status"] == "available"


def _are_available(first: Record, date: str, second: Record, second_date: str) -> bool:
    """Whether both can be booked; both dates are looked up before a status, as an odd one may fail there."""
    if date in first["dates"] and second_date in second["dates"]:
        return _is_available(first, date) and _is_available(second, second_date)
    return False


def _add_offer(data: Database, flight: Record, cabin: str, passengers: list[Record]) -> str | None:
    """Add price and airports to a flight that an agent named; or say why it cannot be booked."""
    number = flight["flight_number"]
    flights = data.base.tables["flights"]
    if number not in flights:
        return f"Error: flight {number} not found"
    offered = flights[number]
    if flight["date"] not in offered["dates"]:
        return f"Error: flight {number} not found on date {flight['date']}"
    day = offered["dates"][flight["date"]]
    if day["status"] != "available":
        return f"Error: flight {number} not available on date {flight['date']}"
    if day["available_seats"][cabin] < len(passengers):
        return f"Error: not enough seats on flight {number}"
    flight["price"] = day["prices"][cabin]
    flight["origin"] = offered["origin"]
    flight["destination"] = offered["destination"]
    return None


def _kept(reservation: Record, flight: Record, cabin: str) -> Record | None:
    """The flight of a reservation that stays as it is, at its old price; None: it is a new one."""
    for old in reservation["flights"]:
        if (
            old["flight_number"] == flight["flight_number"]
            and old["date"] == flight["date"]
            and cabin == reservation["cabin"]
        ):
            return old
    return None


def _payment_problem(user: Record, payments: list[Record], price: float) -> str | None:
    """Why a booking cannot be paid so."""
    methods = user["payment_methods"]
    for payment in payments:
        payment_id, amount = payment["payment_id"], payment["amount"]
        if payment_id not in methods:
            return f"Error: payment method {payment_id} not found"
        method = methods[payment_id]
        if method["source"] in ("gift_card", "certificate") and method["amount"] < amount:
            return f"Error: not enough balance in payment method {payment_id}"
    paid = sum(payment["amount"] for payment in payments)
    if paid != price:
        return f"Error: payment amount does not add up, total price is {price}, but paid {paid}"
    return None


def _pay(data: Database, user_id: str, payment_id: str, amount: float) -> None:
    """Take one payment: a certificate is gone as a whole. Raises KeyError when it is gone already."""
    methods = get_record(data, "users", user_id)["payment_methods"]
    source = methods[payment_id]["source"]
    if source == "gift_card":
        _take_from_gift_card(data, user_id, payment_id, amount)
    elif source == "certificate":
        _put_methods(data, user_id, {key: method for key, method in methods.items() if key != payment_id})


def _take_from_gift_card(data: Database, user_id: str, payment_id: str, amount: float) -> None:
    methods = get_record(data, "users", user_id)["payment_methods"]
    method = methods[payment_id]
    method = {**method, "amount": method["amount"] - amount}
    _put_methods(data, user_id, {**methods, payment_id: method})


def _put_methods(data: Database, user_id: str, methods: Record) -> None:
    data.put("users", user_id, {**get_record(data, "users", user_id), "payment_methods": methods})


def _new_id(data: Database) -> str:
    free = (key for key in _NEW_IDS if find_record(data, "reservations", key) is None)
    return next(free, _NEW_IDS[-1])


def _charge_problem(data: Database, reservation: Record, payment_id: str, price: float) -> str | None:
    """Why a change of a reservation cannot be paid so."""
    methods = get_record(data, "users", reservation["user_id"])["payment_methods"]
    if payment_id not in methods:
        return NO_PAYMENT_METHOD
    method = methods[payment_id]
    if method["source"] == "certificate":
        return "Error: certificate cannot be used to update reservation"
    if method["source"] == "gift_card" and method["amount"] < price:
        return "Error: gift card balance is not enough"
    return None


def _put_charged(
    data: Database, reservation_id: str, reservation: Record, payment_id: str, price: float
) -> str:
    """Put a changed reservation, pay for the change or get money back, and note that; its JSON text."""
    user_id = reservation["user_id"]
    if get_record(data, "users", user_id)["payment_methods"][payment_id]["source"] == "gift_card":
        _take_from_gift_card(data, user_id, payment_id, price)
    data.put("reservations", reservation_id, reservation)
    if price != 0:
        history = copy(reservation["payment_history"])
        history.append(_payment(payment_id, price))  # may fail as in `cancel_reservation`; the rest is done
        reservation = {**reservation, "payment_history": history}
    return put_record(data, "reservations", reservation_id, reservation)


def _payment(payment_id: str, amount: float) -> Record:
    return {"payment_id": payment_id, "amount": amount}


AIRLINE_TOOLS: Mapping[str, TauTool] = {
    "book_reservation": book_reservation,
    "calculate": calculate,
    "cancel_reservation": cancel_reservation,
    "get_reservation_details": get_reservation_details,
    "get_user_details": get_user_details,
    "list_all_airports": list_all_airports,
    "search_direct_flight": search_direct_flight,
    "search_onestop_flight": search_onestop_flight,
    "send_certificate": send_certificate,
    "think": think,
    "transfer_to_human_agents": transfer_to_human_agents,
    "update_reservation_baggages": update_reservation_baggages,
    "update_reservation_flights": update_reservation_flights,
    "update_reservation_passengers": update_reservation_passengers,
}
"""The tools by name, in upstream's order."""
