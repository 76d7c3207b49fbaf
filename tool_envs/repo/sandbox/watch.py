"""Follows a process that was started: keeps its output within bounds, and ends it at a limit."""

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from tool_envs.repo.sandbox.output import BoundedOutput
from tool_envs.repo.sandbox.sandbox import Completed, Cut, Limits
from tool_envs.repo.sandbox.usage import cpu_seconds, memory_bytes, process_folders, unlinked_bytes

_EVERY = 0.05  # seconds between two looks at what the processes take
_DISK_EVERY = 10  # looks at the processes for one at the folder
_CHUNK = 1 << 16

_CPU_SIGNAL = 128 + signal.SIGXCPU


class Watch:
    """One run under its limits.

    Args:
        process: Just started, in bytes, with one pipe as both stdout and stderr.
        folder: The folder that it writes to.
        limits: What it may take.
        proc: A folder of the form of `/proc` that shows the run's processes and no others; None: there is
            none, and limits over several processes are not held.
        end: Ends all processes of the run, and returns when they have ended.
    """

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        folder: Path,
        limits: Limits,
        proc: Path | None,
        end: Callable[[], None],
    ) -> None:
        self._process, self._folder, self._limits, self._proc, self._end = process, folder, limits, proc, end
        self._output = BoundedOutput(limits.output_bytes)
        self._deadline = time.monotonic() + limits.wall_seconds
        self._looks = 0
        self._cpu_seconds = 0.0  # as far as was seen

    def to_the_end(self) -> Completed:
        """Wait until the process ends, or end it."""
        cut = self._follow()
        self._end()
        _, status, used = os.wait4(self._process.pid, 0)
        self._drain()
        code = self._process.returncode = os.waitstatus_to_exitcode(status)
        exit_code = 128 - code if code < 0 else code
        seconds = max(self._cpu_seconds, used.ru_utime + used.ru_stime)
        if cut is None and exit_code and (exit_code == _CPU_SIGNAL or seconds >= self._limits.cpu_seconds):
            cut = "cpu"
        return Completed(exit_code=None if cut else exit_code, output=self._output.text(), cut=cut)

    def _follow(self) -> Cut | None:
        """Take what is written until the process ends by itself, or a limit is met."""
        pipe = self._pipe()
        ended = os.pidfd_open(self._process.pid)
        try:
            with selectors.DefaultSelector() as selector:
                selector.register(pipe, selectors.EVENT_READ)
                selector.register(ended, selectors.EVENT_READ)
                return self._until_end_or_limit(selector, pipe, ended)
        finally:
            os.close(ended)

    def _until_end_or_limit(self, selector: selectors.BaseSelector, pipe: int, ended: int) -> Cut | None:
        next_look = time.monotonic()
        while True:
            ready = {key.fd for key, _ in selector.select(max(0.0, next_look - time.monotonic()))}
            if pipe in ready and not self._take(pipe):
                selector.unregister(pipe)
            if ended in ready:
                return None
            if time.monotonic() >= next_look:
                if cut := self._met_limit():
                    return cut
                next_look = time.monotonic() + _EVERY

    def _pipe(self) -> int:
        stdout = self._process.stdout
        if stdout is None:
            raise ValueError("the process was started without a pipe as its stdout")
        return stdout.fileno()

    def _take(self, pipe: int) -> bool:
        """Keep what can be read now; whether more may come."""
        data = os.read(pipe, _CHUNK)
        self._output.add(data)
        return bool(data)

    def _drain(self) -> None:
        """Keep what the processes wrote before they ended; whoever has the pipe still is not waited for."""
        pipe = self._pipe()
        os.set_blocking(pipe, False)
        try:
            while self._take(pipe):
                pass
        except BlockingIOError:
            pass

    def _met_limit(self) -> Cut | None:
        limits = self._limits
        if time.monotonic() >= self._deadline:
            return "wall"
        folders = process_folders(self._proc) if self._proc else []
        self._cpu_seconds = max(self._cpu_seconds, cpu_seconds(folders))
        if self._cpu_seconds > limits.cpu_seconds + 1:  # where one process took it, the kernel ends it
            return "cpu"
        if memory_bytes(folders, limits.memory_bytes) > limits.memory_bytes:
            return "memory"
        self._looks += 1
        if self._looks % _DISK_EVERY == 0 and self._disk_bytes(folders) > limits.disk_bytes:
            return "disk"
        return None

    def _disk_bytes(self, folders: list[Path]) -> int:
        # `du` bears folders of any depth, and those that change meanwhile; then it tells by its exit code.
        command = ["du", "--summarize", "--one-file-system", "--block-size=1", "--", str(self._folder)]
        told = subprocess.run(command, capture_output=True, check=False)  # noqa: S603 - the command is ours
        return int(told.stdout.split()[0] if told.stdout else 0) + unlinked_bytes(folders)
