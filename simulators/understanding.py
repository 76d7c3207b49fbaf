"""Agent's text -> dialogue acts: what it asks, proposes, tells, and which ids and values it names.

The text is split into sentences, and each is looked at by patterns of two kinds: those of customer service in
general, in `asking` and `telling`, and those of a domain, in its language file.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from tool_envs.messages import Json
from tool_envs.simulators.asking import asks_yes, options_shown, requests_in
from tool_envs.simulators.goal import Value
from tool_envs.simulators.language import Language
from tool_envs.simulators.mentions import Id, ids_in, mentions_in, tool_of
from tool_envs.simulators.reading import Reading
from tool_envs.simulators.sentences import sentences_of
from tool_envs.simulators.telling import closes, denies, informs, transfers

_CACHE_TEXT_LIMIT = 8192  # longer texts are read anew each time, so that the cache stays small


class _Acts(NamedTuple):
    """All of a reading that does not depend on a goal; `words` is the text in which to look for mentions."""

    asks_confirmation: bool
    requests: tuple[str, ...]
    informs: bool
    denies: bool
    transfers: bool
    closes: bool
    tool: str
    ids: tuple[Id, ...]
    words: str


def understand(text: str, language: Language) -> dict[str, Json]:
    """The dialogue acts of an agent's message, as they are labelled in tau-bench's `agent_acts.json`.

    Args:
        text: Any text at all.
        language: That of the domain.
    """
    acts = _acts(text, language)
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
        mentions=mentions_in(acts.words, acts.ids, language, lexicon),
    )


def _acts(text: str, language: Language) -> _Acts:
    return _cached_acts(text, language) if len(text) <= _CACHE_TEXT_LIMIT else _new_acts(text, language)


def _new_acts(text: str, language: Language) -> _Acts:
    words = text.lower().replace("*", "").replace("\u2019", "'").replace("`", "")
    sentences = sentences_of(words)
    asking = [i for i, sentence in enumerate(sentences) if asks_yes(sentences, i, language)]
    denying = {i for i, sentence in enumerate(sentences) if denies(sentence.text)}
    ids = tuple(ids_in(words, language))
    shown = options_shown(sentences, ids, language)
    return _Acts(
        asks_confirmation=bool(asking),
        requests=requests_in(sentences, words, language, shown),
        informs=informs(sentences, bool(asking)),
        denies=bool(denying),
        transfers=transfers(words),
        closes=closes(words, sentences),
        tool=tool_of(sentences, asking, denying, language),
        ids=ids,
        words=words,
    )


_cached_acts = lru_cache(maxsize=4096)(_new_acts)
