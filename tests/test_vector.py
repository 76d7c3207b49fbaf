"""Lanes of a vector environment: as Gymnasium's own has them, and each failing for itself."""

import copy
import dataclasses
import functools
import math

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec, WrapperSpec
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers.vector import DictInfoToList, RecordEpisodeStatistics
from hypothesis import given, settings
from hypothesis import strategies as st
from toy_domain import ENV_ID as DESK
from toy_domain import DeskEnv

from tool_envs.env import ToolEnv
from tool_envs.errors import ActionTypeError, EpisodeEndedError, InfrastructureError, UsageError
from tool_envs.vector import ToolVectorEnv

short_desk = functools.partial(ToolVectorEnv, "tool_envs_tests/ShortDesk-v0")
gymnasium.register(
    "tool_envs_tests/ShortDesk-v0",
    entry_point="toy_domain:DeskEnv",
    vector_entry_point="test_vector:short_desk",
    max_episode_steps=4,
)
KWARGS = {
    "tool_envs/Retail-v0": {"difficulty": 1, "max_steps": 9, "process": "sub_goals"},
    "tool_envs/Booking-v0": {"difficulty": 1, "max_steps": 9},
    "tool_envs/TauBench-v0": {"max_steps": 9},
    "tool_envs_tests/ShortDesk-v0": {},
}
LANES = 3
NEXT, SAME, OFF = AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP, AutoresetMode.DISABLED
all_modes = pytest.mark.parametrize("mode", AutoresetMode)
all_ids = pytest.mark.parametrize("env_id", KWARGS)
THINK = {"name": "think", "arguments": {}}
CLOSE = {"name": "close_desk", "arguments": {}}


def desks(mode=NEXT, lanes=LANES, **kwargs):
    return ToolVectorEnv(DESK, lanes, mode.value, **kwargs)


def dead_lines(fails_at, mode=NEXT):
    """Desks whose users cannot be reached any more after so many answers; one for each lane."""
    envs = desks(mode, len(fails_at), user="dead_line")
    return envs, envs.reset(seed=0, options={"fails_at": fails_at})


def bits(value):
    """The value in a form in which `==` sees types, shapes and NaN."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, bits(list(value))
    if isinstance(value, dict):
        return [(key, bits(value[key])) for key in sorted(value)]
    if isinstance(value, list | tuple):
        return type(value), [bits(inner) for inner in value]
    return type(value), repr(value)


# --- As SyncVectorEnv


def gold_action(env: ToolEnv):
    """What solves the task; anything outside of an episode."""
    if env.outcome is not None:
        return "Hello?"
    if env.domain.oracle is not None:
        return env.domain.oracle(env.episode)
    left = env.task.actions[env.episode.steps :]
    if left:
        return {"name": left[0].name, "arguments": left[0].arguments}
    return "; ".join(["Done.", *env.task.facts])


ACTORS = {
    "gold": gold_action,
    "drawn": lambda env: env.action_space.sample(),
    "broken": lambda _: '{"name": "think", "arguments": {',
    "several": lambda env: [env.action_space.sample() for _ in range(2)],
}
seeds = st.integers(0, 2**31)
seedings = st.one_of(st.none(), seeds, st.lists(st.none() | seeds, min_size=LANES, max_size=LANES))
masks = st.lists(st.booleans(), min_size=LANES, max_size=LANES).filter(any)
resets = st.fixed_dictionaries({"seed": seedings, "mask": st.none() | masks})
moves = st.lists(st.just("step") | st.just("step") | st.just("step") | resets, min_size=8, max_size=30)
teams = st.lists(st.sampled_from(sorted(ACTORS)), min_size=LANES, max_size=LANES)


def reset_both(both, seed, mask):
    return [
        envs.reset(seed=seed, options=None if mask is None else {"reset_mask": np.array(mask)})
        for envs in both
    ]


@all_modes
@all_ids
@given(seed=seeds | st.lists(seeds, min_size=LANES, max_size=LANES), moves=moves, team=teams)
@settings(max_examples=12)
def test_the_lanes_give_what_those_of_sync_vector_env_give(env_id, mode, seed, moves, team):
    ours = gymnasium.make_vec(env_id, LANES, autoreset_mode=mode, **KWARGS[env_id])
    theirs = gymnasium.make_vec(
        env_id, LANES, "sync", vector_kwargs={"autoreset_mode": mode}, **KWARGS[env_id]
    )
    both = ours, theirs
    given, wanted = reset_both(both, seed, None)
    assert bits(given) == bits(wanted)
    for lane, env in enumerate(ours.envs):
        env.action_space.seed(lane)
    ended = np.zeros(LANES, dtype=bool)
    for move in moves:
        if move == "step" and mode == OFF and ended.any():
            move = {"seed": None, "mask": ended}
        if move == "step":
            actions = [ACTORS[actor](env.unwrapped) for actor, env in zip(team, ours.envs, strict=True)]
            given, wanted = (envs.step(actions) for envs in both)
            ended = given[2] | given[3]
        else:
            given, wanted = reset_both(both, **move)
            begun = [True] * LANES if move["mask"] is None else move["mask"]
            ended = ended & ~np.array(begun)
        assert bits(given) == bits(wanted)
    assert ours.call("data_digest") == theirs.call("data_digest")
    assert ours.np_random_seed == theirs.np_random_seed


@all_ids
def test_spaces_modes_and_attributes_are_those_of_sync_vector_env(env_id):
    ours = gymnasium.make_vec(env_id, LANES, autoreset_mode="SameStep")
    theirs = gymnasium.make_vec(env_id, LANES, "sync", vector_kwargs={"autoreset_mode": "SameStep"})

    assert type(ours) is ToolVectorEnv
    for name in ("single_action_space", "action_space", "single_observation_space", "observation_space"):
        assert getattr(ours, name) == getattr(theirs, name)
    assert ours.autoreset_mode is ours.metadata["autoreset_mode"] is SAME
    assert ours.get_attr("max_steps") == theirs.get_attr("max_steps")


def test_the_gold_lanes_earn_their_rewards():
    """What the law above compares is not all zeros."""
    envs = gymnasium.make_vec("tool_envs/Retail-v0", LANES, autoreset_mode="SameStep", difficulty=1)
    envs.reset(seed=0)
    rewards = sum(envs.step([gold_action(env.unwrapped) for env in envs.envs])[1] for _ in range(25))

    assert (rewards >= 1).all()


@all_ids
def test_the_spec_goes_through_json(env_id):
    envs = gymnasium.make_vec(env_id, LANES, autoreset_mode="SameStep", **KWARGS[env_id])
    again = gymnasium.make_vec(EnvSpec.from_json(envs.spec.to_json()))

    assert (again.spec, again.num_envs, again.autoreset_mode) == (envs.spec, LANES, SAME)
    assert bits(again.reset(seed=3)) == bits(envs.reset(seed=3))


def test_each_vector_environment_has_its_own_mode():
    """Gymnasium 1.2 keeps it in the metadata of the class."""
    both = [desks(mode) for mode in (SAME, OFF)]

    assert [envs.metadata["autoreset_mode"] for envs in both] == [SAME, OFF]
    assert [envs.envs[0].metadata.get("render_modes") for envs in both] == [["ansi"]] * 2


# --- Options


def test_a_list_gives_each_lane_its_own_value_and_a_scalar_goes_to_all():
    envs = desks()
    ids = ["swap", "where", "lend-emma"]

    assert list(envs.reset(options={"task_id": ids})[1]["task_id"]) == ids
    assert list(envs.reset(options={"task_index": np.array([1, 2, 0])})[1]["task_id"]) == ids
    assert list(envs.reset(options={"task_id": "refuse"})[1]["task_id"]) == ["refuse"] * LANES


def test_options_that_are_lists_themselves_are_given_as_lists_of_lists():
    envs = desks()
    observations, _ = envs.reset(options={"task_index": 0, "user_turns": [["Hi."], ["Hello."], ["Hm."]]})

    assert [observation["content"] for observation in observations] == ["Hi.", "Hello.", "Hm."]


def test_lanes_outside_of_the_mask_take_nothing_from_the_lists():
    envs = desks()
    envs.reset(seed=0, options={"task_id": ["swap", "where", "refuse"]})
    mask = np.array([False, True, False])
    _, infos = envs.reset(options={"reset_mask": mask, "task_id": [None, "lend-emma", None]})

    assert list(infos["_task_id"]) == list(mask)
    assert [task.id for task in envs.get_attr("task")] == ["swap", "lend-emma", "refuse"]


def test_what_the_caller_gave_is_not_changed():
    envs = desks()
    mask, tasks, turns = np.array([True, False, True]), ["swap", "where", "refuse"], [["Hi."], ["Ho."], []]
    options = {"reset_mask": mask, "task_id": tasks, "user_turns": turns}
    actions = [THINK, [THINK, CLOSE], {"role": "assistant", "content": "<think>x</think>Hello?"}]
    before = bits([options, actions])
    envs.reset(seed=0)
    envs.reset(options=options)
    envs.step(actions)

    assert bits([options, actions]) == before
    assert (options["reset_mask"], options["task_id"], options["user_turns"]) == (mask, tasks, turns)


def scribble(value):
    """Spoil everything in a result that can be changed."""
    if isinstance(value, np.ndarray):
        for inner in value if value.dtype == object else ():
            scribble(inner)
        value.fill(None if value.dtype == object else 7)
    elif isinstance(value, dict | list | tuple):
        for inner in value.values() if isinstance(value, dict) else value:
            scribble(inner)
        if not isinstance(value, tuple):
            value.clear()


@all_modes
@given(fails_at=st.lists(st.integers(0, 3), min_size=LANES, max_size=LANES))
def test_what_the_caller_does_to_results_changes_no_later_one(mode, fails_at):
    (plain, kept), (spoilt, other) = (dead_lines(fails_at, mode) for _ in range(2))
    for _ in range(6):
        assert bits(kept) == bits(other)
        scribble(other)
        if mode == OFF and plain.envs[1].ended:
            options = {"reset_mask": np.array([env.ended for env in plain.envs]), "fails_at": 1}
            kept, other = (envs.reset(options=dict(options)) for envs in (plain, spoilt))
        elif mode == OFF and any(env.ended for env in plain.envs):
            kept, other = (envs.reset(options={"fails_at": fails_at}) for envs in (plain, spoilt))
        else:
            kept, other = (envs.step(["Hello?"] * LANES) for envs in (plain, spoilt))


# --- Failures


def of_lane(result, lane):
    """One lane's part of what `step` or `reset` of a `DictInfoToList` gave."""
    return [part[lane] for part in result]


@all_modes
@settings(max_examples=35)
@given(data=st.data())
def test_a_lane_that_fails_harms_no_other(mode, data):
    never = 100
    calm = data.draw(st.lists(st.sampled_from([0, 1, 3, never]), min_size=4, max_size=4))
    stormy = [data.draw(st.sampled_from([0, 1, 2])) if data.draw(st.booleans()) else at for at in calm]
    first, second = (DictInfoToList(dead_lines(fails_at, mode)[0]) for fails_at in (calm, stormy))
    untouched = [lane for lane in range(4) if calm[lane] == stormy[lane]]
    results = [
        first.reset(seed=1, options={"fails_at": calm}),
        second.reset(seed=1, options={"fails_at": stormy}),
    ]
    for _ in range(8):
        assert all(bits(of_lane(results[0], i)) == bits(of_lane(results[1], i)) for i in untouched)
        action = data.draw(st.lists(st.sampled_from(["Hello?", THINK, CLOSE, "{"]), min_size=4, max_size=4))
        results = [step_or_reset(envs, mode, action) for envs in (first, second)]


def step_or_reset(envs, mode, actions):
    """A step; with autoreset disabled the finished lanes start anew before it."""
    ended = np.array([env.ended for env in envs.unwrapped.envs])
    if mode == OFF and ended.any():
        envs.reset(options={"reset_mask": ended})
    return envs.step(actions)


def test_a_failed_step_ends_the_episode_without_a_reward():
    envs, _ = dead_lines([100, 2, 100])
    before = envs.step([THINK, "Hello?", THINK])[0]
    observations, rewards, terminations, truncations, infos = envs.step([THINK, "Still there?", CLOSE])

    assert np.array_equal(rewards, [0.0, math.nan, 0.0], equal_nan=True)
    assert (list(terminations), list(truncations)) == ([False, False, True], [False, True, False])
    assert observations[1] == before[1]
    assert infos["messages"][1] == [{"role": "assistant", "content": "Still there?"}]
    assert list(infos["failure"]) == [None, "The line is dead.", None]
    assert list(infos["_error_code"]) == [True] * 3
    outcome = infos["outcome"]
    assert list(outcome["status"]) == [None, "infrastructure", "completed"]
    assert list(outcome["ended_by"]) == [None, "InfrastructureError", "agent"]
    assert list(outcome["steps"]) == [0, 2, 2]
    assert math.isnan(outcome["reward"][1])
    assert math.isnan(outcome["ledger"]["terminal"][1])


@all_modes
def test_a_failed_start_ends_the_episode_at_its_first_step(mode):
    envs, (observations, infos) = dead_lines([0, 100], mode)

    assert all(observation in envs.single_observation_space for observation in observations)
    assert observations[0]["content"] == ""
    assert (list(infos["failure"]), list(infos["_task_id"])) == (["The line is dead.", None], [False, True])
    assert "outcome" not in infos

    _, rewards, terminations, truncations, infos = envs.step([THINK, THINK])

    assert np.array_equal(rewards, [math.nan, 0.0], equal_nan=True)
    assert (list(terminations), list(truncations)) == ([False, False], [True, False])
    ended = infos["final_info"] if mode == SAME else infos
    assert (list(ended["_outcome"]), ended["outcome"]["status"][0]) == ([True, False], "infrastructure")
    assert (ended["failure"][0], ended["outcome"]["steps"][0]) == ("The line is dead.", 0)


@all_modes
@pytest.mark.parametrize("fails_at", [0, 2])
def test_a_lane_that_failed_is_reset_like_any_other(mode, fails_at):
    envs, _ = dead_lines([fails_at, 100], mode)
    for _ in range(fails_at or 1):
        *_, infos = envs.step(["Hello?", THINK])
    if mode == NEXT:
        _, rewards, _, truncations, infos = envs.step(["This is ignored.", THINK])
        assert (list(rewards), list(truncations)) == ([0.0, 0.0], [False, False])
    elif mode == OFF:
        _, infos = envs.reset(options={"reset_mask": np.array([True, False])})

    assert list(infos["_task_id"]) == [True, False]
    _, rewards, terminations, truncations, _ = envs.step([CLOSE, THINK])
    assert (list(rewards), list(terminations), list(truncations)) == ([0.0] * 2, [True, False], [False] * 2)


def unreachable(*_args, **_kwargs):
    raise InfrastructureError("The machine is down.")


class UnreachableTasks:
    __len__ = __getitem__ = find = unreachable


@pytest.mark.parametrize("part", [{"simulators": {"scripted": unreachable}}, {"tasks": UnreachableTasks()}])
def test_an_outage_that_lasts_gives_failed_episodes_and_no_others(part):
    envs = desks(SAME, render_mode="ansi")
    envs.reset(seed=0)
    inner = envs.envs[1].unwrapped
    inner.domain = dataclasses.replace(inner.domain, **part)
    envs.step([THINK, CLOSE, THINK])
    for _ in range(3):
        _, rewards, _, truncations, infos = envs.step([THINK] * LANES)

        assert np.array_equal(np.isnan(rewards), [False, True, False])
        assert list(truncations) == [False, True, False]
        assert infos["final_info"]["outcome"]["status"][1] == "infrastructure"
        assert infos["failure"][1] == "The machine is down."
        assert [bool(text) for text in envs.render()] == [True, False, True]


def test_numbers_of_other_lanes_stay_numbers():
    envs = ToolVectorEnv("tool_envs/Retail-v0", 2, "SameStep", max_steps=1, process="sub_goals")
    inner = envs.envs[0].unwrapped
    inner.domain = dataclasses.replace(inner.domain, simulators={"agenda": unreachable})
    envs.reset(seed=0)
    *_, infos = envs.step(["Hello?"] * 2)
    outcome = infos["final_info"]["outcome"]

    assert list(outcome["status"]) == ["infrastructure", "truncated"]
    assert bits(outcome["reward"]) == bits(np.array([math.nan, 0.0]))
    assert bits(outcome["ledger"]["terminal"]) == bits(np.array([math.nan, 0.0]))
    assert bits(outcome["ledger"]["process"]) == bits(np.array([0.0, 0.0]))
    assert list(outcome["ledger"]["_process"]) == [False, True]


class BrokenWrapper(gymnasium.Wrapper):
    step = unreachable


gymnasium.register(
    "tool_envs_tests/WrappedDesk-v0",
    entry_point="toy_domain:DeskEnv",
    additional_wrappers=(WrapperSpec("Broken", "test_vector:BrokenWrapper", {}),),
)


def test_a_wrapper_may_fail_too():
    envs = ToolVectorEnv("tool_envs_tests/WrappedDesk-v0")
    envs.reset(seed=0)
    *_, infos = envs.step([THINK])

    assert (infos["outcome"]["status"][0], infos["outcome"]["steps"][0]) == ("infrastructure", 0)


@all_modes
def test_episode_statistics_keep_the_lanes_apart(mode):
    envs = RecordEpisodeStatistics(dead_lines([1, 100], mode)[0])
    envs.reset(seed=0, options={"fails_at": [1, 100]})
    *_, infos = envs.step(["Hello?", THINK])
    assert math.isnan(infos["episode"]["r"][0])

    step_or_reset(envs, mode, [CLOSE, THINK])
    *_, infos = step_or_reset(envs, mode, [CLOSE, CLOSE])
    assert infos["episode"]["r"][infos["_episode"]].tolist() == [0.0] * infos["_episode"].sum()
    assert infos["episode"]["l"][1] == 3


def test_statistics_of_lanes_outside_of_the_mask_go_on():
    envs = RecordEpisodeStatistics(desks(OFF))
    envs.reset(seed=0)
    envs.step([CLOSE, THINK, THINK])
    envs.reset(options={"reset_mask": np.array([True, False, False])})
    *_, infos = envs.step([CLOSE] * LANES)

    assert list(infos["episode"]["l"]) == [1, 2, 2]


def test_lists_of_infos_hold_what_single_environments_give():
    envs = DictInfoToList(desks())
    singles = [DeskEnv() for _ in range(LANES)]

    assert envs.reset(seed=4)[1] == [env.reset(seed=4 + lane)[1] for lane, env in enumerate(singles)]
    for action in (THINK, "{", "Hello?", CLOSE):
        assert envs.step([action] * LANES)[4] == [env.step(action)[4] for env in singles]


# --- Mistakes


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"num_envs": 0}, UsageError, "at least 1, not 0"),
        ({"num_envs": "3"}, UsageError, "not '3'"),
        ({"autoreset_mode": "SameStp"}, UsageError, "Did you mean: `SameStep`?"),
        ({"autoreset_mode": None}, UsageError, "Known: NextStep, SameStep, Disabled"),
        ({"max_stps": 3}, TypeError, "max_stps"),
    ],
)
def test_a_wrong_argument_is_the_callers_mistake(arguments, error, message):
    with pytest.raises(error, match=message):
        gymnasium.make_vec("tool_envs_tests/ShortDesk-v0", **arguments)


def test_another_kind_of_environment_is_refused():
    with pytest.raises(UsageError, match="Expected a `ToolEnv`"):
        ToolVectorEnv("CartPole-v1")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"task_id": ["swap"]}, "`options\\['task_id'\\]` needs a value for each of 3 lanes; got 1"),
        ({"task_index": np.arange(4)}, "got 4"),
        (
            {"reset_mask": np.array([True])},
            "`options\\['reset_mask'\\]` needs a value for each of 3 lanes; got 1",
        ),
        ({"task_index": [0, 1, 9]}, "Unknown task index 9"),
        ({"task": "swap"}, "Did you mean: `task_id`?"),
    ],
)
def test_a_wrong_option_is_the_callers_mistake(options, message):
    with pytest.raises(UsageError, match=message):
        desks().reset(seed=0, options=options)


@pytest.mark.parametrize("actions", [[THINK], [THINK] * 4, "abc", {"a": 1, "b": 2, "c": 3}, None, b"abc"])
@all_modes
def test_wrong_actions_step_no_lane(mode, actions):
    envs = desks(mode)
    envs.reset(seed=0)
    with pytest.raises(UsageError, match=r"one for each lane|needs a value for each"):
        envs.step(actions)

    assert [episode.steps for episode in envs.get_attr("episode")] == [0] * LANES


def test_an_action_that_no_agent_can_have_written_is_no_failure_of_the_lane():
    envs = desks()
    envs.reset(seed=0)
    with pytest.raises(ActionTypeError):
        envs.step([THINK, object(), THINK])


def test_there_is_no_step_without_an_episode():
    envs = desks(OFF, max_steps=2)
    with pytest.raises(EpisodeEndedError, match="Call `reset`"):
        envs.step([THINK] * LANES)

    envs.reset(seed=0)
    envs.step([THINK, CLOSE, [THINK, THINK]])
    with pytest.raises(EpisodeEndedError, match=r"lanes \[1, 2\] are over"):
        envs.step([THINK] * LANES)

    assert envs.get_attr("episode")[0].steps == 1


def test_a_closed_vector_environment_says_so():
    envs = desks()
    envs.reset(seed=0)
    envs.close()
    envs.close()
    for use in (envs.reset, lambda: envs.step([THINK] * LANES)):
        with pytest.raises(UsageError, match="closed"):
            use()


def test_a_copy_goes_on_alike():
    envs = desks(SAME)
    envs.reset(seed=0)
    envs.step([THINK, CLOSE, "{"])
    other = copy.deepcopy(envs)
    actions = ["Hello?", THINK, CLOSE]

    assert bits(other.step(actions)) == bits(envs.step(actions))
