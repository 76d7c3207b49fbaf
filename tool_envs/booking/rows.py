"""The rows of the airline, and what their small integers mean. Money is in cents, times are in minutes."""

from typing import Annotated, NamedTuple

from tool_envs.rows import Row, Small, Tiny

MAX_METHODS = 8
"""Most payment methods of one customer, certificates included."""
MAX_RESERVATIONS = 64
"""Most reservations of one customer, cancelled ones included."""
MAX_SEGMENTS = 4
"""Most flights of one reservation."""
MAX_PASSENGERS = 5
"""Most passengers of one reservation."""
MAX_PAYMENTS = 20
"""Most payments and refunds of one reservation."""
MAX_BAGS = 20
"""Most checked bags of one reservation."""

CREDIT_CARD, GIFT_CARD, CERTIFICATE = range(3)
"""Kinds of payment method; `METHOD_KINDS` has their names."""
METHOD_KINDS = ("credit_card", "gift_card", "certificate")

REGULAR, SILVER, GOLD = range(3)
"""Memberships; `MEMBERSHIPS` has their names."""
MEMBERSHIPS = ("regular", "silver", "gold")

BASIC_ECONOMY, ECONOMY, BUSINESS = range(3)
"""Cabins; `CABINS` has their names."""
CABINS = ("basic_economy", "economy", "business")

FREE_BAGS = ((0, 1, 2), (1, 2, 3), (2, 3, 4))
"""Free checked bags of each passenger: by membership, then by cabin."""
BAG_PRICE = 5_000
"""Of one checked bag beyond the free ones."""
INSURANCE_PRICE = 3_000
"""Of the travel insurance of one passenger."""

MOST_CERTIFICATES, MOST_GIFT_CARDS, MOST_CREDIT_CARDS = 1, 3, 1
"""What one booking may be paid with."""

AVAILABLE, ON_TIME, DELAYED, FLYING, LANDED, CALLED_OFF = range(6)
"""Statuses of a departure; `STATUSES` has their names. Only what is available can be booked."""
STATUSES = ("available", "on time", "delayed", "flying", "landed", "cancelled")

DAY = 24 * 60
"""Minutes of a day."""


class Customer(Row):
    """A customer. Who they are (names, e-mail, ids, date of birth) follows from `index`, see `BookingBase`.

    Attributes:
        index: Which customer, 0 to `BookingBase.customers` - 1.
        membership: `REGULAR`, `SILVER` or `GOLD`.
        methods: How many payment methods they ever had; the lists below have `MAX_METHODS` places.
        method_kind: `CREDIT_CARD`, `GIFT_CARD` or `CERTIFICATE`.
        balance: What is left on a gift card or certificate; 0 for credit cards. A certificate that paid for
            something holds 0 and is gone from the profile.
        reservations: How many reservations they ever had.
    """

    index: int
    membership: Tiny
    methods: Tiny
    method_kind: Annotated[list[int], MAX_METHODS, "int8"]
    balance: Annotated[list[int], MAX_METHODS]
    reservations: Tiny


class Reservation(Row):
    """A reservation. Its id follows from `customer` and `number`.

    Attributes:
        customer: Index of the customer who made it.
        number: Which of their reservations, from 0.
        origin: Code of the airport where the trip begins.
        destination: Code of the airport that it goes to; of a round trip not the place of return.
        round_trip: 1 for a round trip, else 0.
        cabin: `BASIC_ECONOMY`, `ECONOMY` or `BUSINESS`.
        segments: How many flights it has.
        flight: Their flight codes, in the order of the trip; -1 behind the last.
        day: The days on which they leave, from 0; -1 behind the last.
        price: What each costs per passenger.
        passengers: How many passengers there are.
        passenger: Their codes (see `BookingBase.passenger`); below 0 when written in this episode, 0 behind
            the last.
        payments: How many payments and refunds there were.
        payment_method: Which of the customer's payment methods.
        payment_amount: Below 0 for a refund.
        created: When it was made: minutes since the start of the first day; may be below 0.
        total_bags: Checked bags.
        nonfree_bags: Those of them that were paid for.
        insurance: 1 with travel insurance, else 0.
        cancelled: 1 when it was cancelled, else 0.
    """

    customer: int
    number: Tiny
    origin: Tiny
    destination: Tiny
    round_trip: Tiny
    cabin: Tiny
    segments: Tiny
    flight: Annotated[list[int], MAX_SEGMENTS, "int16"]
    day: Annotated[list[int], MAX_SEGMENTS, "int8"]
    price: Annotated[list[int], MAX_SEGMENTS]
    passengers: Tiny
    passenger: Annotated[list[int], MAX_PASSENGERS]
    payments: Tiny
    payment_method: Annotated[list[int], MAX_PAYMENTS, "int8"]
    payment_amount: Annotated[list[int], MAX_PAYMENTS]
    created: int
    total_bags: Tiny
    nonfree_bags: Tiny
    insurance: Tiny
    cancelled: Tiny


class Departure(Row):
    """A flight on one day.

    Attributes:
        flight: Flight code.
        day: The day on which it leaves, from 0.
        status: `AVAILABLE` and so on.
        seats: Free seats by cabin; 0 when it cannot be booked.
        price: Price of one seat by cabin.
    """

    flight: Small
    day: Small
    status: Small
    seats: Annotated[list[int], len(CABINS), "int16"]
    price: Annotated[list[int], len(CABINS)]


class Flights(NamedTuple):
    """What tools need to know about the flights, by flight code; never changed.

    Attributes:
        origin: Airport code.
        destination: Airport code.
        departure: Minutes after midnight.
        arrival: Minutes after midnight of the day on which it leaves; `DAY` or more on the next day.
    """

    origin: list[int]
    destination: list[int]
    departure: list[int]
    arrival: list[int]


class Passenger(NamedTuple):
    """Somebody who flies, as they are written."""

    first_name: str
    last_name: str
    dob: str
