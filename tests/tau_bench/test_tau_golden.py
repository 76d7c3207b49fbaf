"""Observations, hashes and rewards that tau-bench's own code gave."""

import copy

import pytest
from tau_calls import answer

from tool_envs.database import Database
from tool_envs.messages import ToolCall
from tool_envs.tau_bench.data import changes, state_hash
from tool_envs.tau_bench.grading import TRANSFER, Grader
from tool_envs.tau_bench.retail import RETAIL_TOOLS

WRITES = ("cancel", "exchange", "modify", "return")


def is_write(call):
    return call.name.startswith(WRITES)


def run(data, calls):
    database = Database(data)
    for call in calls:
        answer(database, call)
    return database


def test_initial_hash(golden, data):
    assert state_hash(Database(data)) == golden["test"]["initial_data_hash"]


@pytest.mark.parametrize("split", ["test", "dev"])
def test_gold_actions(golden, splits, split):
    files = splits[split]
    for task, expected in zip(files.tasks, golden[split]["tasks"], strict=True):
        database = Database(files.data)
        observations = [answer(database, call) for call in task.actions if call.name != TRANSFER]

        assert observations == expected["observations"], task.id
        assert state_hash(database) == expected["data_hash"], task.id
        assert bool(changes(database)) == expected["changes_data"], task.id


def test_random_episodes(golden, data):
    for episode in golden["random"]["episodes"]:
        database = Database(data)
        calls = [ToolCall(call["name"], call["arguments"]) for call in episode["calls"]]

        assert [answer(database, call) for call in calls] == episode["observations"]
        assert state_hash(database) == episode["data_hash"]


@pytest.mark.parametrize(("split", "tasks", "vacuous"), [("test", 115, 7), ("dev", 20, 1)])
def test_gold_earns_one_and_silence_what_tau_bench_gives_it(splits, split, tasks, vacuous):
    files = splits[split]
    grader = Grader(RETAIL_TOOLS)
    silent = [grader.grade(task, Database(files.data), []).terminal for task in files.tasks]
    gold = [
        grader.grade(task, run(files.data, task.actions), ["I say: ", *task.facts]).terminal
        for task in files.tasks
    ]

    assert gold == [1.0] * tasks
    assert sum(silent) == vacuous


def variants(task):
    """The gold actions cut short, with an action left out, one twice, two swapped, and one changed."""
    calls = [call for call in task.actions if call.name != TRANSFER]
    yield calls
    for index, call in enumerate(calls):
        if is_write(call):
            yield calls[:index]
            yield calls[:index] + calls[index + 1 :]
            yield calls[: index + 1] + calls[index:]
            yield calls[index:] + calls[:index]
            yield from ([*calls[:index], other, *calls[index + 1 :]] for other in changed(call))


def changed(call):
    for key, value in call.arguments.items():
        other = value[::-1] if isinstance(value, list) else f"{value} "
        yield ToolCall(call.name, call.arguments | {key: other})
    if "reason" in call.arguments:
        yield ToolCall(call.name, call.arguments | {"reason": "ordered by mistake"})


def test_comparing_changes_is_comparing_hashes(golden, splits):
    compared = reached = 0
    for split, files in splits.items():
        grader = Grader(RETAIL_TOOLS)
        for task, expected in zip(files.tasks, golden[split]["tasks"], strict=True):
            for calls in variants(task):
                database = run(files.data, calls)
                verdict = grader.grade(task, database, []).components["end_state"]

                assert verdict == float(state_hash(database) == expected["data_hash"]), (task.id, calls)
                compared, reached = compared + 1, reached + verdict

    assert compared > 1000
    assert 200 < reached < compared - 200


def test_order_of_items_and_of_reading_does_not_matter(splits):
    files = splits["test"]
    grader = Grader(RETAIL_TOOLS)
    for task in files.tasks:
        calls = [reversed_items(call) for call in task.actions if is_write(call)]
        calls += [call for call in task.actions if not is_write(call)]

        assert grader.grade(task, run(files.data, calls), []).components["end_state"] == 1.0, task.id


def reversed_items(call):
    lists = {key: value[::-1] for key, value in call.arguments.items() if isinstance(value, list)}
    return ToolCall(call.name, call.arguments | lists)


def test_nothing_changes_the_base_data_or_the_tasks(golden, splits):
    files = splits["test"]
    tables = copy.deepcopy(files.data.tables)
    actions = copy.deepcopy([task.actions for task in files.tasks])
    for episode in golden["random"]["episodes"]:
        run(files.data, [ToolCall(call["name"], call["arguments"]) for call in episode["calls"]])
    for task in files.tasks:
        run(files.data, task.actions)

    assert files.data.tables == tables
    assert [task.actions for task in files.tasks] == actions
