"""Which files of a folder are shared with somebody: those that have several hard links."""

import os
import subprocess
from pathlib import Path

from tool_envs.repo.sandbox.sandbox import SandboxError
from tool_envs.repo.sandbox.user_namespace import NOBODY

_MOST = 1000


def shared_files(folder: Path) -> list[Path]:
    """The files that have several hard links.

    Raises:
        SandboxError: There are too many to show each of them read-only.
    """
    found = _find(folder, "-type", "f", "-links", "+1", "-print0")
    paths = [Path(os.fsdecode(name)) for name in found.split(b"\0") if name]
    if len(paths) > _MOST:
        raise SandboxError(f"{len(paths)} files in {folder} have several hard links; at most {_MOST} can be.")
    return paths


def give_to_nobody(folder: Path) -> None:
    """Make nobody the owner of a folder and all that is in it, but for shared files."""
    _find(
        folder,
        "(",
        "-type",
        "d",
        "-o",
        "-links",
        "1",
        ")",
        "-exec",
        "chown",
        "-h",
        f"{NOBODY}:{NOBODY}",
        "{}",
        "+",
    )


def _find(folder: Path, *expression: str) -> bytes:
    command = ["find", str(folder), "-xdev", *expression]
    done = subprocess.run(command, capture_output=True, check=False)  # noqa: S603 - the command is ours
    if done.returncode:
        raise SandboxError(f"{folder} could not be read: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout
