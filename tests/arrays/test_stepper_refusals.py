"""What the compiled stepper refuses: it names the value and the way out, and changes nothing."""

import functools

import gymnasium
import numpy as np
import pytest
from stepper_lanes import FORMS, LANES, make, run, state

from tool_envs.arrays.vector import ArrayVectorEnv
from tool_envs.errors import EpisodeEndedError, UnknownNameError, UsageError

WIDTH = 9
"""Dimensions of the form `multidiscrete`."""
INSTANT = {"autoreset_mode": "Disabled", "max_steps": 1, "mask": "schema"}


def begun(seed=0, **kwargs):
    envs = make(**kwargs)
    envs.reset(seed=seed)
    return envs


def refuses(envs, use, problem, kind=UsageError):
    """Requires a refusal, after which all is as it was and goes on as it would have."""
    before, seeds = state(envs), envs.np_random_seed
    snapshot, masks = envs.snapshot(), envs.action_masks()
    with pytest.raises(kind, match=problem):
        use(envs)
    assert (state(envs), envs.np_random_seed) == (before, seeds)
    assert np.array_equal(envs.action_masks(), masks)
    came = played(envs)
    envs.restore(snapshot)
    assert played(envs) == came


def played(envs):
    """What follows: a few steps, and the tasks of the next episodes."""
    steps = run(envs, 3, 4)
    return steps, [envs.reset()[1]["task_index"].tolist() for _ in range(3)]


# --- Actions


BAD_FORMS = {
    "too few": np.zeros(LANES - 1, int),
    "too many": np.zeros(LANES + 1, int),
    "one": 0,
    "another axis": np.zeros((LANES, 1), int),
    "reals": np.zeros(LANES),
    "bools": np.zeros(LANES, bool),
    "words": list("more"),
    "none": None,
    "one is none": [0, 0, 0, None],
    "a dict": {},
    "of several lengths": [[0], [0, 1], [0], [0]],
    "too large for 64 bits": [0, 0, 0, 2**70],
}


@pytest.mark.parametrize("name", BAD_FORMS)
def test_actions_of_another_form(name):
    refuses(begun(), lambda envs: envs.step(BAD_FORMS[name]), r"Actions are integers of shape \(4,\), not ")


@pytest.mark.parametrize("shape", [(LANES,), (WIDTH, LANES), (LANES, WIDTH - 1), (LANES, WIDTH + 1), ()])
def test_whole_actions_of_another_shape(shape):
    envs = begun(action_form="multidiscrete")
    refuses(envs, lambda envs: envs.step(np.zeros(shape, int)), r"integers of shape \(4, 9\), not int64 of")


@pytest.mark.parametrize(
    ("actions", "named"),
    [
        (np.array([0, 0, 0, -1]), "-1"),
        (np.array([0, 118, 0, 0]), "118"),
        (np.array([-128, 0, 0, 0], np.int8), "-128"),
        (np.array([0, 0, 0, 2**63], np.uint64), str(2**63)),
        (np.array([2**62, 0, 0, 0]), str(2**62)),
    ],
)
def test_an_action_that_is_out_of_range(actions, named):
    refuses(begun(), lambda envs: envs.step(actions), f"An action is an integer from 0 to 117, .*not {named}")


@pytest.mark.parametrize("lane", [0, LANES - 1])
@pytest.mark.parametrize("dimension", range(WIDTH))
@pytest.mark.parametrize("below", [False, True])
def test_a_whole_action_that_is_out_of_range_in_one_dimension(lane, dimension, below):
    envs = whole_lanes()
    actions = np.zeros((LANES, WIDTH), int)
    actions[lane, dimension] = -1 if below else envs.single_action_space.nvec[dimension]
    wrong = ", ".join(map(str, actions[lane]))
    refuses(envs, lambda envs: envs.step(actions), rf"each in its dimension, not \[{wrong}\]")


@functools.cache
def whole_lanes():
    return begun(action_form="multidiscrete")


# --- When there is nothing to step


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_a_step_before_the_first_reset(form, mode):
    envs = make(action_form=form, autoreset_mode=mode)
    before = state(envs)
    actions = np.zeros(envs.action_space.shape, int)
    with pytest.raises(EpisodeEndedError, match="Call `reset` first"):
        envs.step(actions)
    with pytest.raises(EpisodeEndedError, match="Call `reset` first"):
        envs.step_subset([1], actions[:1])
    with pytest.raises(EpisodeEndedError, match="Call `reset` first"):
        envs.sample_actions(np.random.default_rng(0))
    assert state(envs) == before


def test_a_step_of_a_lane_that_was_left_out_of_the_first_reset():
    envs = make()
    envs.reset(seed=0, options={"reset_mask": np.array([True, False, True, True])})
    with pytest.raises(EpisodeEndedError, match="Call `reset` first"):
        envs.step(np.zeros(LANES, int))
    envs.step_subset([0, 2, 3], np.zeros(3, int))


@pytest.mark.parametrize(
    "use",
    [
        lambda envs: envs.step(np.zeros(LANES, int)),
        lambda envs: envs.step_subset([0], [0]),
        lambda envs: envs.reset(),
    ],
)
@pytest.mark.parametrize("threads", [1, 2])
def test_nothing_works_after_close(use, threads):
    envs = begun(threads=threads)
    envs.close()
    envs.close()
    with pytest.raises(UsageError, match=r"closed\. Make another one"):
        use(envs)


def test_a_step_of_a_lane_that_is_over():
    envs = begun(**INSTANT)
    over = np.zeros(LANES, bool)
    while not over.any() or over.all():
        _, _, terminated, truncated, _ = envs.step_subset(
            [2], envs.sample_actions(np.random.default_rng(0))[[2]]
        )
        over[2] = terminated[0] | truncated[0]
    before = state(envs)
    for use in (lambda: envs.step(np.zeros(LANES, int)), lambda: envs.step_subset([0, 2], [0, 0])):
        with pytest.raises(EpisodeEndedError, match=r"lanes \[2\] are over.*reset\(options="):
            use()
    assert state(envs) == before
    envs.reset(options={"reset_mask": over})
    envs.step(np.zeros(LANES, int))


# --- Resets


@pytest.mark.parametrize(
    "mask",
    [
        [True] * LANES,
        np.zeros(LANES, bool),
        np.ones(LANES - 1, bool),
        np.ones((LANES, 1), bool),
        np.ones(LANES, int),
        True,
        "all",
    ],
)
def test_a_mask_of_another_form(mask):
    options = {"reset_mask": mask}
    refuses(
        begun(), lambda envs: envs.reset(options=options), r"bool array of shape \(4,\) with a True, not "
    )


@pytest.mark.parametrize("pool_size", [24, None])
@pytest.mark.parametrize(
    "index",
    [
        24,
        -1,
        2**30,
        2**70,
        1.0,
        True,
        "swap",
        [0, 1],
        [0, 0, 0, -1],
        [0, 0, 0, None],
        [[0] * LANES],
        [[0], [0, 1]],
    ],
)
def test_a_task_that_there_is_not(index, pool_size):
    if pool_size is None and index == 24:
        index = 2**31  # there are more
    envs, options = begun(pool_size=pool_size), {"task_index": index}
    refuses(envs, lambda envs: envs.reset(options=options), "int from 0 to .*, or one for each lane, not ")
    refuses(envs, lambda envs: envs.reset(seed=5, options=options), "or one for each lane, not ")


def test_an_unknown_option_of_reset():
    with pytest.raises(UnknownNameError, match=r"'task_id'\. Did you mean: `task_index`"):
        begun().reset(options={"task_id": "swap"})
    refuses(
        begun(), lambda envs: envs.reset(seed=5, options={"user_turns": []}), "Known: reset_mask, task_index"
    )


@pytest.mark.parametrize("seed", [[0], [0] * (LANES + 1), 1.5, np.zeros(3, int)])
def test_another_number_of_seeds(seed):
    refuses(begun(), lambda envs: envs.reset(seed=seed), "Seeds are an int, or one for each of 4 lanes, not ")


@pytest.mark.parametrize("seed", [-1, [0, 1, 2, -1], [0, 1, 2, "x"], [0, 1, 2, 1.5]])
def test_seeds_that_gymnasium_refuses(seed):
    refuses(begun(), lambda envs: envs.reset(seed=seed), "Seed must be ", gymnasium.error.Error)


# --- Lanes and snapshots


@pytest.mark.parametrize(
    "lanes",
    [[LANES], [-1], [0, 0], [0.0], [], 0, [True], "a", [[0]], [2**70], [None], [[0], [0, 1]]],
)
def test_lanes_that_there_are_not(lanes):
    envs, actions = begun(), [0] * (len(lanes) if isinstance(lanes, list) else 1)
    snapshot, problem = begun(1).snapshot([0]), "Lanes are numbers from 0 to 3, each once, not "
    refuses(envs, lambda envs: envs.step_subset(lanes, actions), problem)
    refuses(envs, lambda envs: envs.snapshot(lanes), problem)
    refuses(envs, lambda envs: envs.restore(snapshot, lanes), problem)


def test_actions_of_another_number_of_lanes():
    refuses(begun(), lambda envs: envs.step_subset([0, 1], [0]), r"integers of shape \(2,\), not int64")


@pytest.mark.parametrize("lanes", [[0], [0, 1, 2]])
def test_a_snapshot_of_another_number_of_lanes(lanes):
    snapshot = begun(1).snapshot([0, 1])
    refuses(begun(), lambda envs: envs.restore(snapshot, lanes), "holds 2 lanes, not ")


def test_a_snapshot_of_too_many_lanes():
    snapshot = begun(1).snapshot()
    refuses(begun(num_envs=LANES - 1), lambda envs: envs.restore(snapshot), "holds 4 lanes, not ")


@pytest.mark.parametrize(
    "other",
    [
        {"pool_size": 3},
        {"pool_size": None},
        {"action_form": "multidiscrete"},
        {"mask": "schema"},
        {"max_steps": 4},
        {"difficulty": 1},
        {"schema_version": "1.1.0"},
        {"split": "test"},
    ],
)
def test_a_snapshot_of_an_environment_with_other_arguments(other):
    """Its tasks may not be there, and its rows may be others."""
    snapshot = begun(**other).snapshot()
    refuses(begun(), lambda envs: envs.restore(snapshot), "restore it in one with the same arguments")


def test_a_step_of_lanes_that_a_snapshot_took_back_to_before_their_first_episode():
    envs, fresh = begun(), make().snapshot()
    envs.step(envs.sample_actions(np.random.default_rng(0)))
    envs.restore(fresh)

    with pytest.raises(EpisodeEndedError, match="Call `reset` first"):
        envs.step([0] * LANES)


def test_what_is_no_snapshot():
    refuses(begun(), lambda envs: envs.restore(3), "A snapshot is what `snapshot` gave, not 3")


# --- Arguments


@pytest.mark.parametrize("name", ["num_envs", "threads", "pool_size"])
@pytest.mark.parametrize("value", [0, -1, True, 2.0, "2"])
def test_numbers_that_are_none(name, value):
    with pytest.raises(UsageError, match=f"`{name}` is a number .*, not {value!r}"):
        make(**{name: value})


@pytest.mark.parametrize(
    ("kwargs", "problem"),
    [
        ({"autoreset_mode": "SameStp"}, "autoreset_mode 'SameStp'. Did you mean: `SameStep`"),
        ({"action_form": "flat"}, "action form 'flat'. Known: sequential, multidiscrete"),
        ({"mask": "none"}, "mask 'none'. Known: policy, schema"),
        ({"observation": "table"}, "'table'. Did you mean: `tables`"),
        ({"difficulty": 9}, "difficulty 9. Known: 1, 2"),
        ({"split": "tset"}, "split 'tset'. Did you mean: `test`"),
        ({"schema_version": "1.0.1"}, "'1.0.1'. Did you mean: `1.0.0`"),
        ({"dificulty": 2}, "argument of tool_envs/Retail-v0 'dificulty'. Did you mean: `difficulty`"),
    ],
)
def test_unknown_values_and_names_of_arguments(kwargs, problem):
    with pytest.raises(UnknownNameError, match=problem):
        make(**kwargs)


@pytest.mark.parametrize("name", ["user", "render_mode"])
def test_arguments_that_only_others_have(name):
    with pytest.raises(UsageError, match=f"no argument `{name}`"):
        make(**{name: "ansi"})


@pytest.mark.parametrize("env_id", ["tool_envs/TauBench-v0", "CartPole-v1"])
def test_an_environment_that_has_no_stepper(env_id):
    with pytest.raises(UsageError, match=f"{env_id} has no compiled stepper.*vectorization_mode"):
        ArrayVectorEnv(env_id, 2)


def test_an_id_that_there_is_not():
    with pytest.raises(gymnasium.error.NameNotFound, match="`Retial`"):
        ArrayVectorEnv("tool_envs/Retial-v0", 2)
