"""The sandbox `bubblewrap`: namespaces of its own for users, processes, mounts, network, IPC, host name.

A command in it sees `/usr` and what it was told to read, all read-only, its folder as `/workspace`, an empty
`/tmp` and `/dev/shm` of its own in memory, a `/proc` with its own processes, and a loopback device on which
nobody else listens. It has no capabilities and cannot get any.
"""

import contextlib
import functools
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from tool_envs.repo.sandbox.bubblewrap_options import Options
from tool_envs.repo.sandbox.installation import installation
from tool_envs.repo.sandbox.sandbox import NOTHING, Completed, Limits, SandboxError
from tool_envs.repo.sandbox.watch import Watch

_PROGRAMS = ("chown", "du", "find", "nsenter", "unshare")  # beside bubblewrap itself
_PACKAGES = "coreutils, findutils and util-linux (Debian packages)"
_INSTEAD = 'or choose sandbox="subprocess", which is for trusted code only'


class BubblewrapSandbox:
    """See the module; chosen by `sandbox="bubblewrap"`.

    Args:
        at_once: How many commands run at once.

    Raises:
        SandboxError: There is no `bwrap` here, or the kernel does not let it make namespaces.
    """

    name = "bubblewrap"

    def __init__(self, at_once: int) -> None:
        self._bwrap = shutil.which("bwrap") or ""
        if not self._bwrap:
            raise SandboxError(f"There is no bwrap: install bubblewrap (Debian package), {_INSTEAD}.")
        told = subprocess.run([self._bwrap, "--version"], capture_output=True, check=True)  # noqa: S603 - ours
        self.version = told.stdout.decode().split()[-1]
        self._turns = threading.BoundedSemaphore(at_once)
        missing = [program for program in _PROGRAMS if not shutil.which(program)]
        if missing:
            raise SandboxError(f"There is no {', '.join(missing)}: install {_PACKAGES}, {_INSTEAD}.")
        self._try()

    def _try(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            done = self.run(["true"], Path(folder), limits=Limits(cpu_seconds=10))
        if done.exit_code:
            raise SandboxError(f"Bubblewrap does not work here: {done.output.strip()}. Mend it, {_INSTEAD}.")

    def run(
        self,
        command: Sequence[str],
        folder: Path,
        *,
        limits: Limits,
        environment: Mapping[str, str] = NOTHING,
        readable: Sequence[Path] = (),
        stdin: bytes = b"",
    ) -> Completed:
        """See `Sandbox.run`; the command sees `folder` as `/workspace`."""
        folder = folder.resolve(strict=True)
        with self._turns, contextlib.ExitStack() as held:
            options = Options(held)
            options.add_all(folder, limits, environment, [*installation(Path(command[0])), *readable])
            process, first = self._start(options, options.command(command, limits), stdin)
            if process.stdout:
                held.enter_context(process.stdout)
            # As the processes of the sandbox see it, `/proc` shows them and no others.
            proc = Path(f"/proc/{first}/root/proc")
            end = functools.partial(_end, _held_process(first, held))
            return Watch(process, folder, limits, proc, end).to_the_end()

    def _start(
        self, options: Options, command: Sequence[str], stdin: bytes
    ) -> tuple[subprocess.Popen[bytes], int]:
        """Bubblewrap's process, and the first one inside, whose end is the end of all others there."""
        given = options.file(stdin)
        # Not on the command line, which shows in /proc inside.
        arguments = options.file("\0".join(options.text).encode(errors="surrogateescape"))
        told, tell = os.pipe()
        with open(told, "rb") as information:
            try:
                process = subprocess.Popen(  # noqa: S603 - it is bubblewrap's to run what nobody trusts
                    [self._bwrap, "--args", str(arguments), "--info-fd", str(tell), "--", *command],
                    pass_fds=[tell, *options.descriptors],
                    stdin=given,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                )
            finally:
                os.close(tell)
            said = information.read()
        if not said:
            output, _ = process.communicate()
            problem = output.decode(errors="replace").strip()
            raise SandboxError(f"Bubblewrap could not set up a sandbox: {problem}. Mend it, {_INSTEAD}.")
        return process, json.loads(said)["child-pid"]


def _held_process(process: int, held: contextlib.ExitStack) -> int | None:
    """A descriptor of a process, which no later process can be mistaken for; None: it is gone already."""
    try:
        descriptor = os.pidfd_open(process)
    except ProcessLookupError:
        return None
    held.callback(os.close, descriptor)
    return descriptor


def _end(first: int | None) -> None:
    """End the first process of a sandbox, which ends when all others there have (pid_namespaces(7))."""
    if first is None:
        return
    with contextlib.suppress(ProcessLookupError):
        signal.pidfd_send_signal(first, signal.SIGKILL)
    select.select([first], [], [])
