"""1,024 episodes at once against a model's server that is slow, drops connections and fails."""

import asyncio
import gc
import heapq
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import toy_domain
from chat_stub import ChatStub, random_answers
from sweeping import only_in_sweep
from virtual_clock import run_virtually

from tool_envs.agents.llm import ChatPolicy
from tool_envs.chat import ChatClient
from tool_envs.rollout import Engine, Plan, Versions
from tool_envs.trajectory.record import PolicyVersion

AT_ONCE = 1024
BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "rollouts.py"


class Timed:
    """A policy that notes how long each conversation waited for its turns."""

    def __init__(self, policy):
        self.name, self.setting, self._policy = policy.name, policy.setting, policy
        self.waited, self.running, self.most = [], 0, 0

    def begin(self, env, observation, key):  # noqa: ARG002 - the interface of a policy
        self.waited.append(0.0)
        return TimedEpisode(self, self._policy, len(self.waited) - 1)


class TimedEpisode:
    def __init__(self, whole, policy, number):
        self.name, self.setting = policy.name, policy.setting
        self._whole, self._policy, self._number = whole, policy, number

    async def act(self, messages, tools):
        loop, whole = asyncio.get_running_loop(), self._whole
        began = loop.time()
        whole.running += 1
        whole.most = max(whole.most, whole.running)
        try:
            return await self._policy.act(messages, tools)
        finally:
            whole.running -= 1
            whole.waited[self._number] += loop.time() - began


async def roll_out(url, plan, *, retries=8, tries=0):
    """Play the library desk; returns what ended, the policy, the attempts at requests, and the seconds."""
    loop, ended = asyncio.get_running_loop(), []
    async with ChatClient("stub", base_url=url, retries=retries, deadline=1e6) as client:
        policy = Timed(ChatPolicy(client))
        engine = Engine(
            toy_domain.ENV_ID,
            {},
            policy,
            Versions(PolicyVersion(version="stub", number=0)),
            plan,
            concurrency=AT_ONCE,
            retries=tries,
        )
        began = loop.time()
        await engine.run(lambda episode, _: ended.append(episode))
        return ended, policy, client.ledger.attempts, loop.time() - began


def shortest_time(durations, slots):
    """How long work of these durations takes, in this order, when a slot that gets free is filled at once."""
    free = [0.0] * slots
    for duration in durations:
        heapq.heappush(free, heapq.heappop(free) + duration)
    return max(free)


def test_rollouts_are_as_fast_as_their_latencies_allow():
    async def play():
        async with ChatStub(random_answers(1, latency=5.0), keep=False) as stub:
            return await roll_out(stub.url, Plan(range(4), 384))

    ended, policy, _, seconds = run_virtually(play())

    assert len(ended) == 1536
    assert all(episode.record.outcome.ended_by == "user" for episode in ended)
    assert policy.most == AT_ONCE
    assert seconds <= shortest_time(policy.waited, AT_ONCE) / 0.9


def resources():
    """What a leak would add to: threads, open files, blocks of memory."""
    gc.collect()
    return threading.active_count(), len(os.listdir("/proc/self/fd")), sys.getallocatedblocks()


def test_no_episode_is_lost_or_counted_as_0_and_nothing_leaks():
    async def play(plan, seed):
        async with ChatStub(random_answers(seed, latency=0.01, faults=0.4), keep=False) as stub:
            return await roll_out(stub.url, plan, retries=0, tries=1)

    counts, after = [], []
    for seed, group_size in enumerate([AT_ONCE // 4, 64, 64]):
        plan = Plan(range(4), group_size)
        ended, policy, _, _ = asyncio.run(play(plan, seed))
        assert {episode.planned for episode in ended} == set(plan)
        assert len(ended) == len(plan)
        assert policy.running == 0
        counts.append(sum(episode.record is not None for episode in ended))
        for episode in ended:
            if episode.record:  # a user who was told something, and had the last word
                assert episode.record.outcome.ended_by == "user"
            else:
                assert episode.failure.kind == "infrastructure"
                assert episode.failure.error in ("ChatStatusError", "ChatTransportError")
        del ended, policy, episode
        after.append(resources())

    assert all(0 < count < AT_ONCE for count in counts)
    (threads, files, blocks), again = after[1:]
    assert again[:2] == (threads, files)
    assert again[2] - blocks < len(plan)  # not even one object for each episode


@only_in_sweep
def test_a_request_of_a_rollout_costs_at_most_thrice_a_bare_one():
    command = [sys.executable, str(BENCHMARK), "--episodes", "256", "--concurrency", "256", "--json"]

    figures = json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)

    assert (figures["recorded"], figures["failed"]) == (256, 0)
    assert figures["cpu_ratio"] <= 3.0
