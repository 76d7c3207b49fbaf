"""What a user does, in acts for rules and in the words for it."""

from collections.abc import Iterator
from typing import NamedTuple

from tool_envs.messages import Json
from tool_envs.simulators import agenda_core as core
from tool_envs.simulators.agenda_core import Step
from tool_envs.simulators.agenda_plan import Node, wish_act
from tool_envs.simulators.comparing import (
    Mentions,
    chosen,
    common,
    common_argument,
    named_values,
    parts_of,
    said_as,
    wrong_leaves,
)
from tool_envs.simulators.goal import UserGoal
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
    step: Step,
    sets: int,
    wishes: tuple[Node, Node],
    understood: Understood,
    goal: UserGoal,
    phrases: Phrases,
) -> tuple[list[Act], list[Said]]:
    """Acts and words for the moves of a step.

    Args:
        step: What the core decided.
        sets: The accepted sets that are still wanted after it.
        wishes: The steps of the agenda before it and after it.
        understood: What it is an answer to.
        goal: What the user knows.
        phrases: The domain's sentences.
    """
    speaker = _Speaker(step, sets, *wishes, understood.mentions, understood.heard.agrees, goal, phrases)
    done = [move for k in range(step.moves.bit_length()) if (move := 1 << k) & step.moves]
    pairs = [pair for move in done for pair in speaker.perform(move)]
    return [act for act, _ in pairs if act], [words for _, words in pairs if words]


def _bring_up(node: Node, phrases: Phrases) -> Act:
    """The wish, and what its opening tells: it is made of the words for all its slots."""
    told: dict[str, Json] = {}
    for slot, words in node.wish.words.items():
        told |= _told(slot, node, phrases) or {slot: node.wish.means.get(slot, words)}
    act = wish_act(node.wish, node.number, node.asks)
    return {**act, "told": told} if told else act


def _told(slot: str, node: Node, phrases: Phrases) -> dict[str, Json]:
    """What the words for a slot tell: arguments, or parts of those that are not told as a whole."""
    everything = (1 << len(node.leaves)) - 1
    told: dict[str, Json] = {}
    for leaf in node.slots.get(slot, ()):
        owner = node.owners[leaf]
        parts = [phrases.slot_of(each) for each, name in node.owners.items() if name == owner]
        is_told = all(part in node.wish.words for part in parts)
        whole = common_argument(node, owner, everything) if is_told else None
        told |= {leaf: common(node, leaf, everything)} if whole is None else {owner: whole}
    return {name: value for name, value in told.items() if value is not None}


class _Speaker(NamedTuple):
    """One turn in the making; each move yields acts with their words, of which one may be missing."""

    step: Step
    sets: int
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

    def _said(self, slot: str) -> str:
        return said_as(self.before, slot, self.sets, self.goal, self.phrases)

    def _narrowed(self) -> list[str]:
        """Slots in which the user has changed their mind."""
        everything = (1 << len(self.before.leaves)) - 1
        if self.sets == everything:
            return []
        slots = self.before.slots
        return [
            s for s in slots if self._said(s) != said_as(self.before, s, everything, self.goal, self.phrases)
        ]

    def _affirm(self) -> Iterator[tuple[Act | None, Said | None]]:
        """A yes to what was proposed, with what the user adds to it."""
        arguments, added = self._agreed()
        yield {"act": "affirm", "tool": self.before.wish.tool, "arguments": arguments}, ("affirm", "", "")
        for slot in added:
            yield None, ("add", slot, self._said(slot))

    def _agreed(self) -> tuple[dict[str, Json], list[str]]:
        sets = self.agrees & self.sets
        return _scope(self.before, self.mentions, sets, self.goal, self.phrases)

    def _inform(self) -> Iterator[tuple[Act | None, Said | None]]:
        """Answers to all that was asked, but for what a yes or a correction in the same turn says anyway."""
        told = self._told_anyway()
        asked = [slot for k, slot in enumerate(self.phrases.slots) if self.step.slots >> k & 1]
        meant = dict.fromkeys(each for slot in asked for each in (slot, *self._of_others(slot)))
        for slot in meant:
            if slot not in told:
                yield from self._answer(slot)

    def _of_others(self, slot: str) -> list[str]:
        """Where the wish holds for other people what is asked of the user themselves ("dates of birth")."""
        if slot not in self.phrases.identity:
            return []
        leaves = [leaf for leaf in self.phrases.slots[slot] if self.before.owners.get(leaf, leaf) != leaf]
        return [self.phrases.slot_of(leaf) for leaf in leaves]

    def _told_anyway(self) -> set[str]:
        if self.step.moves & core.AFFIRM:
            return set(self._agreed()[1])
        if self.step.moves & core.CORRECT:
            return {self.phrases.slot_of(leaf) for leaf in self._wrong()}
        return set()

    def _answer(self, slot: str) -> Iterator[tuple[Act | None, Said | None]]:
        words = self._said(slot) if slot not in self.phrases.identity else ""
        known = words or self.goal.knows.get(slot, "")
        if not known:
            yield {"act": "unknown", "slot": slot}, ("unknown", slot, "")
            return
        yield None, ("inform", slot, known)
        told = self._meant(slot, words) if words else {slot: known}
        about = {"wish": self.before.number} if words else {}
        yield from (
            ({"act": "inform", "slot": name, "value": value, **about}, None) for name, value in told.items()
        )

    def _meant(self, slot: str, words: str) -> dict[str, Json]:
        """What the words for a slot of the wish stand for; themselves where nothing is known of it."""
        leaves = self.before.slots.get(slot, ())
        if not leaves:
            return {slot: self.before.wish.means.get(slot, words)}
        values = {leaf: common(self.before, leaf, self.sets) for leaf in leaves}
        return {leaf: words if value is None else value for leaf, value in values.items()}

    def _wrong(self) -> list[str]:
        return wrong_leaves(self.before, self.mentions, self.sets)

    def _correct(self, shade: str) -> Iterator[tuple[Act | None, Said | None]]:
        """What the user wants where the proposal says something else."""
        told: set[str] = set()
        said: set[str] = set()
        for leaf in self._wrong():
            slot, name = self.phrases.slot_of(leaf), self.before.owners[leaf]
            words = self._said(slot)
            if words:
                value = common_argument(self.before, name, self.sets)
                act = {"act": "correct", "slot": name, "value": words if value is None else value}
                yield None if name in told else act, None if slot in said else (shade, slot, words)
                told.add(name)
                said.add(slot)


def _scope(
    node: Node, mentions: Mentions, sets: int, goal: UserGoal, phrases: Phrases
) -> tuple[dict[str, Json], list[str]]:
    """What a yes is about: the arguments that were named or that the user adds, and the slots that they add.

    A part of a list stands for the whole, and the user says what the whole is, when they can.
    """
    agreed: set[str] = set()
    added: list[str] = []
    accepted = chosen(node, sets)
    for slot, leaves in node.slots.items():
        named = {leaf: parts for leaf in leaves if (parts := _named(accepted, leaf, mentions))}
        whole = named and all(parts == parts_of(accepted[0][leaf]) for leaf, parts in named.items())
        if not whole and said_as(node, slot, sets, goal, phrases):
            agreed.update(leaves)
            added.append(slot)
        else:
            agreed |= named.keys()
    names = dict.fromkeys(owner for leaf, owner in node.owners.items() if leaf in agreed)
    values = {name: common_argument(node, name, sets) for name in names}
    return {name: value for name, value in values.items() if value is not None}, added


def _named(accepted: list[dict[str, Json]], leaf: str, mentions: Mentions) -> set[Json]:
    """The wanted values that were named."""
    mention = mentions.get(leaf)
    return named_values(accepted[0][leaf], mention) if mention and accepted else set()
