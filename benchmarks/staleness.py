"""Throughput and staleness of asynchronous rollouts, simulated, against synchronous collection.

    python benchmarks/staleness.py --seeds 0 1 2 --out benchmarks/results/staleness --plot

Virtual time; `Admission`, `Batches` and `Versions` are those that rollouts use, moved by the events of a
trainer and of episodes:

* The unit of time is the mean length of an episode, were none cut. Lengths are log-normal with the parameter
  SIGMA (with 1.0 one in a hundred is above 6.2), and cut at LONGEST. The n-th episode of a seed is as long
  under each choice, and as long when it is begun again: long tasks stay long.
* MAX_CONCURRENT episodes run at once, each at the same speed. An update of a batch takes TRAIN_TIME; with the
  defaults, rollouts that never wait for the trainer are about as fast as a trainer that never waits for them.
  Synchronous collection has the same two machines and uses one at a time; one that gave both to either
  could train faster than here, but would not make the longest episode of a batch shorter.
* Where an episode goes on with a newer version, what it has so far is read again by the new weights: PREFILL
  of the time that it took to sample. Handing over the weights is part of TRAIN_TIME.

Columns of OUT.csv beside the choice and the parameters: episodes trained on per unit of time (`throughput`),
and as a multiple of synchronous collection with the same seed (`speedup`); how many versions behind were,
when they were trained on, those that their episodes began and ended with (`head_*`, `tail_*`); the share of
the time of sampling that was spent in vain, on episodes that were given up and on reading again (`wasted`);
the mean length of the episodes that were trained on (`trained_length`), which is lower where long ones are
delayed. OUT.png (`--plot`, which needs matplotlib) draws the means, or the most, over seeds.
"""

import argparse
import csv
import itertools
import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import simpy

from tool_envs.randomness import splitmix64
from tool_envs.rollout import Admission, Batches, StalePolicy, Versions
from tool_envs.trajectory.record import PolicyVersion

STALENESSES = (1, 2, 4, 8)
STALE_POLICIES: tuple[StalePolicy, ...] = ("continue", "restart", "keep")
SYNCHRONOUS = "synchronous"
"""What `max_staleness` 0 is called: no episode outlives an update, so there is nothing to choose."""

Row = dict[str, Any]
Events = Generator[simpy.Event, None, None]


@dataclass(frozen=True)
class Setup:
    """What is the same for all choices; see above."""

    updates: int
    batch_size: int
    max_concurrent: int
    sigma: float
    longest: float
    train_time: float
    prefill: float

    def length(self, seed: int, number: int) -> float:
        """How long the n-th episode takes to sample."""
        share = (splitmix64(seed, number, 0, 0) + 0.5) / 2**64
        uncut = math.exp(self.sigma * statistics.NormalDist().inv_cdf(share) - self.sigma**2 / 2)
        return min(uncut, self.longest)


@dataclass
class Episode:
    """An episode, and the numbers of the versions that it began with and has come to."""

    length: float
    head: int
    tail: int


class Simulation:
    """One run: a trainer, and episodes that are sampled as it goes."""

    def __init__(self, setup: Setup, stale: StalePolicy, max_staleness: int, seed: int) -> None:
        self.setup, self.stale = setup, stale
        self.admission = Admission(setup.batch_size, max_staleness, setup.max_concurrent)
        self.batches: Batches[Episode] = Batches(self.admission, stale)
        self.versions = Versions(PolicyVersion(version="step-0", number=0))
        self.world = simpy.Environment()
        self.arrival = self.world.event()
        self.running: list[simpy.Process] = []
        self.fresh = (setup.length(seed, number) for number in itertools.count())
        self.again: list[float] = []
        """Lengths of episodes that are to be begun again."""
        self.heads: list[int] = []
        self.tails: list[int] = []
        self.lengths: list[float] = []
        self.sampled = self.wasted = 0.0

    @property
    def version(self) -> int:
        return self.versions.current.number

    def run(self) -> Row:
        self.begin_episodes()
        self.world.run(until=self.world.process(self.train()))
        return {
            "throughput": len(self.lengths) / self.world.now,
            "head_mean": statistics.fmean(self.heads),
            "head_max": max(self.heads),
            "tail_mean": statistics.fmean(self.tails),
            "tail_max": max(self.tails),
            "wasted": self.wasted / self.sampled,
            "trained_length": statistics.fmean(self.lengths),
        }

    def train(self) -> Events:
        while self.version < self.setup.updates:
            batch = self.batches.take(self.version)
            if not batch:
                self.arrival = self.world.event()
                yield self.arrival
                continue
            self.heads += [self.version - episode.head for episode in batch]
            self.tails += [self.version - episode.tail for episode in batch]
            self.lengths += [episode.length for episode in batch]
            yield self.world.timeout(self.setup.train_time)
            self.publish()

    def publish(self) -> None:
        self.versions.publish(f"step-{self.version + 1}")
        for episode in self.batches.expire(self.version):
            self.give_up(episode.length, episode)
        if self.stale != "keep":
            for process in self.running:
                process.interrupt()
        self.begin_episodes()

    def begin_episodes(self) -> None:
        for _ in range(self.admission.capacity(self.version)):
            self.admission.admit()
            length = self.again.pop(0) if self.again else next(self.fresh)
            self.running.append(self.world.process(self.sample(Episode(length, self.version, self.version))))

    def sample(self, episode: Episode) -> Events:
        """An episode from its beginning to its end, or until it is given up."""
        left = episode.length
        while left > 0:
            began = self.world.now
            try:
                yield self.world.timeout(left)
                self.sampled, left = self.sampled + left, 0.0
            except simpy.Interrupt:
                passed = self.world.now - began
                self.sampled, left = self.sampled + passed, left - passed
                done = episode.length - left
                if self.stale == "restart" and self.admission.is_stale(episode.head, self.version):
                    self.end(self.admission.reject)
                    self.give_up(done, episode)
                    break
                left += self.setup.prefill * done
                self.wasted += self.setup.prefill * done
                episode.tail = self.version
        else:
            self.end(lambda: self.batches.put(episode.head, episode))
        self.begin_episodes()

    def end(self, count: Callable[[], None]) -> None:
        """The episode whose process this is called from runs no more."""
        count()
        self.running.remove(self.world.active_process)
        if not self.arrival.triggered:
            self.arrival.succeed()

    def give_up(self, spent: float, episode: Episode) -> None:
        self.wasted += spent
        self.again.append(episode.length)


def simulate(setup: Setup, seed: int) -> Iterator[Row]:
    """A row for each choice, synchronous collection first."""
    synchronous = Simulation(setup, "continue", 0, seed).run()
    yield row(setup, SYNCHRONOUS, 0, seed, synchronous, synchronous)
    for stale, staleness in itertools.product(STALE_POLICIES, STALENESSES):
        figures = Simulation(setup, stale, staleness, seed).run()
        yield row(setup, stale, staleness, seed, figures, synchronous)


def row(setup: Setup, choice: str, staleness: int, seed: int, figures: Row, synchronous: Row) -> Row:
    speedup = figures["throughput"] / synchronous["throughput"]
    return {
        "choice": choice,
        "max_staleness": staleness,
        "seed": seed,
        **{name: round(value, 4) for name, value in {"speedup": speedup, **figures}.items()},
        **vars(setup),
    }


def plot(rows: list[Row], file: Path) -> None:
    """Throughput, and staleness of heads and tails, against `max_staleness`."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 3, figsize=(15, 5), layout="constrained")
    axes[0].axhline(1.0, color="black", linestyle=":", label=SYNCHRONOUS)
    axes[1].plot(STALENESSES, STALENESSES, color="black", linestyle=":", label="max_staleness")
    axes[2].plot(STALENESSES, STALENESSES, color="black", linestyle=":", label="max_staleness")
    for number, choice in enumerate(STALE_POLICIES):
        draw(axes[0], rows, choice, "speedup", color=f"C{number}", marker="o", label=choice)
        for panel, end in zip(axes[1:], ("head", "tail"), strict=True):
            draw(panel, rows, choice, f"{end}_mean", color=f"C{number}", marker="o", label=f"{choice}, mean")
            draw(panel, rows, choice, f"{end}_max", color=f"C{number}", marker="^", linestyle="--")
    axes[0].set(ylabel="throughput, synchronous = 1")
    axes[1].set(ylabel="versions behind at the beginning (dashed: the most)", yscale="symlog")
    axes[2].set(ylabel="versions behind at the end (dashed: the most)", yscale="symlog")
    for panel in axes:
        panel.set(xlabel="max_staleness", xticks=STALENESSES)
        panel.legend(fontsize="small")
        panel.grid(alpha=0.3)
    figure.savefig(file, dpi=120)


def draw(panel: Any, rows: list[Row], choice: str, column: str, **style: Any) -> None:  # noqa: ANN401
    values = defaultdict(list)
    for found in rows:
        if found["choice"] == choice:
            values[found["max_staleness"]].append(found[column])
    over_seeds = max if column.endswith("max") else statistics.fmean
    panel.plot(values.keys(), [over_seeds(seeds) for seeds in values.values()], **style)


def write(rows: list[Row], file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", newline="", encoding="utf-8") as lines:
        writer = csv.DictWriter(lines, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def main() -> None:
    options = vars(arguments())
    seeds, out, plots = options.pop("seeds"), options.pop("out"), options.pop("plot")
    setup, rows = Setup(**options), []
    for seed in seeds:
        for found in simulate(setup, seed):
            rows.append(found)
            print("  ".join(f"{name} {found[name]}" for name in list(found)[:11]), flush=True)
    write(rows, out.with_suffix(".csv"))
    if plots:
        plot(rows, out.with_suffix(".png"))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    add = parser.add_argument
    add("--seeds", nargs="+", type=int, default=[0])
    add("--updates", type=int, default=200, help="how many versions are made")
    add("--batch-size", type=int, default=64)
    add("--max-concurrent", type=int, default=128)
    add("--sigma", type=float, default=1.0)
    add("--longest", type=float, default=10.0)
    add("--train-time", type=float, default=0.5)
    add("--prefill", type=float, default=0.05)
    add("--out", type=Path, default=Path("runs/staleness"))
    add("--plot", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
