"""A goal laid out for the core of the agenda: its wishes as steps, and what the core must know of them."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from tool_envs.messages import Json
from tool_envs.simulators.agenda_core import Facts, WishFacts
from tool_envs.simulators.goal import UserGoal, Wish
from tool_envs.simulators.leaves import leaves_of, owners_of
from tool_envs.simulators.phrasing import Phrases


class Node(NamedTuple):
    """A wish as one step of the agenda.

    Attributes:
        wish: The wish.
        number: Its number among the wishes of the goal.
        opening: How it is brought up.
        asks: It is a question.
        leaves: The accepted sets of arguments, taken apart.
        owners: Leaf -> the argument that it is a part of.
        slots: Slot -> the leaves that it fills.
    """

    wish: Wish
    number: int
    opening: str
    asks: bool
    leaves: tuple[dict[str, Json], ...]
    owners: dict[str, str]
    slots: Mapping[str, tuple[str, ...]]


def plan(goal: UserGoal, phrases: Phrases) -> tuple[tuple[Node, ...], Facts]:
    """A goal as steps of an agenda, and as facts for its core."""
    nodes: list[Node] = []
    facts: list[WishFacts] = []
    for index, wish in enumerate(goal.wishes):
        last = index + 1 == len(goal.wishes)
        following = -1 if last else len(nodes) + _size(wish)
        for node, fact in _lay_out(wish, index, len(nodes), following, phrases):
            nodes.append(node)
            facts.append(fact)
    identity = slot_mask(phrases.identity, phrases)
    insists, reluctant, changes = (trait in goal.traits for trait in ("insists", "reluctant", "changes_mind"))
    return tuple(nodes), Facts(facts, identity, insists, reluctant, changes)


def _size(wish: Wish | None) -> int:
    return 0 if wish is None else 1 + _asks_after(wish) + _size(wish.otherwise)


def _asks_after(wish: Wish) -> bool:
    """They want something done, and then to be told something."""
    return bool(wish.tool) and wish.fact is not None


def _lay_out(
    wish: Wish, index: int, at: int, following: int, phrases: Phrases
) -> Iterator[tuple[Node, WishFacts]]:
    """The steps of one wish, of which the first is number `at`: itself, its question, what else they want."""
    asks, after = wish.fact is not None and not wish.tool, _asks_after(wish)
    question = wish.fact.question if wish.fact else ""
    otherwise = -1 if wish.otherwise is None else at + 1 + after
    sets = (1 << len(wish.accepted)) - 1
    follows = at + 1 if after else following
    leaves = tuple(map(leaves_of, wish.accepted))
    owners = owners_of(wish.accepted[0]) if wish.accepted else {}
    slots = phrases.slots_of(tuple(owners))
    yield (
        Node(wish, index, wish.opening or question, asks, leaves, owners, slots),
        WishFacts(sets, asks, wish.forbidden, otherwise, follows),
    )
    if after:
        question_of_it = Node(wish, index, question, True, leaves, owners, slots)
        yield question_of_it, WishFacts(0, True, False, -1, following)
    if wish.otherwise is not None:
        yield from _lay_out(wish.otherwise, index, otherwise, following, phrases)


def wish_act(wish: Wish, index: int, asks: bool | None = None) -> dict[str, Json]:
    """The act of bringing up a wish, or of asking its question."""
    if asks or (asks is None and wish.fact and not wish.tool):
        return {"act": "ask", "wish": index}
    return {"act": "wish", "kind": wish.kind, "tool": wish.tool, "wish": index}


def slot_mask(slots: Iterable[str], phrases: Phrases) -> int:
    """Slots as bits, in the order of `phrases.slots`."""
    wanted = set(slots)
    return sum(1 << k for k, slot in enumerate(phrases.slots) if slot in wanted)
