"""The store's data: made from a seed, record by record, when somebody asks for it.

Customer `i` and their order `k` are pure functions of (seed, i) and (seed, i, k): a store of 100,000
customers loads as fast as one of 500, and its first 500 customers are the same.

```python
base = retail_base(customers=500, seed=0)        # one for all episodes
customer = base.customer(7)                      # a row: address, methods, method_kind, balance, orders
base.user_id(7), base.email(7), base.name(7)     # "jane_roe_1234", "jane.roe0017@example.com", ...
base.address(customer.address)                   # Address(address1=..., ..., zip="98117")
base.method_ids(7)                               # ("gift_card_1234567", ...), by method number
order = base.order(7, 0)                         # a row: status, items (variant codes), transactions, ...
base.order_id(7, 0)                              # "#W1234567"
variant = base.catalog.variants[order.items[0]]  # item_id, product, options, available, price (cents)
base.catalog.products[variant.product]           # product_id, name, variants
base.find_user("jane_roe_1234"), base.find_order("#W1234567")    # 7, (7, 0); None when there is none
```

The rows are shared: nobody changes them. How they look as JSON stands in `codes`.
"""

import functools
from collections.abc import Iterator

import msgspec

from tool_envs import names
from tool_envs.canonical import digest
from tool_envs.database import BaseData
from tool_envs.errors import UsageError
from tool_envs.generated import Kept, Table, padded
from tool_envs.messages import Json
from tool_envs.people import ZIPS, Address, Identity, People, address_of, card_of
from tool_envs.randomness import splitmix64
from tool_envs.retail.catalog import Catalog, catalog
from tool_envs.retail.ids import MAX_CUSTOMERS, Ids
from tool_envs.retail.rows import (
    CANCEL_REASONS,
    CANCELLED,
    CREDIT_CARD,
    DELIVERED,
    GIFT_CARD,
    MAX_ITEMS,
    MAX_METHODS,
    MAX_ORDERS,
    MAX_TRANSACTIONS,
    PAYMENT,
    PAYPAL,
    PENDING,
    PROCESSED,
    REFUND,
    Customer,
    Order,
)

GENERATOR = "retail/1"
"""Version of all that is made here; part of the data's digest."""

_CUSTOMER, _ORDER, _ITEMS, _ADDRESS = range(10, 14)  # streams of random words
_CODES_PER_CUSTOMER = MAX_ORDERS + 1  # of addresses: the customer's own, and another one for each order

# Shares in 100, as the value for each of 100 equally likely draws.
_ORDERS = (0,) * 10 + (1,) * 26 + (2,) * 32 + (3,) * 20 + (4,) * 9 + (5,) * 3
_ITEM_COUNTS = (1,) * 28 + (2,) * 26 + (3,) * 21 + (4,) * 14 + (5,) * 11
_STATUSES = (PENDING,) * 42 + (DELIVERED,) * 38 + (PROCESSED,) * 10 + (CANCELLED,) * 10
_METHODS: tuple[tuple[int, ...], ...] = (
    *((CREDIT_CARD,),) * 12,
    *((PAYPAL,),) * 8,
    *((GIFT_CARD,),) * 4,
    *((CREDIT_CARD, PAYPAL),) * 12,
    *((GIFT_CARD, CREDIT_CARD),) * 14,
    *((PAYPAL, GIFT_CARD),) * 12,
    *((CREDIT_CARD, CREDIT_CARD),) * 6,
    *((CREDIT_CARD, GIFT_CARD, PAYPAL),) * 16,
    *((PAYPAL, CREDIT_CARD, GIFT_CARD),) * 10,
    *((CREDIT_CARD, CREDIT_CARD, GIFT_CARD),) * 6,
)
_PER_CENT_OTHER_ADDRESS = 20
_ONE_IN_SAME_PRODUCT = 5


class RetailBase(BaseData):
    """The data that all episodes start from. `retail_base` makes it once for each size and seed.

    Tables: `customers` by user id, `orders` by order id, and `addresses`, which is empty: an episode keeps
    those that it writes there.

    Args:
        customers: How many, 1 to `MAX_CUSTOMERS`.
        seed: 0 to 2**64 - 1.

    Attributes:
        people: What everybody is called.
        ids: What everything is called.
        catalog: The products.

    Raises:
        UsageError: There cannot be so many customers, or that is no seed.
    """

    def __init__(self, customers: int = 500, seed: int = 0) -> None:
        if type(customers) is not int or not 1 <= customers <= MAX_CUSTOMERS:
            raise UsageError(
                f"customers must be an integer from 1 to {MAX_CUSTOMERS}, got {customers!r:.80}."
            )
        if type(seed) is not int or not 0 <= seed < 2**64:
            raise UsageError(f"seed must be an integer from 0 to 2**64 - 1, got {seed!r:.80}.")
        self.customers, self.seed = customers, seed
        self.people, self.ids = People(seed), Ids(seed)
        self.catalog: Catalog = catalog(seed)
        self._customers: Kept[int, Customer] = Kept(self._make_customer)
        self._orders: Kept[tuple[int, int], Order] = Kept(self._make_order)
        self._addresses: Kept[int, Address] = Kept(self._make_address)
        self._method_ids: Kept[int, tuple[str, ...]] = Kept(self._make_method_ids)
        self._user_ids: Kept[int, str] = Kept(self._make_user_id)
        self._identities: Kept[int, Identity] = Kept(self.people.identity)
        self._order_ids: Kept[tuple[int, int], str] = Kept(lambda place: self.ids.order_id(*place))
        self._found_emails: Kept[str, int | None] = Kept(self._find_email)
        super().__init__(
            {"customers": self._customer_table(), "orders": self._order_table(), "addresses": {}}
        )

    def _customer_table(self) -> Table[int, Customer]:
        return Table(lambda: range(self.customers), self.user_id, self.find_user, self._customers.__getitem__)

    def _order_table(self) -> Table[tuple[int, int], Order]:
        return Table(
            self.order_places, self._order_ids.__getitem__, self.find_order, self._orders.__getitem__
        )

    @property
    def digest(self) -> str:
        """Digest of what all records follow from, and of some of them, in hexadecimal."""
        if self._digest is None:
            made = {"generator": GENERATOR, "seed": str(self.seed), "customers": self.customers}
            self._digest = digest({**made, "products": self.catalog.digest, "sample": self._sample()})
        return self._digest

    def customer(self, customer: int) -> Customer:
        """The customer with that index, 0 to `customers` - 1. Change a copy of it only."""
        return self._customers[customer]

    def order(self, customer: int, number: int) -> Order:
        """An order of a customer, by its number from 0. Change a copy of it only."""
        return self._orders[(customer, number)]

    def order_places(self) -> Iterator[tuple[int, int]]:
        """Customer and number of every order."""
        for customer in range(self.customers):
            for number in range(self._order_count(customer)):
                yield customer, number

    def user_id(self, customer: int) -> str:
        """Such as `jane_roe_1234`."""
        return self._user_ids[customer]

    def name(self, customer: int) -> tuple[str, str]:
        """First and last name."""
        identity = self._identities[customer]
        return names.FIRST_NAMES[identity.first], names.LAST_NAMES[identity.last]

    def email(self, customer: int) -> str:
        """Such as `jane.roe1234@example.com`."""
        return self.people.email(self._identities[customer])

    def order_id(self, customer: int, number: int) -> str:
        """Such as `#W1234567`."""
        return self._order_ids[(customer, number)]

    def order_ids(self, customer: int) -> list[str]:
        """The ids of a customer's orders, by number."""
        return [self._order_ids[(customer, number)] for number in range(self.customer(customer).orders)]

    def method_ids(self, customer: int) -> tuple[str, ...]:
        """The ids of a customer's payment methods, by number."""
        return self._method_ids[customer]

    def card(self, customer: int, method: int) -> tuple[str, str]:
        """Brand and last four digits of a customer's credit card."""
        return card_of(splitmix64(self.seed, _CUSTOMER, customer, 1 + method))

    def address(self, code: int) -> Address:
        """The address of a code that is not below 0."""
        return self._addresses[code]

    def home_code(self, customer: int) -> int:
        """Code of the address that a customer had when the data was made."""
        return customer * _CODES_PER_CUSTOMER

    def find_user(self, user_id: str) -> int | None:
        """The customer with that user id."""
        return self._existing(self.people.of_user_id(user_id))

    def find_email(self, email: str) -> int | None:
        """The customer with that e-mail address; case does not matter."""
        return self._found_emails[email]

    def find_name_zip(self, first_name: str, last_name: str, zip_text: str) -> int | None:
        """The customer of that name who had that zip code when the data was made."""
        return self._existing(self.people.of_name_zip(first_name, last_name, zip_text))

    def find_order(self, order_id: str) -> tuple[int, int] | None:
        """Customer and number of the order with that id."""
        place = self.ids.of_order_id(order_id)
        if place is None or self._existing(place[0]) is None:
            return None
        return place if place[1] < self.customer(place[0]).orders else None

    def _existing(self, customer: int | None) -> int | None:
        return customer if customer is not None and customer < self.customers else None

    def _find_email(self, email: str) -> int | None:
        return self._existing(self.people.of_email(email))

    def _order_count(self, customer: int) -> int:
        return _ORDERS[splitmix64(self.seed, _CUSTOMER, customer, 0) % 100]

    def _sample(self) -> Json:
        """Records that change when the way in which records are made does."""
        sample = []
        for customer in range(min(self.customers, 32)):
            row = self.customer(customer)
            orders = [self.order(customer, number) for number in range(row.orders)]
            addresses = [self.address(code) for code in (row.address, *(order.address for order in orders))]
            ids = [self.user_id(customer), self.email(customer), *self.method_ids(customer)]
            rows = [msgspec.structs.astuple(each) for each in (row, *orders)]
            sample.append([rows, addresses, ids, self.order_ids(customer)])
        return sample

    def _make_user_id(self, customer: int) -> str:
        return self.people.user_id(self._identities[customer])

    def _make_customer(self, customer: int) -> Customer:
        word, orders = divmod(splitmix64(self.seed, _CUSTOMER, customer, 0), 100)
        word, methods = divmod(word, 100)
        kinds = _METHODS[methods]
        balance = [0] * MAX_METHODS
        for method, kind in enumerate(kinds):
            if kind == GIFT_CARD:
                balance[method] = _balance(word)
        return Customer(
            index=customer,
            address=self.home_code(customer),
            methods=len(kinds),
            method_kind=[*kinds, *[0] * (MAX_METHODS - len(kinds))],
            balance=balance,
            held=[0] * MAX_METHODS,
            orders=_ORDERS[orders],
        )

    def _make_order(self, place: tuple[int, int]) -> Order:
        customer, number = place
        word, share = divmod(splitmix64(self.seed, _ORDER, customer * MAX_ORDERS + number, 0), 100)
        status = _STATUSES[share]
        word, share = divmod(word, 100)
        items = self._items(customer * MAX_ORDERS + number, _ITEM_COUNTS[share])
        word, share = divmod(word, 100)
        address = self.home_code(customer) + (1 + number if share < _PER_CENT_OTHER_ADDRESS else 0)
        word, method = divmod(word, self.customer(customer).methods)
        kinds = (PAYMENT, REFUND) if status == CANCELLED else (PAYMENT,)
        amount = sum(map(self.catalog.rows.price.__getitem__, items))
        return Order(
            customer=customer,
            number=number,
            address=address,
            status=status,
            item_count=len(items),
            items=padded(items, MAX_ITEMS, -1),
            transactions=len(kinds),
            transaction_kind=padded(kinds, MAX_TRANSACTIONS, 0),
            transaction_amount=padded([amount] * len(kinds), MAX_TRANSACTIONS, 0),
            transaction_method=padded([method] * len(kinds), MAX_TRANSACTIONS, 0),
            cancel_reason=word % len(CANCEL_REASONS) if status == CANCELLED else -1,
            asked_count=0,
            asked=[-1] * MAX_ITEMS,
            asked_new=[-1] * MAX_ITEMS,
            asked_method=-1,
            asked_difference=0,
        )

    def _items(self, order: int, count: int) -> list[int]:
        """Codes of distinct variants; now and then of the same product as the one before."""
        word = splitmix64(self.seed, _ITEMS, order, 0)
        items: list[int] = []
        for _ in range(count):
            word, share = divmod(word, _ONE_IN_SAME_PRODUCT)
            word, product = divmod(word, len(self.catalog.products))
            if items and not share:
                product = self.catalog.rows.product[items[-1]]
            variants = self.catalog.products[product].variants
            word, choice = divmod(word, len(variants))
            while variants[choice].code in items:
                choice = (choice + 1) % len(variants)
            items.append(variants[choice].code)
        return items

    def _make_address(self, code: int) -> Address:
        customer, other = divmod(code, _CODES_PER_CUSTOMER)
        word, zip_ = divmod(splitmix64(self.seed, _ADDRESS, code, 0), ZIPS)
        if not other:
            zip_ = self._identities[customer].zip
        return address_of(word, zip_)

    def _make_method_ids(self, customer: int) -> tuple[str, ...]:
        row = self.customer(customer)
        return tuple(self.ids.method_id(customer, each, row.method_kind[each]) for each in range(row.methods))


def retail_base(customers: int = 500, seed: int = 0) -> RetailBase:
    """The data of a size and seed, made once in a process; raises as `RetailBase` does."""
    return _made_base(customers, seed)


@functools.lru_cache(maxsize=8)
def _made_base(customers: int, seed: int) -> RetailBase:
    return RetailBase(customers, seed)


def _balance(word: int) -> int:
    """What is on a gift card: 5 to 150 dollars, or, as likely, 150 to 1,500."""
    word, much = divmod(word, 2)
    return 15_000 + word % 135_001 if much else 500 + word % 14_501
