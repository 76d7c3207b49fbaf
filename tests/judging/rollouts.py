"""Rollouts for the tests of judges: real ones of one task at the toy desk, told apart by what is said."""

import asyncio
import functools

import msgspec
import toy_domain

from tool_envs.environments import make_env
from tool_envs.errors import InfrastructureError
from tool_envs.judging import FunctionJudge, Rubric
from tool_envs.trajectory import record_episode
from tool_envs.trajectory.record import assistant_messages

DESK = toy_domain.ENV_ID


def rollout(*actions, task_index=0, version="v1", **kwargs):
    """The record of an episode of these actions, cut by the step limit if they do not end it."""
    steps = sum(len(action) if isinstance(action, list) else 1 for action in actions)
    env = make_env(DESK, {"max_steps": steps, **kwargs})
    env.reset(seed=1, options={"task_index": task_index})
    try:
        for action in actions:
            if env.unwrapped.outcome is None:
                env.step(action)
    except InfrastructureError:
        pass
    return record_episode(env, "test", version, 1)


@functools.cache
def numbered(number):
    """A rollout in which the agent says a number."""
    return rollout(f"My number is {number}.")


def failed():
    """A rollout whose infrastructure failed."""
    return rollout("Hello?", user="dead_line")


def failing(trajectory):
    """The same as if its infrastructure had failed at the end."""
    outcome = trajectory.outcome
    ledger = msgspec.structs.replace(outcome.ledger, terminal=None)
    outcome = msgspec.structs.replace(outcome, status="infrastructure", reward=None, ledger=ledger)
    messages = tuple(msgspec.structs.replace(each, trainable=False) for each in trajectory.messages)
    return msgspec.structs.replace(trajectory, outcome=outcome, messages=messages)


def number_of(trajectory):
    """The number that the agent said."""
    _, message = next(assistant_messages(trajectory))
    return int(message.content.removeprefix("My number is ").removesuffix("."))


def function_judge(function, name="test"):
    """A judge that is asked for the numbers of two rollouts."""
    return FunctionJudge(
        name, "1", lambda _task, first, second, _rubric: function(number_of(first), number_of(second))
    )


def greater(first, second):
    """Prefers the greater number."""
    return "tie" if first == second else "first" if first > second else "second"


def run(coroutine):
    return asyncio.run(coroutine)


def reward_of(value):
    """A rubric of the kind `reward`."""
    return Rubric.from_json(value, "reward")


def thinking(trajectory, thought):
    """The same with a thought in each of the agent's messages."""
    messages = tuple(
        msgspec.structs.replace(each, thought=thought, aside=thought) if hasattr(each, "action") else each
        for each in trajectory.messages
    )
    return msgspec.structs.replace(trajectory, messages=messages)
