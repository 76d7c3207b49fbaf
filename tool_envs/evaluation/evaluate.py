"""Plays an agent over tasks, and reports what came out."""

import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, nullcontext, suppress
from pathlib import Path
from typing import Any, TypeAlias

import gymnasium

from tool_envs.agents import TRIVIAL, Agent, load_agent, play
from tool_envs.env import ToolEnv, unwrap
from tool_envs.environments import make_env
from tool_envs.errors import InfrastructureError, UsageError
from tool_envs.evaluation.episodes import result_of_episode, result_without_episode
from tool_envs.evaluation.journal import Journal
from tool_envs.evaluation.report import FORMAT_VERSION, Report, write_report
from tool_envs.evaluation.results import EpisodeResult
from tool_envs.evaluation.seeds import agent_key, episode_seed
from tool_envs.evaluation.slice import Slice, freeze
from tool_envs.messages import Json
from tool_envs.trajectory.refs import AgentRef

OnEpisode: TypeAlias = Callable[[ToolEnv, EpisodeResult], None]
"""Called after each episode, while the environment holds it; its time is not counted. An episode of 0 steps,
whose user could not be met, may not be the one that the environment holds."""

UNRELEASED = "unreleased/tasks"
"""The id of tasks that are of no slice: their manifest is like that of any slice."""

_MANY_TASKS = 100_000


def evaluate(
    env_id: str,
    kwargs: Mapping[str, Json],
    agent: Agent,
    *,
    tasks: Sequence[int] | None = None,
    trials: int = 1,
    seed: int = 0,
    on_episode: OnEpisode | None = None,
    out: str | Path | None = None,
) -> Report:
    """Play tasks of an environment, on one environment.

    An episode whose infrastructure fails has no reward and is left out of every rate; the others go on.

    Args:
        env_id: The environment.
        kwargs: Its arguments.
        agent: Who acts.
        tasks: Indexes of the tasks; None: all of the split. They never depend on the seed.
        trials: Episodes of each task.
        seed: Each episode's seed follows from it, the index of the task and the number of the trial.
        on_episode: What else to do after each episode.
        out: Where to write the report. Stopped and called again, it goes on where it was.

    Raises:
        UnknownNameError: There is no such environment, argument or task.
        UsageError: The agent stopped before an episode ended, no task or no trial is asked for, the split is
            endless and `tasks` is None, or another evaluation was begun at `out`.
        DataFileError: `out` cannot be written.
    """
    indexes = _all_tasks(env_id, kwargs) if tasks is None else tasks
    frozen = freeze(UNRELEASED, env_id, kwargs, indexes, seed=seed)
    with closing(make_env(env_id, kwargs)) as env:
        return _evaluate(env, frozen, indexes, agent, trials, on_episode, out)


def evaluate_slice(
    frozen: Slice,
    agent: Agent,
    *,
    local: Mapping[str, Json] | None = None,
    trials: int = 1,
    on_episode: OnEpisode | None = None,
    out: str | Path | None = None,
    floors: bool = True,
    marks: tuple[str, ...] = (),
) -> Report:
    """Play the tasks of a slice, as `evaluate` does.

    Args:
        frozen: The slice, as `load_slice` gives it.
        agent: Who acts.
        local: See `Slice.make`.
        trials: Episodes of each task.
        on_episode: What else to do after each episode.
        out: Where to write the report. Stopped and called again, it goes on where it was.
        floors: Whether trivial agents play the slice too, once (see `measure_floors`).
        marks: Why the scores are no plain ones.

    Raises:
        UsageError: The agent stopped before an episode ended, no trial is asked for, or another evaluation
            was begun at `out`.
        DataFileError: `out` cannot be written.
    """
    with closing(frozen.make(local)) as env:
        tasks = unwrap(env).domain.tasks
        indexes = [tasks.index(task.id) for task in frozen.tasks]
        measured = measure_floors(env, frozen, indexes) if floors else {}
        return _evaluate(env, frozen, indexes, agent, trials, on_episode, out, measured, marks)


def measure_floors(env: gymnasium.Env[Any, Any], frozen: Slice, indexes: Sequence[int]) -> dict[str, float]:
    """The score of each trivial agent on a slice: what another one is worth nothing below.

    Where a language model plays the user there are none, for they would cost more than what is evaluated.

    Args:
        env: The environment of the slice.
        frozen: The slice.
        indexes: Indexes of its tasks there.
    """
    if frozen.simulator.model:
        return {}
    reports = (_evaluate(env, frozen, indexes, load_agent(name), 1, None, None) for name in TRIVIAL)
    found = {report.agent.name: report.scores.score for report in reports}
    return {name: score.value for name, score in found.items() if score is not None}


def _evaluate(
    env: gymnasium.Env[Any, Any],
    frozen: Slice,
    indexes: Sequence[int],
    agent: Agent,
    trials: int,
    on_episode: OnEpisode | None,
    out: str | Path | None,
    floors: dict[str, float] | None = None,
    marks: tuple[str, ...] = (),
) -> Report:
    if trials < 1:
        raise UsageError(f"Expected at least one trial of each task, not {trials}.")
    what = {"slice": frozen.digest, "agent": agent.name, "version": agent.version, "trials": trials}
    with Journal(out, what) if out else nullcontext() as journal:
        known = journal.finished if journal else {}
        results, seconds = [], 0.0
        for index, trial in itertools.product(indexes, range(trials)):
            if (index, trial) in known:
                results.append(known[index, trial])
                continue
            began = time.perf_counter()
            results.append(_play_task(env, agent, index, trial, frozen.seed))
            seconds += time.perf_counter() - began
            if on_episode:
                on_episode(unwrap(env), results[-1])
            if journal:
                journal.append(results[-1])
        report = Report(
            format_version=FORMAT_VERSION,
            slice=frozen,
            agent=AgentRef(name=agent.name, version=agent.version),
            trials=trials,
            results=tuple(results),
            floors=floors or {},
            marks=marks,
            seconds=seconds,
        )
        if journal and out:
            write_report(report, out)
            journal.remove()
        return report


def _all_tasks(env_id: str, kwargs: Mapping[str, Json]) -> Sequence[int]:
    with closing(make_env(env_id, kwargs)) as env:
        count = len(unwrap(env).domain.tasks)
    if count > _MANY_TASKS:
        raise UsageError(f"This split has {count} tasks, as good as endless. Say how many to play.")
    return range(count)


def _play_task(
    env: gymnasium.Env[Any, Any], agent: Agent, index: int, trial: int, seed: int
) -> EpisodeResult:
    inner = unwrap(env)
    task, own_seed = inner.domain.tasks[index], episode_seed(seed, index, trial)
    try:
        observation, _ = env.reset(seed=own_seed, options={"task_index": index})
    except InfrastructureError as failure:
        return result_without_episode(task, index, trial, own_seed, type(failure).__name__)
    with suppress(InfrastructureError):  # the outcome says so
        play(env, agent, observation, agent_key(seed, index, trial))
    if inner.outcome is None:
        raise UsageError(f"Agent `{agent.name}` or a wrapper stopped before the end of task {index}.")
    return result_of_episode(inner, index, trial, own_seed)
