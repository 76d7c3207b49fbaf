"""The benchmarks run and print every figure that has an aim; what they measure is for `make bench`."""

import csv
import itertools
import json
import math
import runpy
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "json_view.py"


def test_it_prints_its_figures_as_json():
    command = [sys.executable, str(SCRIPT), "--rounds", "1", "--tasks", "5", "--json", "--data", ""]

    figures = json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)

    both = {"toolkit_call_ratio", "step_ratio", "episode_bytes"}
    assert {*both, "json_load_per_episode"} <= figures["tau_bench"].keys()
    assert figures["tau_bench_airline"].keys() == figures["tau_bench"].keys()
    assert {*both, "large_world_ratio"} <= figures["retail"].keys() == figures["booking"].keys()
    values = [(name, value) for rows in figures.values() for name, value in rows.items()]
    assert all(math.isfinite(value) for _, value in values)
    # A step's time is a difference of two, which in one round on a busy machine may come out below 0.
    assert all(value > 0 for name, value in values if name not in ("step_us", "step_ratio", "calls_per_s"))


def test_the_one_of_the_array_view_prints_its_figures_as_json():
    script = SCRIPT.with_name("array_view.py")
    command = [sys.executable, str(script), "--quick", "--rounds", "1", "--lanes", "32", "--json"]

    figures = json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)

    both = {"step_ns", "cartpole_ns", "copy_ns", "of_cartpole", "of_copy", "lane_bytes", "actions_per_s"}
    for row in (figures, figures["multidiscrete"]):
        assert both <= row.keys()
        assert all(math.isfinite(row[name]) and row[name] > 0 for name in both)


def curves():
    """The committed learning curves of the store at difficulty 1: control, learner and seed -> success."""
    found = {}
    with SCRIPT.with_name("results").joinpath("learn.csv").open(newline="", encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            kind = row["env_id"], row["action_form"], row["mask"], row["difficulty"]
            if kind == ("tool_envs/RetailArray-v0", "sequential", "policy", "1"):
                run = row["control"], row["learner"], row["seed"]
                found.setdefault(run, []).append(float(row["test_success"]))
    return found


def test_the_committed_curves_show_what_the_readme_says():
    learned = {run: trials for run, trials in curves().items() if len(trials) > 1}
    unhelped = {run: trials[-1] for run, trials in learned.items() if run[0] == "none"}

    assert {(learner, seed) for _, learner, seed in unhelped} >= set(itertools.product(("ppo", "sb3"), "012"))
    assert all(success >= 0.95 for success in unhelped.values())
    assert all(5e-4 < trials[0] < 5e-2 for run, trials in learned.items() if run[0] == "none")
    for control in ("blanked", "shuffled"):
        assert all(max(trials) < 0.05 for run, trials in learned.items() if run[0] == control)
        assert {learner for kind, learner, _ in learned if kind == control} == {"ppo", "sb3"}


def test_the_one_of_stores_prints_its_figures_as_json():
    script = SCRIPT.with_name("store.py")
    command = [sys.executable, str(script), "--rounds", "1", "--records", "3", "--json"]

    figures = json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)

    assert {"append_per_s", "text_ratio", "append_ratio", "sync_ratio", "read_ratio"} <= figures.keys()
    assert all(math.isfinite(value) and value > 0 for value in figures.values())


def read_rows(file):
    with file.open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def tiny_agent():
    """The committed runs of the tiny agent: their rows, and seed and phase -> success on held-out tasks."""
    rows = read_rows(SCRIPT.with_name("results") / "tiny_agent.csv")
    tests = {(row["seed"], row["phase"]): float(row["success"]) for row in rows if row["split"] == "test"}
    return rows, tests


def test_the_readme_says_what_the_tiny_agent_came_to():
    rows, tests = tiny_agent()
    readme = " ".join(SCRIPT.parents[1].joinpath("README.md").read_text(encoding="utf-8").split())

    for phase, name in (("sft", "SFT"), ("grpo", "GRPO")):
        first, second, third = (f"{tests[seed, phase]:.2f}" for seed in "012")
        assert f"{first}, {second} and {third} after {name}" in readme
    (episodes,) = {row["episodes"] for row in rows if row["split"] == "test"}
    assert f"what share of {episodes} held-out tasks" in readme
    assert max(float(row["cpu_seconds"]) for row in rows) < 30 * 60  # "less than half an hour of one core"


def test_the_committed_runs_of_the_tiny_agent_rise_by_fine_tuning_and_again_by_grpo():
    rows, tests = tiny_agent()

    assert tests.keys() == set(itertools.product("012", ("untrained", "sft", "grpo")))
    for seed in "012":
        assert tests[seed, "untrained"] == 0.0
        assert tests[seed, "grpo"] > tests[seed, "sft"] + 0.05 > 0.3
    assert {row["command"] for row in rows} == {
        f"python examples/train_tiny_agent.py --seed {seed}" for seed in range(3)
    }
    assert max(float(row["seconds"]) for row in rows) < 3600


STALENESS = SCRIPT.with_name("staleness.py")


def committed_choices():
    """The committed simulations of rollouts: choice, `max_staleness` and seed -> figures."""
    rows = read_rows(STALENESS.with_name("results") / "staleness.csv")
    return {
        (row["choice"], int(row["max_staleness"]), row["seed"]): {
            name: float(value) for name, value in row.items() if name != "choice"
        }
        for row in rows
    }


def test_the_committed_simulations_show_what_each_choice_for_stale_episodes_costs():
    found = committed_choices()
    cases = set(itertools.product((1, 2, 4, 8), "012"))

    for staleness, seed in cases:
        going_on, restart, keep = (
            found[choice, staleness, seed] for choice in ("continue", "restart", "keep")
        )
        assert restart["head_max"] <= staleness < min(going_on["head_max"], keep["head_max"])
        assert going_on["tail_max"] <= staleness < keep["tail_max"] == keep["head_max"]
        assert keep["speedup"] > going_on["speedup"] > 1.5 * restart["speedup"] > 3
        assert keep["wasted"] == 0.0 < going_on["wasted"] < 0.2 < 0.4 < restart["wasted"]
    assert all(found["synchronous", 0, seed]["head_max"] == 0 for seed in "012")
    assert len(found) == 3 * len(cases) + 3


def test_a_committed_simulation_is_what_its_parameters_give():
    module = runpy.run_path(str(STALENESS))
    figures = committed_choices()["restart", 4, "0"]
    whole = {"updates", "batch_size", "max_concurrent"}
    setup = {
        name: int(figures[name]) if name in whole else figures[name]
        for name in module["Setup"].__dataclass_fields__
    }

    again = module["Simulation"](module["Setup"](**setup), "restart", 4, 0).run()

    assert {name: round(value, 4) for name, value in again.items()} == {name: figures[name] for name in again}


def test_the_one_of_staleness_simulates_every_choice(tmp_path):
    command = [
        sys.executable,
        str(STALENESS),
        "--updates",
        "3",
        "--batch-size",
        "8",
        "--max-concurrent",
        "16",
    ]

    subprocess.run([*command, "--out", str(tmp_path / "staleness")], capture_output=True, check=True)

    rows = read_rows(tmp_path / "staleness.csv")
    assert len(rows) == 1 + 3 * 4
    assert all(math.isfinite(float(value)) for row in rows for name, value in row.items() if name != "choice")
    assert all(float(row["throughput"]) > 0 for row in rows)
