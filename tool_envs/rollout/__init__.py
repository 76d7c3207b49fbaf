"""Episodes by the thousand: who acts, how many at once, and under which versions of the policy."""

from tool_envs.rollout.policy import EpisodePolicy, Finish, Policy, PolicyOutput

__all__ = ["EpisodePolicy", "Finish", "Policy", "PolicyOutput"]
