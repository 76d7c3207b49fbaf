"""What an agent is, and how it plays an episode."""

import hashlib
import inspect
import sys
from collections.abc import Callable, Generator
from typing import Any, TypeAlias

import gymnasium
import msgspec

from tool_envs.env import Observation, ToolEnv, unwrap
from tool_envs.messages import CONTENT, RESPOND, Json

Script: TypeAlias = Generator[Json, Observation, None]
"""One episode of a policy: yields an action and is sent the observation that it got."""

Policy: TypeAlias = Callable[[ToolEnv, Observation, int], Script]
"""Starts a script from the unwrapped environment, the first observation and a 64-bit key for its choices."""


class Agent(msgspec.Struct, frozen=True):
    """A policy under its name and version; both stand in every record of what it did.

    Attributes:
        name: What it is called.
        version: Changes whenever the policy may act differently.
        policy: Starts its episodes.
    """

    name: str
    version: str
    policy: Policy


def play(env: gymnasium.Env[Any, Any], agent: Agent, observation: Observation, key: int) -> bool:
    """Let an agent act from a first observation to the end of the episode.

    Args:
        env: The environment, after its `reset`.
        agent: Who acts.
        observation: What `reset` returned.
        key: 64-bit key of the agent's choices.

    Returns:
        Whether the episode ended; False when the agent stopped before.

    Raises:
        UsageError: The environment is no `ToolEnv`.
        InfrastructureError: The user could not be reached; the episode is over.
    """
    script = agent.policy(unwrap(env), observation, key)
    action = next(script, _STOPPED)
    while action is not _STOPPED:
        observation, _, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            script.close()
            return True
        action = _send(script, observation)
    return False


def say(text: str) -> Json:
    """The action that tells the user a text, whatever the text looks like."""
    return {"name": RESPOND, "arguments": {CONTENT: text}}


def source_version(module: str) -> str:
    """The version of a policy that is code: a digest of the source of the module that defines it."""
    source = inspect.getsource(sys.modules[module])
    return hashlib.sha256(source.encode()).hexdigest()[:16]


_STOPPED = object()


def _send(script: Script, observation: Observation) -> Json:
    try:
        return script.send(observation)
    except StopIteration:
        return _STOPPED
