"""The store's episodes as rows, in Python alone and compiled, show, end and earn what the reference does."""

import os
import subprocess
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from retail_array_play import VERSIONS, new_play, random_play

from tool_envs.array_rows import ENDED, Play
from tool_envs.array_view import SKIPPED
from tool_envs.retail.arrays import slot_role, verb_code, verb_tool
from tool_envs.retail.rows import MAX_ORDERS
from tool_envs.retail.scene.choices import choose
from tool_envs.retail.scene.sight import NONE, open_draft
from tool_envs.retail.stepper.sentences import book
from tool_envs.retail.stepper.turns import act
from tool_envs.retail.wishes import FAMILIES

ID = "tool_envs/RetailArray-v0"
DIFFICULTIES = (1, 2, 3, 4, 5)

random_plays = st.builds(
    random_play,
    index=st.integers(0, 500 * len(FAMILIES) - 1),
    difficulty=st.sampled_from(DIFFICULTIES),
    seed=st.integers(0, 2**32 - 1),
    rightly=st.sampled_from([0.0, 0.5, 0.9, 1.0]),
    level=st.sampled_from(["policy", "schema"]),
    version=st.sampled_from(VERSIONS),
)


class RowPlay:
    """The episode of a `retail_array_play.Play` once more, in rows.

    Args:
        play: It.
    """

    def __init__(self, play):
        self._layout, self._shelves = play.layout, play.scene.memory.shelves
        self._rows = play.env.domain.rows
        self._errand, self.lane = self._rows.make(play.env.task, play.env.task)

    def take(self, verb, chosen):
        """Carries an action out; returns whether it ended the episode."""
        form = self._layout.verbs[verb]
        self.lane.draft = open_draft(verb_tool(form))
        for slot, choice in zip(form.slots, chosen, strict=True):
            self._choose(slot, NONE if slot.ends(choice) else choice)
        code = verb_code(form)
        return bool(act(self.lane, self._errand, self._shelves, book(), code, self._rows.work) & ENDED)

    def _choose(self, slot, choice):
        choose(self.lane.sight, self._shelves, self.lane.draft, *slot_role(slot), choice)


def fields(row):
    return {name: getattr(row, name) for name in row.__struct_fields__}


def shown(sight):
    """All that was shown, and nothing of a sight that was not."""
    scene, customer = sight.scene, sight.customer
    orders = {
        f"order {place}": shown_order(sight.orders[place])
        for place in range(MAX_ORDERS)
        if scene.order_seen[place]
    }
    return {
        **fields(scene),
        **orders,
        "customer": (
            customer.methods,
            customer.method_kind,
            customer.balance,
            customer.held,
            customer.orders,
        ),
        "proposed": sight.proposed.values() if sight.proposed.tool >= 0 else None,
    }


def shown_order(order):
    count = order.transactions
    return {
        "status": order.status,
        "items": order.items[: order.item_count],
        "kinds": order.transaction_kind[:count],
        "amounts": order.transaction_amount[:count],
        "methods": order.transaction_method[:count],
        "asked": sorted(order.asked),
        "asked_new": sorted(order.asked_new),
        "asked_method": order.asked_method,
        "asked_difference": order.asked_difference,
    }


def is_ended(play):
    """Whether the customer or the agent has ended the episode, and not the limit of actions."""
    return play.env.outcome is not None and play.env.outcome.status == "completed"


def strayed_play(index, difficulty, seed, version):
    """An episode of the oracle's actions but for a few: it repeats, writes unasked or proposes at random."""
    rng, play, last = np.random.default_rng(seed), new_play(index, difficulty, version), None
    while not play.over:
        action = play.some_action(rng, 1.0, "schema")
        name = play.layout.verbs[action[0]].name
        match rng.integers(12):
            case 0 if last and play.path_is_allowed("schema", *last):
                action = last
            case 1 if name.startswith("propose_"):
                write = play.number(name.removeprefix("propose_")), action[1]
                action = write if play.path_is_allowed("schema", *write) else action
            case 2:
                action = proposal(play, rng) or action
        play.take(*action)
        last = action
        yield play, action


def proposal(play, rng):
    """A random proposal; None when none is drawn soon."""
    drawn = (play.random_action(rng, "schema") for _ in range(30))
    return next((each for each in drawn if play.layout.verbs[each[0]].name.startswith("propose_")), None)


strayed_plays = st.builds(
    strayed_play,
    index=st.integers(0, 500 * len(FAMILIES) - 1),
    difficulty=st.sampled_from(DIFFICULTIES),
    seed=st.integers(0, 2**32 - 1),
    version=st.sampled_from(VERSIONS),
)


@settings(max_examples=400)
@given(random_plays | strayed_plays | strayed_plays)
def test_rows_show_end_and_earn_what_the_reference_does(play):
    follow_in_rows(play)


def test_an_address_that_nobody_may_write_can_be_written():
    """Then the customer is not found any more by the zip code that they tell."""
    follow_in_rows(random_play(1884, 3, 21548, rightly=0.5, level="schema", version="1.1.0"))


def follow_in_rows(play):
    """Play an episode in rows, and hold them against it after each action."""
    rows = None
    for at, action in play:
        if rows is None:
            rows = RowPlay(at)
            assert shown(rows.lane.sight) == shown(at.new_scene().memory.sight)
        ended = rows.take(*action)
        assert shown(rows.lane.sight) == shown(at.sight)
        assert ended == is_ended(at)
        assert rows.lane.reward * ended == at.reward


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("difficulty", DIFFICULTIES)
def test_the_oracle_earns_the_reward_in_rows(difficulty, version):
    for index in range(len(FAMILIES)):
        play = new_play(index, difficulty, version)
        rows, ended = RowPlay(play), False
        while not play.over:
            action = play.oracle_choices()
            play.take(*action)
            ended = rows.take(*action)
        assert (ended, rows.lane.reward) == (True, 1)


# --- Compiled


LANES = 4
scripts = st.fixed_dictionaries(
    {
        "index": st.integers(0, 500 * len(FAMILIES) - 1),
        "seed": st.integers(0, 2**32 - 1),
        "rightly": st.sampled_from([0.5, 0.9, 1.0]),
    }
)


@settings(max_examples=15)
@given(
    scripts=st.lists(scripts, min_size=LANES, max_size=LANES),
    action_form=st.sampled_from(["sequential", "multidiscrete"]),
    mask=st.sampled_from(["policy", "schema"]),
    difficulty=st.sampled_from(DIFFICULTIES),
    schema_version=st.sampled_from(VERSIONS),
)
def test_lanes_go_with_the_reference_through_episodes_that_are_played_well(scripts, **kwargs):
    follow(scripts, **kwargs)


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


IN_PYTHON = """
import sys
sys.path.insert(0, sys.argv[1])
from test_retail_stepper import follow
for form in ("sequential", "multidiscrete"):
    for first in (0, 4, 8, 12):
        scripts = [{"index": first + lane, "seed": lane, "rightly": 0.9} for lane in range(4)]
        follow(scripts, action_form=form, mask="policy", difficulty=3, schema_version="1.1.0")
"""


def test_they_do_so_without_the_compiler():
    command = [sys.executable, "-c", IN_PYTHON, str(Path(__file__).parent)]
    subprocess.run(command, env={**os.environ, "NUMBA_DISABLE_JIT": "1"}, check=True)


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


def test_a_lane_has_at_most_two_kilobytes():
    rows = new_play(0).env.domain.rows

    assert np.dtype(rows.lane.numpy_dtype()).itemsize + np.dtype(Play.numpy_dtype()).itemsize <= 2048
