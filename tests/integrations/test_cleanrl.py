"""A CleanRL-style script, PPO in one file of plain PyTorch, trains on the array view."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs an environment of its own: make test-integrations")

import gymnasium
import torch
from by_hand import ENV_ID, episodes, make_vec, sample_possible
from gymnasium.vector import AutoresetMode
from hypothesis import given
from hypothesis import strategies as st
from train_ppo import (
    Agent,
    Collector,
    Rollout,
    Settings,
    advantages,
    make_agent,
    sample,
    success_rate,
    train,
)

pytestmark = pytest.mark.library("torch")

SCRIPT = Path(__file__).parents[2] / "examples" / "train_ppo.py"

torch.set_num_threads(1)  # small networks are slower with more

LANES = 4
SHORT = 14
"""So few actions that some episodes are cut short and some are not."""

forms = pytest.mark.parametrize("form", ["sequential", "multidiscrete"])


def make(lanes=LANES, **kwargs):
    return make_vec(lanes, mode=AutoresetMode.NEXT_STEP, **kwargs)


@pytest.mark.shows("PPO in one file, as CleanRL has it")
@forms
def test_what_it_learns_from_is_what_stepping_by_hand_gives(form):
    """`Watched` fails the test when a choice is made that is not possible."""
    envs = make(max_steps=SHORT, action_form=form)
    agent = make_agent(envs, Settings())

    rollout, _ = Collector(envs, seed=5).collect(agent, 100)

    ends = 0
    for lane in range(LANES):
        mine = Rollout(*(part[rollout.counts[:, lane], lane].numpy() for part in rollout))
        actions = mine.actions[:, 0] if form == "sequential" else mine.actions
        by_hand = episodes(5 + lane, actions, max_steps=SHORT, action_form=form)
        for step, (before, _, reward, terminated, truncated, _) in enumerate(by_hand):
            np.testing.assert_array_equal(mine.features[step], before["features"])
            np.testing.assert_array_equal(mine.masks[step], before["action_mask"])
            assert (mine.rewards[step], mine.ended[step]) == (reward, terminated or truncated)
            ends += terminated or truncated
    assert ends > LANES
    # A step that begins an episode, and that alone, follows an end.
    assert torch.equal(~rollout.counts[1:], rollout.ended[:-1])


@pytest.mark.shows("the compiled stepper")
def test_the_compiled_stepper_gives_it_the_same():
    kind = {"max_steps": SHORT, "difficulty": 1, "pool_size": 64}
    compiled = gymnasium.make_vec(ENV_ID, num_envs=LANES, observation="features", **kind)

    rollouts = []
    for envs in (compiled, make(**kind)):
        torch.manual_seed(0)
        rollouts.append(Collector(envs, seed=5).collect(make_agent(envs, Settings()), 60))

    (one, one_last), (other, other_last) = rollouts
    for mine, its in zip((*one, one_last), (*other, other_last), strict=True):
        assert torch.equal(mine, its)
    assert one.ended.any()


@given(st.integers(0, 10_000), st.integers(1, 12))
def test_without_discount_by_lambda_an_advantage_is_the_rest_of_the_rewards_less_the_value(seed, steps):
    generator = torch.Generator().manual_seed(seed)
    rewards, values = (torch.randn(steps, 1, generator=generator) for _ in range(2))
    ended = torch.rand(steps, 1, generator=generator) < 0.3
    last = torch.randn(1, generator=generator)
    rollout = Rollout(*[torch.zeros(steps, 1)] * 4, values, rewards, ended, ~ended)

    result = advantages(rollout, last, Settings(gae_lambda=1.0, discount=0.9))

    rest = last[0]
    for step in reversed(range(steps)):
        rest = rewards[step, 0] + 0.9 * rest * ~ended[step, 0]
        assert torch.isclose(result[step, 0], rest - values[step, 0], atol=1e-5)


@given(st.integers(0, 10_000))
def test_only_what_is_possible_has_a_probability_and_they_sum_up_to_one(seed):
    torch.manual_seed(seed)
    agent = Agent(features=3, sizes=[4, 2, 5], hidden=8)
    masks = torch.rand(7, 11) < 0.5
    masks[:, [0, 4, 6]] = True

    log_probabilities, _ = agent(torch.randn(7, 3), masks)
    actions = sample(log_probabilities, agent.sizes)

    for part, mask in zip(log_probabilities.split([4, 2, 5], -1), masks.split([4, 2, 5], -1), strict=True):
        assert torch.equal(part.exp() > 0, mask)
        assert torch.allclose(part.exp().sum(-1), torch.ones(7))
    assert masks.gather(-1, actions + torch.tensor([0, 4, 6])).all()
    parts = [
        part.gather(-1, actions[:, [dimension]])
        for dimension, part in enumerate(log_probabilities.split([4, 2, 5], -1))
    ]
    assert torch.allclose(agent.log_probability(log_probabilities, actions), torch.cat(parts, -1).sum(-1))


def test_it_samples_as_often_as_it_says():
    torch.manual_seed(0)
    probabilities = torch.tensor([0.6, 0.1, 0.3])

    actions = sample(probabilities.log().expand(20_000, 3), [3])

    shares = actions[:, 0].bincount(minlength=3) / 20_000
    assert torch.allclose(shares, probabilities, atol=0.015)  # 4 standard deviations


def test_success_counts_the_first_episodes_of_each_lane():
    lanes, count = 8, 12
    envs = make(lanes)
    envs.single_action_space.seed(3)
    taken = []

    def choose(observation):
        each = [{name: values[lane] for name, values in observation.items()} for lane in range(lanes)]
        taken.append([sample_possible(envs.single_action_space, one) for one in each])
        return torch.tensor(taken[-1])[:, None]

    rate = success_rate(envs, choose, count, seed=3)

    total = 0
    for lane in range(lanes):
        total += sum(rewards_by_hand(3 + lane, [actions[lane] for actions in taken])[:count])
    assert rate == total / (lanes * count) > 0


def rewards_by_hand(seed, actions):
    """What each finished episode had; the action after its last one is ignored, and begins the next."""
    (env,) = make(1).envs
    rewards, ended = [], True
    env.reset(seed=seed)
    for number, action in enumerate(actions):
        if ended and number:
            env.reset()
            ended = False
            continue
        _, reward, terminated, truncated, _ = env.step(action)
        ended = terminated or truncated
        rewards += [reward] if ended else []
    return rewards


@pytest.mark.shows("PPO in one file, as CleanRL has it")
@forms
def test_it_trains_for_some_updates_and_gets_better(form):
    rates = []

    def report(_, choices, success):
        rates.append(success)
        return 1 - choices / 30_000

    train(make(32, action_form=form), 0, Settings(minibatch=512), report)

    # A random choice among the possible ones succeeds in about 3% of the episodes, or less.
    assert np.nanmean(rates[-5:]) > np.nanmean(rates[:5]) + 0.1


def test_the_script_runs():
    command = [sys.executable, SCRIPT, "--choices", "2000", "--num-envs", "8"]

    printed = subprocess.run(command, capture_output=True, check=True, text=True)

    *updates, last = printed.stdout.splitlines()
    assert len(updates) > 5
    assert all(" success " in line for line in updates)
    assert 0 <= float(last.removeprefix("held-out tasks: success ")) <= 1
