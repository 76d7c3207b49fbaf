"""The compiled stepper gives what Gymnasium's vector of single environments gives, bit for bit."""

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers.vector import RecordEpisodeStatistics
from hypothesis import given
from hypothesis import strategies as st
from stepper_lanes import FORMS, ID, LANES, MODES, POOL, VERSIONS, bits, compare, make, make_sync
from sweeping import examples

from tool_envs.arrays.vector import ArrayVectorEnv

seeds = st.integers(0, 2**31)
kwargs = st.fixed_dictionaries(
    {
        "action_form": st.sampled_from(FORMS),
        "mask": st.sampled_from(["policy", "schema"]),
        "observation": st.sampled_from(["tables", "features"]),
        "autoreset_mode": st.sampled_from(MODES),
        "difficulty": st.sampled_from([None, 1, 3, 5]),
        "schema_version": st.sampled_from(VERSIONS),
        "max_steps": st.sampled_from([2, 9, 30]),
        "pool_size": st.sampled_from([POOL, POOL, None]),
        "copy": st.booleans(),
    }
)
firsts = st.builds(lambda seed: {"seed": seed}, seeds | st.lists(seeds, min_size=LANES, max_size=LANES))
masks = st.lists(st.booleans(), min_size=LANES, max_size=LANES).filter(any)
options = st.fixed_dictionaries(
    {}, optional={"reset_mask": masks.map(np.array), "task_index": st.integers(0, POOL - 1)}
)
resets = st.fixed_dictionaries(
    {
        "seed": st.none() | seeds | st.lists(st.none() | seeds, min_size=LANES, max_size=LANES),
        "options": st.none() | options,
    }
)
many = st.integers(0, 9).flatmap(lambda number: resets if number == 0 else st.just("step"))
moves = st.lists(many, min_size=20, max_size=60)


@examples(12, in_sweep=100)
@given(kwargs=kwargs, first=firsts, moves=moves, seed=seeds, legal=st.sampled_from([0.0, 0.5, 0.9, 1.0]))
def test_the_lanes_give_what_those_of_sync_vector_env_give(kwargs, first, moves, seed, legal):
    without = {name: value for name, value in kwargs.items() if name != "copy"}
    both = make(**kwargs), make_sync(**without)
    compare(both, [first, *moves], seed, legal)

    assert both[0].np_random_seed == both[1].np_random_seed


@pytest.mark.parametrize("legal", [0.0, 1.0])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("form", FORMS)
def test_the_limits_of_actions_and_of_choices_are_the_same(form, mode, legal):
    kwargs = {"action_form": form, "autoreset_mode": mode, "max_steps": 2}
    both = make(**kwargs), make_sync(**kwargs)

    assert compare(both, [{"seed": 0}, *["step"] * 40], legal=legal) >= 2 * LANES


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("form", FORMS)
def test_episode_statistics_are_the_same_around_both(form, mode):
    kwargs = {"action_form": form, "autoreset_mode": mode, "max_steps": 6}
    both = [RecordEpisodeStatistics(envs) for envs in (make(**kwargs), make_sync(**kwargs))]
    given, wanted = (statistics(envs) for envs in both)

    assert given == wanted
    assert len(given) > LANES


def statistics(envs):
    """Return and length of each episode in the order in which they end."""
    rng, found = np.random.default_rng(0), []
    observations, _ = envs.reset(seed=0)
    for _ in range(120):
        actions = possible(envs, rng, observations["action_mask"])
        observations, _, terminated, truncated, infos = envs.step(actions)
        over = terminated | truncated
        if over.any():
            episode = infos["episode"]
            found += [(lane, episode["r"][lane], episode["l"][lane]) for lane in np.flatnonzero(over)]
        if over.any() and envs.metadata["autoreset_mode"] is AutoresetMode.DISABLED:
            observations, _ = envs.reset()
    return found


def test_episode_statistics_go_on_in_lanes_that_are_not_reset():
    """`SyncVectorEnv` takes the mask out of the options, so that the wrapper around it resets all lanes."""
    envs = RecordEpisodeStatistics(make(autoreset_mode="Disabled", max_steps=6))
    rng, lengths = np.random.default_rng(0), []
    observations, _ = envs.reset(seed=0)
    for _ in range(120):
        actions = possible(envs, rng, observations["action_mask"])
        observations, _, terminated, truncated, infos = envs.step(actions)
        over = terminated | truncated
        if over.any():
            lengths += zip(infos["episode"]["l"][over], infos["choices"][over], strict=True)
            observations, _ = envs.reset(options={"reset_mask": over})

    assert len(lengths) > LANES
    assert all(length == choices for length, choices in lengths)


def possible(envs, rng, masks):
    """An action that the masks allow for each lane, from the masks alone."""
    space = envs.single_action_space
    sizes = [space.n] if space.shape == () else space.nvec
    parts = np.split(masks, np.cumsum(sizes)[:-1], axis=1)
    actions = [[rng.choice(np.flatnonzero(row)) for row in part] for part in parts]
    return np.array(actions[0] if space.shape == () else np.transpose(actions))


@pytest.mark.parametrize("form", FORMS)
def test_spaces_and_modes_are_those_of_sync_vector_env(form):
    kwargs = {"action_form": form, "autoreset_mode": "SameStep"}
    ours, theirs = make(**kwargs), make_sync(**kwargs)

    assert type(ours) is ArrayVectorEnv
    for name in ("single_action_space", "action_space", "single_observation_space", "observation_space"):
        assert getattr(ours, name) == getattr(theirs, name)
    assert ours.metadata["autoreset_mode"] is theirs.metadata["autoreset_mode"] is ours.autoreset_mode
    assert ours.observation_space.contains(ours.reset(seed=0)[0])


def test_the_spec_goes_through_json():
    envs = gymnasium.make_vec(ID, LANES, autoreset_mode="SameStep", pool_size=POOL, max_steps=9)
    again = gymnasium.make_vec(gymnasium.envs.registration.EnvSpec.from_json(envs.spec.to_json()))

    assert (again.spec, again.num_envs, again.autoreset_mode) == (envs.spec, LANES, envs.autoreset_mode)
    assert bits(again.reset(seed=3)) == bits(envs.reset(seed=3))
