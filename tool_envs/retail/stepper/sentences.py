"""The sentences of the array view, read once: what customers understand, and which facts are told.

All of them but proposals and reports are always the same, and so is what they mean to a customer who asks for
a fact of a type or for none.
"""

import functools
from collections.abc import Iterator
from typing import Annotated, Final, NamedTuple

from tool_envs.messages import Json
from tool_envs.retail.desk import RETAIL_DESK
from tool_envs.retail.rows import STATUSES
from tool_envs.retail.scene.reasons import REASONS
from tool_envs.retail.scene.sight import MAX_VARIANTS, SLOTS, WISHES, WRITE_TOOLS, Shelves
from tool_envs.retail.scene.speech import VOICE
from tool_envs.retail.stepper.rows import FACTS
from tool_envs.row_lists import as_bits
from tool_envs.rows import Row
from tool_envs.simulators.agenda_core import Heard, State
from tool_envs.simulators.agenda_plan import Node
from tool_envs.simulators.goal import Fact, UserGoal, Wish
from tool_envs.simulators.hearing import hear

KINDS: Final = (*("items" if kind == "swap" else kind for kind in WISHES), "exchange", "question")
"""Kinds of wishes as refusals know them."""
WHYS: Final = len(REASONS)

# Numbers of sentences: first the questions for `SLOTS`.
SAYS_MORE: Final = len(SLOTS)
SAYS_AMOUNT: Final = SAYS_MORE + 1
SAYS_STATUS: Final = SAYS_AMOUNT + 1
"""First of those that tell a status."""
SAYS_COUNT: Final = SAYS_STATUS + len(STATUSES)
"""First of those that tell a count, from 0."""
SAYS_PROPOSAL: Final = SAYS_COUNT + MAX_VARIANTS + 1
"""First of those that propose one of `WRITE_TOOLS`."""
SAYS_REPORT: Final = SAYS_PROPOSAL + len(WRITE_TOOLS)
"""First of those that say that one was made."""
SAYS_REFUSAL: Final = SAYS_REPORT + len(WRITE_TOOLS)
"""First of those that refuse a wish, for each kind and each reason."""
SENTENCES: Final = SAYS_REFUSAL + len(KINDS) * WHYS


class Sentence(Row):
    """One sentence.

    Attributes:
        heard: What is understood by a customer who asks for one of `FACTS`; in proposals and reports without
            the comparison with what they want.
        statuses: Bits of the statuses that it tells.
        counts: Bits of the counts that it tells.
    """

    heard: Annotated[list[Heard], len(FACTS)]
    statuses: int
    counts: int


class Book(Row):
    """All sentences."""

    sentences: Annotated[list[Sentence], SENTENCES]


class Store(NamedTuple):
    """What never changes.

    Attributes:
        shelves: What there is in the store.
        book: What the agent can say.
    """

    shelves: Shelves
    book: Book


@functools.cache
def book() -> Book:
    """All sentences, read. Made once in a process.

    Raises:
        RuntimeError: A sentence means something that cannot be known beforehand.
    """
    return Book([_read(text) for text in _texts()])


_ARGUMENTS: dict[str, Json] = {
    "order_id": "#W0000000",
    "item_ids": ["0000000001"],
    "new_item_ids": ["0000000002"],
    "payment_method_id": "paypal_0000000",
    "reason": "no longer needed",
    "address1": "Oak Street",
    "city": "Denver",
    "state": "CO",
    "zip": "80201",
    "country": "USA",
}


def _texts() -> Iterator[str]:
    """All sentences in order."""
    yield from (VOICE.ask([slot]) for slot in SLOTS)
    yield VOICE.more()
    yield VOICE.tell(Fact("amount", 123456, ""))
    yield from (VOICE.tell(Fact("status", status, "")) for status in STATUSES)
    yield from (VOICE.tell(Fact("count", count, "")) for count in range(MAX_VARIANTS + 1))
    yield from (VOICE.propose(tool, _ARGUMENTS) for tool in WRITE_TOOLS)
    yield from (VOICE.report(tool, _ARGUMENTS) for tool in WRITE_TOOLS)
    yield from (VOICE.refuse(kind, why) for kind in KINDS for why in REASONS)


def _read(text: str) -> Sentence:
    facts = RETAIL_DESK.facts
    statuses = facts.values_in(text, "status", STATUSES)
    counts = [count for count in map(int, facts.values_in(text, "count")) if count <= MAX_VARIANTS]
    return Sentence(
        heard=[_heard(text, fact) for fact in FACTS],
        statuses=sum({1 << STATUSES.index(str(status)) for status in statuses}),
        counts=as_bits(counts),
    )


def _heard(text: str, fact: str) -> Heard:
    """What somebody understands who asks for a fact of that type, or for nothing."""
    wish = Wish(kind="question", fact=Fact(fact, 0, "") if fact else None)
    node = Node(wish, 0, "", bool(fact), (), {}, {})
    phrases = RETAIL_DESK.phrases
    return hear(text, node, State(), UserGoal(phrases.language.domain, {}, (wish,)), phrases).heard
