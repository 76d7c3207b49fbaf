"""Advantages of trajectories, from the rewards of a group of them."""

import itertools
import math
import statistics
from collections.abc import Callable, Mapping, Sequence

from tool_envs.credit.advantage import GROUP_NORMALISED, Advantage, RewardBin
from tool_envs.credit.combine import combine, read_formula
from tool_envs.errors import UsageError
from tool_envs.trajectory.record import Trajectory, versions_of


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
    reward: str = "terminal",
    epsilon: float = 1e-6,
) -> tuple[Advantage | None, ...]:
    """The advantages of G trajectories of one task: (reward - mean) / (std + epsilon), as in GRPO.

    The mean and the standard deviation are those of the group; the latter is the sample's (divided by G - 1),
    which is what verl and TRL compute. Where all rewards are equal every advantage is exactly 0.0, in a group
    of one too: nothing in it was better than expected. (verl gives a group of one its reward as advantage.)

    A trajectory without a reward (an infrastructure failure, a task that no rule grades, a judge that gave no
    score) has no advantage and moves neither the mean nor the standard deviation, nor does it count in G. A
    truncated one has the reward that the environment gave it, 0.0; leave it out of `trajectories` if it
    should not count.

    Source: Shao et al., DeepSeekMath, 2024, arXiv 2402.03300, section 4.1.

    Args:
        trajectories: The group; policy versions may differ in it, and each advantage names its own.
        group: Its name; None: the id of the task.
        reward: Which reward: a bin of the ledger, or a formula of several, such as `terminal+0.1*format` (see
            `tool_envs.credit.combine`).
        epsilon: Keeps the advantages of nearly equal rewards small; at least 0.0.

    Returns:
        One for each trajectory, in their order; None for one without a reward.

    Raises:
        UsageError: The group mixes schemas, tasks, users, data, reference versions or sources of reward, or
            holds scores of several comparisons (the message names the field and both values); a reward is no
            finite number, or was not asked for; an argument is out of its range.
        UnknownNameError: There is no such bin.
    """
    if not epsilon >= 0.0:
        raise UsageError(f"`epsilon` is at least 0.0, not {epsilon!r}.")
    _require_one_group(trajectories, reward)
    rewards = [_reward(trajectory, reward) for trajectory in trajectories]
    values = iter(_normalise([value for value in rewards if value is not None], epsilon))
    return tuple(
        None
        if value is None
        else Advantage(
            value=next(values),
            method=GROUP_NORMALISED,
            baseline="group",
            group=trajectory.task.id if group is None else group,
            step=None,
            reward_bin=_bin(reward),
            reward_source=_source(trajectory, reward),
            policy_versions=versions_of(trajectory.messages),
            reference_version=trajectory.reference_policy,
        )
        for trajectory, value in zip(trajectories, rewards, strict=True)
    )


def _bin(reward: str) -> RewardBin:
    first, *more = read_formula(reward)
    return "combined" if more or reward.strip() != first else first


def _source(trajectory: Trajectory, reward: str) -> str:
    """Names what gave a trajectory its reward: of a formula the formula itself, and what gave each bin."""
    if _bin(reward) != "combined":
        return _SOURCES[reward.strip()](trajectory)
    of_bins = [f"{bin_} by {_SOURCES[bin_](trajectory)}" for bin_ in read_formula(reward)]
    return f"{''.join(reward.split())}: {', '.join(of_bins)}"


def _process_source(trajectory: Trajectory) -> str:
    source = trajectory.outcome.ledger.process_source
    if source is None:
        return "nothing"
    return f"{source.name}@{source.digest or trajectory.grader_digest}"


def _rubric_source(trajectory: Trajectory) -> str:
    source = trajectory.outcome.ledger.rubric_source
    if source is None:
        return "nothing"
    judge = f"{source.judge}@{source.judge_version}"
    return f"{source.rubric}@{source.version} ({source.digest}), judged by {judge}"


_SOURCES: dict[str, Callable[[Trajectory], str]] = {
    "terminal": lambda trajectory: trajectory.grader_digest,
    "process": _process_source,
    "rubric": _rubric_source,
    "format": lambda _: "format_reward",
}


def _compared(trajectory: Trajectory) -> str | None:
    """The episodes that a score by a rubric was made among: scores of others are not on its scale."""
    source = trajectory.outcome.ledger.rubric_source
    return None if source is None else ", ".join(source.group)


def _require_one_group(trajectories: Sequence[Trajectory], reward: str) -> None:
    """Rewards are compared only where the same was asked for, with the same tools, by the same judge."""
    fields: dict[str, Callable[[Trajectory], str | None]] = {
        "schema.sha256": lambda trajectory: trajectory.schema.sha256,
        "task.digest": lambda trajectory: trajectory.task.digest,
        "simulator.digest": lambda trajectory: trajectory.simulator.digest,
        "data.base_digest": lambda trajectory: trajectory.data.base_digest,
        "grader_digest": lambda trajectory: trajectory.grader_digest,
        "reference_policy": lambda trajectory: trajectory.reference_policy,
    }
    _require_one(fields, trajectories)
    # What failed was not judged, so nothing is the source of its reward.
    rewarded = [each for each in trajectories if each.outcome.status != "infrastructure"]
    sources: dict[str, Callable[[Trajectory], str | None]] = {
        "reward source": lambda trajectory: _source(trajectory, reward)
    }
    if "rubric" in read_formula(reward):
        sources["outcome.ledger.rubric_source.group"] = _compared
    _require_one(sources, rewarded)


def _require_one(
    fields: Mapping[str, Callable[[Trajectory], str | None]], trajectories: Sequence[Trajectory]
) -> None:
    for name, read in fields.items():
        values = [read(trajectory) for trajectory in trajectories]
        for number, value in enumerate(values):
            if value != values[0]:
                raise UsageError(
                    f"A group has one {name}, but trajectory 0 has {values[0]!r} and trajectory {number} "
                    f"has {value!r}."
                )


def _reward(trajectory: Trajectory, formula: str) -> float | None:
    """The reward by a formula; None after a failure, even if some process rewards came before it."""
    if trajectory.outcome.status == "infrastructure":
        return None
    reward = combine(trajectory.outcome.ledger, formula)
    if reward is not None and not math.isfinite(reward):
        raise UsageError(f"A reward is a finite number, not {reward!r} (task {trajectory.task.id}).")
    return reward


def _normalise(rewards: Sequence[float], epsilon: float) -> list[float]:
    # The mean of equal numbers may be another one: three times 0.1, say.
    if len(set(rewards)) < 2:
        return [0.0] * len(rewards)
    mean, deviation = statistics.fmean(rewards), statistics.stdev(rewards)
    return [(reward - mean) / (deviation + epsilon) for reward in rewards]
