"""Rows of data sets name the episodes of a plan, and playing a row is playing its episode."""

import asyncio
import dataclasses
import threading

import gymnasium
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy_domain import ENV_ID, FUNCTIONS, TASKS, load

from tool_envs.agents import load_agent
from tool_envs.env import ToolEnv
from tool_envs.errors import InfrastructureError, UnknownNameError, UsageError
from tool_envs.integrations.episode_rows import COLUMN, episode_rows, play_row, read_row
from tool_envs.rollout import Engine, Plan, PolicyOutput, ScriptedPolicy, Versions
from tool_envs.task import TaskList
from tool_envs.toolkit import Toolkit
from tool_envs.trajectory.capture import SCRIPTED
from tool_envs.trajectory.record import PolicyVersion

ORACLE = load_agent("oracle")
RETAIL = ("tool_envs/Retail-v0", {"split": "test", "difficulty": 1})
THREADS = []


class SlowDesk(ToolEnv):
    """A desk that blocks, and keeps in which threads its tool `think` ran."""

    def __init__(self):
        think = {"think": lambda database, thought="": THREADS.append(threading.get_ident())}  # noqa: ARG005 - a tool's form
        toolkit = Toolkit(load().toolkit.schema, {**FUNCTIONS, **think})
        super().__init__(dataclasses.replace(load(), toolkit=toolkit, blocking=True), user="silent")


class UngradedDesk(ToolEnv):
    """A desk whose tasks no rule grades."""

    def __init__(self):
        tasks = TaskList([msgspec.structs.replace(task, graded=False) for task in TASKS])
        super().__init__(dataclasses.replace(load(), tasks=tasks), user="silent", max_steps=1)


gymnasium.register(id="tool_envs_tests/SlowDesk-v0", entry_point=SlowDesk)
gymnasium.register(id="tool_envs_tests/UngradedDesk-v0", entry_point=UngradedDesk)


class Says:
    """A policy that calls tools, in turn."""

    name, setting = "says", SCRIPTED

    def __init__(self, *names):
        self._names = list(names)

    async def act(self, messages, tools):  # noqa: ARG002 - a policy's form
        return PolicyOutput(action={"name": self._names.pop(0), "arguments": {}})


def versions():
    return Versions(PolicyVersion(version=ORACLE.version, number=0))


def play(env_id, kwargs, policy, task=0):
    (text,) = episode_rows(env_id, kwargs, Plan([task]))
    return asyncio.run(play_row(read_row({COLUMN: text}), policy, versions()))


@given(
    tasks=st.lists(st.integers(0, len(TASKS) - 1), unique=True, min_size=1),
    group_size=st.integers(1, 4),
    seed=st.integers(0, 2**53 - 1),
)
def test_rows_name_the_episodes_of_a_plan(tasks, group_size, seed):
    plan = Plan(tasks, group_size, seed)
    rows = [read_row({COLUMN: text, "other": 1}) for text in episode_rows(ENV_ID, {"max_steps": 9}, plan)]

    assert [(row.task_id, row.seed) for row in rows] == [(TASKS[p.task].id, p.seed) for p in plan]
    assert {(row.env_id, *row.kwargs.items()) for row in rows} == {(ENV_ID, ("max_steps", 9))}


def test_a_row_is_played_as_an_engine_plays_its_episode():
    plan = Plan([1])
    records = []
    engine = Engine(*RETAIL, ScriptedPolicy(ORACLE), versions(), plan)
    asyncio.run(engine.run(on_episode=lambda episode, _: records.append(episode.record)))

    assert play(*RETAIL, ScriptedPolicy(ORACLE), task=1) == records[0]
    assert records[0].outcome.reward == 1.0


def test_a_domain_that_blocks_is_played_in_threads():
    THREADS.clear()
    record = play("tool_envs_tests/SlowDesk-v0", {}, Says("think", "close_desk"))

    assert record.outcome.ended_by == "agent"
    assert len(THREADS) == 1
    assert threading.get_ident() not in THREADS


def test_a_failure_has_no_record():
    with pytest.raises(InfrastructureError, match="line is dead"):
        play(ENV_ID, {"user": "dead_line"}, ScriptedPolicy(load_agent("gold")))


def test_a_task_that_no_rule_grades_has_no_reward_to_train_on():
    with pytest.raises(UsageError, match="No rule grades the task 'lend-emma'"):
        play("tool_envs_tests/UngradedDesk-v0", {}, Says("think"))


def test_rows_of_what_there_is_not_are_refused():
    with pytest.raises(UnknownNameError):
        list(episode_rows(RETAIL[0], {"colour": "red"}, Plan([0])))
    with pytest.raises(UnknownNameError):
        list(episode_rows(ENV_ID, {}, Plan([99])))
