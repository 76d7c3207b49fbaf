"""Why a tool says no: stable codes for programs, sentences for agents."""

import enum

from tool_envs.booking.rows import MOST_CERTIFICATES, MOST_CREDIT_CARDS, MOST_GIFT_CARDS
from tool_envs.toolkit import Refusal


class No(enum.IntEnum):
    """A reason to refuse a call. Guards return its number; 0 is a yes."""

    USER_NOT_FOUND = 1
    RESERVATION_NOT_FOUND = 2
    AIRPORT_NOT_FOUND = 3
    FLIGHT_NOT_FOUND = 4
    DATE_OUT_OF_RANGE = 5
    SAME_AIRPORT = 6
    FLIGHTS_NOT_CONNECTED = 7
    CONNECTION_TOO_SHORT = 8
    WRONG_ROUTE = 9
    FLIGHT_NOT_AVAILABLE = 10
    NOT_ENOUGH_SEATS = 11
    SAME_PASSENGER_TWICE = 12
    PASSENGER_COUNT_FIXED = 13
    WRONG_NONFREE_BAGGAGES = 14
    BAGS_ONLY_ADDED = 15
    ALREADY_CANCELLED = 16
    ALREADY_FLOWN = 17
    NOTHING_TO_CHANGE = 18
    PAYMENT_METHOD_NOT_FOUND = 19
    SAME_PAYMENT_METHOD_TWICE = 20
    TOO_MANY_CERTIFICATES = 21
    TOO_MANY_GIFT_CARDS = 22
    TOO_MANY_CREDIT_CARDS = 23
    CERTIFICATE_NOT_ALLOWED = 24
    INSUFFICIENT_BALANCE = 25
    PAYMENTS_DO_NOT_ADD_UP = 26
    TOO_MANY_CHANGES = 27
    TOO_MANY_RESERVATIONS = 28
    TOO_MANY_PAYMENT_METHODS = 29

    @property
    def refusal(self) -> Refusal:
        """What the agent is told; its code is the name in lower case."""
        return _REFUSALS[self]


_SENTENCES = {
    No.USER_NOT_FOUND: "There is no such user.",
    No.RESERVATION_NOT_FOUND: "There is no reservation with this id.",
    No.AIRPORT_NOT_FOUND: "No airport of ours has this code.",
    No.FLIGHT_NOT_FOUND: "No flight of ours has this number.",
    No.DATE_OUT_OF_RANGE: "There is no timetable for this date.",
    No.SAME_AIRPORT: "Origin and destination are the same airport.",
    No.FLIGHTS_NOT_CONNECTED: "A flight does not leave from the airport where the one before it arrives.",
    No.CONNECTION_TOO_SHORT: "A flight leaves too soon after the arrival of the one before it, or before.",
    No.WRONG_ROUTE: "The flights do not make this trip between origin and destination.",
    No.FLIGHT_NOT_AVAILABLE: "A flight cannot be booked on its date.",
    No.NOT_ENOUGH_SEATS: "A flight does not have a free seat in the cabin for each passenger.",
    No.SAME_PASSENGER_TWICE: "A passenger is named twice.",
    No.PASSENGER_COUNT_FIXED: "The number of passengers of a reservation cannot be changed.",
    No.WRONG_NONFREE_BAGGAGES: "This is not the number of bags that must be paid for.",
    No.BAGS_ONLY_ADDED: "Checked bags can be added, not taken away.",
    No.ALREADY_CANCELLED: "The reservation is cancelled.",
    No.ALREADY_FLOWN: "A flight that left already can be neither cancelled nor changed.",
    No.NOTHING_TO_CHANGE: "The reservation is like this already.",
    No.PAYMENT_METHOD_NOT_FOUND: "The user has no payment method with this id.",
    No.SAME_PAYMENT_METHOD_TWICE: "A payment method is named twice.",
    No.TOO_MANY_CERTIFICATES: f"More than {MOST_CERTIFICATES} certificate was named to pay with.",
    No.TOO_MANY_GIFT_CARDS: f"More than {MOST_GIFT_CARDS} gift cards were named to pay with.",
    No.TOO_MANY_CREDIT_CARDS: f"More than {MOST_CREDIT_CARDS} credit card was named to pay with.",
    No.CERTIFICATE_NOT_ALLOWED: "Changes are not settled with a certificate.",
    No.INSUFFICIENT_BALANCE: "The gift card or certificate does not hold enough.",
    No.PAYMENTS_DO_NOT_ADD_UP: "The payments do not add up to the price of the reservation.",
    No.TOO_MANY_CHANGES: "There were too many payments for this reservation to add another one.",
    No.TOO_MANY_RESERVATIONS: "The user has too many reservations to add another one.",
    No.TOO_MANY_PAYMENT_METHODS: "The user has too many payment methods to add another one.",
}
_REFUSALS = {no: Refusal(no.name.lower(), sentence) for no, sentence in _SENTENCES.items()}
