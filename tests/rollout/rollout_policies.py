"""Policies that wait, fail and misbehave by a script, and engines of few and fast episodes."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field

import toy_domain

from tool_envs.agents import load_agent
from tool_envs.env import unwrap
from tool_envs.environments import make_env
from tool_envs.errors import InfrastructureError
from tool_envs.rollout import Engine, Plan, PolicyOutput, ScriptedPolicy, Versions
from tool_envs.trajectory import record_episode
from tool_envs.trajectory.capture import SCRIPTED
from tool_envs.trajectory.record import PolicyVersion

GOLD = load_agent("gold")
TASKS = len(toy_domain.TASKS)
FOREVER = 1e9


@dataclass(frozen=True)
class Attempt:
    """What happens in an attempt at an episode: seconds before each turn, and what the last one brings.

    `fault`: None; `lost` (the infrastructure); `wrong` or `cancelled` (mistakes); `hangs`; `length` or
    `context` (cut).
    """

    fault: str | None = None
    at: int = 0
    latency: float = 0.0


@dataclass
class Faulty:
    """The gold agent, disturbed: `scripts` has attempts at episodes by their keys, the last for all later."""

    scripts: dict[int, list[Attempt]] = field(default_factory=dict)
    name: str = "gold"
    setting = SCRIPTED

    def __post_init__(self):
        self.begun, self.turns = Counter(), 0
        self.running = self.most = 0

    def begin(self, env, observation, key):
        attempts = self.scripts.get(key, [Attempt()])
        attempt = attempts[min(self.begun[key], len(attempts) - 1)]
        self.begun[key] += 1
        return FaultyEpisode(self, ScriptedPolicy(GOLD).begin(env, observation, key), attempt)


class FaultyEpisode:
    name, setting = "gold", SCRIPTED

    def __init__(self, whole, inner, attempt):
        self.whole, self.inner, self.attempt, self.turn = whole, inner, attempt, 0

    async def act(self, messages, tools):
        self.whole.running += 1
        self.whole.most = max(self.whole.most, self.whole.running)
        try:
            return await self._act(messages, tools)
        finally:
            self.whole.running -= 1

    async def _act(self, messages, tools):
        attempt, turn = self.attempt, self.turn
        self.turn += 1
        self.whole.turns += 1
        await asyncio.sleep(FOREVER if (attempt.fault, attempt.at) == ("hangs", turn) else attempt.latency)
        if attempt.fault is None or attempt.at != turn:
            return await self.inner.act(messages, tools)
        if attempt.fault == "lost":
            raise InfrastructureError("the line is dead")
        if attempt.fault in ("length", "context"):
            return PolicyOutput(action="I was about to", finish=attempt.fault)
        if attempt.fault == "cancelled":
            raise asyncio.CancelledError
        raise KeyError("a key that is secret")


def versions(agent=GOLD):
    return Versions(PolicyVersion(version=agent.version, number=0))


def engine(policy=None, plan=None, known=None, **options):
    """An engine of the library desk's tasks."""
    plan = Plan(range(TASKS), 2) if plan is None else plan
    return Engine(toy_domain.ENV_ID, {}, policy or Faulty(), known or versions(), plan, **options)


def evaluated(plan):
    """The records of the gold agent's undisturbed episodes, one after another, as lines."""
    env, lines = make_env(toy_domain.ENV_ID, {}), set()
    for episode in plan:
        env.reset(seed=episode.seed, options={"task_index": episode.task})
        script = GOLD.policy(unwrap(env), None, episode.key)
        for action in script:
            if env.unwrapped.outcome is None:
                env.step(action)
            if env.unwrapped.outcome is not None:
                break
        lines.add(record_episode(env, GOLD.name, GOLD.version, episode.seed).to_line())
    return lines
