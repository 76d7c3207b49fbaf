"""What happens at an airline, for tests of its rules: calls in a small world, strategies of all events."""

from hypothesis import strategies as st
from service.rule_events import (
    ACCEPT_NO,
    ASK,
    DENY,
    INSIST,
    TRANSFER,
    Reading,
    caller,
    calls_of,
    correct,
    inform,
    wish,
    yes,
)

from tool_envs.booking import rules as booking
from tool_envs.rules import Said

ANN, BOB = "ann_lee_1000", "bob_ray_2000"
MINE, ALSO_MINE, BOBS = "A1AA1A", "B2BB2B", "C3CC3C"
NEW = {ANN: "D4DD4D", BOB: "E5EE5E"}
"""The reservation that a booking makes."""
OWNER = {MINE: ANN, ALSO_MINE: ANN, BOBS: BOB, NEW[ANN]: ANN, NEW[BOB]: BOB}
CARD, GIFT = "credit_card_1000000", "gift_card_2000000"
DAY_AGO, OVER_A_DAY_AGO = "2025-06-29T15:00:00", "2025-06-29T14:59:00"


def leg(number, date):
    return {"flight_number": number, "date": date}


FLIGHTS = [leg("HAT010", "2025-07-04"), leg("HAT020", "2025-07-07")]
OTHER_FLIGHTS = [leg("HAT030", "2025-07-04"), leg("HAT020", "2025-07-07")]
OTHER_DATE = [leg("HAT010", "2025-07-05"), leg("HAT020", "2025-07-07")]
PEOPLE = [
    {"first_name": name, "last_name": "Lee", "dob": "1980-12-31"} for name in ("Ann", "Kim", "Lou", "Mia")
]


# --- A small world in which reservations belong to `OWNER`


def reservation(
    reservation_id,
    cabin="economy",
    created=OVER_A_DAY_AGO,
    insurance="no",
    passengers=1,
    statuses=("available", "available"),
    flights=FLIGHTS,
):
    """A reservation as the tools show it, as far as rules look."""
    return {
        "reservation_id": reservation_id,
        "user_id": OWNER[reservation_id],
        "cabin": cabin,
        "created_at": created,
        "insurance": insurance,
        "passengers": PEOPLE[:passengers],
        "flights": [{**flight, "status": status} for flight, status in zip(flights, statuses, strict=False)],
    }


def profile(user_id, membership="regular"):
    owned = [key for key in (MINE, ALSO_MINE, BOBS) if OWNER[key] == user_id]
    payment_methods = {CARD: {"id": CARD}, GIFT: {"id": GIFT}}
    return {"membership": membership, "payment_methods": payment_methods, "reservations": owned}


def answer(name, arguments):
    """What a call answers."""
    match name, arguments:
        case "get_user_details" | "send_certificate", {"user_id": user_id}:
            return profile(user_id)
        case "book_reservation", {"user_id": user_id}:
            state = {key: arguments[key] for key in ("cabin", "flights", "insurance") if key in arguments}
            return reservation(NEW[user_id], created="2025-06-30T15:00:00", **state)
        case "update_reservation_flights", {"reservation_id": reservation_id}:
            return reservation(reservation_id, arguments["cabin"], flights=arguments["flights"])
        case "search_direct_flight", _:
            return {"flights": OTHER_FLIGHTS}
        case _, {"reservation_id": reservation_id}:
            return reservation(reservation_id)
    return {}


called = caller(answer)


def shown(reservation_id=MINE, **state):
    """A reservation is looked up, and is in that state."""
    show = caller(lambda *_: reservation(reservation_id, **state))
    return show("get_reservation_details", reservation_id=reservation_id)


def member(membership, user_id=ANN):
    """A profile is looked up, of a customer with that membership."""
    return caller(lambda *_: profile(user_id, membership))("get_user_details", user_id=user_id)


def book(user_id=ANN, code=None, **arguments):
    return called("book_reservation", code, user_id=user_id, **arguments)


def cancel(reservation_id=MINE, code=None):
    return called("cancel_reservation", code, reservation_id=reservation_id)


def change(cabin="economy", flights=FLIGHTS, reservation_id=MINE, code=None):
    arguments = {"reservation_id": reservation_id, "cabin": cabin, "flights": flights, "payment_id": CARD}
    return called("update_reservation_flights", code, **arguments)


def change_passengers(people, code=None):
    return called("update_reservation_passengers", code, reservation_id=MINE, passengers=people)


def set_bags(total, code=None):
    arguments = {"total_baggages": total, "nonfree_baggages": 0, "payment_id": CARD}
    return called("update_reservation_baggages", code, reservation_id=MINE, **arguments)


def certificate(amount, user_id=ANN, code=None):
    return called("send_certificate", code, user_id=user_id, amount=amount)


def yes_to(event):
    return yes(event.call.name, **event.call.arguments)


def pays(**amounts):
    return [{"payment_id": key, "amount": amount} for key, amount in amounts.items()]


PROFILE, PROFILE_BOB = member("regular"), member("regular", BOB)
NOBODY = called("get_user_details", "user_not_found", user_id="no_body_0000")
LOOK, LOOK_BOBS = shown(), shown(BOBS)
NOT_SEEN = called("get_reservation_details", "reservation_not_found", reservation_id=MINE)
AIRPORTS = called("list_all_airports")
SEARCH = called("search_direct_flight", origin="BOS", destination="SFO", date="2025-07-04")
CANCEL, CANCEL_YES = cancel(), yes("cancel_reservation", reservation_id=MINE)
COMPLAINT = wish("compensation")
CALLED_OFF, DELAYED = ("available", "cancelled"), ("on time", "delayed")
INSURED = shown(insurance="yes")
ALSO_OFF = shown(ALSO_MINE, statuses=CALLED_OFF, passengers=2, cabin="business")


# --- A correct agent

READING = Reading(
    start=[
        wish("cancel", reservation_id=MINE, reason="health"),
        Said("What is your user id?"),
        inform("user_id", ANN),
    ],
    find=PROFILE,
    anybody=[AIRPORTS, SEARCH],
    own=[INSURED, ALSO_OFF],
    end=[
        Said("Shall I cancel reservation A1AA1A?"),
        CANCEL_YES,
        CANCEL,
        Said("Reservation A1AA1A is cancelled. Anything else?"),
        wish("compensation", 1),
        Said("Shall I send you a certificate of $200 for B2BB2B?"),
        yes_to(certificate(200)),
        certificate(200),
        wish("out_of_scope", 2),
        TRANSFER,
    ],
)


# --- Whatever happens

reservations = st.sampled_from([MINE, ALSO_MINE, BOBS])
users = st.sampled_from([ANN, BOB])
cabins = st.sampled_from(["basic_economy", "economy", "business"])
itineraries = st.sampled_from([FLIGHTS, OTHER_FLIGHTS, OTHER_DATE, FLIGHTS[:1]])
codes = st.sampled_from([None, None, None, "already_flown", "bags_only_added", "certificate_not_allowed"])
states = st.fixed_dictionaries(
    {
        "cabin": cabins,
        "created": st.sampled_from([DAY_AGO, OVER_A_DAY_AGO]),
        "insurance": st.sampled_from(["yes", "no"]),
        "passengers": st.integers(1, 3),
        "statuses": st.sampled_from([("available", "available"), CALLED_OFF, DELAYED]),
    }
)
"""States of a reservation."""
ARGUMENTS = {
    "book_reservation": {"user_id": users, "cabin": cabins, "flights": itineraries},
    "cancel_reservation": {"reservation_id": reservations},
    "send_certificate": {"user_id": users, "amount": st.sampled_from([50, 100, 200])},
    "update_reservation_baggages": {"reservation_id": reservations, "total_baggages": st.integers(0, 3)},
    "update_reservation_flights": {"reservation_id": reservations, "cabin": cabins, "flights": itineraries},
    "update_reservation_passengers": {"reservation_id": reservations},
    "search_direct_flight": {},
    "think": {},
    "transfer_to_human_agents": {},
}
looks = st.builds(lambda key, state: shown(key, **state), reservations, states) | st.builds(
    member, st.sampled_from(["regular", "silver", "gold"]), users
)
others = st.sampled_from(
    [
        *[DENY, ASK, ACCEPT_NO, INSIST, wish("cancel"), wish("cancel", 1), COMPLAINT, wish("out_of_scope")],
        *[inform("reason", reason) for reason in (*booking.COVERED_REASONS, "plans")],
        *[correct("reservation_id", key) for key in (MINE, ALSO_MINE)],
    ]
)
calls = looks | calls_of(called, ARGUMENTS, codes)
says = st.sampled_from(["Hello", "A1AA1A and HAT010", "C3CC3C, HAT999", ANN, "I suggest HAT010"])
