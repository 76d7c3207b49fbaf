"""Stores of records: folders of append-only JSONL segments, one line for each record.

    runs/gold/segment-000001.jsonl
              segment-000002.jsonl     a new one when the last is full
              writer.lock              names the last writer

A line is the record with one member more, `crc32`, so that a changed line is refused by its number.
"""

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from tool_envs.errors import DataFileError, UsageError
from tool_envs.json_values import parse_json
from tool_envs.trajectory.lock import WriterLock
from tool_envs.trajectory.record import Trajectory
from tool_envs.trajectory.segments import (
    is_whole,
    list_segments,
    make_folder,
    mend_tail,
    seal_line,
    segment_path,
    sync_folder,
    unseal_line,
)

SEGMENT_BYTES = 1 << 28
"""How many bytes a segment holds before the next one is begun."""


class TornLineWarning(UserWarning):
    """Warned of when the last line of a store is torn: its writer was killed, or is at it."""


class TrajectoryWriter:
    """Appends records to a store. One writer at a time; not for several threads.

    Each record is handed to the system before `append` returns, so it survives its process. A record is
    *acknowledged* when it is on disk (fsync), so that it survives the machine too. A torn last line, which a
    killed writer left, is cut off with a `TornLineWarning` when the store is opened; all that the store then
    holds is on disk. A writer that could not write is closed.

    Args:
        path: The folder; it and those it is in are made when they are missing.
        sync_every: Acknowledge after so many records. An fsync takes milliseconds: whoever writes faster than
            that takes a larger number, and loses at most so many records less one with the machine.
        segment_bytes: How many bytes a segment holds before the next one is begun; it ends with its record.

    Raises:
        DataFileError: The store cannot be opened or written, or a segment is missing.
        UsageError: Another writer holds it, who is named, or a number is below 1.
    """

    def __init__(self, path: str | Path, *, sync_every: int = 1, segment_bytes: int = SEGMENT_BYTES) -> None:
        if min(sync_every, segment_bytes) < 1:
            raise UsageError(f"Expected numbers above 0, not {sync_every=} and {segment_bytes=}.")
        self.path = Path(path)
        self._sync_every, self._segment_bytes = sync_every, segment_bytes
        self._appended = self._acknowledged = 0
        with _named_failure(self.path):
            make_folder(self.path)
            self._lock = WriterLock(self.path)
        try:
            with _named_failure(self.path):
                self._open_last()
        except BaseException:
            self._lock.release()
            raise

    def append(self, trajectory: Trajectory) -> int:
        """Write one record.

        Returns:
            How many of this writer's records are acknowledged, always the first ones.

        Raises:
            ValueError: It holds what JSON cannot: NaN, or an integer of thousands of digits.
            DataFileError: It could not be written; the writer is closed.
            UsageError: The writer is closed, or belongs to the process that this one was forked from.
        """
        line = seal_line(trajectory.to_line())
        with self._closed_by_failure():
            if self._bytes >= self._segment_bytes:
                self._open_next()
            self._write(line)
            self._appended += 1
            if self._appended - self._acknowledged >= self._sync_every:
                self._sync()
        return self._acknowledged

    def sync(self) -> None:
        """Acknowledge all records that were appended.

        Raises:
            DataFileError: The system reports a failure; the writer is closed.
            UsageError: The writer is closed, or belongs to the process that this one was forked from.
        """
        with self._closed_by_failure():
            self._sync()

    def close(self) -> None:
        """Acknowledge all records and let others write; again, it does nothing. Raises as `sync` does."""
        if self._lock.held:
            self.sync()
        self._release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _open_last(self) -> None:
        """Open the last segment, mended, or the first."""
        segments = list_segments(self.path)
        if not segments:
            self._open_segment(1)
            return
        with segments[-1].open("a+b") as file:
            if mend_tail(file):
                _warn_of_tear(f"{segments[-1]}, last line, cut off")
        self._open_segment(len(segments))

    def _open_segment(self, number: int) -> None:
        path = segment_path(self.path, number)
        self._number, self._file = number, FileIO(path, "ab")
        self._bytes = path.stat().st_size
        sync_folder(self.path)
        self._sync()

    def _open_next(self) -> None:
        # Only the last segment of a store may have a torn tail: the one before is on disk first.
        self._sync()
        self._file.close()
        self._open_segment(self._number + 1)

    def _write(self, line: bytes) -> None:
        rest = memoryview(line)
        while rest:
            rest = rest[self._file.write(rest) :]
        self._bytes += len(line)

    def _sync(self) -> None:
        os.fsync(self._file.fileno())
        self._acknowledged = self._appended

    @contextmanager
    def _closed_by_failure(self) -> Iterator[None]:
        """After a failure, or an interrupt, the end of the file is unknown: who opens it mends it."""
        if not self._lock.held:
            raise UsageError(f"{self.path}: the writer is closed; a forked process opens one of its own.")
        try:
            with _named_failure(segment_path(self.path, self._number)):
                yield
        except BaseException:
            self._release()
            raise

    def _release(self) -> None:
        self._file.close()
        self._lock.release()


class StoredLine(NamedTuple):
    """One line of a store: in which file, which line of it, from 1, and the record, or why it is none."""

    path: Path
    number: int
    found: Trajectory | DataFileError


def read_trajectories(path: str | Path) -> Iterator[Trajectory]:
    """Read the records of a store one by one, oldest first; of a single JSONL file too.

    A torn last line is left out with a `TornLineWarning`. Lines of other JSONL files need no `crc32`.

    Raises:
        DataFileError: Nothing is there, a segment is missing, or a line was changed since it was written or
            is no record of a known form; says which.
    """
    for line in read_lines(path):
        if isinstance(line.found, DataFileError):
            raise line.found
        yield line.found


def read_lines(path: str | Path) -> Iterator[StoredLine]:
    """Read a store as `read_trajectories` does, but go on after a line that is no record.

    Raises:
        DataFileError: Nothing is there, a segment is missing, or a file cannot be read.
    """
    path = Path(path)
    with _named_failure(path, "read"):
        files = list_segments(path) if path.is_dir() else [path]
    if not files:
        raise DataFileError(path, "holds no segment-000001.jsonl, so it is no store of records")
    for file in files:
        yield from _read_file(file, file is files[-1])


def clear_store(path: str | Path) -> None:
    """Remove all records of a store; whatever else is in the folder stays. A missing store is cleared.

    Raises:
        DataFileError: It cannot be cleared, or is a file.
        UsageError: A writer holds it, who is named.
    """
    path = Path(path)
    if not path.exists():
        return
    with _named_failure(path):
        segments = list_segments(path)
        lock = WriterLock(path)
        try:
            for segment in reversed(segments):  # whatever is left after a failure is a store
                segment.unlink()
        finally:
            lock.release()


def _read_file(path: Path, is_last: bool) -> Iterator[StoredLine]:
    with _named_failure(path, "read"), path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if is_whole(line):
                yield StoredLine(path, number, _parse_line(line, path, number))
            elif is_last:
                _warn_of_tear(f"{path}, line {number}")
            else:
                torn = DataFileError(path, "torn, though a later segment was begun", number)
                yield StoredLine(path, number, torn)


def _parse_line(line: bytes, path: Path, number: int) -> Trajectory | DataFileError:
    try:
        value = parse_json(unseal_line(line).decode())
    except (ValueError, RecursionError) as problem:
        return DataFileError(path, f"no record: {problem}", number)
    try:
        return Trajectory.from_json(value, str(path), number)
    except DataFileError as problem:
        return problem


def _warn_of_tear(where: str) -> None:
    warnings.warn(
        f"{where}: torn, its writer was killed or is at it; all records before it are whole.",
        TornLineWarning,
        stacklevel=3,
    )


@contextmanager
def _named_failure(path: Path, use: str = "written") -> Iterator[None]:
    try:
        yield
    except OSError as problem:
        raise DataFileError(path, f"cannot be {use}: {problem.strerror}") from None
