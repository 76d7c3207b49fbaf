"""Plays an agent over tasks, one episode each."""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from typing import Any, TypeAlias

import gymnasium

from tool_envs.agents import Agent, play
from tool_envs.env import ToolEnv, unwrap
from tool_envs.errors import EpisodeEndedError, InfrastructureError, UsageError
from tool_envs.evaluation.environments import make_env
from tool_envs.evaluation.report import EpisodeResult, Report, summarise
from tool_envs.messages import Json
from tool_envs.randomness import splitmix64

OnEpisode: TypeAlias = Callable[[ToolEnv, EpisodeResult], None]
"""Called after each episode, while the environment holds it; its time is not counted. An episode of 0 steps,
whose user could not be met, may not be the one that the environment holds."""

_MANY_TASKS = 100_000

# Numbers of the draws of one task.
_EPISODE_DRAW, _AGENT_DRAW = 0, 1


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
        UsageError: The agent stopped before an episode ended, or the split is endless and `tasks` is None.
    """
    with closing(make_env(env_id, kwargs)) as env:
        inner = unwrap(env)
        indexes = _all_tasks(inner) if tasks is None else tasks
        for end in {min(indexes), max(indexes)} if indexes else ():
            inner.domain.tasks[end]  # an unknown one is refused before the first episode
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


def _all_tasks(env: ToolEnv) -> Sequence[int]:
    count = len(env.domain.tasks)
    if count > _MANY_TASKS:
        raise UsageError(f"This split has {count} tasks, as good as endless. Say how many to play.")
    return range(count)


def _play_task(env: gymnasium.Env[Any, Any], agent: Agent, index: int, seed: int) -> EpisodeResult:
    inner = unwrap(env)
    # 53 bits: every reader of a record takes it exactly.
    own_seed = splitmix64(seed, index, 0, _EPISODE_DRAW) >> 11
    known: dict[str, Any] = {"index": index, "task_id": inner.domain.tasks[index].id, "seed": own_seed}
    try:
        observation, _ = env.reset(seed=own_seed, options={"task_index": index})
    except InfrastructureError:
        return EpisodeResult(**known, status="infrastructure", reward=None, steps=0)
    try:
        play(env, agent, observation, splitmix64(seed, index, 0, _AGENT_DRAW))
    except InfrastructureError:
        return EpisodeResult(**known, status="infrastructure", reward=None, **_count(inner))
    if inner.outcome is None:
        raise UsageError(f"Agent `{agent.name}` or a wrapper stopped before the end of task {index}.")
    return EpisodeResult(**known, status=inner.outcome.status, reward=inner.outcome.reward, **_count(inner))


def _count(env: ToolEnv) -> dict[str, Any]:
    history = env.episode.history
    return {
        "steps": env.episode.steps,
        "error_codes": dict(Counter(message.code for message in history if message.code)),
        "said": len(env.episode.said),
        "not_understood": env.episode.user.not_understood,
    }


def _describe(env: ToolEnv) -> dict[str, Any]:
    """The fields of a report that say what was played."""
    domain = env.domain
    return {
        "interface": domain.interface,
        "schema_version": env.schema.version,
        "schema_sha256": env.schema.sha256,
        "data_digest": domain.base.digest,
        "grader_digest": domain.grader_digest,
        "user": _name_user(env),
    }


def _name_user(env: ToolEnv) -> dict[str, str] | None:
    try:
        user = env.episode.user
    except EpisodeEndedError:
        return None
    return {"name": user.name, "version": user.version}
