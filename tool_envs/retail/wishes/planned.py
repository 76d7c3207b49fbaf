"""What the makers of wishes share: look-ups, and the words that several need."""

from collections.abc import Mapping, Sequence

from tool_envs.messages import Json, ToolCall
from tool_envs.people import Address
from tool_envs.retail.catalog import Product, Variant
from tool_envs.retail.rows import Order
from tool_envs.retail.wishes.shopper import Shopper
from tool_envs.service.wishes import make_wish
from tool_envs.simulators.goal import Wish
from tool_envs.simulators.retail_openings import OPENINGS

REASONS = {"no longer needed": "I no longer need it", "ordered by mistake": "I ordered it by mistake"}
"""Reasons to cancel that count -> how customers say them."""


def wish_of(kind: str, shopper: Shopper, fields: Mapping[str, str], **rest: Json) -> Wish:
    """A wish with one of the openings of its kind."""
    return make_wish(kind, shopper.draws, OPENINGS[kind], fields, **rest)


def read_order(shopper: Shopper, order: Order) -> ToolCall:
    """The look-up of an order."""
    return ToolCall("get_order_details", {"order_id": shopper.order_id(order)})


def read_product(product: Product) -> ToolCall:
    """The look-up of a product."""
    return ToolCall("get_product_details", {"product_id": product.product_id})


def new_address(shopper: Shopper) -> Address:
    """An address to move to: somebody else's."""
    others = shopper.base.customers * 6
    return shopper.base.address(shopper.draws.below(others))


def address_text(address: Address) -> str:
    """An address in one line."""
    street = ", ".join(filter(None, [address.address1, address.address2]))
    return f"{street}, {address.city}, {address.state} {address.zip}, {address.country}"


def names_of(shopper: Shopper, items: Sequence[Variant]) -> str:
    """Items as customers name them."""
    return " and ".join(f"the {shopper.name(item).lower()}" for item in items)


def option_text(variant: Variant) -> str:
    """The options of a variant in a row: what people call it."""
    return ", ".join(variant.options.values())
