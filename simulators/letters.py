"""Letters: what a user wants who asks for one in writing, and what they take for one."""

import re

import msgspec

from tool_envs.simulators.goal import Fact, Wish
from tool_envs.simulators.reading import Reading
from tool_envs.simulators.telling import puts_off

LETTER = "letter"
"""The type of a fact that is a whole letter; its value is a `Letter` as a JSON object."""

_FEWEST_WORDS, _FEWEST_UNSIGNED = 25, 40
_MARKS = r"[ \t>*_#-]{0,8}"  # what may stand before a line of a letter
_SIGNED = re.compile(
    rf"(?:^|[.!?]\s){_MARKS}(?:(?:yours|kind|kindest|best|warm|warmest|with)\b[^.?!\n]{{0,30}}"
    r"\b(?:sincerely|truly|faithfully|regards|wishes)|sincerely|regards|respectfully)\b",
    re.IGNORECASE | re.MULTILINE,
)
_SALUTATION = re.compile(rf"^{_MARKS}(?:dear|to whom it may concern)\b", re.IGNORECASE | re.MULTILINE)


class Letter(msgspec.Struct, frozen=True):
    """A letter that is wanted.

    Attributes:
        kind: What it is for (`apology`, `expenses` ...).
        tells: What must stand in it: the questions that it answers.
    """

    kind: str
    tells: tuple[Fact, ...]


def letter_of(wish: Wish) -> Letter | None:
    """The letter that a wish is for; None when it is for something else."""
    if wish.fact is None or wish.fact.type != LETTER:
        return None
    return msgspec.convert(wish.fact.value, Letter)


def facts_of(wish: Wish) -> tuple[Fact, ...]:
    """What must be told for a wish: the answer to its question, or all that must stand in its letter."""
    letter = letter_of(wish)
    if letter is not None:
        return letter.tells
    return () if wish.fact is None else (wish.fact,)


def is_letter(text: str, reading: Reading) -> bool:
    """Whether a user takes a message for a letter: it is one in form and length, whatever stands in it.

    Signed, 25 words are enough. Otherwise it takes 40, and the message must not want something of the user;
    without a salutation it must not put them off or turn them down either.

    Args:
        text: The message.
        reading: What was understood of it.
    """
    length = len(text.split())
    if length >= _FEWEST_WORDS and _SIGNED.search(text):
        return True
    if length < _FEWEST_UNSIGNED or reading.requests or reading.asks_confirmation:
        return False
    turned_away = reading.denies or reading.transfers or puts_off(text.lower())
    return not turned_away or _SALUTATION.search(text) is not None
