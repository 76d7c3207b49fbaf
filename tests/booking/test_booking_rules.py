"""The rules of the airline, held to naive ones. The laws of all rules are in `tests/service`."""

import datetime
from collections import Counter

import pytest
from booking.booking_rule_events import (
    COMPLAINT,
    FLIGHTS,
    MINE,
    cancel,
    certificate,
    change,
    itineraries,
    leg,
    member,
    shown,
    states,
)
from hypothesis import given
from hypothesis import strategies as st
from service.rule_events import breaches, inform, memory_after

from tool_envs.booking import rules as booking
from tool_envs.booking.rows import CABINS, MAX_PASSENGERS, MEMBERSHIPS, STATUSES
from tool_envs.rules import Said
from tool_envs.schema import load_schema
from tool_envs.schema.files import shipped_files

BY_ID = {rule.id: rule for rule in booking.RULES}


def permits(rule_id, happened, event):
    rule = BY_ID[rule_id]
    return rule.permits(memory_after(rule, happened), event.call)


@given(
    state=states,
    minutes=st.integers(0, 3000) | st.sampled_from([1440, 1441]),
    reason=st.sampled_from(["health", "weather", "plans"]),
)
def test_what_can_be_cancelled(state, minutes, reason):
    made = datetime.datetime(2025, 6, 30, 15, 0) - datetime.timedelta(minutes=minutes)
    allowed = (
        minutes <= 24 * 60
        or "cancelled" in state["statuses"]
        or state["cabin"] == "business"
        or (state["insurance"] == "yes" and reason != "plans")
    )
    happened = [inform("reason", reason), shown(**{**state, "created": made.isoformat()})]

    assert permits("cancellation", happened, cancel()) == allowed


@given(state=states, cabin=st.sampled_from(CABINS), flights=itineraries)
def test_flights_in_basic_economy_stay_as_they_are(state, cabin, flights):
    allowed = state["cabin"] != "basic_economy" or flights == FLIGHTS

    assert permits("basic_economy_flights", [shown(**state)], change(cabin, flights)) == allowed


# --- Compensation

CERTIFICATES = [certificate(amount) for amount in (50, 100, 150, 200, 300)]


def due(state, membership):
    """Dollars for a reservation."""
    entitled = membership != "regular" or state["insurance"] == "yes" or state["cabin"] == "business"
    if not entitled:
        return 0
    if "cancelled" in state["statuses"]:
        return 100 * state["passengers"]
    return 50 * state["passengers"] if "delayed" in state["statuses"] else 0


@given(
    trips=st.lists(states, max_size=2),
    membership=st.sampled_from(MEMBERSHIPS),
    sends=st.lists(st.sampled_from(CERTIFICATES)),
)
def test_each_reservation_is_compensated_once(trips, membership, sends):
    looks = [shown(key, **state) for key, state in zip(("A1AA1A", "B2BB2B"), trips, strict=False)]
    owed = Counter(due(state, membership) for state in trips)
    expected, start = [], [COMPLAINT, member(membership), *looks]
    for place, event in enumerate(sends, len(start)):
        amount = event.call.arguments["amount"]
        expected += [] if owed[amount] else [place]
        owed[amount] = max(0, owed[amount] - 1)

    assert breaches(BY_ID["compensation"], [*start, *sends]) == expected


def test_only_whole_compensations_can_be_sent():
    happened = [COMPLAINT, shown(statuses=("cancelled", "available"), insurance="yes")]

    permitted = [
        amount for amount in range(-200, 600) if permits("compensation", happened, certificate(amount))
    ]

    assert permitted == [100]


# --- Advice

advice = st.sampled_from(BY_ID["no_advice"].parameters["advice"])


@given(
    before=st.sampled_from(["", "Well, ", "('", "Hello.\n"]),
    phrase=advice.flatmap(lambda words: st.tuples(*(st.sampled_from([c.lower(), c.upper()]) for c in words))),
    after=st.sampled_from(["", " that.", "!", ": HAT010"]),
)
def test_advice_is_advice_in_upper_and_lower_case(before, phrase, after):
    assert breaches(BY_ID["no_advice"], [Said(f"{before}{''.join(phrase)}{after}")]) == [0]


@given(phrase=advice, letter=st.sampled_from("aZ9_"))
def test_advice_is_whole_words(phrase, letter):
    said = [Said(f"{letter}{phrase}"), Said(f"{phrase}{letter}")]

    assert breaches(BY_ID["no_advice"], said) == []


# --- Arguments of any kind

STRANGE_FLIGHTS = [
    *(None, 7, [], {}, [[]], [None], "HAT010", [FLIGHTS], [*FLIGHTS, None], {"0": FLIGHTS[0]}),
    [{}, {}],
    [{"flight_number": "HAT010"}, {"flight_number": "HAT020"}],
    [leg(["HAT010"], {"day": "2025-07-04"}), FLIGHTS[1]],
    FLIGHTS[::-1],
]


@pytest.mark.parametrize("flights", STRANGE_FLIGHTS, ids=repr)
def test_strange_flights_are_not_the_flights_of_a_reservation(flights):
    failed = change("economy", flights, code="invalid_arguments")

    assert not permits("basic_economy_flights", [shown(cabin="basic_economy")], failed)


@pytest.mark.parametrize("amount", [None, True, 0, -100, "100", [100], {"amount": 100}, 100.5], ids=repr)
def test_strange_amounts_are_not_due(amount):
    happened = [COMPLAINT, shown(statuses=("cancelled", "available"), insurance="yes")]

    assert not permits("compensation", happened, certificate(amount))


@pytest.mark.parametrize("reservation_id", [None, 7, "", [MINE], {"id": MINE}, "a1aa1a"], ids=repr)
def test_a_strange_reservation_was_not_looked_up(reservation_id):
    failed = cancel(reservation_id, "invalid_arguments")

    assert not permits("cancellation", [shown(cabin="business")], failed)


# --- Schema


@pytest.mark.parametrize("version", shipped_files().versions("booking"))
def test_the_schema_has_the_words_of_the_rules(version):
    tools = load_schema("booking", version).tools
    shown_reservation = tools[booking.RESERVATION].result["properties"]
    shown_user = tools[booking.PROFILE].result["properties"]
    amount = tools[booking.CERTIFICATE].parameters["properties"]["amount"]

    assert shown_reservation["cabin"]["enum"] == list(CABINS)
    assert shown_reservation["insurance"]["enum"] == ["yes", "no"]
    assert shown_reservation["flights"]["items"]["properties"]["status"]["enum"] == list(STATUSES)
    assert shown_user["membership"]["enum"] == list(MEMBERSHIPS)
    assert amount["minimum"] <= booking.FOR_DELAYED
    assert amount["maximum"] >= booking.FOR_CANCELLED * MAX_PASSENGERS
