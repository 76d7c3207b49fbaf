"""What is looked at: the episodes of a report or of a store of records, and the records of episodes."""

import functools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import gymnasium
import msgspec

from tool_envs.env import Observation, unwrap
from tool_envs.environments import make_env
from tool_envs.errors import DataFileError, ToolEnvsError, UsageError
from tool_envs.evaluation.episodes import result_of_record
from tool_envs.evaluation.report import Report, read_report
from tool_envs.evaluation.results import EpisodeResult
from tool_envs.evaluation.scores import Scores, scores_of
from tool_envs.evaluation.slice import portable, record_differences
from tool_envs.messages import Json
from tool_envs.reward import TerminalSource
from tool_envs.task import Task
from tool_envs.trajectory.record import (
    Trajectory,
)
from tool_envs.trajectory.refs import AgentRef
from tool_envs.trajectory.store import read_trajectories


class Run(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """Episodes that are looked at together.

    Attributes:
        agent: Who acted.
        report: The report that they are of; None: they come from a store of records alone.
        results: How each went.
        records: Place in `results` -> the record of that episode, as far as there are records.
        marks: Why the scores are no plain ones.
        notes: What else a reader should know: records that are missing, say.
    """

    agent: AgentRef
    report: Report | None
    results: tuple[EpisodeResult, ...]
    records: dict[int, Trajectory]
    marks: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @functools.cached_property
    def scores(self) -> Scores:
        """The figures that follow from the results."""
        return self.report.scores if self.report else scores_of(self.results, self.reward)

    @property
    def reward(self) -> TerminalSource:
        """What the terminal reward of its episodes comes from."""
        if self.report:
            return self.report.slice.reward
        return next(iter(self.records.values())).outcome.ledger.terminal_source


class Stage:
    """The environments that records were played in, each made once.

    Args:
        overrides: Arguments that take the place of recorded ones: `path`, say.
    """

    def __init__(self, overrides: Mapping[str, Json] | None = None) -> None:
        self._overrides = dict(overrides or {})
        self._made: dict[bytes, gymnasium.Env[Observation, Json]] = {}

    def env_of(self, trajectory: Trajectory) -> gymnasium.Env[Observation, Json]:
        """The environment of a record.

        Raises:
            ToolEnvsError: It cannot be made here; so does `gymnasium.error.Error`.
        """
        kwargs = {**trajectory.env.kwargs, **self._overrides}
        name = msgspec.json.encode([trajectory.env.id, kwargs], order="sorted")
        if name not in self._made:
            self._made[name] = make_env(trajectory.env.id, kwargs)
        return self._made[name]

    def find_task(self, trajectory: Trajectory) -> tuple[int, Task] | None:
        """The task of a record and its index; None: it is not here."""
        try:
            tasks = unwrap(self.env_of(trajectory)).domain.tasks
            index = tasks.index(trajectory.task.id)
        except (ToolEnvsError, gymnasium.error.Error):
            return None
        return (index, tasks[index]) if tasks[index].digest == trajectory.task.digest else None

    def close(self) -> None:
        """Close the environments."""
        for env in self._made.values():
            env.close()


def read_run(path: str | Path, records: str | Path | None, stage: Stage) -> Run:
    """The run at a path.

    Args:
        path: A report, or a store of records (a folder, or a JSONL file).
        records: The store with the records of a report's episodes.
        stage: Where the tasks of a store's records are looked up.

    Raises:
        DataFileError: It is neither, or is damaged.
        UsageError: `records` is given for a store, or the store is empty.
    """
    path = Path(path)
    if not path.exists():
        raise DataFileError(path, "there is no such report, and no such store of records")
    if path.is_file() and path.suffix == ".json":
        return run_of_report(read_report(path), read_trajectories(records) if records else ())
    if records is not None:
        raise UsageError(f"{path} is a store of records: `--records` is for reports.")
    return run_of_records(list(read_trajectories(path)), stage)


def run_of_report(report: Report, records: Iterable[Trajectory] = ()) -> Run:
    """The episodes of a report, each with its record if that is among `records`.

    A record belongs to the episode of its task and seed when it was played by the same agent under what the
    slice froze. Of several, which are alike, the last is taken.
    """
    places = {(result.task_id, result.seed): place for place, result in enumerate(report.results)}
    found: dict[int, Trajectory] = {}
    strangers = 0
    for record in records:
        place = places.get((record.task.id, record.seed))
        if place is None or not _belongs(record, report):
            strangers += 1
        else:
            found[place] = record
    return Run(
        agent=report.agent,
        report=report,
        results=report.results,
        records=found,
        marks=report.marks,
        notes=tuple(_notes(len(report.results) - len(found), strangers)),
    )


def run_of_records(records: Sequence[Trajectory], stage: Stage) -> Run:
    """The episodes of records, as an evaluation would have counted them; trials are numbered by task.

    Raises:
        UsageError: There is no record, or their rewards come from several sources.
    """
    if not records:
        raise UsageError("The store is empty: it holds no record to look at.")
    rewards = sorted({record.outcome.ledger.terminal_source for record in records})
    if len(rewards) > 1:
        raise UsageError(
            f"Rewards of two kinds never stand in one table: these records have {' and '.join(rewards)}."
        )
    trials: Counter[str] = Counter()
    results = []
    for record in records:
        results.append(result_of_record(record, stage.find_task(record), trials[record.task.id]))
        trials[record.task.id] += 1
    return Run(
        agent=records[-1].agent,
        report=None,
        results=tuple(results),
        records=dict(enumerate(records)),
        marks=tuple(_mixed(records)),
    )


def _belongs(record: Trajectory, report: Report) -> bool:
    frozen = report.slice
    return (
        record.agent == report.agent
        and portable(record.env) == frozen.env
        and record.grader_digest == frozen.grader_digest
        and not record_differences(record, frozen)
    )


def _notes(missing: int, strangers: int) -> list[str]:
    found = []
    if missing:
        found.append(f"{missing} episodes have no record, so their conversations are not shown")
    if strangers:
        found.append(f"{strangers} records are of no episode of this report and were left out")
    return found


def _mixed(records: Sequence[Trajectory]) -> list[str]:
    """In what the records of one store differ although one score is made of them."""
    sides: dict[str, set[str]] = {
        "agents": {f"{record.agent.name} {record.agent.version[:12]}" for record in records},
        "environments": {msgspec.json.encode(portable(record.env)).decode() for record in records},
        "schemas": {f"{record.schema.domain} {record.schema.version}" for record in records},
        "schema digests": {record.schema.sha256[:12] for record in records},
        "interfaces": {record.schema.interface for record in records},
        "users": {f"{record.simulator.name} {record.simulator.version}" for record in records},
        "graders": {record.grader_digest[:12] for record in records},
        "data digests": {record.data.base_digest[:12] for record in records},
    }
    return [
        f"the records are of {len(values)} {name}: {', '.join(sorted(values)[:4])}"
        for name, values in sides.items()
        if len(values) > 1
    ]
