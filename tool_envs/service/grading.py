"""The terminal reward: the end state, what was told and refused, the customer's conditions, the rules."""

import itertools
from collections.abc import Iterable, Iterator

from tool_envs.database import BaseData, Database
from tool_envs.episode import Episode
from tool_envs.errors import UsageError
from tool_envs.messages import Json, ToolCall
from tool_envs.recent import Recent
from tool_envs.reward import Ledger, Verdict, grade
from tool_envs.rules import broken_rules
from tool_envs.service.desk import Desk, State, goal_of
from tool_envs.service.progress import Progress, alternatives, follow
from tool_envs.simulators.english import is_english
from tool_envs.simulators.goal import Fact, UserGoal, Wish
from tool_envs.simulators.letters import LETTER, is_letter
from tool_envs.simulators.phrasing import has_contraction
from tool_envs.simulators.understanding import read
from tool_envs.task import Task

_KEPT = 8192  # tasks whose end states are kept


class Grader:
    """Grades the episodes of one desk, under any schema version.

    Args:
        desk: Whose episodes.
    """

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self._states: Recent[tuple[str, str], frozenset[State]] = Recent(_KEPT)

    def grade(self, episode: Episode) -> Verdict:
        """The reward of an episode that ended; of a task that no rule grades, only the rules broken."""
        history = self.desk.renames.first_history(episode.history)
        violations = broken_rules(self.desk.rules, history)
        if not episode.task.graded:
            return Verdict(Ledger(terminal=None), violations)
        components = {**self._components(episode), "rules": not violations}
        return Verdict(grade(components), violations)

    def _components(self, episode: Episode) -> dict[str, bool]:
        goal, progress = self._read(episode)
        accepted = self.accepted_states(episode.database.base, episode.task)
        return {
            "end_state": self.desk.state(episode.database) in accepted,
            **self._told(goal, progress),
            **_refused(goal, progress),
            **self._conditions(goal, progress),
        }

    def _read(self, episode: Episode) -> tuple[UserGoal, Progress]:
        goal = goal_of(episode.task)
        return goal, follow(self.desk, goal, episode.history)

    # --- The end state

    def accepted_states(self, base: BaseData, task: Task) -> frozenset[State]:
        """Every end state that is right: one for each combination of equally good choices."""
        # By content: equal tasks over equal data have equal end states.
        return self._states.get((base.digest, task.digest), lambda: frozenset(self._end_states(base, task)))

    def _end_states(self, base: BaseData, task: Task) -> Iterator[State]:
        for calls in itertools.product(*_choices(goal_of(task))):
            yield self.desk.state(self._after(base, calls))

    def _after(self, base: BaseData, calls: Iterable[ToolCall]) -> Database:
        database = Database(base)
        for call in calls:
            result = self.desk.toolkit.call(database, call)
            if result.code is not None:
                raise RuntimeError(f"a right call of a task was refused: {call}: {result.content}")
        return database

    # --- What was said

    def _told(self, goal: UserGoal, progress: Progress) -> dict[str, bool]:
        asked = {index: wish.fact for index, wish in enumerate(goal.wishes) if wish.fact}
        if not asked:
            return {}
        answered = [self._is_answered(goal, progress, index, fact) for index, fact in asked.items()]
        return {"facts_told": all(answered)}

    def _is_answered(self, goal: UserGoal, progress: Progress, index: int, fact: Fact) -> bool:
        """The record was looked up, and the answer given, or a letter written, after the question."""
        if index not in progress.asked_at or not progress.read.issuperset(goal.wishes[index].evidence):
            return False
        after = progress.said[progress.asked_at[index] :]
        if fact.type == LETTER:
            language = self.desk.phrases.language
            return any(is_letter(text, read(text, language, goal.lexicon)) for text in after)
        return self.desk.facts.is_told(fact.type, fact.value, after, self.desk.words.get(fact.type, ()))

    def _conditions(self, goal: UserGoal, progress: Progress) -> dict[str, bool]:
        met = [
            self._meets(name, value, text)
            for name, value in goal.conditions.items()
            for text in progress.said
        ]
        return {"conditions": all(met)} if goal.conditions else {}

    def _meets(self, name: str, value: Json, text: str) -> bool:
        match name:
            case "max_characters":
                return len(text) <= int(value)
            case "only_the_total":
                return len(set(self.desk.facts.values_in(text, "amount"))) <= 1
            case "language":
                return is_english(text)
            case "formal":
                return not has_contraction(text)
        raise UsageError(f"There is no condition {name!r} on replies.")

    # --- Sub-goals

    def progress(self, episode: Episode) -> float:
        """The share of an episode's sub-goals that are reached, 0.0 to 1.0.

        They are: the customer was found; for each wish, its record was looked up, and it was fulfilled,
        answered or refused. Of a letter it counts that one was written after it was asked for, and nothing
        that stands in it. No rule counts here, and no order.
        """
        goal, progress = self._read(episode)
        reached = [bool(progress.user_id)]
        for index, wish in enumerate(goal.wishes):
            looked_up = progress.read.issuperset(wish.evidence)
            reached += [looked_up, self._is_served(goal, progress, index)]
        return sum(reached) / len(reached)

    def _is_served(self, goal: UserGoal, progress: Progress, index: int) -> bool:
        wish = goal.wishes[index]
        if wish.fact:
            return self._is_answered(goal, progress, index, wish.fact)
        possible = attainable(wish)
        if possible is None:
            return index in progress.accepted
        return any(_is_same(call, possible) for call in progress.written)

    # --- Why

    def explain(self, episode: Episode) -> dict[str, Json]:
        """Why a reward is what it is, for those who may see the hidden task.

        Returns:
            `components`; `violations`; `not_told` (facts), `not_refused` (numbers of wishes);
            `reasons_named`: for each wish whose refusal was accepted, whether some message named a reason
            (reported, not rewarded: words are looked for, no more); and `end_state`: for the nearest accepted
            end state, the records that are missing and those that should not be there.
        """
        verdict = self.grade(episode)
        goal, progress = self._read(episode)
        state = self.desk.state(episode.database)
        accepted = self.accepted_states(episode.database.base, episode.task)
        nearest = min(sorted(accepted, key=sorted), key=lambda wanted: len(wanted ^ state))
        return {
            "components": dict(verdict.ledger.components),
            "violations": verdict.violations,
            "end_state": {"missing": _show(nearest - state), "unwanted": _show(state - nearest)},
            "not_told": [
                wish.fact.question
                for index, wish in enumerate(goal.wishes)
                if wish.fact and not self._is_answered(goal, progress, index, wish.fact)
            ],
            "reasons_named": {
                str(index): self._names_reason(goal, progress, index) for index in sorted(progress.accepted)
            },
            "not_refused": [
                index
                for index, wish in enumerate(goal.wishes)
                if wish.forbidden and index not in progress.accepted
            ],
        }

    def _names_reason(self, goal: UserGoal, progress: Progress, index: int) -> bool:
        return goal.wishes[index].forbidden and any(map(self.desk.reasons.search, progress.said))


def _choices(goal: UserGoal) -> Iterator[list[ToolCall]]:
    """For each wish that a write fulfils, the calls that would."""
    for wish in map(attainable, goal.wishes):
        if wish is not None and wish.tool:
            yield [ToolCall(wish.tool, arguments) for arguments in wish.accepted]


def attainable(wish: Wish) -> Wish | None:
    """What can be had of a wish: it, or what is wanted instead; None: only a no."""
    return next((each for each in alternatives(wish) if not each.forbidden), None)


def _refused(goal: UserGoal, progress: Progress) -> dict[str, bool]:
    forbidden = [index for index, wish in enumerate(goal.wishes) if wish.forbidden]
    if not forbidden:
        return {}
    met = all(
        index in progress.accepted and progress.read.issuperset(goal.wishes[index].evidence)
        for index in forbidden
    )
    return {"told_no": met}


def _is_same(call: ToolCall, wish: Wish) -> bool:
    return call.name == wish.tool and any(dict(call.arguments) == arguments for arguments in wish.accepted)


def _show(records: Iterable[tuple[str, str, bytes]]) -> list[str]:
    return [f"{table} {key}: {record.decode()}" for table, key, record in sorted(records)]
