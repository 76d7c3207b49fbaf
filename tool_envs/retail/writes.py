"""What writes do: for each a guard, which says 0 or the number of a refusal, and an effect on copied rows.

Plain functions over rows and lists of small integers, so that they can be compiled as they stand. An effect
takes for granted that its guard said 0. Items are variant codes and methods numbers of the customer's payment
methods; both are -1 for what does not exist. A list of items comes with its length.
"""

from collections.abc import Sequence
from typing import Final

from tool_envs.retail.refusals import No
from tool_envs.retail.rows import (
    CANCELLED,
    DELIVERED,
    EXCHANGE_REQUESTED,
    GIFT_CARD,
    ITEM_MODIFIED,
    MAX_TRANSACTIONS,
    PAYMENT,
    PENDING,
    REFUND,
    RETURN_REQUESTED,
    Customer,
    Order,
    Variants,
)
from tool_envs.rows import kernel

_ADDED_AT_MOST: Final = 3
"""Transactions that a change of payment may lead to: its own two, and the one that ends all changes."""


@kernel
def guard_pending(order: Order) -> int:
    """Whether an order can be cancelled or modified."""
    if order.status == ITEM_MODIFIED:
        return No.ITEMS_ALREADY_MODIFIED
    if order.status != PENDING:
        return No.ORDER_NOT_PENDING
    return 0


@kernel
def guard_delivered(order: Order) -> int:
    """Whether items of an order can be returned or exchanged."""
    if order.status in (RETURN_REQUESTED, EXCHANGE_REQUESTED):
        return No.ALREADY_REQUESTED
    if order.status != DELIVERED:
        return No.ORDER_NOT_DELIVERED
    return 0


@kernel
def apply_cancel(order: Order, customer: Customer, reason: int) -> None:
    """Cancel an order and refund its open payment; guarded by `guard_pending`."""
    paid = open_payment(order)
    book(order, customer, REFUND, order.transaction_amount[paid], order.transaction_method[paid])
    order.status = CANCELLED
    order.cancel_reason = reason


@kernel
def guard_modify_payment(order: Order, customer: Customer, method: int) -> int:
    """Whether a pending order can be paid with another method."""
    refused = guard_pending(order)
    if refused:
        return refused
    if method < 0:
        return No.PAYMENT_METHOD_NOT_FOUND
    paid = open_payment(order)
    if order.transaction_method[paid] == method:
        return No.SAME_PAYMENT_METHOD
    if order.transactions + _ADDED_AT_MOST > MAX_TRANSACTIONS:
        return No.TOO_MANY_PAYMENT_CHANGES
    return guard_balance(customer, method, order.transaction_amount[paid])


@kernel
def apply_modify_payment(order: Order, customer: Customer, method: int) -> None:
    """Charge the new method with the whole amount, and refund the old one."""
    paid = open_payment(order)
    amount, old_method = order.transaction_amount[paid], order.transaction_method[paid]
    book(order, customer, PAYMENT, amount, method)
    book(order, customer, REFUND, amount, old_method)


@kernel
def guard_modify_items(
    order: Order,
    customer: Customer,
    variants: Variants,
    old: Sequence[int],
    old_count: int,
    new: Sequence[int],
    new_count: int,
    method: int,
) -> int:
    """Whether items of a pending order can be replaced by other variants."""
    refused = guard_pending(order)
    if refused:
        return refused
    return guard_replacement(order, customer, variants, old, old_count, new, new_count, method)


@kernel
def apply_modify_items(
    order: Order,
    customer: Customer,
    variants: Variants,
    old: Sequence[int],
    new: Sequence[int],
    count: int,
    method: int,
) -> None:
    """Replace items and book the difference of the prices.

    Of several items of one kind the first ones are replaced, by the new items in the order of their codes:
    so the order in which the pairs are named makes no difference.
    """
    difference = price_difference(variants, old, new, count)
    if difference > 0:
        book(order, customer, PAYMENT, difference, method)
    elif difference < 0:
        book(order, customer, REFUND, -difference, method)
    for place in range(order.item_count - 1, -1, -1):  # backwards: what stands before is still the old
        item = order.items[place]
        replacement = ranked(new, old, count, item, times(order.items, place, item))
        if replacement >= 0:
            order.items[place] = replacement
    order.status = ITEM_MODIFIED


@kernel
def guard_exchange(
    order: Order,
    customer: Customer,
    variants: Variants,
    old: Sequence[int],
    old_count: int,
    new: Sequence[int],
    new_count: int,
    method: int,
) -> int:
    """Whether items of a delivered order can be exchanged for other variants."""
    refused = guard_delivered(order)
    if refused:
        return refused
    return guard_replacement(order, customer, variants, old, old_count, new, new_count, method)


@kernel
def apply_exchange(
    order: Order,
    customer: Customer,
    variants: Variants,
    old: Sequence[int],
    new: Sequence[int],
    count: int,
    method: int,
) -> None:
    """Request an exchange. Nothing is booked until the items are back, but a gift card is held to it."""
    difference = price_difference(variants, old, new, count)
    for rank in range(count):
        order.asked[rank] = ranked(old, old, count, -1, rank)
        order.asked_new[rank] = ranked(new, new, count, -1, rank)
    order.asked_count = count
    order.asked_method = method
    order.asked_difference = difference
    order.status = EXCHANGE_REQUESTED
    if difference > 0 and customer.method_kind[method] == GIFT_CARD:
        customer.held[method] += difference


@kernel
def guard_return(order: Order, customer: Customer, items: Sequence[int], count: int, method: int) -> int:
    """Whether items of a delivered order can be returned for a refund to that method."""
    refused = guard_delivered(order)
    if refused:
        return refused
    if not has_items(order, items, count):
        return No.ITEM_NOT_IN_ORDER
    if method < 0:
        return No.PAYMENT_METHOD_NOT_FOUND
    original = order.transaction_method[open_payment(order)]
    if method != original and customer.method_kind[method] != GIFT_CARD:
        return No.PAYMENT_METHOD_NOT_ALLOWED
    return 0


@kernel
def apply_return(order: Order, items: Sequence[int], count: int, method: int) -> None:
    """Request a return. Nothing is booked until the items are back."""
    for rank in range(count):
        order.asked[rank] = ranked(items, items, count, -1, rank)
    order.asked_count = count
    order.asked_method = method
    order.status = RETURN_REQUESTED


@kernel
def guard_replacement(
    order: Order,
    customer: Customer,
    variants: Variants,
    old: Sequence[int],
    old_count: int,
    new: Sequence[int],
    new_count: int,
    method: int,
) -> int:
    """Whether new items can take the place of old ones, pair by pair, at that method's cost."""
    if not has_items(order, old, old_count):
        return No.ITEM_NOT_IN_ORDER
    if old_count != new_count:
        return No.COUNTS_DIFFER
    for pair in range(old_count):
        refused = guard_new_item(variants, old[pair], new[pair])
        if refused:
            return refused
    if method < 0:
        return No.PAYMENT_METHOD_NOT_FOUND
    return guard_balance(customer, method, price_difference(variants, old, new, old_count))


@kernel
def guard_new_item(variants: Variants, old: int, new: int) -> int:
    """Whether a variant can take the place of another."""
    if new < 0:
        return No.ITEM_NOT_FOUND
    if variants.product[new] != variants.product[old]:
        return No.NOT_SAME_PRODUCT
    if new == old:
        return No.SAME_ITEM
    if not variants.available[new]:
        return No.NEW_ITEM_NOT_AVAILABLE
    return 0


@kernel
def guard_balance(customer: Customer, method: int, amount: int) -> int:
    """Whether a method can pay an amount in cents: a gift card must hold it, and not for something else."""
    if customer.method_kind[method] != GIFT_CARD or amount <= 0:
        return 0
    if customer.balance[method] - customer.held[method] < amount:
        return No.INSUFFICIENT_GIFT_CARD_BALANCE
    return 0


@kernel
def open_payment(order: Order) -> int:
    """Which transaction pays for the order now: the last payment, as a change refunds the one before it."""
    place = order.transactions - 1
    while order.transaction_kind[place] != PAYMENT:
        place -= 1
    return place


@kernel
def book(order: Order, customer: Customer, kind: int, amount: int, method: int) -> None:
    """Add a payment or refund to the order and, when the method is a gift card, move its balance."""
    place = order.transactions
    order.transaction_kind[place] = kind
    order.transaction_amount[place] = amount
    order.transaction_method[place] = method
    order.transactions = place + 1
    if customer.method_kind[method] == GIFT_CARD:
        customer.balance[method] += amount if kind == REFUND else -amount


@kernel
def has_items(order: Order, items: Sequence[int], count: int) -> bool:
    """Whether the order has all the items, each as often as it is named."""
    for place in range(count):
        item = items[place]
        if times(items, count, item) > times(order.items, order.item_count, item):
            return False
    return True


@kernel
def times(items: Sequence[int], count: int, item: int) -> int:
    """How often an item stands among the first `count`."""
    found = 0
    for place in range(count):
        if items[place] == item:
            found += 1
    return found


@kernel
def price_difference(variants: Variants, old: Sequence[int], new: Sequence[int], count: int) -> int:
    """New prices minus old ones, in cents."""
    difference = 0
    for pair in range(count):
        difference += variants.price[new[pair]] - variants.price[old[pair]]
    return difference


@kernel
def ranked(values: Sequence[int], keys: Sequence[int], count: int, key: int, rank: int) -> int:
    """The value of that rank, from 0 for the smallest, among those whose key is `key` (-1: among all).

    Answers -1 when there are not so many.
    """
    for place in range(count):
        if key < 0 or keys[place] == key:
            before = 0
            for other in range(count):
                if (key < 0 or keys[other] == key) and (
                    values[other] < values[place] or (values[other] == values[place] and other < place)
                ):
                    before += 1
            if before == rank:
                return values[place]
    return -1
