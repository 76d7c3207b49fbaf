"""What tests of MCP play with: a server in this process, and the same episodes here."""

import asyncio
import contextlib
import sys
from pathlib import Path

from tool_envs.env import unwrap
from tool_envs.environments import make_env
from tool_envs.evaluation.seeds import episode_seed
from tool_envs.serve.guard import listen
from tool_envs.serve.mcp import OVER, Host
from tool_envs.serve.mcp_http import PATH, http_server
from tool_envs.serve.sessions import Sessions
from tool_envs.trajectory.refs import AgentRef
from tool_envs.trajectory.store import TrajectoryWriter, read_trajectories

ENV_ID = "tool_envs/Retail-v0"
KWARGS = {"difficulty": 1}
COMMAND = [str(Path(sys.executable).with_name("tool-envs")), "serve", "mcp", ENV_ID, "-k", "difficulty=1"]
PLAYER = AgentRef(name="oracle", version="1")
NOBODY = {"email": "nobody@example.org"}
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "by hand", "version": "1"},
}
HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


def request(method, params):
    return f'{{"jsonrpc": "2.0", "id": 1, "method": "{method}", "params": {params}}}'


class Clock:
    """Seconds that pass when a test says so."""

    now = 0.0

    def __call__(self):
        return self.now


@contextlib.contextmanager
def recording_hosts(folder):
    """Makes hosts that record in a folder."""
    with TrajectoryWriter(folder) as records:

        def make(env_id=ENV_ID, kwargs=KWARGS, **setting):
            return Host(Sessions(env_id, kwargs, records=records, **setting), PLAYER)

        yield make


@contextlib.asynccontextmanager
async def served(host, token=None):
    """The address of a server of the host's episodes, in this event loop."""
    with listen("127.0.0.1", 0, token) as listening:
        server = http_server(host, token)
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}{PATH}"
        finally:
            server.should_exit = True
            await serving


def begin_here(task):
    """The same episode as a connection's, in an environment of our own; and what its `reset` says."""
    env = unwrap(make_env(ENV_ID, KWARGS))
    opening, info = env.reset(seed=episode_seed(0, task), options={"task_index": task})
    return env, opening, info


async def act(client, env, action):
    """Take an action over MCP and here; both must meet the same. Returns what the client was told."""
    result = await client.call_tool(action["name"], action["arguments"])
    observation, *_, info = env.step(action)
    texts = [content.text for content in result.content]
    assert texts == [observation["content"], *([OVER] if env.outcome else [])]
    assert result.is_error == (info["error_code"] is not None)
    return texts


async def play_to_end(client, env):
    """Let the oracle act over MCP and here; returns what the client was told."""
    texts = []
    while env.outcome is None:
        texts += await act(client, env, env.domain.oracle(env.episode))
    return texts


def only_record(out):
    [record] = read_trajectories(out)
    return record
