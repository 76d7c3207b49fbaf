"""Where an episode stands: what was found out, said, agreed and done, read off its history."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import orjson

from tool_envs.consent import Yes, heard, used
from tool_envs.messages import Json, Message, ToolCall
from tool_envs.retail.rules import FINDERS, PAIRS, WRITES
from tool_envs.rules import Called, Event, Heard, Said, events
from tool_envs.simulators.goal import UserGoal, Wish


@dataclass
class Progress:
    """What happened so far.

    Attributes:
        user_id: The customer who was found; empty: nobody yet.
        read: Ids of the records that were looked up (user, orders, products), and names of tools that read.
        told: Slot -> what the user said of themselves.
        index: Number of the wish that was brought up last.
        wish: That wish, or what they want instead of it.
        corrections: Argument -> the value that the user named when they turned a proposal down.
        yeses: What they said yes to, not used yet.
        written: Writes that succeeded.
        unreported: A write succeeded and nothing was said since.
        said: All that the agent said.
        asked_at: Number of a wish with a question -> how many messages had been said when it was asked.
        accepted: Numbers of the wishes of which the user took a no.
    """

    wish: Wish
    user_id: str = ""
    read: set[str] = field(default_factory=set)
    told: dict[str, str] = field(default_factory=dict)
    index: int = 0
    corrections: dict[str, Json] = field(default_factory=dict)
    yeses: tuple[Yes, ...] = ()
    written: list[ToolCall] = field(default_factory=list)
    unreported: bool = False
    said: list[str] = field(default_factory=list)
    asked_at: dict[int, int] = field(default_factory=dict)
    accepted: set[int] = field(default_factory=set)


def follow(goal: UserGoal, history: Sequence[Message]) -> Progress:
    """The progress of a conversation in which calls have the parameter names of schema 1.0.0."""
    progress = Progress(goal.wishes[0])
    for _, event in events(history):
        _learn(progress, goal, event)
    return progress


def _learn(progress: Progress, goal: UserGoal, event: Event) -> None:
    if isinstance(event, Said):
        progress.said.append(event.text)
        progress.unreported = False
    elif isinstance(event, Heard):
        progress.yeses = heard(progress.yeses, event.acts)
        for act in event.acts:
            _learn_act(progress, goal, act)
    elif event.code is None:
        _learn_call(progress, event)


def _learn_act(progress: Progress, goal: UserGoal, act: dict[str, Json]) -> None:
    match act:
        case {"act": "wish", "wish": int(index)}:
            _turn_to(progress, index, _find_wish(goal.wishes[index], act))
        case {"act": "ask", "wish": int(index)}:
            _turn_to(progress, index, goal.wishes[index])
            progress.asked_at.setdefault(index, len(progress.said))
        case {"act": "inform", "slot": str(slot), "value": value} if "wish" not in act:
            progress.told[slot] = value
        case {"act": "correct", "slot": str(slot), "value": value}:
            progress.corrections[slot] = value
        case {"act": "accept_no", "wish": int(index)}:
            progress.accepted.add(index)


def _turn_to(progress: Progress, index: int, wish: Wish) -> None:
    """Another wish begins; one that is only brought up again goes on."""
    if (index, wish) != (progress.index, progress.wish):
        if index == progress.index and wish is progress.wish.otherwise:
            progress.accepted.add(index)
        progress.index, progress.wish = index, wish
        progress.corrections = {}


def _find_wish(wish: Wish, act: dict[str, Json]) -> Wish:
    """The wish or the alternative that is meant: the one of this kind and write."""
    found = [
        each for each in alternatives(wish) if (each.kind, each.tool) == (act.get("kind"), act.get("tool"))
    ]
    return found[0] if found else wish


def alternatives(wish: Wish) -> Iterable[Wish]:
    """A wish and what is wanted instead of it, in order."""
    while True:
        yield wish
        if wish.otherwise is None:
            return
        wish = wish.otherwise


def _learn_call(progress: Progress, event: Called) -> None:
    call = event.call
    result = orjson.loads(event.result)
    if call.name in FINDERS:
        progress.user_id = result["user_id"]
    elif call.name in WRITES:
        progress.written.append(call)
        progress.yeses = used(progress.yeses, call, PAIRS)
        progress.unreported = True
    else:
        progress.read |= {call.name, *map(str, call.arguments.values())}
