"""A user namespace in which root may run what it does not trust.

The kernel exempts root from the limit on the number of processes, in every user namespace (`copy_process` in
kernel/fork.c), and lets it write files of root. So what runs in the sandbox must be nobody outside as well.
Bubblewrap maps one user to one; here its own set-up is root's, which can reach folders that only root can,
and the command is nobody's.
"""

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tool_envs.repo.sandbox.sandbox import SandboxError

NOBODY = 65534
"""Outside, the user and the group of what runs in the namespace."""

USER = 1000
"""The same inside."""

_MAP = f"0 0 1\n{USER} {NOBODY} 1\n"


@contextlib.contextmanager
def user_namespace() -> Iterator[int]:
    """A new user namespace, as a file descriptor: root in it is root, and `USER` is nobody.

    In it no further user namespaces can be made, whose makers would have all capabilities in them.

    Raises:
        SandboxError: The kernel refuses.
    """
    hold = "echo; read end"  # until its stdin is closed
    with _started(["unshare", "--user", "--", "/bin/sh", "-c", hold]) as process:
        try:
            for kind in ("uid_map", "gid_map"):
                Path(f"/proc/{process.pid}/{kind}").write_text(_MAP, encoding="ascii")
            namespace = os.open(f"/proc/{process.pid}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise SandboxError(f"a user namespace could not be set up: {error}") from error
    try:
        _forbid_more(namespace)
        yield namespace
    finally:
        os.close(namespace)


@contextlib.contextmanager
def _started(command: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    """A process that has written its first line, ended at the end."""
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as process:  # noqa: S603 - ours
        if not process.stdout or not process.stdout.readline():
            problem = process.stderr.read().decode(errors="replace").strip() if process.stderr else ""
            raise SandboxError(f"a user namespace could not be made: {problem}")
        yield process


def _forbid_more(namespace: int) -> None:
    command = ["nsenter", f"--user=/proc/self/fd/{namespace}", "--", "/bin/sh", "-c"]
    command.append("echo 0 > /proc/sys/user/max_user_namespaces")
    done = subprocess.run(command, pass_fds=[namespace], capture_output=True, check=False)  # noqa: S603 - ours
    if done.returncode:
        problem = done.stderr.decode(errors="replace").strip()
        raise SandboxError(f"a user namespace could not be closed to more: {problem}")
