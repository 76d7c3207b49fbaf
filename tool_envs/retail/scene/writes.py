"""Which writes can be made or proposed, on what was shown. Kernels, as in `sight`."""

from tool_envs.retail.rows import CANCEL_REASONS, DELIVERED, MAX_ORDERS, PENDING, Order
from tool_envs.retail.scene.reasons import is_another_named, is_method_named
from tool_envs.retail.scene.sight import (
    ADDRESS,
    CANCEL,
    EXCHANGE,
    NONE,
    PAYMENT,
    RETURN,
    SEEN,
    USER_ADDRESS,
    WRITE_TOOLS,
    Draft,
    Shelves,
    Sight,
    may_be,
)
from tool_envs.retail.writes import (
    guard_balance,
    guard_delivered,
    guard_modify_payment,
    guard_new_item,
    guard_pending,
    guard_return,
)
from tool_envs.rows import kernel


@kernel
def fits_write(sight: Sight, shelves: Shelves, guarded: bool, draft: Draft) -> bool:
    """Whether a call can come of a draft; `guarded`: one that no tool refuses and no word speaks against."""
    scene = sight.scene
    if draft.tool == USER_ADDRESS:
        return scene.found > 0 and scene.address > 0 and (scene.profile > 0 or not guarded)
    if draft.order >= 0:
        return _fits_order(sight, shelves, guarded, draft, draft.order)
    for place in range(MAX_ORDERS):
        if _fits_order(sight, shelves, guarded, draft, place):
            return True
    return False


@kernel
def possible_writes(sight: Sight, shelves: Shelves, guarded: bool, draft: Draft) -> int:
    """Bits of the writes for which an open draft fits; its `tool` is changed.

    With `guarded` one that no order's status lets pass is not looked at closely.
    """
    statuses = 0
    for place in range(MAX_ORDERS):
        if sight.scene.order_seen[place]:
            statuses |= 1 << sight.orders[place].status
    found = 0
    for tool in range(len(WRITE_TOOLS)):
        needed = DELIVERED if tool in (RETURN, EXCHANGE) else PENDING
        if guarded and tool != USER_ADDRESS and not statuses >> needed & 1:
            continue
        draft.tool = tool
        if fits_write(sight, shelves, guarded, draft):
            found |= 1 << tool
    return found


@kernel
def _fits_order(sight: Sight, shelves: Shelves, guarded: bool, draft: Draft, place: int) -> bool:
    """Whether a call that changes that order can come of a draft."""
    scene, order = sight.scene, sight.orders[place]
    if scene.order_code[place] < 0 or (guarded and not scene.order_seen[place]):
        return False
    if guarded and (_refuses_status(order, draft.tool) or is_another_named(sight, place)):
        return False
    if draft.tool == CANCEL:
        return _fits_reason(sight, guarded, draft)
    if draft.tool == ADDRESS:
        return scene.address > 0
    if draft.tool == PAYMENT:
        return _fits_payment(sight, guarded, draft, order)
    if not scene.order_seen[place]:
        return False
    if draft.tool == RETURN:
        return _fits_return(sight, guarded, draft, order)
    return _fits_swap(sight, shelves, guarded, draft, order)


@kernel
def _refuses_status(order: Order, tool: int) -> bool:
    if tool in (RETURN, EXCHANGE):
        return guard_delivered(order) != 0
    return guard_pending(order) != 0


@kernel
def _fits_reason(sight: Sight, guarded: bool, draft: Draft) -> bool:
    """Under the rules a reason that the customer gave."""
    for reason in range(len(CANCEL_REASONS)):
        if may_be(draft.reason, reason) and (not guarded or sight.scene.reason == reason):
            return True
    return False


@kernel
def _fits_payment(sight: Sight, guarded: bool, draft: Draft, order: Order) -> bool:
    for method in range(sight.customer.methods):
        refused = guarded and guard_modify_payment(order, sight.customer, method) != 0
        if _may_be_method(sight, guarded, draft, method) and not refused:
            return True
    return False


@kernel
def _fits_return(sight: Sight, guarded: bool, draft: Draft, order: Order) -> bool:
    if not _fits_items(draft, order):
        return False
    for method in range(sight.customer.methods):
        # Any of its items stands for those of the draft.
        refused = guarded and guard_return(order, sight.customer, order.items, 1, method) != 0
        if _may_be_method(sight, guarded, draft, method) and not refused:
            return True
    return False


@kernel
def _may_be_method(sight: Sight, guarded: bool, draft: Draft, method: int) -> bool:
    """Whether that method can be chosen; no money is moved to or from one that the customer did not name."""
    return may_be(draft.method, method) and (not guarded or is_method_named(sight, method))


@kernel
def _fits_items(draft: Draft, order: Order) -> bool:
    """Whether the items chosen so far are different ones of the order, which has as many as are needed."""
    first, second = draft.items[0], draft.items[1]
    if first >= order.item_count or second >= order.item_count or (second >= 0 and order.item_count < 2):
        return False
    return first < 0 or first != second


@kernel
def _fits_swap(sight: Sight, shelves: Shelves, guarded: bool, draft: Draft, order: Order) -> bool:
    """Tries all items; of new ones that are open the cheapest is best for what can be paid."""
    for first in range(order.item_count):
        if not may_be(draft.items[0], first) or not _is_swappable(
            sight, shelves, guarded, order.items[first], draft.news[0]
        ):
            continue
        cost = _least_cost(shelves, guarded, order.items[first], draft.news[0])
        if may_be(draft.items[1], NONE) and _can_pay(sight, guarded, draft, cost):
            return True
        for second in range(order.item_count):
            if second == first or not may_be(draft.items[1], second):
                continue
            if not _is_swappable(sight, shelves, guarded, order.items[second], draft.news[1]):
                continue
            both = cost + _least_cost(shelves, guarded, order.items[second], draft.news[1])
            if _can_pay(sight, guarded, draft, both):
                return True
    return False


@kernel
def _is_swappable(sight: Sight, shelves: Shelves, guarded: bool, old: int, new: int) -> bool:
    """Whether that new variant, or where it is open any, can take the place of the old one."""
    product = shelves.variants.product[old]
    if sight.scene.product[product] != SEEN:
        return False
    first = shelves.first[product]
    for variant in range(first, first + shelves.counts[product]):
        if may_be(new, variant) and not (guarded and guard_new_item(shelves.variants, old, variant)):
            return True
    return False


@kernel
def _least_cost(shelves: Shelves, guarded: bool, old: int, new: int) -> int:
    """The price of the new variant, or of the cheapest that there can be, minus that of the old one."""
    if new >= 0:
        return shelves.variants.price[new] - shelves.variants.price[old]
    least = 0
    some = False
    first = shelves.first[shelves.variants.product[old]]
    for variant in range(first, first + shelves.counts[shelves.variants.product[old]]):
        if not (guarded and guard_new_item(shelves.variants, old, variant)):
            cost = shelves.variants.price[variant] - shelves.variants.price[old]
            if not some or cost < least:
                least, some = cost, True
    return least


@kernel
def _can_pay(sight: Sight, guarded: bool, draft: Draft, cost: int) -> bool:
    for method in range(sight.customer.methods):
        refused = guarded and guard_balance(sight.customer, method, cost) != 0
        if _may_be_method(sight, guarded, draft, method) and not refused:
            return True
    return False
