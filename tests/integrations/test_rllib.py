"""RLlib trains on the array view, and gets what stepping by hand gives."""

import numpy as np
import pytest

pytest.importorskip("ray", reason="needs an environment of its own: make test-integrations")

import ray
import torch
from by_hand import ENV_ID, episodes, make
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.tune import register_env

from tool_envs.integrations.rllib import MaskedModule

pytestmark = pytest.mark.library("ray")

LANES = 4
SHORT = 14
"""So few actions that some episodes are cut short and some are not."""
SEED = 5

register_env("watched", lambda config: make(**config))
forms = pytest.mark.parametrize("form", ["sequential", "multidiscrete"])


@pytest.fixture(autouse=True, scope="module")
def local_ray():
    ray.init(address="local", num_cpus=1, include_dashboard=False)
    assert [node["NodeManagerAddress"] for node in ray.nodes()] == ["127.0.0.1"]
    yield
    ray.shutdown()


def configure(env="watched", vectorized="sync", runners=0, **kwargs):
    kind = {"difficulty": 1, "observation": "features", "max_steps": SHORT, **kwargs}
    return (
        PPOConfig()
        .environment(env, env_config=kind)
        .env_runners(
            num_env_runners=runners, num_envs_per_env_runner=LANES, gym_env_vectorize_mode=vectorized
        )
        .training(train_batch_size_per_learner=256, minibatch_size=64, num_epochs=2)
        .rl_module(rl_module_spec=RLModuleSpec(module_class=MaskedModule, model_config={"hidden": 64}))
        .debugging(seed=SEED)
    )


def starts(count, **kwargs):
    """Index of the task -> lane and number of the episode, of the first episodes of each lane."""
    found = {}
    for lane in range(LANES):
        env = make(**kwargs)
        _, info = env.reset(seed=SEED + lane)
        for number in range(count):
            found[info["task_index"]] = (lane, number)
            _, info = env.reset()
    assert len(found) == LANES * count
    return found


@pytest.mark.shows("samples of RLlib equal to stepping by hand")
@forms
def test_what_it_samples_is_what_stepping_by_hand_gives(form):
    """`Watched` fails the test when a choice is made that is not possible."""
    kind = {"max_steps": SHORT, "action_form": form}
    algorithm = configure(**kind).build_algo()

    sampled = algorithm.env_runner.sample(num_episodes=30, explore=True)
    algorithm.stop()

    known = starts(30, **kind)
    assert len(sampled) >= 30
    assert {episode.is_truncated for episode in sampled} == {True, False}
    for episode in sampled:
        lane, number = known[episode.get_infos(0)["task_index"]]
        by_hand = episodes(SEED + lane, episode.get_actions(), skipped=number, **kind)
        for step, (before, _, reward, *ends, last) in enumerate(by_hand):
            np.testing.assert_equal(episode.get_observations(step), before)
            np.testing.assert_equal(episode.get_observations(step + 1), last)
            assert episode.get_rewards(step) == reward
            is_last = step == len(episode) - 1
            assert ends == [is_last and episode.is_terminated, is_last and episode.is_truncated]


@pytest.mark.shows("the compiled stepper")
def test_the_compiled_stepper_gives_it_the_same():
    sampled = []
    for vectorized in ("sync", "vector_entry_point"):
        algorithm = configure(f"tool_envs:{ENV_ID}", vectorized, pool_size=64).build_algo()
        torch.manual_seed(0)
        sampled.append(algorithm.env_runner.sample(num_episodes=8, explore=True))
        algorithm.stop()

    for one, other in zip(*sampled, strict=True):
        np.testing.assert_equal(one.get_observations(), other.get_observations())
        np.testing.assert_array_equal(one.get_actions(), other.get_actions())
        np.testing.assert_array_equal(one.get_rewards(), other.get_rewards())
        assert (one.is_terminated, one.is_truncated) == (other.is_terminated, other.is_truncated)


@pytest.mark.shows("RLlib's PPO trains with masks")
@forms
def test_it_trains_for_some_updates(form):
    algorithm = configure(action_form=form, max_steps=50).build_algo()
    before = {name: value.copy() for name, value in weights(algorithm).items()}

    results = [algorithm.train() for _ in range(3)]

    assert all(result["env_runners"]["num_episodes"] > 0 for result in results)
    assert all(0 <= result["env_runners"]["episode_return_mean"] <= 1 for result in results)
    after = weights(algorithm)
    assert all((after[name] != before[name]).any() for name in before)
    algorithm.stop()


def weights(algorithm):
    return algorithm.get_module().get_state()


@pytest.mark.shows("remote environment runners")
def test_other_processes_find_the_environment():
    algorithm = configure(f"tool_envs:{ENV_ID}", runners=1).build_algo()

    result = algorithm.train()

    assert result["env_runners"]["num_episodes"] > 0
    assert algorithm.env_runner_group.num_healthy_remote_workers() == 1
    algorithm.stop()
