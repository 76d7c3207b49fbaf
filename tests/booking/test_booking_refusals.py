"""Every reason to refuse: a call that runs into it, and no trace of that call."""

import itertools
import json

import pytest
from booking_calls import (
    BASE,
    CARD,
    CUSTOMER,
    answer,
    booking,
    call,
    chosen,
    nonfree,
    offer_of,
    people,
    profile,
    put_departure,
    put_methods,
    round_trip,
)

from tool_envs.booking.refusals import No
from tool_envs.booking.rows import (
    AVAILABLE,
    CALLED_OFF,
    CERTIFICATE,
    CREDIT_CARD,
    FLYING,
    GIFT_CARD,
    LANDED,
    MAX_METHODS,
    MAX_PAYMENTS,
    MAX_RESERVATIONS,
)
from tool_envs.database import Database

FLOWN = (LANDED, FLYING)


def wanted(flights=1, **choices):
    return booking(CUSTOMER, offer_of(flights), **choices)


def reservation_where(condition):
    """A reservation as its owner's calls name it, by its row."""
    for customer, number in BASE.reservation_places():
        row = BASE.reservation(customer, number)
        statuses = [
            BASE.departure(*place).status for place in zip(row.flight[: row.segments], row.day, strict=False)
        ]
        if condition(row, statuses):
            return customer, {"reservation_id": BASE.reservation_id(customer, number)}
    raise LookupError


def upcoming(row, statuses):
    return not row.cancelled and all(status == AVAILABLE for status in statuses)


def flown(row, statuses):
    return not row.cancelled and any(status in FLOWN for status in statuses)


def change_of(named, **fields):
    """Arguments that leave the flights of a reservation as they are, but for what is given."""
    shown = answer(Database(BASE), "get_reservation_details", **named)
    card = BASE.method_ids(BASE.find_user(shown["user_id"]))[0]
    return {
        **named,
        "cabin": shown["cabin"],
        "flights": chosen(shown["flights"]),
        "payment_id": card,
        **fields,
    }


def bags_of(named, more, **fields):
    """Arguments that add bags to a reservation."""
    shown = answer(Database(BASE), "get_reservation_details", **named)
    customer, total = BASE.find_user(shown["user_id"]), shown["total_baggages"] + more
    to_pay = max(
        shown["nonfree_baggages"], nonfree(customer, shown["cabin"], len(shown["passengers"]), total)
    )
    card = BASE.method_ids(customer)[0]
    return {**named, "total_baggages": total, "nonfree_baggages": to_pay, "payment_id": card, **fields}


def pay(*amounts):
    """The booking of one flight, paid with what is given instead; the rest with a credit card."""
    arguments = wanted()
    rest = arguments["payments"][0]["amount"] - sum(amount for _, amount in amounts)
    payments = [{"payment_id": method, "amount": amount} for method, amount in amounts]
    if rest:
        payments.append({"payment_id": CARD, "amount": rest})
    return {**arguments, "payments": payments}


# --- A scene for each reason: gets a database to prepare, and answers the call that is refused

SCENES = {}


def scene(function):
    SCENES[function.__name__] = function
    return function


@scene
def user_not_found(_):
    ids = (f"jane_roe_{number:04}" for number in range(10_000))
    return "get_user_details", {"user_id": next(each for each in ids if BASE.find_user(each) is None)}


@scene
def reservation_not_found(_):
    return "cancel_reservation", {"reservation_id": BASE.reservation_id(CUSTOMER, MAX_RESERVATIONS - 1)}


@scene
def airport_not_found(_):
    return "book_reservation", {**wanted(), "destination": "QQQ"}


@scene
def flight_not_found(_):
    arguments = wanted()
    return "book_reservation", {
        **arguments,
        "flights": [{**arguments["flights"][0], "flight_number": "HAT999"}],
    }


@scene
def date_out_of_range(_):
    arguments = wanted()
    return "book_reservation", {**arguments, "flights": [{**arguments["flights"][0], "date": "2025-07-16"}]}


@scene
def same_airport(_):
    there = offer_of(1)[0]
    return "book_reservation", {**wanted(), "destination": there["origin"]}


@scene
def flights_not_connected(_):
    arguments = wanted()
    return "book_reservation", {**arguments, "flights": arguments["flights"] * 2}


@scene
def connection_too_short(_):
    arguments = wanted(2)
    first, second = arguments["flights"]
    return "book_reservation", {**arguments, "flights": [{**first, "date": "2025-07-15"}, second]}


@scene
def wrong_route(_):
    other = next(iata for iata in BASE.airport_codes if iata not in wanted().values())
    return "book_reservation", {**wanted(), "destination": other}


@scene
def flight_not_available(database):
    put_departure(database, offer_of(1)[0], status=CALLED_OFF)
    return "book_reservation", wanted()


@scene
def not_enough_seats(database):
    put_departure(database, offer_of(1)[0], seats=[20, 1, 20])
    return "book_reservation", wanted(passengers=2)


@scene
def same_passenger_twice(_):
    return "book_reservation", {**wanted(passengers=2), "passengers": people(CUSTOMER, 1) * 2}


@scene
def passenger_count_fixed(_):
    customer, named = reservation_where(lambda row, statuses: row.passengers == 1 and upcoming(row, statuses))
    return "update_reservation_passengers", {**named, "passengers": people(customer, 2)}


@scene
def wrong_nonfree_baggages(_):
    return "book_reservation", {**wanted(bags=9), "nonfree_baggages": 0}


@scene
def bags_only_added(_):
    _, named = reservation_where(lambda row, statuses: row.total_bags > 0 and upcoming(row, statuses))
    return "update_reservation_baggages", bags_of(named, -1)


@scene
def already_cancelled(database):
    _, named = reservation_where(upcoming)
    answer(database, "cancel_reservation", **named)
    return "cancel_reservation", named


@scene
def already_flown(_):
    return "cancel_reservation", reservation_where(flown)[1]


@scene
def nothing_to_change(_):
    return "update_reservation_flights", change_of(reservation_where(upcoming)[1])


@scene
def payment_method_not_found(_):
    return "book_reservation", pay((BASE.method_ids(CUSTOMER + 1)[0], 1))


@scene
def same_payment_method_twice(_):
    return "book_reservation", pay((CARD, 1))


@scene
def too_many_certificates(database):
    one, other = put_methods(database, CUSTOMER, [CERTIFICATE] * 2)
    return "book_reservation", pay((one, 1), (other, 1))


@scene
def too_many_gift_cards(database):
    cards = put_methods(database, CUSTOMER, [GIFT_CARD] * 4)
    return "book_reservation", pay(*((card, 1) for card in cards))


@scene
def too_many_credit_cards(database):
    (other,) = put_methods(database, CUSTOMER, [CREDIT_CARD])
    return "book_reservation", pay((other, 1))


@scene
def certificate_not_allowed(database):
    (certificate,) = put_methods(database, CUSTOMER, [CERTIFICATE])
    named = {"reservation_id": answer(database, "book_reservation", **wanted())["reservation_id"]}
    return "update_reservation_baggages", {
        **named,
        "total_baggages": 1,
        "nonfree_baggages": nonfree(CUSTOMER, "economy", 1, 1),
        "payment_id": certificate,
    }


@scene
def insufficient_balance(database):
    (card,) = put_methods(database, CUSTOMER, [GIFT_CARD], balance=9_00)
    return "book_reservation", pay((card, 10))


@scene
def payments_do_not_add_up(_):
    arguments = wanted()
    payment = arguments["payments"][0]
    return "book_reservation", {**arguments, "payments": [{**payment, "amount": payment["amount"] + 1}]}


@scene
def too_many_changes(database):
    arguments = wanted()
    named = {"reservation_id": answer(database, "book_reservation", **arguments)["reservation_id"]}
    cabins = itertools.cycle(["business", "economy"])
    for _ in range(MAX_PAYMENTS):
        change = {**named, "flights": arguments["flights"], "cabin": next(cabins), "payment_id": CARD}
        if call(database, "update_reservation_flights", **change).code:
            return "update_reservation_flights", change
    raise LookupError


@scene
def too_many_reservations(database):
    for _ in range(MAX_RESERVATIONS - BASE.customer(CUSTOMER).reservations):
        made = answer(database, "book_reservation", **wanted())
        answer(database, "cancel_reservation", reservation_id=made["reservation_id"])
    return "book_reservation", wanted()


@scene
def too_many_payment_methods(database):
    put_methods(database, CUSTOMER, [CERTIFICATE] * (MAX_METHODS - BASE.customer(CUSTOMER).methods))
    return "send_certificate", {"user_id": BASE.user_id(CUSTOMER), "amount": 100}


@pytest.mark.parametrize("no", No, ids=lambda no: no.name.lower())
def test_every_reason_is_reached_and_leaves_no_trace(no):
    database = Database(BASE)
    name, arguments = SCENES[no.name.lower()](database)
    before = database.snapshot()

    result = call(database, name, **arguments)

    assert result.code == no.name.lower()
    assert json.loads(result.content)["error"]["message"] == no.refusal.message
    assert database.changed == before


def test_every_reason_has_a_sentence_of_its_own():
    sentences = {no.refusal.message for no in No}

    assert len(sentences) == len(No)
    assert all(sentence.endswith(".") for sentence in sentences)


# --- The same reasons elsewhere


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("cancel_reservation", lambda named: named),
        ("update_reservation_flights", lambda named: change_of(named, cabin="business")),
        ("update_reservation_baggages", lambda named: bags_of(named, 1)),
        ("update_reservation_passengers", lambda named: {**named, "passengers": people(3, 1)}),
    ],
)
def test_a_cancelled_reservation_stays_as_it_is(name, arguments):
    database = Database(BASE)
    _, named = reservation_where(lambda row, statuses: row.passengers == 1 and upcoming(row, statuses))
    answer(database, "cancel_reservation", **named)

    assert call(database, name, **arguments(named)).code == "already_cancelled"


def test_a_reservation_that_was_cancelled_before_stays_as_it_is():
    _, named = reservation_where(lambda row, _: row.cancelled)

    assert call(Database(BASE), "cancel_reservation", **named).code == "already_cancelled"


def test_as_many_bags_as_before_are_no_change_whatever_they_cost():
    """In a cheaper cabin fewer bags are free; those that came with the old one are not paid for later."""
    total = next(bags for bags in range(9) if nonfree(CUSTOMER, "business", 1, bags + 1))
    database, arguments = Database(BASE), wanted(cabin="business", bags=total)
    made = answer(database, "book_reservation", **arguments)
    named = {"reservation_id": made["reservation_id"], "payment_id": CARD}
    change = {"flights": arguments["flights"], "cabin": "basic_economy"}
    shown = answer(database, "update_reservation_flights", **named, **change)
    assert (shown["total_baggages"], shown["nonfree_baggages"]) == (total, 0)

    bags = {"total_baggages": total, "nonfree_baggages": nonfree(CUSTOMER, "basic_economy", 1, total)}
    result = call(database, "update_reservation_baggages", **named, **bags)

    assert bags["nonfree_baggages"] > 0
    assert result.code == "nothing_to_change"


def partly_flown(row, statuses):
    return not row.cancelled and statuses[0] in FLOWN and statuses[-1] == AVAILABLE and row.cabin != 2


def test_a_flight_that_left_is_neither_dropped_nor_repriced():
    _, named = reservation_where(partly_flown)
    as_it_is = change_of(named)
    refused = [
        change_of(named, flights=as_it_is["flights"][1:]),
        change_of(named, flights=[{**as_it_is["flights"][0], "date": "2025-07-05"}]),
        change_of(named, cabin="business"),
    ]

    codes = [call(Database(BASE), "update_reservation_flights", **change).code for change in refused]

    assert codes == ["already_flown"] * 3


@pytest.mark.parametrize(
    ("flights", "code"),
    [
        (lambda legs: [legs[1]], "wrong_route"),
        (lambda legs: [legs[0]], "wrong_route"),
        (lambda legs: legs[::-1], "flights_not_connected"),
        (lambda legs: [*legs, legs[1]], "flights_not_connected"),
        (lambda legs: [legs[0], {**legs[1], "flight_number": "HAT999"}], "flight_not_found"),
        (lambda legs: [legs[0], {**legs[1], "date": "2025-01-01"}], "date_out_of_range"),
        (lambda legs: [legs[0], {**legs[1], "date": "2025-06-20"}], "connection_too_short"),
    ],
)
def test_flights_that_do_not_make_the_trip_are_refused(flights, code):
    arguments = wanted(2)

    result = call(
        Database(BASE), "book_reservation", **{**arguments, "flights": flights(arguments["flights"])}
    )

    assert result.code == code


def test_a_round_trip_goes_to_its_destination_and_back():
    there, back = round_trip(18, 22)
    right = booking(CUSTOMER, there, back)
    visited = {flight["origin"] for flight in (*there, *back)}
    wrong = [
        {**right, "flight_type": "one_way"},
        {**booking(CUSTOMER, there), "flight_type": "round_trip"},
        {**right, "destination": next(iata for iata in BASE.airport_codes if iata not in visited)},
        {**right, "flights": right["flights"][::-1]},
    ]
    codes = [call(Database(BASE), "book_reservation", **each).code for each in (right, *wrong)]

    assert codes == [None, "wrong_route", "wrong_route", "wrong_route", "connection_too_short"]


@pytest.mark.parametrize(
    ("source", "amounts", "code"),
    [
        (GIFT_CARD, (30, 30, 30), None),
        (GIFT_CARD, (31, 30), "insufficient_balance"),
        (CERTIFICATE, (30,), None),
        (CERTIFICATE, (31,), "insufficient_balance"),
        (CERTIFICATE, (30, 1), "too_many_certificates"),
        (CREDIT_CARD, (30,), "too_many_credit_cards"),
    ],
)
def test_what_a_booking_can_be_paid_with(source, amounts, code):
    database = Database(BASE)
    methods = put_methods(database, CUSTOMER, [source] * len(amounts), balance=30_00)

    result = call(database, "book_reservation", **pay(*zip(methods, amounts, strict=True)))

    assert result.code == code


@pytest.mark.parametrize("amount", [0, -100, 1.5, "100", True])
def test_no_amount_is_below_one_dollar_or_broken(amount):
    arguments = wanted()
    payments = [{**arguments["payments"][0], "amount": amount}]
    booked = call(Database(BASE), "book_reservation", **{**arguments, "payments": payments})
    sent = call(Database(BASE), "send_certificate", user_id=BASE.user_id(CUSTOMER), amount=amount)

    assert (booked.code, sent.code) == ("invalid_arguments", "invalid_arguments")


@pytest.mark.parametrize(
    "wrong",
    [
        {"flights": []},
        {"passengers": []},
        {"passengers": people(CUSTOMER, 6)},
        {"payments": []},
        {"total_baggages": -1},
        {"flight_type": "multi_city"},
        {"cabin": "first"},
    ],
)
def test_what_no_booking_can_have_is_not_valid(wrong):
    assert call(Database(BASE), "book_reservation", **{**wanted(), **wrong}).code == "invalid_arguments"


def test_nobody_sets_the_price_of_a_flight():
    arguments = wanted()
    arguments["flights"] = [{**arguments["flights"][0], "price": 1}]

    assert call(Database(BASE), "book_reservation", **arguments).code == "invalid_arguments"


def test_a_used_certificate_is_no_payment_method_any_more():
    database = Database(BASE)
    (certificate,) = put_methods(database, CUSTOMER, [CERTIFICATE], balance=100_00)
    answer(database, "book_reservation", **pay((certificate, 10)))

    assert certificate not in profile(database, CUSTOMER)["payments"]
    assert call(database, "book_reservation", **pay((certificate, 10))).code == "payment_method_not_found"
