"""What an agent's sentences tell the user: data, a no, that they must wait, a transfer, a goodbye."""

import re
from collections.abc import Iterable

from tool_envs.simulators.language import words
from tool_envs.simulators.sentences import Sentence

_TRANSFERS = words(
    r"(?:i'll|i will|i am|i'm|i have|i've|will now|you are|you're|you will|you have|being"
    r"|been)(?: \w+){0,3} (?:transferr?(?:ing|ed)?|connecting) you\b"
    r"|(?:transferring|connecting) you (?:to|now)\b"
    r"|you (?:are being|have been|will be|are now being)(?: now)? transferred\b"
    r"|(?:i'll|i will)(?: now)? (?:transfer|connect) you\b"
)
_GOODBYE = words(
    r"(?:have|enjoy|wish you) an? (?:great|nice|wonderful|good|lovely|pleasant|safe)\b"
    r"|safe travels\b|good ?bye\b|take care[.!]|bye\b"
)
_CLOSES = words(r"anything else\b|feel free to (?:ask|reach|contact|let|share)|don't hesitate\b")
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
_PENDING = re.compile(
    r"\blet me (?!know)|\bi(?:'ll| will| am going to|'m going to) (?!be (?:happy|glad))"
    r"|\b(?:one|a|just a) moment\b|\bhold on\b|\bplease (?:hold|wait)\b|\bbear with\b"
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


def informs(sentences: Iterable[Sentence], asks: bool) -> bool:
    """Whether a text tells data, prices or results; in one that `asks` for a yes, fewer words count."""
    for text, listed in sentences:
        if "?" in text or _IDENTITY.search(text):
            continue
        if "$" in text or _DONE.search(text):
            return True
        if not listed and (_FACT if asks else _DATA).search(text) and not _NOT_TOLD.search(text):
            return True
    return False


def denies(text: str) -> bool:
    """Whether a sentence says that something cannot be done."""
    return _DENIES.search(text) is not None and _NOT_FOUND.search(text) is None


def puts_off(words: str) -> bool:
    """Whether a text says that something is yet to be done or looked up."""
    return _PENDING.search(words) is not None


def transfers(words: str) -> bool:
    """Whether a text hands the user over to a human."""
    return ("transfer" in words or "connect" in words) and _TRANSFERS.search(words) is not None


def closes(words: str, sentences: Iterable[Sentence]) -> bool:
    """Whether a text, of these sentences, offers further help or says goodbye."""
    if says_goodbye(words) or _CLOSES.search(words) is not None:
        return True
    return any(_offers_more_help(sentence.text) for sentence in sentences)


def says_goodbye(words: str) -> bool:
    """Whether a text takes leave of the user."""
    return _GOODBYE.search(words) is not None


def _offers_more_help(text: str) -> bool:
    return _INVITES.search(text) is not None and _MORE_HELP.search(text) is not None
