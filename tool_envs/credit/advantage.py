"""An advantage, as a record of its own."""

from typing import Literal, TypeAlias

import msgspec

from tool_envs.credit.combine import Bin

RewardBin: TypeAlias = Bin | Literal["combined"]
"""A bin of `tool_envs.reward.Ledger`, or several of them, combined."""

GROUP_NORMALISED, MONTE_CARLO = "group_normalised", "monte_carlo"
"""The methods: see `group_advantages` and `step_values`."""


class Advantage(msgspec.Struct, frozen=True, kw_only=True):
    """How much better than expected something was that a policy did.

    Attributes:
        value: The advantage; above 0.0: better.
        method: How it was estimated: `group_normalised` or `monte_carlo`.
        baseline: What was expected: `group`, the mean of the group, or as `name@version` the policy whose
            completions gave the values.
        group: Name of the group that it belongs to.
        step: The action that it belongs to, counted from 0; None: all of the trajectory.
        reward_bin: The bin of the ledger that the reward comes from; `combined`: more than one.
        reward_source: What gave the reward: for `terminal` the digest of the grader, for others the name and
            version or digest of what did; for `combined` the formula, and the source of each bin in it.
        policy_versions: The versions of the policy that wrote the trajectory or the step, each once, in the
            order in which they began to.
        reference_version: The version of the policy that KL is taken against; None: no KL.
    """

    value: float
    method: str
    baseline: str
    group: str
    step: int | None
    reward_bin: RewardBin
    reward_source: str
    policy_versions: tuple[str, ...]
    reference_version: str | None
