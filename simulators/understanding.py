"""Agent's text -> dialogue acts: what it asks, proposes, tells, and which ids and values it names.

The text is split into sentences, and each is looked at by patterns of two kinds: those of customer service in
general stand here, those of a domain in its language file. No sentence is longer than `_LONGEST_SENTENCE`, so
that reading takes linear time whatever the text is.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import chain, islice, takewhile
from typing import NamedTuple

from tool_envs.messages import Json
from tool_envs.simulators.booking_language import BOOKING
from tool_envs.simulators.goal import Value
from tool_envs.simulators.language import Language, words
from tool_envs.simulators.reading import Reading
from tool_envs.simulators.retail_language import RETAIL

LANGUAGES: Mapping[str, Language] = {"retail": RETAIL, "booking": BOOKING}
"""The language of each domain."""

_CACHE_TEXT_LIMIT = 8192  # longer texts are read anew each time, so that the cache stays small

_LONGEST_SENTENCE = 500

_LISTED = re.compile(r"(?:[-*•#>]+|\d{1,3}[.)])[ \t]*")
_SENTENCE_END = re.compile(r"(?<=[.?!])[\"')]?[ \t]+")

# -- asking for a yes ---------------------------------------------------------------------------------------
_CHECK = words(
    r"(?:confirm|let me know|verify|tell me|indicate|advise)(?: with me| to me)?,? (?:if|whether|that)\b"
)
_AGREE = words(
    r"(?:correct|accurate|right|acceptable|okay|ok|fine|proceed|go ahead|agree|happy with|in order"
    r"|all set)\b"
    r"|looks? good\b|(?:like|want|wish) me to\b|provided all\b|includes? all\b"
)
_WANT = words(r"(?:like|want|wish|prefer|ready) to\b")
_BARE = re.compile(
    r"\b(?<!i'll )(?<!i will )(?<!i can )(?<!let me )confirm(?:\W*$|,| with an? | to (?:proceed|continue"
    r"|go ahead)| before| so | and (?:i|we)\b| (?:the|this|these|those|your|that|all)\b(?: (?:of )?(?:the"
    r"|above|following|new|these))* (?:details?|information|changes?|actions?|requests?|summary"
    r"|cancell?ation|return|exchange|modifications?|updates?|refund|transfer|booking|upgrade|downgrade"
    r"|transaction|selections?)\b(?! (?:id|number|you))(?! of [^.]* you\b))"
    r"|\b(?:once|after|when|as soon as) you(?:'ve| have)? (?:confirm(?:ed)?|approved?"
    r"|agreed?)\b(?! (?:the|your) \w+ (?:id|number))"
    r"|\b(?:upon|with|await\w*|need|require)(?: for)? your (?:explicit )?(?:confirmation|approval|consent"
    r"|go-ahead)\b"
    r"|\b(?:reply|respond|answer|say|type|confirm)(?: with)?(?: an?)? [\"'(]?yes\b"
)
_WILL_YOU = re.compile(
    r"\b(?:would you(?: still)? (?:like|want|wish|prefer)|do you(?: still)? (?:want|wish|like)"
    r"|are you ready)(?: for)?(?: me)?(?: to\b ?| (?=(?:this|that)\W*$))(.*)"
    r"|\b(?:shall|should|may|can|could) (?:i|we) (?:now |then )?(.*)"
)
_RIGHT = words(
    r"(?:is|are|does|do|would|will) (?:this|that|these|everything|it|all|the)\b.*\b(?:correct|right|good"
    r"|okay|ok|acceptable|accurate|fine|alright|work for you)\b"
    r"|(?:^|, |\. )(?:right|correct|okay|ok|yes|agreed|is that so)\?"
    r"|(?:do i|may i|can i) have your (?:permission|consent|approval|confirmation|go-ahead|okay|ok)\b"
    r"|do you (?:confirm|agree|approve|accept|consent)\b"
    r"|are you (?:okay|ok|sure|happy|fine|comfortable|certain)\b"
    r"|would you like (?:this|the|that) (?:change|cancell?ation|return|exchange|refund|transfer|booking"
    r"|upgrade)"
)
_OPEN = words(r"(?:\w+, )?(?:what|which|how|where|when|why|who)\b")
_GO_ON = re.compile(r"\b(?:proceed|go ahead|continue|move forward|have (?:me|this|these|them|it|that)\b)")
_DO_THAT = re.compile(r"^(?:\W*$|(?:do )?(?:that|this|so|it)\b)")
_LOOK = re.compile(
    r"^(?:(?:proceed|go ahead|continue)(?: with| and| to)? )?(?:search|look|check|explor|see|know"
    r"|consider|review|find|choos|select|tr(?:y|ies|ying)\b|help|assist|view|learn|hear|brows|discuss"
    r"|get more|keep)"
)
_VAGUE = words(
    r"any (?:specific|other|of|further|more|changes?)\b|one of (?:these|those|the)\b|another\b|other\b"
    r"|different\b|(?:add|purchase|include|buy) (?:any|some|(?:travel )?insurance|(?:checked )?bags)\b"
    r"|alternatives?\b|either\b|which\b|something\b|new options?\b"
    r"|(?:modif\w+|chang\w+|updat\w+) (?:this|the|your|that)(?: \w+)? (?:order|reservation"
    r"|booking)(?: instead)?\W*$"
)
_ELSE = re.compile(
    r",? or (?:is|if|do|would|are|can)\b[^?]*\b(?:anything|else|assist|help|questions?|need)\b[^?]*"
    r"|,? or not\b|\([^)]{0,200}\)"
)
_OR = re.compile(r"\bor\b")
_PREFER = re.compile(r"\bwould you (?:prefer|like|rather)\b")

# -- asking for data ----------------------------------------------------------------------------------------
_ASK = words(
    r"(?P<verb>provide|specify|share|tell me|let me know|give me|send me|enter|(?P<confirm>confirm"
    r"|verify)|indicate|choose|select|pick|double-check|supply|state|list|remind me|clarify|mention"
    r"|include|recall|advise|reply with|respond with)\b(?: me| us)?(?: with)?",
    r"(?:i|we)(?:'ll| will|'d| would|'m| am)?(?: also| first| still| just| only)? (?:need|require"
    r"|ask for)(?:ing)?(?: to (?:know|have|get|ask for|(?P<check>confirm)))?\b(?! to )",
    r"if you have (?:a |an )?(?=preference|preferred|specific|particular)",
    r"(?P<once>(?:once|when|whenever|as soon as|after) you(?: have| get| find| locate| remember| recall"
    r"| can access| access|'ve got|'re ready with| are ready with|(?:'ve| have) (?:found|located"
    r"|retrieved|got))|if you (?:remember|recall|find|locate|get|can access|access))\b",
)
_DIRECTED = re.compile(
    r"(?:^|\b(?:please|kindly|(?:could|can|would|will|may|might|must) you|you (?:need to|will need to|to)"
    r"|(?P<able>you (?:can|could|may)(?: also)?)|(?:if|once|when) you(?: can| could| would)?)"
    r"|(?P<joined>\band|\bor|,)),?(?: ?\b(?:please|also|additionally|kindly|then|first|just|instead|again"
    r"|go ahead and|either)\b,?)*\s*$"
)
_BEFORE = 60  # how far before a verb its "please" or "could you" may begin
_WH = re.compile(
    r"(?:^|, |\b(?:and|also|so) )(?:what|which|how|where|when|why|who)\b(?! (?:will|would (?!you)|is|are"
    r"|can|may|could|has) )(?! can i)"
    r"|\bdo you (?:have|know|prefer|need|want (?:any|to (?:use|add)))\b|\bis there an?\b"
    r"|\b(?:may|can|could) i (?:please |also )?(?:have|know|ask|get)\b|\bwould you prefer\b"
    r"|\bwould you like to (?:use|add|purchase|include|buy)\b"
)
_THOSE = re.compile(
    r"^\W*(?:these|those|this|that|both|the (?:necessary |required |requested )?(?:information"
    r"|details))\b"
)
_ASK_ENDS = re.compile(r",? (?:and |or )?(?:i|we|i'll|i'd|we'll)\b|\bso (?:that )?(?:i|we)\b")
_ASIDE = re.compile(
    r"\b(?:(?:for|in|to|with|from) which|(?<!how )(?<!where )(?<!why )(?<!what )(?<!when )you(?:'d| would"
    r"|'ve| have)? (?:like|wish|want|need|are|were|prefer|received)|associated|on file"
    r"|(?:in order )?to (?:proceed|locate|find|verify|access|look|help|assist|authenticate|process"
    r"|complete|update|check|cover))\b(?:(?!,| and (?:the|your|any|a|an|which|also|provide)\b).)*"
)
_CONDITION = re.compile(r"^\W*(?:if|whether|that|when|once)\b")
_CONDITION_ASKS = re.compile(
    r"^\W*(?:if|whether) you(?:'d| would)? (?:have|prefer(?! to)|like to use|wish to use|want to use)\b"
)
_FOLLOWING = re.compile(r"\bfollowing\b|:\W*$")
_OTHER = words(
    r"any (?:other|additional|more) (?:\w+ )?(?:information|details?)\b"
    r"|additional (?:information|details?)\b"
)

# -- letting the user choose --------------------------------------------------------------------------------
_WHICH = re.compile(
    r"\bwhich\b(?! (?:will|would (?!you)|is|are|was|were|has|have|can|may|means|includes)\b)(.*)"
    r"|\b(?:select|choose|pick) (?:one|from|an?|between|your|the)\b(.*)"
    r"|\b(?:(?:one|any|either) of (?:these|those)|one of the)\b(.*)|\byour preferred (option|flight|item)"
    r"|\b((?:option|flight) number.*)|\b(your (?:choice|selection).*)"
)
_IF_LIKE = re.compile(r"\bif you(?:'d| would) (?:like|prefer|rather) to ([^,;]*\bor\b[^,;]*)")
_NOT_CONCRETE = re.compile(r"\bneed|\bany\b|\bfurther\b|\belse\b|\bother (?:options|requests|questions)\b")
_OPTIONS_SHOWN = words(
    r"options (?:you (?:might|can|could|may)|available to you)"
    r"|you have (?:the following|two|a few|several) options\b"
)
_INTENT = words(
    r"how (?:can|may|could|else can) i (?:assist|help|be of)\b"
    r"|what (?:can|may|could) i (?:do|help|assist)\b"
    r"|what (?:(?:specific|other|exact|kind of|type of|changes?|modifications?|updates?"
    r"|actions?) ){0,3}(?:would you like|you(?:'d| would) like|do you want|you want|you wish|do you need"
    r"|you need)\b"
    r"|the (?:specific )?(?:changes?|modifications?|updates?) you(?:'d| would)? (?:like|want|wish)\b"
    r"|any specific action\b"
    r"|how (?:would you like|you(?:'d| would) like|do you want) (?:me )?to (?:proceed|continue|move)\b"
    r"|what brings you\b"
)

# -- the rest -----------------------------------------------------------------------------------------------
_TRANSFERS = words(
    r"(?:i'll|i will|i am|i'm|i have|i've|will now|you are|you're|you will|you have|being"
    r"|been)(?: \w+){0,3} (?:transferr?(?:ing|ed)?|connecting) you\b"
    r"|(?:transferring|connecting) you (?:to|now)\b"
    r"|you (?:are being|have been|will be|are now being)(?: now)? transferred\b"
    r"|(?:i'll|i will)(?: now)? (?:transfer|connect) you\b"
)
_CLOSES = words(
    r"anything else\b|(?:have|enjoy|wish you) an? (?:great|nice|wonderful|good|lovely|pleasant|safe)\b"
    r"|safe travels\b|good ?bye\b|take care[.!]|feel free to (?:ask|reach|contact|let|share)"
    r"|don't hesitate\b|bye\b"
)
_MORE_HELP = words(
    r"(?:further|more|additional|other|any|else|specific)\b.{0,25}\b(?:questions?|assistance|help"
    r"|requests?|concerns?|issues|modifications|details or)\b"
    r"|need (?:any |some |more )?(?:assistance|help)\b|anything (?:i|you)\b"
)
_INVITES = words(
    r"let me know\b|feel free\b|is there\b|are there\b|reach out\b|do you (?:have|need)\b|just ask\b"
    r"|here to help\b"
)
_DENIES = words(
    r"(?:cannot|can't|can not|unable to|not able to|won't be able|impossible|non-?refundable|ineligible"
    r"|unavailable)\b"
    r"|can (?:\w+ )?only\b|only be\b|no longer (?:be|possible|available|eligible)\b|out of stock"
    r"|insufficient\b|against (?:our|the|airline|company) polic|prohibit"
    r"|not (?:qualify|sufficient|something)\b|isn't something\b|only (?:\w+ ){1,3}can be\b"
    r"|couldn't (?:process|apply|complete|make)\b"
    r"|not (?:be |currently |typically |generally |currently be )?(?:possible|allow|allowed|permit"
    r"|permitted|eligible|supported?|available|offer|enough|cover|provided|refundable|offered|contain"
    r"|include|accept|accepted|applicable|exchangeable|modifiable)\b"
    r"|(?:aren't|isn't|wasn't|doesn't|don't) (?:\w+ )?(?:possible|allow|allowed|permit|permitted|eligible"
    r"|support|supported|available|enough|cover|offer|contain|include|accept)\b"
    r"|(?:there are|there is|have|are|with) no\b.{0,60}\b(?:available|flights|seats|options|orders"
    r"|items)\b"
)
_NOT_FOUND = words(
    r"(?:unable to|cannot|can't|couldn't|could not|not able to) (?:\w+ )?(?:find|locate|verify|retrieve"
    r"|access)\b"
    r"|cannot be found\b|until\b"
)
_DONE = words(
    r"successfully\b|(?:has|have) been\b"
    r"|(?:was|were) (?:processed|charged|refunded|cancelled|canceled|updated|shipped|delivered)\b"
    r"|i(?:'ve| have) (?:cancel|updat|modif|chang|return|exchang|book|process|complet|request)"
)
_IDENTITY = words(r"identity\b|authenticat|verified\b|verifying\b|user id\b|account\b|profile\b")
_DATA = re.compile(
    r"\b(?:there (?:is|are|isn't|aren't)|here (?:is|are)|here's)\b|\bavailable\b"
    r"|\b(?:is|are) (?:currently |still |already |in |part |a |an |eligible|not |typically)|\bincludes?\b"
    r"|\bi(?:'ve| have)? (?:found|located) (?:a|your|the|two|three|several|an|that)\b"
    r"|\b(?:contains|provides|requires)\b"
    r"|\b(?:will|would|can) (?:only )?(?:cost|receive|be (?:processed|refunded|charged|covered|cancelled"
    r"|canceled|returned))\b"
    r"|\bwas (?:scheduled|created|shipped|sent|delivered|priced|made)\b"
    r"|\byour (?:\w+ ){0,3}(?:is|are|was|has|have)\b|\bbusiness days\b"
    r"|\byou (?:have|can (?:use|contact))\b|\btypically\b"
)
_FACT = words(
    r"(?:balance|free|available|within|beyond)\b|, which is your\b|created on\b|details (?:for|of) your\b"
    r"|you have (?:\w+ )?(?:delivered|pending|orders|reservations|flights)|status\b"
    r"|your (?:recent|current) order\b|typically\b|i(?:'ve| have)? found\b"
)
_NOT_TOLD = re.compile(
    r"^(?:if|once|when|whenever|before|to|please|thank|thanks|you're welcome|no problem|certainly|sure"
    r"|feel|great)\b"
    r"|\blet me know\b|\bfeel free\b|\bi(?:'ll| will|'d| can| need| recommend)\b(?! now)"
    r"|\bhave an? (?:great|nice)\b|\bsafe travels\b|\bcannot be\b|\bcan't\b"
)

# -- ids ----------------------------------------------------------------------------------------------------
_WORD_WITH_DIGIT = re.compile(r"\b[a-z_]*+\d\w*")
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,4}")


class _Sentence(NamedTuple):
    """A sentence in lower case, and whether it stands in a list."""

    text: str
    listed: bool


class _Id(NamedTuple):
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


class _Acts(NamedTuple):
    """All of a reading that does not depend on a goal; `words` is the text in which to look for mentions."""

    asks_confirmation: bool
    requests: tuple[str, ...]
    informs: bool
    denies: bool
    transfers: bool
    closes: bool
    tool: str
    ids: tuple[_Id, ...]
    words: str


def understand(text: str, domain: str) -> dict[str, Json]:
    """The dialogue acts of an agent's message, as they are labelled in tau-bench's `agent_acts.json`.

    Args:
        text: Any text at all.
        domain: `retail` or `booking`.
    """
    acts = _acts(text, _language(domain))
    return {
        "asks_confirmation": acts.asks_confirmation,
        "requests": list(acts.requests),
        "informs": acts.informs,
        "denies": acts.denies,
        "transfers": acts.transfers,
        "closes": acts.closes,
    }


def read(text: str, language: Language, lexicon: Mapping[str, tuple[Value, ...]]) -> Reading:
    """What a user whose goal has this lexicon understands of an agent's message; never raises.

    Args:
        text: Any text at all.
        language: That of the user's domain.
        lexicon: Slot -> the values that could come up with this user.
    """
    acts = _acts(text, language)
    return Reading(
        asks_confirmation=acts.asks_confirmation,
        requests=acts.requests,
        informs=acts.informs,
        denies=acts.denies,
        transfers=acts.transfers,
        closes=acts.closes,
        tool=acts.tool,
        mentions=_mentions(acts, language, lexicon),
    )


def _language(domain: str) -> Language:
    try:
        return LANGUAGES[domain]
    except KeyError:
        known = ", ".join(sorted(LANGUAGES))
        raise ValueError(f"no language for domain {domain!r}; there are: {known}") from None


def _acts(text: str, language: Language) -> _Acts:
    return _cached_acts(text, language) if len(text) <= _CACHE_TEXT_LIMIT else _new_acts(text, language)


def _new_acts(text: str, language: Language) -> _Acts:
    words = text.lower().replace("*", "").replace("\u2019", "'").replace("`", "")
    sentences = _sentences(words)
    asking = [i for i, sentence in enumerate(sentences) if _asks_yes(sentences, i, language)]
    denying = {i for i, sentence in enumerate(sentences) if _denies(sentence.text)}
    ids = tuple(_ids(words, language))
    shown = _shown(sentences, ids, language)
    return _Acts(
        asks_confirmation=bool(asking),
        requests=_requests(sentences, words, language, shown),
        informs=_informs(sentences, bool(asking)),
        denies=bool(denying),
        transfers=("transfer" in words or "connect" in words) and _TRANSFERS.search(words) is not None,
        closes=_CLOSES.search(words) is not None or any(_offers_more_help(s.text) for s in sentences),
        tool=_tool(sentences, asking, denying, language),
        ids=ids,
        words=words,
    )


_cached_acts = lru_cache(maxsize=4096)(_new_acts)


def _sentences(words: str) -> list[_Sentence]:
    sentences: list[_Sentence] = []
    for raw in words.split("\n"):
        line = raw.strip()
        bullet = _LISTED.match(line)
        parts = [line[bullet.end() :]] if bullet else _SENTENCE_END.split(line)
        sentences.extend(_Sentence(piece, bullet is not None) for part in parts for piece in _pieces(part))
    return sentences


def _pieces(sentence: str) -> Iterable[str]:
    """The sentence itself, or short parts of an endless one, so that reading takes linear time."""
    if len(sentence) <= _LONGEST_SENTENCE:
        return (sentence,) if sentence else ()
    starts = range(0, len(sentence), _LONGEST_SENTENCE)
    return (sentence[start : start + _LONGEST_SENTENCE] for start in starts)


# -- asking for a yes ---------------------------------------------------------------------------------------
def _asks_yes(sentences: list[_Sentence], i: int, language: Language) -> bool:
    text = sentences[i].text
    if "?" in text and _question_asks_yes(sentences, i, language):
        return True
    return _statement_asks_yes(text, language)


def _question_asks_yes(sentences: list[_Sentence], i: int, language: Language) -> bool:
    text = _ELSE.sub("", sentences[i].text)
    if _OR.search(text):
        return False
    if _RIGHT.search(text):
        return True
    asked = _WILL_YOU.search(text)
    if asked is None or _OPEN.match(text[: asked.end()]):
        return False
    act = asked.group(1) or asked.group(2) or ""
    if _DO_THAT.match(act):
        return _last_offer_is_an_act(sentences, i, language)
    if _VAGUE.search(act.partition(", and ")[0]) or _LOOK.match(act):
        return False
    return bool(_GO_ON.search(act) or language.acts.match(act))


def _last_offer_is_an_act(sentences: list[_Sentence], i: int, language: Language) -> bool:
    before = " ".join(s.text for s in sentences[max(0, i - 2) : i])
    return language.acts.search(before) is not None


def _statement_asks_yes(text: str, language: Language) -> bool:
    if "confirm" not in text and "let me know" not in text and "yes" not in text and "verify" not in text:
        return False
    if _BARE.search(text):
        return True
    check = _CHECK.search(text)
    if check is None:
        return False
    rest = text[check.end() :]
    if _VAGUE.search(_ELSE.sub("", rest)):
        return False
    if _AGREE.search(rest):
        return True
    want = _WANT.search(rest)
    return want is not None and language.acts.match(rest, want.end() + 1) is not None


# -- asking for data ----------------------------------------------------------------------------------------
def _requests(
    sentences: list[_Sentence], words: str, language: Language, shown: str | None
) -> tuple[str, ...]:
    slots: set[str] = set()
    for i, sentence in enumerate(sentences):
        slots |= _asked_slots(sentences, i, language)
        slots |= _choices(sentence.text, language, shown)
    if not slots & {"new_item", "address", "choice"} and _INTENT.search(words):
        slots.add("intent")
    if not slots and _OPTIONS_SHOWN.search(words):
        slots.add("choice")
    return tuple(sorted(_tidy(slots)))


def _tidy(slots: set[str]) -> set[str]:
    if "address" in slots:
        slots -= {"zip", "name"} if "email" not in slots else set()
    if "passengers" in slots:
        slots -= {"name"}
    return slots


def _asked_slots(sentences: list[_Sentence], i: int, language: Language) -> set[str]:
    text, listed = sentences[i]
    slots: set[str] = set()
    triggers = [trigger for trigger in _ASK.finditer(text) if _is_directed(trigger, text)]
    for k, trigger in enumerate(triggers):
        end = triggers[k + 1].start() if k + 1 < len(triggers) else len(text)
        region = text[0 if listed and trigger.group("verb") else trigger.end() : end]
        slots |= _slots_of_ask(sentences, i, trigger, region, language)
    if "?" in text and not _INTENT.search(text):
        question = _WH.search(text)
        if question is not None:
            slots |= _nouns(text[question.start() :], language)
    return slots


def _is_directed(trigger: re.Match[str], text: str) -> bool:
    """Whether it is the user who shall do it: "could you provide" against "I can provide"."""
    if trigger.group("verb") is None:
        return True
    directed = _DIRECTED.search(text[max(0, trigger.start() - _BEFORE) : trigger.start()])
    if directed is None or (directed.group() == "" and trigger.start() > _BEFORE):
        return False
    if directed.group("able"):
        return trigger.group().startswith(("provide", "share", "give", "send"))
    return not directed.group("joined") or "please" in text or "?" in text


def _slots_of_ask(
    sentences: list[_Sentence], i: int, trigger: re.Match[str], region: str, language: Language
) -> set[str]:
    if _CONDITION.match(region) and not _CONDITION_ASKS.match(region):
        return set()
    condition = _CONDITION_ASKS.match(region)
    ends = _ASK_ENDS.search(region, condition.end() if condition else 0)
    asked = region[: ends.start()] if ends else region
    slots = _nouns(asked if condition else _ASIDE.sub("", asked), language)
    if trigger.group("verb") and _OTHER.search(region):
        slots.add("other")
    if i > 0 and not slots and (_THOSE.match(region) or (trigger.group("once") and region.startswith(" it"))):
        slots |= _nouns(sentences[i - 1].text, language)
    if (
        not sentences[i].listed
        and _FOLLOWING.search(region)
        and not (trigger.group("confirm") or trigger.group("check"))
    ):
        slots |= _nouns_of_list(sentences, i + 1, language)
    return slots


def _nouns(text: str, language: Language) -> set[str]:
    return {str(noun.lastgroup) for noun in language.nouns.finditer(text)}


def _nouns_of_list(sentences: list[_Sentence], start: int, language: Language) -> set[str]:
    slots: set[str] = set()
    for sentence in takewhile(lambda sentence: sentence.listed, islice(sentences, start, None)):
        slots |= _nouns(sentence.text, language)
    return slots


# -- letting the user choose --------------------------------------------------------------------------------
def _shown(sentences: list[_Sentence], ids: Iterable[_Id], language: Language) -> str | None:
    """The slot of the options that the text lists: by their heading or ids; None when it lists none."""
    kinds = {one.value: language.kinds[one.kind].option for one in ids if one.kind}
    listed = [i for i, sentence in enumerate(sentences) if sentence.listed]
    if len(listed) < 2 and len(kinds) < 2:
        return None
    heading = language.options.search(sentences[listed[0] - 1].text) if listed and listed[0] else None
    return str(heading.lastgroup) if heading else next(iter(kinds.values()), "")


def _choices(text: str, language: Language, shown: str | None) -> set[str]:
    if "?" in text:
        offered = _offered(text, language)
        if offered:
            return offered
    elif "let me know" not in text and "please" not in text:
        return set()
    elif (wish := _IF_LIKE.search(text)) and not _NOT_CONCRETE.search(wish.group(1)):
        return {"choice"}
    which = _WHICH.search(text)
    if which is None:
        return set()
    rest = next((group for group in which.groups() if group is not None), "")
    option = language.options.search(rest)
    slot = str(option.lastgroup) if option else shown
    return {slot for slot in (slot, "choice" if shown is not None else "") if slot}


def _offered(text: str, language: Language) -> set[str]:
    plain = _ELSE.sub("", text)
    asked = _WILL_YOU.search(plain)
    if asked is None:
        offered = _either(plain, language) if _OR.search(plain) else set()
        return offered if _PREFER.search(plain) else offered - {"choice", "payment_method"}
    act = asked.group(1) or asked.group(2) or ""
    if _INTENT.search(plain):
        return set()
    if _OR.search(act):
        return _either(act, language)
    return {"choice"} if _LOOK.match(act) else set()


def _either(text: str, language: Language) -> set[str]:
    """What "A or B" lets the user choose: what everybody may choose from is data, the rest a choice."""
    last = text.rpartition(" or ")[2]
    fixed = language.fixed.search(last)
    if fixed is not None:
        return {str(fixed.lastgroup)}
    option = language.options.search(last)
    return {"choice", "payment_method"} if option and option.lastgroup == "payment_method" else {"choice"}


# -- the rest -----------------------------------------------------------------------------------------------
def _denies(text: str) -> bool:
    return _DENIES.search(text) is not None and _NOT_FOUND.search(text) is None


def _offers_more_help(text: str) -> bool:
    return _INVITES.search(text) is not None and _MORE_HELP.search(text) is not None


def _informs(sentences: list[_Sentence], asks: bool) -> bool:
    for text, listed in sentences:
        if "?" in text or _IDENTITY.search(text):
            continue
        if "$" in text or _DONE.search(text):
            return True
        if not listed and (_FACT if asks else _DATA).search(text) and not _NOT_TOLD.search(text):
            return True
    return False


def _tool(sentences: list[_Sentence], asking: list[int], denying: Collection[int], language: Language) -> str:
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


def _checked(tool: str, sentences: list[_Sentence], language: Language) -> str:
    need = language.needs.get(tool)
    if need is None or any(need[0] in s.text for s in sentences):
        return tool
    return need[1]


# -- mentions -----------------------------------------------------------------------------------------------
def _ids(words: str, language: Language) -> Iterator[_Id]:
    for word in _WORD_WITH_DIGIT.finditer(words):
        found = language.ids.fullmatch(word.group())
        if found is not None and words[word.start() - 1 : word.start()] != "$":
            kind = language.kinds[str(found.lastgroup)]
            value = word.group().upper() if kind.upper else word.group()
            yield _Id(word.start(), word.end(), str(found.lastgroup), kind.prefix + value)
    if "@" in words:
        for email in _EMAIL.finditer(words):
            yield _Id(email.start(), email.end(), "", email.group())


def _mentions(
    acts: _Acts, language: Language, lexicon: Mapping[str, tuple[Value, ...]]
) -> dict[str, tuple[Json, ...]]:
    found: list[_Mention] = []
    for one in acts.ids:
        slots = _slots_of_id(one, language, lexicon)
        found.extend(_Mention(one.start, one.end, slot, one.value) for slot in slots)
    for slot, values in chain(language.values.items(), lexicon.items()):
        for value in values:
            found.extend(_Mention(*span, slot, value.value) for span in _spans_of(value, acts.words))
    return _in_order(_longest(found))


def _slots_of_id(one: _Id, language: Language, lexicon: Mapping[str, tuple[Value, ...]]) -> list[str]:
    if not one.kind:
        return ["email"]
    slots = language.kinds[one.kind].slots
    knowing = [slot for slot in slots if any(known.value == one.value for known in lexicon.get(slot, ()))]
    return knowing or [slots[0]]


def _spans_of(value: Value, words: str) -> Iterator[tuple[int, int]]:
    """Where a form of the value stands, or the value itself."""
    itself = (value.value.lower(),) if isinstance(value.value, str) else ()
    for form in dict.fromkeys((*value.forms, *itself)):
        at = words.find(form) if form else -1
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
