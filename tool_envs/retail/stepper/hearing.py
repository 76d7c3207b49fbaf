"""What a customer understands of a proposal or report, on rows. Kernels (see `tool_envs.rows`).

It is what `tool_envs.simulators.hearing` makes of the sentences that the array view says. They name nothing
but ids, an address and a reason, so that what they mean follows from the call that they are made of.
"""

from tool_envs.retail.rows import MAX_ITEMS, MAX_ORDERS
from tool_envs.retail.scene.sight import EXCHANGE, ITEMS, MAX_CHANGED, Shelves
from tool_envs.retail.stepper.rows import (
    IN_ADDRESS,
    IN_ITEM,
    IN_METHOD,
    IN_NEW_ITEM,
    IN_ORDER,
    IN_REASON,
    Call,
    Errand,
    Lane,
    Room,
    Wanted,
)
from tool_envs.row_lists import ones
from tool_envs.rows import kernel
from tool_envs.service.wishes import MAX_ACCEPTED
from tool_envs.simulators.agenda_core import OTHER, SAME


@kernel
def hear_proposal(lane: Lane, errand: Errand, shelves: Shelves, room: Room) -> None:
    """The customer compares the call of a proposal with what they want; what stays the same was filled in."""
    heard, call = room.heard, room.call
    wanted = errand.wanted[lane.state.wish]
    heard.tool = _compare_tools(call.tool, wanted.tool)
    heard.identified = int(wanted.tool >= 0)
    heard.agrees = heard.others = heard.correctable = 0
    if heard.tool == OTHER:
        return
    for number in range(MAX_ACCEPTED):
        if wanted.calls[number].tool >= 0 and not wrong_parts(errand, shelves, call, wanted.calls[number]):
            heard.agrees |= 1 << number
    room.wrong = nearest_wrong(errand, shelves, wanted, call, lane.state.sets)
    heard.correctable = int(room.wrong & worded(wanted, lane.state.sets) > 0)
    heard.others = _other_sets(errand, shelves, wanted, call, heard.agrees, lane.state.sets)


@kernel
def hear_report(lane: Lane, errand: Errand, room: Room, tool: int, order: int) -> None:
    """The customer hears that a write was made, which names its order alone."""
    heard = room.heard
    wanted = errand.wanted[lane.state.wish]
    heard.tool = _compare_tools(tool, wanted.tool)
    heard.agrees = 0
    for number in range(MAX_ACCEPTED):
        of_wish = wanted.calls[number].order
        if wanted.calls[number].tool >= 0 and (order < 0 or of_wish < 0 or of_wish == order):
            heard.agrees |= 1 << number


@kernel
def _compare_tools(named: int, wanted: int) -> int:
    """People call a change of items and an exchange by the same words."""
    alike = named in (ITEMS, EXCHANGE) and wanted in (ITEMS, EXCHANGE)
    return SAME if named == wanted or alike else OTHER


@kernel
def wrong_parts(errand: Errand, shelves: Shelves, call: Call, wanted: Call) -> int:
    """Bits of `PARTS` in which the words of a proposal contradict an accepted call."""
    wrong = 0
    if call.order != wanted.order:
        wrong |= 1 << IN_ORDER
    if call.method != wanted.method:
        wrong |= 1 << IN_METHOD
    if call.reason != wanted.reason:
        wrong |= 1 << IN_REASON
    if call.address != wanted.address:
        wrong |= 1 << IN_ADDRESS
    for place in range(MAX_CHANGED):
        for variant in (call.items[place], call.news[place]):
            if variant < 0:
                continue
            own, swappable = _is_own(errand, variant), _is_swappable(errand, shelves, variant)
            # An id that nobody knows is taken for that of an item; one of both kinds is rather an item.
            if (own or not swappable) and variant not in (wanted.items[0], wanted.items[1]):
                wrong |= 1 << IN_ITEM
            is_new = swappable and not own and wanted.tool in (ITEMS, EXCHANGE)
            if is_new and variant not in (wanted.news[0], wanted.news[1]):
                wrong |= 1 << IN_NEW_ITEM
    return wrong


@kernel
def nearest_wrong(errand: Errand, shelves: Shelves, wanted: Wanted, call: Call, sets: int) -> int:
    """What is wrong in a proposal beside the accepted call of a mask that is nearest to it."""
    nearest, fewest = 0, -1
    for number in range(MAX_ACCEPTED):
        if sets >> number & 1:
            wrong = wrong_parts(errand, shelves, call, wanted.calls[number])
            if fewest < 0 or ones(wrong) < fewest:
                nearest, fewest = wrong, ones(wrong)
    return nearest


@kernel
def missing_parts(call: Call, wanted: Call) -> int:
    """Bits of `PARTS` of which a proposal that does not contradict an accepted call names too little."""
    missing = 0
    for place in range(MAX_CHANGED):
        item, new = wanted.items[place], wanted.news[place]
        if item >= 0 and not _names(call, item):
            missing |= 1 << IN_ITEM
        if new >= 0 and not _names(call, new):
            missing |= 1 << IN_NEW_ITEM
    return missing


@kernel
def _names(call: Call, variant: int) -> bool:
    """Whether a proposal names a variant, as an item or as a new one."""
    return variant in (call.items[0], call.items[1], call.news[0], call.news[1])


@kernel
def _is_own(errand: Errand, variant: int) -> bool:
    """Whether the customer bought such an item."""
    for place in range(MAX_ORDERS):
        for line in range(MAX_ITEMS):
            if errand.orders[place].items[line] == variant:
                return True
    return False


@kernel
def _is_swappable(errand: Errand, shelves: Shelves, variant: int) -> bool:
    """Whether it is a variant of a product of which the customer wants another one."""
    for number in range(len(errand.swapped)):
        if errand.swapped[number] == shelves.variants.product[variant]:
            return True
    return False


@kernel
def shares_news(wanted: Wanted, sets: int) -> int:
    """The first of the accepted calls of a mask, when all of them have the same new items; else -1."""
    first = -1
    for number in range(MAX_ACCEPTED):
        if sets >> number & 1:
            if first < 0:
                first = number
            elif not _same_news(wanted.calls[first], wanted.calls[number]):
                return -1
    return first


@kernel
def _same_news(one: Call, other: Call) -> bool:
    """Whether two calls have the same new items, in any order."""
    if one.news[0] == other.news[0] and one.news[1] == other.news[1]:
        return True
    return one.news[0] == other.news[1] and one.news[1] == other.news[0]


@kernel
def everything(wanted: Wanted) -> int:
    """The mask of all accepted calls."""
    sets = 0
    for number in range(MAX_ACCEPTED):
        if wanted.calls[number].tool >= 0:
            sets |= 1 << number
    return sets


@kernel
def narrowed_to(wanted: Wanted, sets: int) -> int:
    """The accepted call whose new items alone are wanted still, by one who changed their mind; else -1."""
    if wanted.calls[0].news[0] < 0 or shares_news(wanted, everything(wanted)) >= 0:
        return -1
    return shares_news(wanted, sets)


@kernel
def worded(wanted: Wanted, sets: int) -> int:
    """Bits of the parts for which the customer has words now."""
    return wanted.worded | (1 << IN_NEW_ITEM if narrowed_to(wanted, sets) >= 0 else 0)


@kernel
def _other_sets(errand: Errand, shelves: Shelves, wanted: Wanted, call: Call, agrees: int, sets: int) -> int:
    """What is left for one who agrees, and now wants something else: another method, or other new items."""
    agreeing = agrees & sets
    if not agreeing or agreeing == sets:
        return 0
    nearest, fewest = -1, 0
    for number in range(MAX_ACCEPTED):
        if sets & ~agrees & 1 << number:
            wrong = ones(wrong_parts(errand, shelves, call, wanted.calls[number]))
            if nearest < 0 or wrong < fewest:
                nearest, fewest = number, wrong
    found = 0
    for number in range(MAX_ACCEPTED):
        if sets >> number & 1 and _same_news(wanted.calls[nearest], wanted.calls[number]):
            found |= 1 << number
    return found
