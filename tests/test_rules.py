"""The events of a conversation, and rules as folds over them."""

from tool_envs.messages import Message, ToolCall
from tool_envs.rules import Called, Heard, Names, Rule, Said, broken_rules, events, fold, succeeded

READ = ToolCall("read", {"id": 1}, "a")
WRITE = ToolCall("write", {"id": 1}, "a")


def user(text, acts=(), call_id=""):
    return Message(role="user", name="user", content=text, acts=acts, tool_call_id=call_id)


def agent(*calls, content=""):
    return Message(role="assistant", content=content, tool_calls=calls)


def tool(call, result="{}", code=None):
    return Message(role="tool", name=call.name, content=result, code=code, tool_call_id=call.id)


def test_events_in_order_with_the_action_that_they_belong_to():
    history = [
        user("Hi", ({"act": "bye"},)),
        agent(READ),
        tool(READ, '{"n": 1}'),
        agent(content="Hello"),
        user("Yes"),
        agent(WRITE),
        tool(WRITE, "{}", "refused"),
    ]

    assert list(events(history)) == [
        (0, Heard(({"act": "bye"},), "Hi")),
        (0, Called(READ, None, '{"n": 1}')),
        (1, Said("Hello")),
        (1, Heard((), "Yes")),
        (2, Called(WRITE, "refused", "{}")),
    ]


def test_calls_of_one_action_that_share_an_id_are_told_apart():
    history = [agent(WRITE, READ), tool(WRITE, "wrote"), tool(READ, "read")]

    assert list(events(history)) == [(0, Called(WRITE, None, "wrote")), (0, Called(READ, None, "read"))]


def test_speech_among_several_calls():
    speech = ToolCall("respond", {"content": "Wait"}, "b")
    wrong = ToolCall("respond", {"text": "Wait"}, "c")
    history = [
        agent(READ, speech, wrong, WRITE),
        tool(READ),
        user("Well", call_id="b"),
        tool(wrong, "no", "invalid_arguments"),
        tool(WRITE),
    ]

    assert list(events(history)) == [
        (0, Called(READ, None, "{}")),
        (0, Said("Wait")),
        (0, Heard((), "Well")),
        (0, Called(WRITE, None, "{}")),
    ]


def test_what_could_not_be_read_is_no_event():
    history = [agent(), Message(role="tool", name="", content="?", code="malformed_call")]

    assert list(events(history)) == []


def _not_first(seen, call):
    return seen or call.name != "write"


READ_FIRST = Rule(
    id="read_first",
    template="Call one of {readers:`} before {writer}.",
    parameters={"readers": Names(("read", "look")), "writer": "write"},
    start=False,
    after=fold(lambda seen, event: seen or (succeeded(event) and event.call.name == "read"), _not_first),
    permits=_not_first,
)


def test_a_rule_names_the_step_of_each_breach():
    history = [agent(WRITE), tool(WRITE), agent(content="Hm"), user("?"), agent(WRITE, READ, WRITE)]
    history += [tool(WRITE), tool(READ), tool(WRITE)]

    assert broken_rules([READ_FIRST], history) == [
        {"rule": "read_first", "step": 0},
        {"rule": "read_first", "step": 2},
    ]


def test_a_call_that_fails_breaks_nothing():
    assert broken_rules([READ_FIRST], [agent(WRITE), tool(WRITE, "{}", "refused")]) == []


def test_breaches_are_in_the_order_of_steps_and_then_of_ids():
    other = Rule(**{**vars(READ_FIRST), "id": "another"})
    history = [agent(WRITE), tool(WRITE), agent(WRITE), tool(WRITE)]

    found = [(breach["step"], breach["rule"]) for breach in broken_rules([READ_FIRST, other], history)]

    assert found == [(0, "another"), (0, "read_first"), (1, "another"), (1, "read_first")]


def test_the_sentence_is_made_from_the_parameters():
    assert READ_FIRST.text == "Call one of `read` or `look` before write."
    assert f"{Names('abc')}" == "a, b or c"
    assert f"{Names('a')}" == "a"
