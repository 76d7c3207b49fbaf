"""What the compiled stepper has beside Gymnasium's methods: samples, some lanes alone, snapshots, threads."""

import itertools
import weakref
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from processes import outputs
from stepper_lanes import FORMS, LANES, MODES, bits, lane_bits, make, run, some_actions, state

from tool_envs.arrays.compiled import compiled

forms = pytest.mark.parametrize("form", FORMS)
modes = pytest.mark.parametrize("mode", MODES)
kinds = pytest.mark.parametrize("kind", ["tables", "features"])
seeds = st.integers(0, 2**31)
SHORT = {"max_steps": 4}
"""With so few actions an episode ends every few steps."""


def begun(seed=0, **kwargs):
    envs = make(**{**SHORT, **kwargs})
    envs.reset(seed=seed)
    return envs


# --- Samples


@forms
def test_sampled_actions_are_possible_and_each_choice_as_often_as_any_other(form):
    lanes = 3000
    envs = make(lanes, action_form=form)
    envs.reset(options={"task_index": 3})
    rng = np.random.default_rng(5)
    for _ in range(12):
        masks, actions = envs.action_masks(), envs.sample_actions(rng).reshape(lanes, -1)
        assert (masks == masks[0]).all()
        for allowed, chosen in zip(parts(envs, masks[0]), actions.T, strict=True):
            counts = np.bincount(chosen, minlength=len(allowed))
            assert (counts[~allowed] == 0).all()
            assert chi_squared(counts[allowed]) < 5
        envs.step(np.broadcast_to(actions[0], actions.shape).reshape(envs.action_space.shape))


def parts(envs, mask):
    """The mask of each dimension."""
    sizes = getattr(envs.single_action_space, "nvec", [len(mask)])
    return np.split(mask, np.cumsum(sizes)[:-1])


def chi_squared(counts):
    """How far counts are from equal ones, in standard deviations of the chi-squared statistic."""
    expected, free = counts.sum() / len(counts), len(counts) - 1
    statistic = ((counts - expected) ** 2 / expected).sum()
    return (statistic - free) / np.sqrt(2 * free) if free else 0.0


@forms
def test_samples_are_a_function_of_the_generator(form):
    envs = begun(action_form=form)
    rng, again = np.random.default_rng(1), np.random.default_rng(1)
    first, second = (np.array([envs.sample_actions(each) for _ in range(9)]) for each in (rng, again))

    assert first.dtype == np.int64
    assert np.array_equal(first, second)
    assert not (first == first[0]).all()
    assert first[0].shape == envs.action_space.shape


# --- Some lanes alone


@modes
@forms
@settings(max_examples=10)
@given(seed=seeds, order=st.permutations(range(LANES)), count=st.integers(1, LANES))
def test_a_step_of_some_lanes_is_that_of_all_for_these_and_none_for_the_others(
    form, mode, seed, order, count
):
    whole, some = (begun(seed, action_form=form, autoreset_mode=mode) for _ in range(2))
    rng, lanes, others = np.random.default_rng(seed), order[:count], order[count:]
    for _ in range(12):
        actions = some_actions(whole, rng, 0.9)
        before = [state(some, [lane]) for lane in others]
        wanted = whole.step(actions)
        given = some.step_subset(lanes, actions[lanes])
        assert [lane_bits(given[0], place) for place in range(count)] == [
            lane_bits(wanted[0], lane) for lane in lanes
        ]
        assert bits(given[1:4]) == bits([values[lanes] for values in wanted[1:4]])
        assert [info_bits(given[4], lane) for lane in lanes] == [info_bits(wanted[4], lane) for lane in lanes]
        assert not any(given[4][name][others].any() for name in given[4] if name.startswith("_"))
        assert [state(some, [lane]) for lane in others] == before
        over = wanted[2] | wanted[3]
        if mode == "Disabled" and over[lanes].any():
            both = np.isin(range(LANES), lanes) & over
            whole.reset(options={"reset_mask": both})
            some.reset(options={"reset_mask": both})
        if mode == "Disabled" and over[others].any():
            break


def info_bits(infos, lane):
    """What infos hold of a lane; a lane without an end of an episode has none, whatever the others have."""
    found = {
        name: info_bits(values, lane) if isinstance(values, dict) else bits(values[lane])
        for name, values in infos.items()
        if not name.startswith("_") and infos[f"_{name}"][lane]
    }
    return {name: value for name, value in found.items() if value != {}}


# --- Snapshots


@forms
@modes
@pytest.mark.parametrize("pool_size", [24, None])
@settings(max_examples=4)
@given(seed=seeds)
def test_all_goes_on_from_a_snapshot_as_it_did_before(form, mode, pool_size, seed):
    envs = begun(seed, action_form=form, autoreset_mode=mode, pool_size=pool_size)
    steps = 3 if mode == "Disabled" else 12  # none ends so soon
    if mode != "Disabled":
        run(envs, seed, 17)
    snapshot = envs.snapshot()
    first = run(envs, seed, steps)
    for _ in range(2):
        envs.restore(snapshot)
        assert run(envs, seed, steps) == first


@forms
@pytest.mark.parametrize("pool_size", [24, None])
@settings(max_examples=5)
@given(seed=seeds, places=st.permutations(range(LANES)), count=st.integers(1, LANES))
def test_lanes_go_on_in_other_lanes_of_another_environment(form, pool_size, seed, places, count):
    kwargs = {"action_form": form, "pool_size": pool_size}
    source, target = begun(seed, **kwargs), begun(seed + 1, num_envs=LANES + 1, **kwargs)
    run(source, seed, 7)
    run(target, seed, 5)
    lanes, goals = list(range(count)), [place + 1 for place in places[:count]]
    others = sorted(set(range(LANES + 1)) - set(goals))
    before = [state(target, [lane]) for lane in others]
    target.restore(source.snapshot(lanes), goals)
    assert [state(target, [lane]) for lane in others] == before
    rng = np.random.default_rng(seed)
    for _ in range(25):
        actions = some_actions(source, rng, 0.95)[lanes]
        wanted, given = source.step_subset(lanes, actions), target.step_subset(goals, actions)
        assert bits(given[:4]) == bits(wanted[:4])
        assert [info_bits(given[4], goal) for goal in goals] == [info_bits(wanted[4], lane) for lane in lanes]


def test_a_snapshot_goes_to_the_first_lanes_where_none_are_named():
    source, target = begun(1), begun(2)
    target.restore(source.snapshot([3, 1]))

    assert state(target, [0, 1]) == state(source, [3, 1])


# --- Arrays


def arrays_of(value):
    """All arrays in what a call gave."""
    inner = list(value.values()) if isinstance(value, dict) else value
    if isinstance(inner, tuple | list) or getattr(inner, "dtype", np.dtype(int)).kind == "O":
        for each in inner:
            yield from arrays_of(each)
    if isinstance(value, np.ndarray):
        yield value


@kinds
@modes
def test_what_was_given_stays_as_it_is(kind, mode):
    envs = begun(observation=kind, autoreset_mode=mode)
    rng = np.random.default_rng(0)
    kept = [envs.reset(seed=1), envs.action_masks(), envs.step(some_actions(envs, rng))]
    kept += [envs.step_subset([2, 0], some_actions(envs, rng)[[2, 0]]), envs.sample_actions(rng)]
    before = bits(kept)
    run(envs, 0, 2)
    envs.reset(seed=2)

    assert bits(kept) == before


@kinds
@modes
def test_what_is_done_to_given_arrays_changes_nothing(kind, mode):
    envs, untouched = (begun(observation=kind, autoreset_mode=mode) for _ in range(2))
    for each in (envs, untouched):
        rng, given = np.random.default_rng(0), [each.reset(seed=1), each.action_masks()]
        for _ in range(3):
            given.append(each.step(each.sample_actions(rng)))
        given += [each.step_subset([1], each.sample_actions(rng)[[1]]), each.snapshot().kept]
        for array in arrays_of(given) if each is envs else ():
            array[...] = None if array.dtype == object else 1
    steps = 20 if mode != "Disabled" else 0

    assert state(envs) == state(untouched)
    assert run(envs, 4, steps) == run(untouched, 4, steps)


def one_table(envs, rng):
    return envs.step(envs.sample_actions(rng))[0]["methods"]


def test_what_nobody_holds_is_given_again():
    envs, rng = begun(), np.random.default_rng(0)
    given = [weakref.ref(one_table(envs, rng).base) for _ in range(12)]

    assert all(each() is not None for each in given)
    assert len({id(each()) for each in given}) == 2


def test_what_somebody_holds_a_part_of_is_theirs():
    envs, rng = begun(), np.random.default_rng(0)
    parts = [one_table(envs, rng)[1:, 0] for _ in range(8)]
    before = bits(parts)
    for _ in range(12):
        one_table(envs, rng)

    assert bits(parts) == before
    assert not any(np.shares_memory(*pair) for pair in itertools.combinations(parts, 2))


@kinds
@forms
def test_without_copies_each_call_gives_the_same(form, kind):
    kwargs = {"action_form": form, "observation": kind, "autoreset_mode": "SameStep"}
    assert run(begun(copy=False, **kwargs), 3, 40) == run(begun(copy=True, **kwargs), 3, 40)


@forms
def test_actions_may_be_any_array_of_integers(form):
    envs, others = begun(action_form=form), begun(action_form=form)
    rng = np.random.default_rng(0)
    for make_other in (strided, read_only, np.ndarray.tolist, lambda given: given.astype(np.uint8)):
        actions = envs.sample_actions(rng)
        assert bits(others.step(make_other(actions))) == bits(envs.step(actions))


def strided(actions):
    return np.repeat(actions, 2, axis=0)[::2]


def read_only(actions):
    frozen = actions.copy()
    frozen.flags.writeable = False
    return frozen


def test_no_kind_of_array_is_compiled_for_itself():
    envs = begun()
    for make_other in (strided, read_only):
        envs.step(make_other(envs.sample_actions(np.random.default_rng(0))))
    signatures = compiled(envs.reference.json_env.domain.rows.run_choices).signatures

    assert len({actions for *_, actions in signatures}) == 1


# --- Threads and processes


@forms
@modes
def test_threads_change_nothing(form, mode):
    kwargs = {"action_form": form, "autoreset_mode": mode, "num_envs": 9}
    steps = 60 if mode != "Disabled" else 3
    shared = begun(threads=2, **kwargs)

    assert run(shared, 3, steps) == run(begun(**kwargs), 3, steps)
    shared.close()


CODE = """
import sys
sys.path[:0] = sys.argv[1:2]
from stepper_lanes import make, run
for form in ("sequential", "multidiscrete"):
    envs = make(action_form=form, max_steps=4, autoreset_mode="SameStep")
    envs.reset(seed=7)
    print(run(envs, 7, 30))
"""


def test_each_process_plays_the_same():
    (output,) = outputs(CODE, Path(__file__).parent)
    assert output
