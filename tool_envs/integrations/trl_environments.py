"""TRL's trainer as the one who plays: environments for `environment_factory`. Needs the extra `[trl]`.

    trainer = GRPOTrainer(
        model,
        environment_factory=make_environment("tool_envs/Retail-v0", {"split": "train"}),
        train_dataset=make_dataset("tool_envs/Retail-v0", {"split": "train"}, range(1000)),
    )

Each tool is a method of the class, which TRL shows to the model (`tool_methods` says what of a schema is
lost on the way). `respond` is one of them, and the only way to talk: TRL ends a rollout at the first
message without a call, which reaches nobody, so that a customer can only be answered by a call.
`trl_rollouts` knows no such limit.

Each call is one step. A call of a tool that there is not is answered by TRL, is no step and is not counted.

An episode that still runs when the reward is asked for was left by its agent: it is truncated, as by anyone
who leaves, and has a reward of 0.0. One that failed for its infrastructure has none (None): TRL leaves it
out, as long as other reward functions give None for it too, else it takes the missing reward for a 0. What
its model was told by then says nothing of the reason. A mistake in the environment is raised by
`get_reward`, since TRL makes of an exception in a tool a text for the model.
"""

import logging
from collections.abc import Mapping

from tool_envs.env import unwrap
from tool_envs.environments import make_env
from tool_envs.errors import InfrastructureError, UsageError
from tool_envs.integrations.tool_methods import make_method
from tool_envs.integrations.trl_rows import row_of_prompt
from tool_envs.messages import RESPOND, Json
from tool_envs.schema import Tool, ToolSchema

OVER = "The conversation is over."
"""What a model is told at the end of its episode, and of each call after it."""
FAILED = "The conversation is over: something failed."
"""What a model is told of a failure that is not its own."""

_OWN = ("reset", "get_reward")
_log = logging.getLogger(__name__)


class ToolEnvironment:
    """An environment as TRL drives it; `make_environment` adds the tools.

    TRL makes one for each rollout of a batch and uses it again: nothing of an episode outlives `reset`.
    """

    _env_id: str
    _kwargs: Mapping[str, Json]

    def __init__(self) -> None:
        self._env = unwrap(make_env(self._env_id, self._kwargs))
        self._failure: Exception | None = None

    def reset(self, prompt: Json, **columns: Json) -> str:  # noqa: ARG002 - TRL gives the whole row
        """Begin the episode of a row; returns the customer's first words, which TRL adds to the prompt.

        Args:
            prompt: The prompt of a row of `make_dataset`.
            columns: The other columns.

        Raises:
            UsageError: The prompt names no episode of this environment.
        """
        row = row_of_prompt(prompt, self._env_id, self._kwargs)
        self._failure = None
        try:
            observation, _ = self._env.reset(seed=row.seed, options={"task_id": row.task_id})
        except InfrastructureError as failure:
            return self._fail(failure)
        return observation["content"]

    def get_reward(self) -> float | None:
        """The reward of the episode, which is then over; None: it failed, or nothing grades its task.

        Raises:
            Exception: A mistake in the environment.
        """
        if isinstance(self._failure, InfrastructureError):
            return None
        if self._failure is not None:
            raise self._failure
        outcome = self._env.outcome or self._env.truncate("stopped")
        return outcome.reward

    def _call(self, name: str, arguments: dict[str, Json]) -> str:
        """Carry out a call; returns what the agent observes."""
        if self._failure is not None:
            return FAILED
        if self._env.outcome is not None:
            return OVER
        try:
            observation, _, terminated, truncated, _ = self._env.step({"name": name, "arguments": arguments})
        except Exception as failure:
            return self._fail(failure)
        return f"{observation['content']}\n\n{OVER}" if terminated or truncated else observation["content"]

    def _fail(self, failure: Exception) -> str:
        _log.error("an episode failed", exc_info=failure)
        self._failure = failure
        return FAILED


def make_environment(env_id: str, kwargs: Mapping[str, Json]) -> type[ToolEnvironment]:
    """The class of an environment for TRL, called like it (`Retail-v0`), as is the reward in TRL's logs.

    Args:
        env_id: The environment.
        kwargs: Its arguments.

    Raises:
        UnknownNameError: There is no such environment, or it has no such argument.
        UsageError: A tool cannot be a method: its name, or that of a parameter, is none in Python, or TRL
            takes it for something else.
    """
    env = unwrap(make_env(env_id, kwargs))
    tools = _offered(env.schema)
    for tool in tools:
        if tool.name in _OWN or tool.name.startswith("_"):
            raise UsageError(f"TRL does not take a method called {tool.name!r} for a tool. Rename the tool.")
    methods = {tool.name: make_method(tool, ToolEnvironment._call) for tool in tools}
    name = env_id.rpartition("/")[2]
    return type(name, (ToolEnvironment,), {"_env_id": env_id, "_kwargs": dict(kwargs), **methods})


def _offered(schema: ToolSchema) -> list[Tool]:
    """The listed tools, and `respond`: without it an agent that only calls could say nothing."""
    return [tool for tool in schema.tools.values() if tool.listed or tool.name == RESPOND]
