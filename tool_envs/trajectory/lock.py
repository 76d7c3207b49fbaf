"""One writer at a time in a folder."""

import fcntl
import os
import socket
import weakref
from pathlib import Path

from tool_envs.errors import UsageError

LOCK_FILE = "writer.lock"
"""Names the last holder; it stays."""


class WriterLock:
    """Held until it is released or its process ends in whatever way: the system holds it, not a file.

    A child process that is forked while it is held does not hold it.

    Args:
        folder: The folder, which exists. A file in it, `writer.lock`, names the last holder and stays.

    Raises:
        UsageError: Somebody holds it; says who.
        OSError: The file cannot be opened or locked.
    """

    def __init__(self, folder: Path) -> None:
        self._file = (folder / LOCK_FILE).open("a+b", buffering=0)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._file.truncate(0)
            self._file.write(f"process {os.getpid()} on {socket.gethostname()}".encode())
        except BlockingIOError:
            self._file.seek(0)
            holder = self._file.read().decode(errors="replace") or "a process that just began"
            self._file.close()
            raise UsageError(f"{folder}: {holder} is writing; wait for its end or choose another.") from None
        except BaseException:
            self._file.close()
            raise
        _held.add(self)

    @property
    def held(self) -> bool:
        """Whether this process holds it."""
        return not self._file.closed

    def release(self) -> None:
        """Let others write."""
        self._file.close()


_held: "weakref.WeakSet[WriterLock]" = weakref.WeakSet()


def _release_all() -> None:
    # The lock belongs to the open file, which a forked child shares: it would outlive a killed parent.
    for lock in list(_held):
        lock.release()


os.register_at_fork(after_in_child=_release_all)
