"""Teaches a language model of its own making to serve a store: SFT on the oracle, then GRPO on the reward.

    python examples/train_tiny_agent.py --csv runs/tiny_agent.csv

A tokenizer is trained on recorded conversations, and a transformer of about 1.1 million parameters begins
from nothing. It is fine-tuned on the oracle's records, with the loss on what the agent writes alone, and then
trained by GRPO, with the reward at the end of episodes alone. After each phase it serves customers that it
never met. What it is trained on are records, which say which version of the policy wrote each token; `--out`
keeps them. Wants `pip install -e '.[tiny]'`.
"""

import argparse
import asyncio
import csv
import shlex
import time
from collections.abc import Iterator, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import NamedTuple

import torch
from tiny_agent.learning import Grpo, fine_tune, weigh
from tiny_agent.model import Model, Shape
from tiny_agent.policy import CONTEXT, TinyPolicy
from tiny_agent.text import TinyTokenizer, train_tokenizer

from tool_envs.agents import load_agent
from tool_envs.rollout import Engine, EpisodePolicy, Group, Plan, ScriptedPolicy, Versions
from tool_envs.trajectory import Trajectory, tokenize
from tool_envs.trajectory.record import PolicyVersion

ENV_ID = "tool_envs/Retail-v0"


class Settings(NamedTuple):
    """How large the model is, how long each phase, and how fast it learns; the options of the command."""

    difficulty: int = 1
    family: str = ""  # kind of all wishes; empty: all kinds in turn
    customers: int = 100_000  # of the store that is trained in: of its own 500 many are learnt by heart
    vocabulary: int = 4096
    width: int = 128
    layers: int = 2
    sft_episodes: int = 3000
    sft_longest: int = CONTEXT  # tokens; longer records are left out
    sft_batch: int = 4  # episodes
    sft_learning_rate: float = 3e-3
    grpo_steps: int = 36
    grpo_tasks: int = 18  # of a step: a multiple of the families, which come in turn
    grpo_group: int = 8  # episodes of a task
    grpo_batch: int = 40  # episodes of an update
    grpo_step: float = 0.1  # how far an update moves the weights
    grpo_sureness: float = 0.1  # how far it moves the one that says how sure the model is
    temperature: float = 1.0  # of all that is sampled
    test_tasks: int = 396
    concurrency: int = 128
    seed: int = 0


class Row(NamedTuple):
    """A measurement: what a version of the policy gets on tasks that are held out, or was trained on."""

    seed: int
    phase: str  # untrained, sft, grpo
    version: str
    split: str
    episodes: int
    success: float  # share of episodes
    seconds: float  # since the beginning, by the clock
    cpu_seconds: float  # likewise, that this process used


def play(
    settings: Settings,
    split: str,
    policy: EpisodePolicy,
    versions: Versions,
    plan: Plan,
    out: Path | None = None,
) -> list[Group]:
    """Play the episodes of a plan; the groups in the order of their tasks."""
    kwargs = {"split": split, "difficulty": settings.difficulty, "family": settings.family or None}
    if split == "train":
        kwargs["customers"] = settings.customers
    engine = Engine(ENV_ID, kwargs, policy, versions, plan, out=out, concurrency=settings.concurrency)

    async def collect() -> list[Group]:
        async with aclosing(engine.groups()) as groups:
            return [group async for group in groups]

    return sorted(asyncio.run(collect()), key=lambda group: group.task)


def oracle_records(settings: Settings) -> list[Trajectory]:
    """What the oracle did in the first tasks of the training split."""
    agent = load_agent("oracle")
    versions = Versions(PolicyVersion(version=agent.version, number=0))
    groups = play(settings, "train", ScriptedPolicy(agent), versions, Plan(range(settings.sft_episodes)))
    return [record for group in groups for record in group.records]


def success(groups: Sequence[Group]) -> float:
    """Share of episodes that were solved."""
    rewards = [record.outcome.reward for group in groups for record in group.records]
    return sum(reward == 1.0 for reward in rewards) / len(rewards)


class Run:
    """The phases of one training, one after the other.

    Args:
        settings: What they are like.
        tokenizer: The tokenizer.
        out: Folder for the records that the model is trained on by their reward; None: they are not kept.
    """

    def __init__(self, settings: Settings, tokenizer: TinyTokenizer, out: Path | None = None) -> None:
        torch.manual_seed(settings.seed)
        self.model = Model(Shape(tokenizer.size, settings.width, layers=settings.layers))
        self.versions = Versions(PolicyVersion(version="untrained", number=0))
        self._policy = TinyPolicy(self.model, tokenizer, settings.temperature)
        self._settings, self._out = settings, out
        self._began, self._began_cpu = time.monotonic(), time.process_time()

    def phases(self, records: Sequence[Trajectory]) -> Iterator[Row]:
        """Train; yields what each phase came to."""
        yield self._test("untrained")
        self.fine_tune(records)
        yield self._test("sft")
        yield from self.improve()
        yield self._test("grpo")

    def fine_tune(self, records: Sequence[Trajectory]) -> float:
        """SFT on records that are not too long, once each, in their order.

        Returns:
            The mean loss of a token over the last updates, in nats.
        """
        settings, tokenizer = self._settings, self._policy.tokenizer
        sequences = [tokenize(record, tokenizer) for record in records]
        sequences = [each for each in sequences if len(each.input_ids) <= settings.sft_longest]
        losses = [*fine_tune(self.model, sequences, settings.sft_batch, settings.sft_learning_rate)]
        self.versions.publish("sft")
        last = losses[-10:]
        return sum(last) / len(last)

    def improve(self) -> Iterator[Row]:
        """GRPO on tasks that come after those of SFT; yields what each step sampled, before its update."""
        settings = self._settings
        grpo = Grpo(
            self.model,
            settings.grpo_batch,
            settings.grpo_step,
            settings.grpo_sureness,
            settings.temperature,
        )
        for step in range(settings.grpo_steps):
            first = settings.sft_episodes + step * settings.grpo_tasks
            plan = Plan(range(first, first + settings.grpo_tasks), settings.grpo_group, settings.seed)
            groups = self._play("train", plan, self._out and self._out / f"grpo-{step + 1}")
            yield self._row("grpo", "train", groups)
            grpo.improve(weigh(groups))
            self.versions.publish(f"grpo-{step + 1}")

    def _test(self, phase: str) -> Row:
        plan = Plan(range(self._settings.test_tasks), seed=self._settings.seed)
        return self._row(phase, "test", self._play("test", plan))

    def _play(self, split: str, plan: Plan, out: Path | None = None) -> list[Group]:
        return play(self._settings, split, self._policy, self.versions, plan, out)

    def _row(self, phase: str, split: str, groups: Sequence[Group]) -> Row:
        return Row(
            seed=self._settings.seed,
            phase=phase,
            version=self.versions.current.version,
            split=split,
            episodes=sum(len(group.records) for group in groups),
            success=round(success(groups), 4),
            seconds=round(time.monotonic() - self._began),
            cpu_seconds=round(time.process_time() - self._began_cpu),
        )


def main() -> None:
    """Train, and print and keep what each phase came to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--csv", type=Path, help="file for the measurements; added to if it is there")
    parser.add_argument("--out", type=Path, help="new folder for the records of the last phase")
    for name, default in Settings()._asdict().items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(default), default=default)
    options = vars(parser.parse_args())
    csv_path, out = options.pop("csv"), options.pop("out")
    settings = Settings(**options)

    torch.set_num_threads(1)  # so that figures do not depend on how many there are
    records = oracle_records(settings)
    run = Run(settings, train_tokenizer(records, settings.vocabulary), out)
    print(f"{sum(weights.numel() for weights in run.model.parameters()):,} parameters", flush=True)
    for row in run.phases(records):
        print(*(f"{name} {value}" for name, value in row._asdict().items()), sep="  ", flush=True)
        if csv_path:
            append(csv_path, settings, row)


def append(path: Path, settings: Settings, row: Row) -> None:
    """Add a measurement to a file, with the command that gives it."""
    is_new = not path.exists()
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, ("command", *Row._fields), lineterminator="\n")
        if is_new:
            writer.writeheader()
        writer.writerow({"command": command_of(settings), **row._asdict()})


def command_of(settings: Settings) -> str:
    """The command of a run with such settings: the seed, and what is not as it is anyway."""
    defaults = Settings()._replace(seed=-1)._asdict()
    words = ["python", "examples/train_tiny_agent.py"]
    for name, value in settings._asdict().items():
        if value != defaults[name]:
            words += [f"--{name.replace('_', '-')}", str(value)]
    return shlex.join(words)


if __name__ == "__main__":
    main()
