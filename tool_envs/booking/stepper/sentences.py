"""The sentences of the array view, read once: what customers understand, and which facts are told.

All of them but proposals and reports are always the same, and so is what they mean to a customer who asks for
a fact of a type or for none.
"""

import functools
from collections.abc import Iterator
from typing import Annotated, Any, Final

import msgspec

from tool_envs.booking.desk import BOOKING_DESK
from tool_envs.booking.rows import STATUSES
from tool_envs.booking.scene.reasons import REASONS
from tool_envs.booking.scene.sight import (
    SLOTS,
    WISHES,
    WRITE_TOOLS,
)
from tool_envs.booking.scene.speech import VOICE
from tool_envs.booking.stepper.rows import FACTS
from tool_envs.messages import Json
from tool_envs.row_lists import as_bits
from tool_envs.rows import Row
from tool_envs.simulators.agenda_core import Heard, State
from tool_envs.simulators.agenda_plan import Node
from tool_envs.simulators.goal import Fact, UserGoal, Wish
from tool_envs.simulators.hearing import hear

KINDS: Final = (*WISHES, "question")
"""Kinds of wishes as refusals know them."""
QUESTION_KIND: Final = len(WISHES)
WHYS: Final = len(REASONS)
MOST_COUNTED: Final = 20
"""The most that is counted: free bags of a reservation, reservations."""

# Numbers of sentences: first the questions for `SLOTS`.
SAYS_MORE: Final = len(SLOTS)
SAYS_AMOUNT: Final = SAYS_MORE + 1
SAYS_STATUS: Final = SAYS_AMOUNT + 1
"""First of those that tell a status."""
SAYS_COUNT: Final = SAYS_STATUS + len(STATUSES)
"""First of those that tell a count, from 0."""
SAYS_PROPOSAL: Final = SAYS_COUNT + MOST_COUNTED + 1
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
        counts: Bits of the counts that it tells, in proposals without those of bags.
    """

    heard: Annotated[list[Heard], len(FACTS)]
    statuses: int
    counts: int


class Book(Row):
    """All sentences."""

    sentences: Annotated[list[Sentence], SENTENCES]


@functools.cache
def book() -> Book:
    """All sentences, read. Made once in a process.

    Raises:
        RuntimeError: A long proposal is understood differently from a short one.
    """
    sentences = [_read(text) for text in _texts()]
    for number, tool in enumerate(WRITE_TOOLS):
        if not _is_alike(_read(VOICE.propose(tool, _arguments(5))), sentences[SAYS_PROPOSAL + number]):
            raise RuntimeError(f"a long proposal of {tool} is understood differently from a short one")
    return Book(sentences)


def _is_alike(one: Sentence, other: Sentence) -> bool:
    """Whether two proposals mean the same; that one informs makes no difference, since it asks for a yes."""
    return all(
        msgspec.structs.replace(first, informs=second.informs) == second
        for first, second in zip(one.heard, other.heard, strict=True)
    )


def _arguments(people: int) -> dict[str, Any]:
    """Arguments of all writes."""
    passenger: Json = {"first_name": "Jane", "last_name": "Roe", "dob": "1990-05-12"}
    return {
        "user_id": "jane_roe_1234",
        "reservation_id": "A1BC2D",
        "origin": "BOS",
        "destination": "JFK",
        "flight_type": "one_way",
        "cabin": "economy",
        "flights": [{"flight_number": f"HAT00{day}", "date": f"2025-07-1{day}"} for day in (1, 2, 3, 4)],
        "passengers": [passenger] * people,
        "payment_methods": [{"payment_id": "credit_card_1234567", "amount": 100}] * people,
        "payment_id": "credit_card_1234567",
        "total_baggages": 0,
        "nonfree_baggages": 0,
        "insurance": "yes",
        "amount": 100,
    }


def _texts() -> Iterator[str]:
    """All sentences in order."""
    yield from (VOICE.ask([slot]) for slot in SLOTS)
    yield VOICE.more()
    yield VOICE.tell(Fact("amount", 123456, ""))
    yield from (VOICE.tell(Fact("status", status, "")) for status in STATUSES)
    yield from (VOICE.tell(Fact("count", count, "")) for count in range(MOST_COUNTED + 1))
    yield from (VOICE.propose(tool, _arguments(1)) for tool in WRITE_TOOLS)
    yield from (VOICE.report(tool, _arguments(1)) for tool in WRITE_TOOLS)
    yield from (VOICE.refuse(kind, why) for kind in KINDS for why in REASONS)


def _read(text: str) -> Sentence:
    facts = BOOKING_DESK.facts
    statuses = facts.values_in(text, "status", STATUSES)
    counts = [count for count in map(int, facts.values_in(text, "count")) if count <= MOST_COUNTED]
    return Sentence(
        heard=[_heard(text, fact) for fact in FACTS],
        statuses=sum({1 << STATUSES.index(str(status)) for status in statuses}),
        counts=as_bits(counts),
    )


def _heard(text: str, fact: str) -> Heard:
    """What somebody understands who asks for a fact of that type, or for nothing."""
    wish = Wish(kind="question", fact=Fact(fact, 0, "") if fact else None)
    node = Node(wish, 0, "", bool(fact), (), {}, {})
    phrases = BOOKING_DESK.phrases
    return hear(text, node, State(), UserGoal(phrases.language.domain, {}, (wish,)), phrases).heard
