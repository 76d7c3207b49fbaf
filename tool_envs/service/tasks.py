"""Endless tasks: `(split, difficulty, index)` to a customer, their wishes, and what is right.

Customers of `test` and `train` are different people. A task of difficulty 1 is one wish; 2 makes the customer
harder to serve; 3 to 5 are compounds of two to four wishes, some of which depend on what is possible.
"""

import functools
import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import msgspec

from tool_envs.errors import UnknownNameError, UsageError
from tool_envs.messages import Json, ToolCall
from tool_envs.randomness import Draws
from tool_envs.service.progress import alternatives, read_key
from tool_envs.service.wishes import Planned
from tool_envs.simulators.goal import Trait, UserGoal, Value, Wish
from tool_envs.simulators.letters import facts_of
from tool_envs.simulators.phrasing import fact_forms
from tool_envs.task import Task

V = TypeVar("V")

SPLITS = ("train", "test")
DIFFICULTIES = (1, 2, 3, 4, 5)
TASKS = 1 << 30
"""How many tasks a split has: as good as endless."""

_TEST_SHARE = 5  # one customer in five is a customer of `test`
_TRIES = 5000
_STREAM = 40  # first of the streams of random words of tasks; smaller ones are taken by the data
_WISHES = {1: (1,), 2: (1,), 3: (2,), 4: (2, 3), 5: (3, 4)}
_TRAITS: dict[int, tuple[tuple[Trait, ...], ...]] = {
    1: ((), ("terse",), ("talkative",)),
    2: (("forgetful",), ("reluctant",), ("insists",), ("changes_mind",), ("forgetful", "talkative")),
    3: ((), ("terse",), ("talkative",), ("insists",)),
    4: (("forgetful",), ("reluctant", "terse"), ("changes_mind",), ("insists", "talkative")),
    5: (("forgetful", "reluctant"), ("changes_mind", "terse"), ("insists", "forgetful"), ("reluctant",)),
}
_MAX_CHARACTERS = (600, 700, 800)


@dataclass(frozen=True, kw_only=True)
class TaskMaker(Generic[V]):
    """How a domain makes tasks. A visitor is a customer while a task is made for them.

    Attributes:
        domain: Names it in ids and goals.
        seed: Of the data.
        customers: How many customers there are.
        visit: Index of a customer, draws, whether they are forgetful -> the visitor.
        families: Kind of wish -> its maker; None when this visitor cannot have such a wish.
        unruled: Likewise, of wishes that no rule grades: they come up only where their family is asked for.
        knows: Slot -> what the visitor can say of themselves.
        identify: The call that finds them by what they know.
        lexicon: Slot -> all values that may come up with the visitor and these wishes.
        names_amounts: Whether a proposal for a wish names several amounts, so that nobody who wants it can
            demand to hear only a total.
    """

    domain: str
    seed: int
    customers: int
    visit: Callable[[int, Draws, bool], V]
    families: Mapping[str, Callable[[V], Planned | None]]
    knows: Callable[[V], dict[str, str]]
    identify: Callable[[V], ToolCall]
    lexicon: Callable[[V, Sequence[Wish]], dict[str, tuple[Value, ...]]]
    names_amounts: Callable[[Wish], bool] = lambda _: False
    unruled: Mapping[str, Callable[[V], Planned | None]] = field(default_factory=dict)


class GeneratedTasks(Generic[V]):
    """The tasks of one split, made when they are asked for; the same for everybody.

    Args:
        maker: Whose tasks.
        split: `train` or `test`.
        difficulty: Of all tasks; None: 1 to 5 in turn.
        size: How many tasks there are; None: as good as endless.
        family: Of all wishes; None: the families that rules grade, in turn.

    Raises:
        UnknownNameError: There is no such split, difficulty or family.
        UsageError: There cannot be so many tasks.
    """

    def __init__(
        self,
        maker: TaskMaker[V],
        split: str,
        difficulty: int | None,
        size: int | None = None,
        family: str | None = None,
    ) -> None:
        if split not in SPLITS:
            raise UnknownNameError("split", split, SPLITS)
        if difficulty is not None and difficulty not in DIFFICULTIES:
            raise UnknownNameError("difficulty", difficulty, DIFFICULTIES)
        if size is not None and not (type(size) is int and 0 < size <= TASKS):
            raise UsageError(f"`pool_size` is a number of tasks from 1 to {TASKS}, or None, not {size!r}.")
        every = {**maker.families, **maker.unruled}
        if family is not None and family not in every:
            raise UnknownNameError("family", family, every)
        self.split, self.difficulty, self.family = split, difficulty, family
        self._maker, self._size = maker, size or TASKS
        self._families = maker.families if family is None else {family: every[family]}
        self._made = functools.lru_cache(maxsize=4096)(self._make)

    def of_split(self, split: str) -> "GeneratedTasks[V]":
        """All tasks of another split; raises UnknownNameError when there is none of that name."""
        return GeneratedTasks(self._maker, split, self.difficulty, family=self.family)

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, index: int) -> Task:
        """The task at an index; raises UnknownNameError outside of 0 to len - 1."""
        if not (isinstance(index, int) and 0 <= index < self._size):
            raise UnknownNameError("task index", index, [f"0 to {self._size - 1}"])
        return self._made(index)

    def find(self, task_id: str) -> Task:
        """The task with that id; raises UnknownNameError when this split and difficulty has none of it."""
        return self[self.index(task_id)]

    def index(self, task_id: str) -> int:
        """Where the task with that id is; raises as `find` does."""
        *_, index = task_id.split("/")
        if not (re.fullmatch("[0-9]{1,10}", index) and task_id == self.task_id(int(index))):
            raise UnknownNameError("task id", task_id, [self.task_id(0), self.task_id(1), "..."])
        return int(index)

    def task_id(self, index: int) -> str:
        """Names a task by domain, split, difficulty, the family that was asked for, and index."""
        place = [self._maker.domain, self.split, self.difficulty or "any", self.family, index]
        return "/".join(str(part) for part in place if part is not None)

    def _make(self, index: int) -> Task:
        difficulty = self.difficulty or DIFFICULTIES[index % len(DIFFICULTIES)]
        stream = _STREAM + SPLITS.index(self.split) * 10 + difficulty
        draws = Draws(self._maker.seed, stream, index)
        traits = draws.pick(_TRAITS[difficulty])
        count = draws.pick(_WISHES[difficulty])
        families = tuple(self._families)
        first = families[index // (1 if self.difficulty else len(DIFFICULTIES)) % len(families)]
        for _ in range(_TRIES):
            wanted = [first, *(draws.pick(families) for _ in range(count - 1))]
            visitor = self._maker.visit(self._customer(draws), draws, "forgetful" in traits)
            planned = self._plan(visitor, wanted)
            if planned:
                goal = self._goal(visitor, [each.wish for each in planned], traits, difficulty, draws)
                return self._task(index, visitor, planned, goal, difficulty, first)
        raise RuntimeError(f"no customer of {self._maker.customers} fits the task {self.task_id(index)}")

    def _customer(self, draws: Draws) -> int:
        """A customer of the split."""
        groups = max(self._maker.customers // _TEST_SHARE, 1)
        group = draws.below(groups) * _TEST_SHARE
        place = 0 if self.split == "test" else 1 + draws.below(_TEST_SHARE - 1)
        return min(group + place, self._maker.customers - 1)

    def _plan(self, visitor: V, families: Sequence[str]) -> list[Planned]:
        """A wish of each family, one after the other; empty when this visitor cannot have them."""
        planned = []
        for family in families:
            wish = self._families[family](visitor)
            if wish is None:
                return []
            planned.append(wish._replace(wish=_with_evidence(wish.wish, wish.reads)))
        return planned

    def _goal(
        self, visitor: V, wishes: list[Wish], traits: tuple[Trait, ...], difficulty: int, draws: Draws
    ) -> UserGoal:
        return UserGoal(
            domain=self._maker.domain,
            knows=self._maker.knows(visitor),
            wishes=tuple(wishes),
            lexicon=self._maker.lexicon(visitor, wishes),
            traits=traits,
            conditions=self._conditions(draws, wishes, difficulty),
        )

    def _conditions(self, draws: Draws, wishes: Sequence[Wish], difficulty: int) -> dict[str, Json]:
        """What the customer demands of every reply, in some of the harder tasks."""
        if difficulty < 4 or draws.below(2):
            return {}
        asked = any(wish.fact and wish.fact.type == "amount" for wish in wishes)
        alone = not any(
            map(self._maker.names_amounts, itertools.chain.from_iterable(map(alternatives, wishes)))
        )
        if asked and alone and draws.below(2):
            return {"only_the_total": True}
        match draws.below(4):
            case 0:
                return {"formal": True}
            case 1:
                return {"language": "English"}
            case _:
                return {"max_characters": draws.pick(_MAX_CHARACTERS)}

    def _task(
        self, index: int, visitor: V, planned: list[Planned], goal: UserGoal, difficulty: int, family: str
    ) -> Task:
        served = (call for each in planned for call in (*each.reads, *each.writes))
        return Task(
            id=self.task_id(index),
            goal=goal,
            actions=(self._maker.identify(visitor), *served),
            facts=tuple(fact_forms(fact)[0] for wish in goal.wishes for fact in facts_of(wish)),
            family=family,
            difficulty=difficulty,
            graded=family in self._maker.families,
        )


def _with_evidence(wish: Wish, reads: Sequence[ToolCall]) -> Wish:
    """The wish, which nobody who did not look these things up can fulfil for sure."""
    instead = wish.otherwise and _with_evidence(wish.otherwise, reads)
    return msgspec.structs.replace(wish, evidence=tuple(map(read_key, reads)), otherwise=instead)
