"""Payments, refunds, gift cards and certificates: nothing is lost, doubled or made up."""

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
    changes,
    forked,
    of_source,
    offer_of,
    price_of,
    profile,
    put_methods,
)

from tool_envs.booking.codes import state_digest
from tool_envs.booking.rows import CERTIFICATE, GIFT_CARD, MAX_METHODS, MAX_PAYMENTS
from tool_envs.database import Database

USER = BASE.user_id(CUSTOMER)


@pytest.fixture
def database():
    return Database(BASE)


def paid_with(*amounts, **choices):
    """A booking of one flight paid with these, and the rest with a credit card."""
    arguments = booking(CUSTOMER, offer_of(1), **choices)
    rest = price_of(arguments) - sum(amount for _, amount in amounts)
    payments = [{"payment_id": method, "amount": amount} for method, amount in [*amounts, (CARD, rest)]]
    return {**arguments, "payments": payments}


def balances(database):
    return {key: method.get("amount") for key, method in profile(database, CUSTOMER)["payments"].items()}


def history(shown):
    return [(entry["payment_id"], entry["amount"]) for entry in shown["payment_history"]]


def cancel(database, made):
    return answer(database, "cancel_reservation", reservation_id=made["reservation_id"])


def test_the_order_in_which_payments_are_named_makes_no_difference(database):
    gift, certificate = put_methods(database, CUSTOMER, [GIFT_CARD, CERTIFICATE], balance=20_00)
    arguments = paid_with((certificate, 5), (gift, 20))
    digests = set()
    for payments in itertools.permutations(arguments["payments"]):
        other = forked(database)
        answer(other, "book_reservation", **{**arguments, "payments": list(payments)})
        digests.add(state_digest(other))

    assert len(digests) == 1


def test_a_gift_card_pays_its_part_and_a_certificate_is_used_up(database):
    gift, certificate = put_methods(database, CUSTOMER, [GIFT_CARD, CERTIFICATE], balance=50_00)

    answer(database, "book_reservation", **paid_with((gift, 20), (certificate, 5)))

    assert balances(database)[gift] == 30
    assert certificate not in balances(database)


def test_a_refund_goes_back_to_what_paid(database):
    gift, certificate = put_methods(database, CUSTOMER, [GIFT_CARD, CERTIFICATE], balance=50_00)
    made = answer(database, "book_reservation", **paid_with((gift, 20), (certificate, 5)))

    shown = cancel(database, made)

    assert (balances(database)[gift], balances(database)[certificate]) == (50, 5)
    assert history(shown) == [*history(made), *((method, -amount) for method, amount in history(made))]
    assert shown["status"] == "cancelled"


def test_a_reservation_is_refunded_once(database):
    (gift,) = put_methods(database, CUSTOMER, [GIFT_CARD], balance=50_00)
    made = answer(database, "book_reservation", **paid_with((gift, 20)))
    shown = cancel(database, made)
    named = {"reservation_id": made["reservation_id"]}

    assert call(database, "cancel_reservation", **named).code == "already_cancelled"
    assert answer(database, "get_reservation_details", **named) == shown
    assert balances(database)[gift] == 50


def test_what_a_change_refunded_is_not_refunded_again(database):
    """A gift card gets the difference of a cheaper cabin; so the cancellation gives the credit card less."""
    (gift,) = put_methods(database, CUSTOMER, [GIFT_CARD], balance=10_00)
    arguments = booking(CUSTOMER, offer_of(1), cabin="business")
    made = answer(database, "book_reservation", **arguments)
    named = {"reservation_id": made["reservation_id"], "flights": arguments["flights"], "payment_id": gift}
    cheaper = answer(database, "update_reservation_flights", **named, cabin="basic_economy")
    refund = -history(cheaper)[1][1]
    assert balances(database)[gift] == 10 + refund > 10

    shown = cancel(database, made)

    assert history(shown)[2:] == [(CARD, refund - price_of(arguments))]
    assert balances(database)[gift] == 10 + refund


def test_who_paid_first_is_refunded_first(database):
    """Two gift cards paid, and the credit card got more back than it paid: one gift card gets less."""
    one, other = put_methods(database, CUSTOMER, [GIFT_CARD] * 2, balance=900_00)
    arguments = paid_with(cabin="business")
    price = price_of(arguments)
    shares = [{"payment_id": one, "amount": price - 30}, {"payment_id": other, "amount": 30}]
    made = answer(database, "book_reservation", **{**arguments, "payments": shares})
    named = {"reservation_id": made["reservation_id"], "flights": arguments["flights"], "payment_id": CARD}
    cheaper = answer(database, "update_reservation_flights", **named, cabin="economy")
    kept = price + history(cheaper)[-1][1]
    assert 30 < kept < price - 30

    shown = cancel(database, made)

    assert history(shown)[3:] == [(one, -kept)]
    assert (balances(database)[one], balances(database)[other]) == (900 - price + 30 + kept, 870)


def test_a_certificate_comes_back_with_what_it_paid_and_can_pay_again(database):
    (certificate,) = put_methods(database, CUSTOMER, [CERTIFICATE], balance=50_00)
    for amount in (30, 20):
        cancel(database, answer(database, "book_reservation", **paid_with((certificate, amount))))
        assert balances(database)[certificate] == amount

    assert call(database, "book_reservation", **paid_with((certificate, 21))).code == "insufficient_balance"


def test_a_booking_that_fails_at_its_last_payment_takes_nothing(database):
    gift, other = put_methods(database, CUSTOMER, [GIFT_CARD] * 2, balance=20_00)
    before = changes(database)

    assert (
        call(database, "book_reservation", **paid_with((gift, 20), (other, 21))).code
        == "insufficient_balance"
    )
    assert changes(database) == before


def test_a_certificate_named_twice_is_not_used_up(database):
    (certificate,) = put_methods(database, CUSTOMER, [CERTIFICATE], balance=50_00)
    arguments = paid_with((certificate, 5), (certificate, 5))

    assert call(database, "book_reservation", **arguments).code == "same_payment_method_twice"
    assert balances(database)[certificate] == 50


def test_a_gift_card_is_never_overdrawn_by_a_change(database):
    (gift,) = put_methods(database, CUSTOMER, [GIFT_CARD], balance=1_00)
    arguments = paid_with()
    made = answer(database, "book_reservation", **arguments)
    named = {"reservation_id": made["reservation_id"], "flights": arguments["flights"], "payment_id": gift}

    result = call(database, "update_reservation_flights", **named, cabin="business")

    assert result.code == "insufficient_balance"
    assert balances(database)[gift] == 1


def test_what_was_paid_too_often_to_change_can_still_be_refunded(database):
    gifts = put_methods(database, CUSTOMER, [GIFT_CARD] * 3, balance=900_00)
    arguments = paid_with(*((gift, 20) for gift in gifts))
    made = answer(database, "book_reservation", **arguments)
    named = {"reservation_id": made["reservation_id"], "flights": arguments["flights"], "payment_id": CARD}
    for cabin in itertools.cycle(["business", "economy"]):
        if call(database, "update_reservation_flights", **named, cabin=cabin).code == "too_many_changes":
            break

    shown = cancel(database, made)

    assert sum(amount for _, amount in history(shown)) == 0
    assert len(shown["payment_history"]) <= MAX_PAYMENTS
    assert [balances(database)[gift] for gift in gifts] == [900] * 3


def test_insurance_costs_thirty_dollars_for_each_passenger(database):
    with_it, without = (paid_with(passengers=3, insurance=insurance) for insurance in ("yes", "no"))
    assert price_of(with_it) == price_of(without) + 90

    too_little = {**with_it, "payments": without["payments"]}
    assert call(database, "book_reservation", **too_little).code == "payments_do_not_add_up"
    assert answer(database, "book_reservation", **with_it)["insurance"] == "yes"


def test_a_number_counts_the_same_however_it_is_written():
    """To JSON Schema 9.0 is an integer."""
    arguments = paid_with(bags=9)
    floats = {
        "payments": [{"payment_id": CARD, "amount": float(price_of(arguments))}],
        "total_baggages": 9.0,
        "nonfree_baggages": float(arguments["nonfree_baggages"]),
    }
    texts = set()
    for number, booked in ((10, arguments), (10.0, {**arguments, **floats})):
        database = Database(BASE)
        made = call(database, "book_reservation", **booked)
        sent = call(database, "send_certificate", user_id=USER, amount=number)
        named = {"reservation_id": json.loads(made.content)["reservation_id"], "payment_id": CARD}
        bags = {"total_baggages": number, "nonfree_baggages": arguments["nonfree_baggages"] + number - 9}
        added = call(database, "update_reservation_baggages", **named, **bags)
        texts.add((made.content, sent.content, added.content, json.dumps([*changes(database).values()])))

    assert len(texts) == 1


def test_certificates_can_be_sent_until_the_profile_is_full(database):
    before, sent = of_source(profile(database, CUSTOMER), "certificate"), 0
    while call(database, "send_certificate", user_id=USER, amount=75 + sent).code is None:
        sent += 1

    now = profile(database, CUSTOMER)
    new = [method for method in of_source(now, "certificate") if method not in before]
    assert [now["payments"][method]["amount"] for method in new] == [75 + number for number in range(sent)]
    assert sent == MAX_METHODS - BASE.customer(CUSTOMER).methods > 3
