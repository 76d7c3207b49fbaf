"""What a server over MCP answers to mistakes and to hostile requests, and who may connect."""

import asyncio
import json
import subprocess

import pytest

pytest.importorskip("mcp", reason="needs an environment of its own: make test-integrations LIBRARIES=mcp")

import httpx2
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_games import (
    COMMAND,
    HEADERS,
    HELLO,
    NOBODY,
    begin_here,
    only_record,
    play_to_end,
    request,
    served,
)
from mcp_types import UNSUPPORTED_PROTOCOL_VERSION

from tool_envs.trajectory.record import assistant_messages
from tool_envs.trajectory.replay import replay
from tool_envs.trajectory.store import read_trajectories

TOKEN = "geheim"  # noqa: S105 - a test's own

pytestmark = [pytest.mark.library("mcp"), pytest.mark.anyio]


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
