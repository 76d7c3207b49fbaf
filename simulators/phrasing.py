"""What sentences are made of: a domain's own ones, seeded choices among equal ones, forms of words and facts.

Every choice is a function of (key, turn, number of the choice).
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import msgspec

from tool_envs.messages import Json
from tool_envs.randomness import draw_below
from tool_envs.simulators.goal import Fact
from tool_envs.simulators.language import Language

Pool = tuple[str, ...]
"""Sentences of equal meaning, with `{fields}`."""


class Phrases(msgspec.Struct, frozen=True, dict=True):
    """What a domain adds to the shared sentences.

    Attributes:
        language: Whose sentences these are, and how they are read.
        slots: What an agent may ask a user for -> the arguments of tools that it fills, or the members of
            objects in them (see `leaves`).
        questions: Slot -> what the agent asks for: "your email address".
        nouns: Slot -> what the user calls their answer: "my email address".
        wants: Slot -> how the user says which value they want, adding it to a yes or correcting the agent.
        fields: From the arguments of a write and the words for values: the fields of deeds and results.
        deeds: Write -> what it does, as infinitives with fields: "cancel order {order_id}".
        brief_deeds: The same in as few words as possible.
        results: Write -> sentences that it was done, with fields.
        refusals: Kind of wish -> what cannot be done: "cancel this order".
        reasons: Why not: code -> clause.
        identity: Slots that say who the user is.
        introduction: Those of them that a user tells who is only asked to identify themselves.
        identifying: Arguments, or members in them, that tell which record or thing is meant.
        look_alikes: Groups of writes that people call by the same words.
        conditions: What a user may demand of every reply -> how they say it.
    """

    language: Language
    slots: dict[str, tuple[str, ...]]
    questions: dict[str, str]
    nouns: dict[str, str]
    wants: dict[str, str]
    fields: Callable[[Mapping[str, Json], Mapping[str, str]], dict[str, str]]
    deeds: dict[str, Pool]
    brief_deeds: dict[str, str]
    results: dict[str, Pool]
    refusals: dict[str, str]
    reasons: dict[str, str]
    identity: frozenset[str]
    introduction: tuple[str, ...]
    identifying: frozenset[str]
    look_alikes: tuple[frozenset[str], ...]
    conditions: dict[str, Pool]

    def slot_of(self, leaf: str) -> str:
        """The slot of an argument or member; itself when it has none."""
        return self._slot_of_leaf.get(leaf, leaf)

    def slots_of(self, leaves: tuple[str, ...]) -> Mapping[str, tuple[str, ...]]:
        """Slot -> those of the leaves that fill it. Made once for all wishes of a kind."""
        if leaves not in self._slots_of_leaves:
            slots = dict.fromkeys(map(self.slot_of, leaves))
            self._slots_of_leaves[leaves] = {
                slot: tuple(leaf for leaf in leaves if self.slot_of(leaf) == slot) for slot in slots
            }
        return self._slots_of_leaves[leaves]

    @cached_property
    def _slots_of_leaves(self) -> dict[tuple[str, ...], dict[str, tuple[str, ...]]]:
        return {}

    @cached_property
    def _slot_of_leaf(self) -> dict[str, str]:
        """Argument or member -> its slot; rather one of the wish than one that says who the user is."""
        own_last = sorted(self.slots, key=lambda slot: slot not in self.identity)
        return {name: slot for slot in own_last for name in self.slots[slot]}


class Dice(NamedTuple):
    """All choices of one turn."""

    key: int
    turn: int

    def pick(self, pool: Pool, k: int) -> str:
        """Choice number `k`, one of `pool`."""
        return pool[draw_below(len(pool), self.key, 0, self.turn, k)]


def join(parts: Sequence[str]) -> str:
    """Parts as an English list: `a, b and c`."""
    return " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]])) if parts else ""


def sentence(text: str) -> str:
    """With a capital letter, unless it begins with an id or an e-mail address, and a full stop."""
    text = text.strip()
    start = text if _BEGINS_WITH_ID.match(text) else text[:1].upper() + text[1:]
    return start + ("" if text.endswith((".", "!", "?")) else ".")


_BEGINS_WITH_ID = re.compile(r"\S*[_@\d]")


_CONTRACTION = re.compile(
    r"\b(?:\w+n['\u2019]t"
    r"|(?:i|you|we|they|he|she|it|that|there|here|who|what|let)['\u2019](?:m|s|re|ve|ll|d))\b",
    re.IGNORECASE,
)


def has_contraction(text: str) -> bool:
    """Whether a text contracts words, as in "can't" or "I'll"."""
    return _CONTRACTION.search(text) is not None


def fact_forms(fact: Fact) -> Pool:
    """The usual texts of a fact's value."""
    if fact.type == "amount":
        dollars = f"{fact.value // 100:,}.{fact.value % 100:02}"
        return (f"${dollars}", f"${dollars.replace(',', '')}")
    return (str(fact.value),)
