"""A task: what the user wants, what solves it, what must be told; and a split of tasks."""

from collections.abc import Sequence
from functools import cached_property
from typing import Protocol

import msgspec

from tool_envs.canonical import digest
from tool_envs.errors import UnknownNameError
from tool_envs.messages import Json, ToolCall


class Task(msgspec.Struct, frozen=True, dict=True):
    """One thing that a user wants done. Everything but `id` is hidden from the agent.

    Attributes:
        id: Names the task in its domain; stable.
        goal: What the simulated user is told about their own wish: a JSON value, or a `msgspec.Struct` that
            stands for one.
        actions: Calls that solve the task, in order; none where only the domain's oracle finds them.
        facts: What the user must be told.
        family: What kind of task it is, for counts.
        difficulty: 1 (easy) to 5; 0: not graded.
        graded: A rule says how it was done; without one no episode of it has a terminal reward.
    """

    id: str
    goal: Json
    actions: tuple[ToolCall, ...]
    facts: tuple[str, ...] = ()
    family: str = ""
    difficulty: int = 0
    graded: bool = True

    @cached_property
    def digest(self) -> str:
        """Digest of the content: goal, actions and facts; id and labels may change without it."""
        actions = [{"name": call.name, "arguments": call.arguments} for call in self.actions]
        goal = msgspec.to_builtins(self.goal)
        return digest({"goal": goal, "actions": actions, "facts": list(self.facts)})


class TaskSet(Protocol):
    """The tasks of one split, reachable by index and by id."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int) -> Task:
        """The task at `index`; raises UnknownNameError outside 0 to len - 1."""

    def find(self, task_id: str) -> Task:
        """The task with that id; raises UnknownNameError when there is none."""

    def index(self, task_id: str) -> int:
        """Where the task with that id is; raises UnknownNameError when there is none."""


class TaskList:
    """A `TaskSet` that holds its tasks in memory."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        self._tasks = tuple(tasks)
        self._indexes = {task.id: index for index, task in enumerate(self._tasks)}

    def __len__(self) -> int:
        return len(self._tasks)

    def __getitem__(self, index: int) -> Task:
        if not (isinstance(index, int) and 0 <= index < len(self._tasks)):
            raise UnknownNameError("task index", index, [f"0 to {len(self._tasks) - 1}"])
        return self._tasks[index]

    def find(self, task_id: str) -> Task:
        """The task with that id; raises UnknownNameError when there is none."""
        return self._tasks[self.index(task_id)]

    def index(self, task_id: str) -> int:
        """Where the task with that id is; raises UnknownNameError when there is none."""
        if task_id not in self._indexes:
            raise UnknownNameError("task id", task_id, self._indexes)
        return self._indexes[task_id]
