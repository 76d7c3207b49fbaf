"""Scores stored trajectories anew on a slice: what they earn under its grader, without playing an agent."""

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import Any

import gymnasium
import msgspec

from tool_envs.env import unwrap
from tool_envs.errors import SliceMismatchError, UsageError
from tool_envs.evaluation.evaluate import measure_floors, result_of
from tool_envs.evaluation.failures import failure_of
from tool_envs.evaluation.report import FORMAT_VERSION, Report
from tool_envs.evaluation.results import EpisodeResult
from tool_envs.evaluation.slice import Slice
from tool_envs.trajectory.record import Trajectory
from tool_envs.trajectory.refs import AgentRef
from tool_envs.trajectory.replay import play_again


def rescore(records: Iterable[Trajectory], frozen: Slice, path: str | None = None) -> Report:
    """Play the actions of records again on a slice, and report what they earn there now.

    Every observation must be met again; only the grade may be another one. Records of the same task are its
    trials, in their order. Episodes whose infrastructure failed stay without a grade.

    Args:
        records: The records, all of one agent in one version.
        frozen: The slice.
        path: Where the files of a foreign slice lie.

    Raises:
        SliceMismatchError: A record was made with another schema, user, task or data; names the fields.
        ReplayMismatchError: A record meets another observation here.
        UsageError: There is no record, or they are of several agents.
    """
    agents: dict[AgentRef, None] = {}

    def noted() -> Iterator[Trajectory]:
        for record in records:
            agents[record.agent] = None
            yield record

    with closing(frozen.make(path)) as env:
        results = grade_again(env, noted(), frozen)
        tasks = unwrap(env).domain.tasks
        floors = measure_floors(env, frozen, [tasks.index(task.id) for task in frozen.tasks])
    if len(agents) != 1:
        shown = ", ".join(f"{agent.name} {agent.version}" for agent in agents) or "none"
        raise UsageError(f"Expected records of one agent in one version, found: {shown}.")
    return Report(
        format_version=FORMAT_VERSION,
        slice=frozen,
        agent=next(iter(agents)),
        trials=1 + max(result.trial for result in results),
        floors=floors,
        results=tuple(in_order(results, frozen)),
    )


def grade_again(
    env: gymnasium.Env[Any, Any], records: Iterable[Trajectory], frozen: Slice
) -> list[EpisodeResult]:
    """How episodes went, by their records; raises as `rescore` does.

    Args:
        env: The environment of the slice.
        records: The records; those of the same task are its trials, in their order.
        frozen: The slice.
    """
    results, trials = [], Counter[str]()
    for number, record in enumerate(records, start=1):
        _require_of_slice(record, frozen, number)
        results.append(_result(env, record, trials[record.task.id]))
        trials[record.task.id] += 1
    return results


def in_order(results: Iterable[EpisodeResult], frozen: Slice) -> list[EpisodeResult]:
    """Results in the order of the tasks of a slice and of their trials."""
    order = {task.id: place for place, task in enumerate(frozen.tasks)}
    return sorted(results, key=lambda result: (order[result.task_id], result.trial))


def _result(env: gymnasium.Env[Any, Any], record: Trajectory, trial: int) -> EpisodeResult:
    inner = unwrap(env)
    index = inner.domain.tasks.index(record.task.id)
    play_again(env, record)
    if record.outcome.status != "infrastructure":
        found = result_of(inner, index, trial, record.seed)
    else:
        said = len(inner.episode.said)
        found = EpisodeResult(
            index=index,
            task_id=record.task.id,
            seed=record.seed,
            status="infrastructure",
            reward=None,
            steps=record.outcome.steps,
            trial=trial,
            family=inner.domain.tasks[index].family,
            difficulty=inner.domain.tasks[index].difficulty,
            said=said,
            failure=failure_of(record.outcome, said),
        )
    return msgspec.structs.replace(found, cost=sum(record.costs.values()))


def _require_of_slice(record: Trajectory, frozen: Slice, number: int) -> None:
    digests = {task.id: task.digest for task in frozen.tasks}
    pairs = {
        "env/id": (record.env.id, frozen.env.id),
        "schema": (record.schema, frozen.schema),
        "simulator": (record.simulator, frozen.simulator),
        "data_digest": (record.data.base_digest, frozen.data_digest),
        "task": (record.task.digest, digests.get(record.task.id)),
    }
    differ = [f"{name}: {here} and {there}" for name, (here, there) in pairs.items() if here != there]
    if differ:
        raise SliceMismatchError(f"Record {number} is not of the slice {frozen.id}: {'; '.join(differ)}.")
