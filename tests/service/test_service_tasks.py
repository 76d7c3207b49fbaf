"""Generated tasks of every domain: endless, different, solvable, none vacuous."""

import os
from collections import Counter
from pathlib import Path

import gymnasium
import jsonschema_rs
import orjson
import pytest
from processes import outputs
from service_domains import SUBJECTS, VERSIONS

import tool_envs  # noqa: F401 - registers the ids
from tool_envs.database import Database
from tool_envs.errors import UnknownNameError
from tool_envs.evaluation.audit import audit
from tool_envs.rules import Called, events
from tool_envs.service.desk import goal_of
from tool_envs.service.tasks import DIFFICULTIES
from tool_envs.simulators.goal import UserGoal

# A sweep over all 1,000 takes minutes; `make sweep` sets it.
MANY = int(os.environ.get("SERVICE_TASKS", "100"))


def first(tasks, count):
    return [tasks[index] for index in range(count)]


def test_a_thousand_tasks_are_nearly_all_different(subject):
    assert len({task.digest for task in first(subject.tasks(), 1000)}) >= 990


def test_each_family_has_its_share(subject):
    counts = Counter(task.family for task in first(subject.tasks(), 1000))

    assert len(counts) == subject.families
    assert min(counts.values()) >= 50


def test_train_and_test_share_no_customer(subject):
    people = [
        {str(sorted(goal_of(task).knows.items())) for task in first(subject.tasks(split, 1), 1000)}
        for split in ("train", "test")
    ]

    assert all(people)
    assert not people[0] & people[1]


@pytest.mark.parametrize("difficulty", DIFFICULTIES)
def test_a_task_is_found_again_by_its_id(subject, difficulty):
    made = subject.tasks("train", difficulty)

    assert made.find(made[7].id) is made[7]
    assert made.index(made[7].id) == 7


@pytest.mark.parametrize("wrong", ["test/1/0", "train/any/0", "train/1/-1", "x", "train/1/01", "train/1/"])
def test_ids_of_other_tasks_are_unknown(subject, wrong):
    made = subject.tasks("train", 1)
    domain = made.task_id(0).partition("/")[0]

    with pytest.raises(UnknownNameError):
        made.find(f"{domain}/{wrong}")


@pytest.mark.parametrize("name", SUBJECTS)
def test_tasks_are_the_same_in_every_process(name):
    code = (
        "import sys; sys.path.append(sys.argv[1]); from service_domains import SUBJECTS;"
        f"made = SUBJECTS[{name!r}].tasks();"
        "print([made[i].digest for i in range(30)])"
    )
    printed = f"{[task.digest for task in first(SUBJECTS[name].tasks(), 30)]}\n".encode()
    assert outputs(code, Path(__file__).parent) == {printed}


@pytest.mark.parametrize("difficulty", DIFFICULTIES)
def test_no_task_is_solved_by_the_data_as_they_are_or_by_words_alone(subject, difficulty):
    for task in first(subject.tasks("test", difficulty), 100):
        wishes = goal_of(task).wishes
        untouched = frozenset() in subject.grader.accepted_states(subject.base, task)

        assert not untouched or any(wish.fact or wish.forbidden for wish in wishes)
        assert all(wish.evidence for wish in wishes if wish.fact or wish.forbidden)


def test_the_goal_is_a_goal(subject):
    for task in first(subject.tasks(), 50):
        assert isinstance(goal_of(task), UserGoal)
        assert goal_of(task).wishes


def play_oracle(env, index, seed=0):
    env.reset(seed=seed, options={"task_index": index})
    while env.outcome is None:
        env.step(env.domain.oracle(env.episode))
    return env


@pytest.mark.parametrize("version", VERSIONS)
def test_the_oracle_solves_every_task(subject, version):
    env = gymnasium.make(subject.env_id, split="test", schema_version=version).unwrapped
    for index in range(MANY):
        play_oracle(env, index)

        assert env.outcome.reward == 1.0, (env.task.id, env.explain())
        assert env.outcome.not_understood == 0


def test_no_task_is_done_in_a_few_actions(subject):
    env = gymnasium.make(subject.env_id, split="test", difficulty=1).unwrapped

    assert min(play_oracle(env, index).outcome.steps for index in range(MANY)) >= subject.fewest


@pytest.mark.parametrize("version", VERSIONS)
def test_audit(subject, version):
    kwargs = {"split": "test", "schema_version": version}
    for finding in audit(subject.env_id, kwargs, range(MANY)):
        assert finding.problems == (), finding.agent


def test_every_rule_has_a_saboteur(subject):
    env = gymnasium.make(subject.env_id).unwrapped

    assert {rule.id for rule in subject.grader.desk.rules} == set(env.domain.saboteurs)


@pytest.mark.parametrize("version", VERSIONS)
def test_every_result_is_valid_for_its_schema(subject, version):
    env = gymnasium.make(subject.env_id, split="train", schema_version=version).unwrapped
    results = {name: jsonschema_rs.validator_for(tool.result) for name, tool in env.schema.tools.items()}
    for index in range(20):
        play_oracle(env, index)
        for _, event in events(env.episode.history):
            if isinstance(event, Called):
                assert results[event.call.name].is_valid(orjson.loads(event.result))


STRANGE_READS = {
    "retail": [("list_all_product_types", {}), ("get_order_details", {"order_id": "#W0000000"})],
    "booking": [("list_all_airports", {}), ("get_user_details", {"user_id": "no_body_0000"})],
}


def test_the_oracle_takes_over_from_anybody(subject):
    env = gymnasium.make(subject.env_id, split="test").unwrapped
    reads = STRANGE_READS[env.schema.domain]
    strangers = [
        "Hello! How can I help you today?",
        {"name": "think", "arguments": {"thought": "hm"}},
        *({"name": name, "arguments": arguments} for name, arguments in reads),
        '{"name": "broken"',
    ]
    for index in range(20):
        env.reset(seed=1, options={"task_index": index})
        for action in strangers[: 1 + index % 5]:
            env.step(action)
        while env.outcome is None:
            env.step(env.domain.oracle(env.episode))

        assert env.outcome.reward == 1.0, (env.task.id, env.explain())


def test_independent_writes_may_come_in_any_order(subject):
    toolkit = subject.grader.desk.toolkit
    for task in first(subject.tasks("test", 5), 60):
        writes = [call for call in task.actions if toolkit.schema.tools[call.name].effect == "write"]
        database = Database(subject.base)
        for call in reversed(writes):
            assert toolkit.call(database, call).code is None

        accepted = subject.grader.accepted_states(subject.base, task)
        assert subject.grader.desk.state(database) in accepted
