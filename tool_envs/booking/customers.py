"""Customers: their rows, and what of them never changes."""

import datetime
import itertools

from tool_envs import names
from tool_envs.booking.dates import FIRST_DAY
from tool_envs.booking.rows import (
    CERTIFICATE,
    CREDIT_CARD,
    GIFT_CARD,
    GOLD,
    MAX_METHODS,
    REGULAR,
    SILVER,
    Customer,
    Passenger,
)
from tool_envs.booking.streams import BIRTHDAYS, COUNTS, CUSTOMERS, SAVED
from tool_envs.generated import padded
from tool_envs.randomness import Draws, draw_below

RESERVATION_COUNTS = tuple(itertools.permutations((2, 3, 4, 5, 6)))
"""How many reservations five customers in a row can have."""
MOST_SAVED = 4
"""Most saved passengers."""

PASSENGER_CODES = 8
"""Of each customer: 0 is the customer, then come their saved passengers."""

_GROUP = len(RESERVATION_COUNTS[0])
_MEMBERSHIPS = (REGULAR,) * 50 + (SILVER,) * 30 + (GOLD,) * 20
_MOST_METHODS = 5
_CARDS = (1,) * 65 + (2,) * 35
_GIFT_CARDS = (0,) * 40 + (1,) * 40 + (2,) * 20
_CERTIFICATES = (0,) * 45 + (1,) * 40 + (2,) * 15
_PER_CENT_SPENT = 40
_PER_CENT_FAMILY = 60
_OF_AGE, _YOUNGEST, _OLDEST = 19 * 366, 200, 80 * 365  # days


def customer_row(seed: int, customer: int) -> Customer:
    """The row of a customer."""
    draws = Draws(seed, CUSTOMERS, customer)
    membership = draws.pick(_MEMBERSHIPS)
    cards, gifts, certificates = draws.pick(_CARDS), draws.pick(_GIFT_CARDS), draws.pick(_CERTIFICATES)
    certificates = min(certificates, _MOST_METHODS - cards - gifts)
    kinds = [CREDIT_CARD] * cards + [GIFT_CARD] * gifts + [CERTIFICATE] * certificates
    balance = [_balance(kind, draws) for kind in kinds]
    if certificates and draws.below(100) < _PER_CENT_SPENT:
        balance[-1] = 0
    return Customer(
        index=customer,
        membership=membership,
        methods=len(kinds),
        method_kind=padded(kinds, MAX_METHODS, 0),
        balance=padded(balance, MAX_METHODS, 0),
        reservations=reservation_count(seed, customer),
    )


def reservation_count(seed: int, customer: int) -> int:
    """How many reservations a customer has: 2 to 6, and 20 for each five customers in a row."""
    group, place = divmod(customer, _GROUP)
    return RESERVATION_COUNTS[draw_below(len(RESERVATION_COUNTS), seed, COUNTS, group, 0)][place]


def own_birthday(seed: int, customer: int) -> str:
    """A customer's date of birth; they are of age."""
    return _birthday(Draws(seed, BIRTHDAYS, customer), _OF_AGE)


def saved_passengers(seed: int, customer: int, own_name: tuple[str, str]) -> tuple[Passenger, ...]:
    """Whom a customer saved: 1 to `MOST_SAVED` others, all of different names.

    Args:
        seed: Of the data.
        customer: Index of the customer.
        own_name: Their first and last name.
    """
    draws = Draws(seed, SAVED, customer)
    taken = [own_name]
    saved = []
    for _ in range(1 + draws.below(MOST_SAVED)):
        name = own_name
        while name in taken:
            is_family = draws.below(100) < _PER_CENT_FAMILY
            name = draws.pick(names.FIRST_NAMES), own_name[1] if is_family else draws.pick(names.LAST_NAMES)
        taken.append(name)
        saved.append(Passenger(*name, _birthday(draws, _YOUNGEST)))
    return tuple(saved)


def _birthday(draws: Draws, youngest: int) -> str:
    """A date of birth that many days before the first day, or more."""
    age = youngest + draws.below(_OLDEST - youngest)
    return (FIRST_DAY - datetime.timedelta(days=age)).isoformat()


def _balance(kind: int, draws: Draws) -> int:
    if kind == GIFT_CARD:
        return (20 + draws.below(381)) * 100
    return (1 + draws.below(10)) * 50 * 100 if kind == CERTIFICATE else 0
