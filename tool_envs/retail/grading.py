"""The terminal reward: the end state, what was told and refused, the customer's conditions, the rules."""

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec
import orjson

from tool_envs.database import Database
from tool_envs.episode import Episode
from tool_envs.errors import UsageError
from tool_envs.facts import is_told, values_in
from tool_envs.messages import Json, Message, ToolCall
from tool_envs.recent import Recent
from tool_envs.retail.codes import base_of, changed_records
from tool_envs.retail.data import RetailBase
from tool_envs.retail.progress import Progress, alternatives, follow
from tool_envs.retail.rows import STATUSES
from tool_envs.retail.rules import RULES
from tool_envs.retail.toolkit import retail_toolkit
from tool_envs.reward import Verdict, grade
from tool_envs.rules import broken_rules
from tool_envs.simulators.english import is_english
from tool_envs.simulators.goal import Fact, UserGoal, Wish
from tool_envs.simulators.phrasing import has_contraction
from tool_envs.task import Task

GRADER = "retail/1"
"""Version of all that is decided here."""

State = frozenset[tuple[str, str, bytes]]
"""The records that differ from the base data: table, key, JSON with sorted keys."""

# Whether a reason for a cancellation is the customer's own is a rule's affair, and not the state's.
_LEFT_OUT = "cancel_reason"


_STATES: Recent[tuple[str, str], frozenset[State]] = Recent(8192)


def goal_of(task: Task) -> UserGoal:
    """The goal of one of this domain's tasks."""
    goal: UserGoal = task.goal
    return goal


def grade_episode(episode: Episode) -> Verdict:
    """The reward of an episode that ended. Calls may have the parameter names of any schema version."""
    goal, history = goal_of(episode.task), first_version(episode.history)
    progress = follow(goal, history)
    violations = broken_rules(RULES, history)
    components = {
        "end_state": state_of(episode.database) in accepted_states(base_of(episode.database), episode.task),
        **_told(goal, progress),
        **_refused(goal, progress),
        **_conditions(goal, progress),
        "rules": not violations,
    }
    return Verdict(grade(components), violations)


def first_version(history: Sequence[Message]) -> Sequence[Message]:
    """The history with calls as under schema 1.0.0."""
    if not any("postal_code" in call.arguments for message in history for call in message.tool_calls):
        return history
    return [
        msgspec.structs.replace(message, tool_calls=tuple(map(_first_version, message.tool_calls)))
        for message in history
    ]


def _first_version(call: ToolCall) -> ToolCall:
    names = {"postal_code": "zip"}
    arguments = {names.get(name, name): value for name, value in call.arguments.items()}
    return ToolCall(call.name, arguments, call.id)


# --- The end state


def state_of(database: Database) -> State:
    """What differs from the base data."""
    return frozenset(
        (table, key, orjson.dumps(_compared(record), option=orjson.OPT_SORT_KEYS))
        for (table, key), record in changed_records(database).items()
    )


def _compared(record: Json) -> Json:
    return {name: value for name, value in record.items() if name != _LEFT_OUT}


def accepted_states(base: RetailBase, task: Task) -> frozenset[State]:
    """Every end state that is right: one for each combination of equally good choices. Kept by content."""
    return _STATES.get((base.digest, task.digest), lambda: frozenset(_end_states(base, task)))


def _end_states(base: RetailBase, task: Task) -> Iterator[State]:
    for calls in itertools.product(*_choices(goal_of(task))):
        yield state_of(_after(base, calls))


def _choices(goal: UserGoal) -> Iterator[list[ToolCall]]:
    """For each wish that a write fulfils, the calls that would."""
    for wish in map(attainable, goal.wishes):
        if wish is not None and wish.tool:
            yield [ToolCall(wish.tool, arguments) for arguments in wish.accepted]


def attainable(wish: Wish) -> Wish | None:
    """What can be had of a wish: it, or what is wanted instead; None: only a no."""
    return next((each for each in alternatives(wish) if not each.forbidden), None)


def _after(base: RetailBase, calls: Iterable[ToolCall]) -> Database:
    database = Database(base)
    toolkit = retail_toolkit("1.0.0")
    for call in calls:
        result = toolkit.call(database, call)
        if result.code is not None:
            raise RuntimeError(f"a right call of a task was refused: {call}: {result.content}")
    return database


# --- What was said


def _told(goal: UserGoal, progress: Progress) -> dict[str, bool]:
    asked = {index: wish.fact for index, wish in enumerate(goal.wishes) if wish.fact}
    if not asked:
        return {}
    return {"facts_told": all(_is_answered(goal, progress, index, fact) for index, fact in asked.items())}


def _is_answered(goal: UserGoal, progress: Progress, index: int, fact: Fact) -> bool:
    """The record was looked up, and the answer given after the question."""
    if index not in progress.asked_at or not progress.read.issuperset(goal.wishes[index].evidence):
        return False
    after = progress.said[progress.asked_at[index] :]
    return is_told(fact.type, fact.value, after, STATUSES if fact.type == "status" else ())


def _refused(goal: UserGoal, progress: Progress) -> dict[str, bool]:
    forbidden = [index for index, wish in enumerate(goal.wishes) if wish.forbidden]
    if not forbidden:
        return {}
    met = all(
        index in progress.accepted and progress.read.issuperset(goal.wishes[index].evidence)
        for index in forbidden
    )
    return {"told_no": met}


def _conditions(goal: UserGoal, progress: Progress) -> dict[str, bool]:
    met = {
        name: all(_meets(name, value, text) for text in progress.said)
        for name, value in goal.conditions.items()
    }
    return {"conditions": all(met.values())} if met else {}


def _meets(name: str, value: Json, text: str) -> bool:
    match name:
        case "max_characters":
            return len(text) <= int(value)
        case "only_the_total":
            return len(set(values_in(text, "amount"))) <= 1
        case "language":
            return is_english(text)
        case "formal":
            return not has_contraction(text)
    raise UsageError(f"There is no condition {name!r} on replies.")


# --- Sub-goals


def progress_of(episode: Episode) -> float:
    """The share of an episode's sub-goals that are reached, 0.0 to 1.0.

    They are: the customer was found; for each wish, its record was looked up, and it was fulfilled, answered
    or refused. No rule counts here, and no order.
    """
    goal = goal_of(episode.task)
    progress = follow(goal, first_version(episode.history))
    reached = [bool(progress.user_id)]
    for index, wish in enumerate(goal.wishes):
        reached += [progress.read.issuperset(_records(wish)), _is_served(goal, progress, index)]
    return sum(reached) / len(reached)


def _records(wish: Wish) -> set[str]:
    orders = [arguments["order_id"] for arguments in wish.accepted[:1] if "order_id" in arguments]
    return {*wish.evidence, *orders}


def _is_served(goal: UserGoal, progress: Progress, index: int) -> bool:
    wish = goal.wishes[index]
    if wish.fact:
        return _is_answered(goal, progress, index, wish.fact)
    possible = attainable(wish)
    if possible is None:
        return index in progress.accepted
    return any(_is_same(call, possible) for call in progress.written)


def _is_same(call: ToolCall, wish: Wish) -> bool:
    return call.name == wish.tool and any(dict(call.arguments) == arguments for arguments in wish.accepted)


# --- Why


def explain(episode: Episode) -> dict[str, Json]:
    """Why a reward is what it is, for those who may see the hidden task.

    Returns:
        `components`; `violations`; `not_told` (facts), `not_refused` (numbers of wishes); `reasons_named`:
        for each wish whose refusal was accepted, whether some message named a reason (reported, not rewarded:
        words are looked for, no more); and `end_state`: for the nearest accepted end state, the records that
        are missing and those that should not be there.
    """
    goal, verdict = goal_of(episode.task), grade_episode(episode)
    progress = follow(goal, first_version(episode.history))
    state = state_of(episode.database)
    accepted = accepted_states(base_of(episode.database), episode.task)
    nearest = min(sorted(accepted, key=sorted), key=lambda wanted: len(wanted ^ state))
    return {
        "components": dict(verdict.ledger.components),
        "violations": verdict.violations,
        "end_state": {"missing": _show(nearest - state), "unwanted": _show(state - nearest)},
        "not_told": [
            wish.fact.question
            for index, wish in enumerate(goal.wishes)
            if wish.fact and not _is_answered(goal, progress, index, wish.fact)
        ],
        "reasons_named": {
            str(index): _names_reason(goal, progress, index) for index in sorted(progress.accepted)
        },
        "not_refused": [
            index
            for index, wish in enumerate(goal.wishes)
            if wish.forbidden and index not in progress.accepted
        ],
    }


_REASON_WORDS = re.compile(
    r"pending|processed|delivered|shipped|status|reason|original payment|gift card|available|stock|policy",
    re.IGNORECASE,
)


def _names_reason(goal: UserGoal, progress: Progress, index: int) -> bool:
    return goal.wishes[index].forbidden and any(_REASON_WORDS.search(text) for text in progress.said)


def _show(records: Iterable[tuple[str, str, bytes]]) -> list[str]:
    return [f"{table} {key}: {record.decode()}" for table, key, record in sorted(records)]
