"""Records of episodes: their form, the files that hold them, and their replay."""

from tool_envs.trajectory.capture import record_episode
from tool_envs.trajectory.from_actions import LaneEpisode, episodes_of, from_actions
from tool_envs.trajectory.record import FORMAT_VERSION, Trajectory
from tool_envs.trajectory.replay import replay, replay_each
from tool_envs.trajectory.store import TornLineWarning, TrajectoryWriter, read_trajectories

__all__ = [
    "FORMAT_VERSION",
    "LaneEpisode",
    "TornLineWarning",
    "Trajectory",
    "TrajectoryWriter",
    "episodes_of",
    "from_actions",
    "read_trajectories",
    "record_episode",
    "replay",
    "replay_each",
]
