"""What a user does, in acts for rules and in the words for it."""

from collections.abc import Iterator
from typing import NamedTuple

from tool_envs.messages import Json
from tool_envs.simulators import agenda_core as core
from tool_envs.simulators.agenda_core import Step
from tool_envs.simulators.agenda_plan import Node, wish_act
from tool_envs.simulators.comparing import (
    Mentions,
    arguments_of,
    chosen,
    common,
    named_values,
    said_as,
    slot_of,
    wish_slots,
    wrong_arguments,
)
from tool_envs.simulators.goal import UserGoal, Wish
from tool_envs.simulators.hearing import Understood
from tool_envs.simulators.phrasing import Phrases
from tool_envs.simulators.user_voice import Said

Act = dict[str, Json]

_BRINGS_UP = {core.NEXT: "next", core.OTHERWISE: "otherwise", core.AGAIN: "again"}
_PLAIN_MOVES = {
    core.THANK: "thank",
    core.DENY: "deny",
    core.HOLD_BACK: "hold_back",
    core.ASK_DETAILS: "ask_details",
    core.ASK_AGAIN: "ask_again",
    core.WAIT: "wait",
    core.INSIST: "insist",
    core.ACCEPT_NO: "accept_no",
    core.BYE: "bye",
}


def opening_of(node: Node, goal: UserGoal, phrases: Phrases) -> tuple[list[Act], list[Said]]:
    """The first turn: the first wish, and what the user demands of all answers."""
    demands = [("condition", name, str(value)) for name, value in goal.conditions.items() if value]
    return [_bring_up(node, phrases)], [("wish", "", node.opening), *demands]


def moves_of(
    step: Step, wishes: tuple[Node, Node], understood: Understood, goal: UserGoal, phrases: Phrases
) -> tuple[list[Act], list[Said]]:
    """Acts and words for the moves of a step.

    Args:
        step: What the core decided.
        wishes: The steps of the agenda before it and after it.
        understood: What it is an answer to.
        goal: What the user knows.
        phrases: The domain's sentences.
    """
    speaker = _Speaker(step, *wishes, understood.mentions, understood.heard.agrees, goal, phrases)
    done = [move for k in range(step.moves.bit_length()) if (move := 1 << k) & step.moves]
    pairs = [pair for move in done for pair in speaker.perform(move)]
    return [act for act, _ in pairs if act], [words for _, words in pairs if words]


def _bring_up(node: Node, phrases: Phrases) -> Act:
    """The wish, and what its opening tells: it is made of the words for all its slots."""
    wish, everything = node.wish, (1 << len(node.wish.accepted)) - 1
    told: dict[str, Json] = {}
    for slot, words in wish.words.items():
        names = [name for name in arguments_of(wish) if slot_of(name, phrases) == slot]
        values = {name: common(wish, name, everything) for name in names}
        told |= {name: value for name, value in values.items() if value is not None} or {slot: words}
    act = wish_act(wish, node.number, node.asks)
    return {**act, "told": told} if told else act


class _Speaker(NamedTuple):
    """One turn in the making; each move yields acts with their words, of which one may be missing."""

    step: Step
    before: Node
    after: Node
    mentions: Mentions
    agrees: int
    goal: UserGoal
    phrases: Phrases

    def perform(self, move: int) -> Iterator[tuple[Act | None, Said | None]]:
        if move in _PLAIN_MOVES:
            yield self._plain(_PLAIN_MOVES[move])
        elif move in _BRINGS_UP:
            yield _bring_up(self.after, self.phrases), (_BRINGS_UP[move], "", self.after.opening)
            if move == core.AGAIN:
                yield from ((None, ("correct", slot, self._said(slot))) for slot in self._narrowed())
        elif move == core.AFFIRM:
            yield from self._affirm()
        elif move == core.INFORM:
            yield from self._inform()
        else:
            yield from self._correct("correct" if move == core.CORRECT else "change")

    def _plain(self, act: str) -> tuple[Act, Said]:
        about = {"wish": self.before.number} if act == "accept_no" else {}
        return {"act": act, **about}, (act, "", "")

    @property
    def _sets(self) -> int:
        return self.step.state.sets

    @property
    def _wish(self) -> Wish:
        return self.before.wish

    def _said(self, slot: str) -> str:
        return said_as(self._wish, slot, self._sets, self.goal, self.phrases)

    def _narrowed(self) -> list[str]:
        """Slots in which the user has changed their mind."""
        everything = (1 << len(self._wish.accepted)) - 1
        if self._sets == everything:
            return []
        slots = wish_slots(self._wish, self.phrases)
        return [
            s for s in slots if self._said(s) != said_as(self._wish, s, everything, self.goal, self.phrases)
        ]

    def _affirm(self) -> Iterator[tuple[Act | None, Said | None]]:
        """A yes to what was proposed, with what the user adds to it."""
        arguments, added = _scope(
            self._wish, self.mentions, self.agrees & self._sets, self.goal, self.phrases
        )
        yield {"act": "affirm", "tool": self._wish.tool, "arguments": arguments}, ("affirm", "", "")
        for slot in added:
            yield None, ("add", slot, self._said(slot))

    def _inform(self) -> Iterator[tuple[Act | None, Said | None]]:
        """Answers to all that was asked, but for what a yes or a correction in the same turn says anyway."""
        told = self._told_anyway()
        for k, slot in enumerate(self.phrases.slots):
            if self.step.slots >> k & 1 and slot not in told:
                yield from self._answer(slot)

    def _told_anyway(self) -> set[str]:
        if self.step.moves & core.AFFIRM:
            return set(
                _scope(self._wish, self.mentions, self.agrees & self._sets, self.goal, self.phrases)[1]
            )
        if self.step.moves & core.CORRECT:
            return {slot_of(name, self.phrases) for name in self._wrong()}
        return set()

    def _answer(self, slot: str) -> Iterator[tuple[Act | None, Said | None]]:
        of_wish = slot not in self.phrases.identity and slot in wish_slots(self._wish, self.phrases)
        words = self._said(slot) if of_wish else ""
        known = words or self.goal.knows.get(slot, "")
        if not known:
            yield {"act": "unknown", "slot": slot}, ("unknown", slot, "")
            return
        yield None, ("inform", slot, known)
        for name in self._names(slot) if words else [slot]:
            value = common(self._wish, name, self._sets) if words else None
            about = {"wish": self.before.number} if words else {}
            yield {"act": "inform", "slot": name, "value": known if value is None else value, **about}, None

    def _names(self, slot: str) -> list[str]:
        return [name for name in arguments_of(self._wish) if slot_of(name, self.phrases) == slot]

    def _wrong(self) -> list[str]:
        return wrong_arguments(self._wish, self.mentions, self._sets)

    def _correct(self, shade: str) -> Iterator[tuple[Act | None, Said | None]]:
        """What the user wants where the proposal says something else."""
        said: set[str] = set()
        for name in self._wrong():
            slot = slot_of(name, self.phrases)
            words = self._said(slot)
            if words:
                value = common(self._wish, name, self._sets)
                act = {"act": "correct", "slot": name, "value": words if value is None else value}
                yield act, None if slot in said else (shade, slot, words)
                said.add(slot)


def _scope(
    wish: Wish, mentions: Mentions, sets: int, goal: UserGoal, phrases: Phrases
) -> tuple[dict[str, Json], list[str]]:
    """What a yes is about: the arguments that were named or that the user adds, and the slots that they add.

    A part of a list is completed, when the user can say what the whole is.
    """
    arguments: dict[str, Json] = {}
    added: list[str] = []
    accepted = chosen(wish, sets)
    for slot in wish_slots(wish, phrases):
        names = [name for name in arguments_of(wish) if slot_of(name, phrases) == slot]
        named = {name: value for name in names if (value := _named(accepted, name, mentions)) is not None}
        whole = {name: value for name in names if (value := common(wish, name, sets)) is not None}
        if named and all(_is_whole(value, accepted[0][name]) for name, value in named.items()):
            arguments |= {name: accepted[0][name] for name in named}
        elif said_as(wish, slot, sets, goal, phrases):
            arguments |= whole
            added.append(slot)
    return arguments, added


def _named(accepted: list[dict[str, Json]], name: str, mentions: Mentions) -> set[Json] | None:
    """The wanted values that were named; None when there are none."""
    mention = mentions.get(name)
    return (mention and accepted and named_values(accepted[0][name], mention)) or None


def _is_whole(named: set[Json], value: Json) -> bool:
    return named == (set(value) if isinstance(value, list | tuple) else {value})
