"""Evaluates policies that are waited for, such as models behind servers: many episodes at once, recorded."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

from tool_envs.env import unwrap
from tool_envs.evaluation.episodes import result_of_record, result_without_episode
from tool_envs.evaluation.evaluate import measure_floors
from tool_envs.evaluation.report import FORMAT_VERSION, Report
from tool_envs.evaluation.results import EpisodeResult
from tool_envs.evaluation.slice import Slice
from tool_envs.messages import Json
from tool_envs.rollout import EndedEpisode, Engine, EpisodePolicy, Plan, Policy, Versions
from tool_envs.task import TaskSet
from tool_envs.trajectory import read_trajectories
from tool_envs.trajectory.record import PolicyVersion
from tool_envs.trajectory.refs import AgentRef


def evaluate_policy(
    frozen: Slice,
    policy: Policy | EpisodePolicy,
    version: str,
    folder: str | Path,
    *,
    local: Mapping[str, Json] | None = None,
    trials: int = 1,
    concurrency: int = 32,
    retries: int = 2,
    deadline: float | None = None,
    marks: tuple[str, ...] = (),
    on_episode: Callable[[EndedEpisode, int], None] | None = None,
) -> Report:
    """Play the tasks of a slice by the rollout engine, and grade them from their records.

    Called again with the same folder it goes on where it was stopped, and tries again what failed. An episode
    whose infrastructure fails to the last has no grade, and is in no rate.

    Args:
        frozen: The slice, as `load_slice` gives it.
        policy: Who acts.
        version: Its version.
        folder: Where the run is kept: records, and failures (see `tool_envs.rollout.run`).
        local: See `Slice.make`.
        trials: Episodes of each task.
        concurrency: How many run at once.
        retries: How often an episode that failed is tried again.
        deadline: Seconds that an attempt at an episode may take; None: any time.
        marks: Why the scores are no plain ones.
        on_episode: Called after each episode, with the number of those that are played now.

    Raises:
        UsageError: `folder` is of another run, or another process writes to it.
        DataFileError: It cannot be read or written.
        Exception: The first mistake in the policy, after all other episodes.
    """
    with closing(frozen.make(local)) as env:
        tasks = unwrap(env).domain.tasks
        indexes = [tasks.index(task.id) for task in frozen.tasks]
        plan = Plan(indexes, trials, frozen.seed)
        engine = Engine(
            frozen.env.id,
            frozen.env.kwargs | dict(local or {}),
            policy,
            Versions(PolicyVersion(version=version, number=0)),
            plan,
            out=folder,
            concurrency=concurrency,
            retries=retries,
            deadline=deadline,
        )
        errors: dict[tuple[int, int], str] = {}

        def note(ended: EndedEpisode, to_play: int) -> None:
            if ended.failure:
                errors[ended.planned.task, ended.planned.sample] = ended.failure.error
            if on_episode:
                on_episode(ended, to_play)

        summary = asyncio.run(engine.run(note))
        results = _results(plan, tasks, folder, errors)
        floors = measure_floors(env, frozen, indexes)
    return Report(
        format_version=FORMAT_VERSION,
        slice=frozen,
        agent=AgentRef(name=policy.name, version=version),
        trials=trials,
        results=results,
        floors=floors,
        marks=marks,
        seconds=summary.seconds,
    )


def _results(
    plan: Plan, tasks: TaskSet, folder: str | Path, errors: Mapping[tuple[int, int], str]
) -> tuple[EpisodeResult, ...]:
    """How each planned episode went, by its record or by what its last attempt failed of.

    The folder is of one run, under one grader: the records say how each episode was graded.
    """
    records = {(record.task.id, record.seed): record for record in read_trajectories(folder)}
    found = []
    for planned in plan:
        index, trial, task = planned.task, planned.sample, tasks[planned.task]
        if record := records.get((task.id, planned.seed)):
            found.append(result_of_record(record, (index, task), trial))
        else:
            found.append(result_without_episode(task, index, trial, planned.seed, errors[index, trial]))
    return tuple(found)
