"""Observations, hashes and rewards that tau-bench's own code gave, in each domain and split."""

import copy
import json
from typing import Any, NamedTuple

import pytest
from tau_calls import answer

from tool_envs.database import Database
from tool_envs.messages import ToolCall
from tool_envs.tau_bench.airline import AIRLINE_TOOLS
from tool_envs.tau_bench.data import changes, state_hash
from tool_envs.tau_bench.files import load
from tool_envs.tau_bench.formats import TauFiles
from tool_envs.tau_bench.grading import TRANSFER, Grader
from tool_envs.tau_bench.retail import RETAIL_TOOLS

TOOLS = {"retail": RETAIL_TOOLS, "airline": AIRLINE_TOOLS}
READS = ("calculate", "find", "get", "list", "search", "think")
VACUOUS = {("retail", "test"): (115, 7), ("retail", "dev"): (20, 1), ("airline", "test"): (25, 7)}
"""Tasks of a slice, and how many of them tau-bench gives to silence."""
COMPARED = {("retail", "test"): 900, ("retail", "dev"): 100, ("airline", "test"): 200}
"""How many variants of the gold actions a slice has at least."""


class Slice(NamedTuple):
    """A slice of tau-bench's tasks with what its own code gave for them."""

    name: tuple[str, str]
    files: TauFiles
    golden: dict[str, Any]
    grader: Grader


@pytest.fixture(scope="module", params=VACUOUS, ids="-".join)
def part(request, tau_bench_path):
    domain, split = request.param
    golden = read_golden(tau_bench_path, domain, split)
    return Slice(request.param, load(tau_bench_path, domain, split), golden, Grader(TOOLS[domain]))


@pytest.fixture(scope="module", params=TOOLS)
def random_walks(request, tau_bench_path):
    """A domain's data, and seeded episodes on it."""
    data = load(tau_bench_path, request.param, "test").data
    return data, read_golden(tau_bench_path, request.param, "random")["episodes"]


def read_golden(path, domain, name):
    return json.loads((path / "golden" / f"{domain}_{name}.json").read_bytes())


def calls_of(episode):
    return [ToolCall(call["name"], call["arguments"]) for call in episode["calls"]]


def is_write(call):
    return not call.name.startswith(READS)


def run(data, calls):
    database = Database(data)
    for call in calls:
        answer(database, call)
    return database


def test_initial_hash(part):
    assert state_hash(Database(part.files.data)) == part.golden["initial_data_hash"]


def test_gold_actions(part):
    for task, expected in zip(part.files.tasks, part.golden["tasks"], strict=True):
        database = Database(part.files.data)
        observations = [answer(database, call) for call in task.actions if call.name != TRANSFER]

        assert observations == expected["observations"], task.id
        assert state_hash(database) == expected["data_hash"], task.id
        assert bool(changes(database)) == expected["changes_data"], task.id


def test_random_episodes(random_walks):
    data, episodes = random_walks
    for episode in episodes:
        database = Database(data)

        assert [answer(database, call) for call in calls_of(episode)] == episode["observations"]
        assert state_hash(database) == episode["data_hash"]


def test_gold_earns_one_and_silence_what_tau_bench_gives_it(part):
    data, grade = part.files.data, part.grader.grade
    silent = [grade(task, Database(data), []).terminal for task in part.files.tasks]
    gold = [
        grade(task, run(data, task.actions), ["I say: ", *task.facts]).terminal for task in part.files.tasks
    ]
    tasks, vacuous = VACUOUS[part.name]

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
    other = {str: lambda text: f"{text} ", int: float, list: lambda parts: parts[::-1]}
    for key, value in call.arguments.items():
        yield ToolCall(call.name, call.arguments | {key: other[type(value)](value)})
    if "reason" in call.arguments:
        yield ToolCall(call.name, call.arguments | {"reason": "ordered by mistake"})


def test_comparing_changes_is_comparing_hashes(part):
    compared = reached = 0
    for task, expected in zip(part.files.tasks, part.golden["tasks"], strict=True):
        for calls in variants(task):
            database = run(part.files.data, calls)
            verdict = part.grader.grade(task, database, []).components["end_state"]

            assert verdict == float(state_hash(database) == expected["data_hash"]), (task.id, calls)
            compared, reached = compared + 1, reached + verdict

    assert compared > COMPARED[part.name]
    assert 0.1 * compared < reached < 0.9 * compared


@pytest.mark.parametrize("part", [("retail", "test")], indirect=True, ids="-".join)
def test_order_of_items_and_of_reading_does_not_matter(part):
    for task in part.files.tasks:
        calls = [reversed_items(call) for call in task.actions if is_write(call)]
        calls += [call for call in task.actions if not is_write(call)]
        database = run(part.files.data, calls)

        assert part.grader.grade(task, database, []).components["end_state"] == 1.0, task.id


def reversed_items(call):
    lists = {key: value[::-1] for key, value in call.arguments.items() if isinstance(value, list)}
    return ToolCall(call.name, call.arguments | lists)


def test_nothing_changes_the_base_data_or_the_tasks(part, tau_bench_path):
    episodes = read_golden(tau_bench_path, part.name[0], "random")["episodes"]
    tables = copy.deepcopy(part.files.data.tables)
    actions = copy.deepcopy([task.actions for task in part.files.tasks])
    for calls in [*map(calls_of, episodes), *(task.actions for task in part.files.tasks)]:
        run(part.files.data, calls)

    assert part.files.data.tables == tables
    assert [task.actions for task in part.files.tasks] == actions
