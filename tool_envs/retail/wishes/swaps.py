"""Wishes for other variants: items changed or exchanged, or sent back where that cannot be."""

import itertools
from collections.abc import Sequence
from typing import NamedTuple

from tool_envs.messages import ToolCall
from tool_envs.retail.catalog import Variant
from tool_envs.retail.rows import DELIVERED, PENDING, Order
from tool_envs.retail.wishes.changes import return_items
from tool_envs.retail.wishes.planned import names_of, read_order, read_product, wish_of
from tool_envs.retail.wishes.shopper import Shopper
from tool_envs.service.wishes import MAX_ACCEPTED, Planned


class Swap(NamedTuple):
    """An item and the variants that a customer would take instead of it, equally gladly."""

    item: Variant
    wanted: dict[str, str]
    accepted: tuple[Variant, ...]


def _plan_swap(shopper: Shopper, item: Variant, available: bool = True) -> Swap | None:
    """Another value for one of an item's options: all else the same, or, where that cannot be, whatever."""
    variants = shopper.base.catalog.products[item.product].variants
    changes = [(name, other.options[name]) for other in variants for name in item.options]
    changes = sorted({(name, value) for name, value in changes if value != item.options[name]})
    first = shopper.draws.below(len(changes)) if changes else 0
    for place in range(len(changes)):
        name, value = changes[(first + place) % len(changes)]
        strict = {**item.options, name: value}
        same = tuple(v for v in variants if v.options == strict and v.available == available)
        loose = tuple(v for v in variants if v.options[name] == value and v.available)
        if same:
            return Swap(item, strict, same)
        if available and 0 < len(loose) <= MAX_ACCEPTED:
            return Swap(item, {name: value}, loose)
    return None


def _wanted_words(swap: Swap) -> str:
    changed = {name: value for name, value in swap.wanted.items() if swap.item.options[name] != value}
    options = " and ".join(f"{name} {value}" for name, value in changed.items())
    strict = len(swap.wanted) > 1 or len(swap.item.options) == 1
    return f"the same with {options}" if strict else f"any one with {options}"


def _swaps(shopper: Shopper, kind: str, tool: str, status: int) -> Planned | None:
    order = shopper.take_order(status)
    if order is None:
        return None
    planned = [_plan_swap(shopper, item) for item in shopper.take_items(order, 2)]
    swaps = [swap for swap in planned if swap]
    if len(swaps) < len(planned):
        return None
    return _swap_items(shopper, kind, tool, order, swaps)


def _swap_items(
    shopper: Shopper, kind: str, tool: str, order: Order, swaps: Sequence[Swap]
) -> Planned | None:
    combinations = list(itertools.product(*(swap.accepted for swap in swaps)))
    if len(combinations) > MAX_ACCEPTED:
        return None
    old = sum(swap.item.price for swap in swaps)
    dearest = max(sum(variant.price for variant in combination) - old for combination in combinations)
    number = shopper.take_method(max(dearest, 0), range(shopper.row.methods))
    if number is None:
        return None
    words = {
        "order_id": shopper.order_words(order),
        "item": names_of(shopper, [swap.item for swap in swaps]),
        "new_item": " and ".join(map(_wanted_words, swaps)),
        "payment_method": shopper.method_words(number),
    }
    accepted = tuple(
        {
            "order_id": shopper.order_id(order),
            "item_ids": [swap.item.item_id for swap in swaps],
            "new_item_ids": [variant.item_id for variant in combination],
            "payment_method_id": shopper.method_ids[number],
        }
        for combination in combinations
    )
    fields = {
        "order": words["order_id"],
        "items": words["item"],
        "wanted": words["new_item"],
        "payment": words["payment_method"],
    }
    wish = wish_of(kind, shopper, fields, tool=tool, accepted=accepted, words=words)
    products = [shopper.base.catalog.products[swap.item.product] for swap in swaps]
    reads = (read_order(shopper, order), *map(read_product, products))
    return Planned(wish, reads, (ToolCall(tool, accepted[0]),))


def items(shopper: Shopper) -> Planned | None:
    """Other variants for items of a pending order."""
    return _swaps(shopper, "items", "modify_pending_order_items", PENDING)


def exchange(shopper: Shopper) -> Planned | None:
    """Other variants for items of a delivered order; now and then one that is out of stock."""
    if shopper.draws.below(4) == 0:
        return _exchange_or_return(shopper)
    return _swaps(shopper, "exchange", "exchange_delivered_order_items", DELIVERED)


def _exchange_or_return(shopper: Shopper) -> Planned | None:
    """An exchange for a variant that is out of stock; if so, they send the thing back."""
    order = shopper.take_order(DELIVERED)
    if order is None:
        return None
    items = shopper.take_items(order, 1)
    swap = _plan_swap(shopper, items[0], available=False)
    instead = return_items(shopper, order, items)
    if swap is None or instead is None:
        return None
    product = shopper.base.catalog.products[items[0].product]
    words = {**instead.wish.words, "new_item": _wanted_words(swap)}
    fields = {
        "order": words["order_id"],
        "items": words["item"],
        "wanted": words["new_item"],
        "payment": words["payment_method"],
    }
    wish = wish_of(
        "exchange",
        shopper,
        fields,
        words=words,
        forbidden=True,
        otherwise=instead.wish,
    )
    return Planned(wish, (*instead.reads, read_product(product)), instead.writes)
