"""Rows <-> what the agent sees: rendering to JSON, and texts to integer codes.

```python
look = renderer(base)                      # or renderer(base, "postal_code"), for schema 2.0.0
look.order_json(database, order)           # a JSON object as get_order_details answers it
look.user_json(database, customer)         # as get_user_details does
look.product_text(product_code)            # JSON text as get_product_details answers it
look.item_text(variant_code)               # as get_item_details does
customer_row(database, 7)                  # the row of customer 7 now; order_row(database, 7, 0) likewise
address_now(database, customer.address)    # Address, also of one written in this episode
method_code(base, customer, "paypal_1234567"), item_code(base, "1234567890")   # -1 when there is none
changed_records(database), state_digest(database)      # what differs from the base data, as JSON
```

`order_text` and `user_text` give the JSON texts. Texts of untouched rows come from a cache.
"""

import functools
from typing import Any, Literal, TypeAlias, cast

import orjson

from tool_envs.canonical import digest
from tool_envs.database import Database
from tool_envs.generated import Kept
from tool_envs.messages import Json
from tool_envs.people import Address
from tool_envs.retail.catalog import Variant
from tool_envs.retail.data import RetailBase
from tool_envs.retail.rows import (
    CANCEL_REASONS,
    CREDIT_CARD,
    DELIVERED,
    EXCHANGE_REQUESTED,
    GIFT_CARD,
    METHOD_KINDS,
    PROCESSED,
    RETURN_REQUESTED,
    STATUSES,
    TRANSACTIONS,
    Customer,
    Order,
)

ZipName: TypeAlias = Literal["zip", "postal_code"]
"""What a schema version calls zip codes."""

_SENT = (PROCESSED, DELIVERED, RETURN_REQUESTED, EXCHANGE_REQUESTED)


class Renderer:
    """How the rows over one base look under one schema. `renderer` makes it once.

    Args:
        base: The data.
        zip_name: What the schema calls zip codes.
    """

    def __init__(self, base: RetailBase, zip_name: ZipName) -> None:
        self.base, self.zip_name = base, zip_name
        self._orders: Kept[tuple[int, int], str] = Kept(self._base_order_text)
        self._users: Kept[int, str] = Kept(self._base_user_text)
        self._products: Kept[int, str] = Kept(lambda code: orjson.dumps(self._product(code)).decode())
        self._items: Kept[int, str] = Kept(lambda code: orjson.dumps(self._item(code)).decode())
        self._parcels: Kept[tuple[int, int], orjson.Fragment] = Kept(self._parcel)
        self._order_items: Kept[int, orjson.Fragment] = Kept(self._order_item)

    def order_json(self, database: Database, order: Order) -> Json:
        """An order as `get_order_details` answers it."""
        return orjson.loads(self.order_text(database, order))

    def order_text(self, database: Database, order: Order) -> str:
        """The JSON text of `order_json`."""
        if order is self.base.order(order.customer, order.number):
            return self._orders[(order.customer, order.number)]
        return orjson.dumps(self._order(order, address_now(database, order.address))).decode()

    def user_json(self, database: Database, customer: Customer) -> Json:
        """A customer as `get_user_details` answers it."""
        return orjson.loads(self.user_text(database, customer))

    def user_text(self, database: Database, customer: Customer) -> str:
        """The JSON text of `user_json`."""
        if customer is self.base.customer(customer.index):
            return self._users[customer.index]
        return orjson.dumps(self._user(customer, address_now(database, customer.address))).decode()

    def product_text(self, product: int) -> str:
        """A product as `get_product_details` answers it, by its code."""
        return self._products[product]

    def item_text(self, variant: int) -> str:
        """A variant as `get_item_details` answers it, by its code."""
        return self._items[variant]

    @functools.cached_property
    def product_list_text(self) -> str:
        """The JSON text of what `list_all_product_types` answers."""
        products = {each.name: each.product_id for each in self.base.catalog.products}
        return orjson.dumps({"products": products}).decode()

    def address_json(self, address: Address) -> Json:
        """An address as it stands in orders and profiles."""
        return {
            "address1": address.address1,
            "address2": address.address2,
            "city": address.city,
            "country": address.country,
            "state": address.state,
            self.zip_name: address.zip,
        }

    def _base_order_text(self, place: tuple[int, int]) -> str:
        order = self.base.order(*place)
        return orjson.dumps(self._order(order, self.base.address(order.address))).decode()

    def _base_user_text(self, index: int) -> str:
        customer = self.base.customer(index)
        return orjson.dumps(self._user(customer, self.base.address(customer.address))).decode()

    def _order(self, order: Order, address: Address) -> dict[str, Any]:
        items = order.items[: order.item_count]
        place = (order.customer, order.number)
        methods = self.base.method_ids(order.customer)
        members = {
            "order_id": self.base.order_id(*place),
            "user_id": self.base.user_id(order.customer),
            "address": self.address_json(address),
            "items": [self._order_items[item] for item in items],
            "fulfillments": [self._parcels[place]] if order.status in _SENT else [],
            "status": STATUSES[order.status],
            "payment_history": [_transaction(order, each, methods) for each in range(order.transactions)],
        }
        if order.cancel_reason >= 0:
            members["cancel_reason"] = CANCEL_REASONS[order.cancel_reason]
        if order.status == RETURN_REQUESTED:
            members["return_items"] = self._sorted_ids(order, order.asked)
            members["return_payment_method_id"] = methods[order.asked_method]
        elif order.status == EXCHANGE_REQUESTED:
            members["exchange_items"] = self._sorted_ids(order, order.asked)
            members["exchange_new_items"] = self._sorted_ids(order, order.asked_new)
            members["exchange_payment_method_id"] = methods[order.asked_method]
            members["exchange_price_difference"] = order.asked_difference / 100
        return members

    def _parcel(self, place: tuple[int, int]) -> orjson.Fragment:
        """What was sent of an order; items of an order that was sent never change."""
        order, variants = self.base.order(*place), self.base.catalog.variants
        item_ids = [variants[item].item_id for item in order.items[: order.item_count]]
        parcel = {"tracking_id": [self.base.ids.tracking_id(*place)], "item_ids": item_ids}
        return orjson.Fragment(orjson.dumps(parcel))

    def _sorted_ids(self, order: Order, items: list[int]) -> list[str]:
        variants = self.base.catalog.variants
        return sorted(variants[item].item_id for item in items[: order.asked_count])

    def _user(self, customer: Customer, address: Address) -> dict[str, Any]:
        index = customer.index
        first_name, last_name = self.base.name(index)
        methods = enumerate(self.base.method_ids(index))
        return {
            "name": {"first_name": first_name, "last_name": last_name},
            "address": self.address_json(address),
            "email": self.base.email(index),
            "payment_methods": {name: self._method(customer, each, name) for each, name in methods},
            "orders": self.base.order_ids(index),
        }

    def _method(self, customer: Customer, method: int, method_id: str) -> dict[str, Any]:
        kind = customer.method_kind[method]
        members: dict[str, Any] = {"source": METHOD_KINDS[kind]}
        if kind == CREDIT_CARD:
            members["brand"], members["last_four"] = self.base.card(customer.index, method)
        elif kind == GIFT_CARD:
            members["balance"] = customer.balance[method] / 100
        members["id"] = method_id
        return members

    def _product(self, code: int) -> dict[str, Any]:
        product = self.base.catalog.products[code]
        variants = {variant.item_id: _variant(variant) for variant in product.variants}
        return {"name": product.name, "product_id": product.product_id, "variants": variants}

    def _item(self, code: int) -> dict[str, Any]:
        variant = self.base.catalog.variants[code]
        product = self.base.catalog.products[variant.product]
        return {"name": product.name, "product_id": product.product_id, **_variant(variant)}

    def _order_item(self, code: int) -> orjson.Fragment:
        item = self._item(code)
        del item["available"]
        return orjson.Fragment(orjson.dumps(item))


@functools.lru_cache(maxsize=16)
def renderer(base: RetailBase, zip_name: ZipName = "zip") -> Renderer:
    """The renderer of a base and a schema."""
    return Renderer(base, zip_name)


def _transaction(order: Order, number: int, methods: tuple[str, ...]) -> dict[str, Any]:
    return {
        "transaction_type": TRANSACTIONS[order.transaction_kind[number]],
        "amount": order.transaction_amount[number] / 100,
        "payment_method_id": methods[order.transaction_method[number]],
    }


def _variant(variant: Variant) -> dict[str, Any]:
    return {
        "item_id": variant.item_id,
        "options": variant.options,
        "available": variant.available,
        "price": variant.price / 100,
    }


def base_of(database: Database) -> RetailBase:
    """The base data of an episode of this domain."""
    return cast("RetailBase", database.base)


def customer_row(database: Database, customer: int) -> Customer:
    """The row of a customer now, by index. Change a copy of it only."""
    return cast("Customer", database.get("customers", base_of(database).user_id(customer)))


def order_row(database: Database, customer: int, number: int) -> Order:
    """The row of an order now, by the customer's index and its number. Change a copy of it only."""
    return cast("Order", database.get("orders", base_of(database).order_id(customer, number)))


def address_now(database: Database, code: int) -> Address:
    """The address of a code."""
    if code >= 0:
        return base_of(database).address(code)
    return cast("Address", database.get("addresses", str(code)))


def address_code(database: Database, customer: int, address: Address) -> int:
    """The code of an address that an agent writes for a customer; it is stored when it has none yet.

    What the customer's profile and orders had at first keeps its code, and so does what was written before.
    """
    base = base_of(database)
    orders = [base.order(customer, number).address for number in range(base.customer(customer).orders)]
    for code in (base.home_code(customer), *orders):
        if base.address(code) == address:
            return code
    written = [(key, record) for (table, key), record in database.changed.items() if table == "addresses"]
    for key, record in written:
        if record == address:
            return int(key)
    code = -1 - len(written)
    database.put("addresses", str(code), address)
    return code


def method_code(base: RetailBase, customer: int, method_id: str) -> int:
    """Which of a customer's payment methods an id names, or -1."""
    methods = base.method_ids(customer)
    return methods.index(method_id) if method_id in methods else -1


def item_code(base: RetailBase, item_id: str) -> int:
    """The variant code of an item id, or -1."""
    return base.catalog.variant_codes.get(item_id, -1)


def changed_records(database: Database, zip_name: ZipName = "zip") -> dict[tuple[str, str], Json]:
    """The orders and users that differ from the base data, as JSON, by (table, key) in sorted order.

    Two states over the same base data are equal exactly when these are.
    """
    start = Database(database.base)
    found = {}
    for table, key in sorted(database.changed):
        now = record_json(database, table, key, zip_name)
        if now is not None and now != record_json(start, table, key, zip_name):
            found[(table, key)] = now
    return found


def record_json(database: Database, table: str, key: str, zip_name: ZipName = "zip") -> Json | None:
    """An order or a customer as their tools answer them; None: there is none, or it is an address.

    An address counts where it is used.
    """
    look, row = renderer(base_of(database), zip_name), database.get(table, key)
    if table == "orders" and row is not None:
        return look.order_json(database, row)
    if table == "customers" and row is not None:
        return look.user_json(database, row)
    return None


def state_digest(database: Database) -> str:
    """Digest of the whole state; equal states have equal digests, whichever way they were reached."""
    changes = [[table, key, record] for (table, key), record in changed_records(database).items()]
    return digest({"base": database.base.digest, "changes": changes})
