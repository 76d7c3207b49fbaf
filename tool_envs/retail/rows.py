"""The rows of the store, and what their small integers mean. Money is in cents."""

from typing import Annotated, NamedTuple

from tool_envs.rows import Row, Tiny

MAX_ORDERS = 5
"""Most orders of one customer."""
MAX_METHODS = 3
"""Most payment methods of one customer."""
MAX_ITEMS = 5
"""Most items of one order."""
MAX_TRANSACTIONS = 8
"""Most payments and refunds of one order."""

CREDIT_CARD, GIFT_CARD, PAYPAL = range(3)
"""Kinds of payment method; `METHOD_KINDS` has their names."""
METHOD_KINDS = ("credit_card", "gift_card", "paypal")

PENDING, PROCESSED, DELIVERED, CANCELLED, ITEM_MODIFIED, RETURN_REQUESTED, EXCHANGE_REQUESTED = range(7)
"""Statuses of an order; `STATUSES` has their names."""
STATUSES = (
    "pending",
    "processed",
    "delivered",
    "cancelled",
    "pending (item modified)",
    "return requested",
    "exchange requested",
)

PAYMENT, REFUND = range(2)
"""Kinds of transaction; `TRANSACTIONS` has their names."""
TRANSACTIONS = ("payment", "refund")

CANCEL_REASONS = ("no longer needed", "ordered by mistake")
"""An order holds -1 or an index of these."""


class Customer(Row):
    """A customer. Who they are (names, e-mail, ids) follows from `index`, see `RetailBase`.

    Attributes:
        index: Which customer, 0 to `RetailBase.customers` - 1.
        address: Code of the address now; below 0 when it was written in this episode.
        methods: How many payment methods they have; the lists below have `MAX_METHODS` places.
        method_kind: `CREDIT_CARD`, `GIFT_CARD` or `PAYPAL`.
        balance: What is left on a gift card; 0 for the other kinds.
        held: What requested exchanges will take from a gift card; it cannot be spent again.
        orders: How many orders they have.
    """

    index: int
    address: int
    methods: Tiny
    method_kind: Annotated[list[int], MAX_METHODS, "int8"]
    balance: Annotated[list[int], MAX_METHODS]
    held: Annotated[list[int], MAX_METHODS]
    orders: Tiny


class Order(Row):
    """An order. Its ids follow from `customer` and `number`; an item costs what its variant costs.

    Attributes:
        customer: Index of the customer.
        number: Which of their orders, from 0.
        address: Code of the address that it is sent to; below 0 when it was written in this episode.
        status: `PENDING` and so on.
        item_count: How many items it has.
        items: Variant codes; -1 behind the last.
        transactions: How many payments and refunds there were.
        transaction_kind: `PAYMENT` or `REFUND`.
        transaction_amount: In cents.
        transaction_method: Which of the customer's payment methods.
        cancel_reason: Index of `CANCEL_REASONS`, or -1.
        asked_count: How many items are to be returned or exchanged.
        asked: Their variant codes, ascending; -1 behind the last.
        asked_new: For an exchange: what takes their place, place by place.
        asked_method: What is refunded to or charged, or -1.
        asked_difference: For an exchange: new prices minus old ones, in cents.
    """

    customer: int
    number: Tiny
    address: int
    status: Tiny
    item_count: Tiny
    items: Annotated[list[int], MAX_ITEMS, "int16"]
    transactions: Tiny
    transaction_kind: Annotated[list[int], MAX_TRANSACTIONS, "int8"]
    transaction_amount: Annotated[list[int], MAX_TRANSACTIONS]
    transaction_method: Annotated[list[int], MAX_TRANSACTIONS, "int8"]
    cancel_reason: Tiny
    asked_count: Tiny
    asked: Annotated[list[int], MAX_ITEMS, "int16"]
    asked_new: Annotated[list[int], MAX_ITEMS, "int16"]
    asked_method: Tiny
    asked_difference: int


class Variants(NamedTuple):
    """What tools need to know about the variants, by variant code; never changed.

    Attributes:
        product: Product code.
        price: In cents.
        available: 1 when it can be ordered now, else 0.
    """

    product: list[int]
    price: list[int]
    available: list[int]
