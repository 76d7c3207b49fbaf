"""The airline tools on the built-in set: upstream's quirks, wrong types, and what stays apart."""

import copy
import hashlib
import json

import gymnasium
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tau_calls import AirlineCallMaker, answer

import tool_envs  # noqa: F401 - registers the environment
from tool_envs.database import Database
from tool_envs.messages import ToolCall
from tool_envs.tau_bench.airline import AIRLINE_TOOLS
from tool_envs.tau_bench.data import AirlineData, changes, state_hash
from tool_envs.tau_bench.files import load
from tool_envs.tau_bench.grading import Grader

INES, RUTH, PAUL = "ines_moreau_3381", "ruth_adeyemi_7042", "paul_lindqvist_1195"
CARD = "credit_card_5501932"
PASSENGER = {"first_name": "Paul", "last_name": "Lindqvist", "dob": "1966-06-17"}
SEEDS = st.integers(0, 2**32)


@pytest.fixture(scope="module")
def sample():
    return load(None, "airline", "test")


@pytest.fixture
def database(sample):
    return Database(sample.data)


def ask(database, tool, /, **arguments):
    return answer(database, ToolCall(tool, arguments))


def book(database, *payments, **others):
    """Paul flies for 129 dollars, unless told otherwise."""
    arguments = {
        "user_id": PAUL,
        "origin": "BOS",
        "destination": "DEN",
        "flight_type": "one_way",
        "cabin": "economy",
        "flights": [{"flight_number": "HAT906", "date": "2024-05-21"}],
        "passengers": [PASSENGER],
        "payment_methods": [{"payment_id": name, "amount": amount} for name, amount in payments],
        "total_baggages": 0,
        "nonfree_baggages": 0,
        "insurance": "no",
    }
    return ask(database, "book_reservation", **arguments | others)


def methods(database, user_id):
    return database.get("users", user_id)["payment_methods"]


# The built-in set


def test_sample_tasks_are_solved_by_gold_and_not_by_silence(sample):
    grader = Grader(AIRLINE_TOOLS)
    for task in sample.tasks:
        database = Database(sample.data)
        answers = [answer(database, call) for call in task.actions]

        assert not [text for text in answers if text.startswith("Error")]
        assert grader.grade(task, database, task.facts).terminal == 1.0
        assert grader.grade(task, Database(sample.data), task.facts).terminal == 0.0


def test_sample_covers_every_write(sample):
    used = {call.name for task in sample.tasks for call in task.actions}

    assert used.issuperset(
        name for name in AIRLINE_TOOLS if name.startswith(("book", "cancel", "send", "update"))
    )
    assert any(task.facts for task in sample.tasks)


def test_sample_data_are_consistent(sample):
    tables = sample.data.tables
    for key, reservation in tables["reservations"].items():
        user = tables["users"][reservation["user_id"]]
        fares = sum(flight["price"] for flight in reservation["flights"]) * len(reservation["passengers"])
        insured = 30 * len(reservation["passengers"]) * (reservation["insurance"] == "yes")

        assert key in user["reservations"]
        assert sum(payment["amount"] for payment in reservation["payment_history"]) == fares + insured
        assert {payment["payment_id"] for payment in reservation["payment_history"]} <= {
            *user["payment_methods"]
        }
        for flight in reservation["flights"]:
            offered = tables["flights"][flight["flight_number"]]
            assert (flight["origin"], flight["destination"]) == (offered["origin"], offered["destination"])
            assert flight["date"] in offered["dates"]


# Booking


def test_a_certificate_is_gone_as_a_whole_and_seats_are_not_taken(database, sample):
    text = book(database, ("certificate_7720159", 29), (CARD, 100))

    assert json.loads(text)["reservation_id"] == "HATHAT"
    assert [*methods(database, PAUL)] == [CARD, "certificate_7720158"]
    assert database.get("users", PAUL)["reservations"] == ["LB63HW", "HATHAT"]
    assert database.get("flights", "HAT906") is sample.data.tables["flights"]["HAT906"]
    assert ask(database, "get_reservation_details", reservation_id="HATHAT") == text


def test_the_fourth_booking_replaces_the_third(database):
    ids = [
        json.loads(book(database, (CARD, 129), total_baggages=number))["reservation_id"]
        for number in range(4)
    ]

    assert ids == ["HATHAT", "HATHAU", "HATHAV", "HATHAV"]
    assert database.get("users", PAUL)["reservations"] == ["LB63HW", *ids]
    assert database.get("reservations", "HATHAV")["total_baggages"] == 3


def test_the_same_certificate_twice_is_lost_without_a_booking(database):
    twice = ("certificate_7720158", 64.5)

    assert book(database, twice, twice) == "Error: 'certificate_7720158'"
    assert [*methods(database, PAUL)] == [CARD, "certificate_7720159"]
    assert database.get("reservations", "HATHAT") is None


def test_the_same_gift_card_twice_goes_below_zero(database):
    payments = [("gift_card_1178520", 64), ("gift_card_1178520", 65)]

    assert book(database, *payments, user_id=INES).startswith("{")
    assert methods(database, INES)["gift_card_1178520"]["amount"] == -64


def test_numbers_of_equal_value_make_other_states(sample):
    states = []
    for amount in (129, 129.0):
        database = Database(sample.data)
        assert book(database, (CARD, amount)).startswith("{")
        states.append(state_hash(database))

    assert states[0] != states[1]


def test_what_else_an_agent_says_of_a_flight_is_kept(database):
    flight = {"price": 1, "flight_number": "HAT906", "seat": "4A", "date": "2024-05-21"}
    stored = json.loads(book(database, (CARD, 129), flights=[flight]))["flights"][0]

    assert list(stored) == ["price", "flight_number", "seat", "date", "origin", "destination"]
    assert (stored["price"], stored["seat"]) == (129, "4A")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"user_id": "nobody"}, "user not found"),
        ({"flights": [{"flight_number": "HAT1", "date": ""}]}, "flight HAT1 not found"),
        ({"flights": [{"flight_number": "HAT906", "date": "x"}]}, "flight HAT906 not found on date x"),
        (
            {"flights": [{"flight_number": "HAT901", "date": "2024-05-22"}]},
            "flight HAT901 not available on date 2024-05-22",
        ),
        ({"passengers": [PASSENGER] * 11}, "not enough seats on flight HAT906"),
        ({"cabin": "first"}, "'first'"),
        ({"nonfree_baggages": "0"}, "unsupported operand type(s) for +=: 'int' and 'str'"),
        ({"user_id": [PAUL]}, "unhashable type: 'list'"),
        ({"payment_methods": [{"payment_id": "cash", "amount": 129}]}, "payment method cash not found"),
        (
            {"payment_methods": [{"payment_id": "certificate_7720159", "amount": 129}]},
            "not enough balance in payment method certificate_7720159",
        ),
        (
            {"payment_methods": [{"payment_id": CARD, "amount": 1.5}], "insurance": "yes"},
            "payment amount does not add up, total price is 159, but paid 1.5",
        ),
    ],
)
def test_bookings_that_fail_change_nothing(database, arguments, text):
    assert book(database, (CARD, 129), **arguments) == f"Error: {text}"
    assert not database.changed


# Changes


def test_a_second_cancellation_refunds_the_refunds(database):
    for _ in range(2):
        ask(database, "cancel_reservation", reservation_id="TR08KD")
    reservation = database.get("reservations", "TR08KD")

    assert [payment["amount"] for payment in reservation["payment_history"]] == [388, -388, -388, 388]
    assert reservation["status"] == "cancelled"
    assert methods(database, RUTH)["gift_card_2904413"]["amount"] == 210


def test_a_change_of_cabin_is_charged_and_not_stored(database):
    flights = [
        {"flight_number": "HAT901", "date": "2024-05-20"},
        {"flight_number": "HAT902", "date": "2024-05-24"},
    ]
    change = {
        "reservation_id": "QX41LM",
        "cabin": "business",
        "flights": flights,
        "payment_id": "credit_card_6120487",
    }
    reservation = json.loads(ask(database, "update_reservation_flights", **change))

    assert reservation["cabin"] == "economy"
    assert [flight["price"] for flight in reservation["flights"]] == [391, 345]
    assert reservation["payment_history"][-1]["amount"] == 2 * (391 + 345 - 135 - 119)


def test_kept_flights_keep_their_price_and_a_gift_card_gets_money_back(database):
    flights = [
        {"flight_number": "HAT906", "date": "2024-05-21"},
        {"flight_number": "HAT902", "date": "2024-05-24"},
    ]
    change = {
        "reservation_id": "QX41LM",
        "cabin": "economy",
        "flights": flights,
        "payment_id": "gift_card_1178520",
    }
    reservation = json.loads(ask(database, "update_reservation_flights", **change))

    assert [flight["price"] for flight in reservation["flights"]] == [129, 119]
    assert reservation["payment_history"][-1] == {"payment_id": "gift_card_1178520", "amount": -12}
    assert methods(database, INES)["gift_card_1178520"]["amount"] == 77


def test_payments_that_are_no_list_fail_where_upstream_fails(database):
    book(database, flights=[], payment_methods={})
    bags = {"reservation_id": "HATHAT", "total_baggages": 1, "nonfree_baggages": 1, "payment_id": CARD}

    assert ask(database, "cancel_reservation", reservation_id="HATHAT") == (
        "Error: 'dict' object has no attribute 'extend'"
    )
    assert (
        ask(database, "update_reservation_baggages", **bags)
        == "Error: 'dict' object has no attribute 'append'"
    )
    assert database.get("reservations", "HATHAT")["nonfree_baggages"] == 1
    assert "status" not in database.get("reservations", "HATHAT")


@pytest.mark.parametrize(
    ("tool", "arguments", "text"),
    [
        ("cancel_reservation", {"reservation_id": "ABCDEF"}, "reservation not found"),
        ("get_reservation_details", {"reservation_id": "ABCDEF"}, "user not found"),
        ("get_user_details", {"user_id": "ABCDEF"}, "user not found"),
        (
            "update_reservation_passengers",
            {"reservation_id": "QX41LM", "passengers": []},
            "number of passengers does not match",
        ),
        (
            "update_reservation_baggages",
            {
                "reservation_id": "TR08KD",
                "total_baggages": 1,
                "nonfree_baggages": 0,
                "payment_id": "certificate_4416093",
            },
            "certificate cannot be used to update reservation",
        ),
        (
            "update_reservation_baggages",
            {
                "reservation_id": "TR08KD",
                "total_baggages": 9,
                "nonfree_baggages": 9,
                "payment_id": "gift_card_2904413",
            },
            "gift card balance is not enough",
        ),
        (
            "update_reservation_baggages",
            {"reservation_id": "TR08KD", "total_baggages": 1, "nonfree_baggages": 0, "payment_id": CARD},
            "payment method not found",
        ),
        ("send_certificate", {"user_id": "ABCDEF", "amount": 5}, "user not found"),
        (
            "get_user_details",
            {"user_id": PAUL, "data": {}},
            "tau_bench.envs.airline.tools.get_user_details.GetUserDetails.invoke() got multiple values for "
            "keyword argument 'data'",
        ),
        (
            "think",
            {},
            "Think.invoke() missing 1 required positional argument: 'thought'",
        ),
    ],
)
def test_errors_change_nothing(database, tool, arguments, text):
    assert ask(database, tool, **arguments) == f"Error: {text}"
    assert not database.changed


# Certificates


def test_three_certificates_can_be_sent_and_amounts_are_told_as_given(database):
    texts = [ask(database, "send_certificate", user_id=RUTH, amount=amount) for amount in (100, 50.0, "x")]

    assert [text.split(" with amount ")[1] for text in texts] == ["100.", "50.0.", "x."]
    assert methods(database, RUTH)["certificate_3221323"] == {
        "source": "certificate",
        "amount": 50.0,
        "id": "certificate_3221323",
    }


def test_a_fourth_certificate_is_an_error_with_a_code_and_changes_nothing():
    env = gymnasium.make("tool_envs/TauBench-v0", domain="airline").unwrapped
    env.reset(options={"task_index": 0})
    action = {"name": "send_certificate", "arguments": {"user_id": RUTH, "amount": 1}}
    for _ in range(3):
        env.step(action)
    before = state_hash(env.episode.database)
    observation, _, terminated, _, info = env.step(action)

    assert observation["content"] == "Error: no more certificates can be sent to this user"
    assert info["error_code"] == "tool_error"
    assert not terminated
    assert state_hash(env.episode.database) == before


# Searches


def found(database, tool, date, origin="BOS", destination="DEN"):
    return json.loads(ask(database, tool, origin=origin, destination=destination, date=date))


def test_direct_flights_are_those_that_can_be_booked_then(database):
    flights = found(database, "search_direct_flight", "2024-05-21")

    assert [flight["flight_number"] for flight in flights] == ["HAT901", "HAT906"]
    assert flights[1]["prices"]["economy"] == 129
    assert "dates" not in flights[0]
    assert found(database, "search_direct_flight", "2024-05-22") == []
    assert found(database, "search_direct_flight", "2024-05-21", destination=["DEN"]) == []


def test_the_second_leg_after_midnight_shows_the_first_days_prices(database):
    flights = found(database, "search_onestop_flight", "2024-05-20")

    assert [[leg["flight_number"] for leg in pair] for pair in flights] == [
        ["HAT903", "HAT904"],
        ["HAT905", "HAT904"],
    ]
    assert [leg["date"] for leg in flights[1]] == ["2024-05-20", "2024-05-21"]
    assert flights[1][1]["prices"] == database.get("flights", "HAT904")["dates"]["2024-05-20"]["prices"]
    assert len(found(database, "search_onestop_flight", "2024-05-21")) == 1


def test_a_date_without_a_day_fails_where_it_is_counted(database):
    text = ask(database, "search_onestop_flight", origin="BOS", destination="DEN", date="soon")

    assert text == "Error: invalid literal for int() with base 10: 'on'"
    assert found(database, "search_onestop_flight", "soon", origin="DEN") == []


# States


def test_what_the_caller_keeps_is_not_in_the_database(database):
    flights = [{"flight_number": "HAT906", "date": "2024-05-21"}]
    passengers, payments = [dict(PASSENGER)], [{"payment_id": CARD, "amount": 129}]
    given = copy.deepcopy([flights, passengers, payments])
    book(database, flights=flights, passengers=passengers, payment_methods=payments)
    ask(database, "update_reservation_passengers", reservation_id="LB63HW", passengers=passengers)
    ask(database, "cancel_reservation", reservation_id="HATHAT")
    before = state_hash(database)

    assert [flights, passengers, payments] == given

    for part in (*flights, *passengers, *payments):
        part.clear()

    assert state_hash(database) == before


def test_a_new_reservation_counts_in_changes_and_grades(database, sample):
    booking = sample.tasks[3]
    for call in booking.actions:
        answer(database, call)

    assert set(changes(database)) == {("reservations", "HATHAT"), ("users", PAUL)}
    assert Grader(AIRLINE_TOOLS).grade(booking, database, ["The card pays $79."]).terminal == 1.0

    ask(
        database,
        "update_reservation_passengers",
        reservation_id="HATHAT",
        passengers=[PASSENGER | {"dob": ""}],
    )

    assert Grader(AIRLINE_TOOLS).grade(booking, database, ["The card pays $79."]).terminal == 0.0


def hashable(value):
    if isinstance(value, dict):
        return tuple((key, hashable(part)) for key, part in sorted(value.items()))
    return tuple(map(hashable, value)) if isinstance(value, list) else value


def walked(data, seed, wild=0.0, steps=20):
    database = Database(data)
    maker = AirlineCallMaker(seed, database, wild)
    for _ in range(steps):
        answer(database, maker.call())
    return database


@given(SEEDS)
def test_state_hash_is_that_of_the_plain_tables(seed):
    data = load(None, "airline", "test").data
    database = walked(data, seed, wild=0.2)
    tables = {table: dict(database.items(table)) for table in data.tables}

    assert state_hash(database) == hashlib.sha256(str(hashable(tables)).encode()).hexdigest()


@given(SEEDS)
def test_details_are_the_json_of_the_record(seed):
    database = walked(load(None, "airline", "test").data, seed)
    for table, tool in (("reservations", "get_reservation_details"), ("users", "get_user_details")):
        for key, record in database.items(table):
            assert AIRLINE_TOOLS[tool](database, key) == json.dumps(record)


@given(SEEDS)
def test_random_walks_never_touch_the_base_data(seed):
    data = load(None, "airline", "test").data
    before = copy.deepcopy(data.tables)
    database = walked(data, seed, wild=0.3)
    records = copy.deepcopy(dict(database.changed))
    snapshot = database.snapshot()
    maker = AirlineCallMaker(seed + 1, database, 0.3)
    for _ in range(6):
        answer(database, maker.call())
    database.restore(snapshot)

    assert data.tables == before
    assert database.changed == records


@given(SEEDS)
def test_searches_are_those_of_plain_loops(seed):
    data = load(None, "airline", "test").data
    maker = AirlineCallMaker(seed, Database(data))
    arguments = maker.arguments("search_direct_flight")
    expected = [
        {field: value for field, value in flight.items() if field != "dates"}
        | flight["dates"][arguments["date"]]
        for flight in data.tables["flights"].values()
        if (flight["origin"], flight["destination"]) == (arguments["origin"], arguments["destination"])
        and flight["dates"].get(arguments["date"], {}).get("status") == "available"
    ]

    assert ask(Database(AirlineData(data.tables)), "search_direct_flight", **arguments) == json.dumps(
        expected
    )


def test_tools_are_called_as_upstream_calls_them():
    assert list(AIRLINE_TOOLS) == sorted(AIRLINE_TOOLS)
    assert len(AIRLINE_TOOLS) == 14
    assert {tool.__code__.co_varnames[0] for tool in AIRLINE_TOOLS.values()} == {"data"}
