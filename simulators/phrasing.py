"""Dialogue acts to sentences: seeded templates, for the simulated user and for an agent that speaks properly.

Every choice is a function of (key, turn, number of the choice). What `AgentVoice` says is read back by
`understanding.read` as exactly the act that was meant; tests hold the two together.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from tool_envs.messages import Json
from tool_envs.randomness import draw_below
from tool_envs.simulators.goal import Fact

Pool = tuple[str, ...]
"""Sentences of equal meaning, with `{fields}`."""


class Phrases(msgspec.Struct, frozen=True):
    """What a domain adds to the shared sentences.

    Attributes:
        domain: Whose sentences these are.
        slots: What an agent may ask a user for -> the arguments of tools that it fills.
        questions: Slot -> what the agent asks for: "your email address".
        nouns: Slot -> what the user calls their answer: "my email address".
        additions: Slot or argument -> how the user adds a value to their yes.
        wants: Slot or argument -> how the user says which value they want, correcting the agent.
        fields: From the arguments of a write and the words for values: the fields of deeds and results.
        deeds: Write -> what it does, as infinitives with fields: "cancel order {order_id}".
        brief_deeds: The same in as few words as possible.
        results: Write -> sentences that it was done, with fields.
        refusals: Kind of wish -> what cannot be done: "cancel this order".
        reasons: Why not: code -> clause.
        identifying: Arguments that tell which record or thing is meant.
        look_alikes: Groups of writes that people call by the same words.
        conditions: What a user may demand of every reply -> how they say it.
    """

    domain: str
    slots: dict[str, tuple[str, ...]]
    questions: dict[str, str]
    nouns: dict[str, str]
    additions: dict[str, str]
    wants: dict[str, str]
    fields: Callable[[Mapping[str, Json], Mapping[str, str]], dict[str, str]]
    deeds: dict[str, Pool]
    brief_deeds: dict[str, str]
    results: dict[str, Pool]
    refusals: dict[str, str]
    reasons: dict[str, str]
    identifying: frozenset[str]
    look_alikes: tuple[frozenset[str], ...]
    conditions: dict[str, Pool]


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
    """With a capital letter and a full stop."""
    text = text.strip()
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")


class AgentVoice:
    """What a well-spoken agent says, one turn of it.

    Args:
        phrases: The domain's sentences.
        key: 64-bit key of the choices.
        turn: Number of the turn.
        brief: As short as possible (a user may demand it).
    """

    def __init__(self, phrases: Phrases, key: int, turn: int, brief: bool = False) -> None:
        self._phrases = phrases
        self._dice = Dice(key, turn)
        self._brief = brief

    def ask(self, slots: Iterable[str]) -> str:
        """Asks for the values of slots; `intent` and `other` ask what the user wants and for more details."""
        named = [self._phrases.questions[slot] for slot in slots if slot in self._phrases.questions]
        asked = [self._dice.pick(_ASK, 0).format(slots=join(named))] if named else []
        return " ".join(asked + [self._dice.pick(_ASK_OPEN[slot], 1) for slot in slots if slot in _ASK_OPEN])

    def propose(self, tool: str, arguments: Mapping[str, Json], words: Mapping[str, str] = {}) -> str:  # noqa: B006 - never changed
        """Puts a write to the user, with all its arguments, and asks for a yes.

        Args:
            tool: The write.
            arguments: All its arguments.
            words: Value (an id) -> what it is called ("Desk Lamp", "black, USB", "PayPal"); named beside the
                id, or not at all in brief speech.
        """
        pool = (self._phrases.brief_deeds[tool],) if self._brief else self._phrases.deeds[tool]
        deed = self._dice.pick(pool, 0).format(**self._fields(arguments, words))
        return sentence(self._dice.pick(_BRIEF_PROPOSE if self._brief else _PROPOSE, 1).format(deed=deed))

    def report(self, tool: str, arguments: Mapping[str, Json], words: Mapping[str, str] = {}) -> str:  # noqa: B006 - never changed
        """Says that a write was done, and offers more help."""
        pool = self._phrases.results[tool][:1] if self._brief else self._phrases.results[tool]
        done = sentence(self._dice.pick(pool, 0).format(**self._fields(arguments, words)))
        opener = "" if self._brief else self._dice.pick(_DONE, 1)
        return f"{opener}{done} {self.more()}"

    def tell(self, fact: Fact) -> str:
        """Answers a question with its value in a usual form, and says nothing else."""
        return self._dice.pick(_TELL[fact.type], 0).format(value=self._dice.pick(fact_forms(fact), 1))

    def refuse(self, kind: str, why: str) -> str:
        """Says that a wish cannot be fulfilled and why, and offers more help.

        Args:
            kind: Kind of the wish.
            why: Code of `Phrases.reasons`, or a clause of one's own.
        """
        deed = self._phrases.refusals.get(kind, "do that")
        clause = self._phrases.reasons.get(why, why)
        return f"{self._dice.pick(_REFUSE, 0).format(deed=deed, why=clause)} {self.more()}"

    def more(self) -> str:
        """Offers more help."""
        return self._dice.pick(_BRIEF_MORE if self._brief else _MORE, 9)

    def transfer(self) -> str:
        """Says that a human takes over."""
        return self._dice.pick(_TRANSFER, 0)

    def _fields(self, arguments: Mapping[str, Json], words: Mapping[str, str]) -> dict[str, str]:
        return self._phrases.fields(arguments, {} if self._brief else words)


def fact_forms(fact: Fact) -> Pool:
    """The usual texts of a fact's value."""
    if fact.type == "amount":
        dollars = f"{fact.value // 100:,}.{fact.value % 100:02}"
        return (f"${dollars}", f"${dollars.replace(',', '')}")
    return (str(fact.value),)


_ASK: Pool = (
    "Could you please tell me {slots}?",
    "Please tell me {slots}.",
    "Could you give me {slots}, please?",
    "May I have {slots}, please?",
    "Could you please provide {slots}?",
    "Please provide {slots}.",
    "To help you with this, I need {slots}. Could you please provide that?",
    "Can you tell me {slots}?",
    "Would you please share {slots}?",
    "What is needed next is {slots}. Please provide it.",
    "Could you please let me know {slots}?",
)
_ASK_OPEN: dict[str, Pool] = {
    "intent": (
        "How can I help you today?",
        "What can I do for you today?",
        "How can I assist you today?",
        "How may I help you?",
        "What can I help you with today?",
        "How can I assist you with your orders?",
        "How may I assist you today?",
        "What would you like to do today?",
        "What would you like me to do?",
        "What can I do for you?",
    ),
    "other": (
        "Could you please give me more details?",
        "Could you please provide more details?",
        "Please give me more details.",
        "Please provide some more details.",
        "Can you give me more details, please?",
        "Could you please share more details?",
        "Could you please provide additional details?",
        "Please share some more details.",
        "Can you provide more details, please?",
        "Could you give me some more details, please?",
    ),
}
_PROPOSE: Pool = (
    "Shall I {deed}?",
    "Would you like me to {deed}?",
    "Do you want me to {deed}?",
    "I can {deed}. Would you like to proceed?",
    "To confirm, I would {deed}. Is that correct?",
    "I am ready to {deed}. Do you confirm (yes/no)?",
    "Here is what I would do: {deed}. Shall I go ahead?",
    "I would {deed}. Do you agree?",
    "Just to confirm: should I {deed}?",
    "You would like to {deed}. Is that right?",
    "With your permission I will {deed}. Do you want me to proceed?",
)
_BRIEF_PROPOSE: Pool = ("Shall I {deed}?", "Should I {deed}?", "May I {deed}?")
_DONE: Pool = (
    "",
    "Done. ",
    "All set. ",
    "Thank you for confirming. ",
    "Thank you. ",
    "Good news. ",
    "Great. ",
    "That is done. ",
    "Thank you for your patience. ",
    "Perfect. ",
)
_MORE: Pool = (
    "Is there anything else I can help you with?",
    "Is there anything else I can do for you?",
    "Is there anything else I can assist you with today?",
    "Is there anything else you need?",
    "If there is anything else you need, feel free to ask!",
    "If you need any further assistance, please let me know.",
    "Do you need help with anything else?",
    "Can I help you with anything else today?",
    "Please let me know if there is anything else I can help with.",
    "If you have any other questions, feel free to ask!",
    "Let me know if you need anything else.",
)
_BRIEF_MORE: Pool = ("Anything else?", "Is there anything else?")
_TELL: dict[str, Pool] = {
    "amount": (
        "The total is {value}.",
        "It comes to {value}.",
        "The amount is {value}.",
        "That is {value}.",
        "It is {value}.",
        "The total amount is {value}.",
        "That comes to {value}.",
        "In total that is {value}.",
        "It amounts to {value}.",
        "The answer is {value}.",
    ),
    "count": (
        "The number is {value}.",
        "There are {value} of them.",
        "I count {value} of them.",
        "The answer is {value}.",
        "The count is {value}.",
        "In total there are {value}.",
        "According to our records, there are {value}.",
        "Our records show {value} of them.",
        "I found {value} of them.",
        "The records say {value}.",
    ),
    "status": (
        "The status is {value}.",
        'Its status is "{value}".',
        "It is currently {value}.",
        "Its current status is {value}.",
        "According to our records, the status is {value}.",
        'Our records show the status "{value}".',
        'The status is shown as "{value}".',
        "At the moment the status is {value}.",
        "The current status is {value}.",
        'It is marked as "{value}".',
    ),
    "id": (
        "The ID is {value}.",
        "It is {value}.",
        "According to our records, it is {value}.",
        "The answer is {value}.",
        "That is {value}.",
        "I found it: {value}.",
        "Its ID is {value}.",
        "Our records show {value}.",
        "The one you mean is {value}.",
        "The number you are looking for is {value}.",
    ),
    "word": (
        "It is {value}.",
        "The answer is {value}.",
        "According to our records, it is {value}.",
        "Our records show {value}.",
        'The records say "{value}".',
        "That is {value}.",
        "I found it: {value}.",
        "What you asked for is {value}.",
        "It is recorded as {value}.",
        "In our records it is {value}.",
    ),
}
_REFUSE: Pool = (
    "I am sorry, but I cannot {deed}, because {why}.",
    "Unfortunately, I cannot {deed}, since {why}.",
    "I am afraid that I am unable to {deed}, because {why}.",
    "I apologize, but it is not possible to {deed}, because {why}.",
    "I am sorry, but our policy does not allow me to {deed}, since {why}.",
    "Sorry, I can't {deed}, because {why}.",
    "Unfortunately, it is not possible to {deed}, since {why}.",
    "I regret that I am not able to {deed}, because {why}.",
    "I understand your wish, but I cannot {deed}, because {why}.",
    "I am sorry, I am not able to {deed}, since {why}.",
)
_TRANSFER: Pool = (
    "I am transferring you to a human agent.",
    "I am transferring you to a human agent now.",
    "I will transfer you to a human agent now.",
    "You are being transferred to a human agent.",
    "I'm transferring you to a human agent, please hold on.",
    "I will now transfer you to a human agent.",
    "I'll transfer you to a human agent who will take over.",
    "Please hold on, I am transferring you to a human agent.",
    "I am now transferring you to one of our human agents.",
    "I will transfer you to one of our human agents.",
)


class UserVoice(NamedTuple):
    """What a user says in one turn.

    Attributes:
        phrases: The domain's sentences.
        traits: How the user is.
        dice: The choices of the turn.
    """

    phrases: Phrases
    traits: tuple[str, ...]
    dice: Dice

    def say(self, moves: Sequence[tuple[str, str, str]]) -> str:
        """The text of a turn.

        Args:
            moves: What is said, in order: (act, slot or argument, the user's own words for it).
        """
        said = [self._one(act, slot, words, k) for k, (act, slot, words) in enumerate(moves)]
        if "talkative" in self.traits:
            said = [*self._small_talk(0, _BEFORE), *said, *self._small_talk(1, _AFTER)]
        return " ".join(filter(None, said))

    def _one(self, act: str, slot: str, words: str, k: int) -> str:
        pools = _SHORT if "terse" in self.traits else _PLAIN
        pool = self.phrases.conditions[slot] if act == "condition" else pools[act]
        noun = self.phrases.nouns.get(slot, "it")
        return sentence(self.dice.pick(pool, k).format(words=words, noun=noun))

    def _small_talk(self, k: int, pool: Pool) -> list[str]:
        """In about two turns of three."""
        return [self.dice.pick(pool, 100 + k)] if draw_below(3, self.dice.key, 1, self.dice.turn, k) else []


# The acts of a user, and `unknown`, `why` and `again`, which are shades of `inform`, `hold_back` and `wish`.
_PLAIN: dict[str, Pool] = {}
_SHORT: dict[str, Pool] = {}
_BEFORE: Pool = ()
_AFTER: Pool = ()
