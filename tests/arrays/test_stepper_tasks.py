"""Which task an episode of a lane has, and where tasks are kept."""

import functools

import gymnasium
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stepper_lanes import ID, POOL, bits, make, run, state

from tool_envs.array_draws import draw_task
from tool_envs.arrays.compiled import compiled
from tool_envs.env import TASK_DRAW
from tool_envs.errors import DataFileError
from tool_envs.randomness import draw_below

seeds = st.integers(0, 2**31)
keys = st.integers(0, 2**64 - 1)
EPISODES = 40
pools = pytest.mark.parametrize("pool_size", [POOL, None])


# --- Draws


def draw(tasks, key, episode):
    return draw_task(tasks, key, episode)


@given(tasks=st.integers(1, 2**32), key=keys, episode=st.integers(0, 2**62))
def test_draws_are_those_of_single_environments(tasks, key, episode):
    drawn = compiled(draw)(tasks, np.uint64(key), episode)

    assert drawn == draw_below(tasks, key, episode, 0, TASK_DRAW)


# --- Episodes


@functools.cache
def tasks_of_reference(seed, pool_size):
    """The tasks of the first episodes of a single environment."""
    env = gymnasium.make(ID, pool_size=pool_size).unwrapped
    resets = [env.reset(seed=seed), *(env.reset() for _ in range(EPISODES - 1))]
    return [info["task_index"] for _, info in resets]


@pools
@settings(max_examples=12)
@given(given_seeds=st.lists(seeds, min_size=1, max_size=4), data=st.data())
def test_the_task_of_an_episode_follows_from_its_seed_and_its_number(pool_size, given_seeds, data):
    """Whatever the other lanes do, and however many there are."""
    lanes = len(given_seeds)
    envs = make(lanes, pool_size=pool_size)
    found = [[int(index)] for index in envs.reset(seed=given_seeds)[1]["task_index"]]
    masks = st.lists(st.booleans(), min_size=lanes, max_size=lanes).filter(any)
    for mask in data.draw(st.lists(masks, max_size=EPISODES - 1)):
        _, infos = envs.reset(options={"reset_mask": np.array(mask)})
        for lane in np.flatnonzero(mask):
            found[lane].append(int(infos["task_index"][lane]))

    for seed, tasks in zip(given_seeds, found, strict=True):
        assert tasks == tasks_of_reference(seed, pool_size)[: len(tasks)]


@pools
def test_many_episodes_have_their_tasks(pool_size):
    """More than are drawn at once, of lanes that are not equally far."""
    envs = make(2, pool_size=pool_size)
    found = [envs.reset(seed=[5, 6])[1]["task_index"][1]]
    for number in range(EPISODES - 1):
        envs.reset(options={"reset_mask": np.array([True, False])})
        if number % 3 == 0:
            envs.reset(seed=[number, None], options={"reset_mask": np.array([True, False])})
        found.append(envs.reset(options={"reset_mask": np.array([False, True])})[1]["task_index"][1])

    assert found == tasks_of_reference(6, pool_size)
    assert len(set(found)) > POOL // 2


@pools
def test_tasks_that_are_asked_for_are_given_to_their_lanes(pool_size):
    envs = make(3, pool_size=pool_size)
    observations, infos = envs.reset(seed=0, options={"task_index": [4, 9, 2]})
    assert infos["task_index"].tolist() == [4, 9, 2]
    for lane, index in enumerate([4, 9, 2]):
        env = gymnasium.make(ID, pool_size=pool_size).unwrapped
        wanted, _ = env.reset(seed=lane, options={"task_index": index})
        assert bits({name: table[lane] for name, table in observations.items()}) == bits(wanted)
    mask = np.array([False, True, False])
    _, infos = envs.reset(options={"task_index": [0, 7, 0], "reset_mask": mask})
    assert infos["task_index"].tolist() == [0, 7, 0]
    assert infos["_task_index"].tolist() == mask.tolist()
    before = state(envs, [0, 2])
    envs.reset(options={"task_index": 1, "reset_mask": mask})
    assert state(envs, [0, 2]) == before


# --- Files


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where tasks are kept, empty."""
    played()  # what is compiled by now stays so
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "tool-envs" / "tasks"


def played():
    envs = make(3, autoreset_mode="SameStep", max_steps=4)
    envs.reset(seed=1)
    return run(envs, 1, 40)


def test_tasks_from_the_disk_are_those_that_were_made(folder):
    elsewhere = played()
    (file,) = folder.iterdir()
    content, written = file.read_bytes(), file.stat().st_mtime_ns

    assert played() == elsewhere
    assert (file.read_bytes(), file.stat().st_mtime_ns) == (content, written)
    file.unlink()
    assert played() == elsewhere
    assert file.read_bytes() == content


def test_each_pool_has_its_own_file(folder):
    for kwargs in ({}, {"difficulty": 1}, {"split": "test"}, {"pool_size": 5}, {"schema_version": "1.1.0"}):
        make(1, **kwargs)
    files = {file.name for file in folder.iterdir()}
    for kwargs in ({"mask": "schema"}, {"max_steps": 4}, {"num_envs": 2}, {"pool_size": None}):
        make(**{"num_envs": 1, **kwargs})

    assert len(files) == 5
    assert {file.name for file in folder.iterdir()} == files


@pytest.mark.parametrize("size", [0, 1, 31, 32, 33, -1])
def test_a_file_that_was_cut_is_named(folder, size):
    make(1)
    (file,) = folder.iterdir()
    file.write_bytes(file.read_bytes()[:size])
    with pytest.raises(DataFileError, match="it is damaged; delete it, and it will be made again") as caught:
        make(1)
    assert caught.value.path == str(file)
    file.unlink()
    make(1)


@pytest.mark.parametrize("place", [0, 31, 32, 5000, -1])
def test_a_file_with_one_wrong_bit_is_named(folder, place):
    make(1)
    (file,) = folder.iterdir()
    content = bytearray(file.read_bytes())
    content[place] ^= 4
    file.write_bytes(content)
    with pytest.raises(DataFileError, match="damaged") as caught:
        make(1)
    assert caught.value.path == str(file)


def test_a_file_that_is_too_long_is_named(folder):
    make(1)
    (file,) = folder.iterdir()
    file.write_bytes(file.read_bytes() + b"0")
    with pytest.raises(DataFileError, match="damaged"):
        make(1)
