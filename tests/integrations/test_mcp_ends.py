"""How conversations over MCP end: at their end, by who leaves or falls silent, by defects and failures."""

import asyncio
import math

import pytest

pytest.importorskip("mcp", reason="needs an environment of its own: make test-integrations LIBRARIES=mcp")

from mcp.client.client import Client
from mcp.shared.exceptions import MCPError
from mcp_games import (
    NOBODY,
    Clock,
    begin_here,
    only_record,
    play_to_end,
    served,
)
from toy_domain import ENV_ID as DESK

from tool_envs.serve.mcp import Conversation
from tool_envs.trajectory.record import assistant_messages

pytestmark = [pytest.mark.library("mcp"), pytest.mark.anyio]


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
