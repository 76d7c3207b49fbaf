"""What an agent's message means to a user: their goal laid out for the core of the agenda, and text -> `Heard`."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from tool_envs.messages import Json
from tool_envs.simulators.agenda_core import OTHER, SAME, UNKNOWN, Facts, Heard, State, WishFacts
from tool_envs.simulators.goal import Fact, UserGoal, Wish
from tool_envs.simulators.phrasing import Phrases
from tool_envs.simulators.reading import Reading
from tool_envs.simulators.understanding import read

_MAX_WINDOWS = 12  # how far back a proposal that a message ends with is looked for

_DEED = r"(?:cancel|return|exchang|updat|chang|modif|process|submitt|request|switch|swapp|replac|initiat|complet|refund|book|add)"
_DONE = re.compile(
    rf"\b(?:has|have|was|were|is|are)(?: (?:now|been|just|also|both|all|successfully))* {_DEED}\w*"
    rf"|\bi(?:'ve| have)? (?:(?:now|just|also|successfully) )*{_DEED}\w*ed\b|\bsuccessfully {_DEED}\w*|\ball set\b"
)
_PENDING = re.compile(
    r"\blet me (?!know)|\bi(?:'ll| will| am going to|'m going to) (?!be (?:happy|glad))|\b(?:one|a|just a) moment\b"
    r"|\bhold on\b|\bplease (?:hold|wait)\b|\bbear with\b"
)
_SMALL_TALK = re.compile(
    r"\b(?:thanks?|hello|hi|welcome|sure|certainly|of course|great|verified|authenticated|happy to|glad to|no problem"
    r"|sorry|apolog\w+|understand|noted|got it|okay|alright|all right|perfect)\b"
)
_ANSWERS = {
    "amount": re.compile(r"\$ ?\d|\d\.\d\d\b|\bdollars?\b"),
    "count": re.compile(
        r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|none|zero)\b"
    ),
    "status": re.compile(
        r"\b(?:pending|process\w*|deliver\w*|cancell?ed|shipped|request\w*|modified|confirmed|booked|delayed|landed"
        r"|flying|on time|available|unavailable|returned|exchanged|active|used)\b"
    ),
    "id": re.compile(r"\d{4}|@"),
}
_STOP = re.compile(r"[.?!]\s+(?=\S)")
_WHO = r"(?:e-?mail|name|zip|user id|identi\w+|verif\w+|authenticat\w+)"
_UNTIL_KNOWN = re.compile(rf"\b(?:without|until|unless|before)\b[^.?!\n]*\b{_WHO}\b[^.?!\n]*")
_OFFER = re.compile(
    r"\b(?:shall|should|may) i\b|\b(?:would you like|do you want|would you want) me to\b[^?\n]*\?|\b(?:yes/no)\b"
)
# Codes of states that are words, written out: "Portland, OR, 97201" offers no choice.
_STATES = {"OR": "Oregon", "IN": "Indiana", "ME": "Maine", "OK": "Oklahoma", "HI": "Hawaii"}
_STATE = re.compile(rf"(?<=[,:] )(?:{'|'.join(_STATES)})\b(?=[\s,.]|$)|\b(?:{'|'.join(_STATES)})\b(?=,? \d{{5}}\b)")
_LISTED = re.compile(r"\s*(?:[-*•]|\d{1,3}[.)])\s")
_ASIDE = re.compile(
    r"\bfrom\b[^.?!\n]*?(?=\bto\b)|\b(?:instead of|rather than|in place of|currently|current|original)\b[^.,;:?!)\n]*"
)


class Node(NamedTuple):
    """A wish as one step of the agenda.

    Attributes:
        wish: The wish.
        index: Its number among the wishes of the goal.
        opening: How it is brought up.
        asks: It is a question.
    """

    wish: Wish
    index: int
    opening: str
    asks: bool


class Mention(NamedTuple):
    """Values of one argument in a message.

    Attributes:
        firm: Named for sure.
        loose: Groups of which one is meant.
        free: Named by words that mean something else in an earlier argument; perhaps they are not meant.
    """

    firm: frozenset[Json]
    loose: tuple[frozenset[Json], ...] = ()
    free: frozenset[Json] = frozenset()


Mentions = dict[str, Mention]


class Understood(NamedTuple):
    """A message with the eyes of one wish: for the core, and the values that it names."""

    heard: Heard
    mentions: Mentions


def plan(goal: UserGoal, phrases: Phrases) -> tuple[tuple[Node, ...], Facts]:
    """A goal as steps of an agenda, and as facts for its core."""
    nodes: list[Node] = []
    facts: list[WishFacts] = []
    for index, wish in enumerate(goal.wishes):
        last = index + 1 == len(goal.wishes)
        following = -1 if last else len(nodes) + _size(wish)
        for node, fact in _lay_out(wish, index, len(nodes), following):
            nodes.append(node)
            facts.append(fact)
    identity = slot_mask(phrases.identity, phrases)
    insists, reluctant, changes = (trait in goal.traits for trait in ("insists", "reluctant", "changes_mind"))
    return tuple(nodes), Facts(tuple(facts), identity, insists, reluctant, changes)


def _size(wish: Wish | None) -> int:
    return 0 if wish is None else 1 + _asks_after(wish) + _size(wish.otherwise)


def _asks_after(wish: Wish) -> bool:
    """They want something done, and then to be told something."""
    return bool(wish.tool) and wish.fact is not None


def _lay_out(wish: Wish, index: int, at: int, following: int) -> Iterator[tuple[Node, WishFacts]]:
    """The steps of one wish, of which the first is number `at`: itself, its question, what else they want."""
    asks, after = wish.fact is not None and not wish.tool, _asks_after(wish)
    question = wish.fact.question if wish.fact else ""
    otherwise = -1 if wish.otherwise is None else at + 1 + after
    sets = (1 << len(wish.accepted)) - 1
    follows = at + 1 if after else following
    yield (
        Node(wish, index, wish.opening or question, asks),
        WishFacts(sets, asks, wish.forbidden, otherwise, follows),
    )
    if after:
        yield Node(wish, index, question, True), WishFacts(0, True, False, -1, following)
    if wish.otherwise is not None:
        yield from _lay_out(wish.otherwise, index, otherwise, following)


def slot_mask(slots: Iterable[str], phrases: Phrases) -> int:
    """Slots as bits, in the order of `phrases.slots`."""
    wanted = set(slots)
    return sum(1 << k for k, slot in enumerate(phrases.slots) if slot in wanted)


def hear(text: str, node: Node, state: State, goal: UserGoal, phrases: Phrases) -> Understood:
    """What a message means while the user is at a step of their agenda."""
    text = _STATE.sub(lambda code: _STATES[code.group()], text)
    reading = read(text, phrases.language, goal.lexicon)
    mentions = _mentions(text, reading, goal, phrases)
    heard = _acts(text, reading, node, phrases)
    if heard.confirms and not agreeing(node.wish, mentions) & state.sets:
        mentions = _proposed(text, mentions, node.wish, state.sets, goal, phrases)
    return Understood(_compare(heard, node.wish, mentions, state.sets, goal, phrases), mentions)


def _acts(text: str, reading: Reading, node: Node, phrases: Phrases) -> Heard:
    """Everything but the comparison of values."""
    words = text.lower()
    done = _DONE.search(words) is not None
    who = _asked_first(words, reading, phrases)
    return Heard(
        asks=slot_mask((*reading.requests, *who), phrases),
        intent=any(slot not in phrases.slots for slot in reading.requests),
        confirms=reading.asks_confirmation or _offers(words, reading, node, phrases),
        tool=_compare_tools(reading.tool, node.wish.tool, phrases),
        informs=reading.informs,
        done=done,
        answers=_answers(words, node.wish.fact, reading),
        pending=not done and _PENDING.search(words) is not None,
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
    return sorted(named & phrases.identity) or ["email", "name", "zip"]


def _offers(words: str, reading: Reading, node: Node, phrases: Phrases) -> bool:
    """A question for a yes to something that names a record of the wish, in whatever words."""
    named = any(name in phrases.identifying for name in arguments_of(node.wish) if name in reading.mentions)
    return named and not reading.requests and _OFFER.search(words) is not None


def _answers(words: str, fact: Fact | None, reading: Reading) -> bool:
    """Whether a message holds a value of the type that was asked for. The right value is none of the user's."""
    if fact is None:
        return False
    typed = _ANSWERS.get(fact.type)
    return reading.informs if typed is None else typed.search(words) is not None


def _compare_tools(named: str, wanted: str, phrases: Phrases) -> int:
    if not named:
        return UNKNOWN
    if named == wanted or any({named, wanted} <= group for group in phrases.look_alikes):
        return SAME
    return OTHER


def _compare(
    heard: Heard, wish: Wish, mentions: Mentions, sets: int, goal: UserGoal, phrases: Phrases
) -> Heard:
    """With what the values of the message are to the wish."""
    wrong = wrong_arguments(wish, mentions, sets)
    in_words = [slot for slot in wish_slots(wish, phrases) if said_as(wish, slot, sets, goal, phrases)]
    agrees = agreeing(wish, mentions)
    return heard._replace(
        identified=any(name in phrases.identifying for name in arguments_of(wish) if name in mentions),
        complete=all(any(name in mentions for name in phrases.slots[slot]) for slot in in_words),
        agrees=agrees,
        others=_others(wish, agrees & sets, sets, phrases),
        correctable=any(slot_of(name, phrases) in in_words for name in wrong),
    )


# -- values -------------------------------------------------------------------------------------------------
def arguments_of(wish: Wish) -> tuple[str, ...]:
    """The arguments of the write that fulfils a wish."""
    return tuple(wish.accepted[0]) if wish.accepted else ()


def slot_of(name: str, phrases: Phrases) -> str:
    """The slot of an argument; data that says who the user is comes last."""
    slots = [slot for slot, names in phrases.slots.items() if name in names]
    return next((slot for slot in slots if slot not in phrases.identity), slots[0] if slots else name)


def wish_slots(wish: Wish, phrases: Phrases) -> list[str]:
    """The slots of a wish's arguments."""
    return list(dict.fromkeys(slot_of(name, phrases) for name in arguments_of(wish)))


def chosen(wish: Wish, sets: int) -> list[dict[str, Json]]:
    """The accepted sets of a mask."""
    return [arguments for k, arguments in enumerate(wish.accepted) if sets >> k & 1]


def common(wish: Wish, name: str, sets: int) -> Json:
    """The value that all sets of a mask have for an argument; None when they differ. Lists differ by content."""
    values = [arguments[name] for arguments in chosen(wish, sets) if name in arguments]
    return values[0] if values and all(_same(value, values[0]) for value in values) else None


def _same(one: Json, other: Json) -> bool:
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return sorted(one) == sorted(other)
    return bool(one == other)


def said_as(wish: Wish, slot: str, sets: int, goal: UserGoal, phrases: Phrases) -> str:
    """How the user says what they want in a slot: in the words of the wish, or by the value that is left."""
    names = phrases.slots.get(slot, ())
    everything = (1 << len(wish.accepted)) - 1
    left = [name for name in names if common(wish, name, everything) is None]
    new = [
        _form(name, value, goal, phrases) for name in left if (value := common(wish, name, sets)) is not None
    ]
    own = [wish.words[name] for name in (slot, *names) if name in wish.words]
    return ", ".join(dict.fromkeys(filter(None, new or own)))


def _form(name: str, value: Json, goal: UserGoal, phrases: Phrases) -> str:
    if isinstance(value, list | tuple):
        return " and ".join(_form(name, one, goal, phrases) for one in value)
    known = (*goal.lexicon.get(name, ()), *phrases.language.values.get(name, ()))
    return next((one.forms[0] for one in known if one.value == value and one.forms), str(value))


def named_values(value: Json, mention: Mention) -> set[Json]:
    """Those parts of a wanted value that a mention names."""
    wanted = _parts(value)
    return wanted & (mention.firm | mention.free | frozenset().union(*mention.loose))


def _parts(value: Json) -> set[Json]:
    return set(value) if isinstance(value, list | tuple) else {value}


def _fits(value: Json, mention: Mention) -> bool:
    wanted = _parts(value)
    return mention.firm <= wanted and all(group & wanted for group in mention.loose)


def agreeing(wish: Wish, mentions: Mentions) -> int:
    """The accepted sets that no mention contradicts."""
    return sum(1 << k for k, arguments in enumerate(wish.accepted) if not _misfits(arguments, mentions))


def _misfits(arguments: Mapping[str, Json], mentions: Mentions) -> list[str]:
    return [
        name for name, value in arguments.items() if name in mentions and not _fits(value, mentions[name])
    ]


def wrong_arguments(wish: Wish, mentions: Mentions, sets: int) -> list[str]:
    """The arguments in which a message differs from the accepted set that is nearest to it."""
    return min((_misfits(arguments, mentions) for arguments in chosen(wish, sets)), key=len, default=[])


def _others(wish: Wish, agrees: int, sets: int, phrases: Phrases) -> int:
    """The sets that are left for one who wants one value differently from the sets that agree."""
    rest = sets & ~agrees
    if not agrees or not rest:
        return 0
    old, new = chosen(wish, agrees)[0], chosen(wish, rest)[0]
    differing = [name for name in new if not _same(old.get(name), new[name])]
    name = min(differing, key=lambda name: name in phrases.identifying)
    fitting = (k for k, arguments in enumerate(wish.accepted) if _same(arguments[name], new[name]))
    return sets & sum(1 << k for k in fitting)


# -- mentions -----------------------------------------------------------------------------------------------
def _mentions(text: str, reading: Reading, goal: UserGoal, phrases: Phrases) -> Mentions:
    """The values that a message names; what one word could mean is told apart as far as the text goes."""
    forms = {name: _forms(name, values, goal) for name, values in reading.mentions.items()}
    written = _written(text.lower(), {form for table in forms.values() for each in table.values() for form in each})
    earlier: set[str] = set()  # what stands for something in an earlier argument
    found = {}
    for name in sorted(forms, key=lambda name: _rank(name, phrases)):
        table = {value: each & written or {str(value)} for value, each in forms[name].items()}
        meant = {value: each for value, each in table.items() if _is_meant(value, each, text)}
        if meant:
            found[name] = _mention(meant, earlier)
        earlier = earlier.union(*meant.values())
    return found


def _forms(name: str, values: Iterable[Json], goal: UserGoal) -> dict[Json, set[str]]:
    """All texts that can stand for the values of an argument, their ids among them."""
    known = {one.value: one.forms for one in goal.lexicon.get(name, ())}
    return {value: {str(value).lower().lstrip("#"), *known.get(value, ())} for value in values}


def _written(words: str, forms: Iterable[str]) -> set[str]:
    """The forms that stand in a text for themselves, and not as a part of a longer one."""
    found = set()
    for form in sorted(forms, key=lambda form: (-len(form), form)):
        words, times = re.subn(rf"(?<!\w){re.escape(form)}(?!\w)", "\0", words)
        if times:
            found.add(form)
    return found


def _rank(name: str, phrases: Phrases) -> int:
    return [*phrases.slots, name].index(slot_of(name, phrases)) if name else 0


def _is_meant(value: Json, forms: set[str], text: str) -> bool:
    """Codes of two letters are words of English in lower case: `OR`, `IN`, `ME`."""
    is_code = isinstance(value, str) and len(value) == 2 and value.isupper()
    return not is_code or max(map(len, forms)) > 2 or re.search(rf"\b{value}\b", text) is not None


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
    text: str, whole: Mentions, wish: Wish, sets: int, goal: UserGoal, phrases: Phrases
) -> Mentions:
    """The values of the proposal at the end of a message that also speaks of other things.

    Only when a part of the message is a proposal that agrees, and nothing before it was plainly wrong.
    """
    for window in _windows(text):
        mentions = _mentions(window, read(window, phrases.language, goal.lexicon), goal, phrases)
        merged = mentions | {name: mention for name, mention in whole.items() if name not in mentions}
        for k, arguments in enumerate(wish.accepted):
            names = [name for name in merged if name in arguments]
            if not sets >> k & 1 or not any(
                name in mentions and name in phrases.identifying for name in names
            ):
                continue
            if all(name in mentions or named_values(arguments[name], merged[name]) for name in names):
                kept = {
                    name: merged[name]
                    for name in merged
                    if name in mentions or name not in arguments or _fits(arguments[name], merged[name])
                }
                if agreeing(wish, kept) >> k & 1:
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
