"""The reader of actions: every form that models write, and that nothing else gets through or breaks it."""

import json

import numpy as np
import pytest
from effort import effort
from hypothesis import assume, given
from hypothesis import strategies as st

from tool_envs.actions import parse_action
from tool_envs.errors import ActionTypeError
from tool_envs.json_values import MAX_DEPTH
from tool_envs.messages import ToolCall

LOOK = ToolCall("look", {"id": "#1"})
SAY = ToolCall("respond", {"content": "Hello."})
CALL = {"name": "look", "arguments": {"id": "#1"}}
TEXT = json.dumps(CALL)
OPENAI = {"type": "function", "function": CALL}


def said(text):
    return (ToolCall("respond", {"content": text}),)


# --- Forms: the calls that each one gives


def _openai(arguments):
    return {"type": "function", "function": {"name": "look", "arguments": arguments}}


FORMS = {
    "object": CALL,
    "object with its arguments as text": {"name": "look", "arguments": json.dumps({"id": "#1"})},
    "openai call": OPENAI,
    "openai call, arguments as text": _openai(json.dumps({"id": "#1"})),
    "openai call, arguments encoded twice": _openai(json.dumps(json.dumps({"id": "#1"}))),
    "openai call in a message": {"role": "assistant", "content": None, "tool_calls": [OPENAI]},
    "message without a role": {"tool_calls": [OPENAI]},
    "list of one": [CALL],
    "JSON text": TEXT,
    "JSON bytes": TEXT.encode(),
    "JSON in a bytearray": bytearray(TEXT.encode()),
    "JSON in a memoryview": memoryview(TEXT.encode()),
    "JSON list as text": f"[{TEXT}]",
    "JSON list with spaces": f" [ {TEXT} ] ",
    "indented JSON list": json.dumps([CALL], indent=2),
    "message as JSON text": json.dumps({"role": "assistant", "content": "", "tool_calls": [OPENAI]}),
    "block": f"<tool_call>\n{TEXT}\n</tool_call>",
    "block without an end": f"<tool_call>\n{TEXT}",
    "fence": f"```json\n{TEXT}\n```",
    "fence without a language": f"```\n{TEXT}\n```\n",
    "block in a fence": f"<think>a</think>```json\n{TEXT}\n```",
}


@pytest.mark.parametrize("form", FORMS)
def test_one_call_in_every_form(form):
    parsed = parse_action(FORMS[form])

    assert (parsed.calls, parsed.aside, parsed.problem) == ((LOOK,), "", "")


def test_a_call_keeps_its_id():
    assert parse_action({"id": "call_9", **OPENAI}).calls == (ToolCall("look", {"id": "#1"}, "call_9"),)


@pytest.mark.parametrize("arguments", [{}, None, "", "{}", " "])
def test_no_arguments(arguments):
    assert parse_action({"name": "look", "arguments": arguments}).calls == (ToolCall("look", {}),)


@pytest.mark.parametrize("action", ["Hello.", b"Hello.", {"role": "assistant", "content": "Hello."}])
def test_text_is_said(action):
    assert parse_action(action).calls == (SAY,)


@pytest.mark.parametrize(
    "text", ["", "I have [1] and {2}.", "a\n{b", "[1, 2]", "null", '"x"', "```py\nx\n```"]
)
def test_text_that_is_no_call_is_said_as_it_is(text):
    assert parse_action(text).calls == said(text)


SEVERAL = {
    "list": [CALL, {"name": "look"}],
    "JSON list": json.dumps([CALL, {"name": "look"}]),
    "message": {"role": "assistant", "content": "", "tool_calls": [OPENAI, {"name": "look"}]},
    "blocks": f'<tool_call>{TEXT}</tool_call>\n<tool_call>{{"name": "look"}}</tool_call>',
    "blocks, the last one without an end": f'<tool_call>{TEXT}</tool_call><tool_call>{{"name": "look"}}',
    "objects after text": f'First.\n{TEXT}\n{{"name": "look"}}',
    "list in a block": f"<tool_call>{json.dumps([CALL, {'name': 'look'}])}</tool_call>",
}


@pytest.mark.parametrize("form", SEVERAL)
def test_several_calls_keep_their_order(form):
    assert parse_action(SEVERAL[form]).calls == (LOOK, ToolCall("look", {}))


# --- Text beside a call

ASIDES = {
    "before a block": f"Let me look.\n<tool_call>{TEXT}</tool_call>",
    "before an object": f"Let me look.\n{TEXT}",
    "after a block": f"<tool_call>{TEXT}</tool_call> Let me look.",
    "content of a message": {"role": "assistant", "content": "Let me look.", "tool_calls": [OPENAI]},
    "content of a message as text": json.dumps({"content": "Let me look.", "tool_calls": [OPENAI]}),
}


@pytest.mark.parametrize("form", ASIDES)
def test_text_beside_a_call_is_an_aside(form):
    parsed = parse_action(ASIDES[form])

    assert (parsed.calls, parsed.aside) == ((LOOK,), "Let me look.")


# --- Thought

THOUGHTS = {
    "closed": "<think>SECRET</think>Hello.",
    "in the middle": "Hel<think>SECRET</think>lo.",
    "twice": "<think>a</think>Hello.<think>SECRET</think>",
    "without an opening tag": "SECRET</think>Hello.",
    "without an end": "Hello.<think>SECRET",
    "stray end after a block": "<think>a</think>SECRET</think>Hello.",
    "in a message": {"role": "assistant", "content": "<think>SECRET</think>Hello."},
    "in a message as text": json.dumps({"role": "assistant", "content": "<think>SECRET</think>Hello."}),
    "in the content of respond": {"name": "respond", "arguments": {"content": "<think>SECRET</think>Hello."}},
    "in a respond as text": '{"name": "respond", "arguments": {"content": "SECRET</think>Hello."}}',
    "escaped": '{"name": "respond", "arguments": {"content": "SECRET\\u003c/think\\u003eHello."}}',
}


@pytest.mark.parametrize("form", THOUGHTS)
def test_thought_is_not_said(form):
    parsed = parse_action(THOUGHTS[form])

    assert parsed.calls[0].arguments["content"].replace("\n", "") == "Hello."
    assert "SECRET" in parsed.thought


def test_a_call_that_was_only_thought_of_is_not_run():
    assert parse_action(f"<think>{TEXT}</think>Hello.").calls == (SAY,)


@pytest.mark.parametrize(
    "action",
    ["<think>Hm.</think>", "Hm.</think>", "<think>Hm.", {"role": "assistant", "content": "<think>Hm."}],
)
def test_nothing_but_thought_is_malformed(action):
    assert parse_action(action).problem == "it holds nothing but thought"


# --- Broken calls

BROKEN = {
    "cut object": '{"name": "look", "argu',
    "cut block": '<tool_call>{"name": "look"',
    "empty block": "<tool_call></tool_call>",
    "text in a block": "<tool_call>look</tool_call>",
    "no block between two": f"<tool_call>{TEXT}<tool_call>{TEXT}</tool_call>",
    "one good, one broken": f'<tool_call>{TEXT}</tool_call><tool_call>{{"name"}}</tool_call>',
    "object after text": 'Now:\n{"name": look}',
    "text after an object": f"{TEXT} and so on",
    "python literal": "{'name': 'look'}",
    "unknown key": {"name": "look", "parameters": {}},
    "no name": {"arguments": {}},
    "a name that is no text": {"name": 1},
    "arguments that are a list": {"name": "look", "arguments": []},
    "arguments that are no JSON": {"name": "look", "arguments": "id=1"},
    "arguments encoded three times": {"name": "look", "arguments": json.dumps(json.dumps(json.dumps({})))},
    "an id that is no text": {"id": 7, **OPENAI},
    "content that is no text": {"role": "assistant", "content": ["x"]},
    "calls that are no list": {"role": "assistant", "content": "x", "tool_calls": {"0": CALL}},
    "empty list": [],
    "empty object": {},
    "number": 7,
    "null": None,
    "list of text": ["Hello."],
    "one call of a list": [CALL, "Hello."],
}


@pytest.mark.parametrize("form", BROKEN)
def test_a_broken_call_is_malformed_and_none_of_it_runs(form):
    parsed = parse_action(BROKEN[form])

    assert parsed.calls == ()
    assert parsed.problem


PROBLEMS = {
    "not valid Unicode": [
        "\ud800",
        b"\xff",
        {"name": "look", "arguments": {"x": "\udfff"}},
        '{"name": "\\ud800"}',
    ],
    "NaN": [{"name": "look", "arguments": {"x": float("nan")}}, '{"name": NaN}', '{"name": 1e999}'],
    "too many digits": [{"name": "look", "arguments": {"x": 10**5000}}, '{"name": %s}' % ("1" * 5000)],
    "nested deeper": [
        "{" + '"a":[' * 100_000,
        '<tool_call>{"name": ' + "[" * 100_000,
        "[{" + '"a":[' * MAX_DEPTH,
    ],
}


@pytest.mark.parametrize(("problem", "action"), [(p, a) for p, actions in PROBLEMS.items() for a in actions])
def test_what_json_cannot_hold_is_malformed(problem, action):
    assert problem in parse_action(action).problem
    assert problem in parse_action(parse_action(action).action).problem


def test_deep_python_values_do_not_exhaust_the_stack():
    deep = []
    for _ in range(100_000):
        deep = [deep]

    assert "nested deeper" in parse_action([deep]).problem
    assert (
        parse_action(parse_action(["\ud800", deep]).action).problem == parse_action(["\ud800", deep]).problem
    )


@pytest.mark.parametrize(
    "action", [{1}, object(), {"name": {1}}, {1: 2}, [b"x"], np.float64(1), np.str_("x")]
)
def test_what_no_agent_can_write_is_the_callers_mistake(action):
    with pytest.raises(ActionTypeError, match="text, bytes or a JSON value"):
        parse_action(action)


HOSTILE = {
    "quotes without an end": '{"": [' + "[]," * 65 + '"' + '\\"' * 300_000,
    "fence and spaces": "```\n{" + " " * 600_000,
    "many fences": "```\n{" + "``` " * 150_000,
    "think tags": "<think></think>" * 60_000,
    "many blocks": f"<tool_call>{TEXT}</tool_call>" * 10_000,
    "many objects": "Hi.\n" + f"{TEXT}\n" * 10_000,
    "spaces before brackets": (" " * 1000 + "{\n") * 600,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_half_a_megabyte_is_read_in_linear_time(name):
    assert effort(lambda: parse_action(HOSTILE[name])) < 100


# --- Laws

SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
)
TRICKY = st.sampled_from(["<tool_call>", "</tool_call>", "```", '"', "\\", "{", "[{", "\n", "\u2028"])
JSON = st.recursive(
    SCALARS | TRICKY,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text() | TRICKY, inner, max_size=3),
    max_leaves=8,
)
CALLS = st.builds(ToolCall, st.text(), st.dictionaries(st.text(), JSON, max_size=3))


def _short(call):
    return {"name": call.name, "arguments": call.arguments}


def _with_text(call, times):
    arguments = call.arguments
    for _ in range(times):
        arguments = json.dumps(arguments)
    return {"type": "function", "id": "", "function": {"name": call.name, "arguments": arguments}}


ENCODINGS = {
    "object": _short,
    "openai": lambda call: _with_text(call, 0),
    "openai text": lambda call: _with_text(call, 1),
    "openai double": lambda call: _with_text(call, 2),
    "message": lambda call: {"role": "assistant", "content": None, "tool_calls": [_with_text(call, 1)]},
    "text": lambda call: json.dumps(_short(call)),
    "unescaped text": lambda call: json.dumps(_short(call), ensure_ascii=False),
    "bytes": lambda call: json.dumps(_short(call), ensure_ascii=False).encode(),
    "list": lambda call: json.dumps([_short(call)]),
    "indented": lambda call: json.dumps(_short(call), indent=1),
    "openai as text": lambda call: json.dumps(_with_text(call, 1)),
    "message as text": lambda call: json.dumps({"role": "assistant", "tool_calls": [_with_text(call, 1)]}),
    "block": lambda call: f"<tool_call>\n{_escaped(call)}\n</tool_call>",
    "open block": lambda call: f"I look.<tool_call>{_escaped(call)}",
    "fence": lambda call: f"```json\n{_escaped(call)}\n```",
    "after text": lambda call: f"I look.\n{_escaped(call)}",
    "after thought": lambda call: f"<think>{{</think>\n\n{_escaped(call)}",
}


def _escaped(call):
    """As JSON in which no string looks like a tag, as it must be where the whole text is not JSON."""
    return json.dumps(_short(call), indent=2).replace("<", "\\u003c")


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(call=CALLS)
def test_a_call_survives_every_encoding(encoding, call):
    assume(call.name != "respond")

    assert parse_action(ENCODINGS[encoding](call)).calls == (call,)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None)),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["name", "arguments", "function", "tool_calls", "role", "id", "\ud83d"]), inner
        )
    ),
    max_leaves=12,
)
PIECES = [
    *(
        "<think>",
        "</think>",
        "<tool_call>",
        "</tool_call>",
        "```json\n",
        "```",
        "\n",
        "[",
        "{",
        "}",
        "Hello. ",
    ),
    *(TEXT, '{"name": ', '"\\ud83d"', "\ud83d", "\ude00", '{"role": "assistant", "content": "<think>x"}'),
]
MARKUP = st.lists(st.sampled_from(PIECES)).map("".join)


@given(action=ANYTHING | MARKUP | st.binary())
def test_reading_and_copying_never_fail_and_agree(action):
    parsed = parse_action(action)
    copied = parse_action(action).action

    written = json.dumps(copied, allow_nan=False, ensure_ascii=False).encode()
    assert parse_action(copied) == parsed == parse_action(json.loads(written))
    assert bool(parsed.calls) != bool(parsed.problem)


@given(action=ANYTHING | MARKUP)
def test_no_thought_is_ever_said(action):
    for call in parse_action(action).calls:
        if call.name == "respond":
            assert "think>" not in str(call.arguments.get("content"))


@given(value=JSON)
def test_a_copy_shares_nothing_with_the_action(value):
    action = {"name": "look", "arguments": {"x": [value]}}
    copied = parse_action(action).action
    parsed = parse_action(action)
    action["arguments"]["x"].append(1)

    assert copied["arguments"] == {"x": [value]} == parsed.calls[0].arguments
