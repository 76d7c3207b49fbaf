"""Filters a whole store of records into another one, and goes on where it was stopped."""

import asyncio
import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from tool_envs.errors import UsageError
from tool_envs.judging.pairwise import CONCURRENCY, episode_digest
from tool_envs.judging.sft_filter import FilterJudge, RubricOf, filter_trajectories
from tool_envs.messages import Json
from tool_envs.trajectory.record import Trajectory
from tool_envs.trajectory.store import TrajectoryWriter, read_trajectories

_SYNC_EVERY = 100  # records on their way to disk at once: what a judge says again is cheap beside a model


class Filtered(msgspec.Struct, frozen=True):
    """What a filter said of a store.

    Attributes:
        kept: Records that it kept.
        dropped: Records that it dropped.
        not_judged: Records that the judge failed on: they have no verdict.
        reasons: How often each reason was given to drop one, the most frequent first, equal ones by name.
    """

    kept: int
    dropped: int
    not_judged: int
    reasons: dict[str, int]

    def to_json(self) -> dict[str, Json]:
        """The counts as a JSON object."""
        value: dict[str, Json] = msgspec.to_builtins(self)
        return value


def filter_store(
    source: str | Path,
    out: str | Path,
    rubric_of: RubricOf,
    judge: FilterJudge,
    *,
    concurrency: int = CONCURRENCY,
    on_record: Callable[[Trajectory], None] = lambda _: None,
) -> Filtered:
    """Write each record of a store, in order and with its verdict, to another store.

    The same call goes on where it was stopped: what stands in `out` must be the first records of `source`,
    judged by the same judge under the same rubrics.

    Args:
        source: The store, or a JSONL file.
        out: The folder of the other store.
        rubric_of: The rubric that a trajectory is held to.
        judge: Who judges.
        concurrency: How many records are judged at once.
        on_record: Called with each record, those that were there before among them.

    Returns:
        The counts of all records in `out`.

    Raises:
        DataFileError: The source cannot be read, or `out` cannot be written.
        UsageError: `out` is the source or holds another run, or as `filter_trajectories`.
    """
    if Path(source).resolve() == Path(out).resolve():
        raise UsageError(f"{out} is the store that is read. Name another folder for the verdicts.")
    counts = _Counts()
    records = _opened(read_trajectories(source))
    with TrajectoryWriter(out, sync_every=_SYNC_EVERY) as writer:
        for written in _written(records, out, rubric_of, judge):
            counts.add(written)
            on_record(written)

        async def judge_rest() -> None:
            async for judged in filter_trajectories(records, rubric_of, judge, concurrency=concurrency):
                writer.append(judged)
                counts.add(judged)
                on_record(judged)

        asyncio.run(judge_rest())
    return counts.sum()


def _opened(records: Iterator[Trajectory]) -> Iterator[Trajectory]:
    """The same, of which the first was read: what cannot be read leaves no folder behind."""
    return itertools.chain(list(itertools.islice(records, 1)), records)


def _written(
    records: Iterator[Trajectory], out: str | Path, rubric_of: RubricOf, judge: FilterJudge
) -> Iterator[Trajectory]:
    """What an earlier call wrote, held to the records that it is of; these are taken from `records`."""
    for number, written in enumerate(read_trajectories(out), 1):
        original = next(records, None)
        if original is None or episode_digest(original) != episode_digest(written):
            raise UsageError(f"{out} holds another run: its record {number} is not that of the source.")
        verdict = written.filter_verdict
        asked = (rubric_of(original).digest, judge.name, judge.version)
        if verdict and (verdict.rubric_digest, verdict.judge, verdict.judge_version) != asked:
            raise UsageError(
                f"{out} holds another run: its record {number} was judged by {verdict.judge} "
                f"{verdict.judge_version} under the rubric {verdict.rubric_digest[:12]}, not by {judge.name} "
                f"{judge.version} under {asked[0][:12]}."
            )
        yield written


class _Counts:
    def __init__(self) -> None:
        self._verdicts: Counter[bool | None] = Counter()
        self._reasons: Counter[str] = Counter()

    def add(self, record: Trajectory) -> None:
        verdict = record.filter_verdict
        self._verdicts[None if verdict is None else verdict.keep] += 1
        self._reasons.update(() if verdict is None else verdict.reasons)

    def sum(self) -> Filtered:
        reasons = dict(sorted(self._reasons.items(), key=lambda each: (-each[1], each[0])))
        return Filtered(self._verdicts[True], self._verdicts[False], self._verdicts[None], reasons)
