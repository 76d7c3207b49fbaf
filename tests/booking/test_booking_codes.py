"""Rows as JSON: what the schemas describe, the same whether or not it comes from a cache; texts as codes."""

import itertools

import orjson
import pytest
from booking_rows import departures_of, reservations_of
from hypothesis import given
from hypothesis import strategies as st
from jsonschema_rs import Draft202012Validator

from tool_envs.booking.codes import (
    base_of,
    changed_records,
    customer_row,
    departure_row,
    method_code,
    method_ids,
    passenger_code,
    passenger_now,
    renderer,
    reservation_row,
    state_digest,
)
from tool_envs.booking.data import booking_base
from tool_envs.booking.rows import AVAILABLE, CERTIFICATE, STATUSES, Passenger
from tool_envs.database import Database
from tool_envs.schema import load_schema

PAYMENTS_NAMES = {"1.0.0": "payment_methods", "1.1.0": "payment_methods", "2.0.0": "payments"}
every_version = pytest.mark.parametrize("version", PAYMENTS_NAMES)
STRANGER = Passenger("Nobody", "Else", "1990-01-01")


def result_of(version, tool):
    return Draft202012Validator(load_schema("booking", version).tools[tool].result)


def look_of(base, version="1.0.0"):
    return renderer(base, PAYMENTS_NAMES[version])


def available(base, flights, day):
    departures = [base.departure(flight, day) for flight in flights]
    return [departure for departure in departures if departure.status == AVAILABLE]


# --- What the schemas say


@every_version
def test_every_reservation_is_what_the_schema_describes(base, version):
    database, look, result = (
        Database(base),
        look_of(base, version),
        result_of(version, "get_reservation_details"),
    )

    for reservation in reservations_of(base):
        assert result.is_valid(look.reservation_json(database, reservation))


@every_version
def test_every_user_is_what_the_schema_describes(base, version):
    look, result = look_of(base, version), result_of(version, "get_user_details")

    for customer in base.tables["customers"].values():
        assert result.is_valid(look.user_json(customer))


@every_version
def test_flights_are_what_the_schema_describes(base, version):
    look = look_of(base, version)
    direct, one_stop = result_of(version, "search_direct_flight"), result_of(version, "search_onestop_flight")
    offers = 0

    for pair in itertools.permutations(range(20), 2):
        flights = available(base, base.routes(*pair), 20)
        pairs = [
            legs
            for connection in base.connections(*pair)
            if len(legs := available(base, connection, 21)) == 2
        ]
        offers += len(pairs)
        assert direct.is_valid(orjson.loads(look.direct_text(flights)))
        assert one_stop.is_valid(orjson.loads(look.one_stop_text(pairs)))
    assert offers


@pytest.mark.parametrize("version", ["1.1.0", "2.0.0"])
def test_every_status_is_what_the_schema_describes(base, version):
    look, result = look_of(base, version), result_of(version, "get_flight_status")

    for departure in departures_of(base)[::3]:
        assert result.is_valid(orjson.loads(look.status_text(departure)))


@every_version
def test_the_list_of_airports_is_what_the_schema_describes(version):
    answer = orjson.loads(look_of(booking_base(), version).airport_list_text)

    assert result_of(version, "list_all_airports").is_valid(answer)
    assert len(answer["airports"]) == 20
    assert answer["airports"]["BOS"] == "Boston"


# --- Values


def test_a_reservation_says_what_its_row_says(base):
    database, look = Database(base), look_of(base)

    for row in reservations_of(base):
        shown = look.reservation_json(database, row)
        assert base.find_reservation(shown["reservation_id"]) == (row.customer, row.number)
        assert base.find_user(shown["user_id"]) == row.customer
        assert [base.find_flight(each["flight_number"]) for each in shown["flights"]] == row.flight[
            : row.segments
        ]
        assert [base.find_date(each["date"]) for each in shown["flights"]] == row.day[: row.segments]
        assert [100 * each["price"] for each in shown["flights"]] == row.price[: row.segments]
        assert shown["flights"][0]["origin"] == shown["origin"]
        assert shown["passengers"][0] == base.passenger(row.passenger[0])._asdict()
        assert sum(100 * each["amount"] for each in shown["payment_history"]) == sum(row.payment_amount)
        for leg in shown["flights"]:
            place = base.find_departure(f"{leg['flight_number']} {leg['date']}")
            assert leg["status"] == STATUSES[base.departure(*place).status]


def test_a_certificate_that_paid_is_gone_from_the_profile(base):
    look = look_of(base)
    gone = 0

    for row in base.tables["customers"].values():
        shown = look.user_json(row)["payment_methods"]
        for method, method_id in enumerate(base.method_ids(row.index)):
            is_used_up = row.method_kind[method] == CERTIFICATE and row.balance[method] == 0
            assert (method_id in shown) == (not is_used_up)
            assert method_code(base, row, method_id) == (-1 if is_used_up else method)
            gone += is_used_up
    assert gone or base.customers < 10


def test_texts_of_equal_rows_are_equal_whether_they_come_from_the_cache_or_not(base):
    database, look = Database(base), look_of(base)

    for row in reservations_of(base):
        assert look.reservation_text(database, row.copy()) == look.reservation_text(database, row)
    for row in base.tables["customers"].values():
        assert look.user_text(row.copy()) == look.user_text(row)
    for row in departures_of(base)[::7]:
        assert look.flight_text(row.copy()) == look.flight_text(row)


def test_a_version_calls_payment_methods_by_its_name():
    base = booking_base()
    old, new = (look_of(base, version).user_json(base.customer(0)) for version in ("1.1.0", "2.0.0"))

    assert new.pop("payments") == old.pop("payment_methods")
    assert old == new


# --- What an episode changes


def test_rows_are_those_of_the_episode():
    base = booking_base()
    database = Database(base)
    customer, reservation = base.customer(3).copy(), base.reservation(3, 1).copy()
    departure = base.departure(4, 20).copy()
    database.put("customers", base.user_id(3), customer)
    database.put("reservations", base.reservation_id(3, 1), reservation)
    database.put("departures", base.departure_key(4, 20), departure)

    assert base_of(database) is base
    assert customer_row(database, 3) is customer
    assert reservation_row(database, 3, 1) is reservation
    assert departure_row(database, 4, 20) is departure
    assert customer_row(database, 4) is base.customer(4)
    assert reservation_row(database, 4, 0) is base.reservation(4, 0)
    assert departure_row(database, 4, 21) is base.departure(4, 21)


def test_known_passengers_keep_their_codes_and_new_ones_are_stored_once():
    base = booking_base()
    database = Database(base)
    other = STRANGER._replace(dob="1991-01-01")

    assert passenger_code(database, 7, base.passenger(57)) == 57
    assert not database.changed
    codes = [passenger_code(database, customer, each) for each in (STRANGER, other) for customer in (7, 8)]
    assert codes == [-1, -1, -2, -2]
    assert [passenger_now(database, code) for code in (-1, -2, 57)] == [STRANGER, other, base.passenger(57)]


def test_a_new_passenger_is_shown():
    base = booking_base()
    database, row = Database(base), base.reservation(3, 1).copy()
    row.passenger[0] = passenger_code(database, 3, STRANGER)

    assert look_of(base).reservation_json(database, row)["passengers"][0] == STRANGER._asdict()


def with_new_certificate(base, customer):
    """The customer with another certificate of 100 dollars."""
    row = base.customer(customer).copy()
    row.method_kind[row.methods], row.balance[row.methods] = CERTIFICATE, 10_000
    row.methods += 1
    return row


def test_a_certificate_that_was_sent_can_pay():
    base = booking_base()
    database, row, reservation = Database(base), with_new_certificate(base, 3), base.reservation(3, 0).copy()
    reservation.payment_method[0] = row.methods - 1
    database.put("customers", base.user_id(3), row)
    shown = look_of(base).reservation_json(database, reservation)

    assert shown["payment_history"][0]["payment_id"] == method_ids(base, row)[-1]


def test_a_certificate_that_was_sent_is_a_method():
    base = booking_base()
    row = with_new_certificate(base, 3)
    new = method_ids(base, row)[-1]

    assert new not in base.method_ids(3)
    assert method_code(base, row, new) == row.methods - 1
    assert method_code(base, base.customer(3), new) == -1
    assert look_of(base).user_json(row)["payment_methods"][new] == {
        "source": "certificate",
        "amount": 100,
        "id": new,
    }


def test_a_new_reservation_is_shown_and_listed():
    base = booking_base()
    database, customer = Database(base), base.customer(3).copy()
    reservation = base.reservation(3, 0).copy()
    reservation.number = customer.reservations
    customer.reservations += 1
    reservation_id = base.reservation_id(3, reservation.number)
    database.put("customers", base.user_id(3), customer)
    database.put("reservations", reservation_id, reservation)

    shown = look_of(base).reservation_json(database, reservation)
    assert shown == look_of(base).reservation_json(database, base.reservation(3, 0)) | {
        "reservation_id": reservation_id
    }
    assert look_of(base).user_json(customer)["reservations"][-1] == reservation_id
    assert list(changed_records(database)) == [
        ("customers", base.user_id(3)),
        ("reservations", reservation_id),
    ]


def test_what_is_put_back_has_not_changed():
    base = booking_base()
    database = Database(base)
    start = state_digest(database)
    key, row = base.departure_key(4, 20), base.departure(4, 20).copy()
    row.seats[0] += 1
    database.put("departures", key, row)
    passenger_code(database, 3, STRANGER)
    assert list(changed_records(database)) == [("departures", key)]
    assert state_digest(database) != start

    database.put("departures", key, base.departure(4, 20).copy())

    assert changed_records(database) == {}
    assert state_digest(database) == start


def test_states_are_equal_whichever_way_new_passengers_came():
    base = booking_base()
    people = [STRANGER, STRANGER._replace(dob="1991-01-01")]
    row = next(each for each in reservations_of(base) if each.passengers == 2)
    digests = set()
    for order in (people, people[::-1]):
        database, changed = Database(base), row.copy()
        for person in order:
            passenger_code(database, row.customer, person)
        changed.passenger[:2] = [passenger_code(database, row.customer, person) for person in people]
        database.put("reservations", base.reservation_id(row.customer, row.number), changed)
        digests.add(state_digest(database))

    assert len(digests) == 1


@given(st.text(max_size=30))
def test_no_other_text_is_a_payment_method(text):
    base = booking_base()
    row = base.customer(0)

    assert method_code(base, row, text) == -1
    assert method_code(base, row, base.method_ids(1)[0]) == -1
