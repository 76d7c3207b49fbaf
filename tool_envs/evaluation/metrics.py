"""Metrics of an evaluation with several trials of each task, as pure functions, and their intervals.

Trials of one task are not independent of each other, tasks are: intervals come from resampling tasks (a
cluster bootstrap), never single episodes. Trials without a grade, whose infrastructure failed, are left out
by the caller, so tasks may differ in their number of trials.
"""

import math
from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from tool_envs.errors import UsageError

DRAWS = 10_000
"""Resamples of a bootstrap, and of a permutation test that is too large to be exact."""

_BLOCK = 1 << 22
"""Numbers drawn at once, so that memory is bounded."""


class Interval(msgspec.Struct, frozen=True):
    """An estimate with its confidence interval.

    Attributes:
        value: The estimate.
        low: The lower end; None where one task or none says nothing of others.
        high: The upper end; likewise.
        level: The share of such intervals that hold the true value.
    """

    value: float
    low: float | None
    high: float | None
    level: float = 0.95


class Trials(msgspec.Struct, frozen=True):
    """How one task went.

    Attributes:
        successes: Trials with reward 1.0.
        trials: Graded trials.

    Raises:
        UsageError: There are fewer than 0 successes, or more than trials.
    """

    successes: int
    trials: int

    def __post_init__(self) -> None:
        if not 0 <= self.successes <= self.trials:
            raise UsageError(f"Expected 0 <= successes <= trials, not {self.successes} of {self.trials}.")


def pass_hat_k(task: Trials, k: int) -> float:
    """pass^k of one task: the probability that `k` trials all succeed, C(c, k) / C(n, k), unbiased.

    Source: Yao et al., tau-bench (arXiv 2406.12045), section 3.

    Raises:
        UsageError: `k` is below 1, or above the number of trials.
    """
    _require_trials(task, k)
    return math.comb(task.successes, k) / math.comb(task.trials, k)


def pass_at_k(task: Trials, k: int) -> float:
    """pass@k of one task: the probability that at least one of `k` trials succeeds, unbiased.

    1 - C(n - c, k) / C(n, k). Source: Chen et al., Codex (arXiv 2107.03374), section 2.1.

    Raises:
        UsageError: `k` is below 1, or above the number of trials.
    """
    _require_trials(task, k)
    every = math.comb(task.trials, k)
    return (every - math.comb(task.trials - task.successes, k)) / every


def mean_over_tasks(
    values: Sequence[float], *, level: float = 0.95, seed: int = 0, draws: int = DRAWS
) -> Interval:
    """The mean of one value for each task, with a percentile interval of the cluster bootstrap.

    Args:
        values: One number for each task: pass^k, say, or the difference of two agents. At least one.
        level: Confidence level, in (0, 1).
        seed: Seed of the resampling; the same values and seed give the same interval.
        draws: Number of resamples.

    Raises:
        UsageError: There is no value, one is not finite, or the level is not in (0, 1).
    """
    table = _table_of(values)
    if not 0 < level < 1:
        raise UsageError(f"A confidence level lies between 0 and 1, not at {level!r}.")
    mean = float(table.mean())
    if len(table) == 1:
        return Interval(mean, None, None, level)
    # Linear in how often each task was drawn: the means follow from the counts of the drawn indexes.
    generator = np.random.Generator(np.random.PCG64(seed))
    rows = max(1, _BLOCK // len(table))
    means = np.concatenate(
        [
            table[generator.integers(len(table), size=(min(rows, draws - start), len(table)))].mean(axis=1)
            for start in range(0, draws, rows)
        ]
    )
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Interval(mean, float(low), float(high), level)


def rate_over_tasks(values: Sequence[float], *, level: float = 0.95, seed: int = 0) -> Interval:
    """The mean of a rate over tasks: as `mean_over_tasks`, but honest where every task is at the same end.

    Resampling tasks that are all 0, or all 1, gives an interval of no width. There it is the exact one of
    Clopper and Pearson (1934), a task counting once.

    Args:
        values: A rate in [0, 1] for each task; at least one.
        level: Confidence level, in (0, 1).
        seed: Seed of the resampling.

    Raises:
        UsageError: As `mean_over_tasks`.
    """
    found = mean_over_tasks(values, level=level, seed=seed)
    width = 1.0 - ((1 - level) / 2) ** (1 / len(values))
    if all(value == 1 for value in values):
        return Interval(1.0, 1.0 - width, 1.0, level)
    if all(value == 0 for value in values):
        return Interval(0.0, 0.0, width, level)
    return found


def flip_rate(tasks: Sequence[Trials]) -> float | None:
    """How often two trials of a task disagree: the mean of 2 c (n - c) / (n (n - 1)) over tasks, unbiased.

    Returns:
        The rate, over the tasks with two trials or more; None when there are none.
    """
    repeated = [task for task in tasks if task.trials > 1]
    if not repeated:
        return None
    rates = [2 * t.successes * (t.trials - t.successes) / (t.trials * (t.trials - 1)) for t in repeated]
    return sum(rates) / len(rates)


def _require_trials(task: Trials, k: int) -> None:
    if not 1 <= k <= task.trials:
        raise UsageError(f"Expected 1 <= k <= trials, not k={k} of {task.trials} trials.")


def _table_of(values: Sequence[float]) -> NDArray[np.float64]:
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 1 or not len(table) or not np.isfinite(table).all():
        raise UsageError("Expected one finite number for each of at least one task.")
    return table
