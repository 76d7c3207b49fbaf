"""The retail tools beyond the golden episodes: wrong types, indexes, copy on write, and the state hash."""

import copy
import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tau_calls import CallMaker, answer

from tool_envs.database import Database
from tool_envs.messages import ToolCall
from tool_envs.task import Task
from tool_envs.tau_bench.data import RetailData, changes, hashable_text, state_hash
from tool_envs.tau_bench.files import load
from tool_envs.tau_bench.grading import Grader, told
from tool_envs.tau_bench.retail import RETAIL_TOOLS

NADIA, LENA = "nadia_okafor_4127", "lena_fischer_2219"
ADDRESS = {"address1": "1 A St", "address2": "", "city": "B", "state": "CA", "country": "USA", "zip": "1"}
SEEDS = st.integers(0, 2**32)


@pytest.fixture
def database(sample):
    return Database(sample.data)


def ask(database, tool, /, **arguments):
    return answer(database, ToolCall(tool, arguments))


@pytest.mark.parametrize(
    ("tool", "arguments", "text"),
    [
        (
            "cancel_pending_order",
            {"order_id": "#W1048273"},
            "CancelPendingOrder.invoke() missing 1 required positional argument: 'reason'",
        ),
        (
            "cancel_pending_order",
            {"order_id": "#W1048273", "reason": "no longer needed", "foo": 1},
            "CancelPendingOrder.invoke() got an unexpected keyword argument 'foo'",
        ),
        (
            "get_user_details",
            {"user_id": NADIA, "data": {}},
            "tau_bench.envs.retail.tools.get_user_details.GetUserDetails.invoke() got multiple values for "
            "keyword argument 'data'",
        ),
        ("get_order_details", {"order_id": ["#W1048273"]}, "unhashable type: 'list'"),
        ("find_user_id_by_email", {"email": 5}, "'int' object has no attribute 'lower'"),
        (
            "find_user_id_by_name_zip",
            {"first_name": None, "last_name": "", "zip": ""},
            "'NoneType' object has no attribute 'lower'",
        ),
        (
            "find_user_id_by_name_zip",
            {"first_name": "NADIA", "last_name": 1, "zip": ""},
            "'int' object has no attribute 'lower'",
        ),
        ("find_user_id_by_name_zip", {"first_name": "nobody", "last_name": 1, "zip": ""}, "user not found"),
        ("calculate", {"expression": None}, "'NoneType' object is not iterable"),
        (
            "list_all_product_types",
            {"x": 1},
            "ListAllProductTypes.invoke() got an unexpected keyword argument 'x'",
        ),
        (
            "return_delivered_order_items",
            {
                "order_id": "#W2735910",
                "item_ids": {"3387105942": 1},
                "payment_method_id": "gift_card_5518203",
            },
            "'dict' object has no attribute 'count'",
        ),
        (
            "exchange_delivered_order_items",
            {"order_id": "#W2735910", "item_ids": [], "new_item_ids": 3, "payment_method_id": ""},
            "object of type 'int' has no len()",
        ),
        (
            "modify_pending_order_items",
            {"order_id": "#W1048273", "item_ids": None, "new_item_ids": [], "payment_method_id": ""},
            "'NoneType' object is not iterable",
        ),
        (
            "modify_pending_order_items",
            {"order_id": "#W1048273", "item_ids": "12", "new_item_ids": [], "payment_method_id": ""},
            "1 not found",
        ),
    ],
)
def test_wrong_arguments_get_pythons_words_and_change_nothing(database, tool, arguments, text):
    assert ask(database, tool, **arguments) == f"Error: {text}"
    assert not database.changed


def test_tools_are_called_as_upstream_calls_them():
    parameters = {
        name: tool.__code__.co_varnames[: tool.__code__.co_argcount] for name, tool in RETAIL_TOOLS.items()
    }

    assert list(RETAIL_TOOLS) == sorted(RETAIL_TOOLS)
    assert len(RETAIL_TOOLS) == 16
    assert {names[0] for names in parameters.values()} == {"data"}


def test_empty_lists_are_accepted_and_change_the_status(database):
    order = {"order_id": "#W1048273", "payment_method_id": "gift_card_5518203"}
    text = ask(database, "modify_pending_order_items", item_ids=[], new_item_ids={}, **order)

    assert '"status": "pending (item modified)"' in text
    assert '{"transaction_type": "refund", "amount": 0, "payment_method_id": "gift_card_5518203"}' in text
    assert database.get("users", NADIA)["payment_methods"]["gift_card_5518203"]["balance"] == 120


def test_a_second_payment_change_is_refused_and_a_cancellation_refunds_all_three(database):
    ask(database, "modify_pending_order_payment", order_id="#W1048273", payment_method_id="gift_card_5518203")
    again = ask(
        database,
        "modify_pending_order_payment",
        order_id="#W1048273",
        payment_method_id="credit_card_3071948",
    )
    ask(database, "cancel_pending_order", order_id="#W1048273", reason="no longer needed")

    assert again == "Error: there should be exactly one payment for a pending order"
    assert len(database.get("orders", "#W1048273")["payment_history"]) == 6
    assert database.get("users", NADIA)["payment_methods"]["gift_card_5518203"]["balance"] == 120.0


def test_a_missing_gift_card_leaves_what_was_done_before_it(sample):
    tables = copy.deepcopy(dict(sample.data.tables))
    tables["orders"]["#W1048273"]["payment_history"][0]["payment_method_id"] = "gift_card_0"
    database = Database(RetailData(tables))
    new = {"order_id": "#W1048273", "payment_method_id": "gift_card_5518203"}

    assert ask(database, "modify_pending_order_payment", **new) == "Error: 'gift_card_0'"
    assert len(database.get("orders", "#W1048273")["payment_history"]) == 3
    assert database.get("users", NADIA)["payment_methods"]["gift_card_5518203"]["balance"] == 56.0


def test_a_new_zip_counts_at_once(database):
    name = {"first_name": "nadia", "last_name": "OKAFOR"}
    ask(database, "modify_user_address", user_id=NADIA, **ADDRESS)

    assert ask(database, "find_user_id_by_name_zip", zip="97214", **name) == "Error: user not found"
    assert ask(database, "find_user_id_by_name_zip", zip="1", **name) == NADIA


def test_a_chain_of_replacements_hits_the_first_fitting_item(database):
    mug, set_ = "1837206495", "1752894063"
    pay = {"order_id": "#W1048273", "payment_method_id": "credit_card_3071948"}
    ask(database, "modify_pending_order_items", item_ids=[mug], new_item_ids=[mug], **pay)

    assert [item["item_id"] for item in database.get("orders", "#W1048273")["items"]] == [mug, set_]
    assert ask(database, "cancel_pending_order", order_id="#W1048273", reason="no longer needed").startswith(
        "Error"
    )


def test_what_the_caller_keeps_is_not_in_the_database(database):
    city = ["Portland"]
    ask(database, "modify_user_address", user_id=NADIA, **ADDRESS | {"city": city})
    before = state_hash(database)
    city.append("Salem")

    assert state_hash(database) == before
    assert database.get("users", NADIA)["address"]["city"] == ["Portland"]


def test_a_deep_argument_cannot_break_the_grader(sample, database):
    deep = []
    for _ in range(600):
        deep = [deep]
    ask(database, "modify_user_address", user_id=NADIA, **ADDRESS | {"city": deep})

    assert Grader(RETAIL_TOOLS).grade(sample.tasks[0], database, []).terminal == 0.0


def hashable(value):
    if isinstance(value, dict):
        return tuple((key, hashable(part)) for key, part in sorted(value.items()))
    return tuple(map(hashable, value)) if isinstance(value, list) else value


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda part: st.lists(part, max_size=4) | st.dictionaries(st.text(), part, max_size=4),
)


@given(JSON)
def test_hash_text_is_the_text_of_nested_tuples(value):
    assert hashable_text([value]) == str(hashable([value]))


def test_numbers_of_equal_value_have_different_texts():
    assert len({hashable_text([value]) for value in (1, 1.0, True, "1")}) == 4


@given(SEEDS)
def test_state_hash_is_that_of_the_plain_tables(seed):
    data = load(None, "retail", "test").data
    database = walked(data, seed, wild=0.2)
    tables = {table: dict(database.items(table)) for table in data.tables}

    assert state_hash(database) == hashlib.sha256(str(hashable(tables)).encode()).hexdigest()


def walked(data, seed, wild=0.0, steps=12):
    database = Database(data)
    maker = CallMaker(seed, database, wild)
    for _ in range(steps):
        answer(database, maker.call())
    return database


@given(SEEDS, SEEDS, st.integers(0, 12))
def test_verdict_by_changes_is_the_verdict_by_hashes(seed, other, shared):
    data = load(None, "retail", "test").data
    one, two = Database(data), Database(data)
    for number, call in enumerate(calls_of(data, seed)):
        answer(one, call)
        if number < shared:
            answer(two, call)
    for call in calls_of(data, other)[shared:]:
        answer(two, call)

    assert (changes(one) == changes(two)) == (state_hash(one) == state_hash(two))


def calls_of(data, seed, steps=12):
    database = Database(data)
    maker = CallMaker(seed, database)
    calls = []
    for _ in range(steps):
        calls.append(maker.call())
        answer(database, calls[-1])
    return calls


@given(SEEDS)
def test_random_walks_never_touch_the_base_data(seed):
    data = load(None, "retail", "test").data
    before = hashlib.sha256(repr(data.tables).encode()).digest()
    database = walked(data, seed, wild=0.3)
    records = copy.deepcopy(dict(database.changed))
    snapshot = database.snapshot()
    maker = CallMaker(seed + 1, database, 0.3)
    for _ in range(6):
        answer(database, maker.call())
    database.restore(snapshot)

    assert hashlib.sha256(repr(data.tables).encode()).digest() == before
    assert database.changed == records


def test_a_record_put_back_as_it_was_is_no_change(database, sample):
    address = sample.data.tables["users"][NADIA]["address"]
    ask(database, "modify_user_address", user_id=NADIA, **address)

    assert (("users", NADIA) in database.changed, changes(database)) == (True, {})


@pytest.mark.parametrize(
    ("facts", "said", "expected"),
    [
        (["1234.5"], ["It is $1,234.50."], True),
        (["1,234"], ["It is 1,234"], False),
        (["Blue"], ["the BLUE one"], True),
        (["10", "blue"], ["10", "or", "blue"], True),
        (["10", "blue"], ["blue"], False),
        (["10"], [], False),
    ],
)
def test_facts_are_found_in_messages_without_case_and_commas(facts, said, expected):
    assert told(facts, said) is expected


def test_grades_are_kept_by_content(sample):
    grader = Grader(RETAIL_TOOLS, size=2)
    tasks = list(sample.tasks) * 2
    tasks = tasks[::3] + tasks[1::3] + tasks[2::3]
    for task in tasks:
        database = Database(sample.data)
        for call in task.actions:
            answer(database, call)

        assert grader.grade(task, database, task.facts).terminal == 1.0
    other = Task(id=sample.tasks[0].id, goal={}, actions=())

    assert grader.grade(other, Database(sample.data), []).terminal == 1.0


def test_components_name_what_was_missing(sample):
    task = Task(id="question", goal={}, actions=(), facts=("119.55",))

    assert Grader(RETAIL_TOOLS).grade(task, Database(sample.data), []).components == {
        "end_state": 1.0,
        "facts_told": 0.0,
    }
