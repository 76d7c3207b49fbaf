"""What an agent's text names: ids, values of a goal's lexicon, the write that it speaks of."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain
from typing import NamedTuple

from tool_envs.messages import Json
from tool_envs.simulators.goal import Value
from tool_envs.simulators.language import NUMBER_WORDS, Language
from tool_envs.simulators.sentences import Sentence

_WORD_WITH_DIGIT = re.compile(r"\b[a-z_]*+\d\w*")
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,4}")


class Id(NamedTuple):
    """An id in a text: where it stands, its kind in the language (empty for an e-mail address), its value."""

    start: int
    end: int
    kind: str
    value: str


class _Mention(NamedTuple):
    """A value that a text names."""

    start: int
    end: int
    slot: str
    value: Json


def ids_in(words: str, language: Language) -> Iterator[Id]:
    """The ids in a text in lower case, then the e-mail addresses."""
    for word in _WORD_WITH_DIGIT.finditer(words):
        found = language.ids.fullmatch(word.group())
        if found is not None and words[word.start() - 1 : word.start()] != "$":
            kind = language.kinds[str(found.lastgroup)]
            value = word.group().upper() if kind.upper else word.group()
            yield Id(word.start(), word.end(), str(found.lastgroup), kind.prefix + value)
    if "@" in words:
        for email in _EMAIL.finditer(words):
            yield Id(email.start(), email.end(), "", email.group())


def mentions_in(
    words: str, ids: Iterable[Id], language: Language, lexicon: Mapping[str, tuple[Value, ...]]
) -> dict[str, tuple[Json, ...]]:
    """Leaf -> the values of it that a text names, in order: ids, numbers, values of lexicon and language."""
    found: list[_Mention] = []
    for one in ids:
        slots = _slots_of_id(one, language, lexicon)
        found.extend(_Mention(one.start, one.end, slot, one.value) for slot in slots)
    for slot, pattern in language.numbers.items():
        found.extend(_Mention(*number.span(), slot, _number(number)) for number in pattern.finditer(words))
    for slot, values in chain(language.values.items(), lexicon.items()):
        for value in values:
            for form in value.forms or _itself(value):
                if form and form in words:
                    found.extend(_Mention(*span, slot, value.value) for span in _spans_of(form, words))
    return _in_order(_longest(found))


def _slots_of_id(one: Id, language: Language, lexicon: Mapping[str, tuple[Value, ...]]) -> list[str]:
    if not one.kind:
        return ["email"]
    slots = language.kinds[one.kind].slots
    knowing = [slot for slot in slots if any(known.value == one.value for known in lexicon.get(slot, ()))]
    return knowing or [slots[0]]


def _number(found: re.Match[str]) -> int:
    """The number in a match of `Language.numbers`."""
    text = next(filter(None, found.groups()))
    return NUMBER_WORDS[text] if text in NUMBER_WORDS else int(text.replace(",", ""))


def _itself(value: Value) -> tuple[str, ...]:
    """What stands for a value without forms."""
    return (value.value.lower(),) if isinstance(value.value, str) else ()


def _spans_of(form: str, words: str) -> Iterator[tuple[int, int]]:
    """Where a form stands."""
    at = words.find(form)
    while at >= 0:
        if _stands_alone(words, at, at + len(form)):
            yield at, at + len(form)
        at = words.find(form, at + len(form))


def _stands_alone(words: str, start: int, end: int) -> bool:
    before = start > 0 and _is_word(words[start - 1]) and _is_word(words[start])
    after = end < len(words) and _is_word(words[end]) and _is_word(words[end - 1])
    return not before and not after


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _longest(found: list[_Mention]) -> list[_Mention]:
    """Without those that overlap a longer one; equal ones stay."""
    kept: list[_Mention] = []
    for one in sorted(found, key=lambda one: (one.start, -one.end)):
        while kept and _overlap(kept[-1], one) and _length(kept[-1]) < _length(one):
            kept.pop()
        if not (kept and _overlap(kept[-1], one) and _length(kept[-1]) > _length(one)):
            kept.append(one)
    return kept


def _overlap(one: _Mention, other: _Mention) -> bool:
    return one.start < other.end and other.start < one.end


def _length(one: _Mention) -> int:
    return one.end - one.start


def _in_order(found: list[_Mention]) -> dict[str, tuple[Json, ...]]:
    mentions: dict[str, dict[str, Json]] = {}
    for _, _, slot, value in found:
        mentions.setdefault(slot, {}).setdefault(repr(value), value)
    return {slot: tuple(values.values()) for slot, values in mentions.items()}


def tool_of(
    sentences: list[Sentence], asking: list[int], denying: Collection[int], language: Language
) -> str:
    """The write of the sentences that ask, else of the others, the nearest before the question first."""
    last = asking[-1] if asking else len(sentences) - 1
    rest = [i for i in (*range(last, -1, -1), *range(last + 1, len(sentences))) if i not in denying]
    weak = ""
    for i in (*reversed(asking), *rest, *denying):
        tool, sure = _write_in(sentences[i].text, language)
        if sure:
            return _checked(tool, sentences, language)
        weak = weak or tool
    if not weak:
        return ""
    thing = next(filter(None, (language.objects.search(s.text) for s in sentences)), None)
    return _checked(str(thing.lastgroup) if thing else weak, sentences, language)


def _write_in(text: str, language: Language) -> tuple[str, bool]:
    """The write that a sentence speaks of, and whether it says so in full."""
    word = language.verbs.search(text)
    if word is None:
        return "", False
    verb = language.writes[str(word.lastgroup)]
    if verb.objects is None:
        return verb.tool, True
    thing = verb.objects.search(text, word.end())
    return (str(thing.lastgroup), True) if thing else (verb.tool, False)


def _checked(tool: str, sentences: list[Sentence], language: Language) -> str:
    need = language.needs.get(tool)
    if need is None or any(need[0] in s.text for s in sentences):
        return tool
    return need[1]
