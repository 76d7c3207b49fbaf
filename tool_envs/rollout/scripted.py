"""Scripted agents as policies of rollouts."""

from collections.abc import Sequence
from typing import Any

from tool_envs.agents import Agent, Script
from tool_envs.env import Observation, ToolEnv, observe
from tool_envs.errors import UsageError
from tool_envs.rollout.policy import Policy, PolicyOutput
from tool_envs.trajectory.capture import SCRIPTED


class ScriptedPolicy:
    """An `EpisodePolicy` that acts as a scripted agent does.

    Args:
        agent: The agent. Its version is the one to give to `Versions`.
    """

    setting = SCRIPTED

    def __init__(self, agent: Agent) -> None:
        self.name = agent.name
        self._agent = agent

    def begin(self, env: ToolEnv, observation: Observation, key: int) -> Policy:
        """See `EpisodePolicy.begin`."""
        return _ScriptedEpisode(self.name, env, self._agent.policy(env, observation, key))


class _ScriptedEpisode:
    """One episode of it."""

    setting = SCRIPTED

    def __init__(self, name: str, env: ToolEnv, script: Script) -> None:
        self.name = name
        self._env, self._script, self._begun = env, script, False

    async def act(
        self,
        messages: Sequence[dict[str, Any]],  # noqa: ARG002 - it sees the environment itself
        tools: Sequence[dict[str, Any]],  # noqa: ARG002
    ) -> PolicyOutput:
        """See `Policy.act`.

        Raises:
            UsageError: The script stopped before the end of the episode.
        """
        try:
            return PolicyOutput(action=self._next_action())
        except StopIteration:
            raise UsageError(f"Agent `{self.name}` stopped before the end of the episode.") from None

    def _next_action(self) -> Any:  # noqa: ANN401 - a JSON value
        if not self._begun:
            self._begun = True
            return next(self._script)
        return self._script.send(observe(self._env.episode.history[-1]))
