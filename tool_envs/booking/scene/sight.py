"""What was shown in an episode, as rows: by tools, and in the words of the customer.

Nothing comes in here that the agent has not seen. A kernel takes it in for each thing that can be shown. What
can be chosen on it stands in `masks`, how it looks as arrays in `tables`, and how texts become
rows in `words`.
"""

from typing import Annotated, Final

from tool_envs.booking.airports import AIRPORTS
from tool_envs.booking.rows import (
    CABINS,
    MAX_METHODS,
    MAX_SEGMENTS,
    Customer,
    Reservation,
)
from tool_envs.rows import Row, Small, Tiny, kernel

MAX_TRIPS: Final = 6
"""Most reservations that a customer has at first; what they book beyond that is not kept in mind."""
MAX_OFFERS: Final = 20
"""Itineraries found by searches that are kept in mind."""
OWN: Final = 2
"""First rows of the flights to choose from: the way there and the way back of a reservation, as they are."""
THERE, BACK = range(OWN)
MAX_FLIGHTS: Final = OWN + MAX_OFFERS
MAX_LEGS: Final = 2
"""Most flights of one way."""
MAX_PEOPLE: Final = 5
"""A customer and those whom they saved."""
MAX_PAID: Final = 4
"""Most payments of one booking that can be chosen: a certificate, two gift cards, a credit card."""
MAX_SEARCHED: Final = 8
"""Searches that are kept in mind."""
PLACES: Final = len(AIRPORTS)
CABIN_COUNT: Final = len(CABINS)

BOOK, CANCEL, CERTIFICATE_SENT, BAGS, FLIGHTS, PASSENGERS = range(6)
"""The writes; `WRITE_TOOLS` has the names of their tools."""
WRITE_TOOLS: Final = (
    "book_reservation",
    "cancel_reservation",
    "send_certificate",
    "update_reservation_baggages",
    "update_reservation_flights",
    "update_reservation_passengers",
)

WISHES: Final = (
    *("book_one_way", "book_round_trip", "book_one_stop", "change_flights", "change_cabin", "add_bags"),
    *("change_passengers", "cancel", "compensation", "insurance", "remove_bags", "add_passenger"),
)
"""Kinds of wishes."""
(
    FOR_ONE_WAY,
    FOR_ROUND_TRIP,
    FOR_ONE_STOP,
    FOR_FLIGHTS,
    FOR_CABIN,
    FOR_BAGS,
    FOR_PASSENGERS,
    FOR_CANCEL,
    FOR_COMPENSATION,
    FOR_INSURANCE,
    FOR_FEWER_BAGS,
    FOR_MORE_PASSENGERS,
) = range(len(WISHES))

QUESTIONS: Final = (
    *("paid", "upgrade", "bags", "gift_cards", "certificates", "free_bags", "trips", "status"),
)
"""Kinds of questions."""
(
    ASKS_PAID,
    ASKS_UPGRADE,
    ASKS_BAGS,
    ASKS_GIFT_CARDS,
    ASKS_CERTIFICATES,
    ASKS_FREE_BAGS,
    ASKS_TRIPS,
    ASKS_STATUS,
) = range(len(QUESTIONS))

SLOTS: Final = (
    *("user_id", "reservation_id", "flights", "cabin", "passengers", "payment_method", "baggage"),
    *("insurance", "reason", "other"),
)
"""What a customer can be asked for; `other` is any more details."""
(
    USER,
    RESERVATION,
    WHICH_FLIGHTS,
    CABIN,
    WHO,
    METHOD,
    BAGGAGE,
    INSURANCE,
    REASON,
    OTHER,
) = range(len(SLOTS))

MOVES: Final = (
    *("thank", "deny", "affirm", "correct", "inform", "unknown", "hold_back", "ask_details"),
    *("ask_again", "wait", "insist", "accept_no", "wish", "ask", "bye"),
)
"""Acts of a customer's turn, all of which their words say; bit k of `moves` is the k-th of them."""
THANKS, DENIES, AFFIRMS, CORRECTS, TAKES_NO = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 11

DEMANDS: Final = ("max_characters", "language", "formal", "only_the_total")
"""What a customer may demand of every reply."""

REASONS_TOLD: Final = ("health", "weather", "airline", "plans")
"""Reasons for a cancellation, as customers tell them."""
COVERED: Final = (0, 1)
"""Those that travel insurance covers."""

BEST: Final = ("any", "cheapest", "earliest-departing", "earliest-arriving", "latest-departing")
"""What the best flight is."""
ANY, CHEAPEST, LEAVES_FIRST, ARRIVES_FIRST, LEAVES_LAST = range(len(BEST))

BY_WORD, BY_DIGITS, BY_WORTH, BY_ID = range(4)
"""How a payment method is named: by its kind alone, its last four digits, what it holds, its number."""

DIRECT, ONE_STOP = range(2)
"""Kinds of searches; the number is that of stops."""

UNKNOWN: Final = -1
"""A price or a number of seats that was not shown."""
OPEN: Final = -2
"""In a draft: not chosen yet."""
NONE: Final = -1
"""In a draft: there is none."""


class Wanted(Row):
    """What words say of a wish. -1 stands for what they do not.

    Attributes:
        trip: Code of the reservation that is named by id.
        trip_from: Airport where the reservation begins that is named by its route.
        trip_to: Airport that it goes to.
        origin: Airport where a new trip is to begin.
        destination: Airport that it is to go to.
        days: The days on which they want to leave: there, and back.
        cabin: The cabin.
        stops: 0 for a direct flight, 1 for a connection.
        best: What is best, of `BEST`.
        leaves_after: Minutes after midnight.
        arrives_before: Minutes after midnight of the day on which they leave.
        at_most: What the fares of all may cost, in cents.
        flights: Codes of flights that are named.
        methods: How many payment methods are named.
        method_kind: Their kinds, in order.
        method_how: How each is named, of `BY_WORD` and so on.
        method_mark: The digits, dollars or number by which it is named.
        bags: Checked bags in all.
        more_bags: Checked bags that are added.
        people: Codes of names of those who fly.
        instead: Code of the name of somebody who does not fly any more.
        insurance: 1 with, 0 without.
        reason: Of `REASONS_TOLD`.
    """

    trip: int
    trip_from: Tiny
    trip_to: Tiny
    origin: Tiny
    destination: Tiny
    days: Annotated[list[int], 2, "int8"]
    cabin: Tiny
    stops: Tiny
    best: Tiny
    leaves_after: Small
    arrives_before: Small
    at_most: int
    flights: Annotated[list[int], MAX_SEGMENTS, "int16"]
    methods: Tiny
    method_kind: Annotated[list[int], MAX_PAID, "int8"]
    method_how: Annotated[list[int], MAX_PAID, "int8"]
    method_mark: Annotated[list[int], MAX_PAID]
    bags: Tiny
    more_bags: Tiny
    people: Annotated[list[int], MAX_PEOPLE]
    instead: int
    insurance: Tiny
    reason: Tiny


class Said(Row):
    """What the words of one turn of a customer say, beside `Wanted`.

    Attributes:
        moves: Bits of `MOVES`.
        wish: Kind of the wish that is brought up, of `WISHES`, or -1.
        question: Kind of the question that is asked, of `QUESTIONS`, or -1.
        user: 1 when the user id is told.
        unknown: Bits of `SLOTS`: what they say that they do not know.
        demands: Bits of `DEMANDS`: what they demand.
    """

    moves: int
    wish: Tiny
    question: Tiny
    user: Tiny
    unknown: Small
    demands: Tiny


class Offer(Row):
    """One way from an airport to another: an itinerary that a search showed, or a part of a reservation.

    Attributes:
        legs: Its flights; 0: there is no such way.
        origin: Airport code.
        destination: Airport code.
        stop: Airport code of the stop on the way, or -1.
        flight: Code of each flight; -1 behind the last.
        day: On which each leaves.
        status: Status of each departure.
        departs: Minutes since the start of the first day.
        arrives: Minutes since the start of the first day.
        paid: What it cost each passenger when it was booked, in cents; 0 for what was not.
        price: By flight times the number of cabins, and cabin: today's price of a seat, or `UNKNOWN`.
        seats: Likewise the free seats.
        statuses: Bits of the statuses of all departures.
    """

    legs: Tiny
    origin: Tiny
    destination: Tiny
    stop: Tiny
    flight: Annotated[list[int], MAX_LEGS, "int16"]
    day: Annotated[list[int], MAX_LEGS, "int8"]
    status: Annotated[list[int], MAX_LEGS, "int8"]
    departs: int
    arrives: int
    paid: int
    price: Annotated[list[int], MAX_LEGS * CABIN_COUNT]
    seats: Annotated[list[int], MAX_LEGS * CABIN_COUNT, "int8"]
    statuses: Tiny


class Draft(Row):
    """A call, or a part of one, as choices, each `OPEN` at first.

    Attributes:
        tool: The write; -1 for another tool.
        trip: Place among the customer's reservations.
        origin: Airport code.
        destination: Airport code.
        day: A day.
        round_trip: 1 for a round trip, else 0.
        cabin: A cabin.
        flights: Rows among the flights to choose from: the way there, and the way back.
        people: Places among the customer's people.
        methods: Numbers of payment methods, in the order in which they pay.
        method: Number of the one payment method of a change.
        insurance: 0 for yes, 1 for no, as the schema counts them.
        claim: Place of the reservation for which a certificate is due.
        leg: A flight of the reservation that was shown last.
    """

    tool: Tiny
    trip: Tiny
    origin: Tiny
    destination: Tiny
    day: Tiny
    round_trip: Tiny
    cabin: Tiny
    flights: Annotated[list[int], OWN, "int8"]
    people: Annotated[list[int], MAX_PEOPLE, "int8"]
    methods: Annotated[list[int], MAX_PAID, "int8"]
    method: Tiny
    insurance: Tiny
    claim: Tiny
    leg: Tiny


class Scene(Row):
    """What the agent knows beside the other rows.

    Attributes:
        profile: 1 when the customer's profile was shown.
        stale: 1 when a balance in it may have moved by more than was shown since.
        user: 1 when they told their user id.
        refused: 1 when a tool refused the last call.
        unknown: As in `Said`, of all turns.
        demands: Likewise.
        moves: As in `Said`, of the last turn.
        wish: As in `Said`, of the wish at hand, brought up last.
        question: Likewise.
        yes: 1 when the customer said yes to what was proposed last, and it was not done yet.
        unreported: The write that was made and not yet acknowledged, or -1.
        trip_code: Codes of the customer's reservations, in the order of their profile; -1 behind the last.
        trip_seen: For each of them: 1 when it was shown.
        trip_paid: For each of them: 1 when a certificate was sent for it.
        shown_last: Place of the reservation that was shown last, or -1.
        people: How many people there are in the profile, the customer among them.
        name: For each of them the code of their name; -1 behind the last.
        digits: For each payment method the last four digits of a card, or -1.
        number: For each of them the number in its id, or -1.
        offers: How many itineraries are kept in mind.
        found_by: For each of them the code of the search that showed it.
        searches: How many searches there were since they were forgotten.
        searched: Codes of those searches; -1: none.
    """

    profile: Tiny
    stale: Tiny
    user: Tiny
    refused: Tiny
    unknown: Small
    demands: Tiny
    moves: int
    wish: Tiny
    question: Tiny
    yes: Tiny
    unreported: Tiny
    trip_code: Annotated[list[int], MAX_TRIPS]
    trip_seen: Annotated[list[int], MAX_TRIPS, "int8"]
    trip_paid: Annotated[list[int], MAX_TRIPS, "int8"]
    shown_last: Tiny
    people: Tiny
    name: Annotated[list[int], MAX_PEOPLE]
    digits: Annotated[list[int], MAX_METHODS, "int16"]
    number: Annotated[list[int], MAX_METHODS]
    offers: Tiny
    found_by: Annotated[list[int], MAX_OFFERS, "int16"]
    searches: Small
    searched: Annotated[list[int], MAX_SEARCHED, "int16"]


class Sight(Row):
    """All that is known in an episode.

    Attributes:
        scene: What the rows below do not say.
        wanted: What was said of the wish at hand.
        customer: As their profile showed them, with what changed since; methods are counted as they came up.
        proposed: What was proposed last; its `tool` is -1 when nothing was, or it was done.
        trips: Their reservations as they were shown last, by place in the profile; passengers are places in
            the profile, too. One that was not shown is never looked at.
        ways: For each of them the way there and the way back.
        offers: The itineraries that searches showed.
    """

    scene: Scene
    wanted: Wanted
    customer: Customer
    proposed: Draft
    trips: Annotated[list[Reservation], MAX_TRIPS]
    ways: Annotated[list[Offer], OWN * MAX_TRIPS]
    offers: Annotated[list[Offer], MAX_OFFERS]


@kernel
def may_be(chosen: int, value: int) -> bool:
    """Whether something in a draft has that value, or may still get it."""
    if chosen == OPEN:
        return True
    return chosen == value
