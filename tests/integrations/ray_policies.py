"""Policies that act in other processes, and tell of it through files."""

import asyncio
import os
import signal
from pathlib import Path

from tool_envs.agents import load_agent
from tool_envs.rollout import PolicyOutput, ScriptedPolicy
from tool_envs.trajectory.capture import SCRIPTED

ORACLE = load_agent("oracle")


class Deadly(ScriptedPolicy):
    """The oracle, which kills its process once, in the given turn of the given episode.

    Args:
        folder: In which it leaves the file `killed`.
        key: Key of the episode.
        turn: Which of its turns, from 0.
    """

    def __init__(self, folder, key, turn):
        super().__init__(ORACLE)
        self.folder, self.key, self.turn = Path(folder), key, turn

    def begin(self, env, observation, key):
        episode = super().begin(env, observation, key)
        return _Deadly(self, episode) if key == self.key else episode


class _Deadly:
    setting = SCRIPTED

    def __init__(self, policy, episode):
        self.name, self.policy, self.episode, self.turns = policy.name, policy, episode, 0

    async def act(self, messages, tools):
        if self.turns == self.policy.turn and not (self.policy.folder / "killed").exists():
            (self.policy.folder / "killed").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        self.turns += 1
        return await self.episode.act(messages, tools)


class Waiting:
    """Says goodbye in the end; before its second turn it waits for the file `go`, and says so by `waits`."""

    name, setting = "waiting", SCRIPTED

    def __init__(self, folder):
        self.folder = Path(folder)

    async def act(self, messages, tools):
        assert tools
        spoken = sum(message["role"] == "assistant" for message in messages)
        if spoken == 1:
            (self.folder / "waits").touch()
            while not (self.folder / "go").exists():
                await asyncio.sleep(0.01)
        return PolicyOutput(action=f"Well, {spoken}.")


class Mistaken:
    """A policy with a mistake in it; its exceptions pickle, or do not."""

    name, setting = "mistaken", SCRIPTED

    def __init__(self, pickles):
        self.pickles = pickles

    async def act(self, messages, tools):
        mistake = ValueError("a mistake")
        if not self.pickles:
            mistake.held = (token for token in [messages, tools])
        raise mistake
