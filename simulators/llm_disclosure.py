"""What a user keeps to themselves, and whether a reply gives it away.

The answers, the right arguments and the other values of their account no model is ever told, so that it
cannot give them away. What it is told, and may not say:

* how it is directed: eight words in a row of its instructions that are none of the goal's, the name of a tool
  or of a field of its replies, unless the agent said it before;
* its second choice, before the agent has said anything that sounds like a no, or has spoken of it: by a value
  that no other wish has, or in a clause that begins with words such as "otherwise" or "if that is not
  possible" and has a word that tells of the second choice alone. Who changes their mind may turn to it once
  they were offered the first;
* who it is, for the reluctant, in words that no wish has, before the agent can have asked twice: what could
  be a question is one.
"""

import functools
import re
from collections.abc import Iterator, Sequence

from tool_envs.simulators import llm_prompt
from tool_envs.simulators.agenda_plan import Node, plan
from tool_envs.simulators.goal import UserGoal
from tool_envs.simulators.llm_reply import Reply, Talk
from tool_envs.simulators.llm_words import sounds_negative, telling_words, texts_of, words_of
from tool_envs.simulators.phrasing import Phrases
from tool_envs.simulators.reading import Reading
from tool_envs.simulators.understanding import read

_QUOTED = 8  # words in a row
_ANY_WORD = re.compile(r"\w+")
_NOT = r"(?:not|cannot|impossible|unavailable|\w+n['\u2019]t)"
_INSTEAD = re.compile(
    r"\b(?:otherwise|or else|alternatively|failing that|as a fallback|second choice)\b"
    rf"|\bif (?:not\b|(?:that|this|it|you)\b[^.,;]{{0,30}}?\b{_NOT}\b)"
)
_SENTENCE_END = re.compile(r"[.?!\n]+")
_FIELDS = ("agrees_to", '"say"', '"ended"')


def given_away(reply: Reply, talk: Talk, phrases: Phrases) -> str:
    """What a reply gives away; empty: nothing.

    Args:
        reply: The reply.
        talk: What came before it.
        phrases: The domain's sentences.
    """
    said = reply.say.lower()
    return (
        _quotes_directions(said, talk, phrases)
        or _names_second_choice(said, talk, phrases)
        or _tells_who_they_are(said, talk, phrases)
    )


# --- How the model is directed


def _quotes_directions(said: str, talk: Talk, phrases: Phrases) -> str:
    heard = "\n".join(talk.heard).lower()
    names = [*_FIELDS, *(tool for tool in sorted(phrases.deeds) if "_" in tool)]
    named = next((name for name in names if name in said and name not in heard), "")
    if named:
        return f"`say` names {named}, of which a customer knows nothing"
    quoted = _runs(said) & _directions(talk.goal.domain) - _runs(heard) - _runs(
        _own_texts(talk.goal, phrases)
    )
    return f"`say` quotes your instructions: {min(quoted)}" if quoted else ""


def _runs(text: str) -> frozenset[str]:
    """All runs of so many words."""
    every = _ANY_WORD.findall(text.lower())
    return frozenset(" ".join(every[k : k + _QUOTED]) for k in range(len(every) - _QUOTED + 1))


@functools.lru_cache(maxsize=16)
def _directions(domain: str) -> frozenset[str]:
    texts = (
        llm_prompt.ROLE.format(domain=domain),
        llm_prompt.FORM,
        llm_prompt.FIRST,
        llm_prompt.AGAIN,
        *llm_prompt.TRAITS.values(),
    )
    return frozenset().union(*map(_runs, texts))


def _own_texts(goal: UserGoal, phrases: Phrases) -> str:
    texts = (text for node in plan(goal, phrases)[0] for text in texts_of(node))
    return "\n".join([*texts, *goal.knows.values()])


# --- The second choice


def _names_second_choice(said: str, talk: Talk, phrases: Phrases) -> str:
    nodes, facts = plan(talk.goal, phrases)
    seconds = {wish.otherwise for wish in facts.wishes if wish.otherwise >= 0}
    if not seconds or _may_turn_to_it(talk, phrases):
        return ""
    telling = telling_words(nodes)
    heard = words_of(" ".join(talk.heard))
    clauses = words_of(" ".join(_clauses_instead(said)))
    for k in sorted(seconds):
        values = _values_of_its_own(k, nodes)
        if any(value in said and not words_of(value) <= heard for value in values):
            return "`say` names your second choice, and the agent has not said no yet"
        if telling[k] & clauses - heard:
            return "`say` speaks of your second choice, and the agent has not said no yet"
    return ""


def _may_turn_to_it(talk: Talk, phrases: Phrases) -> bool:
    """They heard a no, or were offered what they want and change their mind."""
    readings = list(_readings(talk, phrases))
    if "changes_mind" in talk.goal.traits and any(one.asks_confirmation for one in readings):
        return True
    return any(one.transfers for one in readings) or any(map(sounds_negative, talk.heard))


def _values_of_its_own(k: int, nodes: Sequence[Node]) -> list[str]:
    """The words for values of a step that stand in no other one, of two words at least."""
    others = "\n".join(text for j, node in enumerate(nodes) if j != k for text in texts_of(node)).lower()
    values = (value.lower() for value in nodes[k].wish.words.values())
    return [value for value in values if " " in value and value not in others]


def _clauses_instead(said: str) -> Iterator[str]:
    """What follows on "otherwise" or "if that is not possible", to the end of the sentence."""
    for sentence in _SENTENCE_END.split(said):
        found = _INSTEAD.search(sentence)
        if found is not None:
            yield sentence[found.end() :]


# --- Who they are


def _tells_who_they_are(said: str, talk: Talk, phrases: Phrases) -> str:
    if "reluctant" not in talk.goal.traits or sum(_may_ask(talk, phrases)) > 1:
        return ""
    known = _own_words_of_wishes(talk.goal, phrases) + "\n".join(talk.heard).lower()
    told = [
        slot
        for slot, value in talk.goal.knows.items()
        if slot in phrases.identity and value.lower() in said and value.lower() not in known
    ]
    if not told:
        return ""
    return f"`say` tells {phrases.nouns.get(told[0], told[0])}, and the agent has not asked twice"


def _may_ask(talk: Talk, phrases: Phrases) -> Iterator[bool]:
    """Of each message of the agent, whether it can have asked who they are."""
    for text, reading in zip(talk.heard, _readings(talk, phrases), strict=True):
        nouns = {noun.lastgroup for noun in phrases.language.nouns.finditer(text.lower())}
        yield "?" in text or bool(reading.requests) or bool(nouns & phrases.identity)


def _own_words_of_wishes(goal: UserGoal, phrases: Phrases) -> str:
    return "\n".join(text for node in plan(goal, phrases)[0] for text in texts_of(node)).lower()


def _readings(talk: Talk, phrases: Phrases) -> Iterator[Reading]:
    return (read(text, phrases.language, talk.goal.lexicon) for text in talk.heard)
