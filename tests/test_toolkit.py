"""Calls are atomic, mistakes have codes, and functions are held to their schema."""

import json

import pytest
from toy_domain import FUNCTIONS, TABLES, load

from tool_envs.database import BaseData, Database
from tool_envs.errors import UsageError
from tool_envs.messages import ToolCall
from tool_envs.toolkit import Refusal, Toolkit

LEND = {"member_id": "M2", "book_id": "B1", "days": 7}


@pytest.fixture
def database():
    return Database(BaseData(TABLES))


@pytest.fixture
def toolkit():
    return load().toolkit


def code_and_text(result):
    body = json.loads(result.content)["error"]
    assert body["code"] == result.code
    return result.code, body["message"]


def test_a_call_changes_the_data_and_answers_in_json(toolkit, database):
    result = toolkit.call(database, ToolCall("lend", LEND))

    assert (result.content, result.code) == ('"L2"', None)
    assert database.get("loans", "L2") == {"book_id": "B1", "member_id": "M2", "days": 7}


def test_a_refusal_takes_back_what_the_tool_had_put(toolkit, database):
    result = toolkit.call(database, ToolCall("lend", {**LEND, "book_id": "B2"}))

    assert code_and_text(result) == ("book_is_lent", "The book is not on its shelf.")
    assert not database.changed


def test_a_refusal_takes_back_its_own_call_only(toolkit, database):
    toolkit.call(database, ToolCall("lend", LEND))
    before = database.digest()
    toolkit.call(database, ToolCall("lend", LEND))

    assert database.digest() == before


DEFECTS = [(lambda: 1 / 0, ZeroDivisionError), (lambda: object(), TypeError), (exit, SystemExit)]


@pytest.mark.parametrize(("ending", "error"), DEFECTS)
def test_a_defect_of_a_tool_goes_on_and_the_data_is_restored(toolkit, database, ending, error):
    def think(database, thought=""):
        database.put("books", "B1", {"title": thought})
        return ending()

    broken = Toolkit(toolkit.schema, {**FUNCTIONS, "think": think})

    with pytest.raises(error):
        broken.call(database, ToolCall("think", {}))
    assert not database.changed


def test_an_unknown_tool_is_named_and_cut(toolkit, database):
    result = toolkit.call(database, ToolCall("lend_book" * 1000, {}))

    code, text = code_and_text(result)
    assert code == "unknown_tool"
    assert text.startswith("There is no tool 'lend_booklend_book")
    assert len(text) < 120


INVALID = [{}, {"member_id": "M2"}, {**LEND, "days": 8}, {**LEND, "days": "7"}, {**LEND, "x": 1}]


@pytest.mark.parametrize("arguments", INVALID)
def test_invalid_arguments_do_not_reach_the_function(toolkit, database, arguments):
    result = toolkit.call(database, ToolCall("lend", arguments))

    code, text = code_and_text(result)
    assert code == "invalid_arguments"
    assert text.startswith("$")
    assert not database.changed


def test_checking_a_call_runs_nothing(toolkit, database):
    assert toolkit.check(ToolCall("lend", LEND)) is None
    assert not database.changed


# --- Binding


def bind(toolkit, **changes):
    functions = {**FUNCTIONS, **changes}
    return Toolkit(toolkit.schema, {name: f for name, f in functions.items() if f is not None})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"lend": None}, r"no function for \['lend'\]"),
        ({"lent": FUNCTIONS["lend"]}, r"no tool for \['lent'\]"),
        ({"respond": lambda _, content: content}, r"no tool for \['respond'\]"),
        ({"get_book": lambda _, book: book}, "function of tool `get_book` takes"),
        ({"get_book": lambda _: None}, "function of tool `get_book` takes"),
        ({"get_book": lambda _, book_id, more: book_id + more}, "function of tool `get_book` takes"),
        ({"get_book": lambda _, book_id="B1": book_id}, "function of tool `get_book` takes"),
        ({"think": lambda _, thought: thought}, "function of tool `think` takes"),
    ],
)
def test_functions_that_do_not_fit_the_schema_are_refused_at_once(toolkit, changes, message):
    with pytest.raises(UsageError, match=message):
        bind(toolkit, **changes)


def test_the_first_parameter_may_have_any_name(toolkit, database):
    renamed = bind(toolkit, get_book=lambda _, book_id: Refusal("closed", book_id))

    assert renamed.call(database, ToolCall("get_book", {"book_id": "B1"})).code == "closed"
