"""Bradley-Terry scores: what they maximise, closed forms, and when there are none."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tool_envs.errors import UsageError
from tool_envs.judging.bradley_terry import bradley_terry

priors = st.sampled_from([0.1, 0.5, 1.0, 2.0])


@st.composite
def wins(draw, most=7):
    """How many players there are, and who was preferred to whom how often, in any graph."""
    players = draw(st.integers(2, most))
    pairs = draw(st.sets(st.sampled_from(list(itertools.combinations(range(players), 2)))))
    found = {}
    for i, j in sorted(pairs):
        found[i, j] = draw(st.sampled_from([0.0, 0.5, 1.0, 1.5, 2.0]))
        found[j, i] = 2.0 - found[i, j]
    return players, found


def connected(players, pairs):
    """By squaring the matrix of who can be reached, unlike the code under test."""
    reach = [[i == j or (i, j) in pairs or (j, i) in pairs for j in range(players)] for i in range(players)]
    for _ in range(players):
        reach = [
            [any(reach[i][k] and reach[k][j] for k in range(players)) for j in range(players)]
            for i in range(players)
        ]
    return all(map(all, reach))


@given(wins(), priors)
def test_scores_are_where_the_posterior_is_flat_and_there_are_none_for_players_apart(given_, prior):
    players, found = given_

    scores = bradley_terry(players, found, prior)

    if not found or not connected(players, found):
        assert scores is None
        return
    assert math.fsum(scores) == pytest.approx(0.0, abs=1e-9)
    for i in range(players):
        surplus = 0.0
        for j in range(players):
            if (i, j) in found:
                games = found[i, j] + found[j, i] + prior
                expected = games / (1 + math.exp(scores[j] - scores[i]))
                surplus += found[i, j] + prior / 2 - expected
        assert surplus == pytest.approx(0.0, abs=1e-8)


@given(st.floats(0.0, 50.0), st.floats(0.0, 50.0), priors)
def test_the_closed_form_of_two_players(first, second, prior):
    expected = 0.5 * math.log((first + prior / 2) / (second + prior / 2))

    assert bradley_terry(2, {(0, 1): first, (1, 0): second}, prior) == pytest.approx((expected, -expected))


@given(st.integers(2, 12), priors)
def test_all_ties_are_all_nothing(players, prior):
    ties = dict.fromkeys(itertools.permutations(range(players), 2), 1.0)

    assert bradley_terry(players, ties, prior) == pytest.approx((0.0,) * players)


@given(st.integers(1, 8), priors)
def test_the_closed_form_of_one_who_beats_all_others(others, prior):
    """By symmetry the others share a score, and the odds of each game of the first are those of its count."""
    found = {}
    for i, j in itertools.combinations(range(others + 1), 2):
        found[i, j], found[j, i] = (2.0, 0.0) if i == 0 else (1.0, 1.0)

    first, *rest = bradley_terry(others + 1, found, prior)

    assert rest == pytest.approx([rest[0]] * others)
    assert first - rest[0] == pytest.approx(math.log((2.0 + prior / 2) / (prior / 2)))


@pytest.mark.parametrize("players", [0, 1, 2, 5])
def test_without_a_comparison_there_is_no_score(players):
    assert bradley_terry(players, {}) is None


@pytest.mark.parametrize("prior", [0.0, -1.0, math.nan])
def test_a_prior_that_is_none_is_refused(prior):
    with pytest.raises(UsageError, match="`prior` is a number"):
        bradley_terry(2, {(0, 1): 1.0}, prior)
