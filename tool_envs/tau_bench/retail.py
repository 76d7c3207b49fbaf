"""tau-bench's 16 retail tools: the same answers byte for byte, over a copy-on-write database.

Every function takes upstream's parameters in upstream's order and works on its arguments with the same
operations in the same order, so that arguments of wrong types raise the same exceptions. Upstream has no
rollback: what it changed before an exception stays changed, and so it does here. No argument is checked, as
upstream checks none; a record that is put holds no container of the caller's.
"""

from collections.abc import Mapping
from typing import cast

from tool_envs.database import Database, Record
from tool_envs.messages import Json
from tool_envs.tau_bench.data import RetailData
from tool_envs.tau_bench.tools import (
    NO_PAYMENT_METHOD,
    USER_NOT_FOUND,
    TauTool,
    details,
    find_record,
    get_record,
    named_as_upstream,
    own,
    put_record,
    shared_tools,
)

_ORDER_NOT_FOUND = "Error: order not found"
_NOT_MODIFIABLE = "Error: non-pending order cannot be modified"
_COUNTS_DIFFER = "Error: the number of items to be exchanged should match"


_named_as_upstream = named_as_upstream("retail")
calculate, get_user_details, think, transfer_to_human_agents = shared_tools("retail")


@_named_as_upstream
def cancel_pending_order(data: Database, order_id: str, reason: str) -> str:
    """Cancel a pending order and refund every payment."""
    order = find_record(data, "orders", order_id)
    if order is None:
        return _ORDER_NOT_FOUND
    if order["status"] != "pending":
        return "Error: non-pending order cannot be cancelled"
    if reason not in ["no longer needed", "ordered by mistake"]:
        return "Error: invalid reason"
    history = order["payment_history"]
    refunds = []
    for payment in history:
        method_id = payment["payment_method_id"]
        refunds.append(_payment("refund", payment["amount"], method_id))
        if "gift_card" in method_id:
            _add_to_balance(data, order["user_id"], method_id, payment["amount"])
    order = {**order, "status": "cancelled", "cancel_reason": reason, "payment_history": [*history, *refunds]}
    return put_record(data, "orders", order_id, order)


@_named_as_upstream
def exchange_delivered_order_items(
    data: Database, order_id: str, item_ids: list[str], new_item_ids: list[str], payment_method_id: str
) -> str:
    """Ask for the exchange of items of a delivered order."""
    order = find_record(data, "orders", order_id)
    if order is None:
        return _ORDER_NOT_FOUND
    if order["status"] != "delivered":
        return "Error: non-delivered order cannot be exchanged"
    difference = _price_difference(data, order, item_ids, new_item_ids)
    if isinstance(difference, str):
        return difference
    difference = round(difference, 2)
    methods = get_record(data, "users", order["user_id"])["payment_methods"]
    if payment_method_id not in methods:
        return NO_PAYMENT_METHOD
    if not _covers(methods[payment_method_id], difference):
        return "Error: insufficient gift card balance to pay for the price difference"
    order = {
        **order,
        "status": "exchange requested",
        "exchange_items": sorted(item_ids),
        "exchange_new_items": sorted(new_item_ids),
        "exchange_payment_method_id": payment_method_id,
        "exchange_price_difference": difference,
    }
    return put_record(data, "orders", order_id, order)


@_named_as_upstream
def find_user_id_by_email(data: Database, email: str) -> str:
    """The id of the user with that e-mail address, in whatever case."""
    found = _base(data).user_by_email
    return found.get(email.lower(), USER_NOT_FOUND) if found else USER_NOT_FOUND


@_named_as_upstream
def find_user_id_by_name_zip(data: Database, first_name: str, last_name: str, zip: str) -> str:  # noqa: A002 - upstream's name
    """The id of the user with that name, in whatever case, and that zip code now."""
    found = _base(data).users_by_name
    by_last_name = found.get(first_name.lower()) if found else None
    if by_last_name is None:
        return USER_NOT_FOUND  # upstream looks at the last name only where a first name fits
    for user_id in by_last_name.get(last_name.lower(), ()):
        if get_record(data, "users", user_id)["address"]["zip"] == zip:
            return user_id
    return USER_NOT_FOUND


@_named_as_upstream
def get_order_details(data: Database, order_id: str) -> str:
    """An order as JSON."""
    return details(data, "orders", order_id) or _ORDER_NOT_FOUND


@_named_as_upstream
def get_product_details(data: Database, product_id: str) -> str:
    """A product and its variants as JSON."""
    return details(data, "products", product_id) or "Error: product not found"


@_named_as_upstream
def list_all_product_types(data: Database) -> str:
    """All products as JSON: name -> product id, sorted by name."""
    return _base(data).product_list_text


@_named_as_upstream
def modify_pending_order_address(
    data: Database,
    order_id: str,
    address1: str,
    address2: str,
    city: str,
    state: str,
    country: str,
    zip: str,  # noqa: A002 - upstream's name
) -> str:
    """Give a pending order another shipping address."""
    order = find_record(data, "orders", order_id)
    if order is None:
        return _ORDER_NOT_FOUND
    if order["status"] != "pending":
        return _NOT_MODIFIABLE
    address = _address(address1, address2, city, state, country, zip)
    return put_record(data, "orders", order_id, {**order, "address": address})


@_named_as_upstream
def modify_pending_order_items(
    data: Database, order_id: str, item_ids: list[str], new_item_ids: list[str], payment_method_id: str
) -> str:
    """Replace items of a pending order by other variants, and pay or refund the difference."""
    order = find_record(data, "orders", order_id)
    if order is None:
        return _ORDER_NOT_FOUND
    if order["status"] != "pending":
        return _NOT_MODIFIABLE
    difference = _price_difference(data, order, item_ids, new_item_ids)
    if isinstance(difference, str):
        return difference
    methods = get_record(data, "users", order["user_id"])["payment_methods"]
    if payment_method_id not in methods:
        return NO_PAYMENT_METHOD
    method = methods[payment_method_id]
    if not _covers(method, difference):
        return "Error: insufficient gift card balance to pay for the new item"
    payment = _payment("payment" if difference > 0 else "refund", abs(difference), payment_method_id)
    if method["source"] == "gift_card":
        _add_to_balance(data, order["user_id"], payment_method_id, -difference)
    order = {
        **order,
        "items": _replaced(data, order["items"], item_ids, new_item_ids),
        "status": "pending (item modified)",
        "payment_history": [*order["payment_history"], payment],
    }
    return put_record(data, "orders", order_id, order)


@_named_as_upstream
def modify_pending_order_payment(data: Database, order_id: str, payment_method_id: str) -> str:
    """Pay a pending order by another method and refund the first payment."""
    order = find_record(data, "orders", order_id)
    if order is None:
        return _ORDER_NOT_FOUND
    if order["status"] != "pending":
        return _NOT_MODIFIABLE
    methods = get_record(data, "users", order["user_id"])["payment_methods"]
    if payment_method_id not in methods:
        return NO_PAYMENT_METHOD
    history = order["payment_history"]
    if len(history) > 1 or history[0]["transaction_type"] != "payment":
        return "Error: there should be exactly one payment for a pending order"
    old_id = history[0]["payment_method_id"]
    if old_id == payment_method_id:
        return "Error: the new payment method should be different from the current one"
    amount = history[0]["amount"]
    method = methods[payment_method_id]
    if not _covers(method, amount):
        return "Error: insufficient gift card balance to pay for the order"
    moved = [_payment("payment", amount, payment_method_id), _payment("refund", amount, old_id)]
    order = {**order, "payment_history": [*history, *moved]}
    data.put("orders", order_id, order)
    if method["source"] == "gift_card":
        _add_to_balance(data, order["user_id"], payment_method_id, -amount)
    if "gift_card" in old_id:
        _add_to_balance(data, order["user_id"], old_id, amount)
    return _base(data).changed_json_text("orders", order_id, order)


@_named_as_upstream
def modify_user_address(
    data: Database,
    user_id: str,
    address1: str,
    address2: str,
    city: str,
    state: str,
    country: str,
    zip: str,  # noqa: A002 - upstream's name
) -> str:
    """Give a user another default address."""
    user = find_record(data, "users", user_id)
    if user is None:
        return USER_NOT_FOUND
    address = _address(address1, address2, city, state, country, zip)
    return put_record(data, "users", user_id, {**user, "address": address})


@_named_as_upstream
def return_delivered_order_items(
    data: Database, order_id: str, item_ids: list[str], payment_method_id: str
) -> str:
    """Ask for the return of items of a delivered order."""
    order = find_record(data, "orders", order_id)
    if order is None:
        return _ORDER_NOT_FOUND
    if order["status"] != "delivered":
        return "Error: non-delivered order cannot be returned"
    if payment_method_id not in get_record(data, "users", order["user_id"])["payment_methods"]:
        return NO_PAYMENT_METHOD
    if (
        "gift_card" not in payment_method_id
        and payment_method_id != order["payment_history"][0]["payment_method_id"]
    ):
        return "Error: payment method should be either the original payment method or a gift card"
    if _first_missing(order, item_ids):
        return "Error: some item not found"
    order = {
        **order,
        "status": "return requested",
        "return_items": sorted(item_ids),
        "return_payment_method_id": payment_method_id,
    }
    return put_record(data, "orders", order_id, order)


def _base(data: Database) -> RetailData:
    return cast("RetailData", data.base)


def _payment(kind: str, amount: float, method_id: str) -> Record:
    return {"transaction_type": kind, "amount": amount, "payment_method_id": method_id}


def _add_to_balance(data: Database, user_id: str, method_id: str, amount: float) -> None:
    """Put a user whose gift card holds `amount` more, rounded to cents."""
    user = get_record(data, "users", user_id)
    methods = user["payment_methods"]
    method = methods[method_id]
    method = {**method, "balance": round(method["balance"] + amount, 2)}
    data.put("users", user_id, {**user, "payment_methods": {**methods, method_id: method}})


def _covers(method: Record, amount: float) -> bool:
    """Whether a payment method can pay an amount: a gift card needs the balance."""
    return not (method["source"] == "gift_card" and method["balance"] < amount)


def _first_missing(order: Record, item_ids: list[str]) -> tuple[str, ...]:
    """The first of the ids that stands in the list more often than in the order, or nothing."""
    ordered = [item["item_id"] for item in order["items"]]
    for item_id in item_ids:
        if item_ids.count(item_id) > ordered.count(item_id):
            return (item_id,)
    return ()


def _first_item(items: list[Record], item_id: str) -> int:
    return [item["item_id"] == item_id for item in items].index(True)


def _price_difference(
    data: Database, order: Record, item_ids: list[str], new_item_ids: list[str]
) -> float | str:
    """What the new items cost more than the old ones, unrounded; or why they cannot be had."""
    missing = _first_missing(order, item_ids)
    if missing:
        return f"Error: {missing[0]} not found"
    if len(item_ids) != len(new_item_ids):
        return _COUNTS_DIFFER
    items = order["items"]
    difference: float = 0
    for item_id, new_item_id in zip(item_ids, new_item_ids, strict=False):
        item = items[_first_item(items, item_id)]
        variants = get_record(data, "products", item["product_id"])["variants"]
        if not (new_item_id in variants and variants[new_item_id]["available"]):
            return f"Error: new item {new_item_id} not found or available"
        difference += variants[new_item_id]["price"] - item["price"]
    return difference


def _replaced(
    data: Database, items: list[Record], item_ids: list[str], new_item_ids: list[str]
) -> list[Record]:
    """The items after one exchange after the other: a new item can itself be replaced by a later pair.

    Nothing fails here: an item id belongs to one product, and the pairs were checked.
    """
    items = list(items)
    for item_id, new_item_id in zip(item_ids, new_item_ids, strict=False):
        index = _first_item(items, item_id)
        item = items[index]
        variant = get_record(data, "products", item["product_id"])["variants"][new_item_id]
        changed = {"item_id": new_item_id, "price": variant["price"], "options": variant["options"]}
        items[index] = {**item, **changed}
    return items


def _address(*values: Json) -> Record:
    keys = ("address1", "address2", "city", "state", "country", "zip")
    return {key: own(value) for key, value in zip(keys, values, strict=True)}


RETAIL_TOOLS: Mapping[str, TauTool] = {
    "calculate": calculate,
    "cancel_pending_order": cancel_pending_order,
    "exchange_delivered_order_items": exchange_delivered_order_items,
    "find_user_id_by_email": find_user_id_by_email,
    "find_user_id_by_name_zip": find_user_id_by_name_zip,
    "get_order_details": get_order_details,
    "get_product_details": get_product_details,
    "get_user_details": get_user_details,
    "list_all_product_types": list_all_product_types,
    "modify_pending_order_address": modify_pending_order_address,
    "modify_pending_order_items": modify_pending_order_items,
    "modify_pending_order_payment": modify_pending_order_payment,
    "modify_user_address": modify_user_address,
    "return_delivered_order_items": return_delivered_order_items,
    "think": think,
    "transfer_to_human_agents": transfer_to_human_agents,
}
"""The tools by name, in upstream's order."""
