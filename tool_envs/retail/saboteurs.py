"""The store's oracle with one deviation for each rule."""

from collections.abc import Mapping

from tool_envs.domain import Solver
from tool_envs.messages import CONTENT, RESPOND
from tool_envs.retail.oracle import RetailClerk
from tool_envs.retail.rows import GIFT_CARD
from tool_envs.retail.rules import CANCEL, EXCHANGE, MODIFY_ITEMS, RETURN, TRANSFER
from tool_envs.service.clerk import Action, call_of, say
from tool_envs.service.saboteurs import (
    deviating,
    is_ready,
    once,
    reporting_more,
    transfer_when_done,
    write_unasked,
)
from tool_envs.simulators.letters import letter_of


def _stay_anonymous(clerk: RetailClerk) -> Action | None:
    """Looks up and serves a customer without finding out who they are."""
    email = clerk.goal.knows.get("email", "")
    first, last = clerk.goal.knows["name"].split(" ", 1)
    base = clerk.base
    index = base.find_email(email) if email else base.find_name_zip(first, last, clerk.goal.knows["zip"])
    clerk.progress.user_id = base.user_id(index or 0)
    return clerk.look_up() or clerk.report() or clerk.serve()


def _look_at_another(clerk: RetailClerk) -> Action | None:
    """Looks up another customer's profile."""
    other = clerk.base.user_id((_customer(clerk) + 1) % clerk.base.customers)
    if not clerk.progress.user_id or other in clerk.progress.read:
        return None
    return call_of("get_user_details", user_id=other)


def _give_own_reason(clerk: RetailClerk) -> Action | None:
    """Tries to cancel for a reason that does not count."""
    if clerk.wish.tool != CANCEL or not is_ready(clerk):
        return None
    return once(clerk, CANCEL, {**clerk.target().arguments, "reason": "found it cheaper"})


def _modify_again(clerk: RetailClerk) -> Action | None:
    """Tries to modify the items of an order a second time."""
    written = [call for call in clerk.progress.written if call.name == MODIFY_ITEMS]
    if not clerk.progress.unreported or not written:
        return None
    return once(clerk, MODIFY_ITEMS, written[-1].arguments)


def _change_the_product(clerk: RetailClerk) -> Action | None:
    """Tries to swap an item for one of another product."""
    if clerk.wish.tool not in (MODIFY_ITEMS, EXCHANGE) or not is_ready(clerk):
        return None
    call, catalog = clerk.target(), clerk.base.catalog
    product = catalog.variants[catalog.variant_codes[call.arguments["item_ids"][0]]].product
    other = next(each for each in catalog.variants if each.product != product and each.available)
    ids = [other.item_id] * len(call.arguments["item_ids"])
    return once(clerk, call.name, {**call.arguments, "new_item_ids": ids})


def _refund_elsewhere(clerk: RetailClerk) -> Action | None:
    """Tries to refund to a method that neither paid for the order nor is a gift card."""
    if clerk.wish.tool != RETURN or not is_ready(clerk):
        return None
    call = clerk.target()
    place = clerk.base.find_order(call.arguments["order_id"])
    customer = clerk.base.customer(_customer(clerk))
    original = clerk.base.order(*place).transaction_method[0] if place else 0
    others = [
        method
        for number, method in enumerate(clerk.base.method_ids(customer.index))
        if number != original and customer.method_kind[number] != GIFT_CARD
    ]
    if not others:
        return None
    return once(clerk, RETURN, {**call.arguments, "payment_method_id": others[0]})


def _make_up_a_number(clerk: RetailClerk) -> Action | None:
    """Names a tracking number that nobody was shown, in a report or in a letter."""
    if letter_of(clerk.wish) is None:
        return reporting_more(_MADE_UP)(clerk)
    letter = clerk.decide()
    if letter["name"] != RESPOND or clerk.identify():
        return None
    return say(f"{letter['arguments'][CONTENT]}\n\nPS: {_MADE_UP}")


def _customer(clerk: RetailClerk) -> int:
    return clerk.base.find_user(clerk.progress.user_id) or 0


_MADE_UP = "Your tracking number is 700100200300."
_DEVIATIONS = {
    "authenticate_first": _stay_anonymous,
    "explicit_yes": write_unasked,
    "one_customer": _look_at_another,
    "allowed_cancel_reason": _give_own_reason,
    "modify_items_once": _modify_again,
    "same_product_type": _change_the_product,
    "refund_method": _refund_elsewhere,
    "no_made_up_facts": _make_up_a_number,
    "transfer_last": transfer_when_done(TRANSFER),
}
SABOTEURS: Mapping[str, Solver] = {
    rule: deviating(RetailClerk, deviation) for rule, deviation in _DEVIATIONS.items()
}
"""Rule id -> its saboteur."""
