"""The official SDK's client plays episodes that we serve over MCP, and meets what a local agent meets."""

import asyncio
import contextlib
import json
import signal
import subprocess

import pytest

pytest.importorskip("mcp", reason="needs an environment of its own: make test-integrations LIBRARIES=mcp")

from hypothesis import given
from hypothesis import strategies as st
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.shared.exceptions import MCPError
from mcp_games import (
    COMMAND,
    ENV_ID,
    HELLO,
    KWARGS,
    NOBODY,
    PLAYER,
    act,
    begin_here,
    only_record,
    play_to_end,
    request,
    served,
)
from strategies import calls, mutated_calls

from tool_envs.env import unwrap
from tool_envs.environments import make_env
from tool_envs.serve.mcp import Conversation, Host, build_server, list_tools
from tool_envs.serve.sessions import Sessions
from tool_envs.trajectory.replay import replay
from tool_envs.trajectory.store import read_trajectories

MANY = 200

SCHEMA = unwrap(make_env(ENV_ID, KWARGS)).schema
SESSIONS = Sessions(ENV_ID, KWARGS)

pytestmark = [pytest.mark.library("mcp"), pytest.mark.anyio]


# --- Whole episodes


@pytest.mark.shows("the SDK's client plays over stdio and HTTP")
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_an_episode_over_stdio(tmp_path, mode):
    arguments = [*COMMAND[1:], "--first-task", "3", "--agent", "oracle", "--out", str(tmp_path / "out")]
    env, opening, info = begin_here(3)

    async with Client(StdioServerParameters(command=COMMAND[0], args=arguments), mode=mode) as client:
        told = client.instructions
        names = [tool.name for tool in (await client.list_tools()).tools]
        texts = await play_to_end(client, env)

    record = only_record(tmp_path / "out")
    assert info["domain_policy"] in told
    assert told.endswith(opening["content"])
    assert names == list(env.schema.tools)
    assert (record.outcome, record.agent.name) == (env.outcome, "oracle")
    assert record.outcome.reward == 1.0
    assert not any("reward" in text or "outcome" in text for text in [told, *texts])
    replay(record)


def test_a_stop_over_stdio(tmp_path):
    call = json.dumps({"name": "find_user_id_by_email", "arguments": NOBODY})
    lines = [
        request("initialize", json.dumps(HELLO)),
        json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        request("tools/call", call),
    ]
    command = [*COMMAND, "--out", str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        try:
            print(*lines, sep="\n", file=server.stdin, flush=True)
            answers = [server.stdout.readline() for _ in range(2)]
            server.terminate()
            code = server.wait(timeout=30)
        finally:
            server.kill()

    outcome = only_record(tmp_path).outcome
    assert "user_not_found" in answers[1]
    assert code == -signal.SIGTERM
    assert (outcome.status, outcome.reward, outcome.steps) == ("infrastructure", None, 1)


@pytest.mark.shows("the SDK's client plays over stdio and HTTP")
async def test_episodes_over_http_and_a_stop_in_one(tmp_path):
    command = [*COMMAND, "--transport", "http", "--port", "0", "--out", str(tmp_path / "out")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            url = (await asyncio.to_thread(server.stdout.readline)).strip()
            async with Client(url) as first, Client(url) as second, Client(url) as third:
                await third.call_tool("find_user_id_by_email", NOBODY)
                await asyncio.gather(
                    play_to_end(first, begin_here(0)[0]), play_to_end(second, begin_here(1)[0])
                )
                server.terminate()
                await asyncio.to_thread(server.wait)
        finally:
            server.kill()

    records = list(read_trajectories(tmp_path / "out"))
    assert (
        sorted((record.outcome.status, record.outcome.reward) for record in records[:2])
        == [("completed", 1.0)] * 2
    )
    assert (records[2].outcome.status, records[2].outcome.reward) == ("infrastructure", None)
    for record in records:
        replay(record)


@pytest.mark.shows("200 sessions at once")
async def test_many_episodes_at_once(tmp_path, host_of):
    host = host_of(limit=MANY)
    async with served(host) as url, contextlib.AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(Client(url)) for _ in range(MANY)]
        assert len(host.sessions) == MANY
        await asyncio.gather(
            *(play_to_end(client, begin_here(task)[0]) for task, client in enumerate(clients))
        )

    records = list(read_trajectories(tmp_path))
    assert [record.outcome.reward for record in records] == [1.0] * MANY
    assert len({record.task.id for record in records}) == MANY


async def test_no_more_episodes_than_there_can_be(host_of):
    async with served(host_of(limit=1)) as url, Client(url) as client:
        with pytest.RaisesGroup(
            pytest.RaisesExc(MCPError, match="All 1 sessions are taken"), flatten_subgroups=True
        ):
            async with Client(url):
                pass
        await play_to_end(client, begin_here(0)[0])
        async with Client(url) as other:
            await play_to_end(other, begin_here(1)[0])


def fits_protocol(call):
    return isinstance(call["name"], str) and isinstance(call["arguments"], dict)


@pytest.mark.shows("answers equal to local ones")
@given(st.integers(0, 3), st.lists(calls(SCHEMA) | mutated_calls(SCHEMA).filter(fits_protocol), max_size=8))
def test_whatever_is_called_is_answered_as_it_is_here(task, actions):
    async def play():
        conversation = Conversation(Host(SESSIONS, PLAYER, first_task=task))
        await conversation.begin()
        env, *_ = begin_here(task)
        async with Client(build_server(conversation.host, lambda _: conversation)) as client:
            for action in actions:
                if env.outcome is None:
                    await act(client, env, action)
        await conversation.leave()

    asyncio.run(play())


# --- What a client is offered


async def test_tools_are_those_of_the_schema_without_our_annotations():
    offered = [
        {"name": tool.name, "description": tool.description, "parameters": tool.input_schema}
        for tool in list_tools(SCHEMA)
    ]

    assert offered == [tool["function"] for tool in SCHEMA.to_openai()]


async def test_a_foreign_tool_list_gets_a_way_to_speak(host_of):
    host = host_of(env_id="tool_envs/TauBench-v0", kwargs={})
    schema = host.schema

    async with served(host) as url, Client(url) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        result = await client.call_tool("respond", {"content": "Good morning."})

    assert names == [*(tool["function"]["name"] for tool in schema.to_openai()), "respond"]
    assert not result.is_error


async def test_reading_is_told_from_writing():
    hints = {tool.name: tool.annotations.read_only_hint for tool in list_tools(SCHEMA)}

    assert hints == {name: tool.effect == "read" for name, tool in SCHEMA.tools.items()}
