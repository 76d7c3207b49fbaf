"""Who the agent talks to. Simulators know goals and sentences, never tools or databases."""

from tool_envs.simulators.agenda import AgendaUser
from tool_envs.simulators.human import HumanUser
from tool_envs.simulators.recorded import RecordedUser
from tool_envs.simulators.replay import ReplayUser
from tool_envs.simulators.turn import Turn, UserSimulator
from tool_envs.simulators.understanding import understand

__all__ = ["AgendaUser", "HumanUser", "RecordedUser", "ReplayUser", "Turn", "UserSimulator", "understand"]
