"""What the simulated user says: dialogue acts to sentences, by seeded templates."""

from collections.abc import Sequence
from typing import NamedTuple

from tool_envs.messages import Json
from tool_envs.randomness import draw_below
from tool_envs.simulators.phrasing import Dice, Phrases, Pool, sentence

Said = tuple[str, str, str]
"""A sentence of the user to be: act, slot, their own words for it."""


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
    "I do like being your customer.",
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
