"""What was shown in an episode, as rows: by tools, and in the words of the customer.

Nothing comes in here that the agent has not seen. A kernel takes it in for each thing that can be shown. What
can be chosen on it stands in `masks`, how it looks as arrays in `tables`, and how texts become
rows in `words`.
"""

from typing import Annotated, Final, NamedTuple

from tool_envs.retail.products import PRODUCT_TYPES
from tool_envs.retail.rows import (
    MAX_ITEMS,
    MAX_METHODS,
    MAX_ORDERS,
    MAX_TRANSACTIONS,
    Customer,
    Order,
    Variants,
)
from tool_envs.rows import Row, Small, Tiny, kernel

PRODUCTS: Final = len(PRODUCT_TYPES)
"""How many products there are."""
MAX_VARIANTS: Final = 14
"""Most variants of one product."""
MAX_OPTIONS: Final = 4
"""Most options of one product."""
MAX_CHANGED: Final = 2
"""Most items of one call, and most things that the words of one wish name."""

CANCEL, ADDRESS, ITEMS, PAYMENT, USER_ADDRESS, RETURN, EXCHANGE = range(7)
"""The writes; `WRITE_TOOLS` has the names of their tools."""
WRITE_TOOLS: Final = (
    "cancel_pending_order",
    "modify_pending_order_address",
    "modify_pending_order_items",
    "modify_pending_order_payment",
    "modify_user_address",
    "return_delivered_order_items",
    "exchange_delivered_order_items",
)

FOR_CANCEL, FOR_ADDRESS, FOR_USER_ADDRESS, FOR_SWAP, FOR_PAYMENT, FOR_RETURN = range(6)
"""Kinds of wishes as far as words tell them apart: whether another variant means a change of a pending order
or an exchange, only its status says. `WISHES` has their names."""
WISHES: Final = ("cancel", "order_address", "user_address", "swap", "payment", "return")

ASKS_TOTAL, ASKS_STATUS, ASKS_CHEAPEST, ASKS_COUNT = range(4)
"""Kinds of questions; `QUESTIONS` has their names."""
QUESTIONS: Final = ("total", "status", "cheapest", "count")

IDENTITY: Final = 3
"""So many of the first of `SLOTS` say who somebody is."""
SLOTS: Final = (
    *("email", "name", "zip", "order_id", "item", "new_item", "payment_method", "reason", "address"),
    "other",
)
"""What a customer can be asked for; `other` is any more details."""
EMAIL, NAME, ZIP, ORDER, ITEM, NEW_ITEM, METHOD, REASON, NEW_ADDRESS, OTHER = range(10)

MOVES: Final = (
    *("thank", "deny", "affirm", "correct", "inform", "unknown", "hold_back", "ask_details"),
    *("ask_again", "wait", "insist", "accept_no", "wish", "ask", "bye"),
)
"""Acts of a customer's turn, all of which their words say; bit k of `moves` is the k-th of them."""
THANKS, DENIES, AFFIRMS, CORRECTS, TAKES_NO = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 11

DEMANDS: Final = ("max_characters", "language", "formal", "only_the_total")
"""What a customer may demand of every reply."""


OTHER_REASON: Final = 2
"""A reason that is none of `CANCEL_REASONS`; -1: none was told."""

UNSHOWN, NAMED, LISTED, SEEN = range(4)
"""How much of a product was shown: nothing; its name, in the customer's words; its id; its variants."""

OPEN: Final = -2
"""In a draft: not chosen yet."""
NONE: Final = -1
"""In a draft: there is none."""


class Said(Row):
    """What the words of one turn of a customer say. -1 stands for what they do not.

    Attributes:
        moves: Bits of `MOVES`.
        wish: Kind of the wish that is brought up, of `WISHES`.
        question: Kind of the question that is asked, of `QUESTIONS`.
        orders: Codes of orders that are named by id.
        sign: Code of the product by which an order is named ("the order with the kettle").
        things: Codes of products that are named.
        wants: For each thing: the option with a value (see `Shelves`) that another variant is to have.
        same: For each thing: 1 when all else is to stay the same.
        variants: Codes of variants that are named by all their options.
        method_kind: Kind of the payment method that is named.
        method_digits: Last four digits of the card that is named.
        reason: Index of `CANCEL_REASONS`, or `OTHER_REASON`.
        address: 1 when a whole address is told.
        told: Bits of the slots of identity that are told.
        unknown: Bits of `SLOTS`: what they say that they do not know.
        demands: Bits of `DEMANDS`: what they demand.
    """

    moves: int
    wish: Tiny
    question: Tiny
    orders: Annotated[list[int], MAX_CHANGED]
    sign: Tiny
    things: Annotated[list[int], MAX_CHANGED, "int8"]
    wants: Annotated[list[int], MAX_CHANGED, "int16"]
    same: Annotated[list[int], MAX_CHANGED, "int8"]
    variants: Annotated[list[int], MAX_CHANGED, "int16"]
    method_kind: Tiny
    method_digits: Small
    reason: Tiny
    address: Tiny
    told: Tiny
    unknown: Small
    demands: Tiny


class Draft(Row):
    """A call, or a part of one, as choices, each `OPEN` at first.

    Attributes:
        tool: The write; -1 for another tool.
        order: Place among the customer's orders.
        items: Places in the order of the items that it is about.
        news: Codes of the variants that take their place.
        method: Number of the payment method.
        reason: Index of `CANCEL_REASONS`.
        product: Code of a product.
        line: An item of any order: its order's place times `MAX_ITEMS`, and its place in the order.
    """

    tool: Tiny
    order: Tiny
    items: Annotated[list[int], MAX_CHANGED, "int8"]
    news: Annotated[list[int], MAX_CHANGED, "int16"]
    method: Tiny
    reason: Tiny
    product: Tiny
    line: Tiny


class Scene(Row):
    """What the agent knows beside the rows that it was shown.

    Attributes:
        found: 1 when the customer was found.
        profile: 1 when their profile was shown.
        stale: 1 when a balance in it moved since.
        catalog: 1 when the list of products was shown.
        refused: 1 when a tool refused the last call.
        told: As in `Said`, of all turns.
        unknown: Likewise.
        demands: Likewise.
        moves: As in `Said`, of the last turn.
        wish: As in `Said`, and so all down to `address`; of the wish at hand, brought up last.
        question: See above.
        orders: See above.
        sign: See above.
        things: See above.
        wants: See above.
        same: See above.
        variants: See above.
        method_kind: See above.
        method_digits: See above.
        reason: See above.
        address: See above.
        yes: 1 when the customer said yes to what was proposed last, and it was not done yet.
        unreported: The write that was made and not yet acknowledged, or -1.
        order_code: Codes of the customer's orders, in the order of their profile; -1 behind the last.
        order_seen: For each of them: 1 when it was shown.
        items_seen: For each of them: bit k when its k-th item was shown with its availability.
        product: For each product `UNSHOWN`, `NAMED`, `LISTED` or `SEEN`.
        products: How many are not `UNSHOWN`.
        product_at: Their codes, in the order in which they came up; -1 behind the last.
        digits: For each payment method the last four digits of a card, or -1.
    """

    found: Tiny
    profile: Tiny
    stale: Tiny
    catalog: Tiny
    refused: Tiny
    told: Tiny
    unknown: Small
    demands: Tiny
    moves: int
    wish: Tiny
    question: Tiny
    orders: Annotated[list[int], MAX_CHANGED]
    sign: Tiny
    things: Annotated[list[int], MAX_CHANGED, "int8"]
    wants: Annotated[list[int], MAX_CHANGED, "int16"]
    same: Annotated[list[int], MAX_CHANGED, "int8"]
    variants: Annotated[list[int], MAX_CHANGED, "int16"]
    method_kind: Tiny
    method_digits: Small
    reason: Tiny
    address: Tiny
    yes: Tiny
    unreported: Tiny
    order_code: Annotated[list[int], MAX_ORDERS]
    order_seen: Annotated[list[int], MAX_ORDERS, "int8"]
    items_seen: Annotated[list[int], MAX_ORDERS, "int8"]
    product: Annotated[list[int], PRODUCTS, "int8"]
    products: Tiny
    product_at: Annotated[list[int], PRODUCTS, "int8"]
    digits: Annotated[list[int], MAX_METHODS, "int16"]


class Shelves(NamedTuple):
    """What there is in the store, by codes; never changed. Of a product not `SEEN` nobody may look at it.

    Attributes:
        variants: Product, price and availability by variant code.
        first: By product code, the code of its first variant; the others follow.
        counts: By product code, how many variants it has.
        values: By variant code times `MAX_OPTIONS`, codes of its options with their values; -1 behind them.
        option: By such a code, the code of the option alone.
    """

    variants: Variants
    first: list[int]
    counts: list[int]
    values: list[int]
    option: list[int]


class Sight(Row):
    """All that is known in an episode. What is looked at most stands together.

    Attributes:
        scene: What the rows below do not say.
        proposed: What was proposed last; its `tool` is -1 when nothing was, or it was done.
        customer: As their profile showed them; `held` is what shown orders hold back.
        orders: As they were shown last, by their place in the profile; one that was not is never looked at.
    """

    scene: Scene
    proposed: Draft
    customer: Customer
    orders: Annotated[list[Order], MAX_ORDERS]


def nothing_said() -> Said:
    """A turn without words."""
    return Said(
        moves=0,
        wish=-1,
        question=-1,
        orders=[-1] * MAX_CHANGED,
        sign=-1,
        things=[-1] * MAX_CHANGED,
        wants=[-1] * MAX_CHANGED,
        same=[0] * MAX_CHANGED,
        variants=[-1] * MAX_CHANGED,
        method_kind=-1,
        method_digits=-1,
        reason=-1,
        address=0,
        told=0,
        unknown=0,
        demands=0,
    )


def open_draft(tool: int = -1) -> Draft:
    """A draft in which nothing is chosen but the write."""
    return Draft(
        tool=tool,
        order=OPEN,
        items=[OPEN] * MAX_CHANGED,
        news=[OPEN] * MAX_CHANGED,
        method=OPEN,
        reason=OPEN,
        product=OPEN,
        line=OPEN,
    )


def nothing_shown() -> Sight:
    """Before the first word of an episode."""
    scene = Scene(
        found=0,
        profile=0,
        stale=0,
        catalog=0,
        refused=0,
        told=0,
        unknown=0,
        demands=0,
        moves=0,
        wish=-1,
        question=-1,
        orders=[-1] * MAX_CHANGED,
        sign=-1,
        things=[-1] * MAX_CHANGED,
        wants=[-1] * MAX_CHANGED,
        same=[0] * MAX_CHANGED,
        variants=[-1] * MAX_CHANGED,
        method_kind=-1,
        method_digits=-1,
        reason=-1,
        address=0,
        yes=0,
        unreported=-1,
        order_code=[-1] * MAX_ORDERS,
        order_seen=[0] * MAX_ORDERS,
        items_seen=[0] * MAX_ORDERS,
        product=[UNSHOWN] * PRODUCTS,
        products=0,
        product_at=[-1] * PRODUCTS,
        digits=[-1] * MAX_METHODS,
    )
    return Sight(scene, open_draft(), blank_customer(), [blank_order() for _ in range(MAX_ORDERS)])


def blank_customer() -> Customer:
    """A customer of whom nothing was shown."""
    return Customer(
        index=-1,
        address=-1,
        methods=0,
        method_kind=[0] * MAX_METHODS,
        balance=[0] * MAX_METHODS,
        held=[0] * MAX_METHODS,
        orders=0,
    )


def blank_order() -> Order:
    """An order of which nothing was shown."""
    return Order(
        customer=-1,
        number=-1,
        address=-1,
        status=0,
        item_count=0,
        items=[-1] * MAX_ITEMS,
        transactions=0,
        transaction_kind=[0] * MAX_TRANSACTIONS,
        transaction_amount=[0] * MAX_TRANSACTIONS,
        transaction_method=[-1] * MAX_TRANSACTIONS,
        cancel_reason=-1,
        asked_count=0,
        asked=[-1] * MAX_ITEMS,
        asked_new=[-1] * MAX_ITEMS,
        asked_method=-1,
        asked_difference=0,
    )


@kernel
def may_be(chosen: int, value: int) -> bool:
    """Whether something in a draft has that value, or may still get it."""
    if chosen == OPEN:
        return True
    return chosen == value
