"""Speed and memory of the vectorized array view, as ratios within the same run, on one core.

    python benchmarks/array_view.py [--env ID] [--lanes N] [--rounds N] [--quick] [--json] [--png FILE]

Actions are legal random ones, drawn while no clock runs; autoreset is on. References: Gymnasium's own
vectorized CartPole with as many lanes, and copying the observation arrays that a step gives: into fresh
memory (`copy`), which above some tens of megabytes the system gives page by page, and, afterwards, into
memory that is kept (`kept_copy`). Rounds of what is measured and of its other references alternate, and the
medians are compared, so that a drifting machine drifts in both. Times are those of the thread: waiting for a
busy core does not count. A step is one choice in the form `sequential`, and a whole action in
`multidiscrete`; an action carried out is a tool call or a sentence.

The ratios to a copy move with the number of lanes for two reasons: since a step takes longer (`step_spread`),
and since a small copy stays within the processor's caches.

`--quick` leaves out the large numbers of lanes and the views that are not compiled. `--png` (which needs
matplotlib) draws steps a second against lanes.
"""

import argparse
import functools
import json
import os
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import VectorEnv
from rich.console import Console
from rich.table import Table

import tool_envs  # noqa: F401 - registers the ids

AIMS = {
    "of_cartpole": ">= 0.15",
    "of_copy": "<= 3",
    "copy_ratio_spread": "<= 2",
    "lane_bytes": "<= 2048, booking 4096",
    "two_threads": ">= 1.5",
}
SWEEP = (256, 1024, 4096, 16384, 65536)
DIFFICULTY = 1
POOL = 1024


def main() -> None:
    options = _arguments()
    figures = measure(options)
    if options.png:
        draw(figures, options.png)
    print(json.dumps(figures)) if options.json else show(figures, options)


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """All figures; times are in ns for each lane and step."""
    with one_core():
        figures: dict[str, Any] = {
            **measure_lanes(options, options.lanes),
            "multidiscrete": measure_lanes(options, options.lanes, action_form="multidiscrete"),
        }
        if not options.quick:
            figures["lanes"] = {lanes: measure_lanes(options, lanes) for lanes in SWEEP}
            for name in ("copy", "kept_copy"):
                figures[f"{name}_ratio_spread"] = spread_of(figures["lanes"], f"of_{name}")
            figures["step_spread"] = spread_of(figures["lanes"], "step_ns")
            figures["sync_ns"] = measure_reference(options, "sync")
    if not options.quick:
        figures["async_ns"] = measure_reference(options, "async")
        figures["two_threads"] = measure_threads(options)
    return figures


def spread_of(sweep: dict[int, dict[str, float]], name: str) -> float:
    """How far a figure moves over the numbers of lanes: its greatest value beside its least."""
    values = [row[name] for row in sweep.values()]
    return max(values) / min(values)


def measure_lanes(options: argparse.Namespace, lanes: int, **kwargs: str | int) -> dict[str, float]:
    """The stepper with so many lanes beside both references."""
    envs = make(options, lanes, **kwargs)
    cartpole = gymnasium.make_vec("CartPole-v1", lanes, vectorization_mode="vector_entry_point")
    cartpole.reset(seed=0)
    pushes = np.random.default_rng(0).integers(0, 2, lanes)
    stepper, steps = envs.unwrapped, max(4, 40_000 // lanes)
    rng = np.random.default_rng(0)
    observation = envs.reset(seed=0)[0]
    actions_before = total_actions(envs)
    times: dict[str, list[float]] = {"step": [], "cartpole": [], "copy": []}
    for _ in range(options.rounds):
        times["step"].append(time_steps(envs, lambda: stepper.sample_actions(rng), steps))
        times["cartpole"].append(time_of(lambda: cartpole.step(pushes), steps))
        times["copy"].append(time_of(lambda: copy_of(observation), steps))
    kept = copy_of(observation)  # not before: what memory is held decides what fresh memory costs
    times["kept"] = [time_of(lambda: copy_into(kept, observation), steps) for _ in range(options.rounds)]
    step, pole, copy, kept_copy = (statistics.median(each) / lanes * 1e9 for each in times.values())
    done = total_actions(envs) - actions_before
    return {
        "step_ns": step,
        "cartpole_ns": pole,
        "copy_ns": copy,
        "kept_copy_ns": kept_copy,
        "of_cartpole": pole / step,
        "of_copy": step / copy,
        "of_kept_copy": step / kept_copy,
        "steps_per_s": 1e9 / step,
        "actions_per_s": 1e9 / step * done / (options.rounds * steps * lanes),
        "lane_bytes": stepper.lane_bytes,
        "observation_bytes": sum(table.nbytes for table in observation.values()) / lanes,
    }


def make(options: argparse.Namespace, lanes: int, **kwargs: str | int) -> VectorEnv[Any, Any, Any]:
    return gymnasium.make_vec(options.env, lanes, difficulty=DIFFICULTY, pool_size=POOL, **kwargs)


def time_steps(
    envs: VectorEnv[Any, Any, Any],
    sample: Callable[[], Any],
    steps: int,
    clock: Callable[[], float] = time.thread_time,
) -> float:
    """Seconds that a step takes, the drawing of its actions aside."""
    spent = 0.0
    for _ in range(steps):
        actions = sample()
        start = clock()
        envs.step(actions)
        spent += clock() - start
    return spent / steps


def time_of(call: Callable[[], Any], times: int) -> float:
    start = time.thread_time()
    for _ in range(times):
        call()
    return (time.thread_time() - start) / times


def pieces_of(observation: dict[str, Any]) -> list[Any]:
    """The arrays that a step gave, as one piece where they are one."""
    bases = {id(table.base): table.base for table in observation.values() if table.base is not None}
    return list(bases.values()) if len(bases) == 1 else list(observation.values())


def copy_of(observation: dict[str, Any]) -> list[Any]:
    """A copy of them, in memory that is asked for each time."""
    return [piece.copy() for piece in pieces_of(observation)]


def copy_into(kept: list[Any], observation: dict[str, Any]) -> None:
    """The same, in memory that is there already."""
    for room, piece in zip(kept, pieces_of(observation), strict=True):
        np.copyto(room, piece)


def total_actions(envs: VectorEnv[Any, Any, Any]) -> int:
    return envs.unwrapped.total_actions


def measure_reference(options: argparse.Namespace, vectorization: str) -> float:
    """The reference view in Gymnasium's own vectorization, with a few lanes."""
    lanes = 4
    envs = make(options, lanes, vectorization_mode=vectorization)
    observation, _ = envs.reset(seed=0)
    rng, spent, steps = np.random.default_rng(0), 0.0, 100
    for _ in range(steps):
        mask = observation["action_mask"] > 0
        actions = np.array([rng.choice(np.flatnonzero(row)) for row in mask])
        start = time.perf_counter()
        observation = envs.step(actions)[0]
        spent += time.perf_counter() - start
    envs.close()
    return spent / steps / lanes * 1e9


def measure_threads(options: argparse.Namespace) -> float:
    """How many times as fast two threads are as one, in turn."""
    times: dict[int, list[float]] = {1: [], 2: []}
    lanes, rng = 16384, np.random.default_rng(0)
    both = {threads: make(options, lanes, threads=threads) for threads in times}
    for envs in both.values():
        envs.reset(seed=0)
    for _ in range(options.rounds):
        for threads, envs in both.items():
            stepper = envs.unwrapped
            sample = functools.partial(stepper.sample_actions, rng)
            times[threads].append(time_steps(envs, sample, 4, time.perf_counter))
    return statistics.median(times[1]) / statistics.median(times[2])


class one_core:  # noqa: N801 - used like a function
    """Keeps the process on one core, where the system can."""

    def __enter__(self) -> None:
        self.before = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()
        if self.before:
            os.sched_setaffinity(0, {min(self.before)})

    def __exit__(self, *_: object) -> None:
        if self.before:
            os.sched_setaffinity(0, self.before)


# --- What is shown


def show(figures: dict[str, Any], options: argparse.Namespace) -> None:
    console = Console()
    table = Table("figure", "value", "aim", title=f"{options.env}, {options.lanes} lanes, one core")
    for name, value in rows_of(figures):
        table.add_row(name, f"{value:,.4g}", AIMS.get(name.split(" ")[-1], ""))
    console.print(table)


def rows_of(figures: dict[str, Any], before: str = "") -> Iterator[tuple[str, float]]:
    for name, value in figures.items():
        if isinstance(value, dict):
            yield from rows_of(value, f"{before}{name} ")
        else:
            yield f"{before}{name}", value


def draw(figures: dict[str, Any], path: Path) -> None:
    """Steps a second against lanes, with CartPole and the reference beside them."""
    from matplotlib import pyplot

    sweep = figures["lanes"]
    lanes = list(sweep)
    figure, axes = pyplot.subplots(figsize=(7, 4.5))
    axes.loglog(lanes, [1e9 / sweep[n]["cartpole_ns"] for n in lanes], "o-", label="CartPole-v1, vectorized")
    axes.loglog(lanes, [1e9 / sweep[n]["copy_ns"] for n in lanes], "o--", label="copying the observations")
    axes.loglog(lanes, [sweep[n]["steps_per_s"] for n in lanes], "o-", label="compiled stepper, choices")
    for name in ("sync", "async"):
        axes.axhline(1e9 / figures[f"{name}_ns"], linestyle=":", label=f"reference, {name}, 4 lanes")
    axes.set_xlabel("lanes")
    axes.set_ylabel("steps a second, one core")
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--env", default="tool_envs/RetailArray-v0")
    parser.add_argument("--lanes", type=int, default=4096)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--png", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    main()
