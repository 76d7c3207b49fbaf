"""Whether a user may hang up: what of their goal the agent has dealt with, as far as they heard.

A user sees no database, only what the agent says. So a wish counts as dealt with as soon as it may be, and
the agent who did not serve it is not excused by a user who believed them. Each wish is followed by itself,
since a model brings them up in any order. A message of the agent deals with a wish that was spoken of when it
says

* that something was done, and names no other value than those wanted;
* that it cannot be done, unless with the offer to do just that, or anything that sounds like a no and neither
  asks nor puts off: on to the second choice, if there is one;
* that there is nothing left but other matters ("anything else?"), with no question beside;
* to a question, a value of the type asked for, or anything that neither asks nor puts off;
* after the user's yes to it, anything but a question or a promise.

Spoken of is the first wish always, and any other once the user, or that message, has used one of the words
that tell of this wish alone; a wish without any is always.

Whatever is open, a user may hang up on an agent who has announced a transfer, who says goodbye, or who is no
help. How long they bear that is taken from the agenda user's limits: since their last yes `MAX_RESTATED`
messages, or `MAX_TURNED_DOWN` that either asked for a yes in vain or neither dealt with anything nor asked
for data; or `MAX_TURNS` messages in all. Never may they say yes to what the agent asks and hang up with it.
"""

from collections.abc import Iterator
from typing import NamedTuple

from tool_envs.simulators.agenda_core import (
    MAX_RESTATED,
    MAX_TURNED_DOWN,
    MAX_TURNS,
    SAME,
    Heard,
    State,
)
from tool_envs.simulators.agenda_plan import Node, plan
from tool_envs.simulators.comparing import parts_of
from tool_envs.simulators.goal import UserGoal
from tool_envs.simulators.hearing import hear
from tool_envs.simulators.llm_reply import Agreement, Reply, Talk, meant_arguments
from tool_envs.simulators.llm_words import sounds_negative, telling_words, words_of
from tool_envs.simulators.phrasing import Phrases
from tool_envs.simulators.telling import says_goodbye
from tool_envs.simulators.understanding import read

_CLOSED = -1


def early_end(reply: Reply, talk: Talk, phrases: Phrases) -> str:
    """What is against hanging up with this reply; empty: nothing.

    Args:
        reply: One that hangs up, after at least one message of the agent.
        talk: What came before it.
        phrases: The domain's sentences.
    """
    last = read(talk.heard[-1], phrases.language, talk.goal.lexicon)
    if reply.agrees_to is not None and last.asks_confirmation and not last.transfers:
        return "you say yes and hang up with it, so that it cannot be done any more"
    if _may_leave(talk, phrases):
        return ""
    course = _Course(talk, phrases)
    course.follow()
    if course.is_out_of_patience or not course.open:
        return ""
    return f"you hang up, and the agent has neither done nor refused this: {course.open[0].opening}"


def _may_leave(talk: Talk, phrases: Phrases) -> bool:
    """The agent says goodbye, or has announced a transfer."""
    if says_goodbye(talk.heard[-1].lower()):
        return True
    return any(read(text, phrases.language, talk.goal.lexicon).transfers for text in talk.heard)


class _Message(NamedTuple):
    """A message of the agent, what the user had said before it, and whether they said yes after it."""

    text: str
    spoken: frozenset[str]
    agreed: tuple[Agreement, ...]
    gets_yes: bool


class _Course:
    """Follows each wish through the messages of a conversation."""

    def __init__(self, talk: Talk, phrases: Phrases) -> None:
        self._talk, self._phrases = talk, phrases
        self._nodes, self._facts = plan(talk.goal, phrases)
        self._telling = telling_words(self._nodes)
        self._steps = [self._first_of(number) for number in range(len(talk.goal.wishes))]
        self._since_yes = self._in_vain = 0

    @property
    def open(self) -> list[Node]:
        """The steps at which wishes stand that were not dealt with."""
        return [self._nodes[step] for step in self._steps if step != _CLOSED]

    @property
    def is_out_of_patience(self) -> bool:
        """Whether the agent was no help for so long that the user may hang up."""
        if len(self._talk.heard) >= MAX_TURNS:
            return True
        return self._since_yes >= MAX_RESTATED or self._in_vain >= MAX_TURNED_DOWN

    def follow(self) -> None:
        """Take in all messages, in order."""
        for message in _messages(self._talk):
            before = list(self._steps)
            self._steps = [self._after(message, step) for step in before]
            self._lose_patience(message, helped=before != self._steps)

    def _lose_patience(self, message: _Message, *, helped: bool) -> None:
        if message.gets_yes:
            self._since_yes = self._in_vain = 0
            return
        self._since_yes += 1
        heard = [self._hear(message.text, step) for step in range(len(self._nodes))]
        asks_in_vain = any(each.confirms for each in heard)
        useful = heard[0].asks or (helped and any(map(_is_understood, heard)))
        self._in_vain += asks_in_vain or not useful

    def _after(self, message: _Message, step: int) -> int:
        """Where a wish stands after a message."""
        while step != _CLOSED:
            served = next((at for at in self._choices(step) if self._is_served(message, at)), None)
            if served is None:
                return self._after_no(message, step)
            step = self._next_of(served)
        return step

    def _after_no(self, message: _Message, step: int) -> int:
        """Where a wish stands after a message that did not serve it."""
        if not self._is_spoken_of(message, step):
            return step
        heard = self._hear(message.text, step)
        is_open = _is_left_open(heard)
        if (heard.denies and not _offers_it(heard)) or (sounds_negative(message.text) and not is_open):
            return self._facts.wishes[step].otherwise
        return _CLOSED if heard.closes and not is_open else step

    def _is_served(self, message: _Message, step: int) -> bool:
        if not self._is_spoken_of(message, step):
            return False
        node, heard = self._nodes[step], self._hear(message.text, step)
        if node.asks:
            return bool(heard.answers) or not (_is_left_open(heard) or heard.denies)
        if heard.done and (heard.agrees or not node.leaves):
            return True
        told = bool(heard.done or heard.informs or heard.closes)
        return self._has_yes(message, node) and not heard.denies and (told or not _is_left_open(heard))

    def _has_yes(self, message: _Message, node: Node) -> bool:
        return any(_fits(agreement, node, self._talk.goal) for agreement in message.agreed)

    def _is_spoken_of(self, message: _Message, step: int) -> bool:
        if step == 0:
            return True
        telling = self._telling[step]
        return not telling or bool(telling & (message.spoken | words_of(message.text)))

    def _hear(self, text: str, step: int) -> Heard:
        state = State(wish=step, sets=self._facts.wishes[step].sets)
        return hear(text, self._nodes[step], state, self._talk.goal, self._phrases).heard

    def _choices(self, step: int) -> Iterator[int]:
        """A step and all that is wanted in its place: who changes their mind takes it up untold."""
        while step != _CLOSED:
            yield step
            step = self._facts.wishes[step].otherwise

    def _next_of(self, step: int) -> int:
        """What of the same wish comes after a step."""
        following = self._facts.wishes[step].next
        same = following >= 0 and self._nodes[following].number == self._nodes[step].number
        return following if same else _CLOSED

    def _first_of(self, number: int) -> int:
        return next(k for k, node in enumerate(self._nodes) if node.number == number)


def _messages(talk: Talk) -> Iterator[_Message]:
    """What the agent said; `talk.replies` has one more before the first message, and none after the last."""
    spoken: frozenset[str] = frozenset()
    agreed: tuple[Agreement, ...] = ()
    for number, text in enumerate(talk.heard):
        reply = talk.replies[number]
        spoken |= words_of(reply.say)
        agreed += () if reply.agrees_to is None else (reply.agrees_to,)
        answers = talk.replies[number + 1 : number + 2]
        yield _Message(text, spoken, agreed, any(answer.agrees_to for answer in answers))


def _is_understood(heard: Heard) -> bool:
    """It says something, whatever it is about; the agenda user would not ask to be told again."""
    return _is_left_open(heard) or any((heard.informs, heard.denies, heard.closes, heard.small_talk))


def _offers_it(heard: Heard) -> bool:
    """It asks for a yes to the write that is wanted."""
    return heard.confirms > 0 and heard.tool == SAME


def _is_left_open(heard: Heard) -> bool:
    """It asks for something, or puts something off."""
    return bool(heard.asks or heard.intent or heard.confirms or heard.pending)


def _fits(agreement: Agreement, node: Node, goal: UserGoal) -> bool:
    """A yes may be one to this step: it is to the same write, and adds no other value than those wanted."""
    if node.wish.tool not in ("", agreement.tool):
        return False
    added = meant_arguments(agreement, goal)
    return not node.leaves or any(
        all(parts_of(value) & parts_of(leaves[name]) for name, value in added.items() if name in leaves)
        for leaves in node.leaves
    )
