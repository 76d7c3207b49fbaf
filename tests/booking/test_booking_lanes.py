"""The airline's compiled stepper goes with the reference, bit for bit."""

import os
import subprocess
import sys
from pathlib import Path

import gymnasium
import numpy as np
from booking_array_play import random_play
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sweeping import only_in_sweep

import tool_envs  # noqa: F401 - registers the ids
from tool_envs.array_view import SKIPPED
from tool_envs.booking.wishes import FAMILIES

ID = "tool_envs/BookingArray-v0"
LANES = 4
scripts = st.fixed_dictionaries(
    {
        "index": st.integers(0, 500 * len(FAMILIES) - 1),
        "seed": st.integers(0, 2**32 - 1),
        "rightly": st.sampled_from([0.0, 0.5, 0.9, 1.0]),
    }
)


@only_in_sweep
@settings(max_examples=25)
@given(
    scripts=st.lists(scripts, min_size=LANES, max_size=LANES),
    mask=st.sampled_from(["policy", "schema"]),
    difficulty=st.sampled_from([1, 2, 3, 4, 5]),
)
def test_lanes_go_with_the_reference_one_choice_at_a_time(scripts, **kwargs):
    follow(scripts, action_form="sequential", schema_version="1.1.0", **kwargs)


IN_PYTHON = """
import sys
sys.path[:0] = sys.argv[1:]
from booking_array_play import VERSIONS
from test_booking_lanes import follow
for form in ("sequential", "multidiscrete"):
    for first, version in enumerate(VERSIONS):
        scripts = [{"index": 4 * first + lane, "seed": lane, "rightly": 0.9} for lane in range(4)]
        follow(scripts, action_form=form, mask="policy", difficulty=3, schema_version=version)
"""


def test_lanes_go_with_it_in_both_forms_without_the_compiler():
    command = [sys.executable, "-c", IN_PYTHON, *map(str, Path(__file__).parents[:2])]
    subprocess.run(command, env={**os.environ, "NUMBA_DISABLE_JIT": "1"}, check=True)


def follow(scripts, **kwargs):
    """Play scripts in lanes and in single environments, and hold these against each other."""
    kwargs = {"split": "test", **kwargs}
    envs = gymnasium.make_vec(ID, LANES, autoreset_mode="Disabled", pool_size=None, **kwargs).unwrapped
    singles = [gymnasium.make(ID, **kwargs).unwrapped for _ in range(LANES)]
    left = [actions_of(envs.reference.form, script, **kwargs) for script in scripts]
    tasks = [script["index"] for script in scripts]
    observations, _ = envs.reset(seed=0, options={"task_index": tasks})
    for lane, (env, index) in enumerate(zip(singles, tasks, strict=True)):
        single, _ = env.reset(seed=lane, options={"task_index": index})
        assert_same_lane(observations, lane, single)
    while running := [lane for lane in range(LANES) if left[lane]]:
        actions = [left[lane].pop(0) for lane in running]
        came = envs.step_subset(running, np.array(actions))
        for number, lane in enumerate(running):
            single, *end, info = singles[lane].step(actions[number])
            assert_same_lane(came[0], number, single)
            assert [values[number] for values in came[1:4]] == end
            assert {name: came[4][name][lane] for name in info} == info
            assert any(end[1:]) == (not left[lane])


def actions_of(form, script, *, difficulty, schema_version, split, mask, action_form):
    """The actions of a random play in that form."""
    play = random_play(**script, difficulty=difficulty, level=mask, version=schema_version, split=split)
    chosen = [action for _, action in play]
    if action_form == "multidiscrete":
        return [whole_action(form, *each) for each in chosen]
    return [choice for each in chosen for choice in single_choices(form, *each)]


def single_choices(form, verb, choices):
    slots = form.layout.verbs[verb].slots
    made = [(slot, choice) for slot, choice in zip(slots, choices, strict=True) if choice != SKIPPED]
    return [verb, *(form.sources[slot.source] + choice for slot, choice in made)]


def whole_action(form, verb, choices):
    action = [verb] + [0] * len(form.layout.slots)
    for slot, choice in zip(form.layout.verbs[verb].slots, choices, strict=True):
        action[1 + form.layout.slots.index(slot)] = max(choice, 0)
    return action


def assert_same_lane(observations, lane, single):
    assert list(observations) == list(single)
    for name, table in single.items():
        assert observations[name].dtype == table.dtype
        assert_array_equal(observations[name][lane], table, strict=True, err_msg=name)
