"""The tasks that instances make: which have a reward of a kind, and what the digest of each covers."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from tool_envs.errors import DataFileError, UsageError
from tool_envs.repo.instances import Instance
from tool_envs.repo.rewards import RepoReward
from tool_envs.task import Task, TaskList

GOAL: Final = (
    "repo",
    "base_commit",
    "problem_statement",
    "patch",
    "test_patch",
    "FAIL_TO_PASS",
    "PASS_TO_PASS",
)
"""The columns that the goal of a task holds, so that its digest covers them. They are the same whatever the
reward: who trained on the similarity of a task is seen to have met it when tests evaluate."""

_EFFORTS = ("<15 min fix", "15 min - 1 hour", "1-4 hours", ">4 hours")
"""The difficulties of SWE-bench Verified."""


class IssueTasks(TaskList):
    """The tasks that have a reward of a kind; other instances are left out, and asking for one says why.

    Args:
        instances: The instances of a split.
        reward: The kind of reward.

    Raises:
        UsageError: None of the instances has it.
    """

    def __init__(self, instances: Sequence[Instance], reward: RepoReward) -> None:
        kept = [instance for instance in instances if reward.has(instance)]
        if not kept:
            raise UsageError(f"No instance has a reward by {reward.source}: of each, {reward.lacks}.")
        super().__init__([make_task(instance) for instance in kept])
        self._reward = reward
        self._left_out = {each.instance_id for each in instances} - {each.instance_id for each in kept}

    def index(self, task_id: str) -> int:
        """Where the task with that id is.

        Raises:
            UnknownNameError: There is none.
            UsageError: There is an instance of that id, without a reward of this kind.
        """
        if task_id in self._left_out:
            raise UsageError(f"{task_id} has no reward by {self._reward.source}: {self._reward.lacks}.")
        return super().index(task_id)


def make_task(instance: Instance) -> Task:
    """The task of an instance. It has no calls that solve it: the oracle finds them, from any state."""
    columns = msgspec.to_builtins(instance)
    return Task(
        id=instance.instance_id,
        goal={name: columns[name] for name in GOAL},
        actions=(),
        family=instance.repo,
        difficulty=_difficulty(instance.difficulty),
    )


def instances_of_split(instances: Iterable[Instance], split: str, path: str) -> list[Instance]:
    """The instances of a split: those that say so, and those that do not say of which they are.

    Raises:
        DataFileError: There are none.
    """
    instances = list(instances)
    found = [each for each in instances if each.split in ("", split)]
    if not found:
        known = ", ".join(sorted({each.split for each in instances}))
        raise DataFileError(path, f"no instance is of the split {split!r}; there are: {known}")
    return found


def _difficulty(said: str) -> int:
    """1 to 5: a number as it is, SWE-bench's four efforts as 1 to 4; 0: not stated, or another word."""
    if re.fullmatch("[1-5]", said):
        return int(said)
    return _EFFORTS.index(said) + 1 if said in _EFFORTS else 0
