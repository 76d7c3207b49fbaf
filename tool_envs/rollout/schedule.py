"""Which episode begins next, and when all episodes of a task have ended."""

from collections import deque
from collections.abc import Callable, Iterable

import msgspec

from tool_envs.rollout.admission import Admission
from tool_envs.rollout.failures import Failure
from tool_envs.rollout.plan import Plan, PlannedEpisode
from tool_envs.trajectory.record import Trajectory


class EndedEpisode(msgspec.Struct, frozen=True):
    """An episode that ended, in one of two ways.

    Attributes:
        planned: Which episode.
        record: Its record; None: it failed.
        failure: The failure of its last attempt; None: it did not fail.
    """

    planned: PlannedEpisode
    record: Trajectory | None
    failure: Failure | None = None


class Group(msgspec.Struct, frozen=True):
    """The episodes of one task, all of which have ended.

    Attributes:
        task: Index of the task.
        records: Those of the episodes that did not fail, by sample.
        failures: The others, by sample: they have no reward, and none may be made up for them.
    """

    task: int
    records: tuple[Trajectory, ...]
    failures: tuple[Failure, ...]

    @property
    def head(self) -> int:
        """The number of the oldest version under which one of the records began."""
        return min(record.policy_versions[0].number for record in self.records)


class Recorded:
    """Which episodes of a plan were recorded before, and the records of groups that are not complete.

    Args:
        plan: Which episodes there are.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._known = set(plan.tasks)
        self._count = 0
        self.complete: set[int] = set()
        self.partial: dict[int, dict[int, Trajectory]] = {}

    def add(self, task: int, record: Trajectory) -> bool:
        """Note a record of a task; of two of the same episode the later one counts.

        Returns:
            Whether it is of an episode of the plan.
        """
        episodes = self._plan.group(task) if task in self._known else ()
        sample = next((episode.sample for episode in episodes if episode.seed == record.seed), None)
        if sample is None:
            return False
        if task not in self.complete:
            records = self.partial.setdefault(task, {})
            self._count += sample not in records
            records[sample] = record
            if len(records) == self._plan.group_size:
                self.complete.add(task)
                del self.partial[task]
        return True

    def __len__(self) -> int:
        """How many episodes."""
        return self._count


class Schedule:
    """The episodes of a plan, task by task. Groups are admitted whole: none waits for the rest of it.

    Args:
        plan: Which episodes there are.
        recorded: Those that are not played again. A group that was complete before does not end again.
        admission: Counts groups; None: all may begin.
    """

    def __init__(self, plan: Plan, recorded: Recorded, admission: Admission | None = None) -> None:
        self._plan, self._admission = plan, admission
        self._waiting = deque(task for task in plan.tasks if task not in recorded.complete)
        self._recorded = dict(recorded.partial)
        self._admitted: deque[PlannedEpisode] = deque()
        self._ended: dict[int, dict[int, EndedEpisode]] = {}  # of groups that were admitted

    @property
    def is_over(self) -> bool:
        """Whether all episodes have ended."""
        return not self._waiting and not self._ended

    def next(self, version: int) -> PlannedEpisode | None:
        """The episode that begins now; None: none may.

        Args:
            version: The number of the version in force.
        """
        if not self._admitted and self._waiting and self._may_admit(version):
            self._admit(self._waiting.popleft())
        return self._admitted.popleft() if self._admitted else None

    def end(self, episode: EndedEpisode) -> Group | None:
        """Note the end of an episode.

        Returns:
            Its group, if that has ended with it.
        """
        task = episode.planned.task
        ended = self._ended[task]
        ended[episode.planned.sample] = episode
        if len(ended) < self._plan.group_size:
            return None
        del self._ended[task]
        return _group(task, [ended[sample] for sample in sorted(ended)])

    def begin_again(self, is_stale: Callable[[int], bool]) -> None:
        """Have those ended episodes played again that are stale, in groups that have not ended.

        Args:
            is_stale: Whether an episode is, by the number of the version under which it began.
        """
        for ended in self._ended.values():
            for sample, episode in list(ended.items()):
                if episode.record is not None and is_stale(episode.record.policy_versions[0].number):
                    del ended[sample]
                    self._admitted.append(episode.planned)

    def put_back(self, groups: Iterable[Group]) -> None:
        """Have groups that had ended played again, before all others; they wait for admission as before."""
        for group in groups:
            self._recorded.pop(group.task, None)
            self._waiting.appendleft(group.task)

    def _may_admit(self, version: int) -> bool:
        return self._admission is None or self._admission.capacity(version) > 0

    def _admit(self, task: int) -> None:
        if self._admission is not None:
            self._admission.admit()
        episodes = self._plan.group(task)
        recorded = self._recorded.pop(task, {})
        self._ended[task] = {
            sample: EndedEpisode(episodes[sample], record) for sample, record in recorded.items()
        }
        self._admitted.extend(episode for episode in episodes if episode.sample not in recorded)


def _group(task: int, ended: list[EndedEpisode]) -> Group:
    return Group(
        task,
        tuple(episode.record for episode in ended if episode.record is not None),
        tuple(episode.failure for episode in ended if episode.failure is not None),
    )
