"""Ids of reservations and payment methods, and flight numbers <-> whose or what they are.

Nothing is stored: ids of reservations and of payment methods are permutations of their number spaces.
"""

from tool_envs.booking.rows import MAX_METHODS, MAX_RESERVATIONS, METHOD_KINDS
from tool_envs.booking.streams import METHOD_IDS, RESERVATION_IDS
from tool_envs.people import is_number
from tool_envs.randomness import Shuffle

MAX_CUSTOMERS = 500_000
"""So that every reservation that they can make has an id."""

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_HALVES = len(_LETTERS) * 10 * len(_LETTERS)  # letter, digit, letter: a reservation id is two of these


class Ids:
    """All ids under one seed. Texts that nothing could have give None.

    Args:
        seed: Of the data.
    """

    def __init__(self, seed: int) -> None:
        self._reservations = Shuffle(_HALVES, _HALVES, seed, RESERVATION_IDS)
        self._methods = Shuffle(3200, 3125, seed, METHOD_IDS)

    def reservation_id(self, customer: int, number: int) -> str:
        """Such as `K4TR7B`."""
        first, second = divmod(self._reservations.to(customer * MAX_RESERVATIONS + number), _HALVES)
        return _half_text(first) + _half_text(second)

    def of_reservation_id(self, reservation_id: str) -> tuple[int, int] | None:
        """Customer and number of a reservation id; there need not be so many."""
        first, second = _half(reservation_id[:3]), _half(reservation_id[3:])
        if first is None or second is None:
            return None
        customer, number = divmod(self._reservations.back(first * _HALVES + second), MAX_RESERVATIONS)
        return customer, number

    def method_id(self, customer: int, method: int, kind: int) -> str:
        """Such as `gift_card_1234567`."""
        return f"{METHOD_KINDS[kind]}_{self._methods.to(customer * MAX_METHODS + method):07}"


def flight_number(flight: int) -> str:
    """Such as `HAT001`, from a flight code."""
    return f"HAT{flight + 1:03}"


def of_flight_number(number: str) -> int | None:
    """The code of a flight number; there need not be so many flights."""
    digits = number[3:]
    if number[:3] != "HAT" or not is_number(digits, 3) or digits == "000":
        return None
    return int(digits) - 1


def _half_text(half: int) -> str:
    first, rest = divmod(half, 10 * len(_LETTERS))
    digit, second = divmod(rest, len(_LETTERS))
    return f"{_LETTERS[first]}{digit}{_LETTERS[second]}"


def _half(text: str) -> int | None:
    if len(text) != 3 or not is_number(text[1], 1):
        return None
    first, second = _LETTERS.find(text[0]), _LETTERS.find(text[2])
    if first < 0 or second < 0:
        return None
    return (first * 10 + int(text[1])) * len(_LETTERS) + second
