"""Customers of an airline to test with."""

from tool_envs.simulators.booking_values import airport_values, passenger_values
from tool_envs.simulators.dates import date_forms
from tool_envs.simulators.goal import Fact, UserGoal, Value, Wish

DATES = ("2025-07-03", "2025-07-04", "2025-07-08")
JANE = {"first_name": "Jane", "last_name": "Roe", "dob": "1990-05-12"}
JOHN = {"first_name": "John", "last_name": "Roe", "dob": "1988-07-03"}
MIA = {"first_name": "Mia", "last_name": "Price", "dob": "2001-11-21"}
ISABELLA = {"first_name": "Isabella", "last_name": "Hernandez", "dob": "1979-12-31"}
JANE_PARK = {"first_name": "Jane", "last_name": "Park", "dob": "1990-05-13"}
PEOPLE = (JANE, JOHN, MIA, ISABELLA, JANE_PARK)
CARD, GIFT_CARD, CERTIFICATE = "credit_card_2222222", "gift_card_3333333", "certificate_4444444"

LEXICON = {
    "reservation_id": (Value("K7QX2M"), Value("P3LT8B")),
    "date": tuple(Value(date, date_forms(date)) for date in DATES),
    "payment_id": (
        Value(CARD, ("visa card ending in 1234", "visa")),
        Value(GIFT_CARD, ("gift card",)),
        Value(CERTIFICATE, ("certificate with $500",)),
        Value("gift_card_5555555", ("gift card with $80",)),
        Value("gift_card_6666666", ("gift card with $90",)),
    ),
    "origin": airport_values("origin", {"JFK": "New York", "BOS": "Boston"}),
    "destination": airport_values("destination", {"SEA": "Seattle", "MIA": "Miami"}),
    **passenger_values(tuple(each.values()) for each in PEOPLE),
}
WORDS = {
    CARD: "Visa card ending in 1234",
    GIFT_CARD: "gift card",
    CERTIFICATE: "certificate with $500",
    "JFK": "New York",
    "SEA": "Seattle",
}
KNOWS = {
    "user_id": "jane_roe_1234",
    "name": "Jane Roe",
    "email": "jane.roe@example.com",
    "dob": "May 12, 1990",
}

HAT001 = {"flight_number": "HAT001", "date": "2025-07-03"}
HAT002 = {"flight_number": "HAT002", "date": "2025-07-08"}
HAT003 = {"flight_number": "HAT003", "date": "2025-07-03"}
BOOKED = {
    "user_id": "jane_roe_1234",
    "origin": "JFK",
    "destination": "SEA",
    "flight_type": "one_way",
    "cabin": "economy",
    "flights": [HAT001],
    "passengers": [JANE, JOHN],
    "payment_methods": [{"payment_id": GIFT_CARD, "amount": 100}, {"payment_id": CARD, "amount": 250}],
    "total_baggages": 2,
    "nonfree_baggages": 1,
    "insurance": "no",
}
SAID_TRIP = {
    "origin": "New York (JFK)",
    "destination": "Seattle (SEA)",
    "trip_type": "one way",
    "date": "July 3",
    "flights": "the cheapest flight",
    "cabin": "economy",
    "passengers": "Jane Roe, born May 12, 1990, and John Roe, born July 3, 1988",
    "payment_method": "my gift card first, and the rest on my Visa card",
    "baggage": "2 checked bags",
    "insurance": "no travel insurance",
}
BOOK = Wish(
    kind="book_one_way",
    tool="book_reservation",
    accepted=(
        BOOKED,
        {
            **BOOKED,
            "flights": [HAT003],
            "payment_methods": [
                {"payment_id": GIFT_CARD, "amount": 100},
                {"payment_id": CARD, "amount": 260},
            ],
        },
    ),
    words=SAID_TRIP,
    opening="I would like to fly from New York (JFK) to Seattle (SEA) on July 3, in economy, on the cheapest"
    " flight. I pay with my gift card first, and the rest on my Visa card.",
)
ROUND_TRIP = Wish(
    kind="book_round_trip",
    tool="book_reservation",
    accepted=(
        {
            **BOOKED,
            "flight_type": "round_trip",
            "flights": [HAT001, HAT002],
            "passengers": [JANE],
            "payment_methods": [{"payment_id": CARD, "amount": 410}],
            "total_baggages": 0,
            "nonfree_baggages": 0,
            "insurance": "yes",
        },
    ),
    words={
        **SAID_TRIP,
        "trip_type": "a round trip",
        "date": "July 3, and July 8 for the way back",
        "flights": "the earliest flights",
        "passengers": "just me, Jane Roe, born May 12, 1990",
        "payment_method": "my Visa card",
        "baggage": "no checked bags",
        "insurance": "travel insurance, please",
    },
    opening="Please book me a round trip from New York (JFK) to Seattle (SEA) on July 3 and back on July 8:"
    " the earliest flights, in economy, paid with my Visa card.",
)
CHANGE_FLIGHTS = Wish(
    kind="change_flights",
    tool="update_reservation_flights",
    accepted=(
        {
            "reservation_id": "K7QX2M",
            "cabin": "economy",
            "flights": [{"flight_number": "HAT005", "date": "2025-07-04"}],
            "payment_id": CARD,
        },
    ),
    words={
        "reservation_id": "reservation K7QX2M",
        "flights": "the latest flight",
        "date": "July 4",
        "payment_method": "my Visa card",
    },
    opening="Please move reservation K7QX2M to the latest flight on July 4. Use my Visa card.",
)
CHANGE_CABIN = Wish(
    kind="change_cabin",
    tool="update_reservation_flights",
    accepted=(
        {"reservation_id": "K7QX2M", "cabin": "business", "flights": [HAT001, HAT002], "payment_id": CARD},
    ),
    words={
        "reservation_id": "reservation K7QX2M",
        "cabin": "business",
        "payment_method": "my Visa card",
    },
    opening="I would like to fly in business on reservation K7QX2M. Any difference goes to my Visa card.",
)
ADD_BAGS = Wish(
    kind="add_bags",
    tool="update_reservation_baggages",
    accepted=(
        {"reservation_id": "K7QX2M", "total_baggages": 3, "nonfree_baggages": 1, "payment_id": GIFT_CARD},
    ),
    words={
        "reservation_id": "reservation K7QX2M",
        "baggage": "2 more checked bags, 3 in all",
        "payment_method": "my gift card",
    },
    opening="Please add 2 more checked bags to reservation K7QX2M, 3 in all, paid with my gift card.",
)
CHANGE_PASSENGERS = Wish(
    kind="change_passengers",
    tool="update_reservation_passengers",
    accepted=({"reservation_id": "K7QX2M", "passengers": [JANE, MIA]},),
    words={
        "reservation_id": "reservation K7QX2M",
        "passengers": "Mia Price, born November 21, 2001, instead of John Roe",
    },
    opening="Somebody cannot come along on reservation K7QX2M. It will be Mia Price instead of John Roe.",
)
CANCEL = Wish(
    kind="cancel",
    tool="cancel_reservation",
    accepted=({"reservation_id": "K7QX2M"},),
    words={"reservation_id": "reservation K7QX2M", "reason": "I am ill"},
    means={"reason": "health"},
    opening="I would like to cancel reservation K7QX2M, because I am ill.",
)
COMPENSATION = Wish(
    kind="compensation",
    tool="send_certificate",
    accepted=({"user_id": "jane_roe_1234", "amount": 100},),
    words={"reservation_id": "reservation K7QX2M"},
    means={"reservation_id": "K7QX2M"},
    opening="On reservation K7QX2M a flight was cancelled. I think that I should get a compensation.",
)
QUESTION = Wish(
    kind="question",
    fact=Fact("count", 3, "How many checked bags may I take on reservation P3LT8B for free?"),
)
FORBIDDEN = Wish(
    kind="insurance",
    forbidden=True,
    words={"reservation_id": "reservation P3LT8B", "insurance": "travel insurance"},
    means={"reservation_id": "P3LT8B"},
    opening="I would like to add travel insurance to reservation P3LT8B.",
)
SECOND_CHOICE = Wish(
    kind="cancel",
    forbidden=True,
    words={"reservation_id": "reservation K7QX2M", "reason": "my plans have changed"},
    means={"reservation_id": "K7QX2M", "reason": "plans"},
    opening="Please cancel reservation K7QX2M: my plans have changed.",
    otherwise=ADD_BAGS,
)
WISHES = {
    "book": BOOK,
    "round_trip": ROUND_TRIP,
    "change_flights": CHANGE_FLIGHTS,
    "change_cabin": CHANGE_CABIN,
    "add_bags": ADD_BAGS,
    "change_passengers": CHANGE_PASSENGERS,
    "cancel": CANCEL,
    "compensation": COMPENSATION,
    "question": QUESTION,
    "forbidden": FORBIDDEN,
    "second_choice": SECOND_CHOICE,
}


def goal(*wishes, knows=KNOWS, traits=(), conditions=None):
    """A goal with the usual lexicon."""
    return UserGoal("booking", dict(knows), wishes, LEXICON, traits, conditions or {})
