"""tau-bench's own user: what is read of its prompt, what the model is asked, and whole episodes."""

import asyncio
import json
import pickle

import gymnasium
import pytest
from chat_stub import completion, failure, overflow, refusal, serving
from hypothesis import given
from hypothesis import strategies as st
from scripted_model import Scripted
from tau_checkout import USER_MODULE, make_whole_checkout

import tool_envs  # noqa: F401 - registers the ids
from tool_envs.agents.agent import say
from tool_envs.chat import ChatReply
from tool_envs.errors import DataFileError, InfrastructureError, UsageError
from tool_envs.simulators import UserReplyError
from tool_envs.tau_bench.files import SAMPLE
from tool_envs.tau_bench.official_user import OfficialUser
from tool_envs.tau_bench.user_prompt import UserPrompt, read_user_prompt
from tool_envs.trajectory import Trajectory, record_episode, replay

ENV_ID = "tool_envs/TauBench-v0"
PROMPT = UserPrompt(
    ("Play a customer.\nYour task: ", ".\n\nWrite ###STOP### when you are done; {not} before."),
    "Good day, what can I do?",
)
GREETING = {"role": "user", "content": PROMPT.greeting}


@pytest.fixture
def checkout(tmp_path):
    return make_whole_checkout(tmp_path / "checkout")


def talk(source, *agent_texts, key=1, **options):
    """The user after an opening and what the agent said, with all turns."""
    user = OfficialUser(PROMPT, source, **options)
    turns = [user.reset({"user_id": "u", "instruction": "Buy a lamp"}, key)]
    turns += [user.respond(text) for text in agent_texts]
    return user, turns


# --- The prompt


def test_the_prompt_is_read_and_not_run(checkout):
    assert read_user_prompt(str(checkout)) == read_user_prompt(str(checkout / "tau_bench")) == PROMPT


@given(st.text())
def test_the_instruction_stands_in_it_as_it_is(instruction):
    told = PROMPT.instructions(instruction)
    assert told == f"{PROMPT.system[0]}{instruction}{PROMPT.system[1]}"


def test_the_prompt_may_stand_in_one_expression(checkout):
    inline = "{(' Task: ' + instruction) if instruction is not None else ''}"
    (checkout / "tau_bench/envs/user.py").write_text(USER_MODULE.replace("{shown}", inline))

    told = read_user_prompt(str(checkout)).instructions("Buy a lamp")
    assert told.startswith("Play a customer. Task: Buy a lamp\nWrite ###STOP###")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("class LLMUser", "class User", "expected `class LLMUserSimulationEnv`, found none"),
        ("def build_system", "def build", "expected `def build_system_prompt`, found none"),
        ("def reset(self, instruction=None)", "def begin(self)", "expected `def reset`, found none"),
        (
            "        return f",
            "        f",
            "expected an assignment of a text to a name, or `return`",
        ),
        ("        return f", "        told = f", "expected `build_system_prompt` that returns a text"),
        ("        return f", "        os.x()\n        return f", "line 11: expected an assignment"),
        ("{shown}", "{shown!r}", "expected a text made of literals and the instruction; found"),
        (
            "{shown}",
            "{self.shown}",
            "expected a text made of literals and the instruction; found `self.shown`",
        ),
        ("{shown}", "", "expected a text with the instruction in it"),
        ("is not None", "!= 3", "expected a text made of literals and the instruction; found"),
        ("+ instruction +", "* instruction *", "expected a text made of literals and the instruction; found"),
        ("self.build_system_prompt(instruction=instruction)", "'x'", "expected a system message made by"),
        (
            '{"role": "user", "content": "Good day',
            '{"role": "tool", "content": "Good day',
            "of the role `user`",
        ),
        ('"Good day, what can I do?"', "greet()", "expected a literal; found `greet()`"),
        ("self.messages = [", "self.messages += [", "with a system message and a greeting"),
        ("self, model", "self model", "not Python: "),
    ],
)
def test_a_user_that_is_written_otherwise_is_refused(checkout, old, new, message):
    assert old in USER_MODULE
    (checkout / "tau_bench/envs/user.py").write_text(USER_MODULE.replace(old, new))

    with pytest.raises(DataFileError) as error:
        read_user_prompt(str(checkout))
    assert "user.py" in str(error.value)
    assert message in str(error.value)


def test_where_no_model_plays_the_user_its_prompt_is_not_looked_at(checkout):
    (checkout / "tau_bench/envs/user.py").unlink()

    gymnasium.make(ENV_ID, path=str(checkout)).reset(seed=0)
    with pytest.raises(DataFileError, match=r"user\.py: cannot be read"):
        gymnasium.make(ENV_ID, path=str(checkout), user="llm", user_model="m")


# --- What the model is asked, and what is made of its replies


def test_each_request_holds_the_conversation_from_the_users_side():
    source = Scripted("Hello.", "A lamp.", "###STOP###")
    _, turns = talk(source, "What is it?", "It is yours.", arguments={"temperature": 0.5, "seed": 7})

    messages, form, arguments = source.asked[-1]
    assert messages == [
        {"role": "system", "content": PROMPT.instructions("Buy a lamp")},
        GREETING,
        {"role": "assistant", "content": "Hello."},
        {"role": "user", "content": "What is it?"},
        {"role": "assistant", "content": "A lamp."},
        {"role": "user", "content": "It is yours."},
    ]
    assert (form, arguments) == (None, {"temperature": 0.5, "seed": 7})
    assert [(turn.text, turn.ended) for turn in turns] == [
        ("Hello.", False),
        ("A lamp.", False),
        ("###STOP###", True),
    ]


def test_the_stop_token_ends_wherever_it_stands_but_not_in_the_first_turn():
    _, turns = talk(Scripted("###STOP###", "Bye. ###STOP###"), "Hello?")
    assert [turn.ended for turn in turns] == [False, True]


def test_a_seed_follows_from_the_key_unless_it_is_left_out():
    def seeds(key, **options):
        source = Scripted("Hello.", "", "Yes?")
        talk(source, "Hi.", key=key, **options)
        return [arguments.get("seed") for *_, arguments in source.asked]

    assert seeds(1) == seeds(1) != seeds(2)
    assert len(set(seeds(1))) == 3
    assert seeds(1, arguments={"seed": None}) == [None] * 3


CUT = ChatReply(message={"content": "I would like"}, finish_reason="length")
REFUSED = ChatReply(message={"content": None, "refusal": "I cannot play that."})


@pytest.mark.parametrize("reply", ["", "  \n", "<think>Hm.</think>", CUT, REFUSED, ChatReply(message={})])
def test_what_cannot_be_said_is_asked_for_once_more_in_the_same_words(reply):
    source = Scripted("Hello.", reply, "A lamp.")
    _, turns = talk(source, "What is it?")
    assert turns[-1].text == "A lamp."
    assert source.asked[-1][0] == source.asked[-2][0]

    with pytest.raises(UserReplyError, match="asked twice"):
        talk(Scripted("Hello.", reply, reply), "What is it?")


def test_a_thought_is_not_said_and_ends_nothing():
    source = Scripted("Hello.", "<think>Not yet ###STOP###.</think>\nA lamp.", "Bye.")
    _, turns = talk(source, "What is it?", "Yours.")
    assert (turns[1].text, turns[1].ended) == ("A lamp.", False)
    assert source.asked[-1][0][-2] == {"role": "assistant", "content": "A lamp."}


def test_the_digest_is_that_of_prompt_model_and_arguments():
    def user(prompt=PROMPT, model="m", arguments=None):
        return OfficialUser(prompt, Scripted(model=model), arguments)

    other = UserPrompt(PROMPT.system, "Hi.")
    users = [user(), user(other), user(model="x"), user(arguments={"temperature": 0})]
    assert len({each.digest for each in users}) == 4
    assert user().digest == users[0].digest
    assert [each.prompt_digest == users[0].prompt_digest for each in users] == [True, False, True, True]


# --- Episodes


def make(checkout, stub, **options):
    kwargs = {
        "user_model": "m",
        "user_base_url": stub.url,
        "user_client": {"retries": 0, "prices": [10**6, 0]},
    }
    return gymnasium.make(ENV_ID, path=str(checkout), user="llm", **{**kwargs, **options})


def test_an_episode_is_played_recorded_and_replayed_without_the_model(checkout):
    answers = [completion("Hello."), completion("", usage=(5, 1)), completion("Thanks. ###STOP###")]
    with serving(answers) as stub:
        env = make(checkout, stub, user_arguments={"temperature": 0})
        observation, _ = env.reset(seed=3)
        assert observation["content"] == "Hello."
        *_, terminated, _, _ = env.step(say("Here you are."))
        assert terminated
        record = record_episode(env, "somebody", "1", 3)
        asked = [request.json for request in stub.requests]
    assert asked[0]["messages"] == [
        {"role": "system", "content": PROMPT.instructions("You want nothing.")},
        GREETING,
    ]
    assert [request["temperature"] for request in asked] == [0] * 3
    assert "response_format" not in asked[0]

    assert record.simulator.name == "tau_bench_llm"
    assert record.costs == {"agent": 0.0, "user": 25.0}
    assert record.options["user_turns"] == ["Hello.", "Thanks. ###STOP###"]
    replay(Trajectory.from_json(json.loads(record.to_line())))
    assert len(stub.requests) == 3


@pytest.mark.parametrize("answer", [completion(""), refusal(), overflow(), failure(400)])
def test_a_users_failure_is_no_reward_and_replays(checkout, answer):
    with serving([completion("Hello."), answer]) as stub:
        env = make(checkout, stub)
        env.reset(seed=3)
        with pytest.raises(InfrastructureError):
            env.step(say("Hello?"))
    outcome = env.unwrapped.outcome
    assert (outcome.status, outcome.reward) == ("infrastructure", None)
    replay(record_episode(env, "somebody", "1", 3))


def test_steps_in_an_event_loop_await_the_model(checkout):
    async def play(stub):
        envs = [make(checkout, stub).unwrapped for _ in range(5)]
        await asyncio.gather(*[env.areset(seed=seed) for seed, env in enumerate(envs)])
        await asyncio.gather(*[env.astep(say("Goodbye.")) for env in envs])
        return [env.outcome.ended_by for env in envs]

    with serving(lambda request: completion("###STOP###" if b"Goodbye" in request.body else "Hi.")) as stub:
        assert asyncio.run(play(stub)) == ["user"] * 5
        assert stub.connections <= 5


def test_a_pickled_environment_keeps_its_user(checkout):
    with serving([completion("Hello."), completion("###STOP###")]) as stub:
        env = make(checkout, stub).unwrapped
        env.reset(seed=0)
        copied = pickle.loads(pickle.dumps(env))  # noqa: S301 - our own
        assert copied.step(say("Bye."))[2]
        assert stub.requests[1].json["messages"][2]["content"] == "Hello."


@pytest.mark.parametrize("path", [None, str(SAMPLE)])
def test_json_files_do_not_say_what_the_user_is_told(path):
    with pytest.raises(UsageError, match="give a clone of"):
        gymnasium.make(ENV_ID, path=path, user="llm", user_model="m")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"user": "llm"}, "user_model"),
        ({"user_model": "m"}, 'user="llm"'),
        ({"user": "llm", "user_model": "m", "user_client": {"patience": 3}}, "patience"),
    ],
)
def test_settings_that_cannot_be(checkout, options, words):
    with pytest.raises(UsageError, match=words):
        gymnasium.make(ENV_ID, path=str(checkout), **options)


@pytest.mark.parametrize("turns", [[5], "Hello.", [{"say": "Hello."}]])
def test_recorded_turns_are_texts(checkout, turns):
    env = gymnasium.make(ENV_ID, path=str(checkout), user="llm", user_model="m")
    with pytest.raises(UsageError, match="replies"):
        env.reset(options={"user_turns": turns})
