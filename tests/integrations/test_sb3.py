"""Stable-Baselines3 and sb3-contrib train on the array view, and get what stepping by hand gives."""

import copy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sb3_contrib", reason="needs an environment of its own: make test-integrations")

import gymnasium
import torch
from by_hand import ENV_ID, episodes, make_vec, sample_possible
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecMonitor

from tool_envs.errors import UsageError
from tool_envs.integrations.sb3 import GymnasiumVecEnv

pytestmark = pytest.mark.library("stable-baselines3")

SCRIPT = Path(__file__).parents[2] / "examples" / "train_sb3.py"

torch.set_num_threads(1)  # small networks are slower with more

LANES = 4
SHORT = 14
"""So few actions that some episodes are cut short and some are not."""

variants = pytest.mark.parametrize(
    "variant",
    [
        {"action_form": form, "observation": kind}
        for form in ("sequential", "multidiscrete")
        for kind in ("features", "tables")
    ],
    ids=lambda variant: "-".join(variant.values()),
)


def random_steps(venv, count):
    """Random possible actions of all lanes, each with what `step` gave."""
    observations = venv.reset()
    venv.action_space.seed(0)
    for _ in range(count):
        each = [{name: values[lane] for name, values in observations.items()} for lane in range(LANES)]
        actions = np.array([sample_possible(venv.action_space, observation) for observation in each])
        observations, *rest = venv.step(actions)
        yield actions, observations, *rest


@pytest.mark.shows("a `VecEnv` equal to stepping by hand")
@variants
@pytest.mark.parametrize("max_steps", [SHORT, 50])
def test_a_lane_is_the_environment_stepped_by_hand(variant, max_steps):
    venv = GymnasiumVecEnv(make_vec(LANES, max_steps=max_steps, **variant))
    venv.seed(3)

    steps = list(random_steps(venv, 60))

    ends = 0
    for lane in range(LANES):
        by_hand = episodes(3 + lane, [actions[lane] for actions, *_ in steps], max_steps=max_steps, **variant)
        for (_, after, rewards, dones, infos), (_, _, reward, terminated, truncated, last) in zip(
            steps, by_hand, strict=True
        ):
            assert (rewards.dtype, rewards[lane], dones[lane]) == (
                np.float32,
                reward,
                terminated or truncated,
            )
            if dones[lane]:
                ends += 1
                np.testing.assert_equal(infos[lane]["terminal_observation"], last)
                assert infos[lane]["TimeLimit.truncated"] == (truncated and not terminated)
                assert infos[lane]["is_success"] == (reward > 0)
            else:
                assert infos[lane] == {}
                np.testing.assert_equal({name: values[lane] for name, values in after.items()}, last)
    assert ends > LANES


@pytest.mark.shows("the compiled stepper as a `VecEnv`")
def test_the_compiled_stepper_gives_it_the_same():
    kind = {"max_steps": SHORT, "difficulty": 1, "pool_size": 64, "observation": "features"}
    compiled = gymnasium.make_vec(ENV_ID, num_envs=LANES, autoreset_mode="SameStep", **kind)
    both = [GymnasiumVecEnv(envs) for envs in (compiled, make_vec(LANES, **kind))]
    for venv in both:
        venv.seed(3)

    steps = [list(random_steps(venv, 60)) for venv in both]

    for one, other in zip(*steps, strict=True):
        np.testing.assert_equal(one, other)
    np.testing.assert_equal(both[0].reset_infos, both[1].reset_infos)
    assert any(dones.any() for *_, dones, _ in steps[0])


def test_some_episodes_are_cut_short_and_some_are_not():
    venv = GymnasiumVecEnv(make_vec(LANES, max_steps=SHORT))
    venv.seed(0)

    infos = [info for *_, infos in random_steps(venv, 100) for info in infos if info]

    assert {info["TimeLimit.truncated"] for info in infos} == {True, False}
    assert all(info["steps"] == SHORT for info in infos if info["TimeLimit.truncated"])


@pytest.mark.library("sb3-contrib")
@pytest.mark.shows("exact masks")
@pytest.mark.parametrize("form", ["sequential", "multidiscrete"])
def test_masks_are_those_of_the_last_observation(form):
    venv = GymnasiumVecEnv(make_vec(LANES, action_form=form))
    assert is_masking_supported(venv)

    for _, observations, *_ in random_steps(venv, 30):
        masks = get_action_masks(venv)

        assert masks.dtype == np.bool_
        np.testing.assert_array_equal(masks, observations["action_mask"])
        np.testing.assert_array_equal(venv.env_method("action_masks", indices=[2])[0], masks[2])


class KeepRollout(BaseCallback):
    """Copies the first rollout, and the policy that made it, before it is shuffled and learned from."""

    rollout = policy = None

    def _on_step(self):
        return True

    def _on_rollout_end(self):
        if self.rollout is None:
            self.rollout = copy.deepcopy(self.model.rollout_buffer)
            self.policy = copy.deepcopy(self.model.policy)

    def value(self, observation):
        return self.policy.predict_values(self.policy.obs_to_tensor(observation)[0]).item()


@pytest.mark.library("sb3-contrib")
@pytest.mark.shows("`MaskablePPO` trains")
@variants
def test_what_it_learns_from_is_what_stepping_by_hand_gives(variant):
    """`Watched` fails the test when a choice is made that is not possible."""
    short = {"max_steps": SHORT, **variant}
    kept = KeepRollout()
    venv = GymnasiumVecEnv(make_vec(LANES, **short))
    model = MaskablePPO("MultiInputPolicy", venv, n_steps=100, batch_size=100, gamma=0.9, seed=7)

    model.learn(3 * 100 * LANES, kept)

    rollout = kept.rollout
    for lane in range(LANES):
        actions = rollout.actions[:, lane].astype(np.int64)
        actions = actions[:, 0] if variant["action_form"] == "sequential" else actions
        start = True
        for step, (before, _, reward, terminated, truncated, last) in enumerate(
            episodes(7 + lane, actions, **short)
        ):
            seen = {name: values[step, lane] for name, values in rollout.observations.items()}
            np.testing.assert_equal(seen, before)
            assert rollout.episode_starts[step, lane] == start
            cut = truncated and not terminated
            expected = reward + 0.9 * kept.value(last) if cut else reward
            assert rollout.rewards[step, lane] == pytest.approx(expected, abs=1e-5)
            start = terminated or truncated
    assert rollout.episode_starts.sum() > LANES


@pytest.mark.library("sb3-contrib")
@pytest.mark.shows("`MaskablePPO` trains")
def test_it_trains_for_some_updates_and_gets_better():
    venv = VecMonitor(GymnasiumVecEnv(make_vec(16)))
    model = MaskablePPO(
        "MultiInputPolicy", venv, n_steps=128, batch_size=512, n_epochs=4, gamma=1.0, seed=0, device="cpu"
    )

    model.learn(24_000)

    # A random choice among the possible ones succeeds in about 3% of the episodes.
    assert np.mean(model.ep_success_buffer) > 0.15
    fresh = VecMonitor(GymnasiumVecEnv(make_vec(LANES, split="test")))
    rewards, lengths = evaluate_policy(model, fresh, 8, return_episode_rewards=True)
    assert (len(rewards), len(lengths)) == (8, 8)
    assert set(rewards) <= {0.0, 1.0}


def test_options_are_for_all_lanes():
    venv = GymnasiumVecEnv(make_vec(LANES, split="test"))
    task_id = venv.envs.envs[0].unwrapped.json_env.domain.tasks[3].id

    venv.set_options({"task_id": task_id})
    venv.reset()
    assert {info["task_index"] for info in venv.reset_infos} == {3}

    venv.set_options([{"task_id": task_id}, *[{}] * (LANES - 1)])
    with pytest.raises(UsageError, match="hold for all lanes"):
        venv.reset()


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.DISABLED])
def test_another_mode_is_refused(mode):
    with pytest.raises(UsageError, match="SameStep"):
        GymnasiumVecEnv(make_vec(1, mode=mode))


def test_an_environment_without_masks_is_refused():
    envs = SyncVectorEnv([lambda: gymnasium.make("CartPole-v1")], autoreset_mode=AutoresetMode.SAME_STEP)

    with pytest.raises(UsageError, match="action_mask"):
        GymnasiumVecEnv(envs)


def test_lanes_have_nothing_of_their_own():
    venv = GymnasiumVecEnv(make_vec(2))

    assert venv.get_attr("num_envs") == [2, 2]
    assert venv.get_attr("spec")[0] is venv.envs.spec
    with pytest.raises(UsageError, match="first `reset`"):
        venv.action_masks()
    with pytest.raises(AttributeError, match="`render`"):
        venv.env_method("render")
    with pytest.raises(AttributeError, match="`spec`"):
        venv.set_attr("spec", None)
    with pytest.raises(AttributeError):
        venv.get_attr("nothing")
    venv.close()
    assert venv.envs.closed


def test_the_shortest_script_runs():
    printed = subprocess.run([sys.executable, SCRIPT, "4096"], capture_output=True, check=True, text=True)

    *_, last = printed.stdout.splitlines()
    assert 0 <= float(last.removeprefix("held-out tasks: success ")) <= 1
    assert len(SCRIPT.read_text(encoding="utf-8").splitlines()) <= 25
