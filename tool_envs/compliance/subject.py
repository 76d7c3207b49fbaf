"""What a check gets: an environment's id and arguments, from which it makes its own."""

from dataclasses import dataclass
from typing import Any

import gymnasium

from tool_envs.compliance.expectations import Unmet
from tool_envs.env import ToolEnv


@dataclass(frozen=True)
class Subject:
    """What is checked: an id and its arguments."""

    env_id: str
    kwargs: dict[str, Any]

    def make(self, **changed: Any) -> gymnasium.Env[Any, Any]:  # noqa: ANN401 - whatever gymnasium.make takes
        """The environment as `gymnasium.make` gives it, with some arguments changed."""
        return gymnasium.make(self.env_id, **{**self.kwargs, **changed})

    def bare(self, **changed: Any) -> ToolEnv:  # noqa: ANN401
        """The environment without wrappers."""
        return unwrapped(self.make(**changed))


def unwrapped(env: gymnasium.Env[Any, Any]) -> ToolEnv:
    """The environment inside all wrappers."""
    inner = env.unwrapped
    if not isinstance(inner, ToolEnv):
        raise Unmet(f"expected a ToolEnv, got {type(inner).__name__}")
    return inner
