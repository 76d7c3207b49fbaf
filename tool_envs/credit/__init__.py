"""Credit: how much better than expected a trajectory was, or one step of it.

`group_advantages` compares the trajectories of one task with each other. `step_values` asks of one episode
what it could still have come to before and after each action, by playing it to its end from there many times;
`decisive_step` names the call that decided it. An `Advantage` says what it was taken from, so that no trainer
has to guess. What has no reward has no advantage: an infrastructure failure is never a 0. Rewards of several
bins come together by a named formula only (`combine`); `with_format` fills the bin of R1's format reward.
"""

from tool_envs.credit.advantage import Advantage
from tool_envs.credit.combine import combine
from tool_envs.credit.format_reward import format_reward, with_format
from tool_envs.credit.groups import group_advantages, returns_to_go
from tool_envs.credit.steps import (
    Estimate,
    StepValue,
    decisive_step,
    step_advantages,
    step_values,
)

__all__ = [
    "Advantage",
    "Estimate",
    "StepValue",
    "combine",
    "decisive_step",
    "format_reward",
    "group_advantages",
    "returns_to_go",
    "step_advantages",
    "step_values",
    "with_format",
]
