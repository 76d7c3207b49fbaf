"""What is special about the words of one domain: its slots, its ids and the verbs of its writes."""

import re
from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from tool_envs.simulators.goal import Value

_COUNTED = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
NUMBER_WORDS: Mapping[str, int] = MappingProxyType(
    {"no": 0, "none": 0, "zero": 0} | {word: number for number, word in enumerate(_COUNTED, start=1)}
)
"""Small numbers as words."""
NUMBER = rf"(?<![\w.,$-])(\d{{1,3}}|{'|'.join(NUMBER_WORDS)})"
"""A pattern of a number of things, in a group."""


NOTHING = re.compile("(?!)")
"""A pattern that fits nowhere."""


class Verb(msgspec.Struct, frozen=True, eq=False):
    """A family of words for a write, and what tells its members apart.

    Attributes:
        tool: The write that the word alone means.
        objects: Where one word serves several writes ("change"), the things changed, as named groups; the
            first one that stands after the word decides.
    """

    tool: str
    objects: re.Pattern[str] | None = None


class IdPattern(msgspec.Struct, frozen=True, eq=False):
    """A kind of id.

    Attributes:
        slots: The arguments that hold such ids; one that no lexicon knows goes to the first.
        option: The slot in which an agent lets the user choose among such ids.
        prefix: What its value has in front that the text may lack ("#").
        upper: Its letters are capitals.
    """

    slots: tuple[str, ...]
    option: str = ""
    prefix: str = ""
    upper: bool = False


class Language(msgspec.Struct, frozen=True, eq=False):
    """The language file of a domain. Every pattern is applied to text in lower case.

    Attributes:
        domain: Whose words these are.
        nouns: What an agent can ask the user for; the groups are slots.
        options: What an agent can let the user choose from; the groups are slots.
        fixed: Values that everybody may choose from (cabin classes); the groups are slots.
        acts: Words for something with consequences, such as a user must say yes to.
        verbs: The words for writes; the groups are the keys of `writes`.
        writes: Group of `verbs` -> what it means.
        objects: All `Verb.objects` in one, for a change whose object stands elsewhere.
        needs: Write -> (word without which it is another write, that other write).
        ids: A word with a digit in it that is an id; the groups are the keys of `kinds`.
        kinds: Group of `ids` -> which kind of id it is.
        values: Values that every user of the domain understands, beside the lexicon of their goal.
        numbers: Argument that is a number -> how it is named; the first group that fits holds the number, in
            digits or as a word.
        done: Words for what was done, beside the usual ones ("has been renewed").
        statuses: Words for how a thing stands, beside the usual ones ("overdue").
    """

    domain: str
    nouns: re.Pattern[str]
    options: re.Pattern[str]
    fixed: re.Pattern[str]
    acts: re.Pattern[str]
    verbs: re.Pattern[str]
    writes: Mapping[str, Verb]
    objects: re.Pattern[str]
    needs: Mapping[str, tuple[str, str]]
    ids: re.Pattern[str]
    kinds: Mapping[str, IdPattern]
    values: Mapping[str, tuple[Value, ...]]
    numbers: Mapping[str, re.Pattern[str]]
    done: re.Pattern[str] = NOTHING
    statuses: re.Pattern[str] = NOTHING


def groups(table: Mapping[str, str]) -> re.Pattern[str]:
    """One pattern with a named group per entry, each from the start of a word; the first that fits wins."""
    return NOTHING if not table else words(*(f"(?P<{name}>{pattern})" for name, pattern in table.items()))


def words(*alternatives: str) -> re.Pattern[str]:
    """A pattern of alternatives that all begin where a word does (which is quick to look for)."""
    return re.compile(rf"\b(?:{'|'.join(alternatives)})")
