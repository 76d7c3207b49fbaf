"""Rollouts whose episodes are played by Ray actors, on one machine or on many; it needs the extra `ray`.

ray.init(...)
engine = Engine(..., player=functools.partial(RayPlayer, workers=32))
"""

import asyncio
import pickle
import traceback
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import ray
from ray.exceptions import ActorUnavailableError, RayError, RayTaskError

from tool_envs.env import unwrap
from tool_envs.environments import make_env
from tool_envs.errors import InfrastructureError, UsageError
from tool_envs.rollout.episode import GivenUpError
from tool_envs.rollout.failures import describe_failure
from tool_envs.rollout.plan import PlannedEpisode
from tool_envs.rollout.player import FailedAttempt, LocalPlayer, Work
from tool_envs.rollout.versions import Versions
from tool_envs.trajectory.record import PolicyVersion, Trajectory

_OTHER_CALLS = 64
"""How many calls beside those that play episodes an actor takes at once."""

_PATIENCE = 0.1
"""Seconds before an actor that could not be reached is asked again whether it is there."""


class WorkerLostError(InfrastructureError):
    """Raised when the process that played an episode is gone, or its machine."""


class RayPlayer:
    """The `Player` that plays in Ray actors, each of which has its share of the episodes.

    Records are those of `LocalPlayer`, which is what an actor has. An actor that dies takes with it the
    episodes that ran in it, for each of which this was an attempt that failed; Ray starts it again.

    The policy acts in the actors: it has to pickle. What is published is known there a moment later than
    here, so a turn that is asked for in this moment is taken for one of the version before. A policy whose
    server says which version it is puts it into `PolicyOutput.policy_version`.

    Args:
        work: How episodes are played; its `concurrency` is that of all actors together.
        workers: How many actors.
        options: What Ray is to know of each (`num_cpus`, say): see its `ActorClass.options`.

    Raises:
        UsageError: Ray does not run, there is no worker, or the policy does not pickle.
    """

    def __init__(self, work: Work, workers: int = 1, options: Mapping[str, Any] | None = None) -> None:
        if not ray.is_initialized():  # it would start by itself, and listen to whoever reaches this machine
            raise UsageError("Ray does not run. Call `ray.init` first.")
        if workers < 1:
            raise UsageError(f"`workers` is a number of at least 1, not {workers!r}.")
        self._work = work
        self._env = unwrap(make_env(work.env_id, work.kwargs))  # of which no episode is played
        share = -(-work.concurrency // workers)
        actors = ray.remote(_Actor).options(
            max_restarts=-1, max_concurrency=share + _OTHER_CALLS, **(options or {})
        )
        self._sent = _send(work)  # held on to: an actor that is started again reads it again
        self._workers = [_Worker(actors.remote(self._sent)) for _ in range(workers)]
        self._stop_telling = work.versions.tell(self._tell)

    async def attempt(self, planned: PlannedEpisode, number: int) -> Trajectory | FailedAttempt:
        """See `Player`.

        Raises:
            GivenUpError: It was given up.
            RayError: An actor cannot be started.
        """
        worker = min(self._workers, key=lambda worker: len(worker.running))
        head = self._work.versions.current
        worker.running[planned] = head
        try:
            await worker.wait_for_start()
            result = await worker.play(planned, number, head)
            if planned not in worker.running or result is None:
                raise GivenUpError
            return result
        except WorkerLostError as loss:
            is_last = number > self._work.retries
            return FailedAttempt(
                describe_failure(planned, self._env, number, loss, is_last=is_last, record=None)
            )
        finally:
            worker.running.pop(planned, None)

    def give_up(self, is_stale: Callable[[int], bool]) -> None:
        """See `Player`."""
        for worker in self._workers:
            stale = {head.number for head in worker.running.values() if is_stale(head.number)}
            for planned in [planned for planned, head in worker.running.items() if head.number in stale]:
                del worker.running[planned]  # it may have ended there before it hears of this
            if stale:
                worker.actor.give_up.remote(stale)

    def close(self) -> None:
        """See `Player`."""
        self._stop_telling()
        for worker in self._workers:
            ray.kill(worker.actor)
        self._env.close()

    def _tell(self, version: PolicyVersion) -> None:
        for worker in self._workers:
            worker.actor.follow.remote(version)


class _Worker:
    """An actor as it is seen from here, and with which heads which episodes run in it."""

    def __init__(self, actor: Any) -> None:  # noqa: ANN401 - Ray makes handles without a type
        self.actor = actor
        self.running: dict[PlannedEpisode, PolicyVersion] = {}
        self._has_started = False

    async def wait_for_start(self) -> None:
        """Wait until it plays, also after it died, so that no attempt is lost to a start."""
        while not self._has_started:
            try:
                await self.actor.start.remote()
                self._has_started = True
            except ActorUnavailableError:
                await asyncio.sleep(_PATIENCE)

    async def play(
        self, planned: PlannedEpisode, number: int, head: PolicyVersion
    ) -> Trajectory | FailedAttempt | None:
        """Have it play an episode once; None: it was given up.

        Raises:
            WorkerLostError: It died.
        """
        try:
            result: Trajectory | FailedAttempt | None = await self.actor.play.remote(planned, number, head)
            return result
        except RayTaskError:  # it lives, and this was raised in it
            raise
        except RayError as loss:
            self._has_started = False
            raise WorkerLostError(f"The worker was lost: {type(loss).__name__}.") from loss


class _Actor:
    """What runs in an actor."""

    def __init__(self, work: Work) -> None:
        self._versions = work.versions
        self._player = LocalPlayer(work)

    async def start(self) -> None:
        """Be there."""

    async def play(
        self, planned: PlannedEpisode, number: int, head: PolicyVersion
    ) -> Trajectory | FailedAttempt | None:
        """An attempt; None: it was given up."""
        self._versions.follow(head)
        try:
            result = await self._player.attempt(planned, number)
        except GivenUpError:
            return None
        return _seal(result) if isinstance(result, FailedAttempt) else result

    async def follow(self, version: PolicyVersion) -> None:
        """Learn that a version was published."""
        self._versions.follow(version)

    async def give_up(self, heads: set[int]) -> None:
        """Give up the episodes that began with these versions."""
        self._player.give_up(heads.__contains__)


def _send(work: Work) -> Any:  # noqa: ANN401 - a reference, of Ray's own type
    """Put the work where actors get it from, with versions of their own."""
    theirs = msgspec.structs.replace(work, versions=Versions(work.versions.current))
    try:
        return ray.put(theirs)
    except TypeError as problem:
        raise UsageError(
            f"The policy `{work.policy.name}` acts in other processes, but does not pickle: {problem}"
        ) from None


def _seal(failed: FailedAttempt) -> FailedAttempt:
    """A failed attempt whose mistake survives the way, and the place where it was raised, as a note."""
    mistake = failed.mistake
    if mistake is None:
        return failed
    try:
        pickle.loads(pickle.dumps(mistake))  # noqa: S301 - our own
    except Exception:  # whatever a foreign exception raises here, it is told by its type and text instead
        mistake = RuntimeError(f"{type(mistake).__name__}: {mistake}").with_traceback(mistake.__traceback__)
    mistake.add_note("".join(traceback.format_tb(mistake.__traceback__)))
    return FailedAttempt(failed.failure, mistake)
