"""What the vectorized array view does with all observations at once, as functions to be compiled."""

from typing import Any

from tool_envs.array_rows import Lanes
from tool_envs.array_steps import begin_lanes, draw_tasks, spread


def begin_all(arrays: Lanes, ids: Any, pool: Any) -> None:  # noqa: ANN401 - arrays
    """As `tool_envs.array_steps.begin_lanes`."""
    begin_lanes(arrays, ids, pool)


def draw_each(arrays: Lanes, ids: Any) -> None:  # noqa: ANN401 - an array
    """As `tool_envs.array_steps.draw_tasks`."""
    draw_tasks(arrays, ids)


def spread_all(segments: Any, small: Any, real: Any, out: Any) -> None:  # noqa: ANN401 - arrays
    """`tool_envs.array_steps.spread` for each lane.

    Args:
        segments: As there.
        small: int8 (lanes, fields).
        real: float32 (lanes, fields).
        out: float32 (lanes, all fields).
    """
    for lane in range(len(out)):
        spread(segments, small[lane], real[lane], out[lane])


def pick_each(masks: Any, sizes: Any, chances: Any, out: Any) -> None:  # noqa: ANN401 - arrays
    """Pick one of the possible choices in each dimension of each lane.

    Args:
        masks: int8 (lanes, sum of the sizes).
        sizes: How many choices each dimension has.
        chances: float64 (lanes, dimensions), from 0 to below 1.
        out: int64, likewise; the choices are written here.
    """
    for lane in range(len(out)):
        start = 0
        for dimension in range(len(sizes)):
            count = 0
            for choice in range(sizes[dimension]):
                count += masks[lane, start + choice]
            wanted = int(chances[lane, dimension] * count)
            for choice in range(sizes[dimension]):
                if masks[lane, start + choice]:
                    if wanted == 0:
                        out[lane, dimension] = choice
                        break
                    wanted -= 1
            start += sizes[dimension]
