"""The official SDK's client plays episodes that we serve over MCP, and meets what a local agent meets."""

import asyncio
import contextlib
import json
import math
import signal
import subprocess

import pytest

pytest.importorskip("mcp", reason="needs an environment of its own: make test-integrations LIBRARIES=mcp")

import httpx2
from hypothesis import given
from hypothesis import strategies as st
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_games import (
    COMMAND,
    ENV_ID,
    HEADERS,
    HELLO,
    KWARGS,
    NOBODY,
    PLAYER,
    Clock,
    act,
    begin_here,
    only_record,
    play_to_end,
    request,
    served,
)
from mcp_types import UNSUPPORTED_PROTOCOL_VERSION
from strategies import calls, mutated_calls
from toy_domain import ENV_ID as DESK

from tool_envs.env import unwrap
from tool_envs.environments import make_env
from tool_envs.serve.mcp import Conversation, Host, build_server, list_tools
from tool_envs.serve.sessions import Sessions
from tool_envs.trajectory.record import assistant_messages
from tool_envs.trajectory.replay import replay
from tool_envs.trajectory.store import TrajectoryWriter, read_trajectories

MANY = 200
TOKEN = "geheim"  # noqa: S105 - a test's own

SCHEMA = unwrap(make_env(ENV_ID, KWARGS)).schema
SESSIONS = Sessions(ENV_ID, KWARGS)

pytestmark = [pytest.mark.library("mcp"), pytest.mark.anyio]


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture
def host_of(tmp_path):
    """Makes the host of a test, which records in its folder."""
    with TrajectoryWriter(tmp_path) as records:

        def make(env_id=ENV_ID, kwargs=KWARGS, **setting):
            return Host(Sessions(env_id, kwargs, records=records, **setting), PLAYER)

        yield make


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


# --- Mistakes


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("find_user_id_by_email", {}, "invalid_arguments"),
        ("find_user_id_by_email", {"email": 3}, "invalid_arguments"),
        ("find_user_id_by_email", {**NOBODY, "also": 1}, "invalid_arguments"),
        ("cancel_pending_order", {"order_id": "#W4588574", "reason": "whim"}, "invalid_arguments"),
        ("find_user_id_by_email", NOBODY, "user_not_found"),
        ("reset", {}, "unknown_tool"),
        ("score", {}, "unknown_tool"),
        ("respond", {"content": "<think>only this"}, "malformed_call"),
    ],
)
async def test_a_mistake_is_a_result_that_says_what_is_wrong(tmp_path, host_of, name, arguments, code):
    env, *_ = begin_here(0)
    before = env.data_digest()
    observation, *_, info = env.step({"name": name, "arguments": arguments})

    async with served(host_of()) as url, Client(url) as client:
        await client.list_tools()
        result = await client.call_tool(name, arguments)

    assert (result.is_error, result.content[0].text) == (True, observation["content"])
    assert info["error_code"] == code
    record = only_record(tmp_path)
    assert record.messages[-1].code == code
    assert record.data.final_digest == before


HOSTILE = [
    ('{"email": NaN}', 200),
    ('{"email": 1e400}', 200),
    (f'{{"email": {"9" * 5000}}}', 400),
    (r'{"email": "\ud800"}', 400),
    ('{"a":' * 100_000 + "1" + "}" * 100_000, 400),
    (f'{{"email": "{"x" * 3_000_000}"}}', 200),
    (f'{{"email": "{"x" * 5_000_000}"}}', 413),
    ("[]", 200),
    ("}", 400),
]


async def test_nothing_that_can_be_sent_ends_the_conversation(tmp_path, host_of):
    async with served(host_of()) as url, httpx2.AsyncClient(headers=HEADERS) as http:
        answer = await http.post(url, content=request("initialize", json.dumps(HELLO)))
        http.headers["mcp-session-id"] = answer.headers["mcp-session-id"]
        await http.post(url, json={"jsonrpc": "2.0", "method": "notifications/initialized"})
        statuses = []
        for arguments, _ in HOSTILE:
            call = f'{{"name": "find_user_id_by_email", "arguments": {arguments}}}'
            statuses.append((await http.post(url, content=request("tools/call", call))).status_code)
        call = json.dumps({"name": "find_user_id_by_email", "arguments": NOBODY})
        last = (await http.post(url, content=request("tools/call", call))).json()

    assert statuses == [status for _, status in HOSTILE]
    assert "user_not_found" in last["result"]["content"][0]["text"]
    replay(only_record(tmp_path))


async def test_calls_sent_at_once_are_carried_out_one_by_one(tmp_path, host_of):
    emails = [f"nobody{number}@example.org" for number in range(20)]

    async with served(host_of()) as url, Client(url) as client:
        await asyncio.gather(*(client.call_tool("find_user_id_by_email", {"email": e}) for e in emails))

    messages = assistant_messages(only_record(tmp_path))
    assert sorted(message.tool_calls[0].arguments["email"] for _, message in messages) == sorted(emails)


# --- Ends


async def test_nothing_can_be_done_after_the_end(tmp_path, host_of):
    async with served(host_of()) as url, Client(url) as client:
        await play_to_end(client, begin_here(0)[0])
        with pytest.raises(MCPError, match="No conversation is going on"):
            await client.call_tool("find_user_id_by_email", NOBODY)

    assert only_record(tmp_path).outcome.reward == 1.0


async def test_who_disconnects_has_lost(tmp_path, host_of):
    host = host_of()
    async with served(host) as url:
        async with Client(url) as client:
            await client.call_tool("find_user_id_by_email", NOBODY)
        assert len(host.sessions) == 0

    outcome = only_record(tmp_path).outcome
    assert (outcome.status, outcome.ended_by, outcome.reward) == ("truncated", "closed", 0.0)


async def test_who_falls_silent_has_lost(tmp_path, host_of):
    clock = Clock()
    host = host_of(ttl=60, clock=clock)
    async with served(host) as url, Client(url) as client:
        await client.call_tool("find_user_id_by_email", NOBODY)
        clock.now += 61
        host.sessions.expire()
        with pytest.raises(MCPError, match="No conversation is going on"):
            await client.call_tool("find_user_id_by_email", NOBODY)

    outcome = only_record(tmp_path).outcome
    assert (outcome.status, outcome.ended_by, outcome.reward) == ("truncated", "silence", 0.0)


@pytest.mark.parametrize("end", ["leaves", "falls silent"])
async def test_a_conversation_knows_whether_it_runs(host_of, end):
    clock = Clock()
    conversation = Conversation(host_of(ttl=60, clock=clock))
    runs = [conversation.is_running]
    await conversation.begin()
    runs.append(conversation.is_running)
    if end == "leaves":
        await conversation.leave()
    else:
        clock.now += 61
        conversation.host.sessions.expire()

    assert [*runs, conversation.is_running] == [False, True, False]


async def test_silence_may_be_allowed_forever(tmp_path, host_of):
    async with served(host_of(ttl=math.inf)) as url, Client(url) as client:
        await play_to_end(client, begin_here(0)[0])

    assert only_record(tmp_path).outcome.reward == 1.0


async def test_a_call_that_its_client_gives_up_is_carried_out_before_the_next(tmp_path, host_of, monkeypatch):
    conversation = Conversation(host_of())
    await conversation.begin()
    env = conversation._session.env
    step, may_go_on = env.astep, asyncio.Event()

    async def slow_step(action):
        await may_go_on.wait()
        return await step(action)

    monkeypatch.setattr(env, "astep", slow_step)
    given_up = asyncio.create_task(conversation.call("find_user_id_by_email", NOBODY))
    following = asyncio.create_task(conversation.call("list_all_product_types", {}))
    await asyncio.sleep(0.01)
    given_up.cancel()
    with pytest.raises(asyncio.CancelledError):
        await given_up
    may_go_on.set()
    await following
    await conversation.leave()

    record = only_record(tmp_path)
    names = [message.tool_calls[0].name for _, message in assistant_messages(record)]
    assert names == ["find_user_id_by_email", "list_all_product_types"]
    assert record.outcome.status == "truncated"


async def test_a_defect_has_no_reward(tmp_path, host_of, monkeypatch):
    conversation = Conversation(host_of())
    await conversation.begin()

    async def broken_step(action):
        raise RuntimeError(action)

    monkeypatch.setattr(conversation._session.env, "astep", broken_step)
    with pytest.raises(MCPError):
        await conversation.call("find_user_id_by_email", NOBODY)

    outcome = only_record(tmp_path).outcome
    assert (outcome.status, outcome.reward) == ("infrastructure", None)


async def test_a_failure_has_no_reward_and_tells_nothing(tmp_path, host_of):
    host = host_of(env_id=DESK, kwargs={"user": "dead_line"})
    async with served(host) as url, Client(url) as client:
        with pytest.raises(MCPError) as told:
            await client.call_tool("respond", {"content": "Hello?"})

    assert "line is dead" not in str(told.value)
    outcome = only_record(tmp_path).outcome
    assert (outcome.status, outcome.reward) == ("infrastructure", None)


# --- Who may connect, and how


async def test_a_protocol_without_sessions_is_refused(tmp_path, host_of):
    host = host_of()
    async with served(host) as url, Client(url, mode="2026-07-28") as client:
        with pytest.raises(MCPError) as refused:
            await client.call_tool("find_user_id_by_email", NOBODY)

    assert refused.value.code == UNSUPPORTED_PROTOCOL_VERSION
    assert list(read_trajectories(tmp_path)) == []


@pytest.mark.parametrize("given", [None, "Bearer wrong", "Bearer", TOKEN])
async def test_without_the_token_nobody_gets_in(host_of, given):
    headers = {} if given is None else {"Authorization": given}
    async with served(host_of(), token=TOKEN) as url, httpx2.AsyncClient(headers=headers) as http:
        answer = await http.post(url, json={"jsonrpc": "2.0", "id": 1, "method": "ping"})

    assert answer.status_code == 401


async def test_with_the_token_one_plays(tmp_path, host_of):
    async with (
        served(host_of(), token=TOKEN) as url,
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        await play_to_end(client, begin_here(0)[0])

    assert only_record(tmp_path).outcome.reward == 1.0


async def test_a_web_page_cannot_speak_for_this_machine(host_of):
    headers = {"Origin": "https://evil.example", "Accept": "application/json, text/event-stream"}
    async with served(host_of()) as url, httpx2.AsyncClient(headers=headers) as http:
        answer = await http.post(url, json={"jsonrpc": "2.0", "id": 1, "method": "ping"})

    assert answer.status_code == 403


def test_beyond_loopback_a_token_is_needed(tmp_path):
    command = [*COMMAND, "--transport", "http", "--host", "0.0.0.0", "--out", str(tmp_path)]  # noqa: S104

    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 2
    assert "give a token" in done.stderr
