"""Rubrics of tasks, made from what their maker knows: the wishes, what is right for them, the oracle's plan.

The form is `schemas/meta/rubric/1.0.0.json`. A *filter* says when an episode is worth fine-tuning on: success
criteria in words, the tools of the oracle's plan, and checkpoints that can be read off a record. A *reward*
rubric is for tasks that no rule grades: what is good in their letters. Both follow from the task alone, and
tell of the answer key.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, NamedTuple, TypeAlias

from tool_envs.domain import RubricKind
from tool_envs.errors import UnknownNameError
from tool_envs.messages import Json, ToolCall
from tool_envs.schema import ToolSchema
from tool_envs.service.desk import Desk, goal_of
from tool_envs.service.grading import attainable
from tool_envs.service.progress import read_key
from tool_envs.simulators.goal import Fact, UserGoal, Wish
from tool_envs.simulators.letters import Letter, facts_of, letter_of
from tool_envs.simulators.phrasing import fact_forms
from tool_envs.task import Task

FORMAT_VERSION: Final = "1.0.0"
"""The version of the form."""
RUBRIC_VERSION: Final = "1.0.0"
"""The version of what is made here; grows with every change of a rubric."""

Praised: TypeAlias = Callable[[Letter], Mapping[str, str]]
"""What is good in a letter beside that it answers what was asked: id -> sentence for a judge."""

_MOST_IN_ANY_ORDER = 3
_NO = (
    *("cannot", "can't", "can not", "unable", "impossible", "not possible", "not able", "not allow"),
    *("not allowed", "not permitted", "not eligible", "may not", "won't be able", "only be", "can only"),
)
"""Words of which one stands in every plain no."""
_DEMANDS = {
    "max_characters": "No reply to the customer is longer than {} characters.",
    "only_the_total": "No reply to the customer names another amount than the total.",
    "language": "Every reply to the customer is in {}.",
    "formal": "No reply to the customer contracts words.",
}
"""Condition of a goal -> what keeps it."""


class TaskRubrics(NamedTuple):
    """The maker of rubrics for the tasks of one desk.

    Attributes:
        desk: Whose tasks.
        schema: The tools as the agent sees them.
        praised: What is good in its letters.
    """

    desk: Desk
    schema: ToolSchema
    praised: Praised

    def make(self, task: Task, kind: RubricKind) -> Json:
        """The rubric of a task: a JSON object, or None when it has none of that kind.

        Every task has a `filter`; those that no rule grades have a `reward` rubric, too.

        Raises:
            UnknownNameError: There is no such kind.
        """
        if kind not in ("reward", "filter"):
            raise UnknownNameError("kind of rubric", kind, ("reward", "filter"))
        if kind == "reward" and task.graded:
            return None
        head = {"format_version": FORMAT_VERSION, "name": task.id, "version": RUBRIC_VERSION, "kind": kind}
        if kind == "reward":
            return {**head, "items": list(_items(goal_of(task), self.praised))}
        return {
            **head,
            "items": [],
            "success_criteria": list(_criteria(goal_of(task))),
            "expected_tools": list(dict.fromkeys(call.name for call in task.actions)),
            "checkpoints": list(self._checkpoints(task)),
        }

    def _checkpoints(self, task: Task) -> Iterator[Json]:
        """For each wish what was looked up, said and done; then what was left alone, and the rules."""
        wishes = goal_of(task).wishes
        for number, wish in enumerate(wishes, 1):
            yield from self._of_wish(f"wish_{number}", wish, task)
        wanted = {possible.tool for possible in map(attainable, wishes) if possible}
        for tool in self.desk.writes:
            if tool in self.schema.tools and tool not in wanted:
                check = {"kind": "tool_not_called", "tool": tool}
                yield _point(f"no_{tool}", f"`{tool}` changed nothing, since nobody wanted it.", check)
        for rule in self.desk.rules:
            yield _point(f"rule_{rule.id}", rule.text, {"kind": "rule_kept", "rule": rule.id})

    def _of_wish(self, name: str, wish: Wish, task: Task) -> Iterator[Json]:
        for number, call in enumerate(self._looked_up(wish, task), 1):
            text = f"What it is about was looked up with `{call.name}`."
            yield _point(f"{name}_looked_up_{number}", text, self._called(call.name, [call.arguments]))
        if wish.forbidden:
            check = {"kind": "said", "texts": list(_NO)}
            yield _point(f"{name}_refused", "The customer was told no.", check)
        for number, fact in enumerate(facts_of(wish), 1):
            yield _point(f"{name}_told_{number}", _answer(fact), _said(fact))
        possible = attainable(wish)
        if possible and possible.tool:
            yield _point(f"{name}_done", self._deed(possible), self._called(possible.tool, possible.accepted))

    def _looked_up(self, wish: Wish, task: Task) -> Iterator[ToolCall]:
        """What must be looked up: all evidence for an answer or a no, and for a write the record itself."""
        for call in task.actions:
            needed = wish.fact or wish.forbidden or self.desk.record in call.arguments
            if needed and call.name not in self.desk.writes and read_key(call) in wish.evidence:
                yield call

    def _deed(self, wish: Wish) -> str:
        """What the write did, with the record that it is about: that it was the right one is the point."""
        record = self.desk.record
        records = dict.fromkeys(str(each[record]) for each in wish.accepted if record in each)
        about = f" for {' or '.join(records)}" if records else ""
        return f"`{wish.tool}` did what the customer wanted{about}: {wish.opening}"

    def _called(self, tool: str, accepted: Iterable[Mapping[str, Json]]) -> Json:
        """A check that a call of a tool succeeded, with one of the accepted sets of arguments."""
        first_names = itertools.chain.from_iterable(map(self._comparable, accepted))
        named = [self.desk.renames.arguments_for(self.schema.tools[tool], each) for each in first_names]
        alternatives = [each for number, each in enumerate(named) if each not in named[:number]]
        with_arguments = {"arguments": alternatives} if all(alternatives) else {}
        return {"kind": "tool_called", "tool": tool, **with_arguments}

    def _comparable(self, arguments: Mapping[str, Json]) -> Iterator[dict[str, Json]]:
        """Arguments as far as equal calls have them equal, once for each order in which they may be.

        The elements of lists of ids belong together by their places, in whatever order. Left out are longer
        ones, and lists of objects, unless their order counts.
        """
        ids = {name: value for name, value in arguments.items() if _is_ids(value)}
        fixed = {name: value for name, value in arguments.items() if self._is_fixed(name, value)}
        lengths = set(map(len, ids.values()))
        if len(lengths) != 1 or max(lengths) > _MOST_IN_ANY_ORDER:
            yield fixed
            return
        for order in itertools.permutations(range(max(lengths))):
            yield fixed | {name: [value[place] for place in order] for name, value in ids.items()}

    def _is_fixed(self, name: str, value: Json) -> bool:
        return name in self.desk.ordered or not isinstance(value, list | tuple | dict)


def nothing_more(_: Letter) -> Mapping[str, str]:
    """Of a desk that writes no letters."""
    return {}


def _criteria(goal: UserGoal) -> Iterator[str]:
    """When a task is done, in sentences: a customer's words stand for what they want."""
    for wish in goal.wishes:
        if wish.forbidden:
            yield f"The customer is told no, and why, since this cannot be done: {wish.opening}"
        if letter_of(wish):
            yield f"A letter is written as the customer asks for it: {wish.opening}"
        elif wish.fact:
            yield f"The customer is told what they ask for: {_answer(wish.fact)}"
        possible = attainable(wish)
        if possible and possible.tool:
            yield f"What the customer wants is done, after their yes to just that: {possible.opening}"
    yield "Nothing is changed that the customer did not ask for."
    yield from _demands(goal).values()


def _items(goal: UserGoal, praised: Praised) -> Iterator[Json]:
    """What is good in the letters of a task."""
    for number, letter in enumerate(filter(None, map(letter_of, goal.wishes)), 1):
        of_several = f"Letter {number} ({letter.kind}): " if len(goal.wishes) > 1 else ""
        facts = enumerate(letter.tells, 1)
        told = ((f"fact_{place}", f"In the letter, {_answer(fact)}") for place, fact in facts)
        for name, text in itertools.chain(told, praised(letter).items()):
            yield {"id": f"letter_{number}_{name}", "group": "task", "text": f"{of_several}{text}"}
    for name, text in _demands(goal).items():
        yield {"id": f"demand_{name}", "group": "task", "text": text}


def _demands(goal: UserGoal) -> dict[str, str]:
    return {name: _DEMANDS[name].format(value) for name, value in goal.conditions.items()}


def _answer(fact: Fact) -> str:
    return f'"{fact.question}" is answered with "{fact_forms(fact)[0]}".'


def _said(fact: Fact) -> Json:
    """A check that a fact was told: numbers are read as such, all else is words."""
    if fact.type in ("amount", "count"):
        return {"kind": "told", "type": fact.type, "value": abs(int(fact.value))}
    text = str(fact.value)
    texts = dict.fromkeys((text, text.lstrip("#"), text.replace("cancelled", "canceled")))
    return {"kind": "said", "texts": list(texts)}


def _is_ids(value: Json) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(each, str) for each in value)


def _point(name: str, text: str, check: Json) -> Json:
    return {"id": name, "text": text, "check": check}
