"""Who is who: indexes of customers <-> the names, ids, e-mails and addresses that people see.

Nothing is stored. Each kind of id is a permutation of its number space, so that index and text give each
other without a table, however many customers there are.
"""

from typing import NamedTuple

from tool_envs import names
from tool_envs.names import EMAIL_DOMAINS, FIRST_NAMES, LAST_NAMES, PLACES
from tool_envs.randomness import Shuffle

_ZIPS_PER_PLACE = 99  # 01 to 99
ZIPS = _ZIPS_PER_PLACE * len(PLACES)
"""How many zip codes there are; their codes are smaller."""
_NUMBERS = 10_000
_PER_CENT_UNIT = 55

_FIRST = {name.lower(): code for code, name in enumerate(FIRST_NAMES)}
_LAST = {name.lower(): code for code, name in enumerate(LAST_NAMES)}
_FIRST_LOWER, _LAST_LOWER = tuple(_FIRST), tuple(_LAST)
_PLACE = {place.zip_start: code for code, place in enumerate(PLACES)}


class Address(NamedTuple):
    """A postal address as it is written."""

    address1: str
    address2: str
    city: str
    country: str
    state: str
    zip: str


class Identity(NamedTuple):
    """Codes of a customer's first name, last name and first zip code; no two customers share all three."""

    first: int
    last: int
    zip: int


class People:
    """All people under one seed. Texts that nobody could have give None.

    Args:
        seed: Of the data.
    """

    def __init__(self, seed: int) -> None:
        self._people = Shuffle(len(FIRST_NAMES) * len(LAST_NAMES), ZIPS, seed, 1)
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


def _number(identity: Identity, numbers: Shuffle) -> int:
    """The number in the ids of a customer: another one for each zip code under the same name."""
    first, last, zip_ = identity
    return (numbers.to(zip_) + 271 * first + 53 * last) % _NUMBERS


def _numbered_identity(first_name: str, last_name: str, digits: str, numbers: Shuffle) -> Identity | None:
    first, last = _FIRST.get(first_name), _LAST.get(last_name)
    if first is None or last is None or not is_number(digits, 4):
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
    if place is None or not is_number(text[3:], 2) or text[3:] == "00":
        return None
    return place * _ZIPS_PER_PLACE + int(text[3:]) - 1


def address_of(word: int, zip_: int) -> Address:
    """An address with that zip code.

    Args:
        word: 64 random bits, or what is left of them.
        zip_: Code of the zip code.
    """
    word, street = divmod(word, len(names.STREETS))
    word, kind = divmod(word, len(names.STREET_KINDS))
    word, house = divmod(word, 9900)
    place = PLACES[zip_ // _ZIPS_PER_PLACE]
    return Address(
        address1=f"{100 + house} {names.STREETS[street]} {names.STREET_KINDS[kind]}",
        address2=_unit(word),
        city=place.city,
        country=names.COUNTRY,
        state=place.state,
        zip=zip_text(zip_),
    )


def card_of(word: int) -> tuple[str, str]:
    """Brand and last four digits of a credit card, from 64 random bits."""
    brand, digits = divmod(word % (10_000 * len(names.CARD_BRANDS)), 10_000)
    return names.CARD_BRANDS[brand], f"{digits:04}"


def _unit(word: int) -> str:
    word, share = divmod(word, 100)
    if share >= _PER_CENT_UNIT:
        return ""
    word, kind = divmod(word, len(names.UNIT_KINDS))
    return f"{names.UNIT_KINDS[kind]} {1 + word % 999}"


def is_number(text: str, digits: int) -> bool:
    """Whether a text is so many ASCII digits."""
    return len(text) == digits and text.isascii() and text.isdecimal()
