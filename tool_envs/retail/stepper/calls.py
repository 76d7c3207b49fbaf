"""What a call of a tool does: to the records, and to what was shown. Kernels (see `tool_envs.rows`)."""

from tool_envs.retail.refusals import No
from tool_envs.retail.rows import MAX_ITEMS, MAX_METHODS, MAX_ORDERS, Customer, Order, Variants
from tool_envs.retail.scene.masks import (
    FIND_BY_EMAIL,
    FIND_BY_NAME,
    PROPOSE,
    READ_CATALOG,
    READ_ITEM,
    READ_ORDER,
    READ_PRODUCT,
    READ_PROFILE,
)
from tool_envs.retail.scene.seen import (
    see_catalog,
    see_found,
    see_item,
    see_order,
    see_product,
    see_profile,
    see_refused,
    see_written,
)
from tool_envs.retail.scene.sight import (
    ADDRESS,
    CANCEL,
    EXCHANGE,
    ITEMS,
    MAX_CHANGED,
    PAYMENT,
    RETURN,
    USER_ADDRESS,
    Draft,
    Shelves,
    Sight,
)
from tool_envs.retail.stepper.rows import Call, Errand, Lane, Room
from tool_envs.retail.writes import (
    apply_cancel,
    apply_exchange,
    apply_modify_items,
    apply_modify_payment,
    apply_return,
    guard_exchange,
    guard_modify_items,
    guard_modify_payment,
    guard_pending,
    guard_return,
)
from tool_envs.rows import kernel


@kernel
def run_call(lane: Lane, errand: Errand, shelves: Shelves, verb: int, room: Room) -> None:
    """Call the tool of a verb, a transfer aside, with what the draft has chosen."""
    sight, draft = lane.sight, lane.draft
    sight.scene.refused = 0
    if verb < PROPOSE:
        _write(lane, errand, shelves, room)
    elif verb == FIND_BY_EMAIL:
        see_found(sight)
    elif verb == FIND_BY_NAME:
        # They live where they said, unless their address was changed since.
        if errand.moved_zip >> lane.customer.address & 1:
            see_refused(sight, 0)
        else:
            see_found(sight)
    elif verb == READ_PROFILE:
        lane.read_profile = 1
        _show_profile(lane, errand)
    elif verb == READ_ORDER:
        lane.read |= 1 << draft.order
        see_order(sight, shelves, draft.order)
    elif verb == READ_PRODUCT:
        see_product(sight, draft.product)
    elif verb == READ_CATALOG:
        see_catalog(sight)
    elif verb == READ_ITEM:
        _show_item(sight, draft)


@kernel
def _show_profile(lane: Lane, errand: Errand) -> None:
    shown, customer, scene = lane.sight.customer, lane.customer, lane.sight.scene
    shown.methods, shown.orders = customer.methods, customer.orders
    for method in range(MAX_METHODS):
        shown.method_kind[method] = customer.method_kind[method]
        shown.balance[method] = customer.balance[method]
        scene.digits[method] = errand.digits[method]
    for place in range(MAX_ORDERS):
        scene.order_code[place] = errand.order_code[place]
    see_profile(lane.sight)


@kernel
def _show_item(sight: Sight, draft: Draft) -> None:
    """It is seen wherever the customer has it, as far as was shown."""
    variant = sight.orders[draft.line // MAX_ITEMS].items[draft.line % MAX_ITEMS]
    for place in range(MAX_ORDERS):
        if sight.scene.order_seen[place]:
            for line in range(sight.orders[place].item_count):
                if sight.orders[place].items[line] == variant:
                    see_item(sight, place, line)


# --- Writes


@kernel
def _write(lane: Lane, errand: Errand, shelves: Shelves, room: Room) -> None:
    sight, call = lane.sight, room.call
    tool = lane.draft.tool
    to_call(lane.draft, sight, errand.wanted[lane.state.wish].told_address, call)
    if tool == USER_ADDRESS:
        _use_yes(lane, call)
        lane.customer.address = call.address
        _show_profile(lane, errand)
        see_written(sight, tool, -1)
        lane.written = -1
        return
    order = sight.orders[call.order]
    refused = guard(order, lane.customer, shelves.variants, call)
    if refused:
        if breaks_rule(tool, refused):
            lane.broken = 1
        see_refused(sight, 1)
        return
    _use_yes(lane, call)
    if tool == CANCEL and not lane.reasons >> call.reason & 1:
        lane.broken = 1
    apply(order, lane.customer, shelves.variants, call)
    see_order(sight, shelves, call.order)
    see_written(sight, tool, call.order)
    lane.written = call.order


@kernel
def to_call(draft: Draft, sight: Sight, address: int, call: Call) -> None:
    """A draft that is whole as a call.

    Args:
        draft: The choices.
        sight: What was shown.
        address: Number of the address that was told last for the wish at hand.
        call: It is written here.
    """
    call.tool = draft.tool
    call.order = draft.order if draft.tool != USER_ADDRESS else -1
    call.method = draft.method if draft.method >= 0 else -1
    call.reason = draft.reason if draft.reason >= 0 else -1
    call.address = address if draft.tool in (ADDRESS, USER_ADDRESS) else 0
    call.any_news = 0
    has_items = draft.tool in (ITEMS, RETURN, EXCHANGE)
    for place in range(MAX_CHANGED):
        line = draft.items[place]
        there = has_items and line >= 0
        call.items[place] = sight.orders[draft.order].items[line] if there else -1
        call.news[place] = draft.news[place] if there and draft.tool != RETURN else -1
    sort_pairs(call)


@kernel
def sort_pairs(call: Call) -> None:
    """Put the pairs in the order of their codes."""
    first, second = call.items[0], call.items[1]
    if second >= 0 and (second < first or (second == first and call.news[1] < call.news[0])):
        call.items[0], call.items[1] = second, first
        other = call.news[0]
        call.news[0], call.news[1] = call.news[1], other


@kernel
def count_items(call: Call) -> int:
    """How many items a call is about."""
    return int(call.items[0] >= 0) + int(call.items[1] >= 0)


@kernel
def guard(order: Order, customer: Customer, variants: Variants, call: Call) -> int:
    """Whether the tool of a write that changes an order refuses the call: 0, or the number of a refusal."""
    count = count_items(call)
    if call.tool == PAYMENT:
        return guard_modify_payment(order, customer, call.method)
    if call.tool == ITEMS:
        return guard_modify_items(order, customer, variants, call.items, count, call.news, count, call.method)
    if call.tool == EXCHANGE:
        return guard_exchange(order, customer, variants, call.items, count, call.news, count, call.method)
    if call.tool == RETURN:
        return guard_return(order, customer, call.items, count, call.method)
    return guard_pending(order)


@kernel
def apply(order: Order, customer: Customer, variants: Variants, call: Call) -> None:
    """Do what a write that `guard` lets pass does to an order and its customer."""
    if call.tool == CANCEL:
        apply_cancel(order, customer, call.reason)
    elif call.tool == ADDRESS:
        order.address = call.address
    elif call.tool == PAYMENT:
        apply_modify_payment(order, customer, call.method)
    elif call.tool == ITEMS:
        apply_modify_items(order, customer, variants, call.items, call.news, count_items(call), call.method)
    elif call.tool == RETURN:
        apply_return(order, call.items, count_items(call), call.method)
    else:
        apply_exchange(order, customer, variants, call.items, call.news, count_items(call), call.method)


@kernel
def breaks_rule(tool: int, refused: int) -> bool:
    """Whether what a tool refused breaks a rule of the domain policy, too."""
    if refused == No.ITEMS_ALREADY_MODIFIED:
        return tool in (CANCEL, ADDRESS, ITEMS, PAYMENT)
    if refused == No.NOT_SAME_PRODUCT:
        return tool in (ITEMS, EXCHANGE)
    return refused == No.PAYMENT_METHOD_NOT_ALLOWED and tool == RETURN


# --- The explicit yes


@kernel
def _use_yes(lane: Lane, call: Call) -> None:
    """Use up the yes that covers a write, the most definite one, then the oldest. Else a rule breaks."""
    used = -1
    for number in range(len(lane.yeses)):
        yes = lane.yeses[number]
        if yes.tool < 0:
            break
        if covers(yes, call) and (used < 0 or (lane.yeses[used].any_news and not yes.any_news)):
            used = number
    if used < 0:
        lane.broken = 1
        return
    for number in range(used, len(lane.yeses) - 1):
        copy_call(lane.yeses[number + 1], lane.yeses[number])
    lane.yeses[len(lane.yeses) - 1].tool = -1


@kernel
def covers(yes: Call, call: Call) -> bool:
    """Whether a yes is one to that call."""
    if yes.tool != call.tool or yes.order != call.order or yes.method != call.method:
        return False
    if yes.reason != call.reason or yes.address != call.address:
        return False
    for place in range(MAX_CHANGED):
        if yes.items[place] != call.items[place]:
            return False
        if not yes.any_news and yes.news[place] != call.news[place]:
            return False
    return True


@kernel
def copy_call(source: Call, target: Call) -> None:
    """Write one call over another one."""
    target.tool, target.order, target.method = source.tool, source.order, source.method
    target.reason, target.address, target.any_news = source.reason, source.address, source.any_news
    for place in range(MAX_CHANGED):
        target.items[place], target.news[place] = source.items[place], source.news[place]
