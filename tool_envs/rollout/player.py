"""Where attempts at episodes are played."""

from collections.abc import Callable, Mapping
from typing import Protocol

import msgspec

from tool_envs.env import ToolEnv, unwrap
from tool_envs.environments import make_env
from tool_envs.errors import InfrastructureError
from tool_envs.messages import Json
from tool_envs.rollout.episode import GivenUpError, RunningEpisode
from tool_envs.rollout.failures import Failure, describe_failure
from tool_envs.rollout.plan import PlannedEpisode
from tool_envs.rollout.policy import EpisodePolicy, Policy
from tool_envs.rollout.versions import Versions
from tool_envs.trajectory.record import Trajectory


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """How episodes are played; see `Engine`."""

    env_id: str
    kwargs: Mapping[str, Json]
    policy: Policy | EpisodePolicy
    versions: Versions
    concurrency: int
    retries: int
    deadline: float | None
    keeps_version: bool = False


class FailedAttempt(msgspec.Struct, frozen=True):
    """An attempt at an episode that has no record.

    Attributes:
        failure: Why.
        mistake: The exception, if it was one in the policy or the environment.
    """

    failure: Failure
    mistake: Exception | None = None


class Player(Protocol):
    """Plays attempts, many at once."""

    async def attempt(self, planned: PlannedEpisode, number: int) -> Trajectory | FailedAttempt:
        """Play an episode once.

        Args:
            planned: Which episode.
            number: Which attempt of it this is, from 1.

        Raises:
            GivenUpError: It was given up.
        """

    def give_up(self, is_stale: Callable[[int], bool]) -> None:
        """Have those running episodes end soon that are stale, with a `GivenUpError`.

        Args:
            is_stale: Whether an episode is, by the number of the version under which it began.
        """

    def close(self) -> None:
        """Free what it plays with. Nothing runs any more."""


class LocalPlayer:
    """The `Player` in this thread; each running episode has an environment.

    Args:
        work: How episodes are played.
    """

    def __init__(self, work: Work) -> None:
        self._work = work
        self._running: dict[PlannedEpisode, RunningEpisode] = {}
        self._idle: list[ToolEnv] = []

    async def attempt(self, planned: PlannedEpisode, number: int) -> Trajectory | FailedAttempt:
        """See `Player`; on an environment that others get only if all went well."""
        work = self._work
        env = self._idle.pop() if self._idle else unwrap(make_env(work.env_id, work.kwargs))
        episode = RunningEpisode(env, work.policy, work.versions, planned, keeps_version=work.keeps_version)
        self._running[planned] = episode
        is_sound = False
        try:
            record = await episode.play(work.deadline)
        except GivenUpError:
            raise
        except InfrastructureError as failure:
            is_last, there = number > work.retries, episode.record_failure(failure)
            return FailedAttempt(
                describe_failure(planned, env, number, failure, is_last=is_last, record=there)
            )
        except Exception as mistake:
            failed = describe_failure(planned, env, number, mistake, is_last=True, record=None)
            return FailedAttempt(failed, mistake)
        else:
            is_sound = True
            return record
        finally:
            del self._running[planned]
            if is_sound:
                self._idle.append(env)
            else:
                env.close()

    def give_up(self, is_stale: Callable[[int], bool]) -> None:
        """See `Player`."""
        for episode in self._running.values():
            if is_stale(episode.head.number):
                episode.give_up()

    def close(self) -> None:
        """See `Player`."""
        while self._idle:
            self._idle.pop().close()
