"""Advantages of trajectories, from the rewards of a group of them."""

import itertools
import math
import statistics
from collections.abc import Callable, Sequence
from typing import TypeAlias, get_args

from tool_envs.credit.advantage import GROUP_NORMALISED, Advantage, RewardBin
from tool_envs.errors import UnknownNameError, UsageError
from tool_envs.trajectory.record import Trajectory, versions_of

Source: TypeAlias = Callable[[Trajectory], str]
"""Names what gave a trajectory its reward: a digest or a version."""


def returns_to_go(rewards: Sequence[float], discount: float) -> list[float]:
    """At each step the discounted sum of this reward and all later ones: G[t] = r[t] + discount * G[t + 1].

    Args:
        rewards: The reward of each step.
        discount: 0.0 (only the next reward counts) to 1.0 (all count the same).

    Returns:
        As many numbers as there are rewards.

    Raises:
        UsageError: The discount is out of its range.
    """
    if not 0.0 <= discount <= 1.0:
        raise UsageError(f"`discount` is between 0.0 and 1.0, not {discount!r}.")
    backwards = itertools.accumulate(reversed(rewards), lambda later, reward: reward + discount * later)
    return list(backwards)[::-1]


def group_advantages(
    trajectories: Sequence[Trajectory],
    *,
    group: str | None = None,
    reward_bin: RewardBin = "terminal",
    source: Source | None = None,
    epsilon: float = 1e-6,
) -> tuple[Advantage | None, ...]:
    """The advantages of G trajectories of one task: (reward - mean) / (std + epsilon), as in GRPO.

    The mean and the standard deviation are those of the group; the latter is the sample's (divided by G - 1),
    which is what verl and TRL compute. Where all rewards are equal every advantage is exactly 0.0, in a group
    of one too: nothing in it was better than expected. (verl gives a group of one its reward as advantage.)

    A trajectory without a reward (an infrastructure failure, a judge that gave no score) has no advantage and
    moves neither the mean nor the standard deviation, nor does it count in G. A truncated one has the reward
    that the environment gave it, 0.0; leave it out of `trajectories` if it should not count.

    Source: Shao et al., DeepSeekMath, 2024, arXiv 2402.03300, section 4.1.

    Args:
        trajectories: The group; policy versions may differ in it, and each advantage names its own.
        group: Its name; None: the id of the task.
        reward_bin: Which reward.
        source: Names the source of the reward; None: the digest of the grader, which gives `terminal` and
            `process`. For `rubric` it must be given: a record does not say who judged.
        epsilon: Keeps the advantages of nearly equal rewards small; at least 0.0.

    Returns:
        One for each trajectory, in their order; None for one without a reward.

    Raises:
        UsageError: The group mixes schemas, tasks, users, data, reference versions or sources of reward (the
            message names the field and both values); a reward is no finite number; an argument is out of its
            range.
        UnknownNameError: There is no such bin.
    """
    if not epsilon >= 0.0:
        raise UsageError(f"`epsilon` is at least 0.0, not {epsilon!r}.")
    name_source = _source_of(reward_bin, source)
    _require_one_group(trajectories, name_source)
    rewards = [_reward(trajectory, reward_bin) for trajectory in trajectories]
    values = iter(_normalise([reward for reward in rewards if reward is not None], epsilon))
    return tuple(
        None
        if reward is None
        else Advantage(
            value=next(values),
            method=GROUP_NORMALISED,
            baseline="group",
            group=trajectory.task.id if group is None else group,
            step=None,
            reward_bin=reward_bin,
            reward_source=name_source(trajectory),
            policy_versions=versions_of(trajectory.messages),
            reference_version=trajectory.reference_policy,
        )
        for trajectory, reward in zip(trajectories, rewards, strict=True)
    )


def _source_of(reward_bin: RewardBin, source: Source | None) -> Source:
    known = get_args(RewardBin)
    if reward_bin not in known:
        raise UnknownNameError("bin of rewards", reward_bin, known)
    if source is not None:
        return source
    if reward_bin == "rubric":
        raise UsageError("A record does not name who judged by a rubric. Give `source`: the judge's version.")
    return _grader


def _grader(trajectory: Trajectory) -> str:
    return trajectory.grader_digest


def _require_one_group(trajectories: Sequence[Trajectory], source: Source) -> None:
    """Rewards are compared only where the same was asked for, with the same tools, by the same judge."""
    fields: dict[str, Callable[[Trajectory], str | None]] = {
        "schema.sha256": lambda trajectory: trajectory.schema.sha256,
        "task.digest": lambda trajectory: trajectory.task.digest,
        "simulator.digest": lambda trajectory: trajectory.simulator.digest,
        "data.base_digest": lambda trajectory: trajectory.data.base_digest,
        "reference_policy": lambda trajectory: trajectory.reference_policy,
        "reward source": source,
    }
    for name, read in fields.items():
        values = [read(trajectory) for trajectory in trajectories]
        for number, value in enumerate(values):
            if value != values[0]:
                raise UsageError(
                    f"A group has one {name}, but trajectory 0 has {values[0]!r} and trajectory {number} "
                    f"has {value!r}."
                )


def _reward(trajectory: Trajectory, reward_bin: RewardBin) -> float | None:
    """The reward in a bin; None after a failure, even if some process rewards came before it."""
    if trajectory.outcome.status == "infrastructure":
        return None
    reward: float | None = getattr(trajectory.outcome.ledger, reward_bin)
    if reward is not None and not math.isfinite(reward):
        raise UsageError(f"A reward is a finite number, not {reward!r} (task {trajectory.task.id}).")
    return reward


def _normalise(rewards: Sequence[float], epsilon: float) -> list[float]:
    # The mean of equal numbers may be another one: three times 0.1, say.
    if len(set(rewards)) < 2:
        return [0.0] * len(rewards)
    mean, deviation = statistics.fmean(rewards), statistics.stdev(rewards)
    return [(reward - mean) / (deviation + epsilon) for reward in rewards]
