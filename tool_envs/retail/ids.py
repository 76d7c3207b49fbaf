"""Ids of orders, payment methods and parcels <-> whose they are.

Nothing is stored: each kind of id is a permutation of its number space.
"""

from tool_envs.people import is_number
from tool_envs.randomness import Shuffle
from tool_envs.retail.rows import MAX_METHODS, MAX_ORDERS, METHOD_KINDS

MAX_CUSTOMERS = 2_000_000
"""So that every order has a number of seven digits."""


class Ids:
    """All ids under one seed. Texts that nothing could have give None.

    Args:
        seed: Of the data.
    """

    def __init__(self, seed: int) -> None:
        self._orders = Shuffle(3200, 3125, seed, 2)
        self._methods = Shuffle(3200, 3125, seed, 3)
        self._tracking = Shuffle(1_000_000, 1_000_000, seed, 4)

    def order_id(self, customer: int, number: int) -> str:
        """Such as `#W1234567`."""
        return f"#W{self._orders.to(customer * MAX_ORDERS + number):07}"

    def of_order_id(self, order_id: str) -> tuple[int, int] | None:
        """Customer and number of an order id; there need not be so many."""
        digits = order_id[2:]
        if not (order_id[:2] == "#W" and is_number(digits, 7)):
            return None
        customer, number = divmod(self._orders.back(int(digits)), MAX_ORDERS)
        return customer, number

    def method_id(self, customer: int, method: int, kind: int) -> str:
        """Such as `gift_card_1234567`."""
        return f"{METHOD_KINDS[kind]}_{self._methods.to(customer * MAX_METHODS + method):07}"

    def tracking_id(self, customer: int, number: int) -> str:
        """Tracking number of an order's parcel: twelve digits."""
        return f"{self._tracking.to(customer * MAX_ORDERS + number):012}"
