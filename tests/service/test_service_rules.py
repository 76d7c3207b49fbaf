"""The laws of the rules of every domain of customer service: what keeps them, what breaks them, the texts."""

import re

import pytest
from booking.booking_rule_examples import BOOKING_RULES
from hypothesis import given
from hypothesis import strategies as st
from retail.retail_rule_examples import RETAIL_RULES
from service.rule_events import breaches, broken_each, memory_after
from strategies import json_values

from tool_envs.errors import Code
from tool_envs.messages import CONTENT, RESPOND, ToolCall
from tool_envs.rules import Called, Said, succeeded
from tool_envs.schema import load_schema
from tool_envs.schema.files import shipped_files

BOOKS = {book.domain: book for book in (RETAIL_RULES, BOOKING_RULES)}


def each_of(values, ids):
    """The values of each domain with its book, as cases of a test."""
    found = [(book, value) for book in BOOKS.values() for value in values(book)]
    return [pytest.param(book, value, id=f"{book.domain}-{ids(value)}") for book, value in found]


def examples(table):
    """Cases of a test: book, rule and example."""
    return [
        pytest.param(rule, example, id=f"{book.domain}-{rule.id}-{number}")
        for book in BOOKS.values()
        for rule in book.rules
        for number, example in enumerate(getattr(book, table)[rule.id])
    ]


each_book = pytest.mark.parametrize("book", BOOKS.values(), ids=BOOKS)
each_rule = pytest.mark.parametrize(("book", "rule"), each_of(lambda book: book.rules, lambda rule: rule.id))
each_version = pytest.mark.parametrize(
    ("book", "version"), each_of(lambda book: shipped_files().versions(book.domain), str)
)


# --- Examples


@pytest.mark.parametrize(("rule", "happened"), examples("kept"))
def test_what_keeps_a_rule(rule, happened):
    assert breaches(rule, happened) == []


@pytest.mark.parametrize(("rule", "example"), examples("broken"))
def test_what_breaks_a_rule_and_where(rule, example):
    happened, place = example

    assert breaches(rule, happened) == [place]


@each_book
def test_every_rule_has_examples_of_kept_and_of_broken(book):
    ids = {rule.id for rule in book.rules}

    assert {rule for rule, kept in book.kept.items() if kept} == ids
    assert {rule for rule, broken in book.broken.items() if broken} == ids


@each_book
def test_examples_are_calls_of_the_first_schema_and_its_refusals(book):
    tools = load_schema(book.domain, "1.0.0").tools
    kept = [happened for conversations in book.kept.values() for happened in conversations]
    broken = [happened for conversations in book.broken.values() for happened, _ in conversations]
    calls = [event for happened in kept + broken for event in happened if isinstance(event, Called)]

    assert {event.code for event in calls} <= {None, *book.refusals, *Code}
    for event in calls:
        assert event.call.arguments.keys() <= tools[event.call.name].parameters["properties"].keys()


@each_book
@given(data=st.data())
def test_nothing_is_broken_by_reading_in_another_order(book, data):
    start, find, anybody, own, end = book.reading
    reads = data.draw(st.permutations([find, *anybody, *own]))
    early = [read for read in reads[: reads.index(find)] if read in anybody]
    late = [read for read in reads if read is not find and read not in early]
    happened = [*start, *early, find, *late, *end]

    assert [(rule.id, place) for rule in book.rules for place in breaches(rule, happened)] == []


# --- Laws


@each_rule
@given(data=st.data())
def test_a_call_that_succeeds_breaks_the_rule_that_does_not_permit_it(book, rule, data):
    memory = memory_after(rule, data.draw(book.happenings))
    event = data.draw(book.calls.filter(succeeded))

    _, broken = rule.after(memory, event)

    # Whose a record is, or whom an address finds, may be known afterwards.
    if not (rule.id == "one_customer" and event.call.name in book.finders and broken):
        assert broken != rule.permits(memory, event.call)


@each_rule
@given(data=st.data())
def test_a_message_breaks_the_rule_that_does_not_permit_it(book, rule, data):
    memory = memory_after(rule, data.draw(book.happenings))
    text = data.draw(book.says)

    _, broken = rule.after(memory, Said(text))

    assert broken != rule.permits(memory, ToolCall(RESPOND, {CONTENT: text}))


@each_rule
@given(data=st.data())
def test_a_memory_can_be_gone_on_from_twice(book, rule, data):
    before, one, other = (data.draw(book.happenings) for _ in range(3))
    memory = memory_after(rule, before)
    as_it_was = (hash(memory), repr(memory))

    first, _, again = (broken_each(rule, memory, happened) for happened in (one, other, one))

    assert first == again
    assert (hash(memory), repr(memory)) == as_it_was


@each_rule
@given(data=st.data())
def test_a_call_may_hold_anything(book, rule, data):
    tools = load_schema(book.domain, "1.0.0").tools
    slots = {slot for tool in tools.values() for slot in tool.parameters["properties"]}
    strange = data.draw(st.dictionaries(st.sampled_from(sorted(slots)), json_values))
    arguments = {**data.draw(book.calls).call.arguments, **strange}
    memory = memory_after(rule, data.draw(st.sampled_from(book.kept[rule.id])))

    for name in [*tools, "no_such_tool"]:
        call = ToolCall(name, arguments)
        assert rule.permits(memory, call) in (True, False)
        assert rule.after(memory, Called(call, Code.INVALID_ARGUMENTS, "{}"))[0] == memory


# --- Texts and schema


@each_book
def test_a_sentence_holds_its_parameters(book):
    for rule in book.rules:
        assert "{" not in rule.text
        for value in rule.parameters.values():
            assert all(str(one) in rule.text for one in (value if isinstance(value, tuple) else [value]))


@each_book
def test_the_policy_holds_every_rule(book):
    text = book.policy_text()

    assert "{" not in text
    assert all(f"\n{number}. {rule.text}\n" in text for number, rule in enumerate(book.rules, 1))
    assert all(f"`{name}`" in text for name in book.writes)


@each_version
def test_the_rules_name_what_the_schema_has(book, version):
    effects = {name: tool.effect for name, tool in load_schema(book.domain, version).tools.items()}
    named = {name for rule in book.rules for name in re.findall("`([a-z_]+)`", rule.text)}

    assert {name for name, effect in effects.items() if effect == "write"} == set(book.writes)
    assert {name for name, effect in effects.items() if effect == "end"} == {book.transfer}
    assert {*book.customers_own, *named} <= effects.keys()


@each_rule
def test_only_the_tools_that_enforce_a_rule_refuse_what_breaks_it(book, rule):
    tools = load_schema(book.domain, "1.0.0").tools
    calls = {
        name: ToolCall(name, dict.fromkeys(tool.parameters["properties"], "x"))
        for name, tool in tools.items()
    }
    refusing = {
        name
        for name, call in calls.items()
        if any(breaches(rule, [Called(call, code, "{}")]) for code in book.refusals)
    }

    assert refusing == set(rule.enforced_by)


@each_version
def test_an_agent_may_quote_the_schema(book, version):
    rule = next(rule for rule in book.rules if rule.id == "no_made_up_facts")
    texts = list(descriptions(load_schema(book.domain, version).document))

    assert any("_1234567" in text for text in texts)
    assert [text for text in texts if breaches(rule, [Said(text)])] == []


def descriptions(value):
    """All texts in a schema that agents are shown."""
    if isinstance(value, dict) and isinstance(value.get("description"), str):
        yield value["description"]
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from descriptions(inner)
