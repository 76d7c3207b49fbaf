"""What a sandbox promises, and what one run of a command in it takes and gives."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Literal, Protocol, TypeAlias

from tool_envs.errors import InfrastructureError, UsageError

Cut: TypeAlias = Literal["cpu", "wall", "memory", "disk"]
"""Which limit ended a run."""

NOTHING: Mapping[str, str] = MappingProxyType({})


class SandboxError(InfrastructureError):
    """Raised when a sandbox cannot be had here, or failed; what the command did was not judged."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How much one run may take; all processes of the run together, where nothing else is said.

    Attributes:
        cpu_seconds: CPU time. One process is stopped to the second, several soon after.
        wall_seconds: Time on the clock, for what sleeps; generous, since it depends on what else runs.
        memory_bytes: Memory. For one process it is a bound on what it may allocate, which fails beyond
            (`MemoryError` in Python); several are stopped soon after.
        processes: How many processes and threads there may be at once; making more fails.
        output_bytes: How much of the output is kept: its beginning and its end.
        file_bytes: The size of one file; writing more fails. Also what fits into `/tmp`.
        disk_bytes: What the folder may hold in the end; the run is stopped soon after it holds more.

    Raises:
        UsageError: One of them is not positive.
    """

    cpu_seconds: int = 60
    wall_seconds: float = 600.0
    memory_bytes: int = 2 << 30
    processes: int = 64
    output_bytes: int = 64 << 10
    file_bytes: int = 64 << 20
    disk_bytes: int = 1 << 30

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not value > 0:
                raise UsageError(f"{name} must be positive, and is {value!r}.")


@dataclass(frozen=True, kw_only=True)
class Completed:
    """How a run ended.

    Attributes:
        exit_code: The command's; 128 + the signal where one ended it; None where a limit did.
        output: What it wrote to stdout and stderr, in the order of writing. Bytes that are no UTF-8 are shown
            as U+FFFD, and what is beyond `Limits.output_bytes` is left out in the middle, with a mark.
        cut: The limit that ended it.
    """

    exit_code: int | None
    output: str
    cut: Cut | None = None


class Sandbox(Protocol):
    """Runs commands of which nothing is known.

    Attributes:
        name: What `find_sandbox` takes.
        version: Of what isolates: a result may depend on it.
    """

    name: str
    version: str

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
        """Run a command to its end, or to a limit, and end all that it started.

        At most as many commands as there are cores run at once; further calls wait for their turn, which
        counts to no limit.

        Args:
            command: The program, by its absolute path or by a name in `/usr/bin`, and its arguments. Where it
                is a Python, its installation and its virtual environment can be read, this package excepted.
            folder: The working directory, and the only folder that keeps what is written to it. Files in it
                that have several hard links are read-only: whoever has the others counts on them. Afterwards
                it is to be read with care: what looks like a file may be a link to anywhere.
            limits: What the command may take.
            environment: Variables beside the few that it has anyway; nothing of this process's is inherited.
            readable: Files and folders that it may read, at the same paths.
            stdin: What it can read from stdin.

        Raises:
            SandboxError: It could not be run.
        """
        ...
