"""Comparisons of two evaluations of the same tasks, against SciPy and against simulated truth."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from tool_envs.errors import UsageError
from tool_envs.evaluation.metrics import Trials
from tool_envs.evaluation.paired import compare_paired, mcnemar, sign_flip_test, smallest_difference

SINGLE = st.integers(0, 1).map(lambda success: Trials(success, 1))
SEVERAL = st.integers(0, 4).map(lambda successes: Trials(successes, 4))


def pairs(trials):
    return st.lists(st.tuples(trials, trials), min_size=1, max_size=12).map(
        lambda rows: [{f"task-{k}": row[side] for k, row in enumerate(rows)} for side in (0, 1)]
    )


@given(st.lists(st.integers(-1, 1), max_size=60))
def test_mcnemar_is_the_binomial_test_of_the_tasks_that_changed(differences):
    better, changed = differences.count(1), len(differences) - differences.count(0)
    expected = scipy.stats.binomtest(better, changed).pvalue if changed else 1.0
    assert mcnemar(differences) == pytest.approx(expected)


@given(st.lists(st.integers(-4, 4), min_size=2, max_size=8))
def test_few_tasks_are_tested_exactly(quarters):
    differences = [quarter / 4 for quarter in quarters]
    theirs = scipy.stats.permutation_test(
        (differences,), np.sum, permutation_type="samples", n_resamples=np.inf, alternative="two-sided"
    ).pvalue
    assert sign_flip_test(differences) == pytest.approx(min(1.0, theirs))


def test_many_tasks_are_tested_by_drawn_signs():
    differences = np.random.default_rng(1).normal(0.3, 1.0, size=60)
    theirs = scipy.stats.permutation_test(
        (differences,), np.sum, permutation_type="samples", n_resamples=50_000, rng=2
    ).pvalue
    assert sign_flip_test(differences) == pytest.approx(theirs, abs=0.01)
    assert sign_flip_test(differences, seed=3) == sign_flip_test(differences, seed=3)


def test_no_chance_is_called_impossible():
    assert sign_flip_test([1.0] * 40, draws=99) == 0.01


@given(pairs(SINGLE))
def test_of_single_trials_the_difference_is_that_of_the_success_rates(both):
    first, second = both
    found = compare_paired(first, second)
    rates = [np.mean([task.successes for task in side.values()]) for side in both]
    assert found.test == "mcnemar"
    assert found.difference.value == pytest.approx(rates[1] - rates[0])
    assert found.flips == pytest.approx(np.mean([first[name] != second[name] for name in first]))


@given(pairs(SEVERAL))
def test_turning_the_sides_round_turns_the_difference_round(both):
    there, back = compare_paired(*both), compare_paired(*both[::-1])
    assert there.test == "permutation"
    assert there.difference.value == pytest.approx(-back.difference.value)
    assert there.p_value == pytest.approx(back.p_value)
    assert there.flips == pytest.approx(back.flips)
    assert there.smallest_difference == pytest.approx(back.smallest_difference)


def test_only_tasks_that_both_tried_count():
    first = {"a": Trials(1, 1), "b": Trials(0, 1), "c": Trials(0, 0)}
    second = {"b": Trials(1, 1), "c": Trials(1, 1), "d": Trials(1, 1)}
    found = compare_paired(first, second)
    assert (found.tasks, found.difference.value) == (1, 1.0)
    with pytest.raises(UsageError, match="share no task"):
        compare_paired({"a": Trials(1, 1)}, second)


def test_alike_agents_are_called_different_about_as_often_as_chance_does():
    generator, called = np.random.default_rng(0), 0
    for seed in range(200):
        differences = generator.binomial(4, 0.5, 30) / 4 - generator.binomial(4, 0.5, 30) / 4
        called += sign_flip_test(differences, seed=seed, draws=400) <= 0.05
    assert called / 200 <= 0.10


def test_the_smallest_difference_is_shown_about_as_often_as_promised():
    generator = np.random.default_rng(3)
    promised = smallest_difference(generator.normal(0.0, 0.5, size=4000)) * np.sqrt(4000 / 100)
    shown = 0
    for seed in range(200):
        differences = generator.normal(promised, 0.5, size=100)
        shown += sign_flip_test(differences, seed=seed, draws=400) <= 0.05
    assert 0.70 <= shown / 200 <= 0.90


@pytest.mark.parametrize("differences", [[], [1.0], [0.25, 0.25, 0.25]])
def test_without_a_spread_there_is_no_smallest_difference(differences):
    assert smallest_difference(differences) is None
