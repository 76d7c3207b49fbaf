"""Where an episode stands: what was found out, said, agreed and done, read off its history."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tool_envs.consent import Yes, heard, used
from tool_envs.messages import Json, Message, ToolCall
from tool_envs.rules import Called, Event, Heard, Said, events
from tool_envs.service.desk import Desk
from tool_envs.simulators.goal import UserGoal, Wish


@dataclass
class Progress:
    """What happened so far.

    Attributes:
        user_id: The customer who was found first; empty: nobody yet.
        read: Keys of the calls that read something, see `read_key`.
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


def follow(desk: Desk, goal: UserGoal, history: Sequence[Message]) -> Progress:
    """The progress of a conversation, under any schema version."""
    progress = Progress(goal.wishes[0])
    for _, event in events(desk.renames.first_history(history)):
        _learn(progress, desk, goal, event)
    return progress


def _learn(progress: Progress, desk: Desk, goal: UserGoal, event: Event) -> None:
    if isinstance(event, Said):
        progress.said.append(event.text)
        progress.unreported = False
    elif isinstance(event, Heard):
        progress.yeses = heard(progress.yeses, event.acts)
        for act in event.acts:
            _learn_act(progress, goal, act)
    elif event.code is None:
        _learn_call(progress, desk, event)


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


def read_key(call: ToolCall) -> str:
    """What a call looks up: its arguments in order of their names, or without any the tool itself."""
    return " ".join(str(call.arguments[name]) for name in sorted(call.arguments)) or call.name


def alternatives(wish: Wish) -> Iterable[Wish]:
    """A wish and what is wanted instead of it, in order."""
    while True:
        yield wish
        if wish.otherwise is None:
            return
        wish = wish.otherwise


def _learn_call(progress: Progress, desk: Desk, event: Called) -> None:
    call = event.call
    progress.user_id = progress.user_id or desk.found(event)
    if call.name in desk.writes:
        progress.written.append(call)
        progress.yeses = used(progress.yeses, call, desk.pairs)
        progress.unreported = True
    else:
        progress.read.add(read_key(call))
