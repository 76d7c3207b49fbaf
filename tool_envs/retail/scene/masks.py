"""What can be done, on what was shown. Kernels, as in `sight`.

An action is a verb and a draft. `fits` says whether a draft that is open in parts can be completed to an
allowed action; so a choice is allowed when the draft with it fits.

Without `policy` all is allowed that can be expressed: with any entity of the right kind that was shown. With
`policy`, as far as it follows from what was shown, no call that a tool would refuse or the rules forbid, none
for another order than the words name or for a payment method that they do not name, no look-up of what was
seen, no question that was answered, no refusal of what was not looked up, and nothing that ends a
conversation too early by being polite.
"""

from typing import Final

from tool_envs.retail.rows import MAX_ITEMS, MAX_ORDERS
from tool_envs.retail.scene.reasons import was_looked_up
from tool_envs.retail.scene.sight import (
    EMAIL,
    FOR_ADDRESS,
    FOR_CANCEL,
    FOR_PAYMENT,
    FOR_RETURN,
    FOR_SWAP,
    FOR_USER_ADDRESS,
    IDENTITY,
    ITEM,
    LISTED,
    METHOD,
    NAME,
    NEW_ADDRESS,
    NEW_ITEM,
    ORDER,
    OTHER,
    PRODUCTS,
    REASON,
    SEEN,
    SLOTS,
    WISHES,
    WRITE_TOOLS,
    ZIP,
    Draft,
    Scene,
    Shelves,
    Sight,
    may_be,
)
from tool_envs.retail.scene.writes import fits_write, possible_writes
from tool_envs.row_lists import as_bits
from tool_envs.rows import kernel

# Verbs: the writes, their proposals, and so on; those of a schema version are some of them.
CALL: Final = 0
"""First of the verbs that call a write, in the order of `WRITE_TOOLS`."""
PROPOSE: Final = CALL + len(WRITE_TOOLS)
"""First of the verbs that propose a write."""
ASK: Final = PROPOSE + len(WRITE_TOOLS)
"""First of the verbs that ask for one of `SLOTS`."""
OTHERS: Final = (
    *("find_user_id_by_email", "find_user_id_by_name_zip", "get_user_details", "get_order_details"),
    *("get_product_details", "get_item_details", "list_all_product_types", "transfer_to_human_agents"),
    *("tell_total", "tell_status", "tell_cheapest", "tell_count", "refuse", "report", "more"),
)
"""The verbs after them."""
FIND_BY_EMAIL: Final = ASK + len(SLOTS)
(
    _,
    FIND_BY_NAME,
    READ_PROFILE,
    READ_ORDER,
    READ_PRODUCT,
    READ_ITEM,
    READ_CATALOG,
    TRANSFER,
    TELL_TOTAL,
    TELL_STATUS,
    TELL_CHEAPEST,
    TELL_COUNT,
    REFUSE,
    REPORT,
    MORE,
) = range(FIND_BY_EMAIL, FIND_BY_EMAIL + len(OTHERS))

_SLOTS_OF = {
    FOR_CANCEL: (ORDER, REASON),
    FOR_ADDRESS: (ORDER, NEW_ADDRESS),
    FOR_USER_ADDRESS: (NEW_ADDRESS,),
    FOR_SWAP: (ORDER, ITEM, NEW_ITEM, METHOD),
    FOR_PAYMENT: (ORDER, METHOD),
    FOR_RETURN: (ORDER, ITEM, METHOD),
}
_NEEDED: Final = (*(as_bits(_SLOTS_OF[wish]) for wish in range(len(WISHES))), 0)
"""For each kind of wish, and then for none: bits of the slots that it has."""
_ALL_SLOTS: Final = (1 << len(SLOTS)) - 1
_BY_EMAIL: Final = 1 << EMAIL
_BY_NAME: Final = 1 << NAME | 1 << ZIP
_WHO: Final = _BY_EMAIL | _BY_NAME
"""Bits of the slots of identity: by which somebody is found, and all of them."""


@kernel
def fits(sight: Sight, shelves: Shelves, policy: bool, verb: int, draft: Draft) -> bool:
    """Whether the open parts of a draft can be chosen so that an allowed action comes of it."""
    if verb < PROPOSE:
        return _fits_call(sight, shelves, policy, draft)
    if verb < ASK:
        return _fits_proposal(sight, shelves, policy, draft)
    if verb < FIND_BY_EMAIL:
        return not policy or _worth_asking(sight) >> (verb - ASK) & 1 > 0
    if verb >= TELL_TOTAL:
        return _fits_talk(sight, shelves, policy, verb, draft)
    if verb == TRANSFER:
        return not policy  # no wish is beyond the tools
    return _fits_read(sight, policy, verb, draft)


@kernel
def allowed_verbs(sight: Sight, shelves: Shelves, policy: bool, draft: Draft) -> int:
    """Bits of the verbs for which an open draft fits: what `fits` says of each of them, in one pass.

    Args:
        sight: What is known.
        shelves: The store.
        policy: The level.
        draft: An open one; its `tool` is changed.
    """
    found = _allowed_reads(sight, policy) | _allowed_talk(sight, shelves, policy)
    if policy:
        if sight.scene.yes:
            found |= 1 << int(CALL + sight.proposed.tool)
    else:
        found |= 1 << TRANSFER
    if sight.scene.found:  # nobody's orders were listed before
        writes = possible_writes(sight, shelves, policy, draft)
        if not policy:
            found |= writes << CALL
        elif sight.scene.yes:
            writes &= ~(1 << int(sight.proposed.tool))
        found |= writes << PROPOSE
    return found | (_worth_asking(sight) if policy else _ALL_SLOTS) << ASK


@kernel
def _allowed_reads(sight: Sight, policy: bool) -> int:
    """Bits of the verbs that look something up, or tell of what was."""
    scene = sight.scene
    found = 0
    if _are_told(scene, _BY_EMAIL) and not (policy and scene.found):
        found |= 1 << FIND_BY_EMAIL
    if _are_told(scene, _BY_NAME) and not (policy and scene.found):
        found |= 1 << FIND_BY_NAME
    if scene.found and not (policy and scene.profile and not scene.stale):
        found |= 1 << READ_PROFILE
    if not (policy and scene.catalog):
        found |= 1 << READ_CATALOG
    for place in range(MAX_ORDERS):
        if is_order_open(sight, policy, place):
            found |= 1 << READ_ORDER
        if scene.order_seen[place]:
            found |= 1 << TELL_TOTAL | 1 << TELL_STATUS
            every = (1 << sight.orders[place].item_count) - 1
            if not policy or scene.items_seen[place] & every != every:
                found |= 1 << READ_ITEM
    for product in range(PRODUCTS):
        shown = scene.product[product]
        if shown == SEEN:
            found |= 1 << TELL_CHEAPEST | 1 << TELL_COUNT
        if shown == LISTED or (shown == SEEN and not policy):
            found |= 1 << READ_PRODUCT
    return found


@kernel
def _allowed_talk(sight: Sight, shelves: Shelves, policy: bool) -> int:
    """Bits of the other things to say."""
    found = 0
    for verb in (REFUSE, REPORT, MORE):
        if _fits_answer(sight, shelves, policy, verb):
            found |= 1 << verb
    return found


# --- Looking up


@kernel
def _are_told(scene: Scene, slots: int) -> bool:
    """Whether all of some slots of identity, as bits, are told."""
    return scene.told & slots == slots


@kernel
def _fits_read(sight: Sight, policy: bool, verb: int, draft: Draft) -> bool:
    scene = sight.scene
    if verb == FIND_BY_EMAIL:
        return _are_told(scene, _BY_EMAIL) and not (policy and scene.found)
    if verb == FIND_BY_NAME:
        return _are_told(scene, _BY_NAME) and not (policy and scene.found)
    if verb == READ_PROFILE:
        return scene.found > 0 and not (policy and scene.profile and not scene.stale)
    if verb == READ_CATALOG:
        return not (policy and scene.catalog)
    if verb == READ_ORDER:
        return _is_order_listed(sight, policy, draft)
    if verb == READ_PRODUCT:
        return _is_product_listed(sight, policy, draft)
    return _is_item_shown(sight, policy, draft)


@kernel
def is_order_open(sight: Sight, unseen: bool, place: int) -> bool:
    """Whether an order can be looked up; `unseen`: one that was not shown."""
    return sight.scene.order_code[place] >= 0 and not (unseen and sight.scene.order_seen[place])


@kernel
def is_product_open(sight: Sight, unseen: bool, product: int) -> bool:
    """Whether a product can be looked up; `unseen`: one that was not shown."""
    shown = sight.scene.product[product]
    return shown == LISTED or (shown == SEEN and not unseen)


@kernel
def fits_alone(sight: Sight, policy: bool, verb: int, choice: int) -> bool:
    """What `fits` says of a verb whose only slot is for a product or an item, with that choice."""
    if verb == READ_PRODUCT:
        return is_product_open(sight, policy, choice)
    if verb == READ_ITEM:
        return _is_line_open(sight, policy, choice)
    return sight.scene.product[choice] == SEEN


@kernel
def _is_order_listed(sight: Sight, unseen: bool, draft: Draft) -> bool:
    if draft.order >= 0:
        return is_order_open(sight, unseen, draft.order)
    for place in range(MAX_ORDERS):
        if is_order_open(sight, unseen, place):
            return True
    return False


@kernel
def _is_product_listed(sight: Sight, unseen: bool, draft: Draft) -> bool:
    if draft.product >= 0:
        return is_product_open(sight, unseen, draft.product)
    for product in range(PRODUCTS):
        if is_product_open(sight, unseen, product):
            return True
    return False


@kernel
def _is_item_shown(sight: Sight, unseen: bool, draft: Draft) -> bool:
    if draft.line >= 0:
        return _is_line_open(sight, unseen, draft.line)
    for line in range(MAX_ORDERS * MAX_ITEMS):
        if _is_line_open(sight, unseen, line):
            return True
    return False


@kernel
def _is_line_open(sight: Sight, unseen: bool, line: int) -> bool:
    """Whether an item of an order can be looked up."""
    place, number = line // MAX_ITEMS, line % MAX_ITEMS
    if not sight.scene.order_seen[place] or number >= sight.orders[place].item_count:
        return False
    return not (unseen and sight.scene.items_seen[place] >> number & 1)


# --- Talking


@kernel
def _worth_asking(sight: Sight) -> int:
    """Bits of the slots that are open and serve to find the customer or the wish; more details always do."""
    scene = sight.scene
    slots = _NEEDED[int(scene.wish)]
    for slot in range(IDENTITY, OTHER):
        if slots >> slot & 1 and _is_said(sight, slot):
            slots &= ~(1 << slot)
    if not scene.found:
        slots |= _WHO & ~int(scene.told)
    return slots & ~int(scene.unknown) | 1 << OTHER


@kernel
def _is_said(sight: Sight, slot: int) -> bool:
    """Whether something was said of a slot of the wish at hand."""
    scene = sight.scene
    if slot == ORDER:
        return scene.orders[0] >= 0 or scene.sign >= 0
    if slot == ITEM:
        return scene.things[0] >= 0
    if slot == NEW_ITEM:
        return scene.wants[0] >= 0 or scene.variants[0] >= 0
    if slot == METHOD:
        return scene.method_kind >= 0
    if slot == REASON:
        return scene.reason >= 0
    return scene.address > 0


@kernel
def _is_record_seen(sight: Sight, verb: int, draft: Draft) -> bool:
    """Whether what is to be told of was shown."""
    if verb in (TELL_TOTAL, TELL_STATUS):
        if draft.order >= 0:
            return sight.scene.order_seen[draft.order] > 0
        for place in range(MAX_ORDERS):
            if sight.scene.order_seen[place]:
                return True
        return False
    if draft.product >= 0:
        return sight.scene.product[draft.product] == SEEN
    for product in range(PRODUCTS):
        if sight.scene.product[product] == SEEN:
            return True
    return False


@kernel
def _fits_talk(sight: Sight, shelves: Shelves, policy: bool, verb: int, draft: Draft) -> bool:
    if verb < REFUSE:
        return _is_record_seen(sight, verb, draft)
    return _fits_answer(sight, shelves, policy, verb)


@kernel
def _fits_answer(sight: Sight, shelves: Shelves, policy: bool, verb: int) -> bool:
    """Somebody who waits for what they said yes to takes whatever they are told for the result."""
    scene = sight.scene
    if verb == REPORT:
        return scene.unreported >= 0
    if policy and is_waited_for(scene):
        return False
    if verb == REFUSE:
        return was_looked_up(sight, shelves) if policy else scene.wish >= 0 or scene.question >= 0
    return True


@kernel
def is_waited_for(scene: Scene) -> bool:
    """Whether the customer waits for what they said yes to, or to hear that it is done."""
    return scene.yes > 0 or scene.unreported >= 0


# --- Writing


@kernel
def _fits_call(sight: Sight, shelves: Shelves, policy: bool, draft: Draft) -> bool:
    """With `policy` just what the customer said yes to."""
    if policy:
        return sight.scene.yes > 0 and agrees(draft, sight.proposed)
    return fits_write(sight, shelves, False, draft)


@kernel
def _fits_proposal(sight: Sight, shelves: Shelves, policy: bool, draft: Draft) -> bool:
    """With `policy` not of a write that the customer just said yes to."""
    if policy and sight.scene.yes and draft.tool == sight.proposed.tool:
        return False
    return fits_write(sight, shelves, policy, draft)


@kernel
def agrees(draft: Draft, other: Draft) -> bool:
    """Whether all that is chosen in a draft is so in the other one, too."""
    if draft.tool != other.tool:
        return False
    for place in range(len(draft.items)):
        if not may_be(draft.items[place], other.items[place]):
            return False
        if not may_be(draft.news[place], other.news[place]):
            return False
    return (
        may_be(draft.order, other.order)
        and may_be(draft.method, other.method)
        and may_be(draft.reason, other.reason)
    )
