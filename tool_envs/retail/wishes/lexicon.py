"""What may be spoken of with a customer."""

import itertools
from collections.abc import Iterator, Mapping, Sequence

from tool_envs.messages import Json
from tool_envs.retail.wishes.planned import option_text
from tool_envs.retail.wishes.shopper import Shopper
from tool_envs.simulators.goal import Value, Wish


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
