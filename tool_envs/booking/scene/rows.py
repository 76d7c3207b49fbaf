"""What tools show, as rows: JSON objects of profiles, reservations and flights, read back."""

import datetime
from collections.abc import Sequence
from typing import NamedTuple

from tool_envs import names
from tool_envs.booking.airports import AIRPORT_CODES
from tool_envs.booking.codes import FLIGHT_TYPES, YES_NO
from tool_envs.booking.dates import FIRST_DAY, find_date
from tool_envs.booking.ids import of_flight_number
from tool_envs.booking.rows import (
    CABINS,
    DAY,
    MAX_METHODS,
    MAX_PASSENGERS,
    MAX_PAYMENTS,
    MAX_SEGMENTS,
    MEMBERSHIPS,
    METHOD_KINDS,
    STATUSES,
    Customer,
    Passenger,
    Reservation,
)
from tool_envs.booking.scene.blank import (
    blank_customer,
    blank_trip,
    no_offer,
)
from tool_envs.booking.scene.sight import (
    MAX_LEGS,
    MAX_PEOPLE,
    MAX_TRIPS,
    UNKNOWN,
    Offer,
)
from tool_envs.generated import padded
from tool_envs.messages import Json
from tool_envs.row_lists import as_bits


class Profile(NamedTuple):
    """A profile as it was shown.

    Attributes:
        customer: Its row; the index is no affair of the agent's.
        trip_ids: The reservations that are kept in mind.
        method_ids: The payment methods, in the order in which they came up.
        digits: For each of them the last four digits of a card, or -1.
        people: The customer, and whom they saved.
    """

    customer: Customer
    trip_ids: tuple[str, ...]
    method_ids: tuple[str, ...]
    digits: tuple[int, ...]
    people: tuple[Passenger, ...]


NO_PROFILE = Profile(blank_customer(), (), (), (), ())
"""Before any was shown."""


def read_profile(shown: Json, before: Profile, methods_name: str) -> Profile:
    """A profile as `get_user_details` answers it.

    Payment methods keep the numbers that they had before; one that is gone holds nothing.

    Args:
        shown: The answer.
        before: The profile as it was known.
        methods_name: What the schema calls the payment methods.
    """
    methods = shown[methods_name]
    ids = [*before.method_ids, *(each for each in methods if each not in before.method_ids)][:MAX_METHODS]
    kinds = [METHOD_KINDS.index(each.rsplit("_", 1)[0]) for each in ids]
    customer = blank_customer()
    customer.membership = MEMBERSHIPS.index(shown["membership"])
    customer.methods = len(ids)
    customer.method_kind = padded(kinds, MAX_METHODS, 0)
    customer.balance = padded(
        [_cents(methods.get(each, {}).get("amount", 0)) for each in ids], MAX_METHODS, 0
    )
    customer.reservations = len(shown["reservations"])
    known = dict(zip(before.method_ids, before.digits, strict=True))
    themselves = Passenger(shown["name"]["first_name"], shown["name"]["last_name"], shown["dob"])
    return Profile(
        customer,
        tuple(shown["reservations"][:MAX_TRIPS]),
        tuple(ids),
        tuple(known.get(each, -1) if each not in methods else _digits(methods[each]) for each in ids),
        (themselves, *(Passenger(**each) for each in shown["saved_passengers"]))[:MAX_PEOPLE],
    )


def _digits(method: Json) -> int:
    return int(method.get("last_four", -1))


def read_trip(shown: Json, profile: Profile) -> Reservation:
    """A reservation as `get_reservation_details` and the writes answer it."""
    trip = blank_trip()
    flights, history = shown["flights"], shown["payment_history"]
    people = [Passenger(**each) for each in shown["passengers"]]
    trip.origin, trip.destination = AIRPORT_CODES[shown["origin"]], AIRPORT_CODES[shown["destination"]]
    trip.round_trip, trip.cabin = FLIGHT_TYPES.index(shown["flight_type"]), CABINS.index(shown["cabin"])
    trip.segments = len(flights)
    trip.flight = padded([flight_code(each["flight_number"]) for each in flights], MAX_SEGMENTS, -1)
    trip.day = padded([_day(each["date"]) for each in flights], MAX_SEGMENTS, -1)
    trip.price = padded([_cents(each["price"]) for each in flights], MAX_SEGMENTS, 0)
    trip.passengers = len(people)
    trip.passenger = padded([_place(each, profile.people) for each in people], MAX_PASSENGERS, -1)
    trip.payments = len(history)
    methods = [_place(each["payment_id"], profile.method_ids) for each in history]
    trip.payment_method = padded(methods, MAX_PAYMENTS, -1)
    trip.payment_amount = padded([_cents(each["amount"]) for each in history], MAX_PAYMENTS, 0)
    trip.created = _minutes(shown["created_at"])
    trip.total_bags, trip.nonfree_bags = shown["total_baggages"], shown["nonfree_baggages"]
    trip.insurance = YES_NO.index(shown["insurance"])
    trip.cancelled = int(shown["status"] == "cancelled")
    return trip


def read_ways(shown: Json) -> tuple[Offer, Offer]:
    """The way there and the way back of a reservation; what has no way back has no flights in it."""
    flights = shown["flights"]
    arrivals = [each["destination"] for each in flights]
    there = arrivals.index(shown["destination"]) + 1 if shown["destination"] in arrivals else len(flights)
    return read_offer(flights[:there]), read_offer(flights[there:])


def read_offer(flights: Sequence[Json]) -> Offer:
    """A way of one flight or two: of a reservation, or as searches show it."""
    offer = no_offer()
    if not 0 < len(flights) <= MAX_LEGS:
        return offer
    offer.legs = len(flights)
    offer.origin = AIRPORT_CODES[flights[0]["origin"]]
    offer.destination = AIRPORT_CODES[flights[-1]["destination"]]
    offer.stop = AIRPORT_CODES[flights[0]["destination"]] if len(flights) > 1 else -1
    offer.flight = padded([flight_code(each["flight_number"]) for each in flights], MAX_LEGS, -1)
    offer.day = padded([_day(each["date"]) for each in flights], MAX_LEGS, -1)
    offer.status = padded([STATUSES.index(each["status"]) for each in flights], MAX_LEGS, 0)
    offer.statuses = as_bits(offer.status[: offer.legs])
    offer.departs = offer.day[0] * DAY + _clock(flights[0]["scheduled_departure_time_est"])
    offer.arrives = offer.day[len(flights) - 1] * DAY + _clock(flights[-1]["scheduled_arrival_time_est"])
    offer.paid = sum(_cents(each.get("price", 0)) for each in flights)
    prices = [_cents(each["prices"][cabin]) for each in flights for cabin in CABINS if "prices" in each]
    seats = [each["available_seats"][cabin] for each in flights for cabin in CABINS if "prices" in each]
    offer.price = padded(prices, len(offer.price), UNKNOWN)
    offer.seats = padded(seats, len(offer.seats), UNKNOWN)
    return offer


def name_code(first: str, last: str) -> int:
    """What kernels know a name by; -1 for a name that is none of the airline's customers'."""
    if first not in names.FIRST_NAMES or last not in names.LAST_NAMES:
        return -1
    return names.FIRST_NAMES.index(first) * len(names.LAST_NAMES) + names.LAST_NAMES.index(last)


def flight_code(number: str) -> int:
    """The code of a flight number; -1 for a text that is none."""
    code = of_flight_number(number)
    return -1 if code is None else code


def _day(text: str) -> int:
    day = find_date(text)
    return -1 if day is None else day


def _clock(text: str) -> int:
    """Minutes after midnight of a time such as `00:10:00+1`."""
    clock, _, days = text.partition("+")
    hours, minutes, _ = clock.split(":")
    return int(days or 0) * DAY + int(hours) * 60 + int(minutes)


def _minutes(text: str) -> int:
    """Minutes since the start of the first day, of a text such as `2025-06-30T15:00:00`."""
    start = datetime.datetime.combine(FIRST_DAY, datetime.time())
    return int((datetime.datetime.fromisoformat(text) - start).total_seconds()) // 60


def _place(one: object, among: Sequence[object]) -> int:
    return among.index(one) if one in among else -1


def _cents(dollars: int) -> int:
    return dollars * 100
