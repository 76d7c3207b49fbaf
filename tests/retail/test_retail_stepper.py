"""The store's episodes as rows, in Python alone, show, end and earn what the reference does."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from retail_array_play import VERSIONS, new_play, random_play

from tool_envs.array_steps import ENDED, Play
from tool_envs.retail.arrays import slot_role, verb_code, verb_tool
from tool_envs.retail.rows import MAX_ORDERS
from tool_envs.retail.scene.choices import choose
from tool_envs.retail.scene.sight import NONE, open_draft
from tool_envs.retail.stepper.sentences import book
from tool_envs.retail.stepper.turns import act
from tool_envs.retail.wishes import FAMILIES

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
        self._errand, self.lane = self._rows.make(play.env.task)

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


@settings(max_examples=250)
@given(random_plays)
def test_rows_show_end_and_earn_what_the_reference_does(play):
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


def test_a_lane_has_at_most_two_kilobytes():
    rows = new_play(0).env.domain.rows

    assert np.dtype(rows.lane.numpy_dtype()).itemsize + np.dtype(Play.numpy_dtype()).itemsize <= 2048
