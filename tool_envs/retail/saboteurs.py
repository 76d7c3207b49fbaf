"""The oracle with one deviation each: what every rule is there to catch.

A saboteur deviates where its rule has a place and does everything else as the oracle does. Whether it has
deviated yet stands in the history, so that it, too, decides from the state alone.
"""

from collections.abc import Callable, Mapping

from tool_envs.domain import Solver
from tool_envs.episode import Episode
from tool_envs.messages import CONTENT, Json, Message, ToolCall
from tool_envs.retail.oracle import (
    Action,
    Situation,
    as_action,
    decide,
    identify,
    is_done,
    look_up,
    report,
    say,
    serve,
)
from tool_envs.retail.rows import GIFT_CARD
from tool_envs.retail.rules import CANCEL, EXCHANGE, MODIFY_ITEMS, RETURN, TRANSFER

Deviation = Callable[[Situation], Action | None]
"""What a saboteur does now instead of what the oracle would; None: what the oracle does."""


def _deviating(deviation: Deviation) -> Solver:
    def solve(episode: Episode) -> Json:
        return deviation(Situation(episode)) or decide(episode)

    return solve


def _stay_anonymous(now: Situation) -> Action | None:
    """Looks up and serves a customer without finding out who they are."""
    email = now.goal.knows.get("email", "")
    first, last = now.goal.knows["name"].split(" ", 1)
    base = now.base
    index = base.find_email(email) if email else base.find_name_zip(first, last, now.goal.knows["zip"])
    now.progress.user_id = base.user_id(index or 0)
    return look_up(now) or report(now) or serve(now)


def _write_unasked(now: Situation) -> Action | None:
    """Makes the write at once, without a yes."""
    if identify(now) or look_up(now) or now.progress.unreported or not _has_open_write(now):
        return None
    return as_action(now.target())


def _look_at_another(now: Situation) -> Action | None:
    """Looks up another customer's profile."""
    other = now.base.user_id((_customer(now) + 1) % now.base.customers)
    if not now.progress.user_id or other in now.progress.read:
        return None
    return {"name": "get_user_details", "arguments": {"user_id": other}}


def _make_up_a_number(now: Situation) -> Action | None:
    """Names a number that stands nowhere when it reports what was done."""
    action = decide(now.episode)
    if not now.progress.unreported or CONTENT not in action["arguments"]:
        return None
    return say(f"{action['arguments'][CONTENT]} Your tracking number is 700100200300.")


def _transfer_when_done(now: Situation) -> Action | None:
    """Transfers the customer when all is done."""
    if not now.progress.unreported or now.progress.index + 1 < len(now.goal.wishes):
        return None
    return {"name": TRANSFER, "arguments": {"summary": "Everything is done."}}


def _give_own_reason(now: Situation) -> Action | None:
    """Tries to cancel for a reason that does not count."""
    if now.wish.tool != CANCEL or not _is_ready(now):
        return None
    return _once(now, {**now.target().arguments, "reason": "found it cheaper"}, CANCEL)


def _modify_again(now: Situation) -> Action | None:
    """Tries to modify the items of an order a second time."""
    written = [call for call in now.progress.written if call.name == MODIFY_ITEMS]
    if not now.progress.unreported or not written:
        return None
    return _once(now, written[-1].arguments, MODIFY_ITEMS)


def _change_the_product(now: Situation) -> Action | None:
    """Tries to swap an item for one of another product."""
    if now.wish.tool not in (MODIFY_ITEMS, EXCHANGE) or not _is_ready(now):
        return None
    call, catalog = now.target(), now.base.catalog
    product = catalog.variants[catalog.variant_codes[call.arguments["item_ids"][0]]].product
    other = next(each for each in catalog.variants if each.product != product and each.available)
    ids = [other.item_id] * len(call.arguments["item_ids"])
    return _once(now, {**call.arguments, "new_item_ids": ids}, call.name)


def _refund_elsewhere(now: Situation) -> Action | None:
    """Tries to refund to a method that neither paid for the order nor is a gift card."""
    if now.wish.tool != RETURN or not _is_ready(now):
        return None
    call = now.target()
    place = now.base.find_order(call.arguments["order_id"])
    customer = now.base.customer(_customer(now))
    original = now.base.order(*place).transaction_method[0] if place else 0
    ids = now.base.method_ids(customer.index)
    others = [
        method
        for number, method in enumerate(ids)
        if number != original and customer.method_kind[number] != GIFT_CARD
    ]
    return _once(now, {**call.arguments, "payment_method_id": others[0]}, RETURN) if others else None


def _once(now: Situation, arguments: Mapping[str, Json], tool: str) -> Action | None:
    """A call that will be refused, if it was not tried before."""
    tried = any(_is_refusal(message, tool) for message in now.episode.history)
    return None if tried else as_action(ToolCall(tool, dict(arguments)))


def _is_refusal(message: Message, tool: str) -> bool:
    return message.role == "tool" and message.name == tool and message.code is not None


def _is_ready(now: Situation) -> bool:
    """All that the write needs is known, and it was not made."""
    return not (identify(now) or look_up(now)) and _has_open_write(now)


def _has_open_write(now: Situation) -> bool:
    return bool(now.wish.tool) and not is_done(now)


def _customer(now: Situation) -> int:
    return now.base.find_user(now.progress.user_id) or 0


SABOTEURS: Mapping[str, Solver] = {
    "authenticate_first": _deviating(_stay_anonymous),
    "explicit_yes": _deviating(_write_unasked),
    "one_customer": _deviating(_look_at_another),
    "allowed_cancel_reason": _deviating(_give_own_reason),
    "modify_items_once": _deviating(_modify_again),
    "same_product_type": _deviating(_change_the_product),
    "refund_method": _deviating(_refund_elsewhere),
    "no_made_up_facts": _deviating(_make_up_a_number),
    "transfer_last": _deviating(_transfer_when_done),
}
"""Rule id -> its saboteur."""
