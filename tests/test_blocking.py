"""Domains whose tools wait for something beside the event loop, and those with a database for each task."""

import asyncio
import dataclasses
import threading

import pytest
from toy_domain import FUNCTIONS, TABLES, load

from tool_envs.database import BaseData, Database
from tool_envs.env import ToolEnv
from tool_envs.errors import EpisodeEndedError, InfrastructureError, UsageError
from tool_envs.threads import run_in_thread
from tool_envs.toolkit import Toolkit

THINK = {"name": "think", "arguments": {}}


def env_that_thinks(think, **changed):
    """A desk whose tool `think` calls a function, and that says that it blocks."""
    functions = {**FUNCTIONS, "think": lambda database, thought="": think()}  # noqa: ARG005 - a tool's form
    toolkit = Toolkit(load().toolkit.schema, functions)
    return ToolEnv(
        dataclasses.replace(load(), toolkit=toolkit, blocking=True, **changed), user="scripted", max_steps=9
    )


class Gate:
    """A tool that waits until it is let on, and says when it began."""

    def __init__(self):
        self.began, self.let_on, self.done = (threading.Event() for _ in range(3))

    def __call__(self):
        self.began.set()
        assert self.let_on.wait(60)
        self.done.set()

    async def begin(self):
        while not self.began.is_set():
            await asyncio.sleep(0.001)


def test_other_episodes_go_on_while_a_tool_waits():
    async def play():
        gate = Gate()
        slow, quick = env_that_thinks(gate), env_that_thinks(lambda: None)
        await slow.areset(seed=0)
        await quick.areset(seed=0)
        step = asyncio.ensure_future(slow.astep(THINK))
        await gate.begin()
        others = [await quick.astep(THINK) for _ in range(3)]
        assert not step.done()
        gate.let_on.set()
        return [*others, await step]

    assert [step[0]["content"] for step in asyncio.run(play())] == ["null"] * 4


def test_a_step_in_a_thread_is_the_step_without_one():
    async def awaited(env):
        return [await env.areset(seed=3), *[await env.astep(action) for action in (THINK, "Hello", "{")]]

    one, other = (env_that_thinks(lambda: None) for _ in range(2))
    waited = [one.reset(seed=3), *[one.step(action) for action in (THINK, "Hello", "{")]]

    assert asyncio.run(awaited(other)) == waited
    assert other.messages == one.messages


def test_a_cancelled_step_waits_for_its_tool_and_ends_its_episode_without_a_reward():
    async def play():
        gate = Gate()
        env = env_that_thinks(gate)
        await env.areset(seed=0)
        step = asyncio.ensure_future(env.astep(THINK))
        await gate.begin()
        step.cancel()
        await asyncio.sleep(0.01)
        step.cancel()
        await asyncio.sleep(0.01)
        assert not step.done()
        gate.let_on.set()
        with pytest.raises(asyncio.CancelledError):
            await step
        assert gate.done.is_set()
        return env

    env = asyncio.run(play())
    assert (env.outcome.status, env.outcome.reward, env.outcome.ended_by) == (
        "infrastructure",
        None,
        "CancelledError",
    )
    with pytest.raises(EpisodeEndedError):
        env.step(THINK)


def test_a_call_that_is_cancelled_before_a_thread_is_free_never_begins():
    async def play():
        loop, ran, gate = asyncio.get_running_loop(), [], threading.Event()
        pool = [loop.run_in_executor(None, gate.wait, 60) for _ in range(64)]
        queued = asyncio.ensure_future(run_in_thread(lambda: ran.append(1)))
        await asyncio.sleep(0.01)
        queued.cancel()
        with pytest.raises(asyncio.CancelledError):
            await queued
        gate.set()
        await asyncio.gather(*pool)
        await asyncio.to_thread(lambda: None)
        return ran

    assert asyncio.run(play()) == []


def test_failures_and_mistakes_come_through_the_thread():
    def fail():
        raise InfrastructureError("no sandbox")

    async def play():
        env = env_that_thinks(fail)
        await env.areset(seed=0)
        with pytest.raises(InfrastructureError, match="no sandbox"):
            await env.astep(THINK)
        assert env.outcome.status == "infrastructure"
        with pytest.raises(UsageError, match="no_such_task"):
            await env.areset(options={"task_id": "no_such_task"})

    asyncio.run(play())


def shelf_of_task(task):
    """A database in which only the task's own book is on its shelf."""
    books = {key: {**book, "shelf": f"for {task.id}"} for key, book in TABLES["books"].items()}
    return Database(BaseData({**TABLES, "books": books}))


LOOK = {"name": "get_book", "arguments": {"book_id": "B3"}}


def test_each_task_has_its_own_database_also_after_a_fork():
    domain = dataclasses.replace(load(), make_database=shelf_of_task)
    env, other = (ToolEnv(domain, user="scripted") for _ in range(2))

    for task in ("where", "swap"):
        env.reset(seed=0, options={"task_id": task})
        other.restore(env.snapshot())
        for each in (env, other):
            assert f"for {task}" in each.step(LOOK)[0]["content"]


def test_a_database_that_cannot_be_had_is_a_failure_of_the_infrastructure_and_not_of_the_agent():
    def missing(task):
        raise InfrastructureError(f"nothing for {task.id}")

    env = ToolEnv(dataclasses.replace(load(), make_database=missing), user="scripted")
    with pytest.raises(InfrastructureError, match="nothing for"):
        env.reset(seed=0)
    with pytest.raises(EpisodeEndedError):
        env.step(THINK)
