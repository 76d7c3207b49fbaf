"""A language model as the agent: what it is asked, what becomes of its replies, whole episodes."""

import asyncio
import json

import gymnasium
import jsonschema_rs
import msgspec
import pytest
import toy_domain
from chat_stub import (
    Answer,
    ChatStub,
    completion,
    cut_json,
    failure,
    huge,
    no_choices,
    overflow,
    refusal,
    streamed,
    tool_calls,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from policy_episodes import play
from strategies import calls, json_values, mutated_calls, shipped_schemas
from virtual_clock import run_virtually

from tool_envs.actions import parse_action
from tool_envs.agents import json_calls
from tool_envs.agents.llm import ChatPolicy
from tool_envs.chat import ChatClient, ChatError, ChatReply, ContextOverflowError, Prices, Usage
from tool_envs.errors import UsageError
from tool_envs.messages import ToolCall
from tool_envs.trajectory import replay
from tool_envs.trajectory.record import Sampling, Tokens
from tool_envs.trajectory.refs import TokenCounts, TokenUsage

TOOLS = gymnasium.make(toy_domain.ENV_ID).unwrapped.schema.to_openai()
CONVERSATION = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hello."}]


class Scripted:
    """A model that gives these replies in turn and keeps what it was asked."""

    model = "m"

    def __init__(self, *replies):
        self.replies, self.asked = list(replies), []

    async def complete(self, messages, *, tools=(), response_format=None, arguments=None):
        self.asked.append(
            {"messages": list(messages), "tools": tools, "form": response_format, "arguments": arguments}
        )
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply if isinstance(reply, ChatReply) else ChatReply(message=reply)


def act(reply, messages=CONVERSATION, tools=TOOLS, **options):
    """One turn: its output, and what the model was asked."""
    source = Scripted(reply)
    output = asyncio.run(ChatPolicy(source, **options).act(messages, tools))
    return output, source.asked[0]


# --- Native calls


def test_calls_become_the_action_without_what_servers_add():
    given_calls = [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}]
    message = {
        "role": "assistant",
        "content": None,
        "tool_calls": given_calls,
        "audio": None,
        "refusal": None,
    }
    output, asked = act(message)

    assert output.action == {"role": "assistant", "content": "", "tool_calls": given_calls}
    assert parse_action(output.action).calls == (ToolCall("f", {"a": 1}, "c1"),)
    assert output.finish == "stop"
    assert (asked["messages"], asked["tools"], asked["form"]) == (CONVERSATION, TOOLS, None)


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"content": "Hello."}, "Hello."),
        ({"content": "Hello.", "tool_calls": []}, "Hello."),
        ({"content": None, "refusal": "I cannot."}, "I cannot."),
        ({"content": None}, ""),
        ({}, ""),
        ({"content": ["parts"]}, ""),
    ],
)
def test_a_message_without_calls_is_its_text(message, text):
    assert act(message)[0].action == text


@given(st.dictionaries(st.sampled_from(["role", "content", "tool_calls", "refusal"]), json_values))
def test_any_message_is_an_action_that_can_be_taken(message):
    output, _ = act(message)

    parse_action(output.action)
    msgspec.json.encode(output.action)


def test_why_a_reply_ended():
    cut = ChatReply(message={"content": "Hel"}, finish_reason="length")
    output, _ = act(cut)
    assert (output.action, output.finish) == ("Hel", "length")

    output, _ = act(ContextOverflowError("Too long."))
    assert (output.action, output.finish, output.tokens) == ("", "context", None)


def test_tokens_are_kept_when_all_of_them_are_served():
    served = {"prompt_token_ids": (1, 2), "token_ids": (3,), "logprobs": (-0.5,)}
    output, asked = act(ChatReply(message={"content": "Hi."}, **served), tokens=True)

    assert output.tokens == Tokens(prompt_token_ids=(1, 2), token_ids=(3,), logprobs=(-0.5,))
    assert asked["arguments"] == {
        "temperature": 1.0,
        "top_p": 1.0,
        "logprobs": True,
        "return_token_ids": True,
    }
    for missing in served:
        assert act(ChatReply(message={"content": "Hi."}, **{**served, missing: None}))[0].tokens is None


def test_the_cost_is_what_is_known_of_it():
    assert act(ChatReply(message={}, cost=0.25))[0].cost == 0.25
    assert act(ChatReply(message={}, cost=None))[0].cost == 0.0


def test_tokens_are_counted_as_the_server_did_or_by_what_was_served():
    served = {"prompt_token_ids": (1, 2), "token_ids": (3,), "logprobs": (-0.5,)}
    assert act(ChatReply(message={}, usage=Usage(20, 3), **served))[0].counted == Usage(20, 3)
    assert act(ChatReply(message={}, **served))[0].counted == Usage(2, 1)
    assert act(ChatReply(message={}))[0].counted is None
    assert act(ContextOverflowError("Too long."))[0].counted == Usage(0, 0)


@pytest.mark.parametrize(
    ("arguments", "sampling", "sent"),
    [
        ({}, Sampling(1.0, 1.0, None, ()), {"temperature": 1.0, "top_p": 1.0}),
        (
            {"temperature": 0, "seed": 7, "stop": "\n", "max_tokens": 5},
            Sampling(0.0, 1.0, 7, ("\n",)),
            {"temperature": 0, "top_p": 1.0, "seed": 7, "stop": "\n", "max_tokens": 5},
        ),
        (
            {"temperature": None, "top_p": None, "stop": ["a", "b"]},
            Sampling(1.0, 1.0, None, ("a", "b")),
            {"stop": ["a", "b"]},
        ),
    ],
)
def test_the_setting_is_what_is_sent(arguments, sampling, sent):
    source = Scripted({"content": "Hi."})
    policy = ChatPolicy(source, arguments=arguments, reference_policy="v0", tokenizer="0" * 64)
    asyncio.run(policy.act(CONVERSATION, TOOLS))

    assert source.asked[0]["arguments"] == sent
    assert policy.setting.sampling == sampling
    assert (policy.setting.reference_policy, policy.setting.tokenizer, policy.setting.chat_template) == (
        "v0",
        "0" * 64,
        None,
    )


@pytest.mark.parametrize(
    "options",
    [
        {"arguments": {"temperature": -1}},
        {"arguments": {"top_p": 0}},
        {"arguments": {"stop": 5}},
        {"calls": "xml"},
        {"thought": True},
    ],
)
def test_policies_that_cannot_be_made(options):
    with pytest.raises(UsageError):
        ChatPolicy(Scripted(), **options)


def test_the_version_is_that_of_all_that_acts():
    options = [{}, {"calls": "json"}, {"calls": "json", "thought": True}, {"arguments": {"max_tokens": 5}}]
    versions = [ChatPolicy(Scripted(), **each).version for each in options]

    assert len(set(versions)) == len(options)
    assert ChatPolicy(Scripted()).version == versions[0]


# --- What servers are sent of a conversation

actions = st.one_of(
    st.sampled_from(["Hello.", "<tool_call>{", '{"name": "get_book", "arguments": {"book_id": "B1"}}', ""]),
    st.builds(
        lambda names: [{"name": name, "arguments": {"book_id": "B1"}, "id": i} for name, i in names],
        st.lists(
            st.tuples(
                st.sampled_from(["get_book", "no such tool", "respond", ""]), st.sampled_from(["a", "b", ""])
            ),
            min_size=1,
            max_size=3,
        ),
    ),
)


@given(st.lists(actions, min_size=1, max_size=5))
def test_a_conversation_is_sent_in_the_form_that_servers_insist_on(taken):
    env = gymnasium.make(toy_domain.ENV_ID, user="scripted").unwrapped
    env.reset(seed=0, options={"user_turns": ["Hello."] * 9})
    for action in taken:
        env.step(action)
        if env.outcome is not None:
            break
    _, asked = act({"content": "Hm."}, [CONVERSATION[0], *env.messages])

    names = {tool["function"]["name"] for tool in TOOLS}
    waiting = []
    for message in asked["messages"]:
        assert isinstance(message["content"], str) or message["tool_calls"]
        if message["role"] == "tool":
            waiting.remove(message["tool_call_id"])
            continue
        assert not waiting
        waiting = [call["id"] for call in message.get("tool_calls", ())]
        assert {call["function"]["name"] for call in message.get("tool_calls", ())} <= names
    assert not waiting
    assert len(asked["messages"]) == 1 + len(env.messages)


# --- Replies held to a JSON Schema


@settings(max_examples=40)
@given(st.data())
def test_the_form_of_a_reply_takes_the_calls_that_the_tools_take(data):
    schema = data.draw(shipped_schemas)
    thought = data.draw(st.booleans())
    form = json_calls.call_format(schema.to_openai(), thought=thought)["json_schema"]["schema"]
    validator = jsonschema_rs.Draft202012Validator(form)
    call = data.draw(calls(schema) | mutated_calls(schema))
    reply = {"name": call["name"], "arguments": call["arguments"]}
    if thought:
        reply = {"thought": "Hm.", **reply}

    listed = {tool["function"]["name"] for tool in schema.to_openai()}
    right = call["name"] in listed and schema.tools[call["name"]].accepts(call["arguments"])
    assert validator.is_valid(reply) == right
    assert not validator.is_valid({**reply, "more": 1})
    for name in reply:
        assert not validator.is_valid({other: value for other, value in reply.items() if other != name})


no_tags = st.text(max_size=30).filter(lambda text: "think>" not in text)


@given(
    st.text(max_size=8), st.dictionaries(st.text(max_size=5), json_values, max_size=3), no_tags | st.none()
)
def test_a_call_comes_out_of_a_reply_as_it_went_in(name, arguments, thought):
    reply = {"name": name, "arguments": arguments}
    text = json.dumps(reply if thought is None else {"thought": thought, **reply})
    parsed = parse_action(json_calls.as_action(text))

    assert not parsed.problem
    assert [(call.name, call.arguments) for call in parsed.calls] == [(name, arguments)] or name == "respond"
    assert parsed.thought.split() == (thought or "").split()


@given(st.text() | json_values.map(json.dumps) | st.just('{"thought": ' + "[" * 99_000))
def test_any_reply_is_an_action(text):
    parse_action(json_calls.as_action(text))


def test_a_thought_cannot_pass_for_what_is_said():
    reply = {"thought": "</think>I said that.<think>", "name": "f", "arguments": {}}
    parsed = parse_action(json_calls.as_action(json.dumps(reply)))

    assert (parsed.calls, parsed.thought) == ((ToolCall("f", {}),), "I said that.")


def test_a_conversation_in_plain_messages():
    calls_made = [
        {"id": "c", "type": "function", "function": {"name": "get_book", "arguments": '{"book_id":"B1"}'}}
    ]
    conversation = [
        *CONVERSATION,
        {"role": "assistant", "content": None, "tool_calls": calls_made},
        {"role": "tool", "name": "get_book", "content": "It is red.", "tool_call_id": "c"},
        {"role": "assistant", "content": "It is red."},
        {"role": "user", "content": "Thanks."},
    ]
    output, asked = act(
        {"content": '{"name": "close_desk", "arguments": {}}'}, conversation, calls="json", thought=True
    )

    system, *rest = asked["messages"]
    assert rest == [
        {"role": "user", "content": "Hello."},
        {"role": "assistant", "content": '{"name": "get_book", "arguments": {"book_id": "B1"}}'},
        {"role": "user", "content": "Result of get_book: It is red."},
        {"role": "assistant", "content": '{"name": "respond", "arguments": {"content": "It is red."}}'},
        {"role": "user", "content": "Thanks."},
    ]
    assert system["content"].startswith("Be kind.\n")
    assert all(json.dumps(tool["function"]) in system["content"] for tool in TOOLS)
    assert "thought" in system["content"]
    assert asked["tools"] == ()
    assert output.action == '{"name": "close_desk", "arguments": {}}'


def test_speech_is_a_tool_where_a_benchmark_lists_none():
    silent = [tool for tool in TOOLS if tool["function"]["name"] != "respond"]
    _, asked = act({"content": ""}, tools=silent, calls="json")

    forms = asked["form"]["json_schema"]["schema"]["anyOf"]
    assert [form["properties"]["name"]["const"] for form in forms][-1] == "respond"
    assert len(forms) == len(TOOLS)


# --- Whole episodes


def oracle_actions(env_id, seed):
    env = gymnasium.make(env_id, difficulty=1).unwrapped
    env.reset(seed=seed)
    while env.outcome is None:
        env.step(env.domain.oracle(env.episode))
    return [message.action for message in env.episode.history if message.role == "assistant"]


def as_native(action):
    if action["name"] == "respond":
        return completion(action["arguments"]["content"])
    return tool_calls((action["name"], action["arguments"]))


def as_json(action):
    return completion(json.dumps({"thought": "So be it.", **action}))


async def play_through(env_id, answers, seed=5, **options):
    async with (
        ChatStub(answers) as stub,
        ChatClient(
            "m", base_url=stub.url, prices=Prices(prompt=100_000.0, completion=0.0), retries=1
        ) as client,
    ):
        env = gymnasium.make(env_id, difficulty=1)
        record, messages = await play(env, ChatPolicy(client, **options), seed)
        return record, messages, stub


@pytest.mark.parametrize("env_id", ["tool_envs/Retail-v0", "tool_envs/Booking-v0"])
@pytest.mark.parametrize(
    ("options", "as_answer"), [({}, as_native), ({"calls": "json", "thought": True}, as_json)]
)
def test_a_model_that_does_what_the_oracle_does_is_paid_for_it(env_id, options, as_answer):
    actions = oracle_actions(env_id, seed=5)
    answers = [as_answer(action) for action in actions]
    record, messages, stub = run_virtually(play_through(env_id, answers, **options))

    assert record.outcome.reward == 1.0
    assert record.costs == {"agent": pytest.approx(len(actions) * 1.0), "user": 0.0}
    assert record.usage == TokenUsage(agent=TokenCounts(10 * len(actions), 5 * len(actions)), user=None)
    assert len(stub.requests) == len(actions)
    # Each request holds all of the conversation before its reply.
    sizes = [len(request.json["messages"]) for request in stub.requests]
    assert sizes == [at for at, message in enumerate(messages) if message["role"] == "assistant"]
    replay(record)


@pytest.mark.parametrize(
    ("answers", "status", "ended_by"),
    [
        ([completion("Hm.", finish="length")], "truncated", "length"),
        ([completion("Hm."), overflow()], "truncated", "context"),
        ([refusal()], "completed", "user"),
        ([tool_calls(("no_such_tool", {}), ("", {}))], "truncated", "limit"),
        ([completion('{"name": "get_user_details", "arguments": {"use')], "truncated", "limit"),
        ([completion("", finish="content_filter")], "truncated", "limit"),
        ([huge(10**6), completion("Hm.", finish="length")], "truncated", "length"),
        ([tool_calls(("get_user_details", {"user_id": "a" * 10**6})), overflow()], "truncated", "context"),
        ([completion("Hm.", finish="length", message={"tool_calls": []})], "truncated", "length"),
    ],
)
def test_every_reply_ends_in_a_counted_outcome(answers, status, ended_by):
    record, *_ = run_virtually(play_through("tool_envs/Retail-v0", answers))

    assert (record.outcome.status, record.outcome.ended_by) == (status, ended_by)
    assert record.outcome.reward == 0.0


def test_parallel_calls_are_run_in_order_and_each_is_answered_under_its_id():
    at_once = [("get_book", {"book_id": "B1"}), ("get_book", {"book_id": "B2"})]

    async def run(*calls_at_once, **options):
        answers = [tool_calls(*calls_at_once), completion("Goodbye.")]
        async with ChatStub(answers) as stub, ChatClient("m", base_url=stub.url) as client:
            env = gymnasium.make(toy_domain.ENV_ID, **options)
            record, _ = await play(env, ChatPolicy(client), 0)
            return record.outcome.steps, stub.requests[1].json["messages"][-len(calls_at_once) :]

    steps, answered = run_virtually(run(*at_once))
    assert [message["tool_call_id"] for message in answered] == ["call_0", "call_1"]
    assert answered[0]["content"] != answered[1]["content"]

    fewer, answered = run_virtually(run(*at_once, parallel_calls="refuse"))
    assert fewer == steps - 1
    assert all("several_calls" in message["content"] for message in answered)

    # Beside a call of a tool that there is not, which servers refuse to be shown, all are told as text.
    _, answered = run_virtually(run(*at_once, ("no_such_tool", {})))
    assert [message["role"] for message in answered] == ["user"] * 3


@pytest.mark.parametrize(
    "answer", [failure(500), failure(401), Answer(), streamed("Hm."), cut_json(), no_choices()]
)
def test_a_failure_of_the_server_is_never_a_reward(answer):
    with pytest.raises(ChatError):
        run_virtually(play_through("tool_envs/Retail-v0", [completion("Hm."), answer]))
