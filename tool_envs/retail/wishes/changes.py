"""Wishes for a change: cancel, another address, another payment method, a return."""

from collections.abc import Sequence

from tool_envs.messages import Json, ToolCall
from tool_envs.retail.catalog import Variant
from tool_envs.retail.rows import DELIVERED, PENDING, Order
from tool_envs.retail.wishes.planned import REASONS, address_text, names_of, new_address, read_order, wish_of
from tool_envs.retail.wishes.shopper import Shopper
from tool_envs.service.wishes import Planned


def cancel(shopper: Shopper) -> Planned | None:
    """Cancel a pending order, for one of the reasons that count."""
    order = shopper.take_order(PENDING)
    if order is None or not shopper.touch_card(order.transaction_method[0]):
        return None
    reason = shopper.draws.pick(tuple(REASONS))
    arguments: dict[str, Json] = {"order_id": shopper.order_id(order), "reason": reason}
    words = {"order_id": shopper.order_words(order), "reason": REASONS[reason]}
    wish = wish_of(
        "cancel",
        shopper,
        {"order": words["order_id"], "reason": words["reason"]},
        tool="cancel_pending_order",
        accepted=(arguments,),
        words=words,
    )
    return Planned(wish, (read_order(shopper, order),), (ToolCall(wish.tool, arguments),))


def order_address(shopper: Shopper) -> Planned | None:
    """Send a pending order to another address."""
    order = shopper.take_order(PENDING)
    address = new_address(shopper)
    if order is None or address == shopper.base.address(order.address):
        return None
    words = {"order_id": shopper.order_words(order), "address": address_text(address)}
    arguments: dict[str, Json] = {"order_id": shopper.order_id(order), **address._asdict()}
    wish = wish_of(
        "order_address",
        shopper,
        {"order": words["order_id"], "address": words["address"]},
        tool="modify_pending_order_address",
        accepted=(arguments,),
        words=words,
    )
    return Planned(wish, (read_order(shopper, order),), (ToolCall(wish.tool, arguments),))


def user_address(shopper: Shopper) -> Planned | None:
    """Another address in the profile."""
    address = new_address(shopper)
    if address == shopper.base.address(shopper.row.address) or not shopper.move():
        return None
    user_id = shopper.base.user_id(shopper.customer)
    words = {"address": address_text(address)}
    arguments: dict[str, Json] = {"user_id": user_id, **address._asdict()}
    wish = wish_of(
        "user_address", shopper, words, tool="modify_user_address", accepted=(arguments,), words=words
    )
    read = ToolCall("get_user_details", {"user_id": user_id})
    return Planned(wish, (read,), (ToolCall(wish.tool, arguments),))


def payment(shopper: Shopper) -> Planned | None:
    """Pay a pending order with another method."""
    order = shopper.take_order(PENDING)
    if order is None or order.transactions != 1:
        return None
    now = order.transaction_method[0]
    others = [number for number in range(shopper.row.methods) if number != now]
    if not shopper.touch_card(now):
        return None
    number = shopper.take_method(order.transaction_amount[0], others)
    if number is None:
        return None
    words = {"order_id": shopper.order_words(order), "payment_method": shopper.method_words(number)}
    arguments: dict[str, Json] = {
        "order_id": shopper.order_id(order),
        "payment_method_id": shopper.method_ids[number],
    }
    wish = wish_of(
        "payment",
        shopper,
        {"order": words["order_id"], "payment": words["payment_method"]},
        tool="modify_pending_order_payment",
        accepted=(arguments,),
        words=words,
    )
    return Planned(wish, (read_order(shopper, order),), (ToolCall(wish.tool, arguments),))


def return_some(shopper: Shopper) -> Planned | None:
    """Send back items of a delivered order."""
    order = shopper.take_order(DELIVERED)
    if order is None:
        return None
    return return_items(shopper, order, shopper.take_items(order, 2))


def return_items(shopper: Shopper, order: Order, items: Sequence[Variant]) -> Planned | None:
    """Send back these items, for a refund to a method that the rules allow."""
    cards = [number for number in range(shopper.row.methods) if shopper.is_gift_card(number)]
    number = shopper.take_method(0, sorted({order.transaction_method[0], *cards}))
    if number is None:
        return None
    words = {
        "order_id": shopper.order_words(order),
        "item": names_of(shopper, items),
        "payment_method": shopper.method_words(number),
    }
    arguments: dict[str, Json] = {
        "order_id": shopper.order_id(order),
        "item_ids": [item.item_id for item in items],
        "payment_method_id": shopper.method_ids[number],
    }
    wish = wish_of(
        "return",
        shopper,
        {"order": words["order_id"], "items": words["item"], "payment": words["payment_method"]},
        tool="return_delivered_order_items",
        accepted=(arguments,),
        words=words,
    )
    return Planned(wish, (read_order(shopper, order),), (ToolCall(wish.tool, arguments),))
