"""What came out of a rollout, in numbers."""

from collections import Counter

import msgspec

from tool_envs.messages import Json
from tool_envs.rollout.failures import Failure
from tool_envs.trajectory.record import Trajectory


class RolloutSummary(msgspec.Struct, frozen=True, kw_only=True):
    """The episodes of a run; each has a record or has failed.

    Attributes:
        episodes: How many there are.
        recorded: How many have a record.
        resumed: How many of them had one before this command.
        failed: How many have none: the same command plays them again.
        statuses: Records by `completed` and `truncated`.
        graded: Completed records with a reward.
        mean_reward: Mean of these rewards; None: there are none. Truncated episodes are not in it.
        failed_attempts: Attempts of this command that failed, by type of the exception.
        cost: US dollars for the models of policy and users, of recorded episodes, as far as they are known.
        seconds: How long this command took.
    """

    episodes: int
    recorded: int
    resumed: int
    failed: int
    statuses: dict[str, int]
    graded: int
    mean_reward: float | None
    failed_attempts: dict[str, int]
    cost: float
    seconds: float

    def to_json(self) -> dict[str, Json]:
        """The summary as a JSON object."""
        value: dict[str, Json] = msgspec.to_builtins(self)
        return value


class Tally:
    """Counts a rollout as it goes on."""

    def __init__(self) -> None:
        self.recorded = self.resumed = self._graded = 0
        self._total = self._cost = 0.0
        self._statuses: Counter[str] = Counter()
        self._failures: Counter[str] = Counter()

    def add(self, record: Trajectory, *, resumed: bool = False) -> None:
        """Count a record."""
        outcome = record.outcome
        self.recorded += 1
        self.resumed += resumed
        self._statuses[outcome.status] += 1
        self._cost += sum(record.costs.values())
        if outcome.status == "completed" and outcome.reward is not None:
            self._graded += 1
            self._total += outcome.reward

    def add_failure(self, failure: Failure) -> None:
        """Count an attempt that failed."""
        self._failures[failure.error] += 1

    def summary(self, episodes: int, seconds: float) -> RolloutSummary:
        """The numbers so far.

        Args:
            episodes: How many there are in all.
            seconds: How long this command took.
        """
        return RolloutSummary(
            episodes=episodes,
            recorded=self.recorded,
            resumed=self.resumed,
            failed=episodes - self.recorded,
            statuses=dict(sorted(self._statuses.items())),
            graded=self._graded,
            mean_reward=self._total / self._graded if self._graded else None,
            failed_attempts=dict(sorted(self._failures.items())),
            cost=self._cost,
            seconds=seconds,
        )
