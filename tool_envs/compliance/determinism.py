"""Checks that seed and actions decide every byte."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

from tool_envs.compliance.episodes import SEEDS, as_bytes, expect_same, go_on, plan_actions, planned, play
from tool_envs.compliance.expectations import expect
from tool_envs.compliance.subject import Subject


def determinism(subject: Subject) -> None:
    """Seed and actions decide every byte: twice in one environment, and in another one."""
    for seed in SEEDS:
        env, actions = subject.bare(), planned(subject, seed)
        expected = play(env, seed, actions)
        expect_same(expected, play(env, seed, actions), "the same environment again")
        expect_same(expected, play(subject.bare(), seed, actions), "another environment")


def other_process(subject: Subject) -> None:
    """The same bytes in another process, whatever its PYTHONHASHSEED."""
    actions = planned(subject, 3)
    expected = hashlib.sha256(as_bytes(play(subject.bare(), 3, actions))).hexdigest()
    request = json.dumps({"env_id": subject.env_id, "kwargs": subject.kwargs, "seed": 3, "actions": actions})
    came = subprocess.run(  # noqa: S603 - this Python, and a constant
        [sys.executable, "-W", "ignore", "-c", f"from {__name__} import replay_request; replay_request()"],
        input=request,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
        env={
            **os.environ,
            "PYTHONHASHSEED": "4242",
            "PYTHONIOENCODING": "utf-8",
            "PYTHONPATH": os.pathsep.join(str(Path(place).absolute()) for place in sys.path),
        },
    )
    expect(came.returncode == 0, f"the other process failed: {came.stderr[-800:]}")
    expect(came.stdout.strip() == expected, "the other process came to other bytes")


def replay_request() -> None:
    """The other process's part of `other_process`: an episode from stdin, its digest to stdout."""
    request = json.loads(sys.stdin.read())
    env = Subject(request["env_id"], request["kwargs"]).bare()
    transcript = play(env, request["seed"], request["actions"])
    sys.stdout.write(hashlib.sha256(as_bytes(transcript)).hexdigest())


def unseeded_reset(subject: Subject) -> None:
    """Later episodes depend on the seed and their number, not on what was done in the ones before."""
    still, busy = subject.bare(), subject.bare()
    expect_same([list(still.reset(seed=9))], [list(busy.reset(seed=9))], "the first episode")
    for number in range(1, 6):
        go_on(busy, plan_actions(busy, number)[: 2 * number])
        busy.action_space.sample()
        expect_same([list(still.reset())], [list(busy.reset())], f"episode {number} after the seed")


CHECKS = (determinism, other_process, unseeded_reset)
