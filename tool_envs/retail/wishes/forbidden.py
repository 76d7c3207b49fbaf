"""Wishes that the rules forbid."""

from tool_envs.retail.rows import DELIVERED, PENDING, PROCESSED, Order
from tool_envs.retail.wishes.planned import REASONS, address_text, names_of, new_address, read_order, wish_of
from tool_envs.retail.wishes.shopper import Shopper
from tool_envs.service.wishes import Planned

_BAD_REASONS = (
    "I found it cheaper in another store",
    "my friend advised me against it",
    "it takes too long to arrive",
    "I do not like the color any more",
)


def forbidden(shopper: Shopper) -> Planned | None:
    """One of the wishes that are forbidden, each for another reason."""
    makers = (_late_cancel, _bad_reason, _late_address, _early_return, _other_refund)
    return shopper.draws.pick(makers)(shopper)


def _forbid(
    shopper: Shopper, order: Order, kind: str, words: dict[str, str], fields: dict[str, str]
) -> Planned:
    words = {"order_id": shopper.order_words(order), **words}
    wish = wish_of(
        kind,
        shopper,
        {"order": words["order_id"], **fields},
        words=words,
        forbidden=True,
    )
    return Planned(wish, (read_order(shopper, order),))


def _late_cancel(shopper: Shopper) -> Planned | None:
    order = shopper.take_order(PROCESSED, DELIVERED)
    if order is None:
        return None
    reason = shopper.draws.pick(tuple(REASONS.values()))
    return _forbid(shopper, order, "cancel", {"reason": reason}, {"reason": reason})


def _bad_reason(shopper: Shopper) -> Planned | None:
    order = shopper.take_order(PENDING)
    if order is None:
        return None
    reason = shopper.draws.pick(_BAD_REASONS)
    return _forbid(shopper, order, "cancel", {"reason": reason}, {"reason": reason})


def _late_address(shopper: Shopper) -> Planned | None:
    order = shopper.take_order(PROCESSED, DELIVERED)
    if order is None:
        return None
    address = address_text(new_address(shopper))
    return _forbid(shopper, order, "order_address", {"address": address}, {"address": address})


def _early_return(shopper: Shopper) -> Planned | None:
    order = shopper.take_order(PENDING, PROCESSED)
    if order is None:
        return None
    return _forbid_return(shopper, order, order.transaction_method[0])


def _other_refund(shopper: Shopper) -> Planned | None:
    """The refund should go to a method that is neither the original one nor a gift card."""
    order = shopper.take_order(DELIVERED)
    if order is None:
        return None
    others = [
        number
        for number in range(shopper.row.methods)
        if number != order.transaction_method[0] and not shopper.is_gift_card(number)
    ]
    return _forbid_return(shopper, order, shopper.draws.pick(others)) if others else None


def _forbid_return(shopper: Shopper, order: Order, method: int) -> Planned:
    items = names_of(shopper, shopper.take_items(order, 1))
    payment = shopper.method_words(method)
    words = {"item": items, "payment_method": payment}
    return _forbid(shopper, order, "return", words, {"items": items, "payment": payment})
