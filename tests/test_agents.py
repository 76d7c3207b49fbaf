"""The scripted agents: what they earn, what they read, and that they act alike every time."""

import hashlib
import inspect
from types import SimpleNamespace

import gymnasium
import pytest
import toy_domain

from tool_envs.agents import TRIVIAL, Agent, human, load_agent, play, scripted
from tool_envs.agents.agent import say
from tool_envs.env import ToolEnv
from tool_envs.errors import UnknownNameError, UsageError
from tool_envs.evaluation import evaluate
from tool_envs.schema import Tool

SAMPLE = "tool_envs/TauBench-v0"
PRIVILEGED = {"gold", "dump"}


@pytest.fixture
def desk():
    return gymnasium.make(toy_domain.ENV_ID)


def actions_of(env, agent, key=0, task=0):
    observation, _ = env.reset(seed=0, options={"task_index": task})
    assert play(env, agent, observation, key)
    return [m.action for m in env.unwrapped.episode.history if m.role == "assistant"]


@pytest.mark.parametrize("name", ["gold", *TRIVIAL])
def test_an_agent_acts_alike_every_time(desk, name):
    first = actions_of(desk, load_agent(name), key=7)

    assert first == actions_of(gymnasium.make(toy_domain.ENV_ID), load_agent(name), key=7)


@pytest.mark.parametrize("env_id", [toy_domain.ENV_ID, SAMPLE])
def test_gold_solves_every_task(env_id):
    assert evaluate(env_id, {}, load_agent("gold")).scores.rate == 1.0


@pytest.mark.parametrize("name", TRIVIAL)
def test_a_trivial_agent_solves_no_built_in_task(name):
    assert evaluate(SAMPLE, {}, load_agent(name)).scores.rate == 0.0


@pytest.mark.parametrize("name", [name for name in TRIVIAL if name not in PRIVILEGED])
def test_only_gold_and_dump_read_the_task(desk, monkeypatch, name):
    def read(_):
        raise AssertionError("the task was read")

    monkeypatch.setattr(ToolEnv, "task", property(read))

    assert actions_of(desk, load_agent(name))


def test_gold_ends_with_the_end_call_of_its_task(monkeypatch):
    env = gymnasium.make(SAMPLE).unwrapped
    task = type(env.domain.tasks[0])(
        id="x",
        goal={},
        actions=(toy_domain.ToolCall("transfer_to_human_agents", {"summary": "x"}),),
        facts=("1", "2"),
    )
    monkeypatch.setattr(ToolEnv, "task", task)

    said, end = list(scripted._solve(env))

    assert said["arguments"] == {"content": "1, 2"}
    assert end == {"name": "transfer_to_human_agents", "arguments": {"summary": "x"}}


@pytest.mark.parametrize("env_id", [toy_domain.ENV_ID, SAMPLE])
def test_transfer_makes_one_valid_end_call(env_id):
    env = gymnasium.make(env_id)

    (action,) = actions_of(env, load_agent("transfer"))

    assert action in env.action_space
    assert env.unwrapped.episode.ended_by == "agent"


def test_transfer_fills_whatever_its_tool_needs():
    parameters = {
        "type": "object",
        "properties": {"to": {"enum": ["a", "b"]}, "note": {"type": "string"}, "more": {"type": "string"}},
        "required": ["to", "note"],
        "additionalProperties": False,
    }
    tool = Tool("hand_over", "", "end", True, parameters, {})

    assert scripted._fill(tool) == {"to": "a", "note": "The user asks for a human."}


def test_transfer_without_an_end_tool_says_so():
    env = SimpleNamespace(schema=SimpleNamespace(tools={}))

    assert list(scripted._transfer(env)) == [say("The user asks for a human.")]


def test_repeat_says_the_last_words_of_the_user(desk):
    turns = toy_domain.TASKS[0].goal["turns"]

    assert [a["arguments"]["content"] for a in actions_of(desk, load_agent("repeat"))] == turns


def test_repeat_says_something_to_a_user_without_words(desk):
    desk.reset(seed=0)
    script = load_agent("repeat").policy(desk.unwrapped, {"role": "user", "name": "user", "content": ""}, 0)

    assert next(script)["arguments"]["content"] == "..."


def test_random_depends_on_its_key_and_leaves_the_spaces_of_the_environment_alone(desk):
    desk.action_space.seed(5)
    before = desk.action_space.sample()
    desk.action_space.seed(5)

    assert actions_of(desk, load_agent("random"), key=1) != actions_of(desk, load_agent("random"), key=2)
    assert desk.action_space.sample() == before


def test_the_version_is_the_digest_of_the_source():
    source = inspect.getsource(scripted).encode()

    assert load_agent("gold").version == hashlib.sha256(source).hexdigest()[:16]


def test_an_unknown_agent_is_named_with_a_suggestion():
    with pytest.raises(UnknownNameError, match="Did you mean: `silent`"):
        load_agent("silnet")


def test_play_says_when_the_agent_stopped(desk):
    observation, _ = desk.reset(seed=0)

    assert not play(desk, Agent("quitter", "1", lambda *_: iter(())), observation, 0)


def test_play_wants_a_tool_environment():
    env = gymnasium.make("CartPole-v1")

    with pytest.raises(UsageError, match="Expected a `ToolEnv`"):
        play(env, load_agent("silent"), {}, 0)


def play_as_human(env, *lines):
    shown, rest = [], iter(lines)

    def read():
        try:
            return next(rest)
        except StopIteration:
            raise EOFError from None

    observation, _ = env.reset(seed=0, options={"task_index": 0})
    return play(env, human(read, shown.append), observation, 0), shown


def test_a_person_talks_and_calls_tools(desk):
    call = '{"name": "find_member", "arguments": {"email": "bob@example.org"}}'

    ended, shown = play_as_human(desk, call, "", "Hello.", '{"name": "close_desk"}')

    assert ended
    assert shown[1:] == [
        "user: I am bob@example.org and want Emma for a week.",
        'find_member: "M2"',
        "user: Yes.",
    ]


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("/tools", "lend [write]: Lend a book."),
        ("/tools lend", '"book_id"'),
        ("/policy", "two loans"),
        ("/?", "/quit"),
    ],
)
def test_a_person_may_ask_without_taking_a_step(desk, line, answer):
    ended, shown = play_as_human(desk, line, "/quit")

    assert not ended
    assert answer in shown[-1]
    assert desk.unwrapped.episode.steps == 0


def test_the_end_of_the_input_is_the_end_of_the_game(desk):
    assert not play_as_human(desk)[0]
