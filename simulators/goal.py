"""What a simulated user wants: a goal of wishes, in the words of the user and in the arguments of tools."""

from typing import Literal

import msgspec

from tool_envs.messages import Json

Trait = Literal["terse", "talkative", "forgetful", "changes_mind", "insists", "reluctant"]
"""Terse and talkative users differ in words only. Forgetful ones do not know all their ids. Those who change
their mind do it once, before their first yes. Those who insist ask once more after a no. Reluctant ones give
their data only when asked a second time."""


class Value(msgspec.Struct, frozen=True):
    """A value that may be spoken of, and how.

    Attributes:
        value: What a tool's argument would hold (for lists: one element).
        forms: Texts that mean it, in lower case, the most telling one first: what users say, and what they
            understand. An id always means itself and need not stand here; without any form, a text does.
    """

    value: Json
    forms: tuple[str, ...] = ()


class Fact(msgspec.Struct, frozen=True):
    """Something that the user asks and must be told.

    Attributes:
        type: `amount` (cents), `count`, `status`, `id`, `word`: how it is looked for in what was said.
        value: The right answer.
        question: How the user asks, a whole sentence.
    """

    type: str
    value: Json
    question: str


class Wish(msgspec.Struct, frozen=True):
    """One thing that the user wants.

    Attributes:
        kind: The family, as the language file of the domain knows it (`cancel`, `exchange`, `question` ...).
        tool: The write that fulfils it; empty when there is none (a question, a wish that the rules forbid).
        accepted: Every set of arguments with which that write is right; all have what the user insists on,
            and the same names, also in objects. No two arguments have a member of the same name.
        words: Slot -> how the user says what they want in it ("my PayPal account").
        means: Slot -> the value that its words stand for, where it is no argument of the write
            (`{"reason": "weather"}`).
        opening: How they bring it up, a whole sentence made from `words`.
        fact: What they must be told, for a question.
        forbidden: The rules forbid it: a no is the right answer.
        evidence: Ids of the records that an agent must have looked up to know the answer, or that it is no.
        otherwise: What they want instead after a no, or when it turns out impossible.
    """

    kind: str
    tool: str = ""
    accepted: tuple[dict[str, Json], ...] = ()
    words: dict[str, str] = {}
    means: dict[str, Json] = {}
    opening: str = ""
    fact: Fact | None = None
    forbidden: bool = False
    evidence: tuple[str, ...] = ()
    otherwise: "Wish | None" = None


class UserGoal(msgspec.Struct, frozen=True):
    """All that a simulated user knows.

    Attributes:
        domain: Whose language file they speak.
        knows: Slot -> what they can say of themselves when asked (`email`, `name`, `zip`, `order_id` ...); a
            slot that is missing is answered with "I do not know".
        wishes: What they want, in this order.
        lexicon: Slot -> all values of it that could come up with this user: those that they want, and others
            of theirs (other orders, items, payment methods), so that a wrong one is noticed.
        traits: How they are.
        conditions: What they demand of every reply, checkable: `{"max_characters": 300}`,
            `{"only_the_total": true}`, `{"language": "English"}`, `{"formal": true}` (no contractions);
            said in the first turn.
    """

    domain: str
    knows: dict[str, str]
    wishes: tuple[Wish, ...]
    lexicon: dict[str, tuple[Value, ...]] = {}
    traits: tuple[Trait, ...] = ()
    conditions: dict[str, Json] = {}
