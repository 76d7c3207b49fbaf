"""Metrics against closed forms, against their definitions on all subsets, and against SciPy."""

import itertools
import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from tool_envs.errors import UsageError
from tool_envs.evaluation.metrics import (
    Trials,
    flip_rate,
    mean_over_tasks,
    pass_at_k,
    pass_hat_k,
    rate_over_tasks,
)


@st.composite
def tasks(draw, min_trials=1):
    trials = draw(st.integers(min_trials, 9))
    return Trials(draw(st.integers(0, trials)), trials)


def subsets(task, k):
    """The outcomes of every choice of k of a task's trials."""
    outcomes = [1] * task.successes + [0] * (task.trials - task.successes)
    return list(itertools.combinations(outcomes, k))


@given(tasks(), st.data())
def test_both_are_the_shares_of_all_choices_of_k_trials(task, data):
    k = data.draw(st.integers(1, task.trials))
    chosen = subsets(task, k)
    assert pass_hat_k(task, k) == pytest.approx(sum(map(all, chosen)) / len(chosen))
    assert pass_at_k(task, k) == pytest.approx(sum(map(any, chosen)) / len(chosen))


@given(tasks(), st.data())
def test_both_are_hypergeometric_probabilities(task, data):
    k = data.draw(st.integers(1, task.trials))
    drawn = scipy.stats.hypergeom(task.trials, task.successes, k)
    assert pass_hat_k(task, k) == pytest.approx(drawn.pmf(k), abs=1e-12)
    assert pass_at_k(task, k) == pytest.approx(1 - drawn.pmf(0), abs=1e-12)


@given(tasks())
def test_for_one_trial_both_are_the_success_rate_and_then_they_part(task):
    rate = task.successes / task.trials
    assert pass_hat_k(task, 1) == pytest.approx(rate)
    assert pass_at_k(task, 1) == pytest.approx(rate)
    hats = [pass_hat_k(task, k) for k in range(1, task.trials + 1)]
    ats = [pass_at_k(task, k) for k in range(1, task.trials + 1)]
    assert hats == sorted(hats, reverse=True)
    assert ats == sorted(ats)


@pytest.mark.parametrize("k", [0, -1, 4])
@pytest.mark.parametrize("metric", [pass_hat_k, pass_at_k])
def test_more_trials_than_there_are_say_nothing(metric, k):
    with pytest.raises(UsageError, match=f"k={k} of 3 trials"):
        metric(Trials(1, 3), k)


@pytest.mark.parametrize(("successes", "trials"), [(-1, 2), (3, 2)])
def test_impossible_counts_are_refused(successes, trials):
    with pytest.raises(UsageError, match=f"not {successes} of {trials}"):
        Trials(successes, trials)


@given(st.lists(tasks(min_trials=2), min_size=1, max_size=5))
def test_the_flip_rate_is_the_share_of_pairs_of_trials_that_disagree(several):
    shares = [sum(sum(pair) == 1 for pair in subsets(t, 2)) / math.comb(t.trials, 2) for t in several]
    assert flip_rate(several) == pytest.approx(np.mean(shares))
    assert flip_rate([*several, Trials(1, 1)]) == flip_rate(several)


def test_one_trial_of_each_task_shows_no_flips():
    assert flip_rate([Trials(1, 1), Trials(0, 1)]) is None


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=40), st.integers(0, 3))
def test_an_interval_holds_its_mean_and_lies_among_the_values(values, seed):
    found = mean_over_tasks(values, seed=seed, draws=200)
    assert found == mean_over_tasks(values, seed=seed, draws=200)
    assert found.value == pytest.approx(np.mean(values))
    slack = 1e-12
    assert min(values) - slack <= found.low <= found.high <= max(values) + slack


def test_the_interval_is_that_of_scipy():
    values = np.random.default_rng(5).random(60)
    found = mean_over_tasks(values, seed=1)
    theirs = scipy.stats.bootstrap((values,), np.mean, method="percentile", n_resamples=10_000, rng=2)
    assert found.low == pytest.approx(theirs.confidence_interval.low, abs=0.01)
    assert found.high == pytest.approx(theirs.confidence_interval.high, abs=0.01)


def test_intervals_hold_the_true_mean_about_as_often_as_they_say():
    generator = np.random.default_rng(0)
    held = 0
    for seed in range(300):
        found = mean_over_tasks(generator.binomial(4, 0.4, size=50) / 4, seed=seed, draws=500)
        held += found.low <= 0.4 <= found.high
    assert 0.90 <= held / 300 <= 0.99


def test_blocks_change_nothing(monkeypatch):
    values = [0.0, 0.25, 1.0]
    whole = mean_over_tasks(values, draws=50)
    monkeypatch.setattr("tool_envs.evaluation.metrics._BLOCK", 12)
    assert mean_over_tasks(values, draws=50) == whole


@given(st.integers(1, 60), st.sampled_from([0.0, 1.0]), st.sampled_from([0.8, 0.95]))
def test_where_all_tasks_go_the_same_way_the_interval_is_exact(count, end, level):
    found = rate_over_tasks([end] * count, level=level)
    exact = scipy.stats.binomtest(round(count * end), count).proportion_ci(level, method="exact")
    assert (found.value, found.low, found.high) == (
        end,
        pytest.approx(exact.low),
        pytest.approx(exact.high),
    )


def test_other_rates_have_the_interval_of_the_bootstrap():
    assert rate_over_tasks([0.0, 0.5, 1.0]) == mean_over_tasks([0.0, 0.5, 1.0])


def test_a_single_task_has_no_interval():
    found = mean_over_tasks([0.5])
    assert (found.value, found.low, found.high) == (0.5, None, None)


@pytest.mark.parametrize("values", [[], [math.nan], [math.inf, 0.0]])
def test_what_has_no_mean_is_refused(values):
    with pytest.raises(UsageError, match="one finite number for each"):
        mean_over_tasks(values)


@pytest.mark.parametrize("level", [0, 1, 1.5])
def test_a_level_that_is_none_is_refused(level):
    with pytest.raises(UsageError, match="between 0 and 1"):
        mean_over_tasks([0.0, 1.0], level=level)
