"""Runs that are killed at random moments, and begun again, come to the episodes of an undisturbed one."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest
from rollout_policies import TASKS, evaluated
from sweeping import IN_SWEEP

from tool_envs.rollout import Plan
from tool_envs.trajectory import TornLineWarning, read_trajectories

KILLS = 200 if IN_SWEEP else 20
PLAN = Plan(range(TASKS), 40, seed=9)

# Forks a process for each folder that it reads, which runs the plan in it.
SERVER = """
import asyncio, os, sys, warnings
from rollout_policies import engine
from tool_envs.rollout import Plan, ScriptedPolicy
from tool_envs.trajectory import TornLineWarning
from rollout_policies import GOLD, TASKS
warnings.simplefilter("ignore", TornLineWarning)

print("ready", flush=True)
for line in sys.stdin:
    folder, group_size, seed, concurrency = line.split()
    child = os.fork()
    if child == 0:
        plan = Plan(range(TASKS), int(group_size), int(seed))
        asyncio.run(engine(ScriptedPolicy(GOLD), plan, out=folder, concurrency=int(concurrency)).run())
        os._exit(0)
    print(child, flush=True)
    print("ended", os.waitpid(child, 0)[1], flush=True)
"""


@pytest.fixture(scope="module")
def server():
    """A process that forks runs."""
    folders = [Path(__file__).parent, Path(__file__).parents[1]]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, folders))}
    with subprocess.Popen(
        [sys.executable, "-c", SERVER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        assert process.stdout.readline() == "ready\n"
        yield process
        process.stdin.close()


def run(server, folder, concurrency, delay=None):
    """Let a process run the plan in a folder, and kill it after so many seconds; whether it was killed."""
    server.stdin.write(f"{folder} {PLAN.group_size} {PLAN.seed} {concurrency}\n")
    server.stdin.flush()
    child = int(server.stdout.readline())
    if delay is not None:
        time.sleep(delay)
        with contextlib.suppress(ProcessLookupError):  # it ended before
            os.kill(child, signal.SIGKILL)
    status = int(server.stdout.readline().split()[1])
    assert status in (0, signal.SIGKILL)
    return status == signal.SIGKILL


def lines(folder):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TornLineWarning)
        return [record.to_line() for record in read_trajectories(folder)]


def test_a_killed_run_goes_on_to_the_episodes_of_an_undisturbed_one(server, tmp_path):
    dice = random.Random(0)  # noqa: S311 - of delays
    began = time.perf_counter()
    assert not run(server, tmp_path / "undisturbed", 8)
    whole_time = time.perf_counter() - began
    whole = lines(tmp_path / "undisturbed")
    assert set(whole) == evaluated(PLAN)
    kills, folders, midway = 0, 0, 0

    while kills < KILLS:
        folder, killed, before = tmp_path / f"run{folders}", True, 0
        while killed:
            killed = run(server, folder, dice.choice([1, 8, 50]), dice.uniform(0, 0.7) * whole_time)
            kills += killed
            kept = lines(folder) if (folder / "segment-000001.jsonl").exists() else []
            assert before <= len(kept) == len(set(kept)) <= len(whole)
            midway += before < len(kept) < len(whole)
            before = len(kept)
        assert sorted(kept) == sorted(whole)
        folders += 1

    assert midway  # otherwise this shows nothing
    print(f"{kills} runs killed, {midway} of them after new episodes, in {folders} folders")
