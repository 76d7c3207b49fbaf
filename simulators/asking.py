"""What an agent's sentences ask the user for: a yes, data, a choice.

The patterns here are those of customer service in general; those of a domain stand in its language file.
"""

import re
from collections.abc import Iterable
from itertools import islice, takewhile

from tool_envs.simulators.language import Language, words
from tool_envs.simulators.mentions import Id
from tool_envs.simulators.sentences import Sentence

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
    r"|\b(?:shall|should|may|can|could) (?:i|we)\b ?(?:now |then )?(.*)"
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


# -- asking for a yes ---------------------------------------------------------------------------------------
def asks_yes(sentences: list[Sentence], i: int, language: Language) -> bool:
    """Whether sentence `i` asks for a yes to one definite act."""
    text = sentences[i].text
    if "?" in text and _question_asks_yes(sentences, i, language):
        return True
    return _statement_asks_yes(text, language)


def _question_asks_yes(sentences: list[Sentence], i: int, language: Language) -> bool:
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


def _last_offer_is_an_act(sentences: list[Sentence], i: int, language: Language) -> bool:
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
def requests_in(
    sentences: list[Sentence], words: str, language: Language, shown: str | None
) -> tuple[str, ...]:
    """The slots, sorted, that a text asks the user for; `shown` is that of the options that it lists."""
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


def _asked_slots(sentences: list[Sentence], i: int, language: Language) -> set[str]:
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
    sentences: list[Sentence], i: int, trigger: re.Match[str], region: str, language: Language
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


def _nouns_of_list(sentences: list[Sentence], start: int, language: Language) -> set[str]:
    slots: set[str] = set()
    for sentence in takewhile(lambda sentence: sentence.listed, islice(sentences, start, None)):
        slots |= _nouns(sentence.text, language)
    return slots


# -- letting the user choose --------------------------------------------------------------------------------
def options_shown(sentences: list[Sentence], ids: Iterable[Id], language: Language) -> str | None:
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
