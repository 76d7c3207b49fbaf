"""Wishes for a letter: no rule says which one is good, but what must stand in it is known."""

import msgspec

from tool_envs.retail.letters import APOLOGY, EXPENSES, REFUSAL
from tool_envs.retail.rows import CANCELLED, DELIVERED, PENDING, PROCESSED, STATUSES, Order
from tool_envs.retail.wishes.planned import names_of, read_order
from tool_envs.retail.wishes.shopper import Shopper
from tool_envs.service.wishes import Planned, make_wish
from tool_envs.simulators.goal import Fact
from tool_envs.simulators.letters import LETTER, Letter
from tool_envs.simulators.retail_openings import LETTER_OPENINGS

_MOST_LISTED = 3  # items: a message with more amounts tells none of them (see `tool_envs.facts`)


def letter(shopper: Shopper) -> Planned | None:
    """One of the letters."""
    return shopper.draws.pick((_apology, _expenses, _refusal))(shopper)


def _apology(shopper: Shopper) -> Planned | None:
    order = shopper.take_order(PROCESSED, DELIVERED, CANCELLED)
    if order is None:
        return None
    return _plan(shopper, order, APOLOGY, _status(order), _paid(order))


def _expenses(shopper: Shopper) -> Planned | None:
    order = shopper.take_order(PENDING, PROCESSED, DELIVERED)
    if order is None or order.item_count > _MOST_LISTED:
        return None
    items = shopper.items(order)
    listed = (Fact("word", name, "What was ordered?") for name in dict.fromkeys(map(shopper.name, items)))
    prices = (Fact("amount", item.price, f"What did the {shopper.name(item)} cost?") for item in items)
    return _plan(shopper, order, EXPENSES, *listed, *prices, _paid(order))


def _refusal(shopper: Shopper) -> Planned | None:
    order = shopper.take_order(PENDING, PROCESSED, CANCELLED)
    if order is None:
        return None
    items = shopper.take_items(order, 2)
    wanted = (Fact("word", shopper.name(item), "What should go back?") for item in items)
    rule = Fact("word", STATUSES[DELIVERED], "What must an order be before a return?")
    return _plan(shopper, order, REFUSAL, *wanted, _status(order), rule, items=names_of(shopper, items))


def _plan(shopper: Shopper, order: Order, kind: str, *tells: Fact, **fields: str) -> Planned:
    order_words = shopper.order_words(order)
    about = Fact("id", shopper.order_id(order), "Which order is it about?")
    wanted = msgspec.to_builtins(Letter(kind, (about, *tells)))
    words = {"order_id": order_words, **({"item": fields["items"]} if fields else {})}
    wish = make_wish(
        LETTER, shopper.draws, LETTER_OPENINGS[kind], {"order": order_words, **fields}, words=words
    )
    fact = Fact(LETTER, wanted, wish.opening)
    return Planned(msgspec.structs.replace(wish, fact=fact), (read_order(shopper, order),))


def _status(order: Order) -> Fact:
    return Fact("status", STATUSES[order.status], "What is the status of the order?")


def _paid(order: Order) -> Fact:
    return Fact("amount", order.transaction_amount[0], "What was paid for the order in all?")
