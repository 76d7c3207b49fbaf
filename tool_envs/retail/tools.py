"""The tools of the store, over ids and texts as the agent writes them.

Each takes the database and the parameters of its schema, under one name for all versions, and answers a row,
a JSON value or a reason to refuse. `toolkit` renders rows and renames parameters for a schema version.
"""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from tool_envs.database import Database
from tool_envs.messages import Json
from tool_envs.people import Address
from tool_envs.retail import writes
from tool_envs.retail.codes import (
    address_code,
    address_now,
    base_of,
    customer_row,
    item_code,
    method_code,
    renderer,
)
from tool_envs.retail.refusals import No
from tool_envs.retail.rows import CANCEL_REASONS, Customer, Order
from tool_envs.toolkit import JsonText

Answer: TypeAlias = Order | Customer | JsonText | dict[str, Json] | No
"""A row to be rendered, a JSON value, or why not."""


def find_user_id_by_email(database: Database, email: str) -> Answer:
    """The user with that e-mail address."""
    base = base_of(database)
    customer = base.find_email(email)
    return No.USER_NOT_FOUND if customer is None else {"user_id": base.user_id(customer)}


def find_user_id_by_name_zip(database: Database, first_name: str, last_name: str, postal_code: str) -> Answer:
    """The user of that name who lives there now; of several, the first by index."""
    base = base_of(database)
    moved = [row.index for (table, _), row in database.changed.items() if table == "customers"]
    at_first = base.find_name_zip(first_name, last_name, postal_code)
    for customer in sorted({*moved, *([] if at_first is None else [at_first])}):
        zip_now = address_now(database, customer_row(database, customer).address).zip
        if zip_now == postal_code and _has_name(base.name(customer), first_name, last_name):
            return {"user_id": base.user_id(customer)}
    return No.USER_NOT_FOUND


def get_user_details(database: Database, user_id: str) -> Answer:
    """The user."""
    customer: Customer | None = database.get("customers", user_id)
    return No.USER_NOT_FOUND if customer is None else customer


def get_order_details(database: Database, order_id: str) -> Answer:
    """The order."""
    order: Order | None = database.get("orders", order_id)
    return No.ORDER_NOT_FOUND if order is None else order


def get_product_details(database: Database, product_id: str) -> Answer:
    """The product with all its variants."""
    base = base_of(database)
    product = base.catalog.product_codes.get(product_id)
    return No.PRODUCT_NOT_FOUND if product is None else JsonText(renderer(base).product_text(product))


def get_item_details(database: Database, item_id: str) -> Answer:
    """The variant and its product."""
    base = base_of(database)
    variant = item_code(base, item_id)
    return No.ITEM_NOT_FOUND if variant < 0 else JsonText(renderer(base).item_text(variant))


def list_all_product_types(database: Database) -> Answer:
    """Product ids by name."""
    return JsonText(renderer(base_of(database)).product_list_text)


def cancel_pending_order(database: Database, order_id: str, reason: str) -> Answer:
    """Cancel an order and refund what was paid."""
    found: Order | None = database.get("orders", order_id)
    if found is None:
        return No.ORDER_NOT_FOUND
    if refused := writes.guard_pending(found):
        return No(refused)
    order, customer = _copies(database, found)
    writes.apply_cancel(order, customer, CANCEL_REASONS.index(reason))
    return _put(database, order_id, order, customer)


def modify_pending_order_address(
    database: Database,
    order_id: str,
    address1: str,
    address2: str,
    city: str,
    state: str,
    country: str,
    postal_code: str,
) -> Answer:
    """Send an order to another address."""
    found: Order | None = database.get("orders", order_id)
    if found is None:
        return No.ORDER_NOT_FOUND
    if refused := writes.guard_pending(found):
        return No(refused)
    order = found.copy()
    address = Address(address1, address2, city, country, state, postal_code)
    order.address = address_code(database, order.customer, address)
    database.put("orders", order_id, order)
    return order


def modify_pending_order_payment(database: Database, order_id: str, payment_method_id: str) -> Answer:
    """Pay an order with another payment method."""
    found: Order | None = database.get("orders", order_id)
    if found is None:
        return No.ORDER_NOT_FOUND
    method = method_code(base_of(database), found.customer, payment_method_id)
    if refused := writes.guard_modify_payment(found, customer_row(database, found.customer), method):
        return No(refused)
    order, customer = _copies(database, found)
    writes.apply_modify_payment(order, customer, method)
    return _put(database, order_id, order, customer)


def modify_pending_order_items(
    database: Database, order_id: str, item_ids: list[str], new_item_ids: list[str], payment_method_id: str
) -> Answer:
    """Replace items of a pending order."""
    return _replace(
        database,
        order_id,
        item_ids,
        new_item_ids,
        payment_method_id,
        writes.guard_modify_items,
        writes.apply_modify_items,
    )


def exchange_delivered_order_items(
    database: Database, order_id: str, item_ids: list[str], new_item_ids: list[str], payment_method_id: str
) -> Answer:
    """Request an exchange of items of a delivered order."""
    return _replace(
        database,
        order_id,
        item_ids,
        new_item_ids,
        payment_method_id,
        writes.guard_exchange,
        writes.apply_exchange,
    )


def return_delivered_order_items(
    database: Database, order_id: str, item_ids: list[str], payment_method_id: str
) -> Answer:
    """Request a return of items of a delivered order."""
    found: Order | None = database.get("orders", order_id)
    if found is None:
        return No.ORDER_NOT_FOUND
    base = base_of(database)
    items = [item_code(base, item_id) for item_id in item_ids]
    method = method_code(base, found.customer, payment_method_id)
    customer = customer_row(database, found.customer)
    if refused := writes.guard_return(found, customer, items, len(items), method):
        return No(refused)
    order = found.copy()
    writes.apply_return(order, items, len(items), method)
    database.put("orders", order_id, order)
    return order


def modify_user_address(
    database: Database,
    user_id: str,
    address1: str,
    address2: str,
    city: str,
    state: str,
    country: str,
    postal_code: str,
) -> Answer:
    """Change the address in a user's profile."""
    found: Customer | None = database.get("customers", user_id)
    if found is None:
        return No.USER_NOT_FOUND
    customer = found.copy()
    address = Address(address1, address2, city, country, state, postal_code)
    customer.address = address_code(database, customer.index, address)
    database.put("customers", user_id, customer)
    return customer


TOOLS: Mapping[str, Callable[..., Answer]] = {
    tool.__name__: tool
    for tool in (
        cancel_pending_order,
        exchange_delivered_order_items,
        find_user_id_by_email,
        find_user_id_by_name_zip,
        get_item_details,
        get_order_details,
        get_product_details,
        get_user_details,
        list_all_product_types,
        modify_pending_order_address,
        modify_pending_order_items,
        modify_pending_order_payment,
        modify_user_address,
        return_delivered_order_items,
    )
}
"""The tools of all schema versions but those that every desk has, by name."""


def _replace(
    database: Database,
    order_id: str,
    item_ids: list[str],
    new_item_ids: list[str],
    payment_method_id: str,
    guard: Callable[..., int],
    apply: Callable[..., None],
) -> Answer:
    found: Order | None = database.get("orders", order_id)
    if found is None:
        return No.ORDER_NOT_FOUND
    base = base_of(database)
    old = [item_code(base, item_id) for item_id in item_ids]
    new = [item_code(base, item_id) for item_id in new_item_ids]
    method = method_code(base, found.customer, payment_method_id)
    customer, variants = customer_row(database, found.customer), base.catalog.rows
    if refused := guard(found, customer, variants, old, len(old), new, len(new), method):
        return No(refused)
    order, customer = found.copy(), customer.copy()
    apply(order, customer, variants, old, new, len(old), method)
    return _put(database, order_id, order, customer)


def _copies(database: Database, order: Order) -> tuple[Order, Customer]:
    return order.copy(), customer_row(database, order.customer).copy()


def _put(database: Database, order_id: str, order: Order, customer: Customer) -> Order:
    """Store an order that changed, and its customer if they did."""
    database.put("orders", order_id, order)
    if customer != customer_row(database, customer.index):
        database.put("customers", base_of(database).user_id(customer.index), customer)
    return order


def _has_name(name: tuple[str, str], first_name: str, last_name: str) -> bool:
    return (name[0].lower(), name[1].lower()) == (first_name.lower(), last_name.lower())
