"""The domain policy: rules that are a sentence and a check in one, and the text for the agent made from them.

Calls are seen with the parameter names of schema 1.0.0.
"""

import orjson

from tool_envs.consent import Pairs
from tool_envs.facts import MOST_VALUES, FactReader, IdKind
from tool_envs.messages import ToolCall
from tool_envs.rules import Called, Event, Heard, Names, Rule
from tool_envs.service.rules import (
    Ownership,
    enforced,
    explicit_yes,
    identify_first,
    no_made_up_facts,
    one_customer,
    policy_lines,
    reasons_given,
    text_argument,
    transfer_last,
)

FINDERS = Names(("find_user_id_by_email", "find_user_id_by_name_zip"))
PROFILE = "get_user_details"
CANCEL = "cancel_pending_order"
MODIFY_ITEMS = "modify_pending_order_items"
RETURN = "return_delivered_order_items"
EXCHANGE = "exchange_delivered_order_items"
TRANSFER = "transfer_to_human_agents"
WRITES = Names(
    (
        CANCEL,
        "modify_pending_order_address",
        MODIFY_ITEMS,
        "modify_pending_order_payment",
        "modify_user_address",
        RETURN,
        EXCHANGE,
    )
)
CUSTOMERS_OWN = frozenset({PROFILE, "get_order_details", *WRITES})
"""Tools that show or change what is a customer's."""
CANCEL_REASONS = Names(("no longer needed", "ordered by mistake"))
MODIFIED = "pending (item modified)"
OUT_OF_SCOPE = "out_of_scope"
"""The kind of a wish that no tool can fulfil."""

PAIRS: Pairs = (("item_ids", "new_item_ids"),)
FACTS = FactReader(
    IdKind("order", "W[0-9]{7}", prefix="#", capitals=True),
    IdKind("payment", "(?:credit_card|gift_card|paypal)_[0-9]{7}"),
    IdKind("user", "[a-z]+_[a-z]+_[0-9]{4}"),
    IdKind("parcel", "[0-9]{12}"),
    IdKind("item", "[0-9]{10}"),
)
"""Finds facts in what was said in a store."""


def policy_text() -> str:
    """The whole domain policy, for the agent."""
    return _POLICY.format(rules=policy_lines(RULES), most=MOST_VALUES, **_POLICY_NAMES)


def found_user(event: Called) -> str:
    """The user id that a successful call found; empty when it is no call that finds a customer."""
    return str(orjson.loads(event.result)["user_id"]) if event.call.name in FINDERS else ""


_AUTHENTICATE_FIRST = identify_first(
    "authenticate_first",
    (
        "Find out who the customer is before you look up or change anything that is a customer's, and before "
        "a transfer: call {finders:`} with what they tell you of themselves, even when they tell you a user "
        "id. As long as nobody was found, ask again."
    ),
    found_user,
    CUSTOMERS_OWN | {TRANSFER},
    finders=FINDERS,
)
_ONE_CUSTOMER = one_customer(
    (
        "A conversation is with one customer, the first one that you found. Do not find, look up or change "
        "anybody else's data, whoever asks for it. An order that is not in the customer's profile "
        "(`{profile}`) is somebody else's: say no without looking it up."
    ),
    Ownership(found_user, PROFILE, "orders", "order_id", CUSTOMERS_OWN),
    profile=PROFILE,
)
_EXPLICIT_YES = explicit_yes(
    (
        "Before each call that changes something ({writes:`}), tell the customer exactly what you are about "
        "to do, with the order, the items, the payment method, the address or the reason that you will pass "
        "on, and get their explicit yes to it. A yes counts once, for one call with what was put to them and "
        "what they added; if anything of it changes, ask for a new yes. A no takes back every yes that was "
        "not used yet, and a correction those that it contradicts."
    ),
    WRITES,
    PAIRS,
)
_NO_MADE_UP_FACTS = no_made_up_facts(
    (
        "Tell the customer only what they or a tool told you. In particular do not write an {kinds} that has "
        "not come up before."
    ),
    FACTS,
    own_words={"calculate", "think", TRANSFER},
    examples={"#W1234567", "gift_card_1234567", "paypal_1234567", "jane_roe_1234"},
    kinds=Names(("order id", "item id", "payment method id", "tracking number", "user id", "e-mail address")),
)


# --- Allowed reason to cancel: the memory is the reasons that the customer gave


def _reasons(given: frozenset[str], event: Event) -> frozenset[str]:
    if not isinstance(event, Heard):
        return given
    return given.union(*(reasons_given(act, CANCEL) for act in event.acts))


def _is_their_reason(given: frozenset[str], call: ToolCall) -> bool:
    return call.name != CANCEL or text_argument(call, "reason") in given.intersection(CANCEL_REASONS)


def _after_allowed_reason(given: frozenset[str], event: Event) -> tuple[frozenset[str], bool]:
    if not (isinstance(event, Called) and event.call.name == CANCEL):
        return _reasons(given, event), False
    if event.code is None:
        return given, not _is_their_reason(given, event.call)
    return given, text_argument(event.call, "reason").strip().lower() not in {"", *CANCEL_REASONS}


_ALLOWED_CANCEL_REASON = Rule(
    id="allowed_cancel_reason",
    template=(
        "Cancel an order only for a reason that the customer gave, and only for one of these: {reasons:'}. "
        "Do not choose a reason for them. For any other reason, say no."
    ),
    parameters={"reasons": CANCEL_REASONS},
    enforced_by=(CANCEL,),
    start=frozenset(),
    after=_after_allowed_reason,
    permits=_is_their_reason,
)


_MODIFY_ITEMS_ONCE = enforced(
    "modify_items_once",
    "The items of a pending order can be modified once, by `{tool}`. The order's status is then `{status}`, "
    "and it can be neither modified again nor cancelled. So collect everything first.",
    ("items_already_modified",),
    tuple(name for name in WRITES if "pending" in name),
    tool=MODIFY_ITEMS,
    status=MODIFIED,
)
_SAME_PRODUCT_TYPE = enforced(
    "same_product_type",
    "An item is replaced only by another available variant of the same product: `{modify}` and `{exchange}` "
    "change options such as a color or a size, and never the product.",
    ("not_same_product",),
    (MODIFY_ITEMS, EXCHANGE),
    modify=MODIFY_ITEMS,
    exchange=EXCHANGE,
)
_REFUND_METHOD = enforced(
    "refund_method",
    "The refund of a return (`{tool}`) goes to the payment method that the order was paid with or to a gift "
    "card of the customer, and nowhere else.",
    ("payment_method_not_allowed",),
    (RETURN,),
    tool=RETURN,
)
_TRANSFER_LAST = transfer_last(TRANSFER, OUT_OF_SCOPE)

RULES: tuple[Rule, ...] = (
    _AUTHENTICATE_FIRST,
    _ONE_CUSTOMER,
    _EXPLICIT_YES,
    _NO_MADE_UP_FACTS,
    _ALLOWED_CANCEL_REASON,
    _MODIFY_ITEMS_ONCE,
    _SAME_PRODUCT_TYPE,
    _REFUND_METHOD,
    _TRANSFER_LAST,
)
"""All rules, in the order of the text."""


# --- The text

_POLICY_NAMES = {
    "cancel": CANCEL,
    "modified": MODIFIED,
    "modify": MODIFY_ITEMS,
    "returns": RETURN,
    "exchange": EXCHANGE,
    "profile": PROFILE,
}
_POLICY = """\
# Domain policy: customer service of an online store

You serve customers of an online store. With the tools you can

- tell customers about their own profile and orders, and about the products of the store;
- cancel a pending order, or change its address, its payment method or the options of its items;
- take a return or an exchange of items of a delivered order;
- change the address in a customer's profile.

## Rules

{rules}

Do not make a call that a rule forbids only to see it refused: that breaks the rule, too.

## In a conversation

- Find the customer, look up what their wish is about, and see whether it can be done before you propose it.
- Customers may have several wishes, and may bring up the next one when one is done.
- Customers do not know ids by heart. They may mean an order or an item by what is in it: find the id
  yourself.
- When a wish cannot be fulfilled (a rule forbids it, the status is wrong, a variant is not available, a gift
  card holds too little), say so clearly. The customer may then want something else.
- Answer a question with the answer. A message with more than {most} different amounts, ids of one kind, or
  numbers does not count as an answer to a question for one of them.
- When a customer asks for a certain form of reply (short, only the total), keep to it.

## What things are

- A product comes in variants, which differ in their options and in price and may not be available. A product
  id names the product, an item id names one variant.
- An order is `pending`, `processed`, `delivered` or `cancelled` at first. Pending orders can be cancelled and
  modified, delivered ones returned and exchanged; `processed` and `cancelled` ones can only be looked at.
- A payment method is a credit card, a PayPal account or a gift card with a balance. Only those in the
  customer's profile (`{profile}`) can be used, and a gift card must hold what it is to pay.
- An order has an address of its own, apart from the one in the customer's profile.

## What the changes do

- **Cancelling** (`{cancel}`) is for a whole order. The order becomes `cancelled`, and every payment goes back
  to the method that it was made with.
- **Changing the address** of a pending order leaves its status as it is, and leaves the customer's profile
  alone. Pass on the whole address.
- **Changing the payment method** of a pending order charges the whole amount to another payment method of
  the customer and refunds the one before. The order stays pending.
- **Modifying items** (`{modify}`) replaces items of a pending order by other variants, all in one call. The
  difference in price is charged or refunded to one payment method of the customer. The order becomes
  `{modified}`.
- **Returning** (`{returns}`) is once per order, with all the items in one call. The order becomes
  `return requested` and can then be neither returned nor exchanged again.
- **Exchanging** (`{exchange}`) is once per order, with all the items in one call. The difference in price is
  charged or refunded to one payment method of the customer. The order becomes `exchange requested` and can
  then be neither returned nor exchanged again.
"""
