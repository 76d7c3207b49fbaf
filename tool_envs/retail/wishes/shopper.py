"""A customer while a task is made for them."""

from collections.abc import Sequence

from tool_envs.randomness import Draws
from tool_envs.retail.catalog import Product, Variant
from tool_envs.retail.data import RetailBase
from tool_envs.retail.rows import CREDIT_CARD, GIFT_CARD, Order
from tool_envs.service.wishes import card_forms


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
        self.forgetful = forgetful
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
        if not self.forgetful:
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
            return card_forms(brand, digits, alone)
        return ("gift card",) if kind == GIFT_CARD else ("paypal account", "paypal")
