"""Pickles, deep copies and snapshots of the array view, in the middle of episodes and of actions."""

import copy
import pickle

import numpy as np
import pytest
from array_episodes import FORMS, assert_same, forms, go_on, make, named
from hypothesis import given, settings
from hypothesis import strategies as st

from tool_envs.errors import EpisodeEndedError


def by_pickle(env):
    return pickle.loads(pickle.dumps(env))  # noqa: S301 - made by the test itself


def by_snapshot(env):
    other = make(FORMS["Multi" in repr(env.action_space)])
    other.restore(env.snapshot())
    return other


@forms
@pytest.mark.parametrize("copied", [by_pickle, copy.deepcopy, by_snapshot])
@settings(max_examples=15)
@given(seed=st.integers(0, 10_000), steps=st.integers(0, 60))
def test_a_copy_goes_on_alike_and_apart(form, copied, seed, steps):
    env = make(form)
    env.reset(seed=seed)
    go_on(env, seed, steps)
    if env._play.over:
        return
    other = copied(env)
    again = copied(other)

    assert np.array_equal(env.action_masks(), other.action_masks())
    first = go_on(other, seed)
    assert_same(go_on(env, seed), first)
    assert_same(go_on(again, seed), first)


def test_an_invalid_choice_and_the_end_survive_a_copy():
    env = make(max_steps=1)
    env.reset(seed=0)
    named(env, "move_coats")
    other = by_snapshot(env)
    named(env, *["move_coats"] * 7)

    assert other.snapshot().invalid
    assert other.snapshot().choices == 1
    with pytest.raises(EpisodeEndedError):
        by_snapshot(env).step(0)


def test_an_environment_without_an_episode_is_copied_too():
    env = by_pickle(make())

    assert env.reset(seed=0)[1]["choices"] == 0


def test_a_snapshot_is_restored_as_often_as_one_likes():
    env = make()
    env.reset(seed=3)
    go_on(env, 3, 12)
    moment = env.snapshot()
    played = []
    for _ in range(2):
        env.restore(moment)
        played.append(go_on(env, 4))

    assert_same(*played)
