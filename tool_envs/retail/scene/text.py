"""What was shown, as text with ids, for people."""

from collections.abc import Iterator

from tool_envs.retail.rows import STATUSES
from tool_envs.retail.scene.memory import Memory
from tool_envs.retail.scene.reasons import is_method_named, is_named, paid
from tool_envs.retail.scene.sight import QUESTIONS, SEEN, WISHES, WRITE_TOOLS
from tool_envs.retail.wishes.planned import option_text


def describe(memory: Memory) -> str:
    """What was shown, one line for each thing; what the words of the wish at hand name is marked with `*`."""
    return "\n".join([*_conversation(memory), *_orders(memory), *_methods(memory), *_products(memory)])


def _conversation(memory: Memory) -> Iterator[str]:
    scene = memory.sight.scene
    yield f"customer: {memory.user_id or 'not found'}"
    if scene.wish >= 0:
        yield f"wish: {WISHES[scene.wish]}"
    if scene.question >= 0:
        yield f"question: {QUESTIONS[scene.question]}"
    if scene.yes:
        yield f"yes to: {WRITE_TOOLS[memory.sight.proposed.tool]}"
    if scene.unreported >= 0:
        yield f"to be reported: {WRITE_TOOLS[scene.unreported]}"


def _orders(memory: Memory) -> Iterator[str]:
    scene = memory.sight.scene
    for place, order_id in enumerate(memory.profile.order_ids):
        mark = "*" if is_named(memory.sight, place) else ""
        if not scene.order_seen[place]:
            yield f"order {place}{mark}: {order_id}"
            continue
        order = memory.sight.orders[place]
        yield f"order {place}{mark}: {order_id}, {STATUSES[order.status]}, ${paid(order) / 100:.2f} paid"
        for line in range(order.item_count):
            variant = memory.catalog.variants[order.items[line]]
            product = memory.catalog.products[variant.product]
            thing = "*" if product.code in scene.things else ""
            yield f"  item {line}{thing}: {product.name} {variant.item_id}, {option_text(variant)}"


def _methods(memory: Memory) -> Iterator[str]:
    customer = memory.sight.customer
    for method, method_id in enumerate(memory.profile.method_ids):
        mark = "*" if is_method_named(memory.sight, method) else ""
        balance = f", ${customer.balance[method] / 100:.2f}" if customer.balance[method] else ""
        yield f"payment method {method}{mark}: {method_id}{balance}"


def _products(memory: Memory) -> Iterator[str]:
    scene = memory.sight.scene
    for row, code in enumerate(scene.product_at):
        if code < 0 or scene.product[code] != SEEN:
            continue
        product = memory.catalog.products[code]
        mark = "*" if code in scene.things else ""
        yield f"product {row}{mark}: {product.name} {product.product_id}"
        for number, variant in enumerate(product.variants):
            stock = "" if variant.available else ", not available"
            price = f"${variant.price / 100:.2f}"
            yield f"  variant {number}: {variant.item_id}, {option_text(variant)}, {price}{stock}"
