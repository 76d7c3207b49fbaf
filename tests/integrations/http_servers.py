"""Servers over HTTP in processes of their own, for tests."""

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

from tool_envs.serve.client import RemoteEnv
from tool_envs.trajectory import read_trajectories

PATH = os.pathsep.join([str(Path(__file__).parent), str(Path(__file__).parents[1])])
COMMAND = Path(sys.executable).with_name("tool-envs")
RETAIL = "tool_envs/Retail-v0"
WHO = {"agent": {"name": "visitor", "version": "7"}}
TOKEN = "s3cret"  # noqa: S105 - of a test


class Server:
    """A server in a process of its own."""

    def __init__(self, env_id, *arguments, port=0):
        self.process = subprocess.Popen(
            [COMMAND, "serve", "http", env_id, "--port", str(port), *map(str, arguments)],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": PATH, "TOKEN": TOKEN},
        )
        self.url = self.process.stdout.readline().strip()
        self.port = int(self.url.rpartition(":")[2])
        self.envs = []

    def env(self, **kwargs):
        self.envs.append(RemoteEnv(self.url, **{"agent": "visitor", "version": "7", **kwargs}))
        return self.envs[-1]

    def end(self, how):
        if self.process.poll() is None:
            self.process.send_signal(how)
        self.process.wait()
        self.process.stdout.close()

    def hang_up(self):
        for env in self.envs:
            env.close()


@contextlib.contextmanager
def serving(env_id, *arguments, port=0):
    server = Server(env_id, *arguments, port=port)
    try:
        yield server
    finally:
        server.end(signal.SIGTERM)
        server.hang_up()


def ends(folder):
    return [
        (each.outcome.status, each.outcome.reward, each.outcome.ended_by)
        for each in read_trajectories(folder)
    ]
