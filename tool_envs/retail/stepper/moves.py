"""The store's moves, for `tool_envs.array_steps`: what is allowed, chosen, done and shown in a lane."""

from typing import Any

from tool_envs import array_steps
from tool_envs.array_rows import Lanes, Moves
from tool_envs.retail.scene.choices import choose, mask_choices, mask_reachable, mask_verbs
from tool_envs.retail.scene.masks import fits
from tool_envs.retail.scene.sight import MAX_CHANGED, OPEN
from tool_envs.retail.scene.tables import (
    fill_conversation,
    fill_lines,
    fill_methods,
    fill_orders,
    fill_products,
    fill_variants,
)
from tool_envs.retail.stepper.rows import Errand, Lane, Room
from tool_envs.retail.stepper.sentences import Store
from tool_envs.retail.stepper.turns import (
    CONVERSATION,
    LINES,
    METHODS,
    ORDERS,
    PRODUCTS_TABLE,
    VARIANTS,
    act,
)
from tool_envs.row_lists import Out, clear, clear_rows
from tool_envs.rows import kernel, prefetch


@kernel
def _begin(lane: Lane, tool: int) -> None:
    draft = lane.draft
    draft.tool = tool
    draft.order = draft.method = draft.reason = draft.product = draft.line = OPEN
    for place in range(MAX_CHANGED):
        draft.items[place] = draft.news[place] = OPEN


@kernel
def _allow_verbs(lane: Lane, store: Store, policy: int, codes: Out, out: Out) -> None:
    _begin(lane, -1)
    mask_verbs(lane.sight, store.shelves, policy > 0, codes, lane.draft, out)


@kernel
def _allow_choices(
    lane: Lane, store: Store, policy: int, code: int, role: int, place: int, width: int, out: Out
) -> None:
    mask_choices(lane.sight, store.shelves, policy > 0, code, lane.draft, role, place, width, out)


@kernel
def _allow_anywhere(
    lane: Lane,
    store: Store,
    policy: int,
    code: int,
    tool: int,
    role: int,
    place: int,
    width: int,
    room: Out,
    out: Out,
) -> None:
    _begin(lane, tool)
    mask_reachable(lane.sight, store.shelves, policy > 0, code, lane.draft, role, place, width, room, out)


@kernel
def _choose(lane: Lane, store: Store, role: int, place: int, choice: int) -> bool:
    return choose(lane.sight, store.shelves, lane.draft, role, place, choice)


@kernel
def _fits(lane: Lane, store: Store, code: int) -> bool:
    return fits(lane.sight, store.shelves, False, code, lane.draft)


@kernel
def _act(lane: Lane, errand: Errand, store: Store, code: int, work: Room) -> int:
    return act(lane, errand, store.shelves, store.book, code, work)


@kernel
def _show(lane: Lane, store: Store, out: Out, changed: int) -> None:
    sight, shelves = lane.sight, store.shelves
    if changed & CONVERSATION:
        clear(out.conversation)
        fill_conversation(sight, out.conversation)
    if changed & ORDERS:
        clear_rows(out.orders)
        clear_rows(out.order_amounts)
        fill_orders(sight, shelves, out.orders, out.order_amounts)
    if changed & LINES:
        clear_rows(out.lines)
        fill_lines(sight, shelves, out.lines)
    if changed & VARIANTS:
        clear_rows(out.variants)
        clear_rows(out.prices)
        fill_variants(sight, shelves, out.variants, out.prices)
    if changed & METHODS:
        clear_rows(out.methods)
        clear_rows(out.balances)
        fill_methods(sight, shelves, out.methods, out.balances)
    if changed & PRODUCTS_TABLE:
        clear_rows(out.products)
        fill_products(sight, out.products)


@kernel
def _expect_lane(lane: Lane) -> None:
    prefetch(lane.draft)
    prefetch(lane.state)
    prefetch(lane.sight.scene)


@kernel
def _expect_errand(lane: Lane, errand: Errand, begun: bool) -> None:  # noqa: ARG001 - of all moves
    wanted = errand.wanted[lane.state.wish]
    prefetch(errand.facts)
    prefetch(wanted.opening)
    prefetch(wanted.calls[0])


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
