"""Who is who: indexes of customers and orders <-> the ids, names and e-mails that people see.

Nothing is stored. Each kind of id is a permutation of its number space, so that index and text give each
other without a table, however many customers there are.
"""

from typing import NamedTuple

from tool_envs.randomness import splitmix64
from tool_envs.retail.names import EMAIL_DOMAINS, FIRST_NAMES, LAST_NAMES, PLACES
from tool_envs.retail.rows import MAX_METHODS, MAX_ORDERS, METHOD_KINDS

MAX_CUSTOMERS = 2_000_000
"""So that every order has a number of seven digits."""

_MASK = 0xFFFFFFFFFFFFFFFF
_ROUNDS = 2
_ZIPS_PER_PLACE = 99  # 01 to 99
ZIPS = _ZIPS_PER_PLACE * len(PLACES)
"""How many zip codes there are; their codes are smaller."""
_NUMBERS = 10_000

_FIRST = {name.lower(): code for code, name in enumerate(FIRST_NAMES)}
_LAST = {name.lower(): code for code, name in enumerate(LAST_NAMES)}
_FIRST_LOWER, _LAST_LOWER = tuple(_FIRST), tuple(_LAST)
_PLACE = {place.zip_start: code for code, place in enumerate(PLACES)}


class Shuffle:
    """A permutation of `range(high * low)`: a Feistel network whose halves are added modulo their sizes.

    Args:
        high: Size of one half.
        low: Size of the other.
        key: Seed; another key gives another permutation.
        stream: Number of the permutation under that key.
    """

    def __init__(self, high: int, low: int, key: int, stream: int) -> None:
        self.size = high * low
        self._high, self._low = high, low
        factors = [splitmix64(key, stream, number, 0) | 1 for number in range(2 * _ROUNDS)]
        self._rounds = [(factors[2 * number], factors[2 * number + 1]) for number in range(_ROUNDS)]

    def to(self, index: int) -> int:
        """Where `index` goes."""
        high_size, low_size = self._high, self._low
        high, low = divmod(index, low_size)
        for first, second in self._rounds:
            mixed = (low + 1) * first & _MASK
            high = (high + (((mixed ^ mixed >> 31) * first & _MASK) >> 24)) % high_size
            mixed = (high + 1) * second & _MASK
            low = (low + (((mixed ^ mixed >> 31) * second & _MASK) >> 24)) % low_size
        return high * low_size + low

    def back(self, image: int) -> int:
        """What goes to `image`."""
        high_size, low_size = self._high, self._low
        high, low = divmod(image, low_size)
        for first, second in reversed(self._rounds):
            mixed = (high + 1) * second & _MASK
            low = (low - (((mixed ^ mixed >> 31) * second & _MASK) >> 24)) % low_size
            mixed = (low + 1) * first & _MASK
            high = (high - (((mixed ^ mixed >> 31) * first & _MASK) >> 24)) % high_size
        return high * low_size + low


class Identity(NamedTuple):
    """Codes of a customer's first name, last name and first zip code; no two customers share all three."""

    first: int
    last: int
    zip: int


class Ids:
    """All ids under one seed. Texts that no customer could have give None.

    Args:
        seed: Of the data.
    """

    def __init__(self, seed: int) -> None:
        self._people = Shuffle(len(FIRST_NAMES) * len(LAST_NAMES), ZIPS, seed, 1)
        self._orders = Shuffle(3200, 3125, seed, 2)
        self._methods = Shuffle(3200, 3125, seed, 3)
        self._tracking = Shuffle(1_000_000, 1_000_000, seed, 4)
        self._user_numbers = Shuffle(100, 100, seed, 5)
        self._email_numbers = Shuffle(100, 100, seed, 6)

    def identity(self, customer: int) -> Identity:
        """Names and first zip code of a customer."""
        names, zip_ = divmod(self._people.to(customer), ZIPS)
        return Identity(*divmod(names, len(LAST_NAMES)), zip_)

    def of_identity(self, identity: Identity) -> int:
        """The customer; may be larger than any that there is."""
        first, last, zip_ = identity
        return self._people.back((first * len(LAST_NAMES) + last) * ZIPS + zip_)

    def user_id(self, identity: Identity) -> str:
        """Such as `jane_roe_1234`."""
        first, last, _ = identity
        return f"{_FIRST_LOWER[first]}_{_LAST_LOWER[last]}_{_number(identity, self._user_numbers):04}"

    def of_user_id(self, user_id: str) -> int | None:
        """The customer with a user id."""
        first, _, rest = user_id.partition("_")
        last, _, number = rest.partition("_")
        identity = _numbered_identity(first, last, number, self._user_numbers)
        return None if identity is None else self.of_identity(identity)

    def email(self, identity: Identity) -> str:
        """Such as `jane.roe1234@example.com`."""
        first, last, _ = identity
        number = _number(identity, self._email_numbers)
        return f"{_FIRST_LOWER[first]}.{_LAST_LOWER[last]}{number:04}@{_email_domain(identity)}"

    def of_email(self, email: str) -> int | None:
        """The customer with an e-mail address; case does not matter."""
        local, _, domain = email.lower().partition("@")
        first, _, rest = local.partition(".")
        identity = _numbered_identity(first, rest[:-4], rest[-4:], self._email_numbers)
        if identity is None or domain != _email_domain(identity):
            return None
        return self.of_identity(identity)

    def of_name_zip(self, first_name: str, last_name: str, zip_text: str) -> int | None:
        """The customer who had that zip code when the data was made; case of the names does not matter."""
        first, last, zip_ = _FIRST.get(first_name.lower()), _LAST.get(last_name.lower()), zip_code(zip_text)
        if first is None or last is None or zip_ is None:
            return None
        return self.of_identity(Identity(first, last, zip_))

    def order_id(self, customer: int, number: int) -> str:
        """Such as `#W1234567`."""
        return f"#W{self._orders.to(customer * MAX_ORDERS + number):07}"

    def of_order_id(self, order_id: str) -> tuple[int, int] | None:
        """Customer and number of an order id; there need not be so many."""
        digits = order_id[2:]
        if not (order_id[:2] == "#W" and _is_number(digits, 7)):
            return None
        customer, number = divmod(self._orders.back(int(digits)), MAX_ORDERS)
        return customer, number

    def method_id(self, customer: int, method: int, kind: int) -> str:
        """Such as `gift_card_1234567`."""
        return f"{METHOD_KINDS[kind]}_{self._methods.to(customer * MAX_METHODS + method):07}"

    def tracking_id(self, customer: int, number: int) -> str:
        """Tracking number of an order's parcel: twelve digits."""
        return f"{self._tracking.to(customer * MAX_ORDERS + number):012}"


def _number(identity: Identity, numbers: Shuffle) -> int:
    """The number in the ids of a customer: another one for each zip code under the same name."""
    first, last, zip_ = identity
    return (numbers.to(zip_) + 271 * first + 53 * last) % _NUMBERS


def _numbered_identity(first_name: str, last_name: str, digits: str, numbers: Shuffle) -> Identity | None:
    first, last = _FIRST.get(first_name), _LAST.get(last_name)
    if first is None or last is None or not _is_number(digits, 4):
        return None
    zip_ = numbers.back((int(digits) - 271 * first - 53 * last) % _NUMBERS)
    return Identity(first, last, zip_) if zip_ < ZIPS else None


def _email_domain(identity: Identity) -> str:
    return EMAIL_DOMAINS[sum(identity) % len(EMAIL_DOMAINS)]


def zip_text(zip_: int) -> str:
    """The five digits of a zip code."""
    place, rest = divmod(zip_, _ZIPS_PER_PLACE)
    return f"{PLACES[place].zip_start}{rest + 1:02}"


def zip_code(text: str) -> int | None:
    """The code of a zip code in one of our places."""
    place = _PLACE.get(text[:3])
    if place is None or not _is_number(text[3:], 2) or text[3:] == "00":
        return None
    return place * _ZIPS_PER_PLACE + int(text[3:]) - 1


def place_of_zip(zip_: int) -> int:
    """Index in `PLACES` of a zip code's place."""
    return zip_ // _ZIPS_PER_PLACE


def _is_number(text: str, digits: int) -> bool:
    return len(text) == digits and text.isascii() and text.isdecimal()
