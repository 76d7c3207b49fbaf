"""Who the agent talks to. Simulators know goals and sentences, never tools or databases."""

from tool_envs.simulators.replay import ReplayUser
from tool_envs.simulators.turn import Turn, UserSimulator

__all__ = ["ReplayUser", "Turn", "UserSimulator"]
