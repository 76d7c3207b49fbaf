"""What an agent that speaks properly says: dialogue acts to sentences, by seeded templates.

All of it is read back by `understanding.read` as exactly the act that was meant; tests hold the two together.
"""

from collections.abc import Iterable, Mapping

from tool_envs.messages import Json
from tool_envs.simulators.goal import Fact
from tool_envs.simulators.phrasing import Dice, Phrases, Pool, fact_forms, has_contraction, join, sentence


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
        return sentence(self._pick(self._questions(len(deed) > _LONG_DEED), 1).format(deed=deed))

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

    def _questions(self, long: bool) -> Pool:
        """Sentences that ask for a yes; a long deed stands before the question, not in it."""
        if self._brief:
            return _BRIEF_PROPOSE_LONG if long else _BRIEF_PROPOSE
        return tuple(text for text in _PROPOSE if "{deed}." in text) if long else _PROPOSE

    def _pick(self, pool: Pool, k: int) -> str:
        fitting = tuple(text for text in pool if not has_contraction(text)) if self._formal else pool
        return self._dice.pick(fitting, k)

    def _fields(self, arguments: Mapping[str, Json], words: Mapping[str, str]) -> dict[str, str]:
        return self._phrases.fields(arguments, {} if self._brief else words)


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
        "How can I assist you with that today?",
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
_BRIEF_PROPOSE_LONG: Pool = (
    "{deed}. Shall I go ahead?",
    "{deed}. Should I do that?",
    "{deed}. May I do that?",
)
_LONG_DEED = 400  # characters; nobody follows a question that is longer
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
