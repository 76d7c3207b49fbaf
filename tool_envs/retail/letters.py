"""Letters that customers of the store ask for: what the oracle writes, and what a judge looks at.

A letter is what is said to the customer, so that no tool writes it. Everything in the oracle's stands in what
it looked up.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from tool_envs.messages import Json
from tool_envs.simulators.letters import Letter
from tool_envs.simulators.phrasing import join

APOLOGY, EXPENSES, REFUSAL = "apology", "expenses", "refusal"
"""Kinds of letters: sorry for what became of an order, a summary of one, why a return was refused."""


class Form(NamedTuple):
    """A kind of letter.

    Attributes:
        body: What stands between salutation and signature, from the order as `get_order_details` answers it
            and what the customer calls the items that it is about.
        praised: What is good in such a letter, beside its facts: id -> sentence for a judge.
    """

    body: Callable[[Json, str], str]
    praised: Mapping[str, str]


def write_letter(kind: str, name: str, order: Json, items: str) -> str:
    """A letter to a customer.

    Args:
        kind: Which.
        name: First and last name of the customer.
        order: The order that it is about, as `get_order_details` answers it.
        items: What the customer calls the items that it is about; empty: all of the order.
    """
    return f"Dear {name},\n\n{FORMS[kind].body(order, items)}\n\nKind regards,\nCustomer Service"


def praised_in(letter: Letter) -> Mapping[str, str]:
    """What is good in a letter, beside that it answers what was asked: id -> sentence for a judge."""
    return FORMS[letter.kind].praised


def _apologize(order: Json, _items: str) -> str:
    refunded = "It was refunded in full. " if order["status"] == "cancelled" else ""
    return (
        f"We apologize for the trouble that you had with order {order['order_id']}. According to our "
        f"records, its status is now: {order['status']}. You paid {_dollars(_paid(order))} for it. {refunded}"
        "You expected better of us, and we are sorry that we did not live up to it."
    )


def _sum_up(order: Json, _items: str) -> str:
    lines = [f"- {item['name']}: {_dollars(item['price'])}" for item in order["items"]]
    return "\n".join(
        (
            f"For your expense report, here is a summary of your order {order['order_id']} with our store. "
            "These items were ordered, at these prices:",
            *lines,
            f"In all, {_dollars(_paid(order))} was charged for the order, whose status is {order['status']}.",
        )
    )


def _explain(order: Json, items: str) -> str:
    named = [item["name"] for item in order["items"] if item["name"].lower() in items]
    return (
        f"You asked us why your return of the {join(named)} from order {order['order_id']} was refused. We "
        f"take back items of an order only after it was delivered. According to our records, the status of "
        f"this order is {order['status']}, and so a return was not possible. We are sorry that we have no "
        "better news for you."
    )


def _paid(order: Json) -> float:
    """The first payment of an order; later ones only change it."""
    return float(order["payment_history"][0]["amount"])


def _dollars(amount: float) -> str:
    return f"${amount:,.2f}"


FORMS: Mapping[str, Form] = {
    APOLOGY: Form(
        _apologize,
        {
            "apologizes": "The letter apologizes in plain words, and does not blame the customer.",
            "no_compensation": (
                "The letter promises no compensation: no refund beyond one that was made, no discount, no "
                "gift, no date of delivery."
            ),
        },
    ),
    EXPENSES: Form(
        _sum_up,
        {
            "can_be_filed": "The letter can be filed as it is: one list, with each price by its item.",
            "no_tax": "The letter states no taxes, fees, dates or purposes that were not looked up.",
        },
    ),
    REFUSAL: Form(
        _explain,
        {
            "plain_reason": "The letter gives the reason in plain words: how far the order is, and the rule.",
            "no_exception": (
                "The letter promises no exception and no refund, and does not say that a return will be "
                "accepted later."
            ),
        },
    ),
}
"""Kind of letter -> its form."""
