"""TorchRL trains on the array view, and gets what stepping by hand gives."""

import numpy as np
import pytest

pytest.importorskip("torchrl", reason="needs an environment of its own: make test-integrations")

import gymnasium
import torch
from by_hand import ENV_ID, episodes, make_vec
from gymnasium.vector import AutoresetMode
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.collectors import Collector
from torchrl.envs import check_env_specs
from torchrl.modules import MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

from tool_envs.errors import UsageError
from tool_envs.integrations.torchrl import masked_env

pytestmark = pytest.mark.library("torchrl")

torch.set_num_threads(1)  # small networks are slower with more

LANES = 4
SHORT = 14
"""So few actions that some episodes are cut short and some are not."""

forms = pytest.mark.parametrize("form", ["sequential", "multidiscrete"])


def make(lanes=LANES, **kwargs):
    return masked_env(make_vec(lanes, mode=AutoresetMode.DISABLED, **kwargs))


def assert_as_by_hand(batch, seed, **kwargs):
    """That a batch of shape (lanes, steps) is what its actions give by hand.

    TorchRL resets once more than it is asked to: when it is given the seed.
    """
    ends = 0
    for lane, steps in enumerate(batch):
        by_hand = episodes(seed + lane, steps["action"].numpy(), skipped=1, **kwargs)
        for step, (before, _, reward, terminated, truncated, last) in zip(steps, by_hand, strict=True):
            for name in ("features", "action_mask"):
                np.testing.assert_array_equal(step[name], before[name])
                np.testing.assert_array_equal(step["next", name], last[name])
            assert step["next", "reward"].item() == reward
            assert step["next", "terminated"].item() == terminated
            assert step["next", "truncated"].item() == truncated
            assert step["next", "done"].item() == (terminated or truncated)
            ends += terminated or truncated
    assert ends > len(batch)


@pytest.mark.shows("masked random actions, equal to stepping by hand")
@forms
def test_random_actions_are_possible_and_do_what_they_do_by_hand(form):
    """`Watched` fails the test when a choice is made that is not possible."""
    env = make(max_steps=SHORT, action_form=form)
    env.set_seed(5)
    torch.manual_seed(0)

    rollout = env.rollout(100, break_when_any_done=False)

    assert_as_by_hand(rollout, 5, max_steps=SHORT, action_form=form)


@pytest.mark.shows("`check_env_specs`")
@forms
def test_it_is_what_it_says(form):
    check_env_specs(make(action_form=form), break_when_any_done="both")


@pytest.mark.shows("the compiled stepper")
@forms
def test_the_compiled_stepper_gives_it_the_same(form):
    kind = {"max_steps": SHORT, "difficulty": 1, "pool_size": 64, "observation": "features"}
    kind |= {"action_form": form}
    compiled = gymnasium.make_vec(ENV_ID, num_envs=LANES, autoreset_mode="Disabled", **kind)

    rollouts = []
    for env in (masked_env(compiled), make(**kind)):
        env.set_seed(5)
        torch.manual_seed(0)
        rollouts.append(env.rollout(60, break_when_any_done=False))

    assert (rollouts[0] == rollouts[1]).all()
    assert rollouts[0]["next", "done"].any()


def make_actor_and_critic(env):
    features, choices = env.observation_spec["features"].shape[-1], env.action_spec.space.n
    policy = nn.Sequential(nn.Linear(features, 128), nn.Tanh(), nn.Linear(128, choices))
    nn.init.orthogonal_(policy[-1].weight, 0.01)
    value = nn.Sequential(nn.Linear(features, 128), nn.Tanh(), nn.Linear(128, 1))
    actor = ProbabilisticActor(
        TensorDictModule(policy, ["features"], ["logits"]),
        in_keys={"logits": "logits", "mask": "action_mask"},
        distribution_class=MaskedCategorical,
        return_log_prob=True,
    )
    return actor, ValueOperator(value, in_keys=["features"])


@pytest.mark.shows("PPO trains with masks")
def test_it_trains_for_some_updates_and_gets_better():
    torch.manual_seed(0)
    env = make(16)
    env.set_seed(0)
    actor, critic = make_actor_and_critic(env)
    loss = ClipPPOLoss(actor, critic, entropy_coeff=0.01, normalize_advantage=True)
    gains = GAE(gamma=0.99, lmbda=0.95, value_network=critic)
    optimizer = torch.optim.Adam(loss.parameters(), lr=1e-3)
    collector = Collector(env, actor, frames_per_batch=16 * 64, total_frames=16 * 64 * 24)

    rates = []
    for number, batch in enumerate(collector):
        if number == 0:
            assert_as_by_hand(batch, 0)
        with torch.no_grad():
            gains(batch)
        for _ in range(4):
            for part in batch.flatten()[torch.randperm(batch.numel())].split(256):
                losses = loss(part)
                optimizer.zero_grad()
                sum(value for name, value in losses.items() if name.startswith("loss_")).backward()
                optimizer.step()
        rates.append(batch["next", "reward"][batch["next", "done"]].mean().item())

    # A random choice among the possible ones succeeds in about 3% of the episodes.
    assert np.mean(rates[-4:]) > np.mean(rates[:4]) + 0.1


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_another_mode_is_refused(mode):
    with pytest.raises(UsageError, match="Disabled"):
        masked_env(make_vec(1, mode=mode))
