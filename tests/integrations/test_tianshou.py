"""Tianshou trains on the array view, and gets what stepping by hand gives."""

import numpy as np
import pytest

pytest.importorskip("tianshou", reason="needs an environment of its own: make test-integrations")

import gymnasium
import torch
from by_hand import ENV_ID, episodes, make, make_vec
from gymnasium.vector import AutoresetMode
from tianshou.algorithm import PPO
from tianshou.algorithm.modelfree.reinforce import DiscreteActorPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.utils.net.common import ModuleWithVectorOutput
from tianshou.utils.torch_utils import policy_within_training_step, torch_train_mode
from torch import nn

from tool_envs.errors import UsageError
from tool_envs.integrations.tianshou import GymnasiumVectorEnv, MaskedActor

pytestmark = pytest.mark.library("tianshou")

torch.set_num_threads(1)  # small networks are slower with more

LANES = 4
SHORT = 14
"""So few actions that some episodes are cut short and some are not."""
SEED = 5


class Body(ModuleWithVectorOutput):
    def __init__(self, features):
        super().__init__(64)
        self.layers = nn.Sequential(nn.Linear(features, 64), nn.Tanh())

    def forward(self, features, state=None):
        return self.layers(features), state


class Critic(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(features, 64), nn.Tanh(), nn.Linear(64, 1))

    def forward(self, obs, **_):
        return self.layers(torch.as_tensor(obs.features))


def make_ppo(envs):
    torch.manual_seed(0)
    (features,) = envs.observation_space[0]["features"].shape
    space = envs.action_space[0]
    policy = DiscreteActorPolicy(actor=MaskedActor(Body(features), int(space.n)), action_space=space)
    return PPO(policy=policy, critic=Critic(features), optim=AdamOptimizerFactory(lr=1e-3))


def make_dummy(lanes=LANES, **kwargs):
    return DummyVectorEnv([lambda: make(**kwargs)] * lanes)


def make_compiled(**kwargs):
    kind = {"difficulty": 1, "observation": "features", "autoreset_mode": "Disabled", **kwargs}
    return GymnasiumVectorEnv(gymnasium.make_vec(ENV_ID, num_envs=LANES, **kind))


def collect(envs, **how_much):
    """What Tianshou stores of each lane."""
    algorithm = make_ppo(envs)
    buffer = VectorReplayBuffer(LANES * 1000, LANES)
    envs.seed(SEED)
    collector = Collector(algorithm, envs, buffer)
    with policy_within_training_step(algorithm.policy):
        collector.collect(**how_much, reset_before_collect=True)
    return [each[:] for each in buffer.buffers]


@pytest.mark.shows("what its collector stores is equal to stepping by hand")
@pytest.mark.parametrize("how_much", [{"n_step": 400}, {"n_episode": 15}], ids=str)
def test_what_it_stores_is_what_stepping_by_hand_gives(how_much):
    """`Watched` fails the test when a choice is made that is not possible.

    Tianshou resets once more than it is asked to: when it is given the seed.
    """
    stored = collect(make_dummy(max_steps=SHORT), **how_much)

    ends = []
    for lane, steps in enumerate(stored):
        by_hand = episodes(SEED + lane, steps.act, skipped=1, max_steps=SHORT)
        for step, (before, _, reward, terminated, truncated, last) in zip(steps, by_hand, strict=True):
            np.testing.assert_equal(dict(step.obs), before)
            np.testing.assert_equal(dict(step.obs_next), last)
            assert (step.rew, step.terminated, step.truncated) == (reward, terminated, truncated)
            ends += [truncated] if step.done else []
    assert set(ends) == {True, False}
    assert len(ends) >= 15


@pytest.mark.shows("the compiled stepper")
@pytest.mark.parametrize("how_much", [{"n_step": 400}, {"n_episode": 15}], ids=str)
def test_the_compiled_stepper_gives_it_the_same(how_much):
    kind = {"max_steps": SHORT, "pool_size": 64}

    for one, other in zip(
        collect(make_compiled(**kind), **how_much), collect(make_dummy(**kind), **how_much), strict=True
    ):
        for name in ("act", "rew", "terminated", "truncated"):
            np.testing.assert_array_equal(one[name], other[name])
        for name in ("obs", "obs_next"):
            np.testing.assert_equal(dict(one[name]), dict(other[name]))
        assert list(one.info.env_id) == list(other.info.env_id)
        assert list(one.info.task_index) == list(other.info.task_index)


@pytest.mark.shows("PPO trains with masks")
def test_it_trains_for_some_updates_and_gets_better():
    envs = make_dummy(16)
    algorithm = make_ppo(envs)
    envs.seed(0)
    collector = Collector(algorithm, envs, VectorReplayBuffer(16 * 64, 16))
    collector.reset()

    rates = []
    for _ in range(24):
        with policy_within_training_step(algorithm.policy):
            rates.append(collector.collect(n_step=16 * 64).returns.mean())
            with torch_train_mode(algorithm):
                algorithm.update(collector.buffer, batch_size=256, repeat=4)
        collector.reset_buffer(keep_statistics=True)

    # A random choice among the possible ones succeeds in about 3% of the episodes.
    assert np.mean(rates[-4:]) > np.mean(rates[:4]) + 0.1


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_another_mode_is_refused(mode):
    with pytest.raises(UsageError, match="Disabled"):
        GymnasiumVectorEnv(make_vec(1, mode=mode))


def test_without_steps_of_some_lanes_it_is_refused():
    with pytest.raises(UsageError, match="DummyVectorEnv"):
        GymnasiumVectorEnv(make_vec(1, mode=AutoresetMode.DISABLED))
