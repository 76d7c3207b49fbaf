"""Dialogue acts to sentences: seeded templates, for the simulated user and for an agent that speaks properly.

Every choice is a function of (key, turn, number of the choice). What `AgentVoice` says is read back by
`understanding.read` as exactly the act that was meant; tests hold the two together.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import msgspec

from tool_envs.messages import Json
from tool_envs.randomness import draw_below
from tool_envs.simulators.goal import Fact
from tool_envs.simulators.language import Language

Pool = tuple[str, ...]
"""Sentences of equal meaning, with `{fields}`."""
Said = tuple[str, str, str]
"""A sentence of the user to be: act, slot, their own words for it."""


class Phrases(msgspec.Struct, frozen=True, dict=True):
    """What a domain adds to the shared sentences.

    Attributes:
        language: Whose sentences these are, and how they are read.
        slots: What an agent may ask a user for -> the arguments of tools that it fills.
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
        identifying: Arguments that tell which record or thing is meant.
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
    identifying: frozenset[str]
    look_alikes: tuple[frozenset[str], ...]
    conditions: dict[str, Pool]

    @cached_property
    def slot_of_argument(self) -> dict[str, str]:
        """Argument -> its slot; rather one of the wish than one that says who the user is."""
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
        formal: Without contractions (a user may demand that, too).
    """

    def __init__(
        self, phrases: Phrases, key: int, turn: int, brief: bool = False, formal: bool = False
    ) -> None:
        self._phrases = phrases
        self._dice = Dice(key, turn)
        self._brief = brief
        self._formal = formal

    def ask(self, slots: Iterable[str]) -> str:
        """Asks for the values of slots; `intent` and `other` ask what the user wants and for more details."""
        named = [self._phrases.questions[slot] for slot in slots if slot in self._phrases.questions]
        asked = [self._pick(_ASK, 0).format(slots=join(named))] if named else []
        return " ".join(asked + [self._pick(_ASK_OPEN[slot], 1) for slot in slots if slot in _ASK_OPEN])

    def propose(self, tool: str, arguments: Mapping[str, Json], words: Mapping[str, str] = {}) -> str:
        """Puts a write to the user, with all its arguments, and asks for a yes.

        Args:
            tool: The write.
            arguments: All its arguments.
            words: Value (an id) -> what it is called ("Desk Lamp", "black, USB", "PayPal"); named beside the
                id, or not at all in brief speech.
        """
        pool = (self._phrases.brief_deeds[tool],) if self._brief else self._phrases.deeds[tool]
        deed = self._pick(pool, 0).format(**self._fields(arguments, words))
        return sentence(self._pick(_BRIEF_PROPOSE if self._brief else _PROPOSE, 1).format(deed=deed))

    def report(self, tool: str, arguments: Mapping[str, Json], words: Mapping[str, str] = {}) -> str:
        """Says that a write was done, and offers more help."""
        pool = self._phrases.results[tool][:1] if self._brief else self._phrases.results[tool]
        done = sentence(self._pick(pool, 0).format(**self._fields(arguments, words)))
        opener = "" if self._brief else self._pick(_DONE, 1)
        return f"{opener}{done} {self.more()}"

    def tell(self, fact: Fact) -> str:
        """Answers a question with its value in a usual form, and says nothing else."""
        return self._pick(_TELL[fact.type], 0).format(value=self._pick(fact_forms(fact), 1))

    def refuse(self, kind: str, why: str) -> str:
        """Says that a wish cannot be fulfilled and why, and offers more help.

        Args:
            kind: Kind of the wish.
            why: Code of `Phrases.reasons`, or a clause of one's own.
        """
        deed = self._phrases.refusals.get(kind, "do that")
        clause = self._phrases.reasons.get(why, why)
        return f"{self._pick(_REFUSE, 0).format(deed=deed, why=clause)} {self.more()}"

    def more(self) -> str:
        """Offers more help."""
        return self._pick(_BRIEF_MORE if self._brief else _MORE, 9)

    def transfer(self) -> str:
        """Says that a human takes over."""
        return self._pick(_TRANSFER, 0)

    def _pick(self, pool: Pool, k: int) -> str:
        fitting = tuple(text for text in pool if not has_contraction(text)) if self._formal else pool
        return self._dice.pick(fitting, k)

    def _fields(self, arguments: Mapping[str, Json], words: Mapping[str, str]) -> dict[str, str]:
        return self._phrases.fields(arguments, {} if self._brief else words)


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
    "Kindly provide {slots}.",
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
        "Could you please provide any additional details?",
        "Please provide any additional information.",
        "Could you please share any additional details?",
        "Can you give me any additional information, please?",
        "Could you please give me any other details?",
        "Please tell me any other details.",
        "Could you please tell me any additional details?",
        "Please share any additional information.",
        "Can you please provide any other information?",
        "Could you please provide any more details?",
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
    "Is there something else that you need help with, or anything else at all?",
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
        "There are {value}.",
        "There are {value} of them.",
        "There are {value} in total.",
        "Here is the number: {value}.",
        "Here is your answer: {value}.",
        "Here is the count: {value}.",
        "According to our records, there are {value}.",
        "Our records show that there are {value}.",
        "There are exactly {value}.",
        "Here is what I counted: {value}.",
    ),
    "status": (
        "It is currently {value}.",
        'It is currently "{value}".',
        "Here is the status: {value}.",
        'Here is its current status: "{value}".',
        "According to our records, it is currently {value}.",
        "Here is your answer: {value}.",
        "It is currently shown as {value}.",
        "Here is what our records show: {value}.",
        'It is currently marked as "{value}".',
        "At the moment it is in the status {value}.",
    ),
    "id": (
        "Here is the ID: {value}.",
        "Here is your answer: {value}.",
        "Here is what I found: {value}.",
        "Here is the one you asked for: {value}.",
        "Here is the number: {value}.",
        "Here is what our records show: {value}.",
        "Here is what you asked for: {value}.",
        "Here is the one I found: {value}.",
        "Here is what you are looking for: {value}.",
        "According to our records, here is the ID: {value}.",
    ),
    "word": (
        "Here is your answer: {value}.",
        "Here is what I found: {value}.",
        "Here is what our records show: {value}.",
        "Here is what you asked for: {value}.",
        'Here is what the records say: "{value}".',
        "Here is the answer: {value}.",
        "It is currently {value}.",
        "According to our records, it is currently {value}.",
        "Here is what is in our records: {value}.",
        'Here is what stands there: "{value}".',
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

    def say(self, moves: Sequence[Said]) -> str:
        """The text of a turn.

        Args:
            moves: What is said, in order.
        """
        said = [self._one(act, slot, words, k) for k, (act, slot, words) in enumerate(moves)]
        if "talkative" in self.traits:
            said = [*self._small_talk(0, _BEFORE), *said, *self._small_talk(1, _AFTER)]
        return " ".join(filter(None, said))

    def _one(self, act: str, slot: str, words: str, k: int) -> str:
        pools = _SHORT if "terse" in self.traits else _PLAIN
        pool = self.phrases.conditions[slot] if act == "condition" else pools[act]
        noun = self.phrases.nouns.get(slot, "that")
        phrase = self.phrases.wants.get(slot, "{words}").replace("{words}", words)
        return sentence(self.dice.pick(pool, k).format(words=words, noun=noun, phrase=phrase))

    def _small_talk(self, k: int, pool: Pool) -> list[str]:
        """In about two turns of three."""
        return [self.dice.pick(pool, 100 + k)] if draw_below(3, self.dice.key, 1, self.dice.turn, k) else []


def shared_pools() -> dict[str, Json]:
    """All sentences that are not a domain's own."""
    return {"plain": _PLAIN, "short": _SHORT, "talk": [_BEFORE, _AFTER]}


# The acts of a user with their shades: `again` is a wish said anew, `unknown` an inform without a value,
# `add` a part of a yes.
_PLAIN: dict[str, Pool] = {
    "wish": (
        "{words}",
        "Hi. {words}",
        "Hello! {words}",
        "Hello there. {words}",
        "Good day. {words}",
        "Hi there! {words}",
        "Hey there! {words}",
        "Here is what I need: {words}",
        "Maybe you can help me. {words}",
        "Please help me with this: {words}",
    ),
    "next": (
        "Next: {words}",
        "There is something else: {words}",
        "I have another request. {words}",
        "One more thing: {words}",
        "Then there is this: {words}",
        "Now to my next point. {words}",
        "And another thing: {words}",
        "I also need this: {words}",
        "Also: {words}",
        "Besides that: {words}",
    ),
    "otherwise": (
        "In that case: {words}",
        "Then let us do this: {words}",
        "All right, then: {words}",
        "Well, then: {words}",
        "If so: {words}",
        "Okay, then I would like this: {words}",
        "Then my second choice: {words}",
        "I see. Then: {words}",
        "Fine, then: {words}",
        "Then please do this instead: {words}",
    ),
    "again": (
        "As I said: {words}",
        "What I want is still this: {words}",
        "Let me say it again. {words}",
        "My request is still open: {words}",
        "Let us get back to this: {words}",
        "To repeat it: {words}",
        "I still need this: {words}",
        "Once more: {words}",
        "This is what I am here for: {words}",
        "Again, my request: {words}",
    ),
    "inform": (
        "{noun} is {words}",
        "{noun}: {words}",
        "Sure, {noun} is {words}",
        "Of course, {noun} is {words}",
        "It is {words} ({noun})",
        "Here is {noun}: {words}",
        "You asked for {noun}: {words}",
        "For {noun}: {words}",
        "{noun} would be {words}",
        "As for {noun}: {words}",
    ),
    "unknown": (
        "I do not know {noun}",
        "I don't remember {noun}",
        "Sorry, I do not know {noun}",
        "I am not sure about {noun}",
        "I cannot tell you {noun}",
        "I have no idea about {noun}",
        "I don't have {noun} at hand",
        "I don't know {noun}, sorry",
        "I am afraid I do not know {noun}",
        "{noun}? I do not know",
    ),
    "hold_back": (
        "Why do you need that?",
        "What do you need that for?",
        "I would rather not say. Why do you need it?",
        "Is that really needed?",
        "Why are you asking for that?",
        "Do you really need that from me?",
        "I do not like to give out my data. What is it for?",
        "Hm, why would you need to know that?",
        "May I ask why you need it?",
        "I prefer not to share that. Is there no other way?",
    ),
    "affirm": (
        "Yes, please",
        "Yes, that is right",
        "Yes, go ahead",
        "Yes, please do that",
        "Correct, please go ahead",
        "That is right, yes",
        "Yes, I agree",
        "Yes, please proceed",
        "Sure, yes",
        "Yes, that is what I want",
    ),
    "add": (
        "And {phrase}",
        "Also, {phrase}",
        "By the way, {phrase}",
        "One detail: {phrase}",
        "Just note: {phrase}",
        "And to be clear, {phrase}",
        "In case you need it: {phrase}",
        "And remember, {phrase}",
        "For that, {phrase}",
        "To be complete, {phrase}",
    ),
    "deny": (
        "No",
        "No, please don't",
        "No, that is not what I want",
        "No, that is not right",
        "No, do not do that",
        "No, thank you, not that",
        "No, stop",
        "No, I do not want that",
        "No, that is wrong",
        "No, please do not do that",
    ),
    "correct": (
        "{phrase}",
        "Instead, {phrase}",
        "Rather, {phrase}",
        "To correct that: {phrase}",
        "As I see it, {phrase}",
        "Let me be clear: {phrase}",
        "There is a mistake: {phrase}",
        "Please note: {phrase}",
        "You mixed something up: {phrase}",
        "Here is what is right: {phrase}",
    ),
    "change": (
        "Actually, I changed my mind: {phrase}",
        "On second thought, {phrase}",
        "Wait, I thought about it again: {phrase}",
        "I have changed my mind, {phrase}",
        "Hold on, I prefer something else: {phrase}",
        "Sorry, I want it differently now: {phrase}",
        "Let me change that: {phrase}",
        "I know that I said otherwise, but {phrase}",
        "Thinking about it again, {phrase}",
        "Hm, let us do it differently: {phrase}",
    ),
    "ask_details": (
        "What exactly would you do?",
        "Could you tell me the details first?",
        "Go ahead with what exactly? Please name the details",
        "Before I agree, please tell me exactly what will be done",
        "Which change do you mean, in detail?",
        "I would like to hear the details before I say yes",
        "Please spell out what you are about to do",
        "With what exactly? Please say it in full",
        "What would be changed, and how?",
        "Please list everything that you would change",
    ),
    "ask_again": (
        "Sorry, I did not understand that. Could you say it differently?",
        "I don't understand. What do you mean?",
        "Could you put that in other words, please?",
        "Sorry, I could not follow. Please say that again",
        "I am not sure what you mean",
        "Pardon? Please say it more plainly",
        "I did not get that. Please explain",
        "What do you mean by that?",
        "Could you please rephrase that?",
        "Sorry, you lost me. Once more, please?",
    ),
    "insist": (
        "I really need this",
        "Surely there is a way",
        "But this matters to me. Please check again",
        "Can't you make an exception?",
        "Please try again, I insist",
        "That can't be right. Please look again",
        "Are you sure? I insist on it",
        "I do not accept that. Please see what you can do",
        "There must be something you can do",
        "Come on, please make it possible",
    ),
    "accept_no": (
        "All right, I accept that",
        "Too bad, but I understand",
        "I see. Then leave it as it is",
        "Okay, then not",
        "I understand. Let us drop it",
        "Fine, then there is nothing to be done",
        "That is a pity, but all right",
        "Okay, I take no for an answer",
        "Then forget about it",
        "Understood, then we leave that",
    ),
    "wait": (
        "All right. Please tell me when it is done",
        "Okay, I will wait",
        "Sure, take your time",
        "Fine. Let me know when you have the result",
        "I am waiting for the result",
        "Good. Please tell me once it is finished",
        "Okay, I am still here",
        "That is fine. I will hold on",
        "All right, let me know how it went",
        "I will stay on the line",
    ),
    "thank": (
        "Thank you",
        "Thanks",
        "Thank you very much",
        "Great, thank you",
        "Thanks a lot",
        "Perfect, thanks",
        "Many thanks",
        "Wonderful, thank you",
        "Thank you for your help",
        "Very good, thanks",
    ),
    "bye": (
        "That is all. Goodbye",
        "That was everything. Bye",
        "Nothing else. Goodbye",
        "I have no more requests. Have a nice day",
        "That will be all. Goodbye",
        "I am done here. Bye",
        "That's it from me. Goodbye",
        "There is nothing more. Bye",
        "This is all for now. Goodbye",
        "Goodbye, have a good day",
    ),
}
_SHORT: dict[str, Pool] = _PLAIN | {
    "wish": ("{words}",),
    "next": ("Next: {words}", "Also: {words}", "{words}"),
    "otherwise": ("Then: {words}", "If so: {words}"),
    "again": ("{words}", "Again: {words}"),
    "inform": ("{words}", "{noun}: {words}"),
    "unknown": ("Don't know {noun}", "No idea about {noun}"),
    "hold_back": ("Why?", "What for?"),
    "affirm": ("Yes", "Yes, go ahead", "Right, yes"),
    "add": ("{phrase}",),
    "deny": ("No", "No, wrong"),
    "correct": ("{phrase}",),
    "change": ("Changed my mind: {phrase}", "No, rather: {phrase}"),
    "ask_details": ("Details?", "What exactly?"),
    "ask_again": ("I don't understand", "What?"),
    "insist": ("I insist", "Try again"),
    "accept_no": ("Okay, then not", "Fine, forget it"),
    "wait": ("Okay, waiting", "Tell me when it's done"),
    "thank": ("Thanks", "Good"),
    "bye": ("Bye", "That's all"),
}
_BEFORE: Pool = (
    "What a day it has been.",
    "It has been raining here all morning.",
    "I was just having a coffee.",
    "You are so kind to take the time.",
    "My dog is barking, please excuse the noise.",
    "I hope that you are having a good day.",
    "I am a little out of breath, I ran to the phone.",
    "My neighbor told me how friendly you people are.",
    "I am writing this on the train.",
    "The kids are finally asleep.",
)
_AFTER: Pool = (
    "I do like shopping with you.",
    "By the way, the weather is lovely today.",
    "I always tell my friends about you.",
    "My sister says hello.",
    "Time flies, does it not?",
    "I am looking forward to the weekend.",
    "You must be busy these days.",
    "I should really get some sleep tonight.",
    "Anyway, enough about me.",
    "It is a pleasure to talk to you.",
)
