"""Append-only JSONL files of records: one line each."""

import json
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from tool_envs.errors import DataFileError
from tool_envs.json_values import parse_json
from tool_envs.trajectory.record import Trajectory

# Bytes read at a time when a file is searched from its end.
_BLOCK = 1 << 16


class TornLineWarning(UserWarning):
    """Warned of when the last line of a file is torn: its writer was killed. All other lines are whole."""


class TrajectoryWriter:
    """Appends records to a file; each is handed to the system before `append` returns. One writer at a time.

    A torn last line, which a killed writer left, is cut off with a `TornLineWarning` when the file is opened.

    Args:
        path: The file; it and its folders are made when they are missing.

    Raises:
        DataFileError: The file cannot be opened or written.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self.path.open("a+b")
            _mend_tail(self._file, self.path)
        except OSError as problem:
            raise DataFileError(path, f"cannot be written: {problem.strerror}") from None

    def append(self, trajectory: Trajectory) -> None:
        """Write one record.

        Raises:
            ValueError: It holds what JSON cannot: NaN, or an integer of thousands of digits.
        """
        self._file.write(trajectory.to_line().encode() + b"\n")
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def read_trajectories(path: str | Path) -> Iterator[Trajectory]:
    """Read records one by one; a torn last line is left out with a `TornLineWarning`.

    Raises:
        DataFileError: The file is missing, or a line is no record of a known form; says which.
    """
    try:
        with open(path, "rb") as file:
            for number, line in enumerate(file, start=1):
                if not _is_whole(line):
                    _warn_of_tear(f"{path}, line {number}")
                else:
                    yield _parse_line(line, str(path), number)
    except OSError as problem:
        raise DataFileError(path, f"cannot be read: {problem.strerror}") from None


def _parse_line(line: bytes, path: str, number: int) -> Trajectory:
    try:
        value = parse_json(line.decode())
    except (ValueError, RecursionError) as problem:
        raise DataFileError(path, f"not a JSON object: {problem}", number) from None
    return Trajectory.from_json(value, path, number)


def _is_whole(line: bytes) -> bool:
    """Whether all of a record was written. Only the end of its line may be missing: no part of it is JSON."""
    if line.endswith(b"\n"):
        return True
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _warn_of_tear(where: str) -> None:
    warnings.warn(
        f"{where}: torn, its writer was killed; all records before it are whole.",
        TornLineWarning,
        stacklevel=3,
    )


def _mend_tail(file: BinaryIO, path: Path) -> None:
    """Cut off a torn last line, or end a whole one that lacks its line end."""
    size = start = file.seek(0, os.SEEK_END)
    tail = b""
    while start and b"\n" not in tail:
        block = min(start, _BLOCK)
        start -= block
        file.seek(start)
        tail = file.read(block) + tail
    line = tail[tail.rfind(b"\n") + 1 :]
    if not line:
        return
    if _is_whole(line):
        file.write(b"\n")
    else:
        _warn_of_tear(f"{path}, last line, cut off")
        file.truncate(size - len(line))
