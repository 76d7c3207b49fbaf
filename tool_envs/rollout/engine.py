"""Episodes of a plan, many at once, in one thread."""

import functools
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import aclosing, closing, contextmanager, nullcontext
from pathlib import Path
from typing import TypeAlias

import msgspec

from tool_envs.env import unwrap
from tool_envs.environments import make_env
from tool_envs.errors import DataFileError, UsageError
from tool_envs.messages import Json
from tool_envs.rollout.admission import Admission, StalePolicy
from tool_envs.rollout.batches import Batches
from tool_envs.rollout.crew import Crew
from tool_envs.rollout.plan import Plan
from tool_envs.rollout.player import LocalPlayer, Player, Work
from tool_envs.rollout.policy import EpisodePolicy, Policy
from tool_envs.rollout.run import RunFolder, describe_run
from tool_envs.rollout.schedule import EndedEpisode, Group, Recorded, Schedule
from tool_envs.rollout.summary import RolloutSummary, Tally
from tool_envs.rollout.versions import Versions
from tool_envs.task import TaskSet
from tool_envs.trajectory.record import PolicyVersion

OnEpisode: TypeAlias = Callable[[EndedEpisode, int], None]
"""Called after each episode, with the number of those that this command plays."""


class Engine:
    """Plays the episodes of a plan, each to a record or a failure, whatever becomes of the others.

    All runs in one thread on one event loop, which those that wait (for a model, for a user) leave to others.
    Which records come out depends neither on `concurrency` nor on what waits for what, as long as the policy
    depends on nothing but what it is given.

    Deadlines have one owner each. That of a request to a model is its client's; `deadline` here is that of
    the whole episode, from `reset` on: users, tools, retries of requests and pauses of the policy included.

    What can end an episode:

    * Its own end, the step limit, or a turn that was cut (`length`, `context`): it has a record.
    * An `InfrastructureError`, of the policy, the user or the deadline: it is tried again, at once, from the
      start and with the same seed, `retries` times. The last failure is its end.
    * Any other exception is a mistake in the policy or in the environment, and the end of that episode. All
      others are played; then the first such exception is raised.
    * Cancellation (Ctrl-C) ends all that run, and nothing is kept of them.

    No failed episode has a reward: it is no 0.

    Args:
        env_id: The environment.
        kwargs: Its arguments.
        policy: Who acts.
        versions: The versions of the policy; one that is not trained has one.
        plan: Which episodes there are.
        out: Folder for records and failures (see `tool_envs.rollout.run`). Episodes that have a record in it
            are not played again. None: what is not taken from here is lost.
        concurrency: How many episodes run at once.
        retries: How often an episode is tried again.
        deadline: Seconds that an attempt at an episode may take; None: any time.
        player: Makes whoever plays the episodes: here, or elsewhere (see `tool_envs.rollout.ray`).

    Raises:
        UnknownNameError: There is no such environment, argument or task.
        UsageError: A number is out of its range.
    """

    def __init__(
        self,
        env_id: str,
        kwargs: Mapping[str, Json],
        policy: Policy | EpisodePolicy,
        versions: Versions,
        plan: Plan,
        *,
        out: str | Path | None = None,
        concurrency: int = 64,
        retries: int = 2,
        deadline: float | None = None,
        player: Callable[[Work], Player] = LocalPlayer,
    ) -> None:
        if concurrency < 1 or retries < 0 or not (deadline is None or deadline > 0):
            raise UsageError(
                "Expected `concurrency` of at least 1, `retries` of at least 0 and a `deadline` above 0, not "
                f"{concurrency=}, {retries=}, {deadline=}."
            )
        self._work = Work(
            env_id=env_id,
            kwargs=dict(kwargs),
            policy=policy,
            versions=versions,
            concurrency=min(concurrency, len(plan)),
            retries=retries,
            deadline=deadline,
        )
        self._plan, self._out, self._player = plan, out, player
        self._env = unwrap(make_env(env_id, kwargs))  # of which no episode is played
        for end in {min(plan.tasks), max(plan.tasks)} if plan.tasks else ():
            self._env.domain.tasks[end]  # an unknown one is refused before the first episode

    async def run(self, on_episode: OnEpisode | None = None) -> RolloutSummary:
        """Play all episodes.

        Args:
            on_episode: What else to do after each.

        Returns:
            What came out, earlier commands in the same folder included.

        Raises:
            UsageError: `out` is the folder of another run, or another process writes to it.
            DataFileError: It cannot be read or written.
            Exception: The first mistake in the policy or the environment, after all other episodes.
        """
        began = time.monotonic()
        with self._hire() as crew:
            to_play = len(self._plan) - crew.tally.resumed
            async with aclosing(crew.play()) as results:
                async for result in results:
                    if on_episode:
                        on_episode(result.episode, to_play)
        crew.raise_mistakes()
        return crew.tally.summary(len(self._plan), time.monotonic() - began)

    async def groups(self) -> AsyncGenerator[Group, None]:
        """Play all episodes; yields the group of each task when it has ended, in that order.

        Groups that were complete in the folder before are not yielded again; of others the records that were
        there are part of it. Raises as `run` does, mistakes at the end. Leaving the loop early leaves
        episodes running until the generator is closed: use `contextlib.aclosing`.
        """
        with self._hire() as crew:
            async with aclosing(_groups(crew)) as groups:
                async for group in groups:
                    yield group
        crew.raise_mistakes()

    async def batches(
        self, admission: Admission, on_stale: StalePolicy = "continue"
    ) -> AsyncGenerator[tuple[Group, ...], None]:
        """Play all episodes as a trainer can take them; yields batches of groups, the oldest ones first.

            async for batch in engine.batches(Admission(batch_size=32, max_staleness=2, max_concurrent=64)):
                ...                      # train, and bring the weights to whatever serves the policy
                versions.publish("step-1")

        Groups go on while the trainer trains, if it lets the event loop run, in whose thread it publishes.
        Groups without any record make no part of a batch. What makes no whole batch at the end is not
        yielded.

        With `restart` the folder also keeps the records of episodes that were given up after their end.

        Args:
            admission: How many groups may begin; it counts groups, not episodes.
            on_stale: What becomes of episodes that fall behind. For `keep` the policy is an `EpisodePolicy`,
                whose `begin` looks at the version in force and stays with it.

        Raises:
            Exception: As `run` does, mistakes at the end.
        """
        batches: Batches[Group] = Batches(admission, on_stale)
        with self._hire(admission, keeps_version=on_stale == "keep") as crew:
            refresh = functools.partial(_refresh, crew, batches, admission, on_stale)
            with self._listening(refresh):
                async with aclosing(_groups(crew)) as groups:
                    async for group in groups:
                        if group.records:
                            batches.put(group.head, group)
                        else:
                            admission.reject()
                        refresh(self._work.versions.current)
                        while batch := batches.take(self._work.versions.current.number):
                            yield batch
        crew.raise_mistakes()

    # --- What the three have in common

    @contextmanager
    def _hire(self, admission: Admission | None = None, *, keeps_version: bool = False) -> Iterator[Crew]:
        """Open the folder, find out what is left to play, and who plays it."""
        recorded, tally = Recorded(self._plan), Tally()
        folder = self._open_folder()
        with nullcontext() if folder is None else closing(folder):
            if folder is not None:
                _read(folder, self._env.domain.tasks, recorded, tally)
            schedule = Schedule(self._plan, recorded, admission)
            work = msgspec.structs.replace(self._work, keeps_version=keeps_version)
            with closing(self._player(work)) as player:
                yield Crew(work, player, schedule, folder, tally)

    def _open_folder(self) -> RunFolder | None:
        if self._out is None:
            return None
        work = self._work
        return RunFolder(self._out, describe_run(self._env, work.policy, work.versions.current, self._plan))

    @contextmanager
    def _listening(self, listener: Callable[[PolicyVersion], None]) -> Iterator[None]:
        """Tell a listener of each version that is published meanwhile."""
        stop = self._work.versions.tell(listener)
        try:
            yield
        finally:
            stop()


async def _groups(crew: Crew) -> AsyncGenerator[Group, None]:
    """The groups in the order in which they end; some may be put back and end again, after all others."""
    while not crew.schedule.is_over:
        async with aclosing(crew.play()) as results:
            async for result in results:
                if result.group:
                    yield result.group


def _refresh(
    crew: Crew, batches: Batches[Group], admission: Admission, stale: StalePolicy, version: PolicyVersion
) -> None:
    """Do with episodes of older versions what is to be done, and begin what may begin."""
    if stale == "restart":
        crew.give_up(lambda head: admission.is_stale(head, version.number))
        crew.schedule.put_back(batches.expire(version.number))
    crew.notify()


def _read(folder: RunFolder, tasks: TaskSet, recorded: Recorded, tally: Tally) -> None:
    for task, record in folder.records(tasks):
        before = len(recorded)
        if not recorded.add(task, record):
            raise DataFileError(
                folder.path, f"holds a record of task {record.task.id!r}, seed {record.seed}: not of its run"
            )
        if len(recorded) > before:  # a group that had grown too old was played, and recorded, again
            tally.add(record, resumed=True)
