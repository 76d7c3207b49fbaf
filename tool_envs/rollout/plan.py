"""Which episodes a rollout has."""

import operator
from collections.abc import Iterator, Sequence

import msgspec

from tool_envs.errors import UsageError
from tool_envs.evaluation.seeds import agent_key, episode_seed

_SEEDS = 2**53
"""How many seeds there are: every reader of a run's manifest takes them exactly."""


class PlannedEpisode(msgspec.Struct, frozen=True):
    """One episode before it is played.

    Attributes:
        task: Index of its task.
        sample: Which of the episodes of this task it is, from 0.
        seed: For `reset`.
        key: 64-bit key of the policy's choices.
    """

    task: int
    sample: int
    seed: int
    key: int


class Plan:
    """The same number of episodes of each task. Those of evaluations are the first samples of their tasks.

    Args:
        tasks: Indexes of the tasks, each once.
        group_size: Episodes of each task (G).
        seed: What seeds and keys of the episodes follow from; it never chooses tasks.

    Raises:
        UsageError: A task stands there twice, or a number is out of its range.
    """

    def __init__(self, tasks: Sequence[int], group_size: int = 1, seed: int = 0) -> None:
        if group_size < 1:
            raise UsageError(f"`group_size` is a number of episodes of at least 1, not {group_size!r}.")
        if not 0 <= seed < _SEEDS:
            raise UsageError(f"`seed` is at least 0 and below 2**53, not {seed!r}.")
        self.tasks = tuple(map(operator.index, tasks))
        self.group_size, self.seed = group_size, seed
        if len(set(self.tasks)) < len(self.tasks):
            raise UsageError("A task stands twice in `tasks`. For more episodes of it, take a larger group.")

    def __len__(self) -> int:
        return len(self.tasks) * self.group_size

    def __iter__(self) -> Iterator[PlannedEpisode]:
        """All episodes, task by task."""
        for task in self.tasks:
            yield from self.group(task)

    def group(self, task: int) -> tuple[PlannedEpisode, ...]:
        """The episodes of a task.

        Raises:
            UsageError: Two of them have the same seed, so that nobody could tell their records apart.
        """
        samples = range(self.group_size)
        episodes = tuple(
            PlannedEpisode(
                task, sample, episode_seed(self.seed, task, sample), agent_key(self.seed, task, sample)
            )
            for sample in samples
        )
        if len({episode.seed for episode in episodes}) < self.group_size:
            raise UsageError(f"Two episodes of task {task} have the same seed. Take another `seed`.")
        return episodes
