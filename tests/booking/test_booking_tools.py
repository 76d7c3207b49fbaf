"""The airline's tools: atomic, exact with seats and money, the same under every schema version."""

import functools
import json
import random
from collections import Counter
from pathlib import Path

import jsonschema_rs
import pytest
from booking_calls import (
    BASE,
    VERSIONS,
    answer,
    call,
    changes,
    chosen,
    forked,
    offers,
    people,
)
from booking_laws import check_step
from booking_walks import plausible_call, random_booking, random_call
from effort import MOST_OF_PARTS, call_ratio
from hypothesis import given
from hypothesis import strategies as st
from processes import outputs

from tool_envs.booking.codes import state_digest
from tool_envs.booking.data import BookingBase
from tool_envs.booking.refusals import No
from tool_envs.booking.rows import AVAILABLE, CREDIT_CARD
from tool_envs.booking.toolkit import booking_toolkit
from tool_envs.database import Database
from tool_envs.errors import UnknownNameError
from tool_envs.messages import ToolCall
from tool_envs.schema import load_schema
from tool_envs.spaces import ToolCallSpace

CODES = {"calculation_failed", *(no.refusal.code for no in No)}
MISTAKES = {"unknown_tool", "invalid_arguments"}

seeded = st.randoms(use_true_random=True)
"""Generators whose seed a failing test shows."""


def generator(seed):
    return random.Random(seed)  # noqa: S311 - a walk is no secret


@functools.cache
def result_validators(version):
    tools = load_schema("booking", version).tools
    return {name: jsonschema_rs.Draft202012Validator(tool.result) for name, tool in tools.items()}


def walk(rnd, database, version, steps):
    """Random calls: yields name, arguments and result of each, and the database before it."""
    for _ in range(steps):
        name, arguments = random_call(rnd, database, version)
        if name != "respond" and isinstance(name, str):
            before = forked(database)
            result = booking_toolkit(version).call(database, ToolCall(name, arguments))
            yield name, arguments, result, before


# --- Random walks


@pytest.mark.parametrize("version", VERSIONS)
@given(rnd=seeded)
def test_a_walk_keeps_seats_and_money_together(version, rnd):
    database = Database(BASE)
    for _, _, result, before in walk(rnd, database, version, 40):
        if result.code is None:
            check_step(before, database)


@pytest.mark.parametrize("version", VERSIONS)
@given(rnd=seeded)
def test_what_is_refused_or_only_read_changes_nothing(version, rnd):
    effects = {name: tool.effect for name, tool in load_schema("booking", version).tools.items()}
    database = Database(BASE)
    for name, arguments, result, before in walk(rnd, database, version, 20):
        if result.code or effects[name] != "write":
            assert database.changed == before.changed
        if result.code in CODES:  # the tool itself, before any restoring
            refusal = booking_toolkit(version).functions[name](database, **arguments)
            assert (refusal.code, database.changed) == (result.code, before.changed)
            assert state_digest(database) == state_digest(before)


@pytest.mark.parametrize("version", VERSIONS)
@given(rnd=seeded)
def test_every_answer_is_as_the_schema_says(version, rnd):
    for name, _, result, _ in walk(rnd, Database(BASE), version, 20):
        value = json.loads(result.content)
        if result.code is None:
            assert result_validators(version)[name].is_valid(value), (name, value)
        else:
            assert value["error"]["code"] == result.code
            assert result.code in CODES | MISTAKES


@pytest.mark.parametrize("version", VERSIONS)
@given(seed=st.integers(0, 2**32 - 1))
def test_no_valid_call_raises(version, seed):
    space, database = ToolCallSpace(load_schema("booking", version), seed=seed), Database(BASE)
    for _ in range(20):
        made = space.sample()
        if made["name"] != "respond":
            result = booking_toolkit(version).call(database, ToolCall(**made))
            assert result.code in {None, *CODES}


def test_walks_do_everything():
    """So that what is said of walks says something."""
    done, codes = Counter(), Counter()
    for seed in range(30):
        for name, _, result, _ in walk(generator(seed), Database(BASE), "2.0.0", 60):
            codes[result.code] += 1
            done[name] += result.code is None

    assert min(done[name] for name in load_schema("booking", "2.0.0").tools if name != "respond") > 5
    assert done["book_reservation"] > 200
    assert len(CODES & codes.keys()) > 20


@given(rnd=seeded)
def test_every_version_changes_the_same(rnd):
    databases = {version: Database(BASE) for version in VERSIONS}
    for _ in range(10):
        name, arguments = plausible_call(rnd, databases["2.0.0"])
        if name == "get_flight_status":
            continue  # 1.0.0 does not have it
        results = {
            version: call(database, name, version, **arguments) for version, database in databases.items()
        }
        texts = {result.content.replace('"payment_methods":', '"payments":') for result in results.values()}
        assert len(texts) == 1

    assert len({state_digest(database) for database in databases.values()}) == 1


def test_the_first_version_does_not_know_what_came_later():
    arguments = {"flight_number": "HAT001", "date": BASE.date(0)}
    codes = [call(Database(BASE), "get_flight_status", version, **arguments).code for version in VERSIONS]

    assert codes == ["unknown_tool", None, None]


def test_a_version_that_the_tools_do_not_speak_is_refused():
    for version in ("3.0.0", None, []):
        with pytest.raises(UnknownNameError, match="version of the booking schema"):
            booking_toolkit(version)


def test_no_walk_changes_the_base_data():
    base, fresh = BookingBase(), BookingBase()
    for seed in range(5):
        for name, arguments, _, _ in walk(generator(seed), Database(BASE), "2.0.0", 60):
            booking_toolkit("2.0.0").call(Database(base), ToolCall(name, arguments))

    for table in ("customers", "reservations", "departures"):
        assert [*base.tables[table].values()] == [*fresh.tables[table].values()]
    assert base.tables["passengers"] == {}


_SCRIPT = """
import sys
sys.path[:0] = sys.argv[1:]
from test_booking_tools import BASE, Database, generator, state_digest, walk
from tool_envs.canonical import digest
database = Database(BASE)
texts = [result.content for _, _, result, _ in walk(generator(5), database, "2.0.0", 200)]
print(digest(texts), state_digest(database))
"""


def test_every_process_answers_the_same():
    folder = Path(__file__).parent
    assert len(outputs(_SCRIPT, str(folder), str(folder.parent))) == 1


# --- What is undone


def restored(database, customer):
    """Nothing differs from the base data but that the customer has more, cancelled, reservations."""
    records = changes(database)
    user = records.pop(("customers", BASE.user_id(customer)))
    before = answer(Database(BASE), "get_user_details", user_id=BASE.user_id(customer))
    assert user == {**before, "reservations": user["reservations"]}
    assert {table for table, _ in records} == {"reservations"}
    assert all(record["status"] == "cancelled" for record in records.values())


def whole_certificates(rnd, customer, arguments):
    """The booking, paid by a certificate as a whole, a gift card as far as it goes, and a credit card."""
    row, ids = BASE.customer(customer), BASE.method_ids(customer)
    rest, payments = sum(payment["amount"] for payment in arguments["payments"]), []
    kinds = set()
    for method in rnd.sample(range(row.methods), row.methods):
        kind, amount = row.method_kind[method], row.balance[method] // 100
        if kind != CREDIT_CARD and kind not in kinds and 0 < amount < rest:
            payments.append({"payment_id": ids[method], "amount": amount})
            rest -= amount
            kinds.add(kind)
    return {**arguments, "payments": [*payments, {"payment_id": ids[0], "amount": rest}]}


@given(rnd=seeded, customer=st.integers(0, 499))
def test_a_cancelled_booking_leaves_seats_and_balances_as_they_were(rnd, customer):
    database = Database(BASE)
    for _ in range(3):
        arguments = random_booking(rnd, database, customer, rnd.randint(16, 29))
        result = call(database, "book_reservation", **whole_certificates(rnd, customer, arguments))
        if result.code != "not_enough_seats":
            made = json.loads(result.content)
            answer(database, "cancel_reservation", reservation_id=made["reservation_id"])

            restored(database, customer)


@given(rnd=seeded, customer=st.integers(0, 499))
def test_flights_that_are_changed_back_leave_no_difference(rnd, customer):
    database = Database(BASE)
    arguments = random_booking(rnd, database, customer, rnd.randint(16, 29))
    if call(database, "book_reservation", **arguments).code:
        return
    made = answer(database, "get_user_details", user_id=BASE.user_id(customer))["reservations"][-1]
    before = changes(database)
    ends = [BASE.airport_codes[arguments[end]] for end in ("origin", "destination")]
    back = arguments["flights"][-1:] if arguments["flight_type"] == "round_trip" else []
    for offer in offers(database, *ends, 16)[:4]:
        change = {"reservation_id": made, "payment_id": BASE.method_ids(customer)[0]}
        new = {"flights": [*chosen(offer), *back], "cabin": rnd.choice(["basic_economy", "business"])}
        if call(database, "update_reservation_flights", **change, **new).code is None:
            old = {"flights": arguments["flights"], "cabin": arguments["cabin"]}
            answer(database, "update_reservation_flights", **change, **old)

    after = changes(database)
    for records in (before, after):
        del records[("reservations", made)]["payment_history"]
    assert after == before


@given(st.permutations(range(6)))
def test_the_order_of_independent_writes_makes_no_difference(order):
    writes = [
        ("send_certificate", {"user_id": BASE.user_id(customer), "amount": 50 + customer})
        for customer in range(3)
    ] + [("cancel_reservation", {"reservation_id": reservation}) for reservation in future_reservations()[:3]]
    first, second = Database(BASE), Database(BASE)
    for name, arguments in writes:
        answer(first, name, **arguments)
    for place in order:
        name, arguments = writes[place]
        answer(second, name, **arguments)

    assert changes(first) == changes(second) != {}
    assert state_digest(first) == state_digest(second)


@functools.cache
def future_reservations():
    """Ids of reservations that can be cancelled and have seats to release."""
    found = []
    for customer, number in BASE.reservation_places():
        row = BASE.reservation(customer, number)
        places = zip(row.flight[: row.segments], row.day, strict=False)
        if not row.cancelled and all(BASE.departure(*place).status == AVAILABLE for place in places):
            found.append(BASE.reservation_id(customer, number))
    return found


# --- Speed


def customer_service(customer):
    """Calls about one customer as an agent makes them: look everything up, search, then change something."""
    yield "get_user_details", {"user_id": BASE.user_id(customer)}
    reservations = BASE.reservation_ids(customer)
    for reservation_id in reservations:
        yield "get_reservation_details", {"reservation_id": reservation_id}
    rnd = generator(customer)
    arguments = random_booking(rnd, Database(BASE), customer, rnd.randint(16, 29))
    for day in ("2025-07-05", arguments["flights"][0]["date"]):
        asked = {"origin": arguments["origin"], "destination": arguments["destination"], "date": day}
        yield "search_direct_flight", asked
        yield "search_onestop_flight", asked
    last = {"reservation_id": reservations[-1]}
    writes = [
        ("book_reservation", arguments),
        ("cancel_reservation", last),
        ("send_certificate", {"user_id": BASE.user_id(customer), "amount": 50}),
        ("update_reservation_passengers", {**last, "passengers": people(customer, 2)}),
    ]
    yield writes[customer % len(writes)]


def test_a_call_takes_a_few_times_as_long_as_its_parts_at_most():
    calls = map(customer_service, range(60))

    assert call_ratio(booking_toolkit("2.0.0"), BASE, calls) < MOST_OF_PARTS
