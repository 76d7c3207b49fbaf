"""Text -> sentences, none longer than `_LONGEST`, so that reading takes linear time whatever the text is."""

import re
from collections.abc import Iterable
from typing import NamedTuple

_LONGEST = 500

_LISTED = re.compile(r"(?:[-*•#>]+|\d{1,3}[.)])[ \t]*")
_SENTENCE_END = re.compile(r"(?<=[.?!])[\"')]?[ \t]+")


class Sentence(NamedTuple):
    """A sentence in lower case, and whether it stands in a list."""

    text: str
    listed: bool


def sentences_of(words: str) -> list[Sentence]:
    """The sentences of a text in lower case, in order."""
    sentences: list[Sentence] = []
    for raw in words.split("\n"):
        line = raw.strip()
        bullet = _LISTED.match(line)
        parts = [line[bullet.end() :]] if bullet else _SENTENCE_END.split(line)
        sentences.extend(Sentence(piece, bullet is not None) for part in parts for piece in _pieces(part))
    return sentences


def _pieces(sentence: str) -> Iterable[str]:
    """The sentence itself, or short parts of an endless one, so that reading takes linear time."""
    if len(sentence) <= _LONGEST:
        return (sentence,) if sentence else ()
    starts = range(0, len(sentence), _LONGEST)
    return (sentence[start : start + _LONGEST] for start in starts)
