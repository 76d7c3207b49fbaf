"""SkyRL's environment: the model that SkyRL's generator samples plays episodes. Needs the extra `[skyrl]`.

    import tool_envs.integrations.skyrl   # registers `tool_envs` with SkyRL-Gym
    rows = [data_row(row) for row in episode_rows("tool_envs/Retail-v0", {}, Plan(range(64)))]

SkyRL's generator makes an environment for each episode, owns the tokens and their mask, and tells the
environment texts alone. It has no place for an episode without a reward: a failure is raised, which ends the
batch, and is never a reward of 0.
"""

from typing import Any

import msgspec
import skyrl_gym
from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput

from tool_envs.agents import json_calls
from tool_envs.env import ToolEnv
from tool_envs.errors import UsageError
from tool_envs.integrations.episode_rows import COLUMN, read_row
from tool_envs.messages import Json
from tool_envs.trajectory.capture import record_episode
from tool_envs.trajectory.record import Trajectory
from tool_envs.trajectory.refs import AgentRef

ENV_CLASS = "tool_envs"
"""The environment's id in SkyRL-Gym, and in the column `env_class` of a data set."""


def data_row(row: str) -> dict[str, Json]:
    """The columns of SkyRL's data sets, around a row of `episode_rows`.

    The conversation begins with what the environment says: `prompt` is there because SkyRL demands one.
    """
    return {"prompt": [{"role": "user", "content": ""}], "env_class": ENV_CLASS, COLUMN: row}


class ToolTextEnv(BaseTextEnv):  # type: ignore[misc,unused-ignore]
    """The episode that a row of the data set names.

    The conversation consists of plain messages, which any chat template takes: the first one describes the
    tools, a turn of the model is one call as JSON or in `<tool_call>`, or what is said to the user, and what
    a tool answers comes as a user's message. SkyRL does not tell the environment that a turn was cut at the
    limit of tokens: such a turn is taken as it is.

    An episode that SkyRL leaves, when it has no more turns (`generator.max_turns`) or its context is full, is
    truncated, with a reward of 0.0.

    Args:
        env_config: SkyRL's configuration of the environment; not used.
        extras: The row, with the column `episode`, and SkyRL's `max_turns`.

    Raises:
        UsageError: The row names no episode that can be graded.
    """

    def __init__(self, env_config: Any = None, extras: dict[str, Any] | None = None) -> None:  # noqa: ANN401, ARG002
        super().__init__()
        extras = extras or {}
        self.max_turns = extras.get("max_turns")
        self._row = read_row(extras)
        self._env: ToolEnv = self._row.make_env()

    def init(
        self,
        prompt: list[dict[str, str]],  # noqa: ARG002 - the environment has its own
    ) -> tuple[list[dict[str, Json]], dict[str, Any]]:
        """Start the episode.

        Args:
            prompt: The one of the data set; not used.

        Returns:
            The first messages, and what the environment says of the episode.

        Raises:
            InfrastructureError: The user could not be reached, or the data not be had.
            UsageError: No rule grades the task, or a user who is far away would block an event loop: let
                SkyRL run environments in threads (`environment.skyrl_gym.max_env_workers` above 0).
        """
        _, info = self._env.reset(seed=self._row.seed, options={"task_id": self._row.task_id})
        if not self._env.task.graded:
            raise UsageError(f"No rule grades the task {self._row.task_id!r}: it has no reward to train on.")
        tools = json_calls.with_speech(self._env.schema.to_openai())
        messages = [{"role": "system", "content": info["domain_policy"]}, *info["messages"]]
        known = {name: info[name] for name in ("task_id", "task_digest", "schema_version")}
        return json_calls.as_plain_messages(messages, tools, thought=False), known

    def step(self, action: str) -> BaseTextEnvStepOutput:
        """Take a turn of the model, as it was written.

        Raises:
            InfrastructureError: Something outside of the episode failed: it has no reward.
        """
        self.turns += 1
        _, reward, terminated, truncated, info = self._env.step(action)
        if self.max_turns is not None and self.turns >= self.max_turns and not (terminated or truncated):
            self._env.truncate("turns")
            truncated = True
        return BaseTextEnvStepOutput(
            observations=[json_calls.plain(message) for message in info["messages"][1:]],
            reward=reward,
            done=terminated or truncated,
            metadata={"error_code": info["error_code"], "outcome": msgspec.to_builtins(self._env.outcome)},
        )

    def get_metrics(self) -> dict[str, Any]:
        """The reward, whether the episode was truncated, how many actions it had; SkyRL logs their means."""
        outcome = self._env.outcome
        return {
            "reward": 0.0 if outcome is None else outcome.reward,
            "truncated": float(outcome is None or outcome.status == "truncated"),
            "steps": float(self._env.episode.steps),
        }

    def close(self) -> None:
        """End the episode; one that still runs is truncated."""
        if self._env.outcome is None:
            self._env.truncate("left")
        self._env.close()

    def record(self, agent: AgentRef) -> Trajectory:
        """The record of the episode when it is over, without tokens, which SkyRL has.

        Args:
            agent: Who acted, and under which version of the policy, which SkyRL tells its trainer alone.

        Raises:
            UsageError: The episode still runs, or the agent has no version.
        """
        return record_episode(self._env, agent.name, agent.version, self._row.seed)


skyrl_gym.register(id=ENV_CLASS, entry_point=f"{__name__}:{ToolTextEnv.__name__}")
