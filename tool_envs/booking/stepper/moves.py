"""The airline's moves, for `tool_envs.array_steps`: what is allowed, chosen, done and shown in a lane."""

from typing import Any

from tool_envs import array_steps
from tool_envs.array_rows import Lanes, Moves
from tool_envs.booking.scene.choices import choose, mask_choices, mask_reachable, mask_verbs
from tool_envs.booking.scene.masks import fits
from tool_envs.booking.scene.sight import (
    BACK,
    MAX_PAID,
    MAX_PEOPLE,
    MAX_TRIPS,
    OPEN,
    OWN,
    THERE,
    Sight,
)
from tool_envs.booking.scene.tables import (
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
from tool_envs.booking.stepper.rows import UNKNOWN_WRITES, Errand, Lane, Room
from tool_envs.booking.stepper.timetable import Store
from tool_envs.booking.stepper.turns import (
    AIRPORTS,
    DAYS_TABLE,
    FLIGHTS_TABLE,
    LEGS,
    METHODS,
    PARTY,
    PEOPLE,
    PROPOSED,
    RESERVATIONS,
    TURN,
    WISH,
    act,
)
from tool_envs.row_lists import Out, clear, clear_rows
from tool_envs.rows import kernel, prefetch


@kernel
def _begin(lane: Lane, tool: int) -> None:
    draft = lane.draft
    draft.tool = tool
    draft.trip = draft.origin = draft.destination = draft.day = draft.round_trip = draft.cabin = OPEN
    draft.method = draft.insurance = draft.claim = draft.leg = OPEN
    for place in range(OWN):
        draft.flights[place] = OPEN
    for place in range(MAX_PEOPLE):
        draft.people[place] = OPEN
    for place in range(MAX_PAID):
        draft.methods[place] = OPEN


@kernel
def _allow_verbs(lane: Lane, store: Store, policy: int, codes: Out, out: Out) -> None:  # noqa: ARG001 - of all moves
    _begin(lane, -1)
    if lane.possible == UNKNOWN_WRITES:
        lane.possible = possible_writes(lane.sight, policy > 0, lane.draft)
    mask_verbs(lane.sight, policy > 0, codes, lane.draft, int(lane.possible), out)


@kernel
def _allow_choices(
    lane: Lane,
    store: Store,  # noqa: ARG001 - of all moves
    policy: int,
    code: int,
    role: int,
    place: int,
    width: int,
    out: Out,
) -> None:
    mask_choices(lane.sight, policy > 0, code, lane.draft, role, place, width, out)


@kernel
def _allow_anywhere(
    lane: Lane,
    store: Store,  # noqa: ARG001 - of all moves
    policy: int,
    code: int,
    tool: int,
    role: int,
    place: int,
    width: int,
    room: Out,  # noqa: ARG001 - of all moves
    out: Out,
) -> None:
    _begin(lane, tool)
    mask_reachable(lane.sight, policy > 0, code, lane.draft, role, place, width, out)


@kernel
def _choose(lane: Lane, store: Store, role: int, place: int, choice: int) -> bool:  # noqa: ARG001 - of all moves
    choose(lane.draft, role, place, choice)
    return True


@kernel
def _fits(lane: Lane, store: Store, code: int) -> bool:  # noqa: ARG001 - of all moves
    return fits(lane.sight, False, code, lane.draft)


@kernel
def _act(lane: Lane, errand: Errand, store: Store, code: int, work: Room) -> int:
    changed = act(lane, errand, store, code, work)
    if changed & WISH:
        lane.possible = UNKNOWN_WRITES  # what else an action changes makes no difference to writes
    return changed


@kernel
def _show(lane: Lane, store: Store, out: Out, changed: int) -> None:  # noqa: ARG001 - of all moves
    sight = lane.sight
    if changed & WISH:
        clear(out.conversation)
        fill_wish(sight, out.conversation)
    if changed & TURN:
        fill_turn(sight, out.conversation)
    if changed & RESERVATIONS:
        clear_rows(out.reservations)
        fill_reservations(sight, out.reservations)
    if changed & FLIGHTS_TABLE:
        clear_rows(out.flights)
        clear_rows(out.times)
        fill_flights(sight, out.flights, out.times)
    if changed & LEGS:
        clear_rows(out.legs)
        fill_legs(sight, out.legs)
    if changed & METHODS:
        clear_rows(out.methods)
        clear_rows(out.balances)
        fill_methods(sight, out.methods, out.balances)
    if changed & PEOPLE:
        clear_rows(out.people)
        fill_people(sight, out.people)
    if changed & AIRPORTS:
        clear_rows(out.airports)
        fill_airports(sight, out.airports)
    if changed & DAYS_TABLE:
        clear_rows(out.days)
        fill_days(sight, out.days)
    if changed & PARTY:
        fill_party(sight, out.party)
    if changed & (RESERVATIONS | FLIGHTS_TABLE | METHODS | PEOPLE | PROPOSED):
        mark_proposed(sight, out.reservations, out.flights, out.methods, out.people)


@kernel
def _expect_lane(lane: Lane) -> None:
    prefetch(lane.state)
    prefetch(lane.sight.scene)
    prefetch(lane.sight.wanted)
    prefetch(lane.sight.proposed)


@kernel
def _expect_errand(lane: Lane, errand: Errand, begun: bool) -> None:
    if begun:
        _expect_shown(lane.sight)
        return
    aim = errand.aims[lane.state.wish]
    prefetch(errand.facts)
    prefetch(aim.opening)
    prefetch(aim.opening_wanted)


@kernel
def _expect_shown(sight: Sight) -> None:
    """What masks look at."""
    for number in range(sight.scene.offers):
        prefetch(sight.offers[number])
    for place in range(MAX_TRIPS):
        if sight.scene.trip_seen[place]:
            prefetch(sight.trips[place])
            prefetch(sight.ways[OWN * place + THERE])
            prefetch(sight.ways[OWN * place + BACK])


@kernel
def _moves() -> Moves:
    return Moves(
        _begin,
        _allow_verbs,
        _allow_choices,
        _allow_anywhere,
        _choose,
        _fits,
        _act,
        _show,
        _expect_lane,
        _expect_errand,
    )


def show_firsts(arrays: Lanes, pool: Any, by_choices: bool) -> None:  # noqa: ANN401 - an array
    """As `tool_envs.array_steps.show_firsts`."""
    array_steps.show_firsts(_moves(), arrays, pool, by_choices)


def run_choices(arrays: Lanes, ids: Any, choices: Any) -> None:  # noqa: ANN401 - arrays
    """As `tool_envs.array_steps.run_choices`."""
    array_steps.run_choices(_moves(), arrays, ids, choices)


def run_actions(arrays: Lanes, ids: Any, actions: Any) -> None:  # noqa: ANN401 - arrays
    """As `tool_envs.array_steps.run_actions`."""
    array_steps.run_actions(_moves(), arrays, ids, actions)
