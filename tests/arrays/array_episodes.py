"""Environments of the toy, and episodes of possible choices."""

import itertools

import gymnasium
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy_arrays import ENV_ID

FORMS = ("sequential", "multidiscrete")
KINDS = ("tables", "features")
VARIANTS = list(itertools.product(FORMS, KINDS))

seeds = given(seed=st.integers(0, 10_000))
variants = pytest.mark.parametrize(("form", "kind"), VARIANTS)
forms = pytest.mark.parametrize("form", FORMS)


def make(form="sequential", kind="tables", **kwargs):
    return gymnasium.make(ENV_ID, action_form=form, observation=kind, **kwargs).unwrapped


def taking(env, seed, steps=10_000):
    """Take possible actions up to the end, one by one; gives each with what came of it."""
    env.action_space.seed(seed)
    for _ in range(steps):
        action = env.action_space.sample(mask=env.sample_mask())
        result = env.step(action)
        yield (action, *result)
        if result[2] or result[3]:
            break


def go_on(env, seed, steps=10_000):
    return list(taking(env, seed, steps))


def assert_same(first, second):
    assert len(first) == len(second)
    for a, b in zip(first, second, strict=True):
        np.testing.assert_equal(a, b)


def named(env, *names):
    """Take the choices of these names; returns what the last one gave."""
    for name in names:
        result = env.step(env.form.names.index(name))
    return result
