"""What bookings, changes and cancellations do to reservations, seats, bags and passengers."""

import copy

import pytest
from booking_calls import (
    BASE,
    CARD,
    CUSTOMER,
    FREE_BAGS,
    answer,
    booking,
    call,
    chosen,
    departure_of,
    free_seats,
    offer_of,
    people,
    profile,
    put_departure,
    round_trip,
)

from tool_envs.booking.rows import AVAILABLE, CABINS, CALLED_OFF, LANDED, MEMBERSHIPS, Passenger
from tool_envs.booking.writes import bags_to_pay
from tool_envs.database import Database

MEMBERSHIP = MEMBERSHIPS[BASE.customer(CUSTOMER).membership]


@pytest.fixture
def database():
    return Database(BASE)


def book(database, offer, **choices):
    return answer(database, "book_reservation", **booking(CUSTOMER, offer, **choices))


def change(database, made, **fields):
    """Change the flights of a reservation, settled with a credit card."""
    now = {"cabin": made["cabin"], "flights": chosen(made["flights"]), "payment_id": CARD}
    named = {"reservation_id": made["reservation_id"]}
    return answer(database, "update_reservation_flights", **{**named, **now, **fields})


def seats(database, flights):
    return [list(departure_of(database, flight).seats) for flight in flights]


def moved(flight, date):
    """The same flight on another day."""
    return {"flight_number": flight["flight_number"], "date": date}


# --- Seats


def test_a_booking_takes_seats_in_its_cabin_on_each_of_its_flights(database):
    offer = offer_of(2)
    before = seats(database, offer)

    book(database, offer, cabin="business", passengers=3)

    assert seats(database, offer) == [[basic, economy, business - 3] for basic, economy, business in before]


def test_no_more_seats_are_sold_than_there_are(database):
    offer, sold = offer_of(1), 0
    while call(database, "book_reservation", **booking(CUSTOMER, offer)).code is None:
        sold += 1

    assert sold == free_seats(offer, "economy")
    assert seats(database, offer)[0][1] == 0


def test_a_cancelled_reservation_gives_its_seats_back(database):
    offer = offer_of(1)
    before = seats(database, offer)
    made = book(database, offer, passengers=2)
    assert seats(database, offer) != before

    answer(database, "cancel_reservation", reservation_id=made["reservation_id"])

    assert seats(database, offer) == before


def test_a_flight_that_cannot_be_booked_any_more_gets_no_seats_back(database):
    offer = offer_of(1)
    made = book(database, offer, passengers=2)
    put_departure(database, offer[0], status=CALLED_OFF, seats=[0, 0, 0])

    answer(database, "cancel_reservation", reservation_id=made["reservation_id"])

    assert seats(database, offer) == [[0, 0, 0]]


# --- Reservations


def test_reservation_ids_are_never_given_out_twice(database):
    made = []
    for customer in [*range(40)] * 3:
        shown = answer(database, "book_reservation", **booking(customer, offer_of(1)))
        answer(database, "cancel_reservation", reservation_id=shown["reservation_id"])
        assert profile(database, customer)["reservations"][-1] == shown["reservation_id"]
        made.append(shown["reservation_id"])

    of_base = [BASE.reservation_id(*place) for place in BASE.reservation_places()]
    assert len({*made, *of_base}) == len(made) + len(of_base)


def test_a_new_reservation_is_what_was_asked_for(database):
    arguments = booking(CUSTOMER, offer_of(2), cabin="business", passengers=2, bags=9, insurance="yes")

    shown = answer(database, "book_reservation", **arguments)

    for name in ("user_id", "origin", "destination", "flight_type", "cabin", "passengers", "insurance"):
        assert shown[name] == arguments[name]
    assert chosen(shown["flights"]) == arguments["flights"]
    assert (shown["total_baggages"], shown["nonfree_baggages"]) == (9, arguments["nonfree_baggages"])
    assert (shown["status"], shown["created_at"]) == ("active", "2025-06-30T15:00:00")
    assert shown["payment_history"] == arguments["payments"]
    assert answer(database, "get_reservation_details", reservation_id=shown["reservation_id"]) == shown


def test_a_new_cabin_is_kept_with_its_prices_and_seats(database):
    offer = offer_of(2)
    before = seats(database, offer)
    made = book(database, offer, passengers=2)

    shown = change(database, made, cabin="business")

    dearer = sum(flight["prices"]["business"] - flight["prices"]["economy"] for flight in offer)
    assert shown["cabin"] == "business"
    assert [flight["price"] for flight in shown["flights"]] == [
        flight["prices"]["business"] for flight in offer
    ]
    assert shown["payment_history"] == [*made["payment_history"], {"payment_id": CARD, "amount": 2 * dearer}]
    assert seats(database, offer) == [[basic, economy, business - 2] for basic, economy, business in before]


def test_a_flight_that_stays_keeps_its_price_and_needs_no_seat(database):
    """The first of two flights is sold out and dearer by now; the second is replaced by one a day later."""
    first, second = offer_of(2)
    later = moved(second, "2025-07-07")
    before = seats(database, [second])
    made = book(database, (first, second))
    put_departure(database, first, seats=[0, 0, 0], price=[900_00, 900_00, 900_00])
    put_departure(database, later, status=AVAILABLE, seats=[5, 5, 5])

    shown = change(database, made, flights=[*chosen([first]), later])

    assert chosen(shown["flights"]) == [*chosen([first]), later]
    assert shown["flights"][0]["price"] == first["prices"]["economy"]
    assert seats(database, [first, second, later]) == [[0, 0, 0], *before, [5, 4, 5]]


def test_a_flight_that_was_called_off_can_be_replaced_or_stay(database):
    first, second = offer_of(2)
    made = book(database, (first, second))
    for flight in (first, second):
        put_departure(database, flight, status=CALLED_OFF, seats=[0, 0, 0])
    later = moved(second, "2025-07-07")
    put_departure(database, later, status=AVAILABLE, seats=[5, 5, 5])

    shown = change(database, made, flights=[*chosen([first]), later])

    assert chosen(shown["flights"]) == [*chosen([first]), later]
    assert seats(database, [first, second, later]) == [[0, 0, 0], [0, 0, 0], [5, 4, 5]]


def test_after_the_way_there_the_way_back_can_be_moved_and_not_cancelled(database):
    there, back, later = round_trip(17, 22, 24)
    made = book(database, there, back=back)
    for flight in there:
        put_departure(database, flight, status=LANDED, seats=[0, 0, 0])

    shown = change(database, made, flights=chosen([*there, *later]))

    assert chosen(shown["flights"]) == chosen([*there, *later])
    assert call(database, "cancel_reservation", reservation_id=made["reservation_id"]).code == "already_flown"


# --- Bags


@pytest.mark.parametrize("membership", MEMBERSHIPS)
@pytest.mark.parametrize("cabin", CABINS)
@pytest.mark.parametrize("passengers", [1, 3])
def test_free_bags_depend_on_membership_and_cabin(membership, cabin, passengers):
    customer = next(each for each in range(9) if profile(Database(BASE), each)["membership"] == membership)
    bags = FREE_BAGS[membership][cabin] * passengers + 1
    arguments = booking(customer, offer_of(1), cabin=cabin, passengers=passengers, bags=bags)
    codes = [
        call(Database(BASE), "book_reservation", **{**arguments, "nonfree_baggages": nonfree}).code
        for nonfree in (1, 0, 2)
    ]

    assert codes == [None, "wrong_nonfree_baggages", "wrong_nonfree_baggages"]


@pytest.mark.parametrize(("membership", "free"), [(0, (0, 1, 2)), (1, (1, 2, 3)), (2, (2, 3, 4))])
def test_the_table_of_free_bags(membership, free):
    customer, trip = BASE.customer(0).copy(), BASE.reservation(0, 0).copy()
    customer.membership, trip.passengers = membership, 1
    to_pay = []
    for cabin in range(len(CABINS)):
        trip.cabin = cabin
        to_pay.append(bags_to_pay(trip, customer, 10))

    assert to_pay == [10 - bags for bags in free]


def test_added_bags_cost_fifty_dollars_beyond_the_free_ones(database):
    free = FREE_BAGS[MEMBERSHIP]["economy"]
    made = book(database, offer_of(1))
    named = {"reservation_id": made["reservation_id"], "payment_id": CARD}

    first = answer(database, "update_reservation_baggages", **named, total_baggages=free, nonfree_baggages=0)
    assert (first["total_baggages"], first["payment_history"]) == (free, made["payment_history"])
    bags = {"total_baggages": free + 2, "nonfree_baggages": 2}
    shown = answer(database, "update_reservation_baggages", **named, **bags)

    assert bags.items() <= shown.items()
    assert shown["payment_history"] == [*made["payment_history"], {"payment_id": CARD, "amount": 100}]


def test_bags_that_were_paid_for_stay_so_in_a_better_cabin(database):
    """Business has two more free bags than basic economy: the one that was paid for would be free there."""
    total = FREE_BAGS[MEMBERSHIP]["basic_economy"] + 1
    made = book(database, offer_of(1), cabin="basic_economy", bags=total)
    shown = change(database, made, cabin="business")
    assert (shown["total_baggages"], shown["nonfree_baggages"]) == (total, 1)

    bags = {"reservation_id": shown["reservation_id"], "payment_id": CARD, "total_baggages": total + 1}
    refused = call(database, "update_reservation_baggages", **bags, nonfree_baggages=0)
    more = answer(database, "update_reservation_baggages", **bags, nonfree_baggages=1)

    assert refused.code == "wrong_nonfree_baggages"
    assert more["payment_history"] == shown["payment_history"]


# --- Passengers

ADA = {"first_name": "Ada", "last_name": "Low", "dob": "2001-01-01"}


def test_passengers_stand_in_the_order_in_which_they_were_named(database):
    arguments = booking(CUSTOMER, offer_of(1), passengers=3)
    arguments["passengers"] = arguments["passengers"][::-1]
    made = answer(database, "book_reservation", **arguments)
    assert made["passengers"] == arguments["passengers"]

    others = [made["passengers"][1], ADA, made["passengers"][0]]
    named = {"reservation_id": made["reservation_id"]}
    shown = answer(database, "update_reservation_passengers", **named, passengers=others)

    assert shown["passengers"] == others


def test_the_same_people_in_another_order_are_no_change(database):
    made = book(database, offer_of(1), passengers=3)
    turned = {"reservation_id": made["reservation_id"], "passengers": made["passengers"][::-1]}

    assert call(database, "update_reservation_passengers", **turned).code == "nothing_to_change"


def test_known_people_keep_their_codes_and_new_ones_get_one(database):
    arguments = booking(CUSTOMER, offer_of(1), passengers=2)
    arguments["passengers"][1] = ADA
    for _ in range(2):
        answer(database, "book_reservation", **arguments)

    written = [row for (table, _), row in database.changed.items() if table == "reservations"]
    assert [row.passenger[:2] for row in written] == [[CUSTOMER * 8, -1]] * 2
    assert database.get("passengers", "-1") == Passenger(**ADA)


def test_people_are_told_apart_by_their_dates_of_birth(database):
    twins = [ADA, {**ADA, "dob": "2010-01-01"}]
    arguments = {**booking(CUSTOMER, offer_of(1), passengers=2), "passengers": twins}

    assert answer(database, "book_reservation", **arguments)["passengers"] == twins


# --- Arguments


def test_arguments_are_neither_changed_nor_kept(database):
    arguments = booking(CUSTOMER, offer_of(2), passengers=2)
    before = copy.deepcopy(arguments)
    made = answer(database, "book_reservation", **arguments)
    assert arguments == before
    for name in ("flights", "passengers", "payments"):
        arguments[name][0].clear()
        arguments[name].clear()
    named = {"reservation_id": made["reservation_id"]}

    assert answer(database, "get_reservation_details", **named) == made
    assert answer(database, "cancel_reservation", **named)["passengers"] == before["passengers"]


@pytest.mark.parametrize(
    ("name", "rest"),
    [
        ("get_reservation_details", {}),
        ("cancel_reservation", {}),
        ("update_reservation_passengers", {"passengers": people(CUSTOMER, 1)}),
        ("update_reservation_baggages", {"total_baggages": 1, "nonfree_baggages": 0, "payment_id": CARD}),
        (
            "update_reservation_flights",
            {"cabin": "economy", "flights": chosen(offer_of(1)), "payment_id": CARD},
        ),
    ],
)
def test_a_missing_reservation_is_called_a_reservation(database, name, rest):
    missing = BASE.reservation_id(CUSTOMER, 63)

    assert call(database, name, reservation_id=missing, **rest).code == "reservation_not_found"


@pytest.mark.parametrize("name", ["get_user_details", "book_reservation", "send_certificate"])
def test_a_missing_user_is_called_a_user(database, name):
    user = {"user_id": "nobody_atall_0000"}
    rest = {"book_reservation": booking(CUSTOMER, offer_of(1)), "send_certificate": {"amount": 50}}

    assert call(database, name, **{**rest.get(name, {}), **user}).code == "user_not_found"
