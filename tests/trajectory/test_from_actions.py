"""A lane of the vectorized array view comes back as the record of its episode in the JSON view."""

import copy
import functools
import itertools
import subprocess
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from hypothesis import given, settings
from hypothesis import strategies as st
from sweeping import examples

import tool_envs  # noqa: F401 - registers the ids
from tool_envs.errors import ReplayMismatchError, UnknownNameError, UsageError
from tool_envs.trajectory import (
    Trajectory,
    episodes_of,
    from_actions,
    read_trajectories,
    record_episode,
    replay,
)

ROOT = Path(__file__).parents[2]
RETAIL, BOOKING = "tool_envs/RetailArray-v0", "tool_envs/BookingArray-v0"
FORMS, MODES = ("sequential", "multidiscrete"), ("NextStep", "SameStep", "Disabled")
POOL = 24

seeds = st.integers(0, 2**31)
legal = st.sampled_from([0.1, 0.5, 0.9, 1.0])
kwargs = st.fixed_dictionaries(
    {
        "mask": st.sampled_from(["policy", "schema"]),
        "difficulty": st.sampled_from([None, 1, 5]),
        "max_steps": st.sampled_from([1, 3, 7]),
        "action_form": st.sampled_from(FORMS),
        "pool_size": st.just(POOL),
    }
)


def make_vec(env_id, lanes, autoreset_mode, is_compiled, **kwargs):
    """A vectorized array view, compiled or of single environments."""
    if is_compiled:
        return gymnasium.make_vec(env_id, lanes, autoreset_mode=autoreset_mode, **kwargs).unwrapped
    mode = {"autoreset_mode": AutoresetMode(autoreset_mode)}
    return gymnasium.make_vec(env_id, lanes, "sync", vector_kwargs=mode, **kwargs)


def some_actions(space, masks, rng, legal):
    """For each lane an action: each choice with a chance of `legal` one of the mask, else any."""
    sizes = [space.n] if space.shape == () else space.nvec
    parts = np.split(masks, np.cumsum(sizes)[:-1], axis=1)
    rows = [
        [rng.choice(np.flatnonzero(row) if rng.random() < legal else len(row)) for row in part]
        for part in parts
    ]
    return np.array(rows[0]) if space.shape == () else np.transpose(rows)


def run(envs, seed, steps, legal=1.0):
    """Steps of all lanes: what `episodes_of` takes, and the observations that came of each step."""
    rng, rows, seen = np.random.default_rng(seed), [], []
    observations, infos = envs.reset(seed=seed)
    for _ in range(steps):
        actions = some_actions(envs.single_action_space, observations["action_mask"], rng, legal)
        before = infos["task_index"].copy(), infos["choices"].copy()
        observations, rewards, terminated, truncated, infos = envs.step(actions)
        over = terminated | truncated
        rows.append((actions, rewards.copy(), over, *before))
        seen.append((copy.deepcopy(observations), infos.get("final_obs")))
        if envs.metadata["autoreset_mode"] is AutoresetMode.DISABLED and over.any():
            observations, infos = begin_again(envs, over, observations, infos)
    return [np.array(each) for each in zip(*rows, strict=True)], seen


def begin_again(envs, over, observations, infos):
    """Reset the lanes whose episodes are over; what all lanes show then."""
    new, news = envs.reset(options={"reset_mask": over})
    observations = {
        name: np.where(over.reshape(-1, *[1] * (table.ndim - 1)), new[name], table)
        for name, table in observations.items()
    }
    return observations, {name: np.where(over, news[name], infos[name]) for name in ("task_index", "choices")}


def last_observation(seen, episode):
    """What the lane showed at the end of an episode."""
    observations, ends = seen[episode.first + len(episode.actions) - 1]
    if ends is not None:  # a lane that resets itself in the same step shows its next episode
        return ends[episode.lane]
    return {name: table[episode.lane] for name, table in observations.items()}


def bits(tables):
    """For `==`, with types, shapes and each bit."""
    return {name: (table.dtype.str, table.shape, table.tobytes()) for name, table in tables.items()}


def single(env_id, **kwargs):
    """The array view of one episode, without what says how lanes are run."""
    return gymnasium.make(env_id, disable_env_checker=True, **kwargs).unwrapped


def check_episode(env_id, kwargs, episode, seed, end):
    """Rebuild an episode of a lane and hold it to the array view; returns the record."""
    reference = single(env_id, **kwargs)
    task = reference.json_env.domain.tasks[episode.task_index]
    reference.reset(seed=seed, options={"task_index": episode.task_index})
    for action in episode.actions:
        observation, reward, terminated, truncated, info = reference.step(action)
    assert terminated or truncated
    assert reward == episode.reward
    assert bits(observation) == bits(end)
    arguments = (env_id, reference.json_env.schema.sha256, task.id, seed, episode.actions, "v1")
    if info["steps"] == 0:
        with pytest.raises(UsageError, match="No action was carried out"):
            from_actions(*arguments, **kwargs)
        return None
    record = from_actions(*arguments, agent_name="lane", reward=episode.reward, **kwargs)
    assert record.outcome.reward == episode.reward
    assert record.outcome.steps == info["steps"]
    assert record.seed == seed
    assert (record.task.id, record.task.digest) == (task.id, task.digest)
    assert Trajectory.from_json(record.to_json()) == record
    replay(record)
    if reference.json_env.outcome is not None:
        assert record == record_episode(reference.json_env, "lane", "v1", seed)
    else:
        assert record.env.kwargs["max_steps"] == record.outcome.steps < kwargs["max_steps"]
        assert (record.outcome.status, record.outcome.reward) == ("truncated", 0.0)
    return record


def check_lanes(env_id, kwargs, mode, seed, steps, legal, is_compiled, lanes=3):
    """Run lanes, cut out their episodes and check each; returns the records, None for one without actions."""
    envs = make_vec(env_id, lanes, mode, is_compiled, **kwargs)
    rows, seen = run(envs, seed, steps, legal)
    episodes = list(episodes_of(*rows))
    assert len(episodes) == rows[2].sum()  # from the first reset on, every end is that of a whole episode
    return [
        check_episode(env_id, kwargs, episode, seed + number, last_observation(seen, episode))
        for number, episode in enumerate(episodes)
    ]


# --- Lanes


@pytest.mark.parametrize("mode", MODES)
@examples(3, in_sweep=20)
@given(kwargs=kwargs, seed=seeds, legal=legal)
def test_each_episode_of_a_compiled_lane_comes_back_as_its_record(mode, kwargs, seed, legal):
    check_lanes(RETAIL, kwargs, mode, seed, 40, legal, is_compiled=True)


@examples(4, in_sweep=20)
@given(kwargs=kwargs, seed=seeds, legal=legal, version=st.sampled_from(["1.0.0", "1.1.0", "2.0.0"]))
def test_each_episode_of_a_lane_of_the_airline_does(kwargs, seed, legal, version):
    check_lanes(
        BOOKING, {**kwargs, "schema_version": version}, "SameStep", seed, 40, legal, is_compiled=False
    )


@pytest.mark.parametrize("form", FORMS)
def test_among_such_lanes_are_episodes_of_each_kind_of_end(form):
    kinds = set()
    for legal, limit, mask in ((0.0, 1, "policy"), (0.0, 3, "policy"), (1.0, 12, "schema")):
        kwargs = {"action_form": form, "mask": mask, "max_steps": limit, "pool_size": POOL}
        for record in check_lanes(RETAIL, kwargs, "SameStep", 1, 60, legal, is_compiled=True, lanes=8):
            kinds.add(record and (record.outcome.ended_by, record.env.kwargs["max_steps"] < limit))

    assert kinds == {None, ("limit", False), ("limit", True), ("agent", False), ("user", False)}


@functools.cache
def fortunate():
    """An episode of random possible choices that earned 1.0, with arguments and environments."""
    kwargs = {"difficulty": 1, "split": "test"}
    envs = make_vec(RETAIL, 256, "SameStep", True, pool_size=64, **kwargs)
    rng, rows = np.random.default_rng(0), []
    _, infos = envs.reset(seed=0)
    for _ in range(400):
        actions, before = envs.sample_actions(rng), infos
        _, rewards, terminated, truncated, infos = envs.step(actions)
        rows.append((actions, rewards, terminated | truncated, before["task_index"], before["choices"]))
    rows = [np.array(each) for each in zip(*rows, strict=True)]
    return kwargs, envs, next(each for each in episodes_of(*rows) if each.reward == 1.0)


def rebuilt(seed=5, **changes):
    """The record of that episode, with other arguments."""
    kwargs, envs, episode = fortunate()
    json_env = envs.reference.json_env
    arguments = {
        "env_id": RETAIL,
        "schema_sha256": json_env.schema.sha256,
        "task_id": json_env.domain.tasks[episode.task_index].id,
        "seed": seed,
        "actions": episode.actions,
        "policy_version": "v1",
    }
    return from_actions(**{**arguments, **kwargs, **changes})


def test_a_fortunate_episode_becomes_a_conversation_that_earned_its_reward():
    record = rebuilt(reward=1.0, observation="features", autoreset_mode="SameStep", threads=1)

    assert (record.outcome.status, record.outcome.reward) == ("completed", 1.0)
    assert record.env.id == "tool_envs/Retail-v0"
    assert record.env.kwargs == {"user": "agenda", "difficulty": 1, "split": "test"}
    assert (record.agent.name, record.agent.version) == ("arrays", "v1")
    policy = [message for message in record.messages if hasattr(message, "policy_version")]
    assert all(message.trainable and message.policy_version[0].version == "v1" for message in policy)
    assert all(message.content or message.tool_calls for message in policy)
    assert {call.name for message in policy for call in message.tool_calls}
    assert rebuilt(actions=fortunate()[2].actions.tolist(), reward=np.float64(1)) == rebuilt(seed=np.int64(5))


def test_the_seed_moves_the_words_of_the_user_alone():
    first, second = rebuilt(seed=5), rebuilt(seed=6)

    assert first.outcome == second.outcome
    assert first.data == second.data
    pairs = list(zip(first.messages, second.messages, strict=True))
    assert all(a == b for a, b in pairs if not is_users(a))
    assert any(a != b for a, b in pairs if is_users(a))
    assert all(is_users(a) == is_users(b) for a, b in pairs)


def is_users(message):
    return not hasattr(message, "policy_version") and message.name == "user"


@settings(max_examples=5)
@given(seed=st.integers(0, 1000))
def test_the_first_episode_of_a_seeded_lane_has_the_words_of_that_lane(seed):
    """Held to the vector of single environments, which has words."""
    envs = make_vec(RETAIL, 2, "Disabled", False, max_steps=4, pool_size=POOL)
    rng = np.random.default_rng(seed)
    observations, infos = envs.reset(seed=seed)
    tasks, taken, over = infos["task_index"].copy(), [], np.zeros(2, bool)
    while not over.any():
        taken.append(some_actions(envs.single_action_space, observations["action_mask"], rng, 1.0))
        observations, _, terminated, truncated, _ = envs.step(taken[-1])
        over = terminated | truncated
    lane = int(np.flatnonzero(over)[0])
    json_env = envs.envs[lane].unwrapped.json_env

    record = from_actions(
        RETAIL,
        json_env.schema.sha256,
        json_env.domain.tasks[int(tasks[lane])].id,
        seed + lane,
        [actions[lane] for actions in taken],
        "v1",
        max_steps=4,
        pool_size=POOL,
    )

    wanted = record_episode(json_env, "arrays", "v1", seed + lane)
    assert record == wanted


# --- What is refused


def test_another_schema_is_refused_and_both_are_named():
    other = single(RETAIL, schema_version="2.0.0").json_env.schema.sha256

    with pytest.raises(ReplayMismatchError, match=rf"schema\.sha256: .* {other}, .* {sha_here()} here"):
        rebuilt(schema_sha256=other)
    with pytest.raises(ReplayMismatchError, match=rf"under {sha_here()}, .* 2\.0\.0 .* {other} here"):
        rebuilt(schema_version="2.0.0")


def sha_here():
    return fortunate()[1].reference.json_env.schema.sha256


def test_actions_that_are_not_those_of_one_whole_episode_are_refused():
    actions = fortunate()[2].actions
    count = len(actions)

    for end in range(count):
        with pytest.raises(UsageError, match=f"The {end} actions end before the episode does"):
            rebuilt(actions=actions[:end])
    with pytest.raises(UsageError, match=f"is over after {count} of the {count + 1} actions"):
        rebuilt(actions=[*actions, 0])


@pytest.mark.parametrize("wrong", [-1, 10_000, 1.0, None, [1, 2], True])
def test_an_action_that_is_none_is_refused_by_its_place(wrong):
    actions = [fortunate()[2].actions[0], wrong]

    with pytest.raises(UsageError, match=r"actions\[1\] of 2: An action is"):
        rebuilt(actions=actions)


@pytest.mark.parametrize(
    ("changes", "error", "problem"),
    [
        ({"task_id": "retail/train/1/3"}, UnknownNameError, "Unknown task id"),
        ({"env_id": "tool_envs/RetailArrays-v0"}, UnknownNameError, r"RetailArray-v0"),
        ({"env_id": "tool_envs/Retail-v0"}, UsageError, "Retail-v0 is no array view"),
        ({"seed": -1}, UsageError, "`seed` is an integer of at least 0, not -1"),
        ({"seed": None}, UsageError, "`seed` is an integer"),
        ({"policy_version": ""}, UsageError, "`policy_version` is empty"),
        ({"reward": 0.0}, ReplayMismatchError, r"the lane had 0\.0, and its actions earn 1\.0 here"),
        ({"words": "blanked"}, UsageError, "words='blanked'"),
        ({"user": "replay"}, UsageError, "no argument `user`"),
        ({"action_form": "multidiscrete"}, UsageError, r"actions\[0\] of \d+: An action is an array"),
    ],
)
def test_what_cannot_be_rebuilt_is_refused(changes, error, problem):
    with pytest.raises(error, match=problem):
        rebuilt(**changes)


# --- Cutting


def steps_of(*episodes, reset_step):
    """The arrays of one lane that had episodes of these lengths; their actions are their numbers."""
    rows = []
    for number, length in enumerate(episodes):
        rows += [(number, k == length - 1, number, k) for k in range(length)]
        rows += [(-1, False, number, length)] * reset_step
    actions, ended, task_index, choices = (np.array(each)[:, None] for each in zip(*rows, strict=True))
    return actions, np.arange(len(rows))[:, None], ended, task_index, choices


@pytest.mark.parametrize("reset_step", [0, 1])
@given(lengths=st.lists(st.integers(1, 5), min_size=1, max_size=6), data=st.data())
def test_whole_episodes_alone_are_cut_out_wherever_the_steps_begin_and_end(reset_step, lengths, data):
    rows = steps_of(*lengths, reset_step=reset_step)
    begin, end = sorted(data.draw(st.tuples(*[st.integers(0, len(rows[0]))] * 2)))

    found = list(episodes_of(*(each[begin:end] for each in rows)))

    starts = [0, *itertools.accumulate(length + reset_step for length in lengths)]
    whole = [k for k, length in enumerate(lengths) if begin <= starts[k] and starts[k] + length <= end]
    assert [each.task_index for each in found] == whole
    assert [each.first + begin for each in found] == [starts[k] for k in whole]
    assert [each.actions.tolist() for each in found] == [[k] * lengths[k] for k in whole]
    assert [each.reward for each in found] == [starts[k] + lengths[k] - 1 for k in whole]


@pytest.mark.parametrize("reset_step", [0, 1])
@given(lengths=st.lists(st.integers(1, 5), min_size=1, max_size=6), data=st.data())
def test_an_episode_that_lacks_a_step_is_left_out_and_no_other_is(reset_step, lengths, data):
    rows = steps_of(*lengths, reset_step=reset_step)
    gone = data.draw(st.integers(0, len(rows[0]) - 1))
    owner = int(rows[0][gone, 0])  # -1: a step with which the lane reset itself

    found = list(episodes_of(*(np.delete(each, gone, axis=0) for each in rows)))

    assert [each.task_index for each in found] == [k for k in range(len(lengths)) if k != owner]
    assert [each.actions.tolist() for each in found] == [
        [k] * lengths[k] for k in range(len(lengths)) if k != owner
    ]


def test_an_episode_that_a_reset_cut_off_is_left_out():
    actions = np.arange(5)[:, None]
    ended = np.array([False, False, False, False, True])[:, None]
    choices = np.array([0, 1, 2, 0, 1])[:, None]

    (found,) = episodes_of(actions, actions, ended, actions, choices)

    assert found.actions.tolist() == [3, 4]
    assert (found.first, found.lane, found.task_index, found.reward) == (3, 0, 3, 4.0)


@pytest.mark.parametrize("place", range(5))
def test_arrays_of_other_shapes_are_refused(place):
    rows = list(steps_of(2, 3, reset_step=0))
    rows[place] = rows[place][1:]

    with pytest.raises(UsageError, match=r"axes \(steps, lanes\); here they are"):
        episodes_of(*rows)


# --- The example


def test_the_example_writes_what_it_prints(tmp_path):
    folder = tmp_path / "runs" / "from_arrays"

    printed = subprocess.check_output(
        [sys.executable, ROOT / "examples" / "array_to_text.py", folder], text=True
    )

    records = list(read_trajectories(folder))
    assert f"{len(records)} conversations" in printed
    assert records
    for record in records:
        replay(record)
        assert record.outcome.reward == 1.0
    for message in records[0].messages:
        assert message.content in printed
        assert all(call.name in printed for call in getattr(message, "tool_calls", ()))
