"""Which task each episode of each lane has: draws for many lanes at once."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.utils import seeding

from tool_envs.env import TASK_DRAW

Ids = npt.NDArray[np.int64]
"""Numbers of lanes."""

_AHEAD = 4  # tasks are drawn for so many episodes at once, as a power of 2


class TaskDraws:
    """Keys and numbers of the episodes of lanes, as `ToolEnv` has them.

    Args:
        lanes: How many lanes.
        tasks: How many tasks there are.

    Attributes:
        seeds: The seed of each lane.
    """

    def __init__(self, lanes: int, tasks: int) -> None:
        self._count = tasks
        self._keys = np.zeros(lanes, np.uint64)
        self._numbers = np.full(lanes, -1, np.int64)  # -1: there was none
        self._drawn = np.full(lanes, -1, np.int64)  # which part of the episodes ahead was drawn
        self._ahead = np.zeros((lanes, 1 << _AHEAD), np.int64)
        self.seeds: list[int | None] = [None] * lanes

    def seed(self, ids: Ids, seeds: Sequence[int | None]) -> None:
        """Draw keys anew for lanes that are seeded, or never were.

        Args:
            ids: The lanes.
            seeds: One for each of all lanes; None: as it is.
        """
        lanes = [lane for lane in ids.tolist() if seeds[lane] is not None or self._numbers[lane] < 0]
        drawn = [seeding.np_random(seeds[lane]) for lane in lanes]  # all, before any lane is changed
        for lane, (generator, seed) in zip(lanes, drawn, strict=True):
            self._keys[lane], self.seeds[lane] = generator.bit_generator.random_raw(), seed
            self._numbers[lane] = self._drawn[lane] = -1

    def have_begun(self, ids: Ids) -> bool:
        """Whether each of some lanes has had an episode."""
        return bool((self._numbers[ids] >= 0).all())

    def next(self, ids: Ids) -> Ids:
        """Count an episode more in some lanes; gives the task of each."""
        self._numbers[ids] += 1
        numbers = self._numbers[ids]
        if (numbers >> _AHEAD != self._drawn[ids]).any():  # for some episodes at once: it is quicker
            self._drawn = self._numbers >> _AHEAD
            episodes = (self._drawn[:, None] << _AHEAD) + np.arange(1 << _AHEAD)
            self._ahead = draws_below(self._count, self._keys[:, None], episodes, TASK_DRAW)
        tasks: Ids = self._ahead[ids, numbers & ((1 << _AHEAD) - 1)]
        return tasks

    def kept(self) -> tuple[npt.NDArray[Any], ...]:
        """What a snapshot copies of each lane."""
        return self._keys, self._numbers

    def moved(self, ids: Ids) -> None:
        """Take note that what is kept of lanes came from others."""
        self._drawn[ids] = -1


def draws_below(n: int, keys: npt.NDArray[np.uint64], episodes: Ids, k: int) -> Ids:
    """`tool_envs.randomness.draw_below(n, key, episode, 0, k)` for many keys and episodes.

    Args:
        n: At most 2**32.
        keys: Of any shape.
        episodes: Of one that goes with it.
        k: Number of the draw.
    """
    state: Any = np.uint64(0)
    for part in (keys, episodes.astype(np.uint64), np.uint64(0), np.uint64(k)):
        state = state + np.uint64(0x9E3779B97F4A7C15) + part
        state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        state = state ^ (state >> np.uint64(31))
    # (state * n) >> 64, in halves.
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    carried = (state & low) * np.uint64(n) >> half
    drawn: Ids = (((state >> half) * np.uint64(n) + carried) >> half).astype(np.int64)
    return drawn
