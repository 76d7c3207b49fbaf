"""Learning curves on the array view, from one reward at the end of an episode.

    python benchmarks/learn.py --learner ppo sb3 --seeds 0 1 2 --minutes 10 [--until 0.95] [--out runs/learn]
    python benchmarks/learn.py --control blanked shuffled --minutes 10
    python benchmarks/learn.py --plot-only

For each combination of the arguments it first prints the success of a random choice among what the mask
allows, then trains on `split="train"`, and every now and then tries what was learned, always the most
probable choice, on tasks of `split="test"`, which are never trained on. Minutes are those of training; trials
are not counted. With `--until` training ends at the first trial with so much success.

Learners: `ppo` is examples/train_ppo.py, `sb3` is sb3-contrib's MaskablePPO; neither sees the mask as a
feature. Controls, under which nothing should be learned: with `blanked` nothing is heard of what customers
want, with `shuffled` they say the words of another customer (see `words` of
`tool_envs.arrays.vector.ArrayVectorEnv`). Masks follow what is heard.

Rows are appended to OUT.csv, and OUT.png shows all rows that are there. It needs the extra `learn`. Tasks are
made, and the stepper compiled, before the clock starts; `--reference` does without the compiled stepper, at a
few thousand choices a second, and knows no controls.
"""

import argparse
import csv
import itertools
import math
import shlex
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import torch
from gymnasium.vector import AutoresetMode, VectorEnv

import tool_envs  # noqa: F401 - registers the ids

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
from train_ppo import Choose, Settings, sample, sizes_of, success_rate, train

COLUMNS = (
    *("command", "env_id", "learner", "action_form", "observation", "mask", "difficulty", "control", "seed"),
    *("lanes", "choices", "minutes", "train_success", "test_success"),
)
CURVE = COLUMNS[1:8]
"""What tells curves apart; runs that differ in their seed alone are one curve."""

CONTROLS = {"none": "heard", "blanked": "blanked", "shuffled": "shuffled"}
"""What `--control` is called -> whose words are heard."""


@dataclass(frozen=True)
class Run:
    """One training: what is trained on what, and where it is written down."""

    options: argparse.Namespace
    learner: str
    action_form: str
    mask: str
    difficulty: int
    control: str
    seed: int

    @property
    def observation(self) -> str:
        return self.options.observation

    @property
    def kind(self) -> dict[str, Any]:
        """Arguments of the environment beside the split."""
        kind: dict[str, Any] = {name: getattr(self, name) for name in ("action_form", "mask", "difficulty")}
        return {**kind, "observation": self.observation}

    def envs(self, split: str, mode: AutoresetMode) -> VectorEnv[Any, Any, Any]:
        options = self.options
        if options.reference:
            vectorized: dict[str, Any] = {
                "vectorization_mode": "sync",
                "vector_kwargs": {"autoreset_mode": mode},
            }
        else:
            size = options.train_tasks if split == "train" else options.test_tasks
            words = CONTROLS[self.control]
            vectorized = {"autoreset_mode": mode.value, "pool_size": size, "words": words}
        lanes = options.lanes if split == "train" else min(options.lanes, options.episodes)
        return gymnasium.make_vec(options.env_id, num_envs=lanes, split=split, **vectorized, **self.kind)

    def row(self, choices: int, minutes: float, train_success: float, test_success: float) -> dict[str, Any]:
        options = self.options
        command = shlex.join(["python", "benchmarks/learn.py", *sys.argv[1:]])
        mine = {name: getattr(self, name) for name in ("learner", "seed", "control", *self.kind)}
        return {
            "command": command,
            "env_id": options.env_id,
            "lanes": options.lanes,
            "choices": choices,
            **mine,
            "minutes": f"{minutes:.3f}",
            "train_success": f"{train_success:.4f}",
            "test_success": f"{test_success:.4f}",
        }


# --- Learners


class Clock:
    """Counts training time, and says when it is time to try and when to stop."""

    def __init__(self, minutes: float, trials: int) -> None:
        self.budget, self.every = 60 * minutes, 60 * minutes / trials
        self.spent, self.next = 0.0, self.every
        self._began = 0.0

    def go_on(self) -> None:
        self._began = time.perf_counter()

    def pause(self) -> None:
        self.spent += time.perf_counter() - self._began

    @property
    def left(self) -> float:
        """Which share of the time is left."""
        return max(0.0, 1 - self.spent / self.budget)

    def is_due(self) -> bool:
        """Whether a trial is due; it is then counted as made."""
        if self.spent < min(self.next, self.budget):
            return False
        self.next += self.every
        return True


Report = Callable[[Choose, int, float], float]
"""Called after each update: how to play now, choices so far, success in training. Says which share of the
training is left; at 0 it ends."""


def learn_ppo(envs: VectorEnv[Any, Any, Any], seed: int, report: Report) -> None:
    train(envs, seed, Settings(), lambda agent, *figures: report(agent.choose, *figures))


def learn_sb3(envs: VectorEnv[Any, Any, Any], seed: int, report: Report) -> None:
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.policies import CombinedExtractor

    from tool_envs.integrations.sb3 import GymnasiumVecEnv

    class WithoutMask(CombinedExtractor):
        """All that is observed but the mask, which no learner sees as a feature."""

        def __init__(self, space: gymnasium.spaces.Dict) -> None:
            seen = {name: part for name, part in space.spaces.items() if name != "action_mask"}
            super().__init__(gymnasium.spaces.Dict(seen))

    class Reporting(BaseCallback):
        def _on_rollout_end(self) -> None:
            successes = self.model.ep_success_buffer
            success = float(np.mean(successes)) if successes else float("nan")
            left = report(self._choose, self.num_timesteps, success)
            self.model.lr_schedule = lambda _: left * same.learning_rate
            self.model.ent_coef = left * same.entropy_bonus
            self.goes_on = left > 0

        def _on_step(self) -> bool:
            return getattr(self, "goes_on", True)

        def _choose(self, observation: dict[str, Any]) -> torch.Tensor:
            masks = observation["action_mask"].astype(np.bool_)
            actions, _ = self.model.predict(observation, action_masks=masks, deterministic=True)
            return torch.from_numpy(actions).reshape(len(masks), -1)

    same = Settings()
    model = MaskablePPO(
        "MultiInputPolicy",
        GymnasiumVecEnv(envs),
        learning_rate=same.learning_rate,
        n_steps=same.steps,
        batch_size=same.minibatch,
        n_epochs=same.epochs,
        gamma=same.discount,
        gae_lambda=same.gae_lambda,
        clip_range=same.clip,
        ent_coef=same.entropy_bonus,
        vf_coef=same.value_weight,
        max_grad_norm=same.max_gradient,
        seed=seed,
        policy_kwargs={"net_arch": [same.hidden, same.hidden], "features_extractor_class": WithoutMask},
        stats_window_size=max(100, envs.num_envs),
    )
    model.learn(10**12, Reporting())


LEARNERS = {"ppo": (learn_ppo, AutoresetMode.NEXT_STEP), "sb3": (learn_sb3, AutoresetMode.SAME_STEP)}


# --- Curves


def draw(run: Run) -> None:
    """Write down one run: the success of the random choice, then that of each trial."""
    torch.set_num_threads(run.options.torch_threads)
    torch.manual_seed(run.seed)
    clock = Clock(run.options.minutes, run.options.trials)
    held_out = run.envs("test", AutoresetMode.NEXT_STEP)
    episodes = -(-run.options.episodes // held_out.num_envs)
    recent: list[float] = []

    def note(choose: Choose, choices: int) -> float:
        known = [success for success in recent if not np.isnan(success)]
        recent.clear()
        in_training = float(np.mean(known)) if known else float("nan")
        tried = success_rate(held_out, choose, episodes, seed=0)
        write(run.options.out, run.row(choices, clock.spent / 60, in_training, tried))
        return tried

    def report(choose: Choose, choices: int, success: float) -> float:
        clock.pause()
        recent.append(success)
        is_met = clock.is_due() and note(choose, choices) >= run.options.until
        clock.go_on()
        return 0.0 if is_met else clock.left

    note(random_choice(held_out), choices=0)
    if run.options.minutes > 0:
        learn, mode = LEARNERS[run.learner]
        envs = run.envs("train", mode)
        success_rate(envs, random_choice(envs), episodes=1, seed=0)  # compiles
        clock.go_on()
        learn(envs, run.seed, report)


def random_choice(envs: VectorEnv[Any, Any, Any]) -> Choose:
    """Each possible choice with the same chances."""
    sizes = sizes_of(envs)
    return lambda observation: sample(torch.from_numpy(observation["action_mask"]).float().log(), sizes)


def write(out: Path, row: dict[str, Any]) -> None:
    """Append a row to OUT.csv, and say what it says."""
    file = out.with_suffix(".csv")
    file.parent.mkdir(parents=True, exist_ok=True)
    is_new = not file.exists()
    with file.open("a", newline="", encoding="utf-8") as lines:
        writer = csv.DictWriter(lines, COLUMNS)
        if is_new:
            writer.writeheader()
        writer.writerow(row)
    print("  ".join(f"{name} {row[name]}" for name in COLUMNS[2:]), flush=True)


def plot(out: Path) -> None:
    """OUT.png of OUT.csv: success on held-out tasks against minutes, a thin line for each seed."""
    from matplotlib import pyplot

    with out.with_suffix(".csv").open(newline="", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    figure, axes = pyplot.subplots(figsize=(9, 6), layout="constrained")
    for number, (name, seeds) in enumerate(curves(rows).items()):
        for seed, points in seeds.items():
            label = name if seed == next(iter(seeds)) else None
            axes.plot(*zip(*points, strict=True), color=f"C{number}", linewidth=1, marker=".", label=label)
    axes.set(xlabel="minutes of training", ylabel="success on held-out tasks", ylim=(-0.02, 1.02))
    axes.legend(fontsize="small")
    axes.grid(alpha=0.3)
    figure.savefig(out.with_suffix(".png"), dpi=120)


def curves(rows: list[dict[str, str]]) -> dict[str, dict[str, list[tuple[float, float]]]]:
    """Curve, called by what differs among them -> seed and command -> minutes and success."""
    differs = [name for name in CURVE if len({row[name] for row in rows}) > 1] or ["learner"]
    found: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for row in rows:
        name = ", ".join(f"{column} {row[column]}" for column in differs)
        points = found.setdefault(name, {}).setdefault(f"{row['seed']} {row['command']}", [])
        points.append((float(row["minutes"]), float(row["test_success"])))
    return found


def main() -> None:
    options = arguments()
    if not options.plot_only:
        each = (options.learner, options.action_form, options.mask, options.difficulty, options.control)
        for combination in itertools.product(*each, options.seeds):
            draw(Run(options, *combination))
    plot(options.out)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    add = parser.add_argument
    add("--env-id", default="tool_envs/RetailArray-v0")
    add("--learner", nargs="+", choices=LEARNERS, default=["ppo"])
    add("--action-form", nargs="+", choices=("sequential", "multidiscrete"), default=["sequential"])
    add("--mask", nargs="+", choices=("policy", "schema"), default=["policy"])
    add("--difficulty", nargs="+", type=int, default=[1])
    add("--control", nargs="+", choices=CONTROLS, default=["none"])
    add("--observation", choices=("features", "tables"), default="features", help="ppo takes features alone")
    add("--seeds", nargs="+", type=int, default=[0])
    add("--minutes", type=float, default=10.0, help="0: the random choice alone")
    add("--until", type=float, default=math.inf, help="training ends at a trial with this success")
    add("--lanes", type=int, default=512)
    add("--trials", type=int, default=10, help="so many in the time of training")
    add("--episodes", type=int, default=2048, help="of each trial")
    add("--train-tasks", type=int, default=16_384, help="how many there are to learn from")
    add("--test-tasks", type=int, default=2048)
    add("--torch-threads", type=int, default=1)
    add("--reference", action="store_true", help="without the compiled stepper")
    add("--out", type=Path, default=Path("runs/learn"))
    add("--plot-only", action="store_true")
    options = parser.parse_args()
    if options.reference and options.control != ["none"]:
        parser.error("--reference knows no controls; leave out --control")
    return options


if __name__ == "__main__":
    main()
