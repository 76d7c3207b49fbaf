"""The generated airline: reachable by every id, a pure function of its seed, the same in every process."""

import re
from collections import Counter

import numpy as np
import pytest
from booking_rows import customers_of, departures_of, reservations_of
from effort import effort_ratio
from hypothesis import given
from hypothesis import strategies as st
from processes import outputs

from tool_envs.booking.codes import renderer
from tool_envs.booking.data import BookingBase, booking_base
from tool_envs.booking.dates import DATES, DAYS
from tool_envs.booking.ids import MAX_CUSTOMERS, Ids, flight_number, of_flight_number
from tool_envs.booking.rows import (
    CERTIFICATE,
    CREDIT_CARD,
    GIFT_CARD,
    MAX_METHODS,
    MAX_RESERVATIONS,
    Passenger,
)
from tool_envs.database import Database
from tool_envs.errors import UsageError

DIGEST = "7b51f675116f05a1916f4d0f7cd377a3c68e8c48087fba95b34a05731f298f10"


# --- Who is who


def test_every_record_is_found_by_its_id(base):
    for customer in range(base.customers):
        assert base.find_user(base.user_id(customer)) == customer
        for number, reservation_id in enumerate(base.reservation_ids(customer)):
            assert base.find_reservation(reservation_id) == (customer, number)
    for flight in range(base.flight_count):
        assert base.find_flight(base.flight_number(flight)) == flight
    for place in base.departure_places():
        assert base.find_departure(base.departure_key(*place)) == place
    for airport in base.airports:
        assert base.airports[base.airport_codes[airport.iata]] is airport


def test_no_two_records_share_an_id():
    base = BookingBase(20_000, 60, 3)
    customers = range(base.customers)
    reservations = [base.reservation_id(*place) for place in base.reservation_places()]
    methods = [method[-7:] for customer in customers for method in base.method_ids(customer)]

    for ids in (reservations, methods, [base.user_id(each) for each in customers]):
        assert len(set(ids)) == len(ids)
    assert len({base.email(each) for each in customers}) == base.customers


@given(
    st.integers(0, 2**64 - 1),
    st.integers(0, MAX_CUSTOMERS - 1),
    st.integers(0, MAX_RESERVATIONS - 1),
    st.integers(0, MAX_METHODS - 1),
)
def test_all_that_customers_can_ever_have_has_an_id(seed, customer, number, method):
    ids = Ids(seed)
    reservation_id = ids.reservation_id(customer, number)

    assert re.fullmatch("[A-Z][0-9][A-Z]{2}[0-9][A-Z]", reservation_id)
    assert ids.of_reservation_id(reservation_id) == (customer, number)
    assert re.fullmatch("gift_card_[0-9]{7}", ids.method_id(customer, method, GIFT_CARD))


@given(st.integers(0, 998))
def test_a_flight_number_has_three_digits(flight):
    assert re.fullmatch("HAT[0-9]{3}", flight_number(flight))
    assert of_flight_number(flight_number(flight)) == flight


@pytest.mark.parametrize("key", ["", "_", "jane_roe", "A0AA0", "a0aa0a", "A\u0660AA0A", "AAA0AA", "x" * 500])
def test_texts_that_are_no_ids_find_nothing(key):
    base = booking_base()

    assert base.find_user(key) is base.find_reservation(key) is None
    assert base.tables["departures"].get(f"{key} {DATES[0]}") is None
    assert base.tables["departures"].get(f"HAT001 {key}") is None
    assert key not in base.tables["reservations"]


@pytest.mark.parametrize(
    "number", ["HAT000", "HAT301", "HAT01", "HAT0001", "hat001", "HAT\u0660\u0660\u0661"]
)
def test_flight_numbers_outside_of_the_timetable_find_no_flight(number):
    assert booking_base().find_flight(number) is None


@given(st.text(max_size=12))
def test_any_text_is_looked_up_without_an_error(text):
    base = booking_base()

    assert base.find_user(text) is base.find_flight(text) is base.find_date(text) is None
    assert base.find_departure(text) is None
    place = base.find_reservation(text)
    assert place is None or base.reservation_id(*place) == text


@given(st.sampled_from([(500, 300, 0), (7, 60, 1)]), st.integers(0, 6), st.integers(0, 4))
def test_an_id_of_a_reservation_that_is_not_there_finds_none(size, customer, beyond):
    base = booking_base(*size)
    number = base.customer(customer).reservations + beyond

    assert base.find_reservation(base.reservation_id(customer, number)) is None
    assert base.find_reservation(base.reservation_id(base.customers + customer, 0)) is None


def test_customers_of_a_larger_airline_are_nobody_here():
    small, large = BookingBase(5, 60, 2), BookingBase(50, 60, 2)

    assert small.find_user(large.user_id(4)) == 4
    assert all(small.find_user(large.user_id(customer)) is None for customer in range(5, 50))


# --- Customers


def test_five_customers_in_a_row_have_twenty_reservations(base):
    counts = [customer.reservations for customer in customers_of(base)]
    groups = [counts[start : start + 5] for start in range(0, len(counts), 5)]

    assert all(sorted(group) == [2, 3, 4, 5, 6] for group in groups)
    assert len(base.tables["reservations"]) == 4 * base.customers


def test_customers_have_payment_methods_of_all_kinds(base):
    for customer in customers_of(base):
        kinds = Counter(customer.method_kind[: customer.methods])
        assert 1 <= kinds[CREDIT_CARD] <= 2
        assert kinds[GIFT_CARD] <= 2
        assert kinds[CERTIFICATE] <= 2
        assert customer.methods <= 5
        for kind, balance in zip(customer.method_kind, customer.balance, strict=True):
            assert balance in {CREDIT_CARD: [0], GIFT_CARD: range(2_000, 40_001, 100)}.get(
                kind, range(0, 50_001, 5_000)
            )


def test_customers_are_members_of_all_kinds_and_hold_all_kinds_of_methods():
    customers = customers_of(booking_base())
    members = Counter(customer.membership for customer in customers)
    all_kinds = [
        customer
        for customer in customers
        if customer.balance[: customer.methods].count(0) < customer.methods
        and {GIFT_CARD, CERTIFICATE}
        <= {kind for kind, held in zip(customer.method_kind, customer.balance, strict=True) if held}
    ]

    assert [members[membership] / 500 for membership in range(3)] == pytest.approx([0.5, 0.3, 0.2], abs=0.06)
    assert len(all_kinds) > 100


def test_a_customer_books_for_others_of_different_names(base):
    for customer in range(base.customers):
        saved = base.saved_passengers(customer)
        people = [base.passenger(customer * 8), *saved]
        assert 1 <= len(saved) <= 4
        assert len({each[:2] for each in people}) == len(people)
        assert people[0] == Passenger(*base.name(customer), base.dob(customer))
        assert all("1945-01-01" < each.dob < "2025-01-01" for each in people)
        assert base.dob(customer) < "2007-06-16"
        for code, passenger in enumerate(people, customer * 8):
            assert base.passenger(code) == passenger
            assert base.passenger_code(customer, passenger) == code
        assert base.passenger_code(customer, Passenger("Nobody", "Else", "1990-01-01")) == -1


# --- The same everywhere


def test_the_data_is_the_one_that_was_released():
    """Another digest means other data: then `GENERATOR` and this digest change, and scores start anew."""
    assert BookingBase().digest == DIGEST


def test_another_seed_or_size_is_other_data():
    sizes = [(500, 300, 0), (501, 300, 0), (500, 302, 0), (500, 300, 1)]

    assert len({BookingBase(*size).digest for size in sizes}) == 4


def test_a_larger_airline_has_the_same_first_customers():
    small, large = BookingBase(50, 60, 5), BookingBase(100_000, 60, 5)

    assert customers_of(small) == [large.customer(customer) for customer in range(50)]
    assert reservations_of(small) == [large.reservation(*place) for place in small.reservation_places()]
    assert [small.user_id(each) for each in range(50)] == [large.user_id(each) for each in range(50)]


_SCRIPT = """
from tool_envs.booking.codes import renderer
from tool_envs.booking.data import BookingBase
from tool_envs.canonical import digest
from tool_envs.database import Database
base = BookingBase(60, 100, 9)
look, database = renderer(base), Database(base)
users = [look.user_json(base.customer(customer)) for customer in range(60)]
reservations = [look.reservation_json(database, row) for row in base.tables["reservations"].values()]
flights = [look.flight_json(row) for row in base.tables["departures"].values()]
connections = [base.connections(origin, destination) for origin in range(20) for destination in range(20)]
print(base.digest, digest([users, reservations, flights, connections]))
"""


def test_every_process_makes_the_same_data():
    assert len(outputs(_SCRIPT)) == 1


@pytest.mark.parametrize("customers", [0, -1, MAX_CUSTOMERS + 1, 2.0, "500", True, None])
def test_a_number_of_customers_that_cannot_be_is_refused(customers):
    with pytest.raises(UsageError, match="customers must be"):
        BookingBase(customers)


@pytest.mark.parametrize("flights", [0, 58, 61, 999, 1000, -60, 60.0, "60", True, None])
def test_a_number_of_flights_that_cannot_be_is_refused(flights):
    with pytest.raises(UsageError, match="flights must be"):
        BookingBase(5, flights)


@pytest.mark.parametrize("seed", [-1, 2**64, 0.0, "0", False])
def test_a_seed_that_cannot_be_is_refused(seed):
    with pytest.raises(UsageError, match="seed must be"):
        BookingBase(5, 60, seed)


def test_one_base_serves_all_episodes():
    assert booking_base() is booking_base(500) is booking_base(seed=0, customers=500, flights=300)


# --- Tables


def test_the_tables_are_mappings_over_all_records(base):
    customers, reservations, departures = (
        base.tables[name] for name in ("customers", "reservations", "departures")
    )

    assert [row.index for row in customers.values()] == list(range(base.customers))
    assert list(reservations.values()) == reservations_of(base)
    assert len(departures) == len(list(departures)) == base.flight_count * DAYS
    assert departures[base.departure_key(7, 3)] == base.departure(7, 3)
    assert base.tables["passengers"] == {}
    with pytest.raises(KeyError):
        departures[f"HAT999 {DATES[0]}"]


def test_records_are_the_same_after_they_were_dropped(monkeypatch):
    def texts():
        base = BookingBase(20, 60, 2)
        look, database = renderer(base), Database(base)
        return [
            *(look.reservation_text(database, row) for row in base.tables["reservations"].values()),
            *(look.user_text(row) for row in base.tables["customers"].values()),
            *(look.flight_text(row) for row in base.tables["departures"].values()),
        ]

    kept = texts()
    monkeypatch.setattr("tool_envs.generated._KEPT", 3)

    assert texts() == kept


def test_an_airline_of_100_000_loads_and_reads_as_fast_as_one_of_500():
    def read(customers):
        base = BookingBase(customers, 60, 11)
        database, look = Database(base), renderer(base)
        for step in range(100):
            customer = step * (customers // 100)
            look.user_text(database.get("customers", base.user_id(customer)))
            for reservation_id in base.reservation_ids(customer):
                look.reservation_text(database, database.get("reservations", reservation_id))
        assert base.digest

    # Whatever went through all customers would take 200 times as long.
    assert effort_ratio(lambda: read(100_000), lambda: read(500), windows=1) < 3


def test_generated_rows_fit_their_declared_forms(base):
    for row in [*customers_of(base), *reservations_of(base), *departures_of(base)[::7]]:
        record = np.zeros(1, row.numpy_dtype())
        for name in row.__struct_fields__:
            record[name] = getattr(row, name)
            assert np.array_equal(record[name][0], getattr(row, name))
