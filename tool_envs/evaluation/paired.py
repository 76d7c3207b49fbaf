"""Two evaluations of the same tasks: is one better, and could this many trials have shown it?"""

import itertools
import math
from collections.abc import Mapping, Sequence
from statistics import NormalDist
from typing import Literal, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from tool_envs.errors import UsageError
from tool_envs.evaluation.metrics import DRAWS, Interval, Trials, mean_over_tasks

_T = TypeVar("_T")

Test = Literal["mcnemar", "permutation"]

_EXACT_TASKS = 16
"""Up to so many tasks that differ, all 2^n signs are tried."""
_BLOCK = 1 << 22


class Paired(msgspec.Struct, frozen=True, kw_only=True):
    """How a second evaluation differs from a first one, task by task.

    Attributes:
        tasks: Tasks that both have a graded trial of.
        difference: Second minus first: mean over tasks of the difference of their success rates, or of their
            mean similarities.
        test: `mcnemar` (exact) where each task was tried once by both, else a paired sign-flip permutation
            test of the mean difference.
        p_value: Two-sided: how often chance alone gives so large a difference, if the two are alike.
        flips: How often a trial of the first and one of the second disagree about a task, mean over tasks;
            None: there is no success to disagree about.
        smallest_difference: The true difference that such an evaluation would show with probability `power`
            at the 5% level, from the spread that was seen; None where there is none.
        power: That probability.
    """

    tasks: int
    difference: Interval
    test: Test
    p_value: float
    flips: float | None
    smallest_difference: float | None
    power: float = 0.8


def compare_paired(
    first: Mapping[str, Trials], second: Mapping[str, Trials], *, seed: int = 0, level: float = 0.95
) -> Paired:
    """Compare two evaluations over the tasks that both have graded trials of.

    Args:
        first: Task id -> how it went.
        second: Likewise.
        seed: Seed of the bootstrap, and of a permutation test that is too large to be exact.
        level: Confidence level of the difference.

    Raises:
        UsageError: They share no task with a graded trial.
    """
    graded = [{name: each for name, each in side.items() if each.trials} for side in (first, second)]
    pairs = _pairs(graded[0], graded[1])
    rates = [(a.successes / a.trials, b.successes / b.trials) for a, b in pairs]
    found = _compare(rates, seed, level)
    if all(a.trials == b.trials == 1 for a, b in pairs):
        p_value = mcnemar([after - before for before, after in rates])
        found = msgspec.structs.replace(found, test="mcnemar", p_value=p_value)
    flips = sum(a * (1 - b) + b * (1 - a) for a, b in rates) / len(rates)
    return msgspec.structs.replace(found, flips=flips)


def compare_means(
    first: Mapping[str, float], second: Mapping[str, float], *, seed: int = 0, level: float = 0.95
) -> Paired:
    """Compare two evaluations by the mean reward of each task, of a reward that is no success.

    Args:
        first: Task id -> the mean of its graded trials.
        second: Likewise.
        seed: As `compare_paired`.
        level: Likewise.

    Raises:
        UsageError: They share no task with a graded trial.
    """
    return _compare(_pairs(first, second), seed, level)


def _pairs(first: Mapping[str, _T], second: Mapping[str, _T]) -> list[tuple[_T, _T]]:
    """What both say of each task that both know."""
    pairs = [(first[name], second[name]) for name in first if name in second]
    if not pairs:
        raise UsageError("The two evaluations share no task that both have a graded trial of.")
    return pairs


def _compare(pairs: Sequence[tuple[float, float]], seed: int, level: float) -> Paired:
    differences = [after - before for before, after in pairs]
    return Paired(
        tasks=len(pairs),
        difference=mean_over_tasks(differences, level=level, seed=seed),
        test="permutation",
        p_value=sign_flip_test(differences, seed=seed),
        flips=None,
        smallest_difference=smallest_difference(differences),
    )


def mcnemar(differences: Sequence[float]) -> float:
    """The exact two-sided McNemar test: a binomial test of how many of the tasks that changed got better.

    Args:
        differences: -1, 0 or 1 for each task. Source: McNemar (1947), exact form.
    """
    better = sum(value > 0 for value in differences)
    changed = better + sum(value < 0 for value in differences)
    tail = sum(math.comb(changed, k) for k in range(min(better, changed - better) + 1))
    return min(1.0, 2 * tail / (1 << changed))


def sign_flip_test(differences: Sequence[float], *, seed: int = 0, draws: int = DRAWS) -> float:
    """The two-sided paired permutation test of a mean difference: each task's sign is as likely turned round.

    Exact for up to 16 tasks that differ; beyond that the signs are drawn, and (hits + 1) / (draws + 1) never
    understates it (Phipson and Smyth, 2010).
    """
    values = np.asarray([value for value in differences if value], dtype=np.float64)
    if not len(values):
        return 1.0
    # What differs from the seen sum by rounding alone is as large as it.
    bound = abs(values.sum()) * (1 - 1e-12) - 1e-15
    if len(values) <= _EXACT_TASKS:
        signs = np.array(list(itertools.product((-1.0, 1.0), repeat=len(values))))
        return float((np.abs(signs @ values) >= bound).mean())
    return (_count_drawn(values, bound, seed, draws) + 1) / (draws + 1)


def smallest_difference(
    differences: Sequence[float], *, power: float = 0.8, level: float = 0.95
) -> float | None:
    """The smallest true mean difference that so many tasks with such a spread show with a given probability.

    (z[(1 + level) / 2] + z[power]) times the standard error of the mean difference, z being quantiles of the
    normal distribution; see Miller, Adding Error Bars to Evals (arXiv 2411.00640), section 5.

    Returns:
        It, in the unit of the differences; None for fewer than two tasks, or without any spread.
    """
    if len(set(differences)) < 2:
        return None
    error = float(np.std(np.asarray(differences, dtype=np.float64), ddof=1)) / math.sqrt(len(differences))
    normal = NormalDist()
    return float((normal.inv_cdf((1 + level) / 2) + normal.inv_cdf(power)) * error)


def _count_drawn(values: NDArray[np.float64], bound: float, seed: int, draws: int) -> int:
    """How many of so many drawn vectors of signs give a sum as large as the bound."""
    generator = np.random.Generator(np.random.PCG64(seed))
    rows, hits = max(1, _BLOCK // len(values)), 0
    for start in range(0, draws, rows):
        signs = generator.integers(2, size=(min(rows, draws - start), len(values))) * 2.0 - 1.0
        hits += int((np.abs(signs @ values) >= bound).sum())
    return hits
