"""Accepted episodes on their way to the trainer."""

import heapq
import itertools
from typing import Generic, TypeVar

from tool_envs.errors import UsageError
from tool_envs.rollout.admission import Admission, StalePolicy

T = TypeVar("T")


class Batches(Generic[T]):
    """Accepted episodes that wait for the trainer, those with the oldest head version first.

    With `restart` no batch holds an episode whose head version is more than `max_staleness` behind. For that,
    whoever runs the episodes begins, on each publish, those running ones again of which `Admission.is_stale`
    is true, and those waiting ones that `expire` gives: an episode that ends while the trainer is busy may be
    too old for the next version. What waits when a batch is taken does not get too old later, since the
    admission rule leaves no more than one batch of episodes so old, and the oldest are taken first.

    Args:
        admission: Told of what is accepted and withdrawn.
        stale: What is done with an episode that falls behind.
    """

    def __init__(self, admission: Admission, stale: StalePolicy) -> None:
        self._admission, self._stale = admission, stale
        self._waiting: list[tuple[int, int, T]] = []
        self._arrivals = itertools.count()

    def __len__(self) -> int:
        """How many wait."""
        return len(self._waiting)

    def put(self, head: int, episode: T) -> None:
        """Accept an episode that has ended.

        Args:
            head: The number of the version under which it began.
            episode: The episode.

        Raises:
            UsageError: None was running.
        """
        self._admission.accept()
        heapq.heappush(self._waiting, (head, next(self._arrivals), episode))

    def expire(self, version: int) -> tuple[T, ...]:
        """Withdraw the episodes that have grown too old as they waited; only with `restart` are there any.

        Args:
            version: The number of the version in force.

        Returns:
            Those episodes, oldest first, to be run again.
        """
        expired = []
        while self._holds_stale(version):
            self._admission.withdraw()
            expired.append(heapq.heappop(self._waiting)[-1])
        return tuple(expired)

    def take(self, version: int) -> tuple[T, ...]:
        """The next batch; empty if not enough episodes wait for one.

        Args:
            version: The number of the version in force, which will be trained on it.

        Raises:
            UsageError: With `restart`: an episode is too old.
        """
        if self._holds_stale(version):
            raise UsageError(f"An episode that waits is too old for version {version}. Call `expire` first.")
        size = self._admission.batch_size
        if len(self._waiting) < size:
            return ()
        return tuple(heapq.heappop(self._waiting)[-1] for _ in range(size))

    def _holds_stale(self, version: int) -> bool:
        oldest = self._waiting[0][0] if self._waiting else version
        return self._stale == "restart" and self._admission.is_stale(oldest, version)
