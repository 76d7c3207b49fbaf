"""A language model plays the user: what it is told, what is made of its replies, and whole episodes."""

import asyncio
import json
from pathlib import Path

import gymnasium
import pytest
from chat_stub import completion, failure, overflow, refusal, serving
from hypothesis import given
from hypothesis import strategies as st
from model_replies import agreed, reply, reply_of
from sample_goals import CANCEL, FORBIDDEN, LEXICON, QUESTION, RETURN, SECOND_CHOICE, WISHES, goal
from scripted_model import Scripted

import tool_envs  # noqa: F401 - registers the ids
from tool_envs.agents.agent import say
from tool_envs.chat import ChatReply, ChatStatusError, ContextOverflowError, Usage
from tool_envs.errors import InfrastructureError, UsageError
from tool_envs.simulators import LLMUser, Turn, UserReplyError, llm_prompt
from tool_envs.simulators.retail_phrases import RETAIL_PHRASES
from tool_envs.trajectory import Trajectory, record_episode, replay
from tool_envs.trajectory.refs import TokenCounts

KEY = "sk-test-0123456789abcdefghij"
PROPOSAL = "Shall I return the desk lamp and the water bottle from order #W1234567 to PayPal?"
RETURN_TOOL, RETURN_ARGUMENTS = RETURN.tool, RETURN.accepted[0]


def talk(source, *agent_texts, wishes=(RETURN,), key=1, **options):
    """The user after an opening and what the agent said, with its last turn."""
    user = LLMUser(RETAIL_PHRASES, source, **options)
    turn = user.reset(goal(*wishes), key)
    for text in agent_texts:
        turn = user.respond(text)
    return user, turn


def acts(text, message=PROPOSAL, wishes=(RETURN,)):
    return talk(Scripted(reply("Hello."), text), message, wishes=wishes)[1].acts


# --- Laws

words = st.sampled_from(
    ["Yes, please.", "No.", "Hm.", "", " ", "Yes, but on my gift card", "No, for order #W7654321"]
)
agreements = st.none() | st.builds(
    dict,
    tool=st.sampled_from([RETURN_TOOL, CANCEL.tool, "no_such_tool", ""]),
    arguments=st.dictionaries(
        st.sampled_from(["order_id", "item_ids", "payment_method_id", "made_up"]),
        st.sampled_from(
            ["#W1234567", "#W0000000", ["1111111111"], ["1"], "paypal", None, 5, {"a": [1]}, True]
        ),
    ),
)
formed = st.builds(reply, words, agreements, st.booleans())
texts = st.one_of(
    formed, formed, st.text(max_size=20), st.builds(lambda t, n: t[:n], formed, st.integers(0, 60))
)


@given(st.lists(texts, min_size=8, max_size=8))
def test_any_replies_are_turns_or_a_failure_after_two_requests(replies):
    source = Scripted(*replies)
    user = LLMUser(RETAIL_PHRASES, source)
    turn = Turn("")
    for number, message in enumerate(["", PROPOSAL, "Shall I go ahead (yes or no)?", PROPOSAL]):
        before = len(source.asked)
        try:
            turn = user.respond(message) if number else user.reset(goal(RETURN), 1)
        except UserReplyError:
            assert len(source.asked) - before == 2
            return
        used = json.loads(replies[len(source.asked) - 1])
        assert len(source.asked) - before in (1, 2)
        assert (turn.text, turn.ended) == (used["say"], used["ended"])
        affirmed = [act["tool"] for act in turn.acts if act["act"] == "affirm"]
        assert affirmed == ([used["agrees_to"]["tool"]] if used["agrees_to"] else [])
        assert user.turns[-1] == used


@given(st.sampled_from(sorted(WISHES)), st.integers(0, 2**64 - 1))
def test_the_model_is_told_no_answer(kind, key):
    source = Scripted(reply("Hello."))
    talk(source, wishes=(WISHES[kind],), key=key)
    told = json.dumps(source.asked)

    ids = {
        value.value for slot in ("item_ids", "new_item_ids", "payment_method_id") for value in LEXICON[slot]
    }
    assert not [one for one in ids if one in told]
    assert "forbidden" not in told


# --- What the model is told


def test_instructions():
    wishes = (RETURN, SECOND_CHOICE, QUESTION, FORBIDDEN)
    conditions = {"max_characters": 300, "formal": True, "only_the_total": False}
    wanted = goal(*wishes, traits=("terse", "insists"), conditions=conditions)
    golden = Path(__file__).parent / "golden" / "llm_instructions.txt"

    assert llm_prompt.instructions(wanted, RETAIL_PHRASES) + "\n" == golden.read_text(encoding="utf-8")


def test_each_request_holds_the_conversation_from_the_users_side():
    source = Scripted(reply("Hello."), reply("Jane Roe."), reply("Thanks."))
    talk(source, "Who are you?", "Welcome, Jane.", arguments={"temperature": 0.5, "seed": 7})

    messages, form, arguments = source.asked[-1]
    assert [message["role"] for message in messages] == ["system", "user", *["assistant", "user"] * 2]
    assert [m["content"] for m in messages[3::2]] == ["Who are you?", "Welcome, Jane."]
    assert json.loads(messages[2]["content"])["say"] == "Hello."
    assert form["json_schema"]["schema"]["required"] == ["say", "agrees_to", "ended"]
    assert arguments == {"temperature": 0.5, "seed": 7}
    first = source.asked[0][1]["json_schema"]["schema"]["properties"]
    assert (first["agrees_to"], first["ended"]) == ({"type": "null"}, {"const": False})


def test_a_seed_follows_from_the_key_unless_it_is_left_out():
    def seeds(key, **options):
        source = Scripted(reply("Hello."), reply("Yes?"))
        talk(source, "Hi.", key=key, **options)
        return [arguments.get("seed") for *_, arguments in source.asked]

    assert seeds(1) == seeds(1) != seeds(2)
    assert len({*seeds(1), *seeds(2)}) == 4
    assert seeds(1, arguments={"seed": None}) == [None, None]


# --- What is made of replies


def test_the_opening_brings_up_all_wishes():
    _, turn = talk(Scripted(reply("Hello, two things.")), wishes=(RETURN, QUESTION))

    assert (turn.text, turn.ended) == ("Hello, two things.", False)
    assert [act["act"] for act in turn.acts] == ["wish", "ask"]


def test_a_yes_is_to_what_was_proposed():
    assert acts(agreed("Fine with me.", RETURN_TOOL)) == (
        {"act": "affirm", "tool": RETURN_TOOL, "arguments": RETURN_ARGUMENTS},
    )


def test_what_they_add_to_a_yes_counts_as_the_value_that_it_means():
    (act,) = acts(agreed("Yes, but on my gift card", RETURN_TOOL, payment_method_id="Gift Card"))

    assert act["arguments"] == {**RETURN_ARGUMENTS, "payment_method_id": "gift_card_3333333"}


def test_values_that_could_not_come_up_are_no_part_of_a_yes():
    (act,) = acts(
        agreed(
            "Yes.",
            RETURN_TOOL,
            order_id="W1234567",
            payment_method_id="the card",
            item_ids=["1"],
            color="red",
        )
    )

    assert act["arguments"] == RETURN_ARGUMENTS

    (act,) = acts(agreed("Yes.", RETURN_TOOL, item_ids=["1111111111", "1"]))
    assert act["arguments"] == RETURN_ARGUMENTS


def test_a_yes_to_another_tool_than_the_words_name_has_only_what_they_agree_to():
    (act,) = acts(agreed("Yes.", CANCEL.tool, order_id="#W1234567"))

    assert act == {"act": "affirm", "tool": CANCEL.tool, "arguments": {"order_id": "#W1234567"}}


def test_a_yes_in_words_to_nothing_that_can_be_made_out_is_none():
    assert acts(reply("Yes, please."), "Shall I go ahead?") == ()


def test_a_no_is_read_from_the_words():
    assert acts(reply("No, to my gift card")) == (
        {"act": "deny"},
        {"act": "correct", "slot": "payment_method_id", "value": "gift_card_3333333"},
    )


def test_a_refusal_is_accepted():
    message = "I'm sorry, this order cannot be cancelled."
    assert acts(reply("What a pity."), message, (FORBIDDEN,)) == ({"act": "accept_no", "wish": 0},)


def test_hanging_up_is_structured():
    _, turn = talk(Scripted(reply("Hi."), reply("", ended=True)), "All done.")
    assert (turn.text, turn.acts, turn.ended) == ("", ({"act": "bye"},), True)

    _, turn = talk(Scripted(reply("Hi."), reply("Goodbye. ###STOP###")), "All done.")
    assert not turn.ended


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Yes.",
        "[]",
        "{}",
        '{"say": "Hm.", "ended": false}',
        '{"say": "Hm.", "agrees_to": null}',
        '{"say": "Hm.", "agrees_to": true, "ended": false}',
        '{"say": "Hm.", "agrees_to": {"arguments": {}}, "ended": false}',
        '{"say": "Hm.", "agrees_to": null, "ended": "no"}',
        '{"say": "Hm.", "agrees_to": null, "ended": false, "mood": "bad"}',
        '{"say": 5, "agrees_to": null, "ended": false}',
        '{"say": "\\ud800", "agrees_to": null, "ended": false}',
        '{"say": "Hm.", "agrees_to": {"tool": "f", "arguments": {"a": NaN}}, "ended": false}',
        '{"say": "Hm.", "agrees_to": {"tool": "f", "arguments": {"a": ' + "[" * 5000,
        reply("  "),
        agreed("Yes.", "no_such_tool"),
        reply("Yes, please."),
        reply("Hm.")[:-1],
    ],
)
def test_what_is_no_reply_is_asked_for_once_more(text):
    source = Scripted(reply("Hello."), text, reply("Hm, let me think."))
    _, turn = talk(source, PROPOSAL)
    assert turn.text == "Hm, let me think."
    messages = source.asked[-1][0]
    assert messages[:-2] == source.asked[-2][0]
    assert messages[-2] == {"role": "assistant", "content": text}
    assert messages[-1]["content"].startswith("(That was no reply")

    with pytest.raises(UserReplyError, match="asked twice"):
        talk(Scripted(reply("Hello."), text, text), PROPOSAL)


@pytest.mark.parametrize("made_up", ["#W5555555", "9999999999", "paypal_1234321", "eve@example.org"])
def test_a_user_who_makes_up_ids_is_asked_once_more_and_fails_the_second_time(made_up):
    source = Scripted(reply("Hello."), reply(f"It is {made_up}."), reply("I do not know."))
    assert talk(source, "Which one?")[1].text == "I do not know."
    again = source.asked[-1][0][-1]["content"]
    assert made_up.lower().lstrip("#") in again.lower()

    with pytest.raises(UserReplyError, match="which you do not know and were not told"):
        talk(Scripted(reply("Hello."), *[reply(f"It is {made_up}.")] * 2), "Which one?")


@pytest.mark.parametrize("known", ["#W1234567", "W1234567", "w1234567"])
def test_ids_that_they_know_or_were_told_may_be_named(known):
    assert (
        talk(Scripted(reply("Hello."), reply(f"It is {known}.")), "Which one?")[1].text == f"It is {known}."
    )
    told = Scripted(reply("Hello."), reply("Yes, #W5555555, I think."))
    assert talk(told, "Do you mean order #W5555555?")[1].text == "Yes, #W5555555, I think."


@pytest.mark.parametrize("text", [agreed("Hello.", RETURN_TOOL), reply("Hello.", ended=True)])
def test_nothing_is_agreed_to_or_ended_in_the_opening(text):
    assert talk(Scripted(text, reply("Hello.")))[1].text == "Hello."
    with pytest.raises(UserReplyError):
        talk(Scripted(text, text))


@pytest.mark.parametrize("frame", ["```json\n{}\n```", "```\n{}\n```", "<think>Hm { }</think>\n{}", "  {}\n"])
def test_thoughts_and_code_fences_are_left_out(frame):
    assert talk(Scripted(frame.replace("{}", reply("Hello."))))[1].text == "Hello."


def test_the_context_of_the_users_model_is_the_users_affair():
    class Full:
        async def complete(self, *_, **__):
            raise ContextOverflowError("Too long.")

    with pytest.raises(UserReplyError, match="context"):
        talk(Full())


def test_costs_add_up_over_all_replies():
    source = Scripted(reply("Hello."), "?", reply("Hm."), cost=0.25)
    assert talk(source, "Who are you?")[0].cost == 0.75
    assert talk(Scripted(reply("Hello.")))[0].cost == 0.0


def test_tokens_add_up_over_all_replies_or_are_unknown():
    def used(*usages):
        texts = (reply("Hello."), "?", reply("Hm."))
        replies = [
            ChatReply(message={"content": text}, usage=one) for text, one in zip(texts, usages, strict=True)
        ]
        return talk(Scripted(*replies), "Who are you?")[0].usage

    assert used(Usage(10, 1), Usage(20, 2), Usage(30, 3)) == Usage(60, 6)
    assert used(Usage(10, 1), None, Usage(30, 3)) is None
    assert LLMUser(RETAIL_PHRASES, Scripted()).usage is None


def test_a_snapshot_is_enough_to_go_on():
    first, _ = talk(Scripted(reply("Hello.")))
    source = Scripted(agreed("Yes.", RETURN_TOOL))
    other = LLMUser(RETAIL_PHRASES, source)
    other.restore(first.snapshot())

    assert other.respond(PROPOSAL).acts[0]["arguments"] == RETURN_ARGUMENTS
    assert "Hello." in source.asked[0][0][2]["content"]
    assert len(first.turns) == 1


def test_the_digest_is_that_of_model_prompts_and_arguments(monkeypatch):
    def digest(model="m", arguments=None):
        source = Scripted(model=model)
        return LLMUser(RETAIL_PHRASES, source, arguments).digest

    assert digest() == digest()
    assert len({digest(), digest("other"), digest(arguments={"temperature": 0})}) == 3
    before = digest()
    monkeypatch.setattr(llm_prompt, "AGAIN", "Again: {problem}")
    assert digest() != before


def test_without_an_episode_there_is_no_answer():
    with pytest.raises(UsageError, match="reset"):
        LLMUser(RETAIL_PHRASES, Scripted()).respond("Hello?")


# --- Episodes


def make(stub, env_id="tool_envs/Retail-v0", **options):
    kwargs = {"user_base_url": stub.url, "user_model": "m", "user_client": {"deadline": 30, "retries": 0}}
    return gymnasium.make(env_id, user="llm", **{**kwargs, **options})


@pytest.mark.parametrize(("env_id", "difficulty"), [("tool_envs/Retail-v0", 2), ("tool_envs/Booking-v0", 1)])
@pytest.mark.parametrize("seed", range(4))
def test_who_says_by_model_what_the_agenda_user_says_is_served_as_well(env_id, difficulty, seed):
    """And the record of it can be replayed when the model's server is gone."""
    usual = gymnasium.make(env_id, difficulty=difficulty).unwrapped
    usual.reset(seed=seed)
    while usual.outcome is None:
        usual.step(usual.domain.oracle(usual.episode))
    assert usual.outcome.reward == 1.0
    actions = [message.action for message in usual.episode.history if message.role == "assistant"]
    replies = [completion(reply_of(message)) for message in usual.episode.history if message.role == "user"]

    client = {"retries": 0, "prices": [1000000, 0]}
    with serving(replies) as stub:
        env = make(stub, env_id, difficulty=difficulty, user_client=client, user_arguments={"temperature": 0})
        env.reset(seed=seed)
        for action in actions:
            env.step(action)
        assert env.unwrapped.outcome.reward == 1.0
        record = record_episode(env, "oracle", "1", seed)

    assert record.simulator.name == "llm"
    assert record.costs == {"agent": 0.0, "user": 10.0 * len(stub.requests)}
    assert record.usage.user == TokenCounts(10 * len(stub.requests), 5 * len(stub.requests))
    said = [message["content"] for message in record.to_json()["messages"] if message["role"] == "user"]
    assert [turn["say"] for turn in record.options["user_turns"]] == said
    replay(Trajectory.from_json(json.loads(record.to_line())))
    assert record_episode(env, "oracle", "1", seed) == record


def test_a_step_in_an_event_loop_awaits_the_model():
    async def play(stub):
        envs = [make(stub).unwrapped for _ in range(5)]
        await asyncio.gather(*[env.areset(seed=seed) for seed, env in enumerate(envs)])
        await asyncio.gather(*[env.astep(say("Goodbye.")) for env in envs])
        return [env.outcome.status for env in envs]

    ended = completion(reply("Bye.", ended=True))
    with serving(
        lambda request: completion(reply("Hi.")) if b"Goodbye" not in request.body else ended
    ) as stub:
        assert asyncio.run(play(stub)) == ["completed"] * 5
        assert stub.connections <= 5


def begin_and_speak(env):
    env.reset(seed=3)
    env.step(say("Hello?"))


@pytest.mark.parametrize(
    ("answers", "kind", "turns"),
    [
        ([failure(401)], ChatStatusError, 0),
        ([completion("?")], UserReplyError, 0),
        ([completion(reply("Hi.")), failure(400)], ChatStatusError, 1),
        ([completion(reply("Hi.")), completion("?")], UserReplyError, 1),
        ([completion(reply("Hi.")), refusal()], UserReplyError, 1),
        ([completion(reply("Hi.")), overflow()], UserReplyError, 1),
    ],
)
def test_a_users_failure_is_no_reward_and_replays(answers, kind, turns):
    with serving(answers) as stub:
        env = make(stub)
        with pytest.raises(kind):
            begin_and_speak(env)
        outcome = env.unwrapped.outcome
        assert (outcome.status, outcome.reward, outcome.ended_by) == ("infrastructure", None, kind.__name__)
        record = record_episode(env, "somebody", "1", 3)
        asked = len(stub.requests)
        replay(record)

    assert len(record.options["user_turns"]) == turns
    assert len(stub.requests) == asked


def test_the_key_is_in_no_record_and_sent_to_the_server(monkeypatch):
    monkeypatch.setenv("USER_KEY", KEY)
    answers = [completion(reply(f"Hi, {KEY}.")), completion(reply("Bye.", ended=True))]
    with serving(answers) as stub:
        env = make(stub, user_api_key_env="USER_KEY", user_client=None)
        env.reset(seed=0)
        env.step(say("Goodbye."))
        record = record_episode(env, "somebody", "1", 0)

    assert {request.headers["authorization"] for request in stub.requests} == {f"Bearer {KEY}"}
    assert record.env.kwargs["user_api_key_env"] == "USER_KEY"
    assert KEY not in record.to_line() + repr(env) + repr(vars(env.unwrapped)) + str(env.unwrapped.messages)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"user": "llm"}, "user_model"),
        ({"user_model": "m"}, 'user="llm"'),
        ({"user": "agenda", "user_base_url": "http://127.0.0.1:9"}, 'user="llm"'),
        ({"user": "llm", "user_model": "m", "user_client": {"patience": 3}}, "patience"),
        ({"user": "llm", "user_model": 5}, "str"),
        ({"user": "llm", "user_model": "m", "user_arguments": [1]}, "object"),
    ],
)
@pytest.mark.parametrize("env_id", ["tool_envs/Retail-v0", "tool_envs/Booking-v0"])
def test_settings_that_cannot_be(env_id, options, words):
    with pytest.raises(UsageError, match=words):
        gymnasium.make(env_id, **options)


@pytest.mark.parametrize("turns", [["Hello."], [{"say": "Hello."}], "Hello.", 5])
def test_recorded_turns_are_replies(turns):
    env = gymnasium.make("tool_envs/Retail-v0", user="llm", user_model="m")
    with pytest.raises(UsageError, match="replies"):
        env.reset(options={"user_turns": turns})


def test_who_has_no_more_recorded_turns_fails():
    env = gymnasium.make("tool_envs/Retail-v0", user="llm", user_model="m")
    env.reset(seed=0, options={"user_turns": [json.loads(reply("Hello."))]})
    with pytest.raises(InfrastructureError, match="no more than 1 turns"):
        env.step(say("Hello?"))
