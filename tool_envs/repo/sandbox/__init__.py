"""Where tests of a repository run: code of which nothing is known, under limits.

Why this is not SWE-ReX (https://github.com/SWE-agent/SWE-ReX), which was read for it: that runs long-lived
shell sessions in containers of docker, podman, Modal, Fargate or Daytona, through an HTTP server inside; its
local runtime has no isolation and no limit but a timeout. An episode here has no shell and no state on a disk
(see `tool_envs.repo.workspace`). It needs single commands in folders that are thrown away, many at once,
without docker and without a network: bubblewrap, and what these files put around it.
"""

import functools
import os
from collections.abc import Callable
from typing import Literal, TypeAlias

from tool_envs.errors import UnknownNameError
from tool_envs.repo.sandbox.bubblewrap import BubblewrapSandbox
from tool_envs.repo.sandbox.rlimits import RlimitSandbox
from tool_envs.repo.sandbox.sandbox import Completed, Cut, Limits, Sandbox, SandboxError

__all__ = ["Completed", "Cut", "Limits", "Sandbox", "SandboxError", "SandboxName", "find_sandbox"]

SandboxName: TypeAlias = Literal["bubblewrap", "subprocess"]


@functools.cache
def find_sandbox(name: SandboxName) -> Sandbox:
    """The sandbox of that name, one for all of the process, so that the number of runs at once is bounded.

    Args:
        name: `bubblewrap`, or `subprocess` for trusted code only (see `tool_envs.repo.sandbox.rlimits`).

    Raises:
        UnknownNameError: There is none of that name.
        SandboxError: It cannot be had on this machine; the message says what to do.
    """
    known: dict[str, Callable[..., Sandbox]] = {"bubblewrap": BubblewrapSandbox, "subprocess": RlimitSandbox}
    if name not in known:
        raise UnknownNameError("sandbox", name, known)
    return known[name](at_once=len(os.sched_getaffinity(0)))
