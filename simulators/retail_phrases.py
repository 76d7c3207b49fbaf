"""What people in a store say."""

from collections.abc import Mapping

from tool_envs.messages import Json
from tool_envs.simulators.phrasing import Phrases, join
from tool_envs.simulators.retail_language import RETAIL
from tool_envs.simulators.shared_phrases import CONDITIONS, NOUNS, QUESTIONS, REASONS, WANTS

_ADDRESS = ("address1", "address2", "city", "state", "zip", "country")


def _named(value: str, words: Mapping[str, str], noun: str) -> str:
    return f"{words[value]} ({noun} {value})" if value in words else f"{noun} {value}"


def _fields(arguments: Mapping[str, Json], words: Mapping[str, str]) -> dict[str, str]:
    """What stands in the fields of deeds and results."""
    old = [_named(item, words, "item") for item in arguments.get("item_ids", ())]
    new = [_named(item, words, "item") for item in arguments.get("new_item_ids", ())]
    method = arguments.get("payment_method_id", "")
    return {
        "order": arguments.get("order_id", ""),
        "reason": arguments.get("reason", ""),
        "items": join(old),
        "pairs": join([f"{one} for {other}" for one, other in zip(old, new, strict=False)]),
        "payment": f"{words[method]} ({method})" if method in words else method,
        "address": ", ".join(str(arguments[part]) for part in _ADDRESS if arguments.get(part)),
    }


RETAIL_PHRASES = Phrases(
    language=RETAIL,
    slots={
        "email": ("email",),
        "name": ("first_name", "last_name"),
        "zip": ("zip",),
        "user_id": ("user_id",),
        "order_id": ("order_id",),
        "item": ("item_ids",),
        "new_item": ("new_item_ids",),
        "payment_method": ("payment_method_id",),
        "reason": ("reason",),
        "address": _ADDRESS,
    },
    questions={
        **QUESTIONS,
        "zip": "your zip code",
        "order_id": "the order ID",
        "item": "the items that this is about",
        "new_item": "the new options that you would like",
        "address": "the full new address",
    },
    nouns={
        **NOUNS,
        "zip": "my zip code",
        "order_id": "the order",
        "item": "the item",
        "new_item": "what I want instead",
        "address": "the new address",
    },
    wants={
        **WANTS,
        "order_id": "the order I mean is {words}",
        "item": "what I mean is {words}",
        "new_item": "what I want instead is {words}",
        "address": "the address should be {words}",
    },
    fields=_fields,
    deeds={
        "cancel_pending_order": (
            'cancel order {order} with the reason "{reason}"',
            "cancel the whole order {order}, with {reason} as the reason",
            "cancel your pending order {order} for the reason {reason}",
        ),
        "return_delivered_order_items": (
            "return {items} from order {order} and refund you through {payment}",
            "process the return of {items} from order {order}, with the refund going to {payment}",
            "initiate the return of {items} from order {order} with the refund to {payment}",
        ),
        "exchange_delivered_order_items": (
            "exchange {pairs} in order {order}, with any price difference going through {payment}",
            "exchange {pairs} in your delivered order {order}, with {payment} for any price difference",
            "process an exchange in order {order} of {pairs}, with {payment} for any difference",
        ),
        "modify_pending_order_items": (
            "modify the items of order {order}, changing {pairs}, with {payment} for any price difference",
            "modify pending order {order} by swapping {pairs}, with {payment} for any difference",
            "change {pairs} in pending order {order}, with {payment} for any price difference",
        ),
        "modify_pending_order_address": (
            "change the shipping address of order {order} to {address}",
            "update the shipping address of your pending order {order} to {address}",
            "change the delivery address of order {order} to {address}",
        ),
        "modify_pending_order_payment": (
            "change the payment method of order {order} to {payment}",
            "update the payment method of your pending order {order} to {payment}",
            "switch the payment method of order {order} to {payment}",
        ),
        "modify_user_address": (
            "change the address in your profile to {address}",
            "update your profile address to {address}",
            "change the default address in your profile to {address}",
        ),
    },
    brief_deeds={
        "cancel_pending_order": "cancel order {order} ({reason})",
        "return_delivered_order_items": "return {items} of {order}, refund to {payment}",
        "exchange_delivered_order_items": "exchange {pairs} in {order}, paid with {payment}",
        "modify_pending_order_items": "modify items in {order}, {pairs}, paid with {payment}",
        "modify_pending_order_address": "change the address of order {order} to {address}",
        "modify_pending_order_payment": "change the payment method of {order} to {payment}",
        "modify_user_address": "change your profile address to {address}",
    },
    results={
        "cancel_pending_order": (
            "Order {order} has been cancelled",
            'Your order {order} was successfully cancelled with the reason "{reason}"',
            "I have cancelled your order {order}",
        ),
        "return_delivered_order_items": (
            "The return for order {order} has been requested",
            "The return of {items} from order {order} has been requested, and the refund goes to {payment}",
            "I have requested the return of {items} from order {order}",
        ),
        "exchange_delivered_order_items": (
            "The exchange for order {order} has been requested",
            "The exchange of {pairs} in order {order} has been requested, with {payment} for the rest",
            "I have requested the exchange of {pairs} in order {order}",
        ),
        "modify_pending_order_items": (
            "The items of order {order} have been modified",
            "The items of your order {order} have been modified: {pairs}",
            "I have modified the items of order {order}: {pairs}, with {payment} for any price difference",
        ),
        "modify_pending_order_address": (
            "The shipping address of order {order} has been changed",
            "The shipping address of order {order} has been updated to {address}",
            "I have changed the shipping address of order {order} to {address}",
        ),
        "modify_pending_order_payment": (
            "The payment method of order {order} has been changed",
            "The payment method of order {order} has been updated to {payment}",
            "I have changed the payment method of order {order} to {payment}",
        ),
        "modify_user_address": (
            "Your default address has been changed",
            "Your default address has been updated to {address}",
            "I have changed your default address to {address}",
        ),
    },
    refusals={
        "cancel": "cancel this order",
        "cancel_item": "cancel single items of an order",
        "order_address": "change the address of this order",
        "user_address": "change the address in this profile",
        "items": "modify the items of this order",
        "payment": "change the payment method of this order",
        "return": "return these items",
        "exchange": "exchange these items",
        "question": "tell you that",
    },
    reasons={
        **REASONS,
        "not_pending": "the order is no longer pending",
        "not_delivered": "the order has not been delivered yet",
        "already_modified": "the items of the order were modified before",
        "already_requested": "a return or exchange was requested before",
        "cancelled": "the order was cancelled before",
        "other_product": "an item can only become another variant of the same product",
        "no_such_variant": "there is no such variant of the product",
        "not_available": "the variant you want is out of stock",
        "cancel_reason": "your reason is not one of those that our policy accepts",
        "whole_order": "only a whole order can be cancelled",
        "refund_method": "a refund only goes to the original payment method or a gift card",
        "same_method": "the order is paid with that method now",
        "not_yours": "the order belongs to another customer",
    },
    identity=frozenset({"email", "name", "zip", "user_id"}),
    introduction=("email", "name", "zip"),
    identifying=frozenset({"order_id", "item_ids", "new_item_ids", "user_id", *_ADDRESS}),
    look_alikes=(frozenset({"exchange_delivered_order_items", "modify_pending_order_items"}),),
    conditions=dict(CONDITIONS),
)
