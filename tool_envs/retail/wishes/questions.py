"""Wishes to know something."""

from collections.abc import Sequence

from tool_envs.messages import Json, ToolCall
from tool_envs.retail.catalog import Product
from tool_envs.retail.rows import DELIVERED, PENDING, PROCESSED, STATUSES, Order
from tool_envs.retail.wishes.planned import read_order, read_product
from tool_envs.retail.wishes.shopper import Shopper
from tool_envs.service.wishes import Planned
from tool_envs.simulators.goal import Fact, Wish

_SEVERAL = 3  # orders


def question(shopper: Shopper) -> Planned | None:
    """A question about an order or a product."""
    return shopper.draws.pick((_ask_total, _ask_status, _ask_cheapest, _ask_count))(shopper)


def _ask(fact: Fact, words: dict[str, str], read: ToolCall) -> Planned:
    return Planned(Wish(kind="question", opening=fact.question, fact=fact, words=words), (read,))


def _ask_order(shopper: Shopper, order: Order, kind: str, value: Json, question: str) -> Planned:
    words = shopper.order_words(order)
    fact = Fact(kind, value, question.format(order=words))
    return _ask(fact, {"order_id": words}, read_order(shopper, order))


def _take_order(shopper: Shopper, answers: Sequence[int]) -> Order | None:
    """An order to ask about, for which few of several answers are right: a guess would be an answer, too."""
    if len(answers) < _SEVERAL or 2 * max(map(answers.count, answers)) > len(answers):
        return None
    return shopper.take_order(PENDING, PROCESSED, DELIVERED)


def _ask_total(shopper: Shopper) -> Planned | None:
    order = _take_order(shopper, [order.transaction_amount[0] for order in shopper.orders])
    if order is None:
        return None
    question = shopper.draws.pick(
        (
            "How much did I pay for {order} in total?",
            "What was the total of {order}?",
            "Can you tell me what I paid for {order} in all?",
        )
    )
    return _ask_order(shopper, order, "amount", order.transaction_amount[0], question)


def _ask_status(shopper: Shopper) -> Planned | None:
    order = _take_order(shopper, [order.status for order in shopper.orders])
    if order is None:
        return None
    question = shopper.draws.pick(
        ("What is the status of {order}?", "How far is {order}?", "Can you tell me the status of {order}?")
    )
    return _ask_order(shopper, order, "status", STATUSES[order.status], question)


def _ask_product(product: Product, kind: str, value: int, question: str) -> Planned:
    name = product.name.lower()
    fact = Fact(kind, value, question.format(name=name))
    return _ask(fact, {"item": f"the {name}"}, read_product(product))


def _ask_cheapest(shopper: Shopper) -> Planned | None:
    product = shopper.take_product()
    if product is None:
        return None
    price = min(variant.price for variant in product.variants if variant.available)
    question = shopper.draws.pick(
        (
            "What does the cheapest {name} cost that I could order right now?",
            "How much is your cheapest {name} that is in stock?",
        )
    )
    return _ask_product(product, "amount", price, question)


def _ask_count(shopper: Shopper) -> Planned | None:
    product = shopper.take_product()
    if product is None:
        return None
    count = sum(variant.available for variant in product.variants)
    question = shopper.draws.pick(
        (
            "How many variants of the {name} can I order right now?",
            "In how many variants is the {name} available at the moment?",
        )
    )
    return _ask_product(product, "count", count, question)
