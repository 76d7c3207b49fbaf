"""The learner that hunts for unearned reward: its gradients are right, and it learns from words alone."""

import functools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tool_envs.arrays.vector import ArrayVectorEnv
from tool_envs.evaluation.audit import MOST_UNEARNED, audit
from tool_envs.evaluation.learner import (
    CLIP,
    DISCOUNT,
    ENTROPY,
    LAMBDA,
    Batch,
    advantages_of,
    forward,
    gradients,
    learn_and_play,
)

CHOICES = 30_000


def make(split, lanes, words):
    return ArrayVectorEnv(
        "tool_envs/Retail-v0",
        lanes,
        observation="features",
        difficulty=1,
        split=split,
        pool_size=512,
        words=words,
    )


def loss(weights, batch):
    """What PPO makes small, in plain terms."""
    logs, values, _ = forward(weights, batch.features, batch.masks)
    chances = np.exp(logs)
    scaled = (batch.advantages - batch.advantages.mean()) / (batch.advantages.std() + 1e-8)
    ratio = np.exp(logs[np.arange(len(values)), batch.actions] - batch.logs)
    gain = np.minimum(ratio * scaled, np.clip(ratio, 1 - CLIP, 1 + CLIP) * scaled)
    entropy = -np.where(batch.masks, chances * logs, 0).sum(axis=1)
    return (-gain + 0.5 * (values - batch.targets) ** 2 - ENTROPY * entropy).mean()


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=40)
def test_gradients_are_those_of_the_loss(seed):
    rng = np.random.default_rng(seed)
    count, features, choices, hidden = 7, 4, 5, 3
    weights = [
        rng.normal(0, 1, shape) for shape in ((features, hidden), hidden, (hidden, choices + 1), choices + 1)
    ]
    masks = rng.random((count, choices)) < 0.6
    masks[np.arange(count), rng.integers(0, choices, count)] = True
    seen = rng.normal(0, 1, (count, features))
    logs = forward(weights, seen, masks)[0]
    actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in masks])
    before = logs[np.arange(count), actions] + rng.normal(0, 0.3, count)
    batch = Batch(seen, masks, actions, before, rng.normal(0, 1, count), rng.normal(0, 1, count))

    found = gradients(weights, batch)

    step = 1e-6
    for number, weight in enumerate(weights):
        place = tuple(int(rng.integers(0, size)) for size in weight.shape)
        moved = [[each.copy() for each in weights] for _ in range(2)]
        moved[0][number][place] += step
        moved[1][number][place] -= step
        slope = (loss(moved[0], batch) - loss(moved[1], batch)) / (2 * step)
        assert found[number][place] == pytest.approx(slope, rel=1e-3, abs=1e-5)


@given(st.integers(0, 2**32 - 1))
def test_advantages_are_discounted_sums_of_errors_within_an_episode(seed):
    rng = np.random.default_rng(seed)
    steps, lanes = 6, 2
    values, rewards = rng.normal(0, 1, (2, steps, lanes))
    ended, last = rng.random((steps, lanes)) < 0.3, rng.normal(0, 1, lanes)

    found = advantages_of(values, rewards, ended, last)

    ahead = np.vstack([values[1:], last[None]])
    errors = rewards + DISCOUNT * ahead * ~ended - values
    for lane in range(lanes):
        for step in range(steps):
            end = next((k for k in range(step, steps) if ended[k, lane]), steps - 1)
            weights = (DISCOUNT * LAMBDA) ** np.arange(end - step + 1)
            assert found[step, lane] == pytest.approx(weights @ errors[step : end + 1, lane], abs=1e-4)


def test_it_learns_from_what_customers_say():
    played = learn_and_play(functools.partial(make, words="heard"), CHOICES, 256, seed=0)

    # A random choice among what is possible solves 3%.
    assert played.solved / played.played > 0.1


def test_it_learns_nothing_when_nothing_is_heard():
    played = learn_and_play(functools.partial(make, words="blanked"), CHOICES, 512, seed=0)

    assert played.solved / played.played < MOST_UNEARNED


def test_the_audit_reports_it_last():
    *_, finding = audit("tool_envs/Retail-v0", {"split": "test", "difficulty": 1}, range(2), choices=10_000)

    assert finding.agent == "learner without words"
    assert finding.episodes >= 512
    assert finding.problems == ()
