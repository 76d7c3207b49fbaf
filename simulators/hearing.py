"""An agent's message with the eyes of a user: text -> `Heard`, and the values that it names."""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import NamedTuple

from tool_envs.messages import Json
from tool_envs.simulators.agenda_core import OTHER, SAME, UNKNOWN, Heard, State
from tool_envs.simulators.agenda_plan import Node, slot_mask
from tool_envs.simulators.comparing import (
    Mention,
    Mentions,
    agreeing,
    fits,
    named_values,
    other_sets,
    said_as,
    wrong_leaves,
)
from tool_envs.simulators.goal import Fact, UserGoal
from tool_envs.simulators.letters import LETTER, is_letter, letter_of
from tool_envs.simulators.phrasing import Phrases
from tool_envs.simulators.reading import Reading
from tool_envs.simulators.telling import puts_off
from tool_envs.simulators.understanding import read

_MAX_WINDOWS = 12  # how far back a proposal that a message ends with is looked for

_DEED = (
    r"(?:cancel|return|exchang|updat|chang|modif|process|submitt|request|switch|swapp|replac|initiat|complet"
    r"|refund|book|add|issu|upgrad|downgrad)"
)
_DONE = re.compile(
    rf"\b(?:has|have|was|were|is|are)(?: (?:now|been|just|also|both|all|successfully))* {_DEED}\w*"
    rf"|\bi(?:'ve| have)? (?:(?:now|just|also|successfully) )*{_DEED}\w*ed\b|\bsuccessfully {_DEED}\w*"
    r"|\bcertificate\b[^.?!\n]{0,80}\b(?:has been|was) sent\b"
    r"|\bi(?:'ve| have)? sent\b[^.?!\n]{0,40}\bcertificate\b"
    r"|\ball set\b|\b(?:all|it is|it's) done\b"
)
_NOT_DONE = re.compile(r"\b(?:cannot|not|unable|sorry|unfortunately|already|once|if|when|before)\b|n't\b")
_SMALL_TALK = re.compile(
    r"\b(?:thanks?|hello|hi|welcome|sure|certainly|of course|great|verified|authenticated|happy to|glad to"
    r"|no problem|sorry|apolog\w+|understand|noted|got it|okay|alright|all right|perfect)\b"
)
_ANSWERS = {
    "amount": re.compile(r"\$ ?\d|\d\.\d\d\b|\bdollars?\b"),
    "count": re.compile(
        r"(?<![\w#$.,])\d{1,4}(?!\w|[.,]\d)"
        r"|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|none|zero)\b"
    ),
    "status": re.compile(
        r"\b(?:pending|process\w*|deliver\w*|cancell?ed|shipped|request\w*|modified|confirmed|booked|delayed|landed"
        r"|flying|on time|available|unavailable|returned|exchanged|active|used)\b"
    ),
    "id": re.compile(r"\d{4}|@"),
}
_STOP = re.compile(r"[.?!]\s+(?=\S)|\n\s*(?=\S)")
_WHO = r"(?:e-?mail|name|zip|user id|identi\w+|verif\w+|authenticat\w+)"
_UNTIL_KNOWN = re.compile(rf"\b(?:without|until|unless|before)\b[^.?!\n]{{0,200}}\b{_WHO}\b[^.?!\n]{{0,200}}")
_OFFER = re.compile(
    r"\b(?:shall|should|may) i\b|\b(?:would you like|do you want) me to\b[^?\n]{0,800}\?|\byes/no\b"
)
# Codes of states that are words, written out: "Portland, OR, 97201" offers no choice.
_STATES = {"OR": "Oregon", "IN": "Indiana", "ME": "Maine", "OK": "Oklahoma", "HI": "Hawaii"}
_STATE = re.compile(
    rf"(?<=[,:] )(?:{'|'.join(_STATES)})\b(?=[\s,.]|$)|\b(?:{'|'.join(_STATES)})\b(?=,? \d{{5}}\b)"
)
_LISTED = re.compile(r"\s*(?:[-*•]|\d{1,3}[.)])\s")
_ASIDE = re.compile(
    r"\bfrom\b[^.?!\n]{0,200}?(?=\bto\b)"
    r"|\b(?:instead of|rather than|in place of|currently|current|original)\b[^.,;:?!)\n]*"
    r"|\b(?:[Cc]urrent|[Pp]revious|[Oo]ld|[Ee]xisting)(?: \w+){1,2}[*_]{0,2}:[^\n]*"
    r"|\breplac(?:e|ing)\b[^.?!\n]{0,120}?(?=\b(?:with|by)\b)"
    r"|(?<![^.,;:?!\n])[^.,;:?!\n]{0,120}\b(?:is|be|being) replaced\b"
)


class Understood(NamedTuple):
    """A message with the eyes of one wish: for the core, and the values that it names."""

    heard: Heard
    mentions: Mentions


def hear(text: str, node: Node, state: State, goal: UserGoal, phrases: Phrases) -> Understood:
    """What a message means while the user is at a step of their agenda."""
    text = _STATE.sub(lambda code: _STATES[code.group()], text)
    reading = read(text, phrases.language, goal.lexicon)
    if letter_of(node.wish) and is_letter(text, reading):
        return Understood(Heard(informs=1, answers=1), {})  # what its sentences say is said in the letter
    heard = _acts(text, reading, node, phrases)
    if not (heard.confirms or heard.done):
        return Understood(heard, {})  # values are looked at in proposals and reports only
    mentions = _mentions(text, reading, goal, phrases)
    if heard.confirms and not agreeing(node, mentions) & state.sets:
        mentions = _proposed(text, mentions, node, state.sets, goal, phrases)
    _compare(heard, node, mentions, state.sets, goal, phrases)
    return Understood(heard, mentions)


def _acts(text: str, reading: Reading, node: Node, phrases: Phrases) -> Heard:
    """Everything but the comparison of values."""
    words = text.lower()
    done = any(_is_done(part, phrases) for part in _STOP.split(words))
    who = _asked_first(words, reading, phrases)
    return Heard(
        asks=slot_mask((*reading.requests, *who), phrases),
        intent=any(slot not in phrases.slots for slot in reading.requests),
        confirms=reading.asks_confirmation or _offers(words, reading, node, phrases),
        tool=_compare_tools(reading.tool, node.wish.tool, phrases),
        informs=reading.informs,
        done=done,
        answers=_answers(words, node.wish.fact, reading, phrases),
        pending=not done and puts_off(words),
        denies=reading.denies and not who,
        transfers=reading.transfers,
        closes=reading.closes,
        small_talk=_SMALL_TALK.search(words) is not None,
    )


def _asked_first(words: str, reading: Reading, phrases: Phrases) -> list[str]:
    """The data without which the agent will not do anything: that is no refusal."""
    needed = _UNTIL_KNOWN.search(words) if reading.denies else None
    if needed is None:
        return []
    named = {str(noun.lastgroup) for noun in phrases.language.nouns.finditer(needed.group())}
    return sorted(named & phrases.identity) or list(phrases.introduction)


def _offers(words: str, reading: Reading, node: Node, phrases: Phrases) -> bool:
    """A question for a yes to something that names a record of the wish, in whatever words."""
    named = any(name in phrases.identifying for name in node.owners if name in reading.mentions)
    return named and not reading.requests and _OFFER.search(words) is not None


def _is_done(part: str, phrases: Phrases) -> bool:
    """A part of a message says that something was done."""
    says_so = _DONE.search(part) or phrases.language.done.search(part)
    return says_so is not None and _NOT_DONE.search(part) is None


def _answers(words: str, fact: Fact | None, reading: Reading, phrases: Phrases) -> bool:
    """A message holds a value of the type that was asked for. Which one is right, the user does not know."""
    if fact is None or fact.type == LETTER:
        return False
    if fact.type == "status" and phrases.language.statuses.search(words):
        return True
    typed = _ANSWERS.get(fact.type)
    return reading.informs if typed is None else typed.search(words) is not None


def _compare_tools(named: str, wanted: str, phrases: Phrases) -> int:
    if not named:
        return UNKNOWN
    if named == wanted or any({named, wanted} <= group for group in phrases.look_alikes):
        return SAME
    return OTHER


def _compare(
    heard: Heard, node: Node, mentions: Mentions, sets: int, goal: UserGoal, phrases: Phrases
) -> None:
    """Adds what the values of the message are to the wish."""
    wrong = wrong_leaves(node, mentions, sets)
    in_words = [slot for slot in node.slots if said_as(node, slot, sets, goal, phrases)]
    heard.identified = any(name in phrases.identifying for name in node.owners if name in mentions)
    heard.complete = all(any(name in mentions for name in phrases.slots[slot]) for slot in in_words)
    heard.agrees = agreeing(node, mentions)
    heard.others = other_sets(node, mentions, sets, phrases)
    heard.correctable = any(phrases.slot_of(name) in in_words for name in wrong)


# -- mentions -----------------------------------------------------------------------------------------------
def _mentions(text: str, reading: Reading, goal: UserGoal, phrases: Phrases) -> Mentions:
    """The values that a message names; what one word could mean is told apart as far as the text goes."""
    # A text names several numbers of a thing ("add 2 bags, 3 in all"): one of them is meant.
    numbers = {
        name: Mention(frozenset(), (frozenset(values),))
        for name, values in reading.mentions.items()
        if name in phrases.language.numbers
    }
    forms = {
        name: {value: each for value, each in _forms(name, values, goal).items() if _is_meant(value, text)}
        for name, values in reading.mentions.items()
        if name not in numbers
    }
    every = [form for table in forms.values() for each in table.values() for form in each]
    if len(every) == len(set(every)):
        return {name: Mention(frozenset(table)) for name, table in forms.items() if table} | numbers
    return _told_apart(text, forms, phrases) | numbers


def _told_apart(text: str, forms: Mapping[str, Mapping[Json, set[str]]], phrases: Phrases) -> Mentions:
    """The values that are named where a form can stand for several; a slot takes them before later ones."""
    every = [form for table in forms.values() for each in table.values() for form in each]
    written = _written(text.lower(), set(every))
    tables = {
        name: {value: each & written or {str(value)} for value, each in table.items()}
        for name, table in forms.items()
        if table
    }
    earlier: set[str] = set()
    found: Mentions = {}
    by_slot = sorted(tables, key=lambda name: _rank(name, phrases))
    for _, names in groupby(by_slot, key=lambda name: _rank(name, phrases)):
        of_slot = list(names)
        found |= {name: _mention(tables[name], earlier) for name in of_slot}
        earlier = earlier.union(*(each for name in of_slot for each in tables[name].values()))
    return found


def _forms(name: str, values: Iterable[Json], goal: UserGoal) -> dict[Json, set[str]]:
    """All texts that can stand for the values of a leaf, their ids among them."""
    known = {one.value: one.forms for one in goal.lexicon.get(name, ())}
    return {value: {str(value).lower().lstrip("#"), *known.get(value, ())} for value in values}


def _rank(name: str, phrases: Phrases) -> int:
    """The place of a leaf's slot among the slots."""
    slots = list(phrases.slots)
    slot = phrases.slot_of(name)
    return slots.index(slot) if slot in slots else len(slots)


def _written(words: str, forms: Iterable[str]) -> set[str]:
    """The forms that stand in a text for themselves, and not as a part of a longer one."""
    found = set()
    for form in sorted(forms, key=lambda form: (-len(form), form)):
        at = words.find(form) if form else -1
        while at >= 0:
            end = at + len(form)
            if _is_border(words, at - 1) and _is_border(words, end):
                found.add(form)
                words = words[:at] + "\0" * len(form) + words[end:]
            at = words.find(form, end)
    return found


def _is_border(words: str, at: int) -> bool:
    """No letter, digit or underscore stands there."""
    return not 0 <= at < len(words) or not (words[at].isalnum() or words[at] == "_")


def _is_meant(value: Json, text: str) -> bool:
    """`OR`, `IN` and `ME` are words of English in lower case."""
    state = _STATES.get(value) if isinstance(value, str) else None
    return state is None or re.search(rf"\b(?:{value}|{state})\b", text) is not None


def _mention(forms: Mapping[Json, set[str]], earlier: set[str]) -> Mention:
    """Sorts values into those named by a form of their own and those that share all their forms."""
    free = frozenset(value for value, texts in forms.items() if texts <= earlier)
    rest = {value: texts for value, texts in forms.items() if value not in free}
    firm = {value for value in rest if any(_holders(form, rest) == {value} for form in rest[value])}
    groups = {frozenset(_holders(form, rest)) for value in rest for form in rest[value]}
    loose = tuple(sorted((group for group in groups if not group & firm), key=sorted))
    return Mention(frozenset(firm), loose, free)


def _holders(form: str, forms: Mapping[Json, set[str]]) -> set[Json]:
    return {value for value, texts in forms.items() if form in texts}


# -- proposals ----------------------------------------------------------------------------------------------
def _proposed(
    text: str, whole: Mentions, node: Node, sets: int, goal: UserGoal, phrases: Phrases
) -> Mentions:
    """The values of the proposal at the end of a message that also speaks of other things.

    Only when a part of the message is a proposal that agrees, and nothing before it was plainly wrong.
    """
    for window in _windows(text):
        mentions = _mentions(window, read(window, phrases.language, goal.lexicon), goal, phrases)
        merged = mentions | {name: mention for name, mention in whole.items() if name not in mentions}
        for k, leaves in enumerate(node.leaves):
            names = [name for name in merged if name in leaves]
            if not sets >> k & 1 or not any(
                name in mentions and name in phrases.identifying for name in names
            ):
                continue
            if all(name in mentions or named_values(leaves[name], merged[name]) for name in names):
                kept = {
                    name: merged[name]
                    for name in merged
                    if name in mentions or name not in leaves or fits(leaves[name], merged[name])
                }
                if agreeing(node, kept) >> k & 1:
                    return kept
    return whole


def _windows(text: str) -> Iterator[str]:
    """The last parts of a message, the longest first, each also without its asides."""
    starts = _starts(text)[-_MAX_WINDOWS:]
    asked = text.rfind("?") + 1
    for start in [0, *starts]:
        for window in dict.fromkeys((text[start:], text[start:asked])):
            yield window
            yield _ASIDE.sub(" ", window)


def _starts(text: str) -> list[int]:
    """Where sentences begin, list items aside."""
    starts, at = [], 0
    for line in text.splitlines(keepends=True):
        if line.strip() and not _LISTED.match(line):
            starts += [at, *(at + stop.end() for stop in _STOP.finditer(line))]
        at += len(line)
    return starts
