"""What tools show, as rows: JSON objects of orders and profiles, read back."""

from collections.abc import Sequence
from typing import NamedTuple

from tool_envs.generated import padded
from tool_envs.messages import Json
from tool_envs.retail.catalog import Catalog
from tool_envs.retail.rows import (
    CANCEL_REASONS,
    MAX_ITEMS,
    MAX_METHODS,
    MAX_TRANSACTIONS,
    METHOD_KINDS,
    STATUSES,
    TRANSACTIONS,
    Customer,
    Order,
)
from tool_envs.retail.scene.sight import blank_customer, blank_order


class Profile(NamedTuple):
    """A profile as it was shown.

    Attributes:
        customer: Its row; the index is no affair of the agent's.
        order_ids: The customer's orders.
        method_ids: Their payment methods.
        cards: For each of them its brand and last four digits; empty when it is no credit card.
    """

    customer: Customer
    order_ids: tuple[str, ...]
    method_ids: tuple[str, ...]
    cards: tuple[tuple[str, str] | None, ...]


NO_PROFILE = Profile(blank_customer(), (), (), ())
"""Before any was shown."""


def read_profile(shown: Json) -> Profile:
    """A profile as `get_user_details` answers it."""
    methods = list(shown["payment_methods"].values())
    customer = blank_customer()
    customer.methods = len(methods)
    customer.orders = len(shown["orders"])
    kinds = [METHOD_KINDS.index(method["source"]) for method in methods]
    customer.method_kind = padded(kinds, MAX_METHODS, 0)
    customer.balance = padded([_cents(method.get("balance", 0)) for method in methods], MAX_METHODS, 0)
    return Profile(
        customer,
        tuple(shown["orders"]),
        tuple(method["id"] for method in methods),
        tuple((each["brand"], each["last_four"]) if "brand" in each else None for each in methods),
    )


def read_order(shown: Json, catalog: Catalog, method_ids: Sequence[str]) -> Order:
    """An order as `get_order_details` and the writes answer it.

    Args:
        shown: The answer.
        catalog: The products.
        method_ids: The customer's payment methods.
    """
    order = blank_order()
    history = shown["payment_history"]
    order.status = STATUSES.index(shown["status"])
    order.item_count = len(shown["items"])
    order.items = _variants([item["item_id"] for item in shown["items"]], catalog)
    order.transactions = len(history)
    kinds = [TRANSACTIONS.index(each["transaction_type"]) for each in history]
    order.transaction_kind = padded(kinds, MAX_TRANSACTIONS, 0)
    order.transaction_amount = padded([_cents(each["amount"]) for each in history], MAX_TRANSACTIONS, 0)
    methods = [_place(each["payment_method_id"], method_ids) for each in history]
    order.transaction_method = padded(methods, MAX_TRANSACTIONS, 0)
    if "cancel_reason" in shown:
        order.cancel_reason = CANCEL_REASONS.index(shown["cancel_reason"])
    for kind in ("return", "exchange"):
        if f"{kind}_items" in shown:
            order.asked_count = len(shown[f"{kind}_items"])
            order.asked = _variants(shown[f"{kind}_items"], catalog)
            order.asked_new = _variants(shown.get(f"{kind}_new_items", []), catalog)
            order.asked_method = _place(shown[f"{kind}_payment_method_id"], method_ids)
            order.asked_difference = _cents(shown.get(f"{kind}_price_difference", 0))
    return order


def _variants(item_ids: Sequence[str], catalog: Catalog) -> list[int]:
    return padded([catalog.variant_codes[item_id] for item_id in item_ids], MAX_ITEMS, -1)


def _place(method_id: str, method_ids: Sequence[str]) -> int:
    return method_ids.index(method_id) if method_id in method_ids else -1


def _cents(dollars: float) -> int:
    return round(dollars * 100)
