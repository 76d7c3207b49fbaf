"""What an episode earned, on rows. Kernels (see `tool_envs.rows`).

It is what `tool_envs.service.grading` and the rules of the store say of it. Some of that cannot be otherwise
here, since the array view shows and says nothing but what was shown: nothing is made up, no other customer's
records are touched, and every reply is English, formal and short.
"""

from tool_envs.retail.rows import MAX_ITEMS, MAX_METHODS, MAX_ORDERS, MAX_TRANSACTIONS, Customer, Order
from tool_envs.retail.scene.sight import MAX_CHANGED, SEEN, USER_ADDRESS, Shelves
from tool_envs.retail.stepper.calls import apply, guard
from tool_envs.retail.stepper.rows import (
    AMOUNT,
    COUNT,
    MAX_WISHES,
    NO_FACT,
    STATUS,
    Due,
    Errand,
    Lane,
    Room,
)
from tool_envs.rows import kernel
from tool_envs.service.wishes import MAX_ACCEPTED


@kernel
def note_facts(lane: Lane, errand: Errand, amount: int, statuses: int, counts: int) -> None:
    """A sentence told an amount in cents (-1: none), statuses and counts (bits): some question's answer."""
    for number in range(MAX_WISHES):
        due = errand.dues[number]
        if due.step < -1 or not lane.asked >> number & 1:
            continue
        if due.fact == AMOUNT:
            is_told = amount == due.value
        elif due.fact == STATUS:
            is_told = statuses >> due.value & 1 > 0
        else:
            is_told = due.fact == COUNT and counts >> due.value & 1 > 0
        if is_told:
            lane.told |= 1 << number


@kernel
def earned(lane: Lane, errand: Errand, shelves: Shelves, room: Room) -> int:
    """The terminal reward of an episode that the customer ended: 1 or 0."""
    if lane.broken:
        return 0
    for number in range(MAX_WISHES):
        due = errand.dues[number]
        if due.step < -1:
            break
        if due.fact != NO_FACT and not (lane.told >> number & 1 and _was_looked_up(lane, due)):
            return 0
        if due.forbidden and not (lane.taken >> number & 1 and _was_looked_up(lane, due)):
            return 0
    if lane.customer.address != _address_due(errand):
        return 0
    for place in range(MAX_ORDERS):
        if not _is_order_right(lane, errand, shelves, place, room):
            return 0
    return 1


@kernel
def _was_looked_up(lane: Lane, due: Due) -> bool:
    """Whether all that a wish is about was."""
    if due.orders & ~lane.read or (due.profile and not lane.read_profile):
        return False
    for place in range(MAX_CHANGED):
        if due.products[place] >= 0 and lane.sight.scene.product[due.products[place]] != SEEN:
            return False
    return True


@kernel
def _address_due(errand: Errand) -> int:
    """Number of the address that the profile must have."""
    for number in range(MAX_WISHES):
        step = errand.dues[number].step
        if step >= 0 and errand.wanted[step].tool == USER_ADDRESS:
            return errand.wanted[step].address
    return 0


@kernel
def _is_order_right(lane: Lane, errand: Errand, shelves: Shelves, place: int, room: Room) -> bool:
    """Whether an order is as one of the accepted calls leaves it; no two wishes change the same order."""
    order = lane.sight.orders[place]
    for number in range(MAX_WISHES):
        step = errand.dues[number].step
        if step < 0 or errand.wanted[step].calls[0].order != place:
            continue
        for choice in range(MAX_ACCEPTED):
            call = errand.wanted[step].calls[choice]
            if call.tool < 0:
                break
            copy_order(errand.orders[place], room.order)
            copy_customer(errand.customer, room.customer)
            if not guard(room.order, room.customer, shelves.variants, call):
                apply(room.order, room.customer, shelves.variants, call)
                if same_order(order, room.order):
                    return True
        return False
    return same_order(order, errand.orders[place])


@kernel
def same_order(one: Order, other: Order) -> bool:
    """Whether two states of an order are equal in what counts: the reason of a cancellation does not."""
    if one.status != other.status or one.address != other.address:
        return False
    if one.transactions != other.transactions or one.asked_count != other.asked_count:
        return False
    if one.asked_method != other.asked_method or one.asked_difference != other.asked_difference:
        return False
    for line in range(MAX_ITEMS):
        if one.items[line] != other.items[line]:
            return False
        if one.asked[line] != other.asked[line] or one.asked_new[line] != other.asked_new[line]:
            return False
    for number in range(one.transactions):
        if one.transaction_kind[number] != other.transaction_kind[number]:
            return False
        if one.transaction_amount[number] != other.transaction_amount[number]:
            return False
        if one.transaction_method[number] != other.transaction_method[number]:
            return False
    return True


@kernel
def copy_order(source: Order, target: Order) -> None:
    """Write one order over another one."""
    target.customer, target.number, target.address = source.customer, source.number, source.address
    target.status, target.item_count, target.transactions = (
        source.status,
        source.item_count,
        source.transactions,
    )
    target.cancel_reason, target.asked_count = source.cancel_reason, source.asked_count
    target.asked_method, target.asked_difference = source.asked_method, source.asked_difference
    for line in range(MAX_ITEMS):
        target.items[line] = source.items[line]
        target.asked[line], target.asked_new[line] = source.asked[line], source.asked_new[line]
    for number in range(MAX_TRANSACTIONS):
        target.transaction_kind[number] = source.transaction_kind[number]
        target.transaction_amount[number] = source.transaction_amount[number]
        target.transaction_method[number] = source.transaction_method[number]


@kernel
def copy_customer(source: Customer, target: Customer) -> None:
    """Write one customer over another one."""
    target.index, target.address, target.orders = source.index, source.address, source.orders
    target.methods = source.methods
    for method in range(MAX_METHODS):
        target.method_kind[method] = source.method_kind[method]
        target.balance[method] = source.balance[method]
        target.held[method] = source.held[method]
