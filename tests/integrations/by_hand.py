"""Environments that are watched for choices that are not possible; and the same ones stepped by hand."""

import functools

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode

import tool_envs  # noqa: F401 - registers the ids

ENV_ID = "tool_envs/RetailArray-v0"


class Watched(gymnasium.Wrapper):
    """Fails the test that makes a choice which the last observation's mask did not allow."""

    def reset(self, **kwargs):
        observation, info = self.env.reset(**kwargs)
        self._mask = observation["action_mask"]
        return observation, info

    def step(self, action):
        assert is_allowed(self.action_space, self._mask, action), action
        observation, *rest = self.env.step(action)
        self._mask = observation["action_mask"]
        return observation, *rest


def is_allowed(space, mask, action):
    if isinstance(space, gymnasium.spaces.Discrete):
        return mask[action] == 1
    starts = np.concatenate([[0], np.cumsum(space.nvec)[:-1]])
    return mask[starts + action].all()


def make(**kwargs):
    return Watched(gymnasium.make(ENV_ID, **{"difficulty": 1, "observation": "features", **kwargs}))


def make_vec(num_envs, mode=AutoresetMode.SAME_STEP, **kwargs):
    makers = [functools.partial(make, **kwargs)] * num_envs
    return gymnasium.vector.SyncVectorEnv(makers, autoreset_mode=mode)


def sample_possible(space, observation):
    """A random possible action, of `space`."""
    mask = observation["action_mask"]
    if isinstance(space, gymnasium.spaces.MultiDiscrete):
        mask = tuple(np.split(mask, np.cumsum(space.nvec)[:-1]))
    return space.sample(mask=mask)


def episodes(seed, actions, skipped=0, **kwargs):
    """Steps one environment through `actions`, one episode after the other; the first ones may be skipped.

    Gives for each action the observation before it, the action, reward, terminated, truncated, and the
    observation after it, which is the last of its episode where that ends.
    """
    env = make(**kwargs)
    observation, _ = env.reset(seed=seed)
    for _ in range(skipped):
        observation, _ = env.reset()
    for action in actions:
        before = observation
        observation, reward, terminated, truncated, _ = env.step(action)
        yield before, action, reward, terminated, truncated, observation
        if terminated or truncated:
            observation, _ = env.reset()
