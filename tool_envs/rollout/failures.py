"""Attempts at episodes that failed, and the file beside the records that tells of them."""

import json
import traceback
from pathlib import Path
from typing import Literal, TextIO

import msgspec

from tool_envs.env import ToolEnv
from tool_envs.errors import DataFileError, InfrastructureError, ToolEnvsError
from tool_envs.rollout.plan import PlannedEpisode
from tool_envs.trajectory.record import Trajectory
from tool_envs.trajectory.segments import mend_tail

_MESSAGE_LENGTH = 500


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt at an episode that has no reward, which is another thing than a reward of 0.

    Attributes:
        task_id: Its task.
        task: Index of its task.
        sample: Which of the episodes of this task it is.
        seed: The seed of its `reset`.
        attempt: Which attempt of this run it was, from 1; all have the same seed.
        is_last: Whether no attempt of this run came after it, so that the episode is not in the store.
        kind: `infrastructure`: something outside of the episode failed. `mistake`: the policy or the
            environment raised what it should not, which is not tried again.
        error: Type of the exception.
        message: Of a failure, what it says. Of a mistake only where it was raised: anything may stand in the
            text of an exception that nobody foresaw, keys too.
        record: What there was of the episode by then, nothing of it trainable; None: it had not begun, or
            the mistake leaves nothing to rely on.
    """

    task_id: str
    task: int
    sample: int
    seed: int
    attempt: int
    is_last: bool
    kind: Literal["infrastructure", "mistake"]
    error: str
    message: str
    record: Trajectory | None

    def to_line(self) -> str:
        """The failure as one line of ASCII."""
        record = None if self.record is None else self.record.to_json()
        value = {**msgspec.structs.asdict(self), "record": record}
        return json.dumps(value, allow_nan=False, separators=(",", ":"))


def describe_failure(
    planned: PlannedEpisode,
    env: ToolEnv,
    attempt: int,
    error: Exception,
    *,
    is_last: bool,
    record: Trajectory | None,
) -> Failure:
    """What is kept of an exception that ended an attempt."""
    return Failure(
        task_id=env.domain.tasks[planned.task].id,
        task=planned.task,
        sample=planned.sample,
        seed=planned.seed,
        attempt=attempt,
        is_last=is_last,
        kind="infrastructure" if isinstance(error, InfrastructureError) else "mistake",
        error=type(error).__name__,
        message=str(error)[:_MESSAGE_LENGTH] if isinstance(error, ToolEnvsError) else _place(error),
        record=record,
    )


def _place(error: Exception) -> str:
    """Where an exception was raised: a module, not a path of this machine."""
    frames = list(traceback.walk_tb(error.__traceback__))
    if not frames:
        return "raised nowhere"
    frame, line = frames[-1]
    return f"raised in {frame.f_globals.get('__name__', '?')}, line {line}, in {frame.f_code.co_name}"


class FailureLog:
    """Appends failures to a file, one line each; a torn last line, which a killed writer left, is cut off.

    Args:
        path: The file, made with the first failure.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: TextIO | None = None

    def append(self, failure: Failure) -> None:
        """Write one.

        Raises:
            DataFileError: It could not be written.
        """
        try:
            if self._file is None:
                self._file = self._open()
            self._file.write(failure.to_line() + "\n")
            self._file.flush()
        except OSError as problem:
            raise DataFileError(self._path, f"cannot be written: {problem.strerror}") from None

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def _open(self) -> TextIO:
        with self._path.open("a+b") as file:
            mend_tail(file)
        return self._path.open("a", encoding="ascii")
