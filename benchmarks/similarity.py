"""Speed of the reward by similarity, as ratios to plain difflib within the same run.

    python benchmarks/similarity.py [--rounds N] [--characters N [N ...]] [--json]

Two diffs are compared as `unified_diff_reward` does it: one without each 50th character (`near`), and one of
another file (`far`). Rounds of both alternate, and the medians are compared, so that a drifting machine
drifts in all. `slow_s` is the time in seconds for a text of the same size that is made to be slow.
"""

import argparse
import difflib
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import cydifflib

import tool_envs


def main() -> None:
    options = _arguments()
    figures = {str(size): measure(size, options.rounds) for size in options.characters}
    if options.json:
        print(json.dumps(figures))
        return
    for size, row in figures.items():
        print(f"{size:>8} characters: " + ", ".join(f"{name} {value:,.4g}" for name, value in row.items()))


def measure(size: int, rounds: int) -> dict[str, float]:
    """The figures for diffs of `size` characters."""
    text = "\n".join(f"+{line}" for line in _source().splitlines())
    one, far = text[:size], text[-size:]
    near = "".join(character for number, character in enumerate(one, start=1) if number % 50)
    figures = {}
    for name, other in (("near", near), ("far", far)):
        plain, compiled = _medians(
            rounds,
            lambda other=other: difflib.SequenceMatcher(None, other, one, autojunk=False).ratio(),
            lambda other=other: cydifflib.SequenceMatcher(None, other, one, autojunk=False).ratio(),
        )
        figures |= {f"{name}_s": compiled, f"{name}_times_faster": plain / compiled}
    slow = "e?" * (size // 2)
    (figures["slow_s"],) = _medians(
        1, lambda: cydifflib.SequenceMatcher(None, slow, one, autojunk=False).ratio()
    )
    return figures


def _source() -> str:
    files = sorted(Path(tool_envs.__file__).parent.rglob("*.py"))
    return "\n".join(file.read_text(encoding="utf-8") for file in files)


def _medians(rounds: int, *ways: Callable[[], float]) -> list[float]:
    times: list[list[float]] = [[] for _ in ways]
    for _ in range(rounds):
        for way, found in zip(ways, times, strict=True):
            start = time.perf_counter()
            way()
            found.append(time.perf_counter() - start)
    return [statistics.median(found) for found in times]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--characters", type=int, nargs="+", default=[500, 2000, 4000])
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
