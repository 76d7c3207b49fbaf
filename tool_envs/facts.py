"""Typed facts: what values of a type stand in a text, however they are usually written.

What a customer must be told is a type and a value. The types:

* `amount`: US dollars, as cents without a sign ("you get $45 back" tells an amount of -4500). Money is what
  has a currency sign or word, or one or two decimals; a bare whole number is not, nor is a percentage, a
  measure, or a part of an id, a date or a longer number.
* `count`: whole numbers in digits, or in words up to twenty, that are no amount, id, date or list number.
* `id`: ids of the domain's kinds, and e-mail addresses.
* `status`, `word`: given words, in any case, as whole words.

```python
facts = FactReader(IdKind("order", "W[0-9]{7}", prefix="#", capitals=True), IdKind("item", "[0-9]{10}"))
facts.values_in("Order W1234567 comes to $45.", "amount")       # [4500]
facts.is_told("id", "#W1234567", ["It is order W1234567."])     # True
```
"""

import re
from collections.abc import Collection, Iterable
from typing import NamedTuple, TypeAlias

from tool_envs.errors import UnknownNameError

Value: TypeAlias = int | str
"""Cents of an amount, a count, an id, or a word as the caller spelled it."""

MOST_VALUES = 4
"""Values of one type in a message that still tells a fact; more of them are a list, not an answer."""


class IdKind(NamedTuple):
    """A kind of id.

    Attributes:
        name: Names the kind.
        pattern: What all its ids match, and nothing else does; a pattern of digits alone begins with `[0-9]`.
        prefix: What its ids begin with and a text may leave out.
        capitals: Its letters are capitals, and lower case elsewhere.
    """

    name: str
    pattern: str
    prefix: str = ""
    capitals: bool = False


class FactReader:
    """Finds facts in what was said about a domain.

    Args:
        kinds: The kinds of ids that the domain has.
    """

    def __init__(self, *kinds: IdKind) -> None:
        self._kinds = {kind.name: kind for kind in kinds}
        self._id = _id_pattern(kinds)

    def values_in(self, text: str, kind: str, among: Collection[str] = ()) -> list[Value]:
        """All values of a type in a text, in order.

        Args:
            text: What was said.
            kind: The type: `amount`, `count`, `id`, `status` or `word`.
            among: For `status` and `word`: the words to look for. Where one holds another, the longer one is
                found ("pending (item modified)", not "pending").

        Raises:
            UnknownNameError: There is no such type.
        """
        match kind:
            case "amount":
                return list(_amounts(text))
            case "count":
                return list(_counts(self._id.sub(" ; ", text)))
            case "id":
                return [self._value(match) for match in self._id.finditer(text)]
            case "status" | "word":
                return list(_words(text, among))
        raise UnknownNameError("type of fact", kind, ["amount", "count", "id", "status", "word"])

    def is_told(self, kind: str, value: Value, messages: Iterable[str], among: Collection[str] = ()) -> bool:
        """Whether a message tells a fact: it holds the value, and at most `MOST_VALUES` of its type.

        Ids are of one type when they are ids of the same kind of thing.

        Args:
            kind: The type of the fact.
            value: The right answer.
            messages: What was said after it was asked for.
            among: For `status` and `word`: what else the answer could have been.

        Raises:
            UnknownNameError: There is no such type.
        """
        if kind == "id":
            return self._is_id_told(str(value), messages)
        wanted = abs(int(value)) if kind in ("amount", "count") else str(value)
        words = {str(value), *among} if kind in ("status", "word") else ()
        return any(_tells(set(self.values_in(message, kind, words)), wanted) for message in messages)

    def _value(self, match: re.Match[str]) -> str:
        """The id as the domain writes it."""
        kind = self._kinds.get(str(match.lastgroup))
        if kind is None:
            return match[0].lower()
        bare = match[kind.name]
        return kind.prefix + (bare.upper() if kind.capitals else bare.lower())

    def _is_id_told(self, value: str, messages: Iterable[str]) -> bool:
        wanted = self._id.fullmatch(value)
        if wanted is None:
            return False
        return any(_tells(self._ids_like(wanted, message), self._value(wanted)) for message in messages)

    def _ids_like(self, one: re.Match[str], text: str) -> set[Value]:
        found = self._id.finditer(text)
        return {self._value(match) for match in found if match.lastgroup == one.lastgroup}


def _tells(values: set[Value], wanted: Value) -> bool:
    return wanted in values and len(values) <= MOST_VALUES


# --- Ids

_EMAIL = r"""
    (?<![A-Za-z0-9._%+-])(?P<email>[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9.-]{1,100}\.[A-Za-z]{2,10})
    (?![A-Za-z0-9_])"""
_WORD_START, _WORD_END = "(?<![A-Za-z0-9_])", "(?![A-Za-z0-9_])"
# Not inside of a longer number, an amount or a list of numbers.
_NUMBER_START, _NUMBER_END = "(?<![A-Za-z0-9_.$])(?<![0-9][,-])", "(?![A-Za-z0-9_]|[.,-][0-9])"


def _id_pattern(kinds: Iterable[IdKind]) -> re.Pattern[str]:
    alternatives = [_EMAIL]
    for kind in kinds:
        number = kind.pattern.startswith("[0-9]")
        start, end = (_NUMBER_START, _NUMBER_END) if number else (_WORD_START, _WORD_END)
        prefix = f"(?:{re.escape(kind.prefix)})?" if kind.prefix else ""
        alternatives.append(f"{start}{prefix}(?P<{kind.name}>{kind.pattern}){end}")
    return re.compile("|".join(alternatives), re.IGNORECASE | re.VERBOSE)


# --- Numbers

_NUMBER = r"(?:[0-9]{1,3}(?:,[0-9]{3}){1,3}|[0-9]{1,12})"
_CENTS = r"\.[0-9]{1,2}"
# Not inside of a word or a longer number, not behind the first part of a date, a time or a range.
_START = r"(?<![A-Za-z0-9.#])(?<![0-9][,:/-])"
_END = r"(?![.,]?[0-9]|[A-Za-z]|\s?%|\s?per\s?cent)"
_UNITS = "in|inch|inches|ft|feet|cm|mm|m|kg|g|lbs?|oz|l|ml|lit(?:er|re)s?|[gt]b|mp|hours?|stars?|watts?|w"
_DOLLARS = r"[\s-]?(?:(?:US\s?)?(?:dollars?|bucks)|USD)(?![A-Za-z0-9])|\s?\$(?!\s?[0-9])"

_AMOUNT = re.compile(
    rf"""
    (?<![A-Za-z0-9])(?:(?:USD?\s?)?\$|USD)\s?[-\u2212]?(?P<marked>{_NUMBER}(?:{_CENTS})?)(?:\s?USD)?{_END}
  | {_START}(?P<worded>{_NUMBER}(?:{_CENTS})?)(?:{_DOLLARS})
    (?:\s(?:and\s)?(?P<with_cents>[0-9]{{1,2}})\s?cents?(?![A-Za-z]))?
  | {_START}(?P<cents>[0-9]{{1,2}})\s?(?:cents?(?![A-Za-z])|\u00a2)
  | {_START}(?P<bare>{_NUMBER}{_CENTS}){_END}(?!\s?(?:{_UNITS})(?![A-Za-z]))
    """,
    re.IGNORECASE | re.VERBOSE,
)

_NUMBER_WORDS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
    "twenty",
)
_MONEY_WORDS = r"\s?(?:US\s)?(?:dollars?|bucks|cents?|USD)(?![A-Za-z])"
_COUNT = re.compile(
    rf"""
    (?<![A-Za-z0-9_$])(?<![0-9][.,:/-])(?P<digits>{_NUMBER})
    (?![.,:/-]?[0-9]|[A-Za-z_]|-[A-Za-z]|\s?%|\s?per\s?cent)
  | (?<![A-Za-z0-9_-])(?P<word>{"|".join(_NUMBER_WORDS)})
    (?![A-Za-z0-9_]|-[A-Za-z]|\s?per\s?cent|{_MONEY_WORDS})
    """,
    re.IGNORECASE | re.VERBOSE,
)
_MONTH = "(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*"
# What holds numbers that count nothing: dates in words, and the numbers of a list.
_COUNTS_NOTHING = re.compile(
    rf"""
    (?<![a-z]){_MONTH}\.?\s[0-9]{{1,2}}(?:st|nd|rd|th)?(?:,?\s[0-9]{{4}})?(?![0-9])
  | ^[\s>*-]{{0,9}}[0-9]{{1,3}}[.)](?=\s)
    """,
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)


def _amounts(text: str) -> Iterable[int]:
    return map(_cents, _AMOUNT.finditer(text))


def _cents(match: re.Match[str]) -> int:
    if match["cents"]:
        return int(match["cents"])
    number = match["marked"] or match["worded"] or match["bare"]
    whole, _, cents = number.replace(",", "").partition(".")
    return int(whole) * 100 + int(cents.ljust(2, "0")) + int(match["with_cents"] or 0)


def _counts(text: str) -> Iterable[int]:
    """Counts in a text that has no ids any more."""
    for pattern in (_AMOUNT, _COUNTS_NOTHING):
        text = pattern.sub(" ; ", text)
    return map(_whole, _COUNT.finditer(text))


def _whole(match: re.Match[str]) -> int:
    if match["word"]:
        return _NUMBER_WORDS.index(match["word"].lower())
    return int(match["digits"].replace(",", ""))


# --- Words


def _words(text: str, words: Collection[str]) -> Iterable[str]:
    spelled = {_plain(word): word for word in words if _plain(word)}
    if not spelled:
        return []
    longest_first = sorted(spelled, key=len, reverse=True)
    pattern = rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)"
    return [spelled[found] for found in re.findall(pattern, _plain(text))]


def _plain(text: str) -> str:
    """The text in lower case with single spaces, in British spelling where it is about statuses."""
    return re.sub(r"[\s_-]+", " ", text.lower()).strip().replace("canceled", "cancelled")
