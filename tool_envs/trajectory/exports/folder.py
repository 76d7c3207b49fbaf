"""A folder that is there when all of it is written, or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tool_envs.errors import DataFileError, UsageError
from tool_envs.trajectory.lock import LOCK_FILE, WriterLock
from tool_envs.trajectory.segments import make_folder, sync_folder


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """A folder to write files to, beside `path`, which takes that name when the block ends without an error.

    What a killed writer left there, in `.NAME.part`, is written over by the next one.

    Args:
        path: Missing, or an empty folder.

    Raises:
        UsageError: There is something at `path`, or another process is writing it.
        DataFileError: It cannot be written.
    """
    path = Path(os.path.abspath(path))
    try:
        _require_empty(path)
        part = path.with_name(f".{path.name}.part")
        make_folder(part)
        lock = WriterLock(part)
        try:
            _clear(part)
            yield part
            _sync_files(part)
            part.rename(path)
            sync_folder(path.parent)
            (path / LOCK_FILE).unlink()
        except BaseException:
            _discard(part)
            raise
        finally:
            lock.release()
    except OSError as problem:
        raise DataFileError(path, f"cannot be written: {problem.strerror or problem}") from None


def _require_empty(path: Path) -> None:
    if path.exists() and not path.is_dir():
        raise UsageError(f"{path}: a file; name a folder that is missing or empty.")
    if path.is_dir() and any(path.iterdir()):
        raise UsageError(f"{path}: holds something already; name a folder that is missing or empty.")


def _clear(part: Path) -> None:
    """Remove all files but the lock."""
    for file in part.iterdir():
        if file.name != LOCK_FILE:
            file.unlink()


def _discard(part: Path) -> None:
    """Remove the folder of a writer that failed."""
    if part.is_dir():
        _clear(part)
        (part / LOCK_FILE).unlink()
        part.rmdir()


def _sync_files(part: Path) -> None:
    for file in part.iterdir():
        with file.open("rb") as opened:
            os.fsync(opened.fileno())
    sync_folder(part)
