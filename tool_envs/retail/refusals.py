"""Why a tool says no: stable codes for programs, sentences for agents."""

import enum

from tool_envs.toolkit import Refusal


class No(enum.IntEnum):
    """A reason to refuse a call. Guards return its number; 0 is a yes."""

    USER_NOT_FOUND = 1
    ORDER_NOT_FOUND = 2
    PRODUCT_NOT_FOUND = 3
    ITEM_NOT_FOUND = 4
    ORDER_NOT_PENDING = 5
    ORDER_NOT_DELIVERED = 6
    ITEMS_ALREADY_MODIFIED = 7
    ALREADY_REQUESTED = 8
    ITEM_NOT_IN_ORDER = 9
    COUNTS_DIFFER = 10
    NEW_ITEM_NOT_AVAILABLE = 11
    NOT_SAME_PRODUCT = 12
    SAME_ITEM = 13
    PAYMENT_METHOD_NOT_FOUND = 14
    PAYMENT_METHOD_NOT_ALLOWED = 15
    SAME_PAYMENT_METHOD = 16
    INSUFFICIENT_GIFT_CARD_BALANCE = 17
    TOO_MANY_PAYMENT_CHANGES = 18

    @property
    def refusal(self) -> Refusal:
        """What the agent is told; its code is the name in lower case."""
        return _REFUSALS[self]


_SENTENCES = {
    No.USER_NOT_FOUND: "There is no such user.",
    No.ORDER_NOT_FOUND: "There is no order with this id.",
    No.PRODUCT_NOT_FOUND: "There is no product with this id; item ids are no product ids.",
    No.ITEM_NOT_FOUND: "There is no item with this id; product ids are no item ids.",
    No.ORDER_NOT_PENDING: "The order is not pending.",
    No.ORDER_NOT_DELIVERED: "The order is not delivered.",
    No.ITEMS_ALREADY_MODIFIED: "Items of this order were modified; it can be neither modified nor cancelled.",
    No.ALREADY_REQUESTED: "A return or an exchange was requested for this order; only one is possible.",
    No.ITEM_NOT_IN_ORDER: "The order does not have these items, or not so many of them.",
    No.COUNTS_DIFFER: "There must be as many new items as old ones.",
    No.NEW_ITEM_NOT_AVAILABLE: "A new item is not available.",
    No.NOT_SAME_PRODUCT: "A new item is not a variant of the product that it replaces.",
    No.SAME_ITEM: "A new item is the same as the one that it replaces.",
    No.PAYMENT_METHOD_NOT_FOUND: "The user who placed the order has no payment method with this id.",
    No.PAYMENT_METHOD_NOT_ALLOWED: "A refund goes to what the order was paid with or to a gift card.",
    No.SAME_PAYMENT_METHOD: "The order is paid with this payment method already.",
    No.INSUFFICIENT_GIFT_CARD_BALANCE: "The gift card does not hold enough beyond what exchanges take.",
    No.TOO_MANY_PAYMENT_CHANGES: "The payment of this order was changed too often to change again.",
}
_REFUSALS = {no: Refusal(no.name.lower(), sentence) for no, sentence in _SENTENCES.items()}
