"""The own rubrics of the tasks that records name, from the environments that the records name."""

import json
from typing import Any

import gymnasium

from tool_envs.domain import RubricKind
from tool_envs.env import unwrap
from tool_envs.environments import make_env
from tool_envs.errors import UsageError
from tool_envs.judging.rubric import Rubric
from tool_envs.messages import Json
from tool_envs.trajectory.record import Trajectory


class TaskRubrics:
    """Finds rubrics by making environments again, one for all records that name it with equal arguments.

    Args:
        **overrides: Arguments of the environments that take the place of recorded ones: `path`, say.
    """

    def __init__(self, **overrides: Json) -> None:
        self._overrides = overrides
        self._envs: dict[str, gymnasium.Env[Any, Any]] = {}

    def filter_of(self, trajectory: Trajectory) -> Rubric:
        """The rubric that says whether a trajectory is worth fine-tuning on.

        Raises:
            UsageError: Its task has no such rubric, or is another one here than in the record.
            UnknownNameError: The environment or its task does not exist here.
        """
        return self._find(trajectory, "filter")

    def reward_of(self, trajectory: Trajectory, base: Rubric) -> Rubric:
        """A rubric for rewards with the items of a trajectory's task.

        Args:
            trajectory: The trajectory.
            base: What all such tasks are held to, as by `shipped_rubric("letter", "1.0.0", "reward")`.

        Raises:
            UsageError: As `filter_of`.
            UnknownNameError: As `filter_of`.
        """
        return base.with_items(self._find(trajectory, "reward").items)

    def _find(self, trajectory: Trajectory, kind: RubricKind) -> Rubric:
        domain = unwrap(self._env(trajectory)).domain
        task = domain.tasks.find(trajectory.task.id)
        for name, recorded, here in (
            ("task.digest", trajectory.task.digest, task.digest),
            ("schema.sha256", trajectory.schema.sha256, domain.toolkit.schema.sha256),
        ):
            if recorded != here:
                raise UsageError(f"A rubric is of one {name}: recorded {recorded!r}, here it is {here!r}.")
        value = domain.rubric(task, kind) if domain.rubric else None
        if value is None:
            raise UsageError(
                f"The task {task.id!r} of {trajectory.env.id} has no rubric of its own of the kind {kind!r}: "
                "give one for all tasks, from a file."
            )
        return Rubric.from_json(value, kind, f"rubric of {task.id}")

    def _env(self, trajectory: Trajectory) -> gymnasium.Env[Any, Any]:
        kwargs = {**trajectory.env.kwargs, **self._overrides}
        key = json.dumps([trajectory.env.id, kwargs], sort_keys=True)
        if key not in self._envs:
            self._envs[key] = make_env(trajectory.env.id, kwargs)
        return self._envs[key]
