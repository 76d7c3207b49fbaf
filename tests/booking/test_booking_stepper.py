"""The airline's episodes as rows, in Python alone: what was shown, the end and reward are the reference's."""

import numpy as np
import pytest
from booking_array_play import VERSIONS, new_play, random_play
from hypothesis import given, settings
from hypothesis import strategies as st

from tool_envs.array_rows import ENDED, OPENED, Play
from tool_envs.array_view import SKIPPED, skip
from tool_envs.booking.arrays import slot_role, verb_code, verb_tool
from tool_envs.booking.dates import DAYS
from tool_envs.booking.rows import AVAILABLE
from tool_envs.booking.scene.blank import (
    open_draft,
)
from tool_envs.booking.scene.choices import choose
from tool_envs.booking.scene.sight import (
    NONE,
)
from tool_envs.booking.scene.tables import SHAPES
from tool_envs.booking.stepper import moves
from tool_envs.booking.stepper.lookups import move_seats
from tool_envs.booking.stepper.rows import MAX_MOVED
from tool_envs.booking.stepper.timetable import store_of
from tool_envs.booking.stepper.turns import act
from tool_envs.booking.wishes import FAMILIES
from tool_envs.errors import UsageError
from tool_envs.service.desk import goal_of

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


def strayed_play(index, difficulty, seed, version):
    """An episode of the oracle's actions but for a few: again, unasked, nearly right or at random."""
    rng, play, last = np.random.default_rng(seed), new_play(index, difficulty, version), None
    while not play.over:
        last = strayed_action(play, rng, last)
        play.take(*last)
        yield play, last


def strayed_action(play, rng, last):
    action = play.some_action(rng, 1.0, "schema")
    name = play.layout.verbs[action[0]].name
    match rng.integers(12):
        case 0 if last and play.path_is_allowed("schema", *last):
            return last
        case 1 if name.startswith("propose_"):
            write = play.number(name.removeprefix("propose_")), action[1]
            return write if play.path_is_allowed("schema", *write) else action
        case 2 | 3 | 4:
            return nearly(play, rng, action)
        case 5:
            return play.random_action(rng, "schema")
    return action


def nearly(play, rng, action):
    """An action with another choice in one of its slots, and in those that this makes impossible."""
    verb, right = action
    form, chosen = play.layout.verbs[verb], ()
    changed = rng.integers(len(form.slots) or 1)
    while len(chosen := skip(form, chosen)) < len(form.slots):
        place = len(chosen)
        allowed = play.scene.allowed("schema", verb, chosen)
        is_kept = place != changed and right[place] != SKIPPED and allowed[right[place]]
        if not allowed.any():
            return action
        chosen = (*chosen, right[place] if is_kept else int(rng.choice(np.flatnonzero(allowed))))
    return verb, chosen


strayed_plays = st.builds(
    strayed_play,
    index=st.integers(0, 500 * len(FAMILIES) - 1),
    difficulty=st.sampled_from(DIFFICULTIES),
    seed=st.integers(0, 2**32 - 1),
    version=st.sampled_from(VERSIONS),
)


class RowPlay:
    """The episode of a `booking_array_play.Play` once more, in rows.

    Args:
        play: It.
        words: The task whose customer's words are heard.
    """

    def __init__(self, play, words="own"):
        self._layout, domain = play.layout, play.env.domain
        self._rows, self._store = domain.rows, stores(domain.base)
        task = play.env.task
        self._errand, self.lane = self._rows.make(task, task if words == "own" else words)

    def take(self, verb, chosen):
        """Carries an action out; returns what `act` answers."""
        form = self._layout.verbs[verb]
        self.lane.draft = open_draft(verb_tool(form))
        for slot, choice in zip(form.slots, chosen, strict=True):
            choose(self.lane.draft, *slot_role(slot), NONE if slot.ends(choice) else choice)
        return act(self.lane, self._errand, self._store, verb_code(form), self._rows.work)


_stores = {}


def stores(base):
    """What never changes, made once for a base."""
    if base not in _stores:
        _stores[base] = store_of(base)
    return _stores[base]


def fields(row):
    return dict(zip(row.__struct_fields__, row.values(), strict=True))


def shown(sight):
    """All that was shown, and nothing of a sight that was not."""
    scene, wanted = sight.scene, fields(sight.wanted)
    for name in ("method_kind", "method_how", "method_mark"):
        wanted[name] = wanted[name][: sight.wanted.methods]
    return {
        **{f"scene {name}": value for name, value in fields(scene).items()},
        **{f"wanted {name}": value for name, value in wanted.items()},
        "customer": fields(sight.customer) if scene.profile else None,
        "trips": [trip.values() if scene.trip_seen[k] else None for k, trip in enumerate(sight.trips)],
        "ways": [offer.values() if offer.legs else None for offer in sight.ways],
        "offers": [offer.values() if offer.legs else None for offer in sight.offers],
        "proposed": sight.proposed.values() if sight.proposed.tool >= 0 else None,
    }


def is_ended(play):
    """Whether the customer or the agent has ended the episode, and not the limit of actions."""
    return play.env.outcome is not None and play.env.outcome.status == "completed"


@settings(max_examples=300)
@given(random_plays | strayed_plays | strayed_plays)
def test_rows_show_end_and_earn_what_the_reference_does(play):
    rows = None
    for at, action in play:
        if rows is None:
            rows = RowPlay(at)
            assert shown(rows.lane.sight) == shown(at.new_scene().memory.sight)
        ended = bool(rows.take(*action) & ENDED)
        assert shown(rows.lane.sight) == shown(at.sight)
        assert ended == is_ended(at)
        assert rows.lane.reward * ended == at.reward


class Shown:
    """The tables of an observation, and the mask of verbs at both levels."""

    def __init__(self, rows):
        self._rows = rows
        for name, form in SHAPES.items():
            setattr(self, name, np.zeros(*form))

    def update(self, changed):
        moves._show(self._rows.lane, self._rows._store, self, changed)

    def __eq__(self, other):
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in SHAPES)


def masks(play):
    """What may be done, at both levels."""
    return [play.scene.allowed(level, -1, ()).tolist() for level in ("policy", "schema")]


@settings(max_examples=100)
@given(random_plays)
def test_an_action_changes_no_other_tables_or_masks_than_it_says(play):
    rows = None
    for at, action in play:
        if rows is None:
            rows, before = RowPlay(at), masks(new_play_like(at))
            given = Shown(rows)
            given.update(-1)
        changed = rows.take(*action)
        given.update(changed)
        whole = Shown(rows)
        whole.update(-1)
        assert given == whole
        assert changed & (OPENED | ENDED) or masks(at) == before
        before = masks(at)


def new_play_like(play):
    """The same episode before the first action."""
    fresh = object.__new__(type(play))
    fresh.scene = play.new_scene()
    return fresh


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("difficulty", DIFFICULTIES)
def test_the_oracle_earns_the_reward_in_rows(difficulty, version):
    for index in range(len(FAMILIES)):
        play = new_play(index, difficulty, version)
        rows, ended = RowPlay(play), False
        while not play.over:
            action = play.oracle_choices()
            play.take(*action)
            ended = bool(rows.take(*action) & ENDED)
        assert (ended, rows.lane.reward) == (True, 1)


# --- What the oracle and those who stray hardly ever do


class Both:
    """An episode of the reference and in rows, held against each other after each action.

    Args:
        family: Of its wish.
        fits: What its wish must be like.
    """

    def __init__(self, family, fits=bool):
        places = range(list(FAMILIES).index(family), 500 * len(FAMILIES), len(FAMILIES))
        plays = (new_play(index) for index in places)
        self.play = next(play for play in plays if fits(goal_of(play.env.task).wishes[0]))
        self.wish, self.rows = goal_of(self.play.env.task).wishes[0], RowPlay(self.play)

    def take(self, verb, chosen):
        self.play.take(verb, chosen)
        ended = bool(self.rows.take(verb, chosen) & ENDED)
        assert shown(self.rows.lane.sight) == shown(self.play.sight)
        assert (ended, ended * self.rows.lane.reward) == (self.play.over, self.play.reward)

    def do(self, name, *chosen):
        self.take(self.play.number(name), chosen)

    def go_on_to(self, start):
        """The oracle's next action whose name begins so, after all before it; None at the end."""
        while not self.play.over:
            verb, chosen = self.play.oracle_choices()
            if self.play.layout.verbs[verb].name.startswith(start):
                return verb, chosen
            self.take(verb, chosen)
        return None


def test_to_cancel_what_was_not_looked_up_breaks_a_rule():
    both = Both("cancel", lambda wish: not wish.forbidden)
    both.do("ask_user_id")
    both.do("get_user_details")
    trip = both.play.scene.memory.profile.trip_ids.index(both.wish.accepted[0]["reservation_id"])
    both.do("propose_cancel_reservation", trip)
    both.do("cancel_reservation", trip)
    both.do("report")

    assert (both.play.over, both.play.reward) == (True, 0.0)
    assert both.rows.lane.broken
    assert not both.rows.lane.wrong


def test_a_yes_to_the_way_there_alone_covers_any_way_back():
    both = Both("book_round_trip", lambda wish: wish.kind == "book_round_trip" and len(wish.accepted) == 4)
    verb, chosen = both.go_on_to("propose_")
    names = [slot.name for slot in both.play.layout.verbs[verb].slots]
    back = names.index("flights[1]")
    both.take(verb, (*chosen[:back], both.play.layout.verbs[verb].slots[back].width, *chosen[back + 1 :]))
    both.take(*both.play.choices_for("book_reservation", both.wish.accepted[-1]))
    both.do("report")

    assert (both.play.over, both.play.reward) == (True, 1.0)


@pytest.mark.parametrize("family", ["book_one_way", "book_one_stop", "book_round_trip"])
def test_seats_that_were_taken_are_gone_when_flights_are_searched_again(family):
    both = Both(family)
    both.take(*(search := both.go_on_to("search_")))
    before = [list(offer.seats) for offer in both.play.sight.offers if offer.legs]
    both.take(*both.go_on_to("book_reservation"))
    both.take(*search)

    assert [list(offer.seats) for offer in both.play.sight.offers if offer.legs] != before
    assert both.go_on_to("never") is None
    assert both.play.reward == 1.0


# --- Whose words are heard


def test_of_a_mute_customer_only_who_they_are_is_heard():
    play = new_play(0)
    rows = RowPlay(play, words=None)

    rows.take(play.number("ask_user_id"), ())
    rows.take(play.number("ask_other"), ())

    assert rows.lane.sight.scene.user == 1
    assert rows.lane.sight.scene.wish == -1


def test_a_customer_can_say_the_words_of_another_one():
    play, other = new_play(0), new_play(1)
    rows = RowPlay(play, words=other.env.task)

    assert shown(rows.lane.sight)["scene wish"] == other.sight.scene.wish != play.sight.scene.wish


def test_a_lane_has_at_most_four_kilobytes():
    rows = new_play(0).env.domain.rows

    assert np.dtype(rows.lane.numpy_dtype()).itemsize + np.dtype(Play.numpy_dtype()).itemsize <= 4096


def test_more_moved_seats_than_rows_hold_are_an_error():
    """Not lost in silence: the stepper would go on with seats that are taken."""
    play = RowPlay(new_play(0, 1, VERSIONS[-1]))
    table, lane = play._store.table, play.lane
    moved = [number for number, status in enumerate(table.status) if status == AVAILABLE]
    for departure in moved[:MAX_MOVED]:
        move_seats(lane, table, *divmod(departure, DAYS), 0, -1)
    move_seats(lane, table, *divmod(moved[0], DAYS), 0, -1)  # one that is kept already

    with pytest.raises(UsageError, match="max_steps"):
        move_seats(lane, table, *divmod(moved[MAX_MOVED], DAYS), 0, -1)
