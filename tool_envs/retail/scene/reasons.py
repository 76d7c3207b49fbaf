"""What follows from the words of a customer and what was shown.

Which order and item they mean, what the answer to a question is, why a wish cannot be fulfilled. Kernels, as
in `sight`.
"""

from typing import Final

from tool_envs.retail.rows import (
    CANCELLED,
    DELIVERED,
    EXCHANGE_REQUESTED,
    GIFT_CARD,
    ITEM_MODIFIED,
    MAX_ORDERS,
    PAYMENT,
    PENDING,
    RETURN_REQUESTED,
    Order,
)
from tool_envs.retail.scene.sight import (
    ASKS_CHEAPEST,
    ASKS_COUNT,
    FOR_CANCEL,
    FOR_PAYMENT,
    FOR_RETURN,
    FOR_SWAP,
    FOR_USER_ADDRESS,
    MAX_CHANGED,
    MAX_OPTIONS,
    OTHER_REASON,
    SEEN,
    Shelves,
    Sight,
)
from tool_envs.retail.writes import guard_balance, open_payment
from tool_envs.rows import kernel

REASONS: Final = (
    *("not_pending", "not_delivered", "already_modified", "already_requested", "cancelled"),
    *("cancel_reason", "refund_method", "not_available", "low_balance", "same_method", "no_tool"),
)
"""Codes of reasons against a wish, as the sentences of the domain know them."""
(
    _NOT_PENDING,
    _NOT_DELIVERED,
    _ALREADY_MODIFIED,
    _ALREADY_REQUESTED,
    _CANCELLED,
    _CANCEL_REASON,
    _REFUND_METHOD,
    _NOT_AVAILABLE,
    _LOW_BALANCE,
    _SAME_METHOD,
    NO_TOOL,
) = range(len(REASONS))


@kernel
def is_named(sight: Sight, place: int) -> bool:
    """Whether the words of the wish name a listed order by its id."""
    for named in range(MAX_CHANGED):
        if sight.scene.orders[named] >= 0 and sight.scene.orders[named] == sight.scene.order_code[place]:
            return True
    return False


@kernel
def is_another_named(sight: Sight, place: int) -> bool:
    """Whether the words of the wish name an order by its id, and not this one."""
    return sight.scene.orders[0] >= 0 and not is_named(sight, place)


@kernel
def has_product(sight: Sight, shelves: Shelves, place: int, product: int) -> bool:
    """Whether an order was shown and has an item of a product."""
    return line_of(sight, shelves, place, product) >= 0


@kernel
def line_of(sight: Sight, shelves: Shelves, place: int, product: int) -> int:
    """Which item of an order is of a product; -1 when none that was shown is."""
    order = sight.orders[place]
    if product >= 0 and sight.scene.order_seen[place]:
        for line in range(order.item_count):
            if shelves.variants.product[order.items[line]] == product:
                return line
    return -1


@kernel
def order_at_hand(sight: Sight, shelves: Shelves) -> int:
    """The place of the order that the words mean: by id, by what is in it, by the thing; -1: none shown."""
    for place in range(MAX_ORDERS):
        if is_named(sight, place):
            return place
    if sight.scene.orders[0] >= 0:
        return -1
    for product in (sight.scene.sign, sight.scene.things[0]):
        for place in range(MAX_ORDERS):
            if has_product(sight, shelves, place, product):
                return place
    return -1


@kernel
def variant_at_hand(sight: Sight, shelves: Shelves, rank: int) -> int:
    """The variant that the customer has of the thing that they named first or second; -1: none shown."""
    place = order_at_hand(sight, shelves)
    if place < 0:
        return -1
    line = line_of(sight, shelves, place, sight.scene.things[rank])
    return sight.orders[place].items[line] if line >= 0 else -1


@kernel
def is_wanted(sight: Sight, shelves: Shelves, rank: int, variant: int) -> bool:
    """Whether a variant is what the words want instead of a thing."""
    scene = sight.scene
    if scene.variants[0] >= 0:
        return variant in (scene.variants[0], scene.variants[1])
    wanted = scene.wants[rank]
    if wanted < 0:
        return False
    return has_value(shelves, variant, wanted) and (
        not scene.same[rank] or is_else_alike(sight, shelves, rank, variant, wanted)
    )


@kernel
def has_value(shelves: Shelves, variant: int, value: int) -> bool:
    """Whether a variant has an option with a value."""
    for place in range(variant * MAX_OPTIONS, (variant + 1) * MAX_OPTIONS):
        if shelves.values[place] == value:
            return True
    return False


@kernel
def is_else_alike(sight: Sight, shelves: Shelves, rank: int, variant: int, wanted: int) -> bool:
    """Whether a variant has all options but the wanted one like the customer's own."""
    own = variant_at_hand(sight, shelves, rank)
    if own < 0:
        return False
    for place in range(MAX_OPTIONS):
        value = shelves.values[own * MAX_OPTIONS + place]
        differs = value >= 0 and shelves.values[variant * MAX_OPTIONS + place] != value
        if differs and shelves.option[value] != shelves.option[wanted]:
            return False
    return True


@kernel
def is_method_named(sight: Sight, method: int) -> bool:
    """Whether the words of the wish name one of the payment methods that were shown."""
    scene = sight.scene
    if scene.method_kind < 0 or scene.method_kind != sight.customer.method_kind[method]:
        return False
    return scene.method_digits < 0 or scene.method_digits == scene.digits[method]


@kernel
def method_at_hand(sight: Sight) -> int:
    """The payment method that the words name; -1: none shown."""
    for method in range(sight.customer.methods):
        if is_method_named(sight, method):
            return method
    return -1


@kernel
def paid(order: Order) -> int:
    """What was paid for an order in all, less what was refunded, in cents."""
    amount = 0
    for number in range(order.transactions):
        sign = 1 if order.transaction_kind[number] == PAYMENT else -1
        amount += sign * order.transaction_amount[number]
    return amount


@kernel
def cheapest(shelves: Shelves, product: int) -> int:
    """The price of the cheapest variant of a product that can be ordered, in cents; 0 when none can."""
    least = 0
    for variant in range(shelves.first[product], shelves.first[product] + shelves.counts[product]):
        price = shelves.variants.price[variant]
        if shelves.variants.available[variant] and (least == 0 or price < least):
            least = price
    return least


@kernel
def available(shelves: Shelves, product: int) -> int:
    """How many variants of a product can be ordered."""
    count = 0
    for variant in range(shelves.first[product], shelves.first[product] + shelves.counts[product]):
        count += shelves.variants.available[variant]
    return count


@kernel
def was_looked_up(sight: Sight, shelves: Shelves) -> bool:
    """Whether what the wish at hand is about was shown: all that an answer to it follows from."""
    scene = sight.scene
    if scene.wish == FOR_USER_ADDRESS:
        return scene.profile > 0
    if scene.question in (ASKS_CHEAPEST, ASKS_COUNT):
        return scene.things[0] >= 0 and scene.product[scene.things[0]] == SEEN
    place = order_at_hand(sight, shelves)
    if place < 0 or not scene.order_seen[place]:
        return False
    if scene.wish == FOR_SWAP and sight.orders[place].status in (PENDING, DELIVERED):
        for rank in range(MAX_CHANGED):
            product = scene.things[rank]
            if product >= 0 and scene.product[product] != SEEN:
                return False
    return True


@kernel
def reason_against(sight: Sight, shelves: Shelves) -> int:
    """Why the wish at hand cannot be fulfilled, of `REASONS`; -1: nothing that was shown is against it."""
    scene = sight.scene
    if scene.wish in (-1, FOR_USER_ADDRESS) or not was_looked_up(sight, shelves):
        return -1
    order = sight.orders[order_at_hand(sight, shelves)]
    if scene.wish == FOR_RETURN or (scene.wish == FOR_SWAP and was_sent(order)):
        against = _against_sent(order)
    else:
        against = _against_pending(order)
    if against >= 0:
        return against
    method = method_at_hand(sight)
    if scene.wish == FOR_CANCEL:
        return _CANCEL_REASON if scene.reason == OTHER_REASON else -1
    if scene.wish == FOR_RETURN:
        return -1 if _may_refund(sight, order, method) else _REFUND_METHOD
    if scene.wish == FOR_PAYMENT:
        return _against_payment(sight, order, method)
    if scene.wish == FOR_SWAP:
        return -1 if _is_some_wanted(sight, shelves) else _NOT_AVAILABLE
    return -1


@kernel
def was_sent(order: Order) -> bool:
    """Whether an order is, or was, delivered."""
    return order.status in (DELIVERED, RETURN_REQUESTED, EXCHANGE_REQUESTED)


@kernel
def _against_pending(order: Order) -> int:
    if order.status == PENDING:
        return -1
    if order.status == ITEM_MODIFIED:
        return _ALREADY_MODIFIED
    return _CANCELLED if order.status == CANCELLED else _NOT_PENDING


@kernel
def _against_sent(order: Order) -> int:
    if order.status == DELIVERED:
        return -1
    if order.status in (RETURN_REQUESTED, EXCHANGE_REQUESTED):
        return _ALREADY_REQUESTED
    return _CANCELLED if order.status == CANCELLED else _NOT_DELIVERED


@kernel
def _may_refund(sight: Sight, order: Order, method: int) -> bool:
    if method < 0:
        return True
    original = order.transaction_method[open_payment(order)]
    return method == original or sight.customer.method_kind[method] == GIFT_CARD


@kernel
def _against_payment(sight: Sight, order: Order, method: int) -> int:
    if method < 0:
        return -1
    payment = open_payment(order)
    if order.transaction_method[payment] == method:
        return _SAME_METHOD
    if guard_balance(sight.customer, method, order.transaction_amount[payment]):
        return _LOW_BALANCE
    return -1


@kernel
def _is_some_wanted(sight: Sight, shelves: Shelves) -> bool:
    """Whether for each thing some variant that can be ordered is wanted."""
    for rank in range(MAX_CHANGED):
        product = sight.scene.things[rank]
        if product >= 0 and not _is_one_wanted(sight, shelves, rank, product):
            return False
    return True


@kernel
def _is_one_wanted(sight: Sight, shelves: Shelves, rank: int, product: int) -> bool:
    first = shelves.first[product]
    for variant in range(first, first + shelves.counts[product]):
        if shelves.variants.available[variant] and is_wanted(sight, shelves, rank, variant):
            return True
    return False
