"""Plays scheduled episodes, each worker one at a time."""

import asyncio
from collections.abc import AsyncGenerator, Callable

import msgspec

from tool_envs.rollout.episode import GivenUpError
from tool_envs.rollout.plan import PlannedEpisode
from tool_envs.rollout.player import FailedAttempt, Player, Work
from tool_envs.rollout.run import RunFolder
from tool_envs.rollout.schedule import EndedEpisode, Group, Schedule
from tool_envs.rollout.summary import Tally
from tool_envs.trajectory.record import Trajectory


class Result(msgspec.Struct, frozen=True):
    """An episode that ended, and its group, if that has ended with it."""

    episode: EndedEpisode
    group: Group | None


_Results = asyncio.Queue[Result | Exception | None]


class Crew:
    """Workers in one thread, as many as episodes run at once; each sees one episode at a time to its end.

    Args:
        work: How episodes are played.
        player: By whom.
        schedule: Which.
        folder: Where they are kept; None: nowhere.
        tally: Where they are counted.
    """

    def __init__(
        self, work: Work, player: Player, schedule: Schedule, folder: RunFolder | None, tally: Tally
    ) -> None:
        self.schedule, self.tally = schedule, tally
        self._work, self._player, self._folder = work, player, folder
        self._changed = asyncio.Event()
        self._mistakes: list[Exception] = []  # the first only: each holds on to all that it met
        self._mistaken = 0

    async def play(self) -> AsyncGenerator[Result, None]:
        """Play until the schedule is over; yields in the order in which episodes end.

        While nobody takes results, those that run end, and hardly any others begin.

        Raises:
            DataFileError: Records or failures could not be written.
        """
        results: _Results = asyncio.Queue(self._work.concurrency)
        workers = asyncio.create_task(self._work_all(results))
        try:
            while (result := await results.get()) is not None:
                if isinstance(result, Exception):
                    raise result
                yield result
        finally:
            workers.cancel()
            await asyncio.wait([workers])

    def give_up(self, is_stale: Callable[[int], bool]) -> None:
        """Begin those episodes again that are stale, by the number of the version under which they began."""
        self._player.give_up(is_stale)
        self.schedule.begin_again(is_stale)

    def notify(self) -> None:
        """Have workers that wait look at the schedule again."""
        self._changed.set()
        self._changed.clear()

    def raise_mistakes(self) -> None:
        """Raise the first exception that was no failure of the infrastructure, if there was one."""
        for mistake in self._mistakes:
            mistake.add_note(
                f"Episodes that ended so, without a reward: {self._mistaken}. All others were played."
            )
            raise mistake

    # --- Workers

    async def _work_all(self, results: _Results) -> None:
        try:
            async with asyncio.TaskGroup() as workers:
                for _ in range(self._work.concurrency):
                    workers.create_task(self._work_on(results))
        except ExceptionGroup as broken:
            await results.put(broken.exceptions[0])
        else:
            await results.put(None)

    async def _work_on(self, results: _Results) -> None:
        while (planned := await self._next()) is not None:
            episode = await self._play(planned)
            group = self.schedule.end(episode)
            if self.schedule.is_over:
                self.notify()
            await results.put(Result(episode, group))

    async def _next(self) -> PlannedEpisode | None:
        """The next episode, waited for while none may begin; None: all have ended."""
        while (planned := self.schedule.next(self._work.versions.current.number)) is None:
            if self.schedule.is_over:
                return None
            await self._changed.wait()
        return planned

    # --- One episode

    async def _play(self, planned: PlannedEpisode) -> EndedEpisode:
        """Play an episode, and again when its infrastructure failed; keep what came out."""
        number = 1
        while True:
            try:
                result = await self._player.attempt(planned, number)
            except GivenUpError:
                continue
            if isinstance(result, Trajectory):
                self._keep(result)
                return EndedEpisode(planned, result)
            self._tell(result)
            if result.failure.is_last:
                return EndedEpisode(planned, None, result.failure)
            number += 1

    def _keep(self, record: Trajectory) -> None:
        if self._folder:
            self._folder.keep(record)
        self.tally.add(record)

    def _tell(self, failed: FailedAttempt) -> None:
        if self._folder:
            self._folder.tell(failed.failure)
        self.tally.add_failure(failed.failure)
        if failed.mistake is not None:
            self._mistaken += 1
            self._mistakes = self._mistakes or [failed.mistake]
