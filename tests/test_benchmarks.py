"""The benchmark runs and prints every figure that has an aim; what it measures is for `make bench`."""

import json
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
    assert all(value > 0 for rows in figures.values() for value in rows.values())
