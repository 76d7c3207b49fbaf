"""Episodes by the thousand: who acts, how many at once, and under which versions of the policy."""

from tool_envs.rollout.admission import Admission, StalePolicy
from tool_envs.rollout.batches import Batches
from tool_envs.rollout.policy import EpisodePolicy, Finish, Policy, PolicyOutput
from tool_envs.rollout.versions import Versions

__all__ = [
    "Admission",
    "Batches",
    "EpisodePolicy",
    "Finish",
    "Policy",
    "PolicyOutput",
    "StalePolicy",
    "Versions",
]
