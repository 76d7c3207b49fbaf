"""A second model is asked of each reply whether the user stays in their role."""

import itertools
import json

import gymnasium
import pytest
from chat_stub import completion, failure, overflow, serving
from hypothesis import given
from hypothesis import strategies as st
from model_replies import agreed, reply, reply_of, verdict
from sample_goals import RETURN, goal
from scripted_model import Scripted

import tool_envs  # noqa: F401 - registers the ids
from tool_envs.agents.agent import say
from tool_envs.chat import ChatStatusError, Usage
from tool_envs.errors import UsageError
from tool_envs.evaluation.slice import differences, freeze
from tool_envs.simulators import LLMUser, UserReplyError, llm_prompt, llm_verify
from tool_envs.simulators.retail_phrases import RETAIL_PHRASES
from tool_envs.simulators.user_failures import UserHungUpError, UserRoleError, UserVerdictError
from tool_envs.trajectory import Trajectory, record_episode, replay
from tool_envs.trajectory.refs import TokenCounts

GOOD, BAD = verdict(True), verdict(False, "They want a refund, and no exchange.")


def open_talk(source, verifier, **options):
    user = LLMUser(RETAIL_PHRASES, source, verifier=verifier, **options)
    return user, user.reset(goal(RETURN), 1)


# --- One reply


def test_the_verifier_sees_what_the_user_is_told_the_conversation_and_the_reply():
    verifier = Scripted(GOOD, GOOD)
    user, _ = open_talk(Scripted(reply("Hello."), reply("Jane Roe.")), verifier, arguments={"temperature": 0})
    user.respond("Who are you?")

    (system, shown), form, arguments = verifier.asked[-1]
    assert system == {"role": "system", "content": llm_verify.TASK}
    told = llm_prompt.instructions(goal(RETURN), RETAIL_PHRASES)
    parts = [told, '"say":"Hello."', "AGENT: Who are you?", "THE NEXT REPLY:", '"say":"Jane Roe."']
    assert [shown["content"].index(part) for part in parts] == sorted(map(shown["content"].index, parts))
    assert form["json_schema"]["schema"]["required"] == ["stays_in_role", "why"]
    assert arguments["temperature"] == 0


def test_the_verifier_is_told_no_answer():
    verifier = Scripted(GOOD)
    open_talk(Scripted(reply("Hello.")), verifier)
    assert not [one for one in ("1111111111", "paypal_1111111") if one in json.dumps(verifier.asked)]


def test_a_no_is_handed_on_and_the_reply_asked_for_once_more():
    source = Scripted(reply("I want a refund."), reply("Hello."))
    user, turn = open_talk(source, Scripted(BAD, GOOD))

    assert turn.text == "Hello."
    assert "They want a refund, and no exchange." in source.asked[-1][0][-1]["content"]
    assert [one["say"] for one in user.turns] == ["Hello."]


def test_the_second_no_is_the_users_failure():
    with pytest.raises(UserRoleError, match="They want a refund"):
        open_talk(Scripted(reply("Hi."), reply("Hello.")), Scripted(BAD, BAD))


@pytest.mark.parametrize(
    "text", ["", "Yes.", "{}", '{"stays_in_role": "yes", "why": ""}', '{"stays_in_role": true}', GOOD[:-1]]
)
def test_what_is_no_verdict_is_asked_for_once_more(text):
    source, verifier = Scripted(reply("Hello."), reply("Hello.")), Scripted(text, GOOD)
    assert open_talk(source, verifier)[1].text == "Hello."
    assert len(source.asked) == 1
    assert verifier.asked[-1][0][-2] == {"role": "assistant", "content": text}

    with pytest.raises(UserVerdictError, match="asked twice"):
        open_talk(source, Scripted(text, text))


def test_a_reply_that_cannot_be_used_is_not_verified():
    verifier = Scripted(GOOD)
    open_talk(Scripted("?", reply("Hello.")), verifier)
    assert len(verifier.asked) == 1


def test_both_models_cost_and_use_tokens():
    source = Scripted(reply("Hm."), reply("Hello."), cost=1.0, usage=Usage(1000, 100))
    user, _ = open_talk(source, Scripted(BAD, "?", GOOD, cost=0.25, usage=Usage(10, 1)))
    assert user.cost == 2.75
    assert user.usage == Usage(2030, 203)


def test_tokens_are_unknown_where_the_verifiers_are():
    user, _ = open_talk(Scripted(reply("Hello."), usage=Usage(10, 1)), Scripted(GOOD))
    assert user.usage is None


def digests(verifier=None, arguments=None):
    """Of a user whose verifier has this name; None: there is none."""
    source = None if verifier is None else Scripted(model=verifier)
    user = LLMUser(RETAIL_PHRASES, Scripted(), arguments, source)
    return user.digest, user.prompt_digest


@given(st.lists(st.none() | st.text(), min_size=2, max_size=5, unique=True))
def test_other_verifiers_have_other_digests(names):
    for each in zip(*map(digests, names), strict=True):
        assert len(set(each)) == len(names)


@pytest.mark.parametrize("prompt", ["TASK", "AGAIN", "FORM"])
def test_what_the_verifier_is_told_is_in_the_digests(monkeypatch, prompt):
    plain, verified = digests(), digests("v")
    monkeypatch.setattr(llm_verify, prompt, "Say whether it is good.")

    assert digests() == plain
    assert not set(digests("v")) & set(verified)


# --- Episodes

CLIENT = {"deadline": 30, "retries": 0, "prices": [1000000, 0]}


def make(stub, env_id="tool_envs/Retail-v0", **options):
    kwargs = {"user": "llm", "user_base_url": stub.url, "user_model": "m", "user_client": CLIENT}
    return gymnasium.make(env_id, **{**kwargs, "user_verifier": "v", **options})


def answering(replies, verdicts):
    """A server with both models: each request is the next one of those to its model."""
    left = {"m": iter(replies), "v": iter(verdicts)}
    return lambda request: next(left[request.json["model"]])


@pytest.mark.parametrize("env_id", ["tool_envs/Retail-v0", "tool_envs/Booking-v0"])
def test_a_verified_episode_is_served_and_replays_without_any_model(env_id):
    usual = gymnasium.make(env_id, difficulty=2).unwrapped
    usual.reset(seed=1)
    while usual.outcome is None:
        usual.step(usual.domain.oracle(usual.episode))
    actions = [message.action for message in usual.episode.history if message.role == "assistant"]
    replies = [completion(reply_of(message)) for message in usual.episode.history if message.role == "user"]
    verdicts = [completion(BAD), *[completion(GOOD)] * len(replies)]

    with serving(answering([completion(reply("Hello.")), *replies], verdicts)) as stub:
        env = make(stub, env_id, difficulty=2)
        env.reset(seed=1)
        for action in actions:
            env.step(action)
        record = record_episode(env, "oracle", "1", 1)
        asked = len(stub.requests)
        assert env.unwrapped.outcome.reward == 1.0
        assert asked == 2 * (len(replies) + 1)
        replay(Trajectory.from_json(json.loads(record.to_line())))
        assert len(stub.requests) == asked

    assert record.costs == {"agent": 0.0, "user": 10.0 * asked}
    assert record.usage.user == TokenCounts(10 * asked, 5 * asked)
    assert [turn["say"] for turn in record.options["user_turns"]] == [
        message.content for message in usual.episode.history if message.role == "user"
    ]


@pytest.mark.parametrize(
    ("replies", "verdicts", "kind"),
    [
        ([reply("Hi.")], [GOOD, BAD, BAD], UserRoleError),
        ([reply("Hi.")], [GOOD, "?", "?"], UserVerdictError),
        ([reply("Hi."), reply("Bye.", ended=True)], [GOOD], UserHungUpError),
        ([reply("Hi."), agreed("Yes.", "no_such_tool")], [GOOD], UserReplyError),
    ],
)
def test_a_failure_is_named_by_its_kind_and_replays(replies, verdicts, kind):
    replies = [*replies, *[replies[-1]] * 2]
    with serving(answering(map(completion, replies), map(completion, verdicts))) as stub:
        env = make(stub)
        env.reset(seed=3)
        with pytest.raises(kind):
            env.step(say("May I have your email address?"))
        outcome = env.unwrapped.outcome
        assert (outcome.status, outcome.reward, outcome.ended_by) == ("infrastructure", None, kind.__name__)
        record = record_episode(env, "somebody", "1", 3)
        replay(record)

    assert [turn["say"] for turn in record.options["user_turns"]] == ["Hi."]


@pytest.mark.parametrize(("answer", "kind"), [(failure(500), ChatStatusError), (overflow(), UserReplyError)])
def test_a_verifier_that_is_down_is_no_user_and_one_that_is_full_is(answer, kind):
    with serving(answering([completion(reply("Hi."))], [answer])) as stub, pytest.raises(kind):
        make(stub).reset(seed=0)
    assert issubclass(kind, UserReplyError) == (answer == overflow())


def test_slices_with_other_verifiers_are_not_comparable():
    def frozen(**options):
        kwargs = {"user": "llm", "user_model": "m", "user_base_url": "http://127.0.0.1:9", **options}
        return freeze("own/slice", "tool_envs/Retail-v0", kwargs, range(2))

    slices = [frozen(), frozen(user_verifier="v"), frozen(user_verifier="w")]
    for one, other in itertools.combinations(slices, 2):
        assert {each.field for each in differences(one, other)} == {
            "env/kwargs/user_verifier",
            "simulator/digest",
            "simulator/model/prompt_digest",
        }


@pytest.mark.parametrize("env_id", ["tool_envs/Retail-v0", "tool_envs/Booking-v0"])
def test_only_a_model_is_verified(env_id):
    with pytest.raises(UsageError, match='user="llm"'):
        gymnasium.make(env_id, user_verifier="v")
    with pytest.raises(UsageError, match="str"):
        gymnasium.make(env_id, user="llm", user_model="m", user_verifier=True)
