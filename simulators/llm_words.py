"""Which words tell of which wish, in whatever order and form a language model speaks of them."""

import re
from collections.abc import Sequence

from tool_envs.simulators.agenda_plan import Node

_WORD = re.compile(r"\w*\d\w*|[^\W\d_]{4,}")
_STEM = 5  # letters that "cancel" and "cancellation" share
_FEWEST_DIGITS = 3  # "2" and "07" stand in sentences about anything
_COMMON_WORDS = """
about also anything back because been before being both card could does dont each ever from give have
here into just know like look made make many mine more most much must need only other over please should
some still such sure take tell than thank that their them then there these they thing this time under
until very want well were what when where which while will with would your
"""
_COMMON = frozenset(word[:_STEM] for word in _COMMON_WORDS.split())
_NEGATIVE = re.compile(
    r"\b(?:no|not|none|never|cannot|unable|unavailable|sorry|afraid|unfortunately|out of)\b|n['\u2019]t\b",
    re.IGNORECASE,
)


def sounds_negative(text: str) -> bool:
    """Whether a text can be a no, in whatever words; much else sounds like one, too."""
    return _NEGATIVE.search(text) is not None


def words_of(text: str) -> frozenset[str]:
    """The words of a text that mean something: ids and numbers, and the stems of those of four letters."""
    words = [match.group().lower() for match in _WORD.finditer(text)]
    numbers = (word for word in words if _has_digit(word) and len(word) >= _FEWEST_DIGITS)
    stems = {word[:_STEM] for word in words if not _has_digit(word)}
    return frozenset(numbers) | stems - _COMMON


def telling_words(nodes: Sequence[Node]) -> list[frozenset[str]]:
    """For each step of an agenda the words of it that no other step has."""
    own = [words_of(" ".join(texts_of(node))) for node in nodes]
    return [words - frozenset().union(*own[:k], *own[k + 1 :]) for k, words in enumerate(own)]


def texts_of(node: Node) -> list[str]:
    """All that the user is told of a step."""
    question = [node.wish.fact.question] if node.wish.fact else []
    return [node.opening, *node.wish.words.values(), *question]


def _has_digit(word: str) -> bool:
    return any(character.isdigit() for character in word)
