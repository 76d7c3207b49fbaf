"""Scores of the rollouts of one task, from comparisons of all pairs of them in both orders."""

import asyncio
import hashlib
import itertools
from collections.abc import Coroutine, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import msgspec

from tool_envs.errors import InfrastructureError, UsageError
from tool_envs.judging.bradley_terry import bradley_terry
from tool_envs.judging.judges import Judge, Opinion
from tool_envs.judging.rubric import Rubric
from tool_envs.reward import RubricSource, unjudged
from tool_envs.trajectory.record import Trajectory

_T = TypeVar("_T")

CONCURRENCY = 16
"""Comparisons that a judge is asked for at once, unless the caller says otherwise."""


class Scores(msgspec.Struct, frozen=True):
    """What a judge made of the rollouts of one task.

    Attributes:
        values: The score of each rollout, in their order: its logarithmic strength by Bradley-Terry, in the
            middle of the group 0.0; None: it has none.
        source: Who judged whom, by what, and how far the two orders agreed.
        asked: Comparisons that the judge was asked for.
        failed: Those of them without an answer.
    """

    values: tuple[float | None, ...]
    source: RubricSource
    asked: int
    failed: int


async def score_rollouts(
    trajectories: Sequence[Trajectory],
    rubric: Rubric,
    judge: Judge,
    *,
    concurrency: int = CONCURRENCY,
) -> Scores:
    """Compare all pairs of the rollouts of one task, each pair in both orders, and score them.

    A judge who looks at the order prefers each of a pair once, so that it cancels out: a pair counts as two
    comparisons, and only if both were answered. Rollouts whose infrastructure failed are not judged. If the
    pairs that count leave rollouts apart, no rollout has a score.

    Args:
        trajectories: The rollouts.
        rubric: What is looked at, of the kind `reward`.
        judge: Who compares.
        concurrency: How many comparisons the judge is asked for at once.

    Raises:
        UsageError: The rubric is of another kind, the rollouts are of several tasks or schemas, or an
            argument is out of its range.
    """
    if rubric.kind != "reward":
        raise UsageError(f"Scores come from a rubric of the kind 'reward', not {rubric.kind!r}.")
    if concurrency < 1:
        raise UsageError(f"`concurrency` is at least 1, not {concurrency!r}.")
    _require_one_task(trajectories)
    judged = [n for n, each in enumerate(trajectories) if each.outcome.status != "infrastructure"]
    rollouts = [trajectories[number] for number in judged]
    opinions = await _compare_all(rollouts, rubric, judge, concurrency)
    pairs = list(_both_ways(opinions))
    scores = bradley_terry(len(rollouts), _wins(pairs)) or (None,) * len(rollouts)
    by_number = dict(zip(judged, scores, strict=True))
    return Scores(
        values=tuple(by_number.get(number) for number in range(len(trajectories))),
        source=RubricSource(
            rubric=rubric.name,
            version=rubric.version,
            digest=rubric.digest,
            judge=judge.name,
            judge_version=judge.version,
            group=tuple(sorted(map(episode_digest, rollouts))),
            agreement=_agreement(pairs),
        ),
        asked=len(opinions),
        failed=sum(opinion is None for opinion in opinions.values()),
    )


def with_rubric(trajectories: Sequence[Trajectory], scores: Scores) -> tuple[Trajectory, ...]:
    """The records with their scores in the bin `rubric`; new records, in their order.

    Raises:
        UsageError: The scores are of other rollouts.
    """
    judged = [each for each in trajectories if each.outcome.status != "infrastructure"]
    group = tuple(sorted(map(episode_digest, judged)))
    if len(trajectories) != len(scores.values) or group != scores.source.group:
        raise UsageError("These scores are of other rollouts: give those that were compared, in their order.")
    return tuple(
        _with_score(trajectory, score, scores.source)
        for trajectory, score in zip(trajectories, scores.values, strict=True)
    )


def episode_digest(trajectory: Trajectory) -> str:
    """Names an episode: sha256 of its record without what judges said of it, 64 hexadecimal characters."""
    played = msgspec.structs.replace(trajectory, outcome=unjudged(trajectory.outcome), filter_verdict=None)
    return hashlib.sha256(played.to_line().encode()).hexdigest()


def _with_score(trajectory: Trajectory, score: float | None, source: RubricSource) -> Trajectory:
    outcome = trajectory.outcome
    if outcome.status == "infrastructure":
        return trajectory
    ledger = msgspec.structs.replace(outcome.ledger, rubric=score, rubric_source=source)
    return msgspec.structs.replace(trajectory, outcome=msgspec.structs.replace(outcome, ledger=ledger))


def _require_one_task(trajectories: Sequence[Trajectory]) -> None:
    for name, part in (("task.digest", "task"), ("schema.sha256", "schema")):
        field = name.partition(".")[2]
        values = [getattr(getattr(trajectory, part), field) for trajectory in trajectories]
        for number, value in enumerate(values):
            if value != values[0]:
                raise UsageError(
                    f"Rollouts of one {name} are compared, but rollout 0 has {values[0]!r} and rollout "
                    f"{number} has {value!r}."
                )


# --- Comparing

Pair = tuple[int, int]
"""Numbers of the rollout that is shown first, and of the one that is shown second."""


async def _compare_all(
    rollouts: Sequence[Trajectory], rubric: Rubric, judge: Judge, concurrency: int
) -> dict[Pair, Opinion]:
    """What the judge says of each pair in each order."""
    free = asyncio.Semaphore(concurrency)

    async def compare(pair: Pair) -> Opinion:
        first, second = (rollouts[number] for number in pair)
        async with free:
            try:
                return await judge.compare(first.task, first, second, rubric)
            except InfrastructureError:
                return None

    pairs = list(itertools.permutations(range(len(rollouts)), 2))
    return dict(zip(pairs, await gather(compare(pair) for pair in pairs), strict=True))


async def gather(waiting: Iterable[Coroutine[Any, Any, _T]]) -> list[_T]:
    """The results of all, in order; raises the first exception, and cancels the others then."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(each) for each in waiting]
    except ExceptionGroup as raised:
        raise raised.exceptions[0] from None
    return [task.result() for task in tasks]


class _Judged(NamedTuple):
    """A pair that was judged in both orders: how much each order gives to the first of the two numbers."""

    pair: Pair
    forwards: float
    backwards: float


_GIVES: Mapping[str, float] = {"first": 1.0, "tie": 0.5, "second": 0.0}


def _both_ways(opinions: Mapping[Pair, Opinion]) -> Iterator[_Judged]:
    for (i, j), forwards in opinions.items():
        backwards = opinions[j, i]
        if i < j and forwards is not None and backwards is not None:
            yield _Judged((i, j), _GIVES[forwards], 1.0 - _GIVES[backwards])


def _wins(pairs: Sequence[_Judged]) -> dict[Pair, float]:
    wins: dict[Pair, float] = {}
    for (i, j), forwards, backwards in pairs:
        wins[i, j] = forwards + backwards
        wins[j, i] = 2.0 - forwards - backwards
    return wins


def _agreement(pairs: Sequence[_Judged]) -> float | None:
    agree = [pair.forwards == pair.backwards for pair in pairs]
    return sum(agree) / len(agree) if agree else None
