"""Records of episodes: their form, the tokens that they hold, the stores that keep them, and their replay."""

from tool_envs.trajectory.capture import PolicySetting, Turn, record_episode
from tool_envs.trajectory.from_actions import LaneEpisode, episodes_of, from_actions
from tool_envs.trajectory.record import FORMAT_VERSION, Trajectory
from tool_envs.trajectory.replay import replay, replay_each
from tool_envs.trajectory.stats import Summary, summarize
from tool_envs.trajectory.store import TornLineWarning, TrajectoryWriter, clear_store, read_trajectories
from tool_envs.trajectory.supervised import tokenize
from tool_envs.trajectory.supervised_proof import prove_supervised
from tool_envs.trajectory.tokens import TokenSequence, prove_sampled, to_tokens
from tool_envs.trajectory.validate import RecordProblem, ValidationReport, validate

__all__ = [
    "FORMAT_VERSION",
    "LaneEpisode",
    "PolicySetting",
    "RecordProblem",
    "Summary",
    "TokenSequence",
    "TornLineWarning",
    "Trajectory",
    "TrajectoryWriter",
    "Turn",
    "ValidationReport",
    "clear_store",
    "episodes_of",
    "from_actions",
    "prove_sampled",
    "prove_supervised",
    "read_trajectories",
    "record_episode",
    "replay",
    "replay_each",
    "summarize",
    "to_tokens",
    "tokenize",
    "validate",
]
