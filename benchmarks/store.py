"""Speed of appending to a store, as ratios within the same run.

    python benchmarks/store.py [--rounds N] [--records N] [--json]

Reference: the same bytes, line by line, written bare (`write` for each line and one `fsync` at the end).
`text_ratio` is making the records' text alone, without a file; `append_ratio` is appending with one fsync at
the end; `sync_ratio` with one for each record, which is the disk's time. Rounds of each alternate, and the
medians are compared, so that a drifting machine drifts in all.
"""

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tool_envs.agents import load_agent
from tool_envs.evaluation import evaluate
from tool_envs.trajectory import Trajectory, TrajectoryWriter, read_trajectories, record_episode


def main() -> None:
    options = _arguments()
    figures = measure(record(options.records), options.rounds)
    if options.json:
        print(json.dumps(figures))
        return
    for name, value in figures.items():
        print(f"{name:20} {value:,.2f}")


def record(count: int) -> list[Trajectory]:
    """Episodes of the oracle in our store."""
    found: list[Trajectory] = []
    agent = load_agent("oracle")
    evaluate(
        "tool_envs/Retail-v0",
        {"split": "train"},
        agent,
        tasks=range(count),
        on_episode=lambda env, r: found.append(record_episode(env, agent.name, agent.version, r.seed)),
    )
    return found


def measure(records: list[Trajectory], rounds: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        append(folder / "lines", records, len(records))
        lines = (folder / "lines" / "segment-000001.jsonl").read_bytes().splitlines(keepends=True)
        ways: dict[str, Callable[[Path], object]] = {
            "bare": lambda path: write_bare(path, lines),
            "text": lambda _: [record.to_line() for record in records],
            "append": lambda path: append(path, records, len(records)),
            "sync": lambda path: append(path, records, 1),
            "read": lambda _: sum(1 for _ in read_trajectories(folder / "lines")),
        }
        times: dict[str, list[float]] = {way: [] for way in ways}
        for number in range(rounds):
            for way, work in ways.items():
                began = time.perf_counter()
                work(folder / f"{way}{number}")
                times[way].append(time.perf_counter() - began)
    seconds = {way: statistics.median(values) for way, values in times.items()}
    return {
        "record_bytes": sum(map(len, lines)) / len(lines),
        "append_per_s": len(records) / seconds["append"],
        "sync_per_s": len(records) / seconds["sync"],
        "read_per_s": len(records) / seconds["read"],
        **{f"{way}_ratio": seconds[way] / seconds["bare"] for way in ("text", "append", "sync", "read")},
    }


def append(path: Path, records: list[Trajectory], sync_every: int) -> None:
    with TrajectoryWriter(path, sync_every=sync_every) as writer:
        for trajectory in records:
            writer.append(trajectory)


def write_bare(path: Path, lines: list[bytes]) -> None:
    with path.open("wb", buffering=0) as file:
        for line in lines:
            file.write(line)
        os.fsync(file.fileno())


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--records", type=int, default=500)
    parser.add_argument("--json", action="store_true", help="print the figures as one JSON object")
    return parser.parse_args()


if __name__ == "__main__":
    main()
