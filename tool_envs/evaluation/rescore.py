"""Scores stored trajectories anew on a slice: what they earn under its grader, without playing an agent."""

from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import closing
from typing import Any

import gymnasium
import msgspec

from tool_envs.env import unwrap
from tool_envs.errors import SliceMismatchError, UsageError
from tool_envs.evaluation.episodes import result_of_episode, result_of_record
from tool_envs.evaluation.evaluate import measure_floors
from tool_envs.evaluation.report import FORMAT_VERSION, Report
from tool_envs.evaluation.results import EpisodeResult
from tool_envs.evaluation.slice import Slice, describe_differences, record_differences
from tool_envs.messages import Json
from tool_envs.trajectory.record import Trajectory
from tool_envs.trajectory.refs import AgentRef
from tool_envs.trajectory.replay import play_again


def rescore(records: Iterable[Trajectory], frozen: Slice, local: Mapping[str, Json] | None = None) -> Report:
    """Play the actions of records again on a slice, and report what they earn there now.

    Every observation must be met again; only the grade may be another one. Records of the same task are its
    trials, in their order. Episodes whose infrastructure failed stay without a grade.

    Args:
        records: The records, all of one agent in one version.
        frozen: The slice.
        local: See `Slice.make`.

    Raises:
        SliceMismatchError: A record was made with another schema, user, task or data; names the fields.
        ReplayMismatchError: A record meets another observation here.
        UsageError: There is no record, or they are of several agents.
    """
    results, trials, agents = [], Counter[str](), dict[AgentRef, None]()
    with closing(frozen.make(local)) as env:
        tasks = unwrap(env).domain.tasks
        for number, record in enumerate(records, start=1):
            _require_of_slice(record, frozen, number)
            agents[record.agent] = None
            results.append(_grade_again(env, record, trials[record.task.id]))
            trials[record.task.id] += 1
        floors = measure_floors(env, frozen, [tasks.index(task.id) for task in frozen.tasks])
    if len(agents) != 1:
        shown = ", ".join(f"{agent.name} {agent.version}" for agent in agents) or "none"
        raise UsageError(f"Expected records of one agent in one version, found: {shown}.")
    order = {task.id: place for place, task in enumerate(frozen.tasks)}
    return Report(
        format_version=FORMAT_VERSION,
        slice=frozen,
        agent=next(iter(agents)),
        trials=max(trials.values()),
        results=tuple(sorted(results, key=lambda result: (order[result.task_id], result.trial))),
        floors=floors,
    )


def _grade_again(env: gymnasium.Env[Any, Any], record: Trajectory, trial: int) -> EpisodeResult:
    inner = unwrap(env)
    index = inner.domain.tasks.index(record.task.id)
    play_again(env, record)
    if record.outcome.status == "infrastructure":
        return result_of_record(record, (index, inner.domain.tasks[index]), trial)
    found = result_of_episode(inner, index, trial, record.seed)
    return msgspec.structs.replace(found, cost=sum(record.costs.values()), usage=record.usage)


def _require_of_slice(record: Trajectory, frozen: Slice, number: int) -> None:
    found = record_differences(record, frozen)
    if found:
        differ = describe_differences(found)
        raise SliceMismatchError(f"Record {number} is not of the slice {frozen.id} (it and that): {differ}.")
