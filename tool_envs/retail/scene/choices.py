"""Choices to drafts, and masks over choices. Kernels, as in `sight`.

A slot demands an entity in some role. A choice is the entity's row in its table: `choose` writes it into a
draft. A mask says for each choice whether the draft with it fits.
"""

from collections.abc import MutableSequence, Sequence
from typing import Final

from tool_envs.retail.rows import MAX_ORDERS
from tool_envs.retail.scene.masks import allowed_verbs, fits, fits_alone
from tool_envs.retail.scene.sight import NONE, OPEN, Draft, Shelves, Sight
from tool_envs.row_lists import clear
from tool_envs.rows import kernel

ROLES: Final = (
    *("order_id", "item_ids", "new_item_ids", "payment_method_id", "reason", "product_id", "item_id"),
)
"""The parameters whose values are chosen."""
AS_ORDER, AS_ITEM, AS_NEW_ITEM, AS_METHOD, AS_REASON, AS_PRODUCT, AS_LINE = range(len(ROLES))


@kernel
def choose(sight: Sight, shelves: Shelves, draft: Draft, role: int, place: int, choice: int) -> bool:
    """Write a choice into a draft; False when its table has no such row.

    Args:
        sight: What is known.
        shelves: The store.
        draft: The choices before it.
        role: Index of `ROLES`.
        place: Which of the values of a list; 0 for what is none.
        choice: A row; or `NONE`.
    """
    if role == AS_ORDER:
        draft.order = choice
    elif role == AS_ITEM:
        draft.items[place] = choice
    elif role == AS_METHOD:
        draft.method = choice
    elif role == AS_REASON:
        draft.reason = choice
    elif role == AS_PRODUCT:
        draft.product = sight.scene.product_at[choice]
        return draft.product >= 0
    elif role == AS_LINE:
        draft.line = choice
    elif choice < 0:
        draft.news[place] = NONE
    else:
        product = shelves.variants.product[sight.orders[draft.order].items[draft.items[place]]]
        draft.news[place] = shelves.first[product] + choice
        return choice < shelves.counts[product]
    return True


@kernel
def mask_verbs(
    sight: Sight,
    shelves: Shelves,
    policy: bool,
    verbs: Sequence[int],
    draft: Draft,
    out: MutableSequence[int],
) -> None:
    """Which verbs are allowed.

    Args:
        sight: What is known.
        shelves: The store.
        policy: The level.
        verbs: Those that there are.
        draft: An open one.
        out: For each verb 1 or 0 is written here.
    """
    allowed = allowed_verbs(sight, shelves, policy, draft)
    for place in range(len(verbs)):
        out[place] = allowed >> int(verbs[place]) & 1


@kernel
def mask_choices(
    sight: Sight,
    shelves: Shelves,
    policy: bool,
    verb: int,
    draft: Draft,
    role: int,
    place: int,
    width: int,
    out: MutableSequence[int],
) -> None:
    """Which choices of a slot are allowed after those of a draft; the draft is left as it came.

    Args:
        sight: What is known.
        shelves: The store.
        policy: The level.
        verb: The verb.
        draft: The choices before it.
        role: Of the slot.
        place: As of `choose`.
        width: Rows of its table; a choice behind them means `NONE`.
        out: For each choice 1 or 0 is written here.
    """
    if role == AS_PRODUCT:
        clear(out)
        for choice in range(sight.scene.products):
            out[choice] = fits_alone(sight, policy, verb, sight.scene.product_at[choice])
        return
    if role == AS_LINE:
        for choice in range(width):
            out[choice] = fits_alone(sight, policy, verb, choice)
        return
    for choice in range(len(out)):
        row = choice if choice < width else NONE
        known = choose(sight, shelves, draft, role, place, row)
        out[choice] = known and fits(sight, shelves, policy, verb, draft)
    reopen(draft, role, place)


@kernel
def reopen(draft: Draft, role: int, place: int) -> None:
    """Take a choice back."""
    if role == AS_ORDER:
        draft.order = OPEN
    elif role == AS_ITEM:
        draft.items[place] = OPEN
    elif role == AS_NEW_ITEM:
        draft.news[place] = OPEN
    elif role == AS_METHOD:
        draft.method = OPEN
    elif role == AS_REASON:
        draft.reason = OPEN
    elif role == AS_PRODUCT:
        draft.product = OPEN
    else:
        draft.line = OPEN


@kernel
def mask_reachable(
    sight: Sight,
    shelves: Shelves,
    policy: bool,
    verb: int,
    draft: Draft,
    role: int,
    place: int,
    width: int,
    one: MutableSequence[int],
    out: MutableSequence[int],
) -> None:
    """Which choices of a slot some allowed action has, whatever the others are.

    Args:
        sight: As of `mask_choices`, and so all but the last two.
        shelves: See above.
        policy: See above.
        verb: See above.
        draft: An open one.
        role: See above.
        place: See above.
        width: See above.
        one: Room for a mask.
        out: For each choice 1 or 0 is written here.
    """
    if role != AS_NEW_ITEM:
        mask_choices(sight, shelves, policy, verb, draft, role, place, width, out)
        return
    for order in range(MAX_ORDERS):
        draft.order = order
        for line in range(sight.orders[order].item_count if sight.scene.order_seen[order] else 0):
            draft.items[place] = line
            mask_choices(sight, shelves, policy, verb, draft, role, place, width, one)
            for choice in range(len(out)):
                out[choice] |= one[choice]
    draft.order = draft.items[place] = OPEN
