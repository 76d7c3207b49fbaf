"""Which task an episode of a lane has: `tool_envs.randomness`, as kernels (see `tool_envs.rows`).

All integers are `numpy.uint64`, which wrap around; mixed with others, compiled code would make reals of them.
"""

from typing import Final

import numpy as np

from tool_envs.env import TASK_DRAW
from tool_envs.rows import kernel

_GAMMA: Final = np.uint64(0x9E3779B97F4A7C15)
_FIRST: Final = np.uint64(0xBF58476D1CE4E5B9)
_SECOND: Final = np.uint64(0x94D049BB133111EB)
_U30: Final = np.uint64(30)
_U27: Final = np.uint64(27)
_U31: Final = np.uint64(31)
_HALF: Final = np.uint64(32)
_LOW: Final = np.uint64(0xFFFFFFFF)


@kernel
def _mixed(state: np.uint64, part: np.uint64) -> np.uint64:
    """The state of `tool_envs.randomness.splitmix64` after one integer more."""
    state = state + _GAMMA + part
    state = (state ^ (state >> _U30)) * _FIRST
    state = (state ^ (state >> _U27)) * _SECOND
    return state ^ (state >> _U31)


@kernel
def draw_task(tasks: int, key: int, episode: int) -> int:
    """`tool_envs.randomness.draw_below(tasks, key, episode, 0, TASK_DRAW)`.

    Args:
        tasks: How many there are; at most 2**32.
        key: Of the lane.
        episode: Its number, from 0.
    """
    state = _mixed(np.uint64(0), np.uint64(key))
    state = _mixed(state, np.uint64(episode))
    state = _mixed(state, np.uint64(0))
    state = _mixed(state, np.uint64(TASK_DRAW))
    # The upper 64 of the 128 bits of state * tasks, in halves.
    count = np.uint64(tasks)
    carried = (state & _LOW) * count >> _HALF
    return int(np.int64(((state >> _HALF) * count + carried) >> _HALF))
