"""What the steps of an episode were worth, by playing it on from before and after each."""

import copy
import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import msgspec

from tool_envs.agents import Agent, play
from tool_envs.credit.advantage import MONTE_CARLO, Advantage
from tool_envs.env import ToolEnv, unwrap
from tool_envs.errors import InfrastructureError, UsageError
from tool_envs.messages import Json
from tool_envs.randomness import splitmix64
from tool_envs.reward import Outcome
from tool_envs.trajectory.record import AssistantMessage, Trajectory, versions_of
from tool_envs.trajectory.replay import compare_outcomes, compare_settings


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """What an episode is worth at one moment: the reward that a policy is expected to get from there.

    Attributes:
        value: Mean reward of the completions; of an episode that is over, its reward; None: there is none.
        standard_error: Of that mean: the sample standard deviation over the root of `rollouts`; 0.0 when the
            episode is over; None for fewer than two rollouts.
        rollouts: Completions that had a reward; 0 when the episode is over.
        truncated: Those of them that the step limit cut, which the environment counts with 0.0.
        failed: Completions without a reward, as after an infrastructure failure; they count nowhere else.
    """

    value: float | None
    standard_error: float | None
    rollouts: int = 0
    truncated: int = 0
    failed: int = 0


class StepValue(msgspec.Struct, frozen=True, kw_only=True):
    """What one action did to the worth of its episode.

    Attributes:
        step: Number of the action, from 0, as in the `violations` of an outcome.
        message: Place of the action's message in the conversation, and so in a record of it.
        action: The action, as given to `step`.
        before: The worth before it.
        after: The worth after it.
    """

    step: int
    message: int
    action: Json
    before: Estimate
    after: Estimate

    @property
    def advantage(self) -> float | None:
        """V(after) - V(before), undiscounted; None when one of them is not known."""
        if self.before.value is None or self.after.value is None:
            return None
        return self.after.value - self.before.value

    @property
    def standard_error(self) -> float | None:
        """Of the advantage, from two independent estimates; None when one of theirs is not known."""
        if self.before.standard_error is None or self.after.standard_error is None:
            return None
        return math.hypot(self.before.standard_error, self.after.standard_error)


def step_values(
    env: gymnasium.Env[Any, Any],
    played: Trajectory | Sequence[Json],
    agent: Agent,
    rollouts: int,
    seed: int,
) -> tuple[StepValue, ...]:
    """What each action of an episode was worth, estimated by forking the environment at each step.

    Before the first action and after every one the agent plays the episode to its end `rollouts` times (Monte
    Carlo); the mean reward is the value V of that moment, and the advantage of an action is V(after) less
    V(before). Both actions around a moment share its estimate, so the advantages of an episode add up to its
    reward less V(start). When the episode is over, its reward is its value. Values are undiscounted terminal
    rewards.

    The forks start from snapshots and repeat nothing that was played. User and data are those of the episode,
    so what varies is what the agent chooses: one that makes no choices by its key needs one rollout (two, for
    standard errors). `env` itself is never stepped: all happens on a deep copy of what is in its wrappers.

    Source: Kazemnejad et al., VinePPO, 2024, arXiv 2410.01679.

    Args:
        env: A `ToolEnv`, wrapped or not. For a record, made as it says; for actions, in the running episode
            that they go on with.
        played: A record of an episode of this environment, or actions as given to `step`.
        agent: Plays the completions. It has to go on from any moment, as the oracle does or a model that
            reads the conversation; one with a plan (`gold`) would begin it anew.
        rollouts: Completions at each moment, at least 1.
        seed: 64 bits; each completion's key follows from it, the step and the number of the completion.

    Returns:
        One for each action.

    Raises:
        UsageError: `rollouts` is below 1, `played` is a single action or a record of an infrastructure
            failure, or the agent stopped before the end of an episode.
        EpisodeEndedError: There is no running episode, or actions come after its end.
        ReplayMismatchError: The record is of other tools, another task, user, grader or data, or it ended
            in another way.
        InfrastructureError: Something failed while the actions were played. A completion that fails is only
            counted, as `failed`.
    """
    if not (isinstance(rollouts, int) and rollouts >= 1):
        raise UsageError(f"`rollouts` is a number of completions of at least 1, not {rollouts!r}.")
    fork = copy.deepcopy(unwrap(env))
    values: list[StepValue] = []
    actions = _begin(fork, played)
    before = _estimate(fork, agent, _keys(seed, 0, rollouts))
    for step, action in enumerate(actions):
        message = len(fork.episode.history)
        fork.step(action)
        after = _estimate(fork, agent, _keys(seed, step + 1, rollouts))
        values.append(StepValue(step=step, message=message, action=action, before=before, after=after))
        before = after
    if isinstance(played, Trajectory):
        compare_outcomes(played, fork)
    return tuple(values)


def decisive_step(values: Sequence[StepValue], errors: float = 2.0) -> StepValue | None:
    """The call that decided an episode: the one that moved its worth most towards how it ended.

    Among equals it is the last: what an earlier one did was undone in between.

    Args:
        values: All steps of an episode, from `step_values`. When it is not over at their end, it is taken to
            end as it is expected to.
        errors: How many of its standard errors an advantage must exceed. With few rollouts that all end the
            same way the standard error is 0.0, which says more than is known. 0.0: any advantage counts, also
            that of a single rollout.

    Returns:
        The step; None when no advantage is that large, as in an episode that was never in doubt.

    Raises:
        UsageError: `errors` is negative, or above 0.0 while no step has a standard error.
    """
    if not errors >= 0.0:
        raise UsageError(f"`errors` is at least 0.0, not {errors!r}.")
    if errors and values and all(value.standard_error is None for value in values):
        raise UsageError("No step has a standard error. Take two rollouts or more, or `errors=0.0`.")
    end = values[-1].after.value if values else None
    found: StepValue | None = None
    for value in values:
        if end is not None and _is_towards(value, end) and _is_certain(value, errors):
            found = value if found is None or _size(value) >= _size(found) else found
    return found


def step_advantages(
    trajectory: Trajectory, values: Sequence[StepValue], agent: Agent, group: str | None = None
) -> tuple[Advantage | None, ...]:
    """The advantages of a trajectory's steps as records.

    Args:
        trajectory: The trajectory.
        values: Its steps, from `step_values`.
        agent: Who played the completions.
        group: Name of the group that it belongs to; None: the id of the task.

    Returns:
        One for each step; None where a value is not known.

    Raises:
        UsageError: The values are not those of this trajectory's actions.
    """
    written = [
        (number, message.action)
        for number, message in enumerate(trajectory.messages)
        if isinstance(message, AssistantMessage)
    ]
    if written != [(value.message, value.action) for value in values]:
        raise UsageError("The values are of other actions than those of the trajectory.")
    return tuple(
        None
        if value.advantage is None
        else Advantage(
            value=value.advantage,
            method=MONTE_CARLO,
            baseline=f"{agent.name}@{agent.version}",
            group=trajectory.task.id if group is None else group,
            step=value.step,
            reward_bin="terminal",
            reward_source=trajectory.grader_digest,
            policy_versions=versions_of([trajectory.messages[value.message]]),
            reference_version=trajectory.reference_policy,
        )
        for value in values
    )


def _begin(fork: ToolEnv, played: Trajectory | Sequence[Json]) -> Sequence[Json]:
    """Start the episode of a record; returns the actions."""
    if not isinstance(played, Trajectory):
        # The characters of a text and the keys of a dict would pass for actions.
        if isinstance(played, str | bytes | Mapping):
            raise UsageError(f"`played` is a record or a list of actions, not {played!r:.80}.")
        return played
    if played.outcome.status == "infrastructure":
        raise UsageError("The episode failed for its infrastructure. It has no reward to give credit for.")
    fork.reset(seed=played.seed, options=played.options)
    compare_settings(played, fork)
    return [message.action for message in played.messages if isinstance(message, AssistantMessage)]


def _keys(seed: int, step: int, rollouts: int) -> list[int]:
    """The keys of the completions that begin before an action."""
    return [splitmix64(seed, step, rollout, 0) for rollout in range(rollouts)]


def _estimate(fork: ToolEnv, agent: Agent, keys: Sequence[int]) -> Estimate:
    """What the episode is worth now; it stands there again afterwards."""
    if fork.outcome is not None:
        reward = fork.outcome.reward
        return Estimate(value=reward, standard_error=None if reward is None else 0.0)
    moment = fork.snapshot()
    outcomes = []
    for key in keys:
        outcomes.append(_complete(fork, agent, key))
        fork.restore(moment)
    return _summarise(outcomes)


def _complete(fork: ToolEnv, agent: Agent, key: int) -> Outcome | None:
    """Let the agent play from here to the end; None: the infrastructure failed, the agent's own too."""
    newest = fork.episode.history[-1]
    observation = {"role": newest.role, "name": newest.name, "content": newest.content}
    try:
        ended = play(fork, agent, observation, key)
    except InfrastructureError:
        return None
    if not ended:
        raise UsageError(f"Agent `{agent.name}` stopped before the end of the episode.")
    return fork.outcome


def _summarise(outcomes: Sequence[Outcome | None]) -> Estimate:
    counted = [outcome for outcome in outcomes if outcome is not None and outcome.reward is not None]
    rewards = [outcome.reward for outcome in counted if outcome.reward is not None]
    error = statistics.stdev(rewards) / math.sqrt(len(rewards)) if len(rewards) > 1 else None
    return Estimate(
        value=statistics.fmean(rewards) if rewards else None,
        standard_error=error,
        rollouts=len(rewards),
        truncated=sum(outcome.status == "truncated" for outcome in counted),
        failed=len(outcomes) - len(rewards),
    )


def _size(value: StepValue) -> float:
    return abs(value.advantage or 0.0)


def _is_towards(value: StepValue, end: float) -> bool:
    """The step brought the worth nearer to the end, or past it."""
    before = value.before.value
    return before is not None and (value.advantage or 0.0) * (end - before) > 0.0


def _is_certain(value: StepValue, errors: float) -> bool:
    if not errors:
        return True
    return value.standard_error is not None and _size(value) > errors * value.standard_error
