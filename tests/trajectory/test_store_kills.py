"""Writers killed at random moments, in the middle of a write too, lose nothing that they acknowledged."""

import os
import random
import signal
import subprocess
import sys
import time
import warnings

import pytest
from store_records import played
from sweeping import IN_SWEEP

from tool_envs.trajectory import TornLineWarning, TrajectoryWriter, read_trajectories

KILLS = 200 if IN_SWEEP else 20

# Forks a writer for each line that it reads. A writer goes on after the records that it finds, each with the
# number of those before it as its seed, and adds a byte to the file `acks` for each one acknowledged.
SERVER = """
import json, os, random, sys
import msgspec
from tool_envs.trajectory import Trajectory, TrajectoryWriter, read_trajectories

def write(folder, acks, seed, sync_every, segment_bytes):
    dice = random.Random(int(seed))
    number = sum(1 for _ in read_trajectories(folder))
    with TrajectoryWriter(folder, sync_every=int(sync_every), segment_bytes=int(segment_bytes)) as writer:
        told = os.open(acks, os.O_WRONLY | os.O_APPEND)
        acknowledged = 0
        os.write(1, b"begun\\n")
        while True:
            now = writer.append(msgspec.structs.replace(dice.choice(records), seed=number))
            os.write(told, b"." * (now - acknowledged))
            acknowledged, number = now, number + 1

value, records = json.loads(sys.argv[1]), []
for size in (0, 1_000, 10_000, 2_000_000):
    value["messages"][-1]["content"] = "x" * size
    records.append(Trajectory.from_json(value))
print("ready", flush=True)
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        write(*line.split())
    print(child, flush=True)
    os.waitpid(child, 0)
    print("dead", flush=True)
"""


@pytest.fixture
def server():
    """A process that forks writers."""
    command = [sys.executable, "-c", SERVER, played()[0].to_line()]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        yield process
        process.stdin.close()


def kill_one(server, delay, *arguments):
    """Let a writer begin, and kill it after so many seconds."""
    server.stdin.write(" ".join(map(str, arguments)) + "\n")
    server.stdin.flush()
    begun = {server.stdout.readline(), server.stdout.readline()}
    (child,) = begun - {"begun\n"}
    time.sleep(delay)
    os.kill(int(child), signal.SIGKILL)
    assert server.stdout.readline() == "dead\n"


@pytest.mark.parametrize("seed", range(KILLS // 20))
def test_a_killed_writer_loses_nothing_that_it_acknowledged(server, tmp_path, seed):
    dice = random.Random(seed)  # noqa: S311 - of delays
    folder, acks = tmp_path / "store", tmp_path / "acks"
    acks.touch()
    TrajectoryWriter(folder).close()
    seeds, torn = [], 0
    for kill in range(20):
        sync_every, segment_bytes = dice.choice([1, 1, 5, 1000]), dice.choice([1_000_000, 1 << 28])
        acknowledged, before = acks.stat().st_size, len(seeds)
        kill_one(server, dice.uniform(0, 0.06), folder, acks, 20 * seed + kill, sync_every, segment_bytes)

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            TrajectoryWriter(folder).close()
        torn += any(warning.category is TornLineWarning for warning in caught)
        seeds = [record.seed for record in read_trajectories(folder)]
        assert seeds == list(range(len(seeds)))
        assert len(seeds) >= before + acks.stat().st_size - acknowledged
    print(f"{len(seeds)} records, {acks.stat().st_size} of them acknowledged, {torn} of 20 writers torn")


DIES = """
import os, resource, signal, sys
from tool_envs.trajectory import Trajectory, TrajectoryWriter, read_trajectories
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
records = list(read_trajectories(sys.argv[1]))
with TrajectoryWriter(sys.argv[2]) as writer:
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), resource.RLIM_INFINITY))
    for record in records:
        os.write(1, f"{writer.append(record)}\\n".encode())
"""


def test_a_writer_that_dies_within_a_write_loses_that_record_alone(tmp_path):
    (tmp_path / "x.jsonl").write_text("".join(record.to_line() + "\n" for record in played()))
    with TrajectoryWriter(tmp_path / "whole") as writer:
        for record in played():
            writer.append(record)
    lines = (tmp_path / "whole" / "segment-000001.jsonl").read_bytes().splitlines(keepends=True)
    limit = len(lines[0] + lines[1]) + 1000
    command = [sys.executable, "-c", DIES, tmp_path / "x.jsonl", tmp_path / "store", str(limit)]

    died = subprocess.run(command, stdout=subprocess.PIPE, check=False)

    assert (died.returncode, died.stdout) == (-signal.SIGXFSZ, b"1\n2\n")
    assert (tmp_path / "store" / "segment-000001.jsonl").stat().st_size == limit
    with pytest.warns(TornLineWarning):
        writer = TrajectoryWriter(tmp_path / "store")
    with writer:
        for record in played()[2:]:
            writer.append(record)
    assert list(read_trajectories(tmp_path / "store")) == list(played())
