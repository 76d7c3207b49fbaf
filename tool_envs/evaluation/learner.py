"""A small learner in numpy that hunts for unearned reward: PPO with action masks over compiled episodes.

Reference: Schulman et al., Proximal Policy Optimization Algorithms, 2017; advantages as in Schulman et al.,
High-Dimensional Continuous Control Using Generalized Advantage Estimation, 2016; Adam of Kingma and Ba, 2015.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tool_envs.arrays.observations import ACTION_MASK, FEATURES
from tool_envs.arrays.vector import ArrayVectorEnv

Array = npt.NDArray[np.float32]

_LANES = 256
_STEPS = 32  # of each lane between two updates
_HIDDEN = 64
_EPOCHS = 3
_BATCH = 1024
_RATE = 1e-3
DISCOUNT, LAMBDA, CLIP, ENTROPY = 0.99, 0.95, 0.2, 0.01
_MOST_GRADIENT = 0.5


class Episodes(NamedTuple):
    """Episodes that were played.

    Attributes:
        played: How many ended.
        solved: How many of them earned 1.0.
    """

    played: int
    solved: int


class Learner:
    """A policy and a value over a vector of features, with one hidden layer.

    Args:
        features: Length of the vector.
        choices: Length of the mask.
        seed: Of its weights and of all of its choices.
    """

    def __init__(self, features: int, choices: int, seed: int) -> None:
        self._rng = np.random.default_rng(seed)
        scale = 1 / np.sqrt(features)
        self._weights: list[Array] = [
            self._rng.normal(0, scale, (features, _HIDDEN)).astype(np.float32),
            np.zeros(_HIDDEN, np.float32),
            np.zeros((_HIDDEN, choices + 1), np.float32),  # the last column is the value
            np.zeros(choices + 1, np.float32),
        ]
        self._moments = [(np.zeros_like(each), np.zeros_like(each)) for each in self._weights]
        self._updates = 0

    def train(self, envs: ArrayVectorEnv, choices: int) -> Episodes:
        """Learn from episodes of an environment, which is reset; takes at least so many choices."""
        count = solved = taken = 0
        observation, _ = envs.reset(seed=int(self._rng.integers(2**31)))
        over = np.zeros(envs.num_envs, np.bool_)
        while taken < choices:
            rows = []
            for _ in range(_STEPS):
                features, masks = _inputs(observation)
                logs, values, _ = forward(self._weights, features, masks)
                actions = self._sample(logs)
                observation, rewards, terminated, truncated, _ = envs.step(actions)
                ended = terminated | truncated
                chances = logs[np.arange(len(actions)), actions]
                rows.append((features, masks, actions, chances, values, rewards, ended, ~over))
                count, solved = count + int(ended.sum()), solved + int((rewards > 0).sum())
                taken += int((~over).sum())
                over = ended
            self._learn(rows, forward(self._weights, *_inputs(observation))[1])
        return Episodes(count, solved)

    def play(self, envs: ArrayVectorEnv, episodes: int) -> Episodes:
        """Play without learning until so many episodes have ended; each lane plays equally many."""
        solved = np.zeros(envs.num_envs)
        left = np.full(envs.num_envs, -(-episodes // envs.num_envs))
        observation, _ = envs.reset(seed=0)
        while (left > 0).any():
            logs, _, _ = forward(self._weights, *_inputs(observation))
            observation, rewards, terminated, truncated, _ = envs.step(self._sample(logs))
            solved += (rewards > 0) & (left > 0)
            left -= terminated | truncated
        return Episodes(-(-episodes // envs.num_envs) * envs.num_envs, int(solved.sum()))

    def _sample(self, logs: Array) -> npt.NDArray[np.int64]:
        """A choice each, by Gumbel's trick."""
        chosen: npt.NDArray[np.int64] = (logs + self._rng.gumbel(size=logs.shape)).argmax(axis=1)
        return chosen

    def _learn(self, rows: list[tuple[Any, ...]], last: Array) -> None:
        features, masks, actions, chances, values, rewards, ended, counts = (
            np.stack(each) for each in zip(*rows, strict=True)
        )
        gained = advantages_of(values, rewards, ended, last)
        targets = gained + values
        kept = counts.ravel()
        flat = [
            each.reshape(-1, *each.shape[2:])[kept]
            for each in (features, masks, actions, chances, gained, targets)
        ]
        for _ in range(_EPOCHS):
            order = self._rng.permutation(len(flat[0]))
            for start in range(0, len(order), _BATCH):
                batch = Batch(*(each[order[start : start + _BATCH]] for each in flat))
                self._adam(gradients(self._weights, batch))

    def _adam(self, gradients: Sequence[npt.NDArray[Any]]) -> None:
        norm = np.sqrt(sum(float((each**2).sum()) for each in gradients))
        scale = np.float32(min(1.0, _MOST_GRADIENT / (norm + 1e-8)))
        self._updates += 1
        rate = _RATE * np.sqrt(1 - 0.999**self._updates) / (1 - 0.9**self._updates)
        for weights, gradient, (mean, square) in zip(self._weights, gradients, self._moments, strict=True):
            mean += np.float32(0.1) * (scale * gradient - mean)
            square += np.float32(0.001) * ((scale * gradient) ** 2 - square)
            weights -= np.float32(rate) * mean / (np.sqrt(square) + np.float32(1e-8))


def _inputs(observation: dict[str, Any]) -> tuple[Array, npt.NDArray[np.bool_]]:
    return observation[FEATURES], observation[ACTION_MASK] > 0


class Batch(NamedTuple):
    """Some choices that were made, each with the advantage that it had.

    Attributes:
        features: (n, features).
        masks: What could be chosen, (n, choices).
        actions: What was, (n,).
        logs: Its log-probability then, (n,).
        advantages: (n,).
        targets: What the value should have been, (n,).
    """

    features: Array
    masks: npt.NDArray[np.bool_]
    actions: npt.NDArray[np.int64]
    logs: Array
    advantages: Array
    targets: Array


def forward(
    weights: Sequence[Array], features: Array, masks: npt.NDArray[np.bool_]
) -> tuple[Array, Array, Array]:
    """Log-probabilities of shape (n, choices), values (n,), and the hidden layer (n, hidden)."""
    first, bias, second, last = weights
    hidden = np.tanh(features @ first + bias)
    out = hidden @ second + last
    logits = np.where(masks, out[:, :-1], np.float32(-1e9))
    logits -= logits.max(axis=1, keepdims=True)
    logs = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    return logs, out[:, -1], hidden


def gradients(weights: Sequence[Array], batch: Batch) -> list[npt.NDArray[Any]]:
    """Of the loss of PPO: what is clipped, half the squared error of the value, and minus the entropy.

    Returns:
        For each of the weights its gradient.
    """
    count, rows = len(batch.features), np.arange(len(batch.features))
    logs, values, hidden = forward(weights, batch.features, batch.masks)
    chances, logs = np.exp(logs), np.where(batch.masks, logs, 0)
    scaled = (batch.advantages - batch.advantages.mean()) / (batch.advantages.std() + 1e-8)
    ratio = np.exp(logs[rows, batch.actions] - batch.logs)
    clipped = np.where(scaled > 0, ratio > 1 + CLIP, ratio < 1 - CLIP)
    weight = np.where(clipped, 0, -ratio * scaled) / count
    # Of a log-probability by the logits: one-hot minus chances; of the entropy: -chances * (logs + entropy).
    out: npt.NDArray[Any] = -chances * weight[:, None]
    out[rows, batch.actions] += weight
    entropy = -(chances * logs).sum(axis=1, keepdims=True)
    out += ENTROPY / count * chances * (logs + entropy)
    out = np.column_stack([out, (values - batch.targets) / count])
    down: npt.NDArray[Any] = (out @ weights[2].T) * (1 - hidden**2)
    return [batch.features.T @ down, down.sum(axis=0), hidden.T @ out, out.sum(axis=0)]


def advantages_of(values: Array, rewards: Array, ended: Array, last: Array) -> Array:
    """Generalised advantages.

    Args:
        values: What was expected at each step, (steps, lanes).
        rewards: Likewise.
        ended: Whether the step ended its episode, likewise.
        last: What is expected after the last step, (lanes,).

    Returns:
        An advantage for each step, likewise.
    """
    advantages = np.zeros_like(values)
    ahead, running = last, np.zeros_like(last)
    for step in reversed(range(len(values))):
        goes_on = 1 - ended[step].astype(np.float32)
        error = rewards[step].astype(np.float32) + DISCOUNT * ahead * goes_on - values[step]
        running = error + DISCOUNT * LAMBDA * goes_on * running
        advantages[step], ahead = running, values[step]
    return advantages.astype(np.float32)


def learn_and_play(
    make: Callable[[str, int], ArrayVectorEnv], choices: int, episodes: int, seed: int
) -> Episodes:
    """Train a fresh learner on tasks of `train`, and play tasks of `test` with what it learned.

    Args:
        make: Makes an environment with `observation="features"` of a split with so many lanes.
        choices: How long it learns.
        episodes: How many it plays at least.
        seed: Of the learner.
    """
    train, test = make("train", _LANES), make("test", min(_LANES, episodes))
    observation, _ = train.reset(seed=seed)
    learner = Learner(observation[FEATURES].shape[1], observation[ACTION_MASK].shape[1], seed)
    learner.train(train, choices)
    played = learner.play(test, episodes)
    train.close()
    test.close()
    return played
