"""What people at an airline say."""

from collections.abc import Iterator, Mapping
from itertools import groupby

from tool_envs.messages import Json
from tool_envs.simulators.booking_language import BOOKING
from tool_envs.simulators.dates import say_date
from tool_envs.simulators.phrasing import Phrases, join
from tool_envs.simulators.shared_phrases import CONDITIONS, NOUNS, QUESTIONS, REASONS, WANTS


def _fields(arguments: Mapping[str, Json], words: Mapping[str, str]) -> dict[str, str]:
    """What stands in the fields of deeds and results."""
    people = arguments.get("passengers", ())
    payments = arguments.get("payment_methods", ())
    insured = arguments.get("insurance") == "yes"
    return {
        "reservation": arguments.get("reservation_id", ""),
        "trip": "round trip" if arguments.get("flight_type") == "round_trip" else "one-way trip",
        "origin": _named(arguments.get("origin", ""), words),
        "destination": _named(arguments.get("destination", ""), words),
        "cabin": arguments.get("cabin", "").replace("_", " "),
        "flights": join(list(_flights(arguments.get("flights", ())))),
        "people": join([_person(each, f"born {say_date(each['dob'], 'with_year')}") for each in people]),
        "short_people": join([_person(each, each["dob"]) for each in people]),
        "payments": join(
            [f"${each['amount']} from {_named(each['payment_id'], words)}" for each in payments]
        ),
        "payment": _named(arguments.get("payment_id", ""), words),
        "bags": _bags(arguments),
        "insurance": f"{'with' if insured else 'without'} travel insurance",
        "amount": f"${arguments.get('amount', '')}",
    }


def _named(value: str, words: Mapping[str, str]) -> str:
    return f"{words[value]} ({value})" if value in words else value


def _flights(flights: Json) -> Iterator[str]:
    """The flights of each date that follow each other."""
    for date, of_date in groupby(flights, key=lambda flight: flight["date"]):
        yield f"{join([flight['flight_number'] for flight in of_date])} on {say_date(date)}"


def _person(passenger: Mapping[str, Json], birth: str) -> str:
    return f"{passenger['first_name']} {passenger['last_name']} ({birth})"


def _payment(payment: Mapping[str, Json], words: Mapping[str, str]) -> str:
    return f"${payment['amount']} from {_named(payment['payment_id'], words)}"


def _bags(arguments: Mapping[str, Json]) -> str:
    total, paid = arguments.get("total_baggages", 0), arguments.get("nonfree_baggages", 0)
    if not (total or paid):
        return "no checked bags"
    return f"{total or 'no'} checked {'bag' if total == 1 else 'bags'} in all ({paid or 'none'} of them paid)"


BOOKING_PHRASES = Phrases(
    language=BOOKING,
    slots={
        "user_id": ("user_id",),
        "name": ("first_name", "last_name"),
        "email": ("email",),
        "dob": ("dob",),
        "reservation_id": ("reservation_id",),
        "origin": ("origin",),
        "destination": ("destination",),
        "trip_type": ("flight_type",),
        "date": ("date",),
        "flights": ("flight_number",),
        "cabin": ("cabin",),
        "passengers": ("first_name", "last_name", "dob"),
        "payment_method": ("payment_id",),
        "baggage": ("total_baggages", "nonfree_baggages"),
        "insurance": ("insurance",),
        "reason": ("reason",),
        "amount": ("amount",),
    },
    questions={
        **QUESTIONS,
        "dob": "your date of birth",
        "reservation_id": "the reservation ID",
        "origin": "the departure airport",
        "destination": "the destination",
        "trip_type": "the trip type",
        "date": "the travel dates",
        "flights": "the flight numbers",
        "cabin": "the cabin class",
        "passengers": "the details of all passengers",
        "baggage": "the number of checked bags",
        "insurance": "your choice about travel insurance",
        "amount": "the exact amount",
    },
    nouns={
        **NOUNS,
        "dob": "my date of birth",
        "reservation_id": "the reservation",
        "origin": "the departure airport",
        "destination": "the destination",
        "trip_type": "the type of the trip",
        "date": "the date",
        "flights": "my choice of flights",
        "cabin": "the cabin",
        "passengers": "the list of passengers",
        "baggage": "the baggage",
        "insurance": "my choice about insurance",
        "amount": "the amount",
    },
    wants={
        **WANTS,
        "reservation_id": "what I mean is {words}",
        "origin": "I want to leave from {words}",
        "destination": "I want to go to {words}",
        "trip_type": "the type of the trip should be {words}",
        "date": "the date should be {words}",
        "flights": "what I want to fly with is {words}",
        "cabin": "the cabin should be {words}",
        "passengers": "the passengers should be {words}",
        "baggage": "for the baggage I want {words}",
        "insurance": "about insurance: {words}",
        "amount": "the amount should be {words}",
    },
    fields=_fields,
    deeds={
        "book_reservation": (
            "book a {trip} from {origin} to {destination} in {cabin} with {flights} for {people}, "
            "{insurance}, {bags}, paid with {payments}",
            "book {people} on {flights}, a {trip} from {origin} to {destination} in {cabin}, {bags}, "
            "{insurance}, paid with {payments}",
            "book {flights} from {origin} to {destination}, a {trip} in {cabin}, for {people}, {bags}, "
            "{insurance}, to be paid with {payments}",
        ),
        "update_reservation_flights": (
            "change the flights of reservation {reservation} to {flights} in {cabin}, with {payment} for any "
            "difference in price",
            "update the flights and the cabin of reservation {reservation}, so that you fly in {cabin} with "
            "{flights}, and settle any difference with {payment}",
            "change reservation {reservation} so that its flights are {flights} in {cabin}, with any "
            "difference going through {payment}",
        ),
        "update_reservation_baggages": (
            "change the checked bags of reservation {reservation} to {bags}, with {payment} for the price",
            "update the baggage of reservation {reservation} to {bags}, paid with {payment}",
            "change the number of checked bags of reservation {reservation}, so that you have {bags}, with "
            "{payment} for any price",
        ),
        "update_reservation_passengers": (
            "change the passengers of reservation {reservation} to {people}",
            "update the list of passengers of reservation {reservation}, so that it has {people}",
            "replace the passengers of reservation {reservation} by {people}",
        ),
        "cancel_reservation": (
            "cancel reservation {reservation}",
            "cancel your whole reservation {reservation}",
            "cancel reservation {reservation} with all its flights and refund it to what it was paid with",
        ),
        "send_certificate": (
            "send you a certificate of {amount}",
            "issue a travel certificate of {amount} for you",
            "send a certificate of {amount} to your profile",
        ),
    },
    brief_deeds={
        "book_reservation": (
            "book a {trip}, {origin} to {destination}, {cabin}, {flights}, for {short_people}, {bags}, "
            "{insurance}, paid with {payments}"
        ),
        "update_reservation_flights": (
            "change the flights of {reservation} to {flights}, {cabin}, with {payment}"
        ),
        "update_reservation_baggages": "change the bags of {reservation} to {bags}, with {payment}",
        "update_reservation_passengers": "change the passengers of {reservation} to {short_people}",
        "cancel_reservation": "cancel {reservation}",
        "send_certificate": "send you a certificate of {amount}",
    },
    results={
        "book_reservation": (
            "Your trip from {origin} to {destination} has been booked",
            "Your {trip} from {origin} to {destination} with {flights} has been booked",
            "I have booked {flights} in {cabin}, from {origin} to {destination}, {insurance}",
        ),
        "update_reservation_flights": (
            "The flights of reservation {reservation} have been changed",
            "The flights of reservation {reservation} have been changed to {flights} in {cabin}",
            "I have changed the flights of reservation {reservation} to {flights} in {cabin}",
        ),
        "update_reservation_baggages": (
            "The bags of reservation {reservation} have been changed",
            "The bags of reservation {reservation} have been updated to {bags}",
            "I have changed the checked bags of reservation {reservation} to {bags}",
        ),
        "update_reservation_passengers": (
            "The passengers of reservation {reservation} have been changed",
            "The passengers of reservation {reservation} have been updated to {people}",
            "I have changed the passengers of reservation {reservation} to {people}",
        ),
        "cancel_reservation": (
            "Reservation {reservation} has been cancelled",
            "Your reservation {reservation} was successfully cancelled",
            "I have cancelled your reservation {reservation}",
        ),
        "send_certificate": (
            "A certificate of {amount} has been issued to you",
            "Your compensation has been processed: a certificate of {amount}",
            "I have issued a certificate of {amount} for you",
        ),
    },
    refusals={
        "book_one_way": "book such a trip",
        "book_round_trip": "book such a round trip",
        "book_one_stop": "book such a connection",
        "change_flights": "change the flights of this reservation",
        "change_cabin": "change the cabin of this reservation",
        "add_bags": "add bags to this reservation",
        "change_passengers": "change the passengers of this reservation",
        "cancel": "cancel this reservation",
        "compensation": "send you a certificate",
        "insurance": "add insurance to this reservation",
        "remove_bags": "take bags off this reservation",
        "add_passenger": "add a passenger to this reservation",
        "question": "tell you that",
    },
    reasons={
        **REASONS,
        "basic_economy": "flights in basic economy cannot be changed",
        "not_covered": "neither your fare nor an insurance covers a cancellation for this reason",
        "already_flown": "a flight of it has left already",
        "already_cancelled": "the reservation was cancelled before",
        "bags_only_added": "bags can be added to a reservation but never removed",
        "passengers_fixed": "the number of passengers of a reservation is fixed",
        "insurance_with_booking": "insurance is only sold along with a new booking",
        "no_compensation": "no compensation is due under our policy",
        "over_budget": "all flights that are available cost more than your budget",
        "no_flight": "there is no flight like that",
        "no_seats": "not enough seats are left in that cabin",
        "same_cabin": "all flights of a reservation must be in the same cabin",
        "other_route": "a change must keep the origin, the destination and the type of the trip",
        "certificate": "a change cannot be paid with a certificate",
        "not_yours": "the reservation belongs to another customer",
    },
    identity=frozenset({"user_id", "name", "email", "dob"}),
    introduction=("user_id",),
    identifying=frozenset({"reservation_id", "flight_number", "user_id", "amount"}),
    look_alikes=(),
    conditions=dict(CONDITIONS),
)
