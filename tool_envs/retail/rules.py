"""The domain policy: rules that are a sentence and a check in one, and the text for the agent made from them.

Calls are seen with the parameter names of schema 1.0.0. Each rule is a fold over the events of an episode;
its memory is a small value that is replaced and never changed.
"""

import functools
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import orjson

from tool_envs.consent import Pairs, Yes, covering, heard, used
from tool_envs.facts import MOST_VALUES, values_in
from tool_envs.messages import CONTENT, RESPOND, Json, ToolCall
from tool_envs.rules import Called, Event, Heard, Names, Rule, Said, fold, succeeded

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


def policy_text() -> str:
    """The whole domain policy, for the agent."""
    rules = "\n".join(f"{number}. {rule.text}" for number, rule in enumerate(RULES, 1))
    return _POLICY.format(rules=rules, most=MOST_VALUES, **_POLICY_NAMES)


# --- Authenticate first: the memory is whether a customer was found


def _found(found: bool, event: Event) -> bool:
    return found or (succeeded(event) and event.call.name in FINDERS)


def _may_be_used(found: bool, call: ToolCall) -> bool:
    return found or call.name not in CUSTOMERS_OWN | {TRANSFER}


_AUTHENTICATE_FIRST = Rule(
    id="authenticate_first",
    template=(
        "Find out who the customer is before you look up or change anything that is a customer's, and before "
        "a transfer: call {finders:`} with what they tell you of themselves, even when they tell you a user "
        "id. As long as nobody was found, ask again."
    ),
    parameters={"finders": FINDERS},
    start=False,
    after=fold(_found, _may_be_used),
    permits=_may_be_used,
)


# --- One customer: the memory is whom the conversation is with, and whose the orders are


class _Served(NamedTuple):
    """The customer who was found first, their orders once their profile was seen, and orders of others."""

    user: str = ""
    own: frozenset[str] | None = None
    others: frozenset[str] = frozenset()


def _meet(served: _Served, event: Event) -> _Served:
    if not succeeded(event):
        return served
    result = _result(event)
    if not served.user:
        return served._replace(user=result["user_id"]) if event.call.name in FINDERS else served
    if event.call.name == PROFILE and _argument(event.call, "user_id") == served.user:
        return served._replace(own=frozenset(result["orders"]))
    if "order_id" in result and result["user_id"] != served.user:
        return served._replace(others=served.others | {result["order_id"]})
    return served


def _is_their_own(served: _Served, call: ToolCall) -> bool:
    user, order = _argument(call, "user_id"), _argument(call, "order_id")
    if not served.user or call.name not in CUSTOMERS_OWN:
        return True
    if order:
        return order not in served.others and (served.own is None or order in served.own)
    return user == served.user


def _after_one_customer(served: _Served, event: Event) -> tuple[_Served, bool]:
    if not (succeeded(event) and served.user):
        return _meet(served, event), False
    anothers = _result(event).get("user_id", served.user) != served.user
    return _meet(served, event), anothers or not _is_their_own(served, event.call)


_ONE_CUSTOMER = Rule(
    id="one_customer",
    template=(
        "A conversation is with one customer, the first one that you found. Do not find, look up or change "
        "anybody else's data, whoever asks for it. An order that is not in the customer's profile "
        "(`{profile}`) is somebody else's: say no without looking it up."
    ),
    parameters={"profile": PROFILE},
    start=_Served(),
    after=_after_one_customer,
    permits=_is_their_own,
)


# --- Explicit yes: the memory is the open yeses

PAIRS: Pairs = (("item_ids", "new_item_ids"),)


def _consent(open_yeses: tuple[Yes, ...], event: Event) -> tuple[Yes, ...]:
    if isinstance(event, Heard):
        return heard(open_yeses, event.acts)
    if succeeded(event) and event.call.name in WRITES:
        return used(open_yeses, event.call, PAIRS)
    return open_yeses


def _has_consent(open_yeses: tuple[Yes, ...], call: ToolCall) -> bool:
    return call.name not in WRITES or covering(open_yeses, call, PAIRS) is not None


_EXPLICIT_YES = Rule(
    id="explicit_yes",
    template=(
        "Before each call that changes something ({writes:`}), tell the customer exactly what you are about "
        "to do, with the order, the items, the payment method, the address or the reason that you will pass "
        "on, and get their explicit yes to it. A yes counts once, for one call with what was put to them and "
        "what they added; if anything of it changes, ask for a new yes. A no takes back every yes that was "
        "not used yet, and a correction those that it contradicts."
    ),
    parameters={"writes": WRITES},
    start=(),
    after=fold(_consent, _has_consent),
    permits=_has_consent,
)


# --- No made-up facts: the memory is the ids that were shown

# Their arguments are the agent's own words.
_NO_SOURCE = frozenset({"calculate", "think", TRANSFER})
_EXAMPLES = frozenset({"#W1234567", "gift_card_1234567", "paypal_1234567", "jane_roe_1234"})
"""Ids in the descriptions of the tools."""
_EXAMPLE_FOLLOWS = re.compile(
    r"(?:\b(?:e\.\s?g\.|eg|for example|for instance|such as|looks? like)|\bformat)[\s,:(\"'`*]*$"
)


def _look(shown: frozenset[str], event: Event) -> frozenset[str]:
    if isinstance(event, Heard):
        return shown.union(_ids(event.text), *map(_ids, _texts(event.acts)))
    if not succeeded(event):
        return shown
    arguments = () if event.call.name in _NO_SOURCE else _texts(event.call.arguments)
    return shown.union(_ids(event.result), *map(_ids, arguments))


def _is_sourced(shown: frozenset[str], text: str) -> bool:
    return all(one in shown or _is_example(one, text) for one in _ids(text))


def _is_example(one: str, text: str) -> bool:
    """Whether an id stands in a text only to show how such ids look ("such as #W1234567")."""
    lower = text.lower()
    places = [place.start() for place in re.finditer(re.escape(one.lower().lstrip("#")), lower)]
    return all(_EXAMPLE_FOLLOWS.search(lower[max(0, place - 20) : place].rstrip("#")) for place in places)


def _after_no_made_up_facts(shown: frozenset[str], event: Event) -> tuple[frozenset[str], bool]:
    return _look(shown, event), isinstance(event, Said) and not _is_sourced(shown, event.text)


def _says_what_was_shown(shown: frozenset[str], call: ToolCall) -> bool:
    return call.name != RESPOND or _is_sourced(shown, _argument(call, CONTENT))


_NO_MADE_UP_FACTS = Rule(
    id="no_made_up_facts",
    template=(
        "Tell the customer only what they or a tool told you. In particular do not write an {kinds} that has "
        "not come up before."
    ),
    parameters={
        "kinds": Names(
            ("order id", "item id", "payment method id", "tracking number", "user id", "e-mail address")
        )
    },
    start=_EXAMPLES,
    after=_after_no_made_up_facts,
    permits=_says_what_was_shown,
)


# --- Allowed reason to cancel: the memory is the reasons that the customer gave


def _reasons(given: frozenset[str], event: Event) -> frozenset[str]:
    if not isinstance(event, Heard):
        return given
    return given.union(*map(_reasons_in, event.acts))


def _reasons_in(act: dict[str, Json]) -> list[str]:
    match act:
        case {"act": "inform" | "correct", "slot": "reason", "value": str(reason)}:
            return [reason]
        case {"act": "affirm", "tool": "cancel_pending_order", "arguments": {"reason": str(reason)}}:
            return [reason]
        case {"act": "wish", "told": {"reason": str(reason)}}:
            return [reason]
    return []


def _is_their_reason(given: frozenset[str], call: ToolCall) -> bool:
    return call.name != CANCEL or _argument(call, "reason") in given.intersection(CANCEL_REASONS)


def _after_allowed_reason(given: frozenset[str], event: Event) -> tuple[frozenset[str], bool]:
    if not (isinstance(event, Called) and event.call.name == CANCEL):
        return _reasons(given, event), False
    if event.code is None:
        return given, not _is_their_reason(given, event.call)
    return given, _argument(event.call, "reason").strip().lower() not in {"", *CANCEL_REASONS}


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


# --- Rules that the tools enforce: there is nothing to remember, the refusal is the breach


def _enforced(rule_id: str, template: str, code: str, tools: tuple[str, ...], **parameters: Any) -> Rule:  # noqa: ANN401
    """A rule of which `tools` refuse every breach with `code`."""

    def after(memory: None, event: Event) -> tuple[None, bool]:
        return memory, isinstance(event, Called) and event.code == code and event.call.name in tools

    return Rule(
        id=rule_id,
        template=template,
        parameters=parameters,
        enforced_by=tools,
        start=None,
        after=after,
        permits=lambda memory, call: True,  # noqa: ARG005 - what breaks it never succeeds
    )


_MODIFY_ITEMS_ONCE = _enforced(
    "modify_items_once",
    "The items of a pending order can be modified once, by `{tool}`. The order's status is then `{status}`, "
    "and it can be neither modified again nor cancelled. So collect everything first.",
    "items_already_modified",
    tuple(name for name in WRITES if "pending" in name),
    tool=MODIFY_ITEMS,
    status=MODIFIED,
)
_SAME_PRODUCT_TYPE = _enforced(
    "same_product_type",
    "An item is replaced only by another available variant of the same product: `{modify}` and `{exchange}` "
    "change options such as a color or a size, and never the product.",
    "not_same_product",
    (MODIFY_ITEMS, EXCHANGE),
    modify=MODIFY_ITEMS,
    exchange=EXCHANGE,
)
_REFUND_METHOD = _enforced(
    "refund_method",
    "The refund of a return (`{tool}`) goes to the payment method that the order was paid with or to a gift "
    "card of the customer, and nowhere else.",
    "payment_method_not_allowed",
    (RETURN,),
    tool=RETURN,
)


# --- Transfer last: the memory is whether the wish at hand is open and beyond the tools


def _listen(beyond: bool, event: Event) -> bool:
    for act in event.acts if isinstance(event, Heard) else ():
        if act.get("act") in ("wish", "ask", "accept_no"):
            beyond = act["act"] == "wish" and act.get("kind") == OUT_OF_SCOPE
    return beyond


def _may_transfer(beyond: bool, call: ToolCall) -> bool:
    return call.name != TRANSFER or beyond


_TRANSFER_LAST = Rule(
    id="transfer_last",
    template=(
        "Call `{tool}` only for a wish that none of the tools can fulfil, and only when everything else that "
        "the customer wants is done, since it ends the conversation. A wish that these rules forbid is no "
        "reason for it: look up what it is about and tell the customer no."
    ),
    parameters={"tool": TRANSFER},
    start=False,
    after=fold(_listen, _may_transfer),
    permits=_may_transfer,
)

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


# --- Reading events


def _result(event: Called) -> dict[str, Json]:
    value: dict[str, Json] = orjson.loads(event.result)
    return value


def _argument(call: ToolCall, name: str) -> str:
    """An argument that is a string; empty when there is none. A call that failed may hold anything."""
    value = call.arguments.get(name)
    return value if isinstance(value, str) else ""


@functools.lru_cache(maxsize=8192)
def _ids(text: str) -> tuple[str, ...]:
    return tuple(map(str, values_in(text, "id")))


def _texts(value: Json) -> Iterator[str]:
    """All strings in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list | tuple):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)


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
