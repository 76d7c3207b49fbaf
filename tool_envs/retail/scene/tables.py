"""What was shown as arrays. Kernels, as in `sight`: each fills one table, which is all zero before.

Places in tables stand for entities: an order by its place in the profile, a payment method by its number;
products stand in the order in which they came up, whoever spoke of them first. Items stand there for the
order that the words of the wish at hand mean, variants for the two things at most that they name.
"""

from collections.abc import Mapping
from typing import Final, Literal

from tool_envs.retail.rows import (
    CANCEL_REASONS,
    GIFT_CARD,
    MAX_ITEMS,
    MAX_METHODS,
    MAX_ORDERS,
    METHOD_KINDS,
    STATUSES,
)
from tool_envs.retail.scene.reasons import (
    has_product,
    is_method_named,
    is_named,
    is_wanted,
    order_at_hand,
    paid,
    variant_at_hand,
)
from tool_envs.retail.scene.sight import (
    DEMANDS,
    IDENTITY,
    MAX_CHANGED,
    MAX_VARIANTS,
    MOVES,
    PRODUCTS,
    QUESTIONS,
    SEEN,
    SLOTS,
    WISHES,
    WRITE_TOOLS,
    Shelves,
    Sight,
)
from tool_envs.retail.writes import open_payment
from tool_envs.row_lists import Out, put_one, scaled
from tool_envs.rows import kernel

_THINGS = ("first thing named", "second thing named")
FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "orders": (
        *("listed", "shown", "named by id", "named by what is in it"),
        *(f"has {thing}" for thing in _THINGS),
        *STATUSES,
        *(f"paid with method {method}" for method in range(MAX_METHODS)),
        "proposed",
    ),
    "lines": ("shown", *_THINGS, "product shown", "looked up", "proposed"),
    "variants": ("shown", "available", "own", "wanted", "proposed"),
    "methods": ("shown", *METHOD_KINDS, "named", "holds enough", "pays the order", "proposed"),
    "products": ("shown", "named"),
    "order_amounts": ("paid",),
    "balances": ("balance",),
    "prices": ("dearer than own",),
    "conversation": (
        *("customer found", "profile shown", "a balance moved since", "list of products shown"),
        "last call refused",
        *(f"told {slot}" for slot in SLOTS[:IDENTITY]),
        *(f"does not know {slot}" for slot in SLOTS),
        *(f"says {move}" for move in MOVES),
        *(f"wants {wish}" for wish in WISHES),
        *(f"asks for {question}" for question in QUESTIONS),
        *(f"because {reason}" for reason in (*CANCEL_REASONS, "of something else")),
        *("address told", "order named by id", "order named by what is in it"),
        *(f"{thing}" for thing in _THINGS),
        *("option wanted", "second option wanted", "variant named"),
        *(f"{kind} named" for kind in METHOD_KINDS),
        *(f"yes to {tool}" for tool in WRITE_TOOLS),
        *(f"proposed {tool}" for tool in WRITE_TOOLS),
        *(f"{tool} to be reported" for tool in WRITE_TOOLS),
        *(f"demands {demand}" for demand in DEMANDS),
    ),
}
"""Name of a table -> what stands along its last axis."""

_ROWS: Final[Mapping[str, tuple[int, ...]]] = {
    "orders": (MAX_ORDERS,),
    "lines": (MAX_ITEMS,),
    "variants": (MAX_CHANGED * MAX_VARIANTS,),
    "methods": (MAX_METHODS,),
    "products": (PRODUCTS,),
    "order_amounts": (MAX_ORDERS,),
    "balances": (MAX_METHODS,),
    "prices": (MAX_CHANGED * MAX_VARIANTS,),
    "conversation": (),
}
_AMOUNTS = ("order_amounts", "balances", "prices")
SHAPES: Final[Mapping[str, tuple[tuple[int, ...], Literal["int8", "float32"]]]] = {
    name: ((*rows, len(FIELDS[name])), "float32" if name in _AMOUNTS else "int8")
    for name, rows in _ROWS.items()
}
"""Name of a table -> its shape and dtype."""

_MOST_PAID: Final = 700_000
_MOST_BALANCE: Final = 200_000
_MOST_DEARER: Final = 150_000
"""In cents: what is shown as 1.0, as everything above is."""


@kernel
def fill_conversation(sight: Sight, out: Out) -> None:
    """What was told, and where the conversation stands."""
    scene = sight.scene
    out[0], out[1], out[2] = scene.found, scene.profile, scene.stale
    out[3], out[4] = scene.catalog, scene.refused
    told, unknown, demands = int(scene.told), int(scene.unknown), int(scene.demands)
    for slot in range(IDENTITY):
        out[5 + slot] = told >> slot & 1
    for slot in range(len(SLOTS)):
        out[5 + IDENTITY + slot] = unknown >> slot & 1
    at = 5 + IDENTITY + len(SLOTS)
    for move in range(len(MOVES)):
        out[at + move] = scene.moves >> move & 1
    at = put_one(out, at + len(MOVES), scene.wish, len(WISHES))
    at = put_one(out, at, scene.question, len(QUESTIONS))
    at = put_one(out, at, scene.reason, len(CANCEL_REASONS) + 1)
    out[at], out[at + 1], out[at + 2] = scene.address, scene.orders[0] >= 0, scene.sign >= 0
    out[at + 3], out[at + 4] = scene.things[0] >= 0, scene.things[1] >= 0
    out[at + 5], out[at + 6] = scene.wants[0] >= 0, scene.wants[1] >= 0
    out[at + 7] = scene.variants[0] >= 0
    at = put_one(out, at + 8, scene.method_kind, len(METHOD_KINDS))
    tool = sight.proposed.tool
    at = put_one(out, at, tool if scene.yes else -1, len(WRITE_TOOLS))
    at = put_one(out, at, -1 if scene.yes else tool, len(WRITE_TOOLS))
    at = put_one(out, at, scene.unreported, len(WRITE_TOOLS))
    for demand in range(len(DEMANDS)):
        out[at + demand] = demands >> demand & 1


@kernel
def fill_orders(sight: Sight, shelves: Shelves, out: Out, amounts: Out) -> None:
    """The customer's orders, and what was paid for them."""
    scene = sight.scene
    for place in range(MAX_ORDERS):
        row = out[place]
        row[0], row[1] = scene.order_code[place] >= 0, scene.order_seen[place]
        row[2] = is_named(sight, place)
        row[3] = has_product(sight, shelves, place, scene.sign)
        for rank in range(MAX_CHANGED):
            row[4 + rank] = has_product(sight, shelves, place, scene.things[rank])
        if scene.order_seen[place]:
            order = sight.orders[place]
            at = put_one(row, 4 + MAX_CHANGED, order.status, len(STATUSES))
            put_one(row, at, order.transaction_method[open_payment(order)], MAX_METHODS)
            amounts[place, 0] = scaled(paid(order), _MOST_PAID)
        row[len(row) - 1] = is_proposed(sight, place)


@kernel
def is_proposed(sight: Sight, place: int) -> bool:
    """Whether what was proposed last changes that order."""
    return sight.proposed.tool >= 0 and sight.proposed.order == place


@kernel
def fill_lines(sight: Sight, shelves: Shelves, out: Out) -> None:
    """The items of the order that the words mean."""
    scene = sight.scene
    place = order_at_hand(sight, shelves)
    if place < 0 or not scene.order_seen[place]:
        return
    for line in range(sight.orders[place].item_count):
        row = out[line]
        product = shelves.variants.product[sight.orders[place].items[line]]
        row[0] = 1
        for rank in range(MAX_CHANGED):
            row[1 + rank] = product == scene.things[rank]
            if is_proposed(sight, place) and sight.proposed.items[rank] == line:
                row[5] = 1
        row[3], row[4] = scene.product[product] == SEEN, scene.items_seen[place] >> line & 1


@kernel
def fill_variants(sight: Sight, shelves: Shelves, out: Out, prices: Out) -> None:
    """The variants of the things that the words name, and how much dearer they are than what there is."""
    for rank in range(MAX_CHANGED):
        product = sight.scene.things[rank]
        if product < 0 or sight.scene.product[product] != SEEN:
            continue
        own = variant_at_hand(sight, shelves, rank)
        for number in range(shelves.counts[product]):
            variant = shelves.first[product] + number
            row = out[rank * MAX_VARIANTS + number]
            row[0], row[1] = 1, shelves.variants.available[variant]
            row[2], row[3] = variant == own, is_wanted(sight, shelves, rank, variant)
            row[4] = sight.proposed.tool >= 0 and variant in (
                sight.proposed.news[0],
                sight.proposed.news[1],
            )
            if own >= 0:
                dearer = shelves.variants.price[variant] - shelves.variants.price[own]
                prices[rank * MAX_VARIANTS + number, 0] = scaled(dearer, _MOST_DEARER)


@kernel
def fill_methods(sight: Sight, shelves: Shelves, out: Out, balances: Out) -> None:
    """The customer's payment methods, and what is on gift cards."""
    customer = sight.customer
    place = order_at_hand(sight, shelves)
    known = place >= 0 and sight.scene.order_seen[place] > 0
    for method in range(customer.methods):
        row = out[method]
        free = customer.balance[method] - customer.held[method]
        row[0] = 1
        at = put_one(row, 1, customer.method_kind[method], len(METHOD_KINDS))
        row[at] = is_method_named(sight, method)
        if known:
            order = sight.orders[place]
            payment = open_payment(order)
            is_card = customer.method_kind[method] == GIFT_CARD
            row[at + 1] = not is_card or free >= order.transaction_amount[payment]
            row[at + 2] = order.transaction_method[payment] == method
        row[at + 3] = sight.proposed.tool >= 0 and sight.proposed.method == method
        balances[method, 0] = scaled(free, _MOST_BALANCE)


@kernel
def fill_products(sight: Sight, out: Out) -> None:
    """The products of the store, as they came up."""
    scene = sight.scene
    for row in range(scene.products):
        product = scene.product_at[row]
        out[row, 0] = scene.product[product] == SEEN
        out[row, 1] = product in (scene.things[0], scene.things[1], scene.sign)
