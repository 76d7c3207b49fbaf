"""`BookingArray-v0`: the oracle plays it, random choices rarely do, nothing is seen that was not shown."""

import dataclasses

import gymnasium
import msgspec
import numpy as np
import pytest
from booking_array_play import LEVELS, VERSIONS, Play, new_play, plays, random_play
from gymnasium.utils.env_checker import check_env
from hypothesis import given, settings
from hypothesis import strategies as st
from sweeping import only_in_sweep

from tool_envs.arrays.compiled import compiled
from tool_envs.booking.arrays import slot_role, verb_code, verb_tool
from tool_envs.booking.data import BookingBase, booking_base
from tool_envs.booking.dates import DAYS
from tool_envs.booking.domain import load_domain
from tool_envs.booking.rows import (
    AVAILABLE,
    BUSINESS,
    CABINS,
    CERTIFICATE,
    CREDIT_CARD,
    GIFT_CARD,
    MAX_METHODS,
    MEMBERSHIPS,
    STATUSES,
)
from tool_envs.booking.scene.blank import (
    open_draft,
)
from tool_envs.booking.scene.choices import mask_choices, mask_verbs
from tool_envs.booking.scene.sight import (
    MAX_FLIGHTS,
    MAX_LEGS,
    MAX_OFFERS,
    MAX_PAID,
    MAX_PEOPLE,
    MAX_TRIPS,
    OWN,
    PLACES,
)
from tool_envs.booking.scene.tables import (
    FIELDS,
    SHAPES,
    fill_airports,
    fill_days,
    fill_flights,
    fill_legs,
    fill_methods,
    fill_party,
    fill_people,
    fill_reservations,
    fill_turn,
    fill_wish,
    mark_proposed,
)
from tool_envs.booking.scene.writes import possible_writes
from tool_envs.booking.wishes.ways import Way, offers, routes
from tool_envs.env import ToolEnv
from tool_envs.reward import Verdict, grade
from tool_envs.task import TaskList

ID = "tool_envs/BookingArray-v0"
BASE = booking_base()


# --- The environment


@pytest.mark.parametrize("form", ["sequential", "multidiscrete"])
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("version", VERSIONS)
def test_gymnasiums_checker_accepts_it(form, level, version):
    check_env(gymnasium.make(ID, action_form=form, mask=level, schema_version=version).unwrapped)


def test_slots_are_as_wide_as_their_tables():
    layout = new_play(0, version="1.1.0").layout
    widths = {slot.name: slot.width for slot in layout.slots}

    assert widths["reservation_id"] == widths["amount"] == MAX_TRIPS
    assert widths["flights[0]"] == widths["flights[1]"] == MAX_FLIGHTS
    assert widths["payment_id"] == widths["payment_methods[0]"] == MAX_METHODS
    assert widths["passengers[0]"] == MAX_PEOPLE
    assert [name for name in widths if name.startswith("flights")][OWN:] == []
    assert [name for name in widths if name.startswith("payment_methods")][MAX_PAID:] == []
    assert [name for name in widths if name.startswith("passengers")][MAX_PEOPLE:] == []
    assert widths["origin"] == widths["destination"] == PLACES == len(BASE.airports)
    assert widths["date"] == DAYS
    values = {slot.name: slot.values for slot in layout.slots}
    assert values["cabin"] == CABINS
    assert values["flight_type"] == ("one_way", "round_trip")
    assert values["insurance"] == ("yes", "no")
    assert all(len(FIELDS[name]) == shape[-1] for name, (shape, _) in SHAPES.items())


def test_tables_have_room_for_whatever_customers_of_the_airline_have():
    for customer in range(BASE.customers):
        row = BASE.customer(customer)
        kinds = row.method_kind[: row.methods]
        assert row.reservations <= MAX_TRIPS
        assert 1 + len(BASE.saved_passengers(customer)) <= MAX_PEOPLE
        assert (
            min(1, kinds.count(CERTIFICATE)) + kinds.count(GIFT_CARD) + min(1, kinds.count(CREDIT_CARD))
            <= MAX_PAID
        )
        for number in range(row.reservations):
            trip = BASE.reservation(customer, number)
            there, back = legs_of_both_ways(trip)
            assert there <= MAX_LEGS
            assert back <= MAX_LEGS


def legs_of_both_ways(trip):
    arrivals = [BASE.flights.destination[flight] for flight in trip.flight[: trip.segments]]
    there = arrivals.index(trip.destination) + 1
    return there, trip.segments - there


def test_tables_have_room_for_whatever_searches_find_that_a_wish_can_ask_for():
    for stops in range(MAX_LEGS):
        for origin, destination in routes(BASE, stops):
            for day in range(DAYS):
                found = len(offers(BASE, Way(origin, destination, day, stops)))
                assert found <= MAX_OFFERS // (2 - stops)


@settings(max_examples=40)
@given(plays)
def test_tables_have_their_shapes_and_ranges(play):
    for at, _ in play:
        tables = at.scene.tables()
        assert {name: (table.shape, table.dtype.name) for name, table in tables.items()} == SHAPES
        for table in tables.values():
            assert (table >= (-1 if table.dtype == np.float32 else 0)).all()
            assert (table <= 1).all()


def test_an_observation_is_small():
    observation, _ = gymnasium.make(ID, schema_version="2.0.0").reset(seed=0)

    assert sum(table.nbytes for table in observation.values()) <= 2_500


@settings(max_examples=40)
@given(plays)
def test_a_scene_that_is_given_the_same_messages_is_the_same(play):
    given_before, start = [], 1
    for at, _ in play:
        action = at.actions[-1]
        given_before.append((action, at.env.episode.history[start:]))
        start = len(at.env.episode.history)
    again = at.new_scene()
    for earlier, messages in given_before:
        again.saw(earlier, messages)

    assert_same_sight(at.scene, again, at.layout)
    assert at.scene.describe() == again.describe()


def assert_same_sight(scene, other, layout):
    """Equal tables, equal masks of both levels."""
    tables, others = scene.tables(), other.tables()
    for name, table in tables.items():
        assert table.tobytes() == others[name].tobytes(), name
    for level in LEVELS:
        allowed = scene.allowed(level, -1, ())
        assert allowed.tolist() == other.allowed(level, -1, ()).tolist()
        for verb in np.flatnonzero(allowed).tolist():
            for mask, another in zip(scene.possible(level, verb), other.possible(level, verb), strict=True):
                assert mask.tolist() == another.tolist(), layout.verbs[verb].name


# --- Compiled


def verb_masks(sights, policy, verbs, drafts, out):
    possible = possible_writes(sights[0], policy, drafts[0])
    mask_verbs(sights[0], policy, verbs, drafts[0], possible, out)


def choice_masks(sights, policy, verb, drafts, role, place, width, out):
    mask_choices(sights[0], policy, verb, drafts[0], role, place, width, out)


def all_tables(sights, conversation, reservations, flights, times, legs, methods, balances, people, rest):
    sight, (airports, days, party) = sights[0], rest
    fill_turn(sight, conversation)
    fill_wish(sight, conversation)
    fill_reservations(sight, reservations)
    fill_flights(sight, flights, times)
    fill_legs(sight, legs)
    fill_methods(sight, methods, balances)
    fill_people(sight, people)
    fill_airports(sight, airports)
    fill_days(sight, days)
    fill_party(sight, party)
    mark_proposed(sight, reservations, flights, methods, people)


def record(row):
    """A row as an array of one element."""
    made = np.zeros(1, row.numpy_dtype())
    made[0] = row.values()
    return made


@only_in_sweep
def test_kernels_say_the_same_when_they_are_compiled():
    for index in range(22):
        for at, _ in random_play(index, 1 + index % 5, index, rightly=0.8):
            assert compiled_tables(at) == {name: table.tobytes() for name, table in at.scene.tables().items()}
            for level in LEVELS:
                assert compiled_masks(at, level) == [
                    at.scene.allowed(level, -1, ()).tolist(),
                    *(
                        at.scene.allowed(level, verb, ()).tolist()
                        for verb in np.flatnonzero(at.scene.allowed(level, -1, ())).tolist()
                        if at.layout.verbs[verb].slots
                    ),
                ]


def compiled_tables(play):
    out = {name: np.zeros(*form) for name, form in SHAPES.items()}
    *most, airports, days, party = out.values()
    compiled(all_tables)(record(play.sight), *most, (airports, days, party))
    return {name: table.tobytes() for name, table in out.items()}


def compiled_masks(play, level):
    """Which verbs are allowed, and for each of those that has slots what can be chosen for the first one."""
    verbs, policy, sight = play.layout.verbs, level == "policy", record(play.sight)
    codes = np.array([verb_code(verb) for verb in verbs])
    out = np.zeros(len(verbs), np.int64)
    compiled(verb_masks)(sight, policy, codes, record(open_draft()), out)
    masks = [out.astype(bool).tolist()]
    for verb in np.flatnonzero(out).tolist():
        for slot in verbs[verb].slots[:1]:
            choices, draft = np.zeros(slot.choices, np.int64), record(open_draft(verb_tool(verbs[verb])))
            compiled(choice_masks)(sight, policy, codes[verb], draft, *slot_role(slot), slot.width, choices)
            masks.append(choices.astype(bool).tolist())
    return masks


# --- The oracle


@pytest.mark.parametrize("difficulty", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("version", VERSIONS)
def test_the_oracle_is_at_home_in_both_masks(difficulty, version):
    for index in range(150):
        play = new_play(index, difficulty, version)
        while not play.over:
            verb, chosen = play.oracle_choices()
            for level in LEVELS:
                assert play.path_is_allowed(level, verb, chosen), (play.env.task.id, level)
            play.take(verb, chosen)
        assert play.reward == 1.0, play.env.task.id


def test_random_choices_rarely_do():
    episodes = 2000
    earned = sum(last_reward(random_play(index, 1, index, split="train")) for index in range(episodes))

    assert 5e-4 <= earned / episodes <= 5e-2


def last_reward(play):
    return [at.reward for at, _ in play][-1]


# --- What was not shown is not seen


class OtherAirline(BookingBase):
    """The same airline, of which some reservations, profiles and departures are others.

    Args:
        trips: Numbers of reservations that are others, for every customer.
        profile: Whether profiles are others, too.
        status: Days on which flights have other statuses.
        prices: Days on which flights have other prices and free seats.
    """

    def __init__(self, trips=(), profile=False, status=(), prices=()):
        self._other_trips, self._other_status, self._other_prices = trips, status, prices
        super().__init__()
        make_customer, make_departure = self._customers._make, self._departures._make
        self._customers._make = lambda index: other_customer(make_customer(index), profile)
        self._departures._make = lambda place: self._other_departure(make_departure(place))

    def _make_reservation(self, place):
        trip = super()._make_reservation(place)
        if place[1] in self._other_trips:
            trip.cabin, trip.insurance = (trip.cabin + 1) % len(CABINS), 1 - trip.insurance
            trip.created -= 5_000
            trip.total_bags += 1
            trip.payment_amount[0] += 12_300
        return trip

    def _other_departure(self, departure):
        if departure.day in self._other_status:
            departure.status = (departure.status + 1) % len(STATUSES)
            departure.seats = [9 * (departure.status == AVAILABLE)] * len(CABINS)
        if departure.day in self._other_prices and departure.status == AVAILABLE:
            departure.price = [price + 7_700 for price in departure.price]
            departure.seats = [1 + seats for seats in departure.seats]
        return departure


def other_customer(row, is_other):
    if is_other:
        row.balance = [balance and balance + 5_000 for balance in row.balance]
        row.membership = (row.membership + 1) % len(MEMBERSHIPS)
    return row


airlines = st.builds(
    OtherAirline,
    trips=st.frozensets(st.integers(0, MAX_TRIPS - 1)),
    profile=st.booleans(),
    status=st.frozensets(st.integers(0, DAYS - 1)),
    prices=st.frozensets(st.integers(0, DAYS - 1)),
)


def other_later_wishes(goal, other):
    return msgspec.structs.replace(goal, wishes=(goal.wishes[0], *other.wishes))


def nothing_later(goal, _):
    return msgspec.structs.replace(goal, wishes=goal.wishes[:1])


def forbidden_in_truth(goal, _):
    first = msgspec.structs.replace(goal.wishes[0], tool="", accepted=(), forbidden=True, otherwise=None)
    return msgspec.structs.replace(goal, wishes=(first, *goal.wishes[1:]))


def other_accepted_sets(goal, _):
    first = goal.wishes[0]
    accepted = tuple(
        {**each, **{name: value for name, value in OTHERS.items() if name in each}} for each in first.accepted
    )
    return msgspec.structs.replace(
        goal, wishes=(msgspec.structs.replace(first, accepted=accepted), *goal.wishes[1:])
    )


OTHERS = {
    "reservation_id": "Z9ZZ9Z",
    "cabin": CABINS[BUSINESS],
    "flights": [{"flight_number": "HAT999", "date": "2025-07-01"}],
    "total_baggages": 17,
    "amount": 1,
}
"""Arguments of writes that no customer means."""


def other_manners(goal, _):
    silent = {"insists", "reluctant", "changes_mind"}
    kept = [trait for trait in goal.traits if trait not in silent]
    return msgspec.structs.replace(goal, traits=(*kept, *sorted(silent - set(goal.traits))))


def other_identity(goal, other):
    return msgspec.structs.replace(goal, knows=other.knows, lexicon=other.lexicon)


def the_same(goal, _):
    return goal


goals = st.sampled_from(
    [
        *(other_later_wishes, nothing_later, forbidden_in_truth, other_accepted_sets),
        *(other_manners, other_identity, the_same),
    ]
)


def tasks_of(version, difficulty):
    return load_domain(version, "test", difficulty, 500, 300, 0).tasks


def world(airline, task, version):
    """An episode of a task at an airline, with no grade that could fail at another one."""
    domain = load_domain(version, "test", None, 500, 300, 0)
    other = dataclasses.replace(
        domain, base=airline, tasks=TaskList([task]), grade=lambda _: Verdict(grade({"played": True}), [])
    )
    return Play(ToolEnv(other, user="agenda"), 0)


def shared_steps(play, other, seed, rightly, level):
    """Plays the same in two worlds as long as they show the same; yields after each step."""
    rng = np.random.default_rng(seed)
    while not (play.over or other.over):
        action = play.some_action(rng, rightly, level)
        shown, shown_there = play.take(*action), other.take(*action)
        assert play.actions[-1] == other.actions[-1]
        if [message.content for message in shown] != [message.content for message in shown_there]:
            return
        yield play


@settings(max_examples=200)
@given(
    difficulty=st.integers(1, 5),
    index=st.integers(0, 2000),
    airline=airlines,
    change=goals,
    seed=st.integers(0, 2**32 - 1),
    rightly=st.sampled_from([0.0, 0.5, 0.9]),
    level=st.sampled_from(LEVELS),
    version=st.sampled_from(VERSIONS),
)
def test_what_was_not_shown_changes_no_byte(
    difficulty, index, airline, change, seed, rightly, level, version
):
    tasks = tasks_of(version, difficulty)
    task, other = tasks[index], tasks[index + 1]
    play = world(BASE, task, version)
    twin = world(airline, msgspec.structs.replace(task, goal=change(task.goal, other.goal)), version)

    assert_same_sight(play.scene, twin.scene, play.layout)
    for _ in shared_steps(play, twin, seed, rightly, level):
        assert_same_sight(play.scene, twin.scene, play.layout)


@pytest.mark.parametrize(
    ("hidden", "family", "shown_by"),
    [
        ({"trips": range(MAX_TRIPS)}, "cancel", "get_reservation_details"),
        ({"status": range(DAYS)}, "cancel", "get_reservation_details"),
        ({"profile": True}, "cancel", "get_user_details"),
        ({"prices": range(DAYS)}, "book_one_way", "search_direct_flight"),
        ({"prices": range(DAYS)}, "book_one_stop", "search_onestop_flight"),
    ],
)
def test_another_airline_is_seen_as_soon_as_it_is_shown(hidden, family, shown_by):
    tasks = tasks_of("1.0.0", 1)
    task = next(each for each in map(tasks.__getitem__, range(50)) if each.family == family)
    play, twin = world(BASE, task, "1.0.0"), world(OtherAirline(**hidden), task, "1.0.0")
    for _ in shared_steps(play, twin, seed=0, rightly=1.0, level="policy"):
        assert_same_sight(play.scene, twin.scene, play.layout)

    assert play.actions[-1]["name"] == shown_by
    tables, others = play.scene.tables(), twin.scene.tables()
    assert any(table.tobytes() != others[name].tobytes() for name, table in tables.items())
