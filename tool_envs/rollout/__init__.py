"""Episodes by the thousand: who acts, how many at once, and under which versions of the policy."""

from tool_envs.rollout.admission import Admission, StalePolicy
from tool_envs.rollout.batches import Batches
from tool_envs.rollout.engine import Engine
from tool_envs.rollout.episode import DeadlineExceededError
from tool_envs.rollout.failures import Failure
from tool_envs.rollout.gate import (
    Gate,
    GenerationInterruptedError,
    Interruptible,
    Pausable,
    ResumablePolicy,
)
from tool_envs.rollout.plan import Plan, PlannedEpisode
from tool_envs.rollout.policy import EpisodePolicy, Finish, Policy, PolicyOutput
from tool_envs.rollout.schedule import EndedEpisode, Group
from tool_envs.rollout.scripted import ScriptedPolicy
from tool_envs.rollout.summary import RolloutSummary
from tool_envs.rollout.versions import Versions

__all__ = [
    "Admission",
    "Batches",
    "DeadlineExceededError",
    "EndedEpisode",
    "Engine",
    "EpisodePolicy",
    "Failure",
    "Finish",
    "Gate",
    "GenerationInterruptedError",
    "Group",
    "Interruptible",
    "Pausable",
    "Plan",
    "PlannedEpisode",
    "Policy",
    "PolicyOutput",
    "ResumablePolicy",
    "RolloutSummary",
    "ScriptedPolicy",
    "StalePolicy",
    "Versions",
]
