"""The sandbox `subprocess`: a process under limits, and nothing more. For trusted code only.

It does not stop a command from reading and writing what this user may read and write, from using the network,
from sending signals, or from leaving processes behind that have made a session of their own. Limits are held
for each process, not for all of them together; that on their number counts all processes of the user (and
none of root's). What it is for: instances whose tests and whose agents one trusts, where bubblewrap is not to
be had.
"""

import contextlib
import functools
import os
import resource
import signal
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from tool_envs.repo.sandbox.sandbox import NOTHING, Completed, Limits, SandboxError
from tool_envs.repo.sandbox.watch import Watch

FILES = 1024
"""How many files a process may have open."""


def limited(command: Sequence[str], limits: Limits) -> list[str]:
    """A command that sets the limits of each process and becomes `command` (prlimit of util-linux)."""
    open_files = min(FILES, *(n for n in resource.getrlimit(resource.RLIMIT_NOFILE) if n >= 0), FILES)
    return [
        "/usr/bin/prlimit",
        f"--cpu={limits.cpu_seconds}:{limits.cpu_seconds + 1}",
        f"--data={limits.memory_bytes}",
        f"--fsize={limits.file_bytes}",
        f"--nofile={open_files}",
        f"--nproc={limits.processes}",
        "--core=0",
        "--msgqueue=0",
        "--",
        *command,
    ]


def plain_environment(home: str) -> dict[str, str]:
    """The variables that a command has in any case: the same everywhere."""
    return {
        "HOME": home,
        "LANG": "C.UTF-8",
        "PATH": "/usr/bin:/bin",
        "PYTHONHASHSEED": "0",
        "TMPDIR": "/tmp",  # noqa: S108 - in bubblewrap its own
        "TZ": "UTC",
    }


class RlimitSandbox:
    """See the module; chosen by `sandbox="subprocess"`."""

    name = "subprocess"
    version = "1"

    def __init__(self, at_once: int) -> None:
        self._turns = threading.BoundedSemaphore(at_once)

    def run(
        self,
        command: Sequence[str],
        folder: Path,
        *,
        limits: Limits,
        environment: Mapping[str, str] = NOTHING,
        readable: Sequence[Path] = (),  # noqa: ARG002 - everything is
        stdin: bytes = b"",
    ) -> Completed:
        """See `Sandbox.run`; the folder has its own path, and what is readable is not held."""
        variables = {**plain_environment(str(folder)), **environment}
        with self._turns, tempfile.TemporaryFile() as given:
            given.write(stdin)
            given.seek(0)
            try:
                process = subprocess.Popen(  # noqa: S603 - what it runs is the caller's to trust
                    limited(command, limits),
                    cwd=folder,
                    env=variables,
                    stdin=given,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            except OSError as error:
                raise SandboxError(
                    f"prlimit (Debian package util-linux) could not be run: {error}"
                ) from error
            with process.stdout or contextlib.nullcontext():
                return Watch(process, folder, limits, None, functools.partial(_end, process.pid)).to_the_end()


def _end(group: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)
