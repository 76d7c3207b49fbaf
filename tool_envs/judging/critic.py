"""Critics: judges that learn from rollouts whose reward a rule gave, so that they keep up with the policy.

Kimi K2 does so (Kimi Team, Kimi K2, 2025, arXiv 2507.20534, section 3.2.2): what a rule says of some tasks is
distilled into the critic that judges the others. `HashedWordsCritic` is small and shows it; what learns in
earnest is a language model behind the same protocol.
"""

import itertools
from collections.abc import Iterator, Sequence
from typing import Protocol

import msgspec
import numpy as np
import numpy.typing as npt

from tool_envs.canonical import digest
from tool_envs.errors import UsageError
from tool_envs.judging.features import FEATURES, FEATURES_VERSION, features_of
from tool_envs.judging.judges import Judge, Opinion, Preference
from tool_envs.judging.pairwise import episode_digest
from tool_envs.judging.rubric import Rubric
from tool_envs.trajectory.record import Trajectory
from tool_envs.trajectory.refs import TaskRef

Array = npt.NDArray[np.float64]


class Example(msgspec.Struct, frozen=True):
    """Two rollouts of one task, of which one is known to be better."""

    better: Trajectory
    worse: Trajectory


class Critic(Judge, Protocol):
    """A judge that learns."""

    def update(self, examples: Sequence[Example]) -> str:
        """Learn from comparisons whose outcome is known.

        Returns:
            The critic's version from now on; it is another one if the critic may judge differently.
        """


def examples_of(trajectories: Sequence[Trajectory]) -> list[Example]:
    """All pairs of rollouts of the same task, tools and user of which a rule rewarded one more.

    Only episodes that were completed and graded are in them: where no rule grades nothing is known, and a
    step limit or a failure says nothing of what the rollout was worth.
    """
    return [
        Example(better, worse)
        for group in _by_task(trajectories)
        for better, worse in itertools.permutations(group, 2)
        if _reward(better) > _reward(worse)
    ]


class HashedWordsCritic:
    """Logistic regression over hashed words: P(a is better) = 1 / (1 + exp(w . (f(b) - f(a)))).

    It looks at the words that were said, the calls, their order, and what tools refused, with no knowledge of
    any domain, and reads no rubric: all that it knows is which rollouts earned more. Every update fits its
    weights anew to all examples that it was ever given, so its version is a digest of these, in order.

    Args:
        penalty: Weight of the squared weights beside the mean loss of an example (L2).
        rounds: Steps of gradient descent, with Nesterov's momentum.
        margin: A difference in f . w below which two rollouts are a tie.

    Raises:
        UsageError: An argument is out of its range.
    """

    name = "hashed_words"

    def __init__(self, penalty: float = 1e-4, rounds: int = 200, margin: float = 1e-6) -> None:
        if not (penalty > 0.0 and rounds >= 1 and margin >= 0.0):
            raise UsageError(
                "Expected `penalty` above 0, `rounds` of at least 1 and `margin` of at least 0, not "
                f"{penalty!r}, {rounds!r} and {margin!r}."
            )
        self._penalty, self._rounds, self._margin = penalty, rounds, margin
        self._weights: Array = np.zeros(FEATURES)
        self._differences: list[Array] = []
        self.version = self._next_version("", ())

    async def compare(
        self,
        task: TaskRef,  # noqa: ARG002 - what was asked for stands in the rollouts
        first: Trajectory,
        second: Trajectory,
        rubric: Rubric,  # noqa: ARG002 - it has learned from rewards only
    ) -> Opinion:
        """Which one is likelier to have earned more; None before the first update."""
        return self.prefer(first, second) if self._differences else None

    def prefer(self, first: Trajectory, second: Trajectory) -> Preference:
        """Which one is likelier to have earned more; a tie if neither, as always before the first update."""
        ahead = float((features_of(first) - features_of(second)) @ self._weights)
        if abs(ahead) <= self._margin:
            return "tie"
        return "first" if ahead > 0.0 else "second"

    def update(self, examples: Sequence[Example]) -> str:
        """Learn from more examples; without any nothing changes."""
        if examples:
            self._differences += [features_of(each.better) - features_of(each.worse) for each in examples]
            self._weights = _fit(np.array(self._differences), self._penalty, self._rounds)
            self.version = self._next_version(self.version, examples)
        return self.version

    def _next_version(self, before: str, examples: Sequence[Example]) -> str:
        learned = [[episode_digest(each.better), episode_digest(each.worse)] for each in examples]
        setting = [FEATURES_VERSION, self._penalty, self._rounds, self._margin]
        return digest({"before": before, "setting": setting, "learned": learned})[:16]


def accuracy(critic: HashedWordsCritic, examples: Sequence[Example]) -> float:
    """The share of examples that a critic gets right; a tie is half of one.

    Raises:
        UsageError: There are no examples.
    """
    if not examples:
        raise UsageError("There are no examples, and so no share of them.")
    worth = {"first": 1.0, "tie": 0.5, "second": 0.0}
    return sum(worth[critic.prefer(each.better, each.worse)] for each in examples) / len(examples)


def _by_task(trajectories: Sequence[Trajectory]) -> Iterator[list[Trajectory]]:
    groups: dict[tuple[str, str, str, str], list[Trajectory]] = {}
    for each in trajectories:
        if each.outcome.status == "completed" and each.outcome.ledger.terminal is not None:
            asked = (each.task.digest, each.schema.sha256, each.simulator.digest, each.grader_digest)
            groups.setdefault(asked, []).append(each)
    yield from groups.values()


def _reward(trajectory: Trajectory) -> float:
    return trajectory.outcome.ledger.terminal or 0.0


def _fit(differences: Array, penalty: float, rounds: int) -> Array:
    """The weights with the least mean of log(1 + exp(-d . w)) + penalty / 2 * |w|^2 over differences d.

    The gradient changes by at most 1/4 of the greatest squared length of a difference, plus the penalty, per
    unit of w: the inverse of that is the length of a step.

    Source: Nesterov, A method of solving a convex programming problem with convergence rate O(1/k^2), 1983.
    """
    step = 1.0 / (0.25 * float(np.max(np.sum(differences**2, axis=1))) + penalty)
    weights = ahead = np.zeros(differences.shape[1])
    for number in range(rounds):
        # The chance that is given to the wrong one; tanh does not overflow.
        wrong = 0.5 * (1.0 - np.tanh(0.5 * (differences @ ahead)))
        gradient = penalty * ahead - differences.T @ wrong / len(differences)
        newest = ahead - step * gradient
        ahead = newest + number / (number + 3) * (newest - weights)
        weights = newest
    return weights
