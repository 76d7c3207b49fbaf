"""What customers of the store can want: one maker for each kind of wish, and what is right for it."""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from tool_envs.messages import Json, ToolCall
from tool_envs.retail.catalog import Product, Variant
from tool_envs.retail.data import RetailBase
from tool_envs.retail.draws import Draws
from tool_envs.retail.rows import (
    CREDIT_CARD,
    DELIVERED,
    GIFT_CARD,
    PENDING,
    PROCESSED,
    STATUSES,
    Address,
    Order,
)
from tool_envs.simulators.goal import Fact, Value, Wish
from tool_envs.simulators.phrasing import sentence
from tool_envs.simulators.retail_openings import OPENINGS

_MAX_ACCEPTED = 6
_REASONS = {"no longer needed": "I no longer need it", "ordered by mistake": "I ordered it by mistake"}
BAD_REASONS = (
    "I found it cheaper in another store",
    "my friend advised me against it",
    "it takes too long to arrive",
    "I do not like the color any more",
)


class Planned(NamedTuple):
    """A wish, the records that must be read for it, and the write that fulfils it."""

    wish: Wish
    reads: tuple[ToolCall, ...]
    writes: tuple[ToolCall, ...] = ()


class Shopper:
    """A customer while a task is made for them.

    Wishes of one task keep out of each other's way: each has an order of its own, no two speak of things of
    the same name, and one at most moves money on a gift card.

    Args:
        base: The store.
        customer: Index of the customer.
        draws: The choices.
        forgetful: They do not know the ids of their orders.
    """

    def __init__(self, base: RetailBase, customer: int, draws: Draws, forgetful: bool) -> None:
        self.base, self.customer, self.draws = base, customer, draws
        self.row = base.customer(customer)
        self.method_ids = base.method_ids(customer)
        self.orders = [base.order(customer, number) for number in range(self.row.orders)]
        self._forgetful = forgetful
        self._taken_orders: set[int] = set()
        self._taken_names: set[str] = set()
        self._card_taken = False
        self._moved = False

    def move(self) -> bool:
        """Take note that they move; False when they do so already."""
        moves_now, self._moved = not self._moved, True
        return moves_now

    # --- Orders and items

    def take_order(self, *statuses: int) -> Order | None:
        """One of the orders with such a status that no wish has; None when there is none."""
        fitting = [
            order
            for order in self.orders
            if order.status in statuses and order.number not in self._taken_orders and self.own_items(order)
        ]
        if not fitting:
            return None
        order = self.draws.pick(fitting)
        self._taken_orders.add(order.number)
        return order

    def order_id(self, order: Order) -> str:
        """The id of one of their orders."""
        return self.base.order_id(self.customer, order.number)

    def own_items(self, order: Order) -> list[Variant]:
        """The items of an order that nothing else of this customer shares its name with."""
        names = [self.name(item) for each in self.orders for item in self.items(each)]
        return [item for item in self.items(order) if names.count(self.name(item)) == 1]

    def items(self, order: Order) -> list[Variant]:
        """The items of an order."""
        return [self.base.catalog.variants[code] for code in order.items[: order.item_count]]

    def take_items(self, order: Order, most: int) -> list[Variant]:
        """One or more items of an order to speak of; its `own_items` are enough for one."""
        own = self.own_items(order)
        count = 1 + self.draws.below(min(most, len(own)))
        first = self.draws.below(len(own))
        items = [own[(first + place) % len(own)] for place in range(count)]
        self._taken_names.update(map(self.name, items))
        return items

    def take_product(self) -> Product | None:
        """A product that no wish speaks of."""
        product = self.draws.pick(self.base.catalog.products)
        if product.name in self._taken_names:
            return None
        self._taken_names.add(product.name)
        return product

    def name(self, item: Variant) -> str:
        """What an item is called."""
        return self.base.catalog.products[item.product].name

    def order_words(self, order: Order) -> str:
        """How they speak of an order."""
        if not self._forgetful:
            return f"order {self.order_id(order)}"
        own = self.own_items(order)
        told_by = next((item for item in own if self.name(item) not in self._taken_names), own[0])
        return f"the order with the {self.name(told_by).lower()}"

    # --- Payment methods

    def take_method(self, price: int, numbers: Sequence[int]) -> int | None:
        """One of these methods that can pay a price in cents (below 0: a refund); None when there is none."""
        fitting = [number for number in numbers if self._can_use(number, price)]
        if not fitting:
            return None
        number = self.draws.pick(fitting)
        self._card_taken |= self.is_gift_card(number)
        return number

    def is_gift_card(self, number: int) -> bool:
        """Whether a payment method is a gift card."""
        return self.row.method_kind[number] == GIFT_CARD

    def _can_use(self, number: int, price: int) -> bool:
        if not self.is_gift_card(number):
            return True
        return not self._card_taken and self.row.balance[number] >= price

    def touch_card(self, number: int) -> bool:
        """Take note that a wish moves money on a method; False for a gift card that another moves, too."""
        if not self.is_gift_card(number):
            return True
        free = not self._card_taken
        self._card_taken = True
        return free

    def method_words(self, number: int) -> str:
        """How they speak of a payment method."""
        return f"my {self.method_forms(number)[0]}"

    def method_forms(self, number: int) -> tuple[str, ...]:
        """What means a payment method of theirs, in lower case."""
        kind = self.row.method_kind[number]
        if kind == CREDIT_CARD:
            brand, digits = self.base.card(self.customer, number)
            alone = self.row.method_kind[: self.row.methods].count(CREDIT_CARD) == 1
            known = (f"{brand} card ending in {digits}", f"ending in {digits}", f"ending {digits}")
            return (*known, "credit card", f"{brand} card") if alone else known
        return ("gift card",) if kind == GIFT_CARD else ("paypal account", "paypal")


# --- Making one wish

Maker = Callable[[Shopper], Planned | None]
"""Makes a wish of its kind, or None when this customer can have none."""


def _make(kind: str, shopper: Shopper, fields: Mapping[str, str], **rest: Json) -> Wish:
    opening = shopper.draws.pick(OPENINGS[kind]).format(**fields)
    return Wish(kind=kind, opening=sentence(opening), **rest)


def _read_order(shopper: Shopper, order: Order) -> ToolCall:
    return ToolCall("get_order_details", {"order_id": shopper.order_id(order)})


def _read_product(product: Product) -> ToolCall:
    return ToolCall("get_product_details", {"product_id": product.product_id})


def _cancel(shopper: Shopper) -> Planned | None:
    order = shopper.take_order(PENDING)
    if order is None or not shopper.touch_card(order.transaction_method[0]):
        return None
    reason = shopper.draws.pick(tuple(_REASONS))
    arguments: dict[str, Json] = {"order_id": shopper.order_id(order), "reason": reason}
    words = {"order_id": shopper.order_words(order), "reason": _REASONS[reason]}
    wish = _make(
        "cancel",
        shopper,
        {"order": words["order_id"], "reason": words["reason"]},
        tool="cancel_pending_order",
        accepted=(arguments,),
        words=words,
    )
    return Planned(wish, (_read_order(shopper, order),), (ToolCall(wish.tool, arguments),))


def _new_address(shopper: Shopper) -> Address:
    others = shopper.base.customers * 6
    return shopper.base.address(shopper.draws.below(others))


def _address_text(address: Address) -> str:
    street = ", ".join(filter(None, [address.address1, address.address2]))
    return f"{street}, {address.city}, {address.state} {address.zip}, {address.country}"


def _order_address(shopper: Shopper) -> Planned | None:
    order = shopper.take_order(PENDING)
    address = _new_address(shopper)
    if order is None or address == shopper.base.address(order.address):
        return None
    words = {"order_id": shopper.order_words(order), "address": _address_text(address)}
    arguments: dict[str, Json] = {"order_id": shopper.order_id(order), **address._asdict()}
    wish = _make(
        "order_address",
        shopper,
        {"order": words["order_id"], "address": words["address"]},
        tool="modify_pending_order_address",
        accepted=(arguments,),
        words=words,
    )
    return Planned(wish, (_read_order(shopper, order),), (ToolCall(wish.tool, arguments),))


def _user_address(shopper: Shopper) -> Planned | None:
    address = _new_address(shopper)
    if address == shopper.base.address(shopper.row.address) or not shopper.move():
        return None
    user_id = shopper.base.user_id(shopper.customer)
    words = {"address": _address_text(address)}
    arguments: dict[str, Json] = {"user_id": user_id, **address._asdict()}
    wish = _make(
        "user_address", shopper, words, tool="modify_user_address", accepted=(arguments,), words=words
    )
    read = ToolCall("get_user_details", {"user_id": user_id})
    return Planned(wish, (read,), (ToolCall(wish.tool, arguments),))


def _payment(shopper: Shopper) -> Planned | None:
    order = shopper.take_order(PENDING)
    if order is None or order.transactions != 1:
        return None
    now = order.transaction_method[0]
    others = [number for number in range(shopper.row.methods) if number != now]
    if not shopper.touch_card(now):
        return None
    number = shopper.take_method(order.transaction_amount[0], others)
    if number is None:
        return None
    words = {"order_id": shopper.order_words(order), "payment_method": shopper.method_words(number)}
    arguments: dict[str, Json] = {
        "order_id": shopper.order_id(order),
        "payment_method_id": shopper.method_ids[number],
    }
    wish = _make(
        "payment",
        shopper,
        {"order": words["order_id"], "payment": words["payment_method"]},
        tool="modify_pending_order_payment",
        accepted=(arguments,),
        words=words,
    )
    return Planned(wish, (_read_order(shopper, order),), (ToolCall(wish.tool, arguments),))


def _return(shopper: Shopper) -> Planned | None:
    order = shopper.take_order(DELIVERED)
    if order is None:
        return None
    return _return_items(shopper, order, shopper.take_items(order, 2))


def _return_items(shopper: Shopper, order: Order, items: Sequence[Variant]) -> Planned | None:
    cards = [number for number in range(shopper.row.methods) if shopper.is_gift_card(number)]
    number = shopper.take_method(0, sorted({order.transaction_method[0], *cards}))
    if number is None:
        return None
    words = {
        "order_id": shopper.order_words(order),
        "item": _names(shopper, items),
        "payment_method": shopper.method_words(number),
    }
    arguments: dict[str, Json] = {
        "order_id": shopper.order_id(order),
        "item_ids": [item.item_id for item in items],
        "payment_method_id": shopper.method_ids[number],
    }
    wish = _make(
        "return",
        shopper,
        {"order": words["order_id"], "items": words["item"], "payment": words["payment_method"]},
        tool="return_delivered_order_items",
        accepted=(arguments,),
        words=words,
    )
    return Planned(wish, (_read_order(shopper, order),), (ToolCall(wish.tool, arguments),))


def _names(shopper: Shopper, items: Sequence[Variant]) -> str:
    return " and ".join(f"the {shopper.name(item).lower()}" for item in items)


class Swap(NamedTuple):
    """An item and the variants that a customer would take instead of it, equally gladly."""

    item: Variant
    wanted: dict[str, str]
    accepted: tuple[Variant, ...]


def option_text(variant: Variant) -> str:
    """The options of a variant in a row: what people call it."""
    return ", ".join(variant.options.values())


def _plan_swap(shopper: Shopper, item: Variant, available: bool = True) -> Swap | None:
    """Another value for one of an item's options: all else the same, or, where that cannot be, whatever."""
    variants = shopper.base.catalog.products[item.product].variants
    changes = [(name, other.options[name]) for other in variants for name in item.options]
    changes = sorted({(name, value) for name, value in changes if value != item.options[name]})
    first = shopper.draws.below(len(changes)) if changes else 0
    for place in range(len(changes)):
        name, value = changes[(first + place) % len(changes)]
        strict = {**item.options, name: value}
        same = tuple(v for v in variants if v.options == strict and v.available == available)
        loose = tuple(v for v in variants if v.options[name] == value and v.available)
        if same:
            return Swap(item, strict, same)
        if available and 0 < len(loose) <= _MAX_ACCEPTED:
            return Swap(item, {name: value}, loose)
    return None


def _wanted_words(swap: Swap) -> str:
    changed = {name: value for name, value in swap.wanted.items() if swap.item.options[name] != value}
    options = " and ".join(f"{name} {value}" for name, value in changed.items())
    strict = len(swap.wanted) > 1 or len(swap.item.options) == 1
    return f"the same with {options}" if strict else f"any one with {options}"


def _swaps(shopper: Shopper, kind: str, tool: str, status: int) -> Planned | None:
    order = shopper.take_order(status)
    if order is None:
        return None
    planned = [_plan_swap(shopper, item) for item in shopper.take_items(order, 2)]
    swaps = [swap for swap in planned if swap]
    if len(swaps) < len(planned):
        return None
    return _swap_items(shopper, kind, tool, order, swaps)


def _swap_items(
    shopper: Shopper, kind: str, tool: str, order: Order, swaps: Sequence[Swap]
) -> Planned | None:
    combinations = list(itertools.product(*(swap.accepted for swap in swaps)))
    if len(combinations) > _MAX_ACCEPTED:
        return None
    old = sum(swap.item.price for swap in swaps)
    dearest = max(sum(variant.price for variant in combination) - old for combination in combinations)
    number = shopper.take_method(max(dearest, 0), range(shopper.row.methods))
    if number is None:
        return None
    words = {
        "order_id": shopper.order_words(order),
        "item": _names(shopper, [swap.item for swap in swaps]),
        "new_item": " and ".join(map(_wanted_words, swaps)),
        "payment_method": shopper.method_words(number),
    }
    accepted = tuple(
        {
            "order_id": shopper.order_id(order),
            "item_ids": [swap.item.item_id for swap in swaps],
            "new_item_ids": [variant.item_id for variant in combination],
            "payment_method_id": shopper.method_ids[number],
        }
        for combination in combinations
    )
    fields = {
        "order": words["order_id"],
        "items": words["item"],
        "wanted": words["new_item"],
        "payment": words["payment_method"],
    }
    wish = _make(kind, shopper, fields, tool=tool, accepted=accepted, words=words)
    products = [shopper.base.catalog.products[swap.item.product] for swap in swaps]
    reads = (_read_order(shopper, order), *map(_read_product, products))
    return Planned(wish, reads, (ToolCall(tool, accepted[0]),))


def _items(shopper: Shopper) -> Planned | None:
    return _swaps(shopper, "items", "modify_pending_order_items", PENDING)


def _exchange(shopper: Shopper) -> Planned | None:
    if shopper.draws.below(4) == 0:
        return _exchange_or_return(shopper)
    return _swaps(shopper, "exchange", "exchange_delivered_order_items", DELIVERED)


def _exchange_or_return(shopper: Shopper) -> Planned | None:
    """An exchange for a variant that is out of stock; if so, they send the thing back."""
    order = shopper.take_order(DELIVERED)
    if order is None:
        return None
    items = shopper.take_items(order, 1)
    swap = _plan_swap(shopper, items[0], available=False)
    instead = _return_items(shopper, order, items)
    if swap is None or instead is None:
        return None
    product = shopper.base.catalog.products[items[0].product]
    words = {**instead.wish.words, "new_item": _wanted_words(swap)}
    fields = {
        "order": words["order_id"],
        "items": words["item"],
        "wanted": words["new_item"],
        "payment": words["payment_method"],
    }
    wish = _make(
        "exchange",
        shopper,
        fields,
        words=words,
        forbidden=True,
        evidence=(product.product_id,),
        otherwise=instead.wish,
    )
    return Planned(wish, (*instead.reads, _read_product(product)), instead.writes)


# --- Questions


def _question(shopper: Shopper) -> Planned | None:
    return shopper.draws.pick((_ask_total, _ask_status, _ask_cheapest, _ask_count))(shopper)


def _ask(fact: Fact, evidence: str, words: dict[str, str], read: ToolCall) -> Planned:
    wish = Wish(kind="question", opening=fact.question, fact=fact, words=words, evidence=(evidence,))
    return Planned(wish, (read,))


def _ask_order(shopper: Shopper, order: Order, kind: str, value: Json, question: str) -> Planned:
    words = shopper.order_words(order)
    fact = Fact(kind, value, question.format(order=words))
    return _ask(fact, shopper.order_id(order), {"order_id": words}, _read_order(shopper, order))


def _ask_total(shopper: Shopper) -> Planned | None:
    order = shopper.take_order(PENDING, PROCESSED, DELIVERED)
    if order is None:
        return None
    question = shopper.draws.pick(
        (
            "How much did I pay for {order} in total?",
            "What was the total of {order}?",
            "Can you tell me what I paid for {order} in all?",
        )
    )
    return _ask_order(shopper, order, "amount", order.transaction_amount[0], question)


def _ask_status(shopper: Shopper) -> Planned | None:
    order = shopper.take_order(PENDING, PROCESSED, DELIVERED)
    if order is None:
        return None
    question = shopper.draws.pick(
        ("What is the status of {order}?", "How far is {order}?", "Can you tell me the status of {order}?")
    )
    return _ask_order(shopper, order, "status", STATUSES[order.status], question)


def _ask_product(product: Product, kind: str, value: int, question: str) -> Planned:
    name = product.name.lower()
    fact = Fact(kind, value, question.format(name=name))
    return _ask(fact, product.product_id, {"item": f"the {name}"}, _read_product(product))


def _ask_cheapest(shopper: Shopper) -> Planned | None:
    product = shopper.take_product()
    if product is None:
        return None
    price = min(variant.price for variant in product.variants if variant.available)
    question = shopper.draws.pick(
        (
            "What does the cheapest {name} cost that I could order right now?",
            "How much is your cheapest {name} that is in stock?",
        )
    )
    return _ask_product(product, "amount", price, question)


def _ask_count(shopper: Shopper) -> Planned | None:
    product = shopper.take_product()
    if product is None:
        return None
    count = sum(variant.available for variant in product.variants)
    question = shopper.draws.pick(
        (
            "How many variants of the {name} can I order right now?",
            "In how many variants is the {name} available at the moment?",
        )
    )
    return _ask_product(product, "count", count, question)


# --- Wishes that the rules forbid


def _forbidden(shopper: Shopper) -> Planned | None:
    makers = (_late_cancel, _bad_reason, _late_address, _early_return, _other_refund)
    return shopper.draws.pick(makers)(shopper)


def _forbid(
    shopper: Shopper, order: Order, kind: str, words: dict[str, str], fields: dict[str, str]
) -> Planned:
    words = {"order_id": shopper.order_words(order), **words}
    wish = _make(
        kind,
        shopper,
        {"order": words["order_id"], **fields},
        words=words,
        forbidden=True,
        evidence=(shopper.order_id(order),),
    )
    return Planned(wish, (_read_order(shopper, order),))


def _late_cancel(shopper: Shopper) -> Planned | None:
    order = shopper.take_order(PROCESSED, DELIVERED)
    if order is None:
        return None
    reason = shopper.draws.pick(tuple(_REASONS.values()))
    return _forbid(shopper, order, "cancel", {"reason": reason}, {"reason": reason})


def _bad_reason(shopper: Shopper) -> Planned | None:
    order = shopper.take_order(PENDING)
    if order is None:
        return None
    reason = shopper.draws.pick(BAD_REASONS)
    return _forbid(shopper, order, "cancel", {"reason": reason}, {"reason": reason})


def _late_address(shopper: Shopper) -> Planned | None:
    order = shopper.take_order(PROCESSED, DELIVERED)
    if order is None:
        return None
    address = _address_text(_new_address(shopper))
    return _forbid(shopper, order, "order_address", {"address": address}, {"address": address})


def _early_return(shopper: Shopper) -> Planned | None:
    order = shopper.take_order(PENDING, PROCESSED)
    if order is None:
        return None
    return _forbid_return(shopper, order, order.transaction_method[0])


def _other_refund(shopper: Shopper) -> Planned | None:
    """The refund should go to a method that is neither the original one nor a gift card."""
    order = shopper.take_order(DELIVERED)
    if order is None:
        return None
    others = [
        number
        for number in range(shopper.row.methods)
        if number != order.transaction_method[0] and not shopper.is_gift_card(number)
    ]
    return _forbid_return(shopper, order, shopper.draws.pick(others)) if others else None


def _forbid_return(shopper: Shopper, order: Order, method: int) -> Planned:
    items = _names(shopper, shopper.take_items(order, 1))
    payment = shopper.method_words(method)
    words = {"item": items, "payment_method": payment}
    return _forbid(shopper, order, "return", words, {"items": items, "payment": payment})


FAMILIES: Mapping[str, Maker] = {
    "cancel": _cancel,
    "order_address": _order_address,
    "user_address": _user_address,
    "items": _items,
    "payment": _payment,
    "return": _return,
    "exchange": _exchange,
    "question": _question,
    "forbidden": _forbidden,
}
"""Makers of wishes by family."""


# --- What may be spoken of with a customer


def lexicon(shopper: Shopper, wishes: Sequence[Wish]) -> dict[str, tuple[Value, ...]]:
    """All values that may come up with a customer, so that they notice a wrong one."""
    found: dict[str, dict[Json, Value]] = {}

    def add(slot: str, value: Json, *forms: str) -> None:
        found.setdefault(slot, {}).setdefault(value, Value(value, tuple(form.lower() for form in forms)))

    for slot, value, forms in itertools.chain(_own_values(shopper), _wished_values(shopper, wishes)):
        add(slot, value, *forms)
    return {slot: tuple(values.values()) for slot, values in found.items()}


def _own_values(shopper: Shopper) -> Iterator[tuple[str, Json, Sequence[str]]]:
    names = [shopper.name(item) for order in shopper.orders for item in shopper.items(order)]
    for order in shopper.orders:
        yield "order_id", shopper.order_id(order), ()
        for item in shopper.items(order):
            name = shopper.name(item)
            yield "item_ids", item.item_id, (name,) if names.count(name) == 1 else ()
    for number, method in enumerate(shopper.method_ids):
        yield "payment_method_id", method, shopper.method_forms(number)
    yield from _address_values(shopper.base.address(shopper.row.address)._asdict())


def _wished_values(shopper: Shopper, wishes: Sequence[Wish]) -> Iterator[tuple[str, Json, Sequence[str]]]:
    catalog = shopper.base.catalog
    for wish in _with_alternatives(wishes):
        for arguments in wish.accepted:
            yield from _address_values(arguments)
            for item_id in arguments.get("item_ids", ()):
                product = catalog.products[catalog.variants[catalog.variant_codes[item_id]].product]
                if "new_item_ids" in arguments:
                    for variant in product.variants:
                        yield "new_item_ids", variant.item_id, (option_text(variant),)


def _with_alternatives(wishes: Sequence[Wish]) -> Iterator[Wish]:
    for wish in wishes:
        yield wish
        if wish.otherwise:
            yield from _with_alternatives([wish.otherwise])


def _address_values(arguments: Mapping[str, Json]) -> Iterator[tuple[str, Json, Sequence[str]]]:
    """The parts of an address that can be told from other words; a state ("OR", "IN") cannot."""
    for part in ("address1", "address2", "city", "zip"):
        if arguments.get(part):
            yield part, arguments[part], (arguments[part],)
