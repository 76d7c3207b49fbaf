"""Taking in what is shown: an answer of a tool, the words of the customer. Kernels, as in `sight`."""

from tool_envs.retail.rows import EXCHANGE_REQUESTED, GIFT_CARD, MAX_METHODS, MAX_ORDERS, Customer, Order
from tool_envs.retail.scene.sight import (
    AFFIRMS,
    CANCEL,
    CORRECTS,
    DENIES,
    ITEMS,
    LISTED,
    MAX_CHANGED,
    NAMED,
    PAYMENT,
    PRODUCTS,
    SEEN,
    TAKES_NO,
    THANKS,
    UNSHOWN,
    Draft,
    Said,
    Scene,
    Shelves,
    Sight,
)
from tool_envs.rows import kernel


@kernel
def see_found(sight: Sight) -> None:
    """A tool found the customer."""
    sight.scene.found = 1


@kernel
def see_profile(sight: Sight) -> None:
    """The profile was shown: `customer`, and codes and digits in the scene, are filled in already."""
    sight.scene.profile = 1
    sight.scene.stale = 0
    hold(sight)


@kernel
def see_order(sight: Sight, shelves: Shelves, place: int) -> None:
    """An order was shown: its row is filled in already."""
    order = sight.orders[place]
    sight.scene.order_seen[place] = 1
    for line in range(order.item_count):
        see_listed(sight.scene, shelves.variants.product[order.items[line]])
    hold(sight)


@kernel
def hold(sight: Sight) -> None:
    """Work out anew what gift cards are held to."""
    for method in range(MAX_METHODS):
        sight.customer.held[method] = held(sight, method)


@kernel
def held(sight: Sight, method: int) -> int:
    """What the exchanges that were shown will take from a payment method, if it is a gift card."""
    amount = 0
    for place in range(MAX_ORDERS):
        order = sight.orders[place]
        if (
            sight.scene.order_seen[place]
            and order.status == EXCHANGE_REQUESTED
            and order.asked_method == method
        ):
            amount += max(order.asked_difference, 0)
    return amount if sight.customer.method_kind[method] == GIFT_CARD else 0


@kernel
def see_product(sight: Sight, product: int) -> None:
    """A product was shown with its variants."""
    sight.scene.product[product] = SEEN


@kernel
def see_catalog(sight: Sight) -> None:
    """The list of all products was shown."""
    sight.scene.catalog = 1
    for product in range(PRODUCTS):
        see_listed(sight.scene, product)


@kernel
def see_listed(scene: Scene, product: int) -> None:
    """The id of a product was shown."""
    come_up(scene, product)
    if scene.product[product] == NAMED:
        scene.product[product] = LISTED


@kernel
def come_up(scene: Scene, product: int) -> None:
    """A product is spoken of or shown, perhaps for the first time."""
    if scene.product[product] == UNSHOWN:
        scene.product_at[scene.products] = product
        scene.products += 1
        scene.product[product] = NAMED


@kernel
def see_item(sight: Sight, place: int, line: int) -> None:
    """One item of an order was shown with its availability."""
    sight.scene.items_seen[place] |= 1 << line


@kernel
def see_proposed(sight: Sight, draft: Draft) -> None:
    """The agent proposed a call; a yes to another one is not relied on any more."""
    proposed = sight.proposed
    proposed.tool, proposed.order = draft.tool, draft.order
    proposed.method, proposed.reason = draft.method, draft.reason
    for place in range(MAX_CHANGED):
        proposed.items[place], proposed.news[place] = draft.items[place], draft.news[place]
    sight.scene.yes = 0


@kernel
def see_refused(sight: Sight, is_write: int) -> None:
    """A tool refused a call; a yes to what it refused leads nowhere."""
    sight.scene.refused = 1
    if is_write:
        sight.scene.yes = 0


@kernel
def see_written(sight: Sight, tool: int, place: int) -> None:
    """A write was made, which uses up its yes; what it shows was seen already.

    Args:
        sight: What is known.
        tool: The write.
        place: Of the order that it changed; -1 when it changed none.
    """
    scene = sight.scene
    scene.yes = 0
    scene.unreported = tool
    sight.proposed.tool = -1
    if tool in (CANCEL, ITEMS, PAYMENT) and is_paid_with_card(sight.customer, sight.orders[place]):
        scene.stale = 1


@kernel
def is_paid_with_card(customer: Customer, order: Order) -> bool:
    """Whether a payment or refund of an order went over a gift card."""
    for number in range(order.transactions):
        method = order.transaction_method[number]
        if method >= 0 and customer.method_kind[method] == GIFT_CARD:
            return True
    return False


@kernel
def hear(sight: Sight, said: Said) -> None:
    """The customer took their turn. What was said of a wish is forgotten when one is brought up (again)."""
    scene = sight.scene
    scene.moves = said.moves
    if said.moves & (DENIES | CORRECTS):
        scene.yes = 0
    if said.moves & AFFIRMS and sight.proposed.tool >= 0 and not names_something(said):
        scene.yes = 1
    if said.moves & (THANKS | TAKES_NO):
        scene.unreported = -1
    scene.told |= said.told
    scene.unknown |= said.unknown
    scene.demands |= said.demands
    if said.wish >= 0 or said.question >= 0:
        turn_to(scene, said)
    note(scene, said)


@kernel
def names_something(said: Said) -> bool:
    """Whether anything of a wish is named; with a yes, that is what was missing in what was proposed."""
    named = said.orders[0] >= 0 or said.sign >= 0 or said.things[0] >= 0 or said.wants[0] >= 0
    paid = said.method_kind >= 0 or said.reason >= 0
    return named or paid or said.variants[0] >= 0 or said.address > 0


@kernel
def turn_to(scene: Scene, said: Said) -> None:
    """A wish or question is brought up; a yes to something before it is not relied on any more."""
    scene.wish, scene.question = said.wish, said.question
    scene.yes = 0
    scene.sign = scene.method_kind = scene.method_digits = scene.reason = -1
    scene.address = 0
    for place in range(MAX_CHANGED):
        scene.orders[place] = scene.things[place] = scene.wants[place] = scene.variants[place] = -1
        scene.same[place] = 0


@kernel
def note(scene: Scene, said: Said) -> None:
    """Keep what is said of the wish at hand, in place of what was said before of the same."""
    if said.orders[0] >= 0 or said.sign >= 0:
        scene.sign = said.sign
    if said.sign >= 0:
        come_up(scene, said.sign)
    if said.method_kind >= 0:
        scene.method_kind, scene.method_digits = said.method_kind, said.method_digits
    if said.reason >= 0:
        scene.reason = said.reason
    scene.address |= said.address
    for place in range(MAX_CHANGED):
        if said.orders[0] >= 0 or said.sign >= 0:
            scene.orders[place] = said.orders[place]
        if said.things[0] >= 0:
            scene.things[place] = said.things[place]
        if said.things[place] >= 0:
            come_up(scene, said.things[place])
        if said.wants[0] >= 0:
            scene.wants[place], scene.same[place] = said.wants[place], said.same[place]
        if said.variants[0] >= 0:
            scene.variants[place] = said.variants[place]
