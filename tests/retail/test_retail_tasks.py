"""The store's tasks: endless, different, solvable, none vacuous."""

import os
import subprocess
import sys
from collections import Counter

import gymnasium
import jsonschema_rs
import orjson
import pytest

import tool_envs  # noqa: F401 - registers the ids
from tool_envs.database import Database
from tool_envs.errors import UnknownNameError
from tool_envs.evaluation.audit import audit
from tool_envs.retail.data import retail_base
from tool_envs.retail.desk import RETAIL_GRADER, state_of
from tool_envs.retail.tasks import retail_tasks
from tool_envs.retail.toolkit import ZIP_NAMES, retail_toolkit
from tool_envs.rules import Called, events
from tool_envs.service.desk import goal_of
from tool_envs.service.tasks import DIFFICULTIES
from tool_envs.simulators.goal import UserGoal

ID = "tool_envs/Retail-v0"
# A sweep over all 1,000 takes a minute; `make sweep` sets it.
MANY = int(os.environ.get("RETAIL_TASKS", "100"))
BASE = retail_base()


def tasks(split="test", difficulty=None, count=1000):
    made = retail_tasks(BASE, split, difficulty)
    return [made[index] for index in range(count)]


def test_a_thousand_tasks_are_nearly_all_different():
    assert len({task.digest for task in tasks()}) >= 990


def test_each_family_has_its_share():
    counts = Counter(task.family for task in tasks())

    assert min(counts.values()) >= 50
    assert len(counts) == 9


def test_train_and_test_share_no_customer():
    people = [
        {goal_of(task).knows["name"] + goal_of(task).knows["zip"] for task in tasks(split)}
        for split in ("train", "test")
    ]

    assert not people[0] & people[1]


@pytest.mark.parametrize("difficulty", DIFFICULTIES)
def test_a_task_is_found_again_by_its_id(difficulty):
    made = retail_tasks(BASE, "train", difficulty)

    assert made.find(made[7].id) is made[7]


@pytest.mark.parametrize(
    "wrong", ["retail/test/1/0", "retail/train/any/0", "retail/train/1/-1", "x", "retail/train/1/01"]
)
def test_ids_of_other_tasks_are_unknown(wrong):
    with pytest.raises(UnknownNameError):
        retail_tasks(BASE, "train", 1).find(wrong)


def test_tasks_are_the_same_in_every_process():
    code = (
        "from tool_envs.retail.data import retail_base; from tool_envs.retail.tasks import retail_tasks;"
        "made = retail_tasks(retail_base(), 'test', None); print([made[i].digest for i in range(30)])"
    )
    printed = {
        subprocess.check_output([sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed})
        for seed in ("1", "2")
    }

    assert printed == {f"{[task.digest for task in tasks(count=30)]}\n".encode()}


@pytest.mark.parametrize("difficulty", DIFFICULTIES)
def test_no_task_is_solved_by_the_data_as_they_are_or_by_words_alone(difficulty):
    for task in tasks(difficulty=difficulty, count=100):
        wishes = goal_of(task).wishes
        untouched = frozenset() in RETAIL_GRADER.accepted_states(BASE, task)

        assert not untouched or any(wish.evidence for wish in wishes)


def test_the_goal_is_a_goal():
    for task in tasks(count=50):
        assert isinstance(goal_of(task), UserGoal)
        assert goal_of(task).wishes


def play_oracle(env, index, seed=0):
    env.reset(seed=seed, options={"task_index": index})
    while env.outcome is None:
        env.step(env.domain.oracle(env.episode))
    return env


@pytest.mark.parametrize("version", ZIP_NAMES)
def test_the_oracle_solves_every_task(version):
    env = gymnasium.make(ID, split="test", schema_version=version).unwrapped
    for index in range(MANY):
        play_oracle(env, index)

        assert env.outcome.reward == 1.0, (env.task.id, env.explain())
        assert env.outcome.not_understood == 0


def test_a_task_of_difficulty_1_takes_five_right_actions_at_least():
    env = gymnasium.make(ID, split="test", difficulty=1).unwrapped

    assert min(play_oracle(env, index).outcome.steps for index in range(MANY)) >= 5


@pytest.mark.parametrize("version", ZIP_NAMES)
def test_audit(version):
    kwargs = {"split": "test", "schema_version": version}
    for finding in audit(ID, kwargs, range(MANY)):
        assert finding.problems == (), finding.agent


def test_every_result_is_valid_for_its_schema():
    env = gymnasium.make(ID, split="train").unwrapped
    results = {name: jsonschema_rs.validator_for(tool.result) for name, tool in env.schema.tools.items()}
    for index in range(20):
        play_oracle(env, index)
        for _, event in events(env.episode.history):
            if isinstance(event, Called):
                assert results[event.call.name].is_valid(orjson.loads(event.result))


def test_the_oracle_takes_over_from_anybody():
    env = gymnasium.make(ID, split="test").unwrapped
    strangers = [
        "Hello! How can I help you today?",
        {"name": "list_all_product_types", "arguments": {}},
        {"name": "think", "arguments": {"thought": "hm"}},
        {"name": "get_order_details", "arguments": {"order_id": "#W0000000"}},
        '{"name": "broken"',
    ]
    for index in range(20):
        env.reset(seed=1, options={"task_index": index})
        for action in strangers[: 1 + index % 5]:
            env.step(action)
        while env.outcome is None:
            env.step(env.domain.oracle(env.episode))

        assert env.outcome.reward == 1.0, (env.task.id, env.explain())


def test_independent_writes_may_come_in_any_order():
    toolkit = retail_toolkit("1.0.0")
    for task in tasks(difficulty=5, count=60):
        writes = [call for call in task.actions if toolkit.schema.tools[call.name].effect == "write"]
        database = Database(BASE)
        for call in reversed(writes):
            assert toolkit.call(database, call).code is None

        assert state_of(database) in RETAIL_GRADER.accepted_states(BASE, task)
