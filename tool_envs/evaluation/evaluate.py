"""Plays an agent over tasks, one episode each."""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import gymnasium

from tool_envs.agents import Agent, play
from tool_envs.agents.agent import unwrap
from tool_envs.env import ToolEnv
from tool_envs.errors import InfrastructureError, UsageError
from tool_envs.evaluation.environments import make_env
from tool_envs.evaluation.report import EpisodeResult, Report, summarise
from tool_envs.messages import Json
from tool_envs.randomness import splitmix64

OnEpisode: TypeAlias = Callable[[ToolEnv, EpisodeResult], None]
"""Called after each episode, while the environment still holds it; its time is not counted."""


def evaluate(
    env_id: str,
    kwargs: Mapping[str, Json],
    agent: Agent,
    *,
    tasks: Sequence[int] | None = None,
    seed: int = 0,
    on_episode: OnEpisode | None = None,
) -> Report:
    """Play one episode of each task, on one environment.

    An episode whose infrastructure fails has no reward and is left out of every rate; the others go on.

    Args:
        env_id: The environment.
        kwargs: Its arguments.
        agent: Who acts.
        tasks: Indexes of the tasks; None: all of the split. They never depend on the seed.
        seed: Each episode's seed follows from it and from the index of the task.
        on_episode: What else to do after each episode.

    Raises:
        UnknownNameError: There is no such environment, argument or task.
        UsageError: The agent stopped before an episode ended.
    """
    with make_env(env_id, kwargs) as env:
        inner = unwrap(env)
        indexes = range(len(inner.domain.tasks)) if tasks is None else tasks
        for index in indexes:
            inner.domain.tasks[index]  # an unknown one is refused before the first episode
        results, seconds = [], 0.0
        for index in indexes:
            began = time.perf_counter()
            result = _play_task(env, agent, index, seed)
            seconds += time.perf_counter() - began
            results.append(result)
            if on_episode:
                on_episode(inner, result)
        return Report(
            env_id=env_id,
            kwargs=dict(kwargs),
            agent=agent.name,
            agent_version=agent.version,
            seed=seed,
            seconds=seconds,
            **_describe(inner),
            **summarise(results),
        )


def episode_seed(seed: int, index: int) -> int:
    """The seed of one task's episode: 53 bits, so that every reader of JSON takes it exactly."""
    return splitmix64(seed, index, 0, 0) >> 11


def _play_task(env: gymnasium.Env[Any, Any], agent: Agent, index: int, seed: int) -> EpisodeResult:
    ...
