"""The airline: observations, hashes and rewards of tau-bench's own code, and recorded conversations."""

import copy
import json
from itertools import pairwise

import gymnasium
import pytest
from tau_calls import answer

import tool_envs  # noqa: F401 - registers the environment
from tool_envs.database import Database
from tool_envs.messages import ToolCall
from tool_envs.schema import load_schema
from tool_envs.tau_bench.airline import AIRLINE_TOOLS
from tool_envs.tau_bench.data import changes, state_hash
from tool_envs.tau_bench.files import load
from tool_envs.tau_bench.grading import TRANSFER, Grader

WRITES = ("book", "cancel", "send", "update")


@pytest.fixture(scope="module")
def golden(tau_bench_path):
    return {
        name: json.loads((tau_bench_path / "golden" / f"airline_{name}.json").read_bytes())
        for name in ("test", "random")
    }


@pytest.fixture(scope="module")
def files(tau_bench_path):
    return load(tau_bench_path, "airline", "test")


@pytest.fixture(scope="module")
def conversations(tau_bench_path):
    return json.loads((tau_bench_path / "golden" / "gpt4o_airline_trajectories.json").read_bytes())


def run(data, calls):
    database = Database(data)
    for call in calls:
        answer(database, call)
    return database


def test_initial_hash(golden, files):
    assert state_hash(Database(files.data)) == golden["test"]["initial_data_hash"]


def test_gold_actions(golden, files):
    for task, expected in zip(files.tasks, golden["test"]["tasks"], strict=True):
        database = Database(files.data)
        observations = [answer(database, call) for call in task.actions if call.name != TRANSFER]

        assert observations == expected["observations"], task.id
        assert state_hash(database) == expected["data_hash"], task.id
        assert bool(changes(database)) == expected["changes_data"], task.id


def test_random_episodes(golden, files):
    for episode in golden["random"]["episodes"]:
        database = Database(files.data)
        calls = [ToolCall(call["name"], call["arguments"]) for call in episode["calls"]]

        assert [answer(database, call) for call in calls] == episode["observations"]
        assert state_hash(database) == episode["data_hash"]


def test_gold_earns_one_and_silence_what_tau_bench_gives_it(files):
    grader = Grader(AIRLINE_TOOLS)
    silent = [grader.grade(task, Database(files.data), []).terminal for task in files.tasks]
    gold = [grader.grade(task, run(files.data, task.actions), [*task.facts]).terminal for task in files.tasks]

    assert gold == [1.0] * 25
    assert sum(silent) == 7


def variants(task):
    """The gold actions cut short, with an action left out, one twice, two swapped, and one changed."""
    calls = [call for call in task.actions if call.name != TRANSFER]
    yield calls
    for index, call in enumerate(calls):
        if call.name.startswith(WRITES):
            yield calls[:index]
            yield calls[:index] + calls[index + 1 :]
            yield calls[: index + 1] + calls[index:]
            yield calls[index:] + calls[:index]
            yield from ([*calls[:index], other, *calls[index + 1 :]] for other in changed(call))


def changed(call):
    other = {str: lambda text: f"{text} ", int: float, list: lambda parts: parts[::-1]}
    for key, value in call.arguments.items():
        yield ToolCall(call.name, call.arguments | {key: other[type(value)](value)})


def test_comparing_changes_is_comparing_hashes(golden, files):
    compared = reached = 0
    grader = Grader(AIRLINE_TOOLS)
    for task, expected in zip(files.tasks, golden["test"]["tasks"], strict=True):
        for calls in variants(task):
            database = run(files.data, calls)
            verdict = grader.grade(task, database, []).components["end_state"]

            assert verdict == float(state_hash(database) == expected["data_hash"]), (task.id, calls)
            compared, reached = compared + 1, reached + verdict

    assert compared > 200
    assert 40 < reached < compared - 100


def test_nothing_changes_the_base_data_or_the_tasks(golden, files):
    tables = copy.deepcopy(files.data.tables)
    actions = copy.deepcopy([task.actions for task in files.tasks])
    for episode in golden["random"]["episodes"]:
        run(files.data, [ToolCall(call["name"], call["arguments"]) for call in episode["calls"]])
    for task in files.tasks:
        run(files.data, task.actions)

    assert files.data.tables == tables
    assert [task.actions for task in files.tasks] == actions


def actions_of(conversation):
    """What the model did, each with what came back: (action, observation or None at the end)."""
    messages = [*conversation["messages"], {"content": None}]
    for message, reply in pairwise(messages):
        if message.get("role") != "assistant":
            continue
        if message.get("tool_calls"):
            call = message["tool_calls"][0]
            yield {"name": call["name"], "arguments": json.loads(call["arguments"])}, reply["content"]
        else:
            yield {"name": "respond", "arguments": {"content": message["content"]}}, reply["content"]


def test_recorded_conversations_replay_to_their_rewards(tau_bench_path, conversations):
    env = gymnasium.make("tool_envs/TauBench-v0", path=str(tau_bench_path), domain="airline").unwrapped
    cut = 0
    for conversation in conversations:
        turns = [message["content"] for message in conversation["messages"] if message["role"] == "user"]
        options = {"task_index": conversation["task_index"], "user_turns": turns}
        observation, _ = env.reset(options=options)
        assert observation["content"] == turns[0]
        for action, recorded in actions_of(conversation):
            observation, reward, terminated, truncated, _ = env.step(action)
            if recorded is not None:
                assert observation["content"] == as_of_today(action, recorded)

        assert (terminated, truncated) != (False, False)
        assert reward == env.outcome.reward == conversation["reward_replayed"] == conversation["reward"]
        assert state_hash(env.episode.database) == conversation["data_hash"]
        if truncated:
            assert (env.episode.steps, reward) == (30, 0.0)
            cut += 1

    assert (len(conversations), cut) == (50, 1)


def as_of_today(action, recorded):
    """The recorded observation with the key of an address that was renamed since."""
    if action["name"] != "get_user_details":
        return recorded
    return recorded.replace('"province": ', '"state": ')


def test_the_schema_accepts_every_golden_call(golden, files):
    schema = load_schema("tau_airline", "1.0.0")
    calls = [ToolCall(c["name"], c["arguments"]) for e in golden["random"]["episodes"] for c in e["calls"]]
    calls += [call for task in files.tasks for call in task.actions]

    assert len(calls) > 500
    assert [call for call in calls if not schema.tools[call.name].accepts(call.arguments)] == []


def test_the_schema_has_the_tools_of_tau_bench_in_order():
    schema = load_schema("tau_airline", "1.0.0")

    assert list(schema.tools) == [*AIRLINE_TOOLS, "respond"]
    assert not schema.tools["respond"].listed
    for tool in schema.tools.values():
        assert (tool.effect == "write") == ("explicit yes" in tool.description)
