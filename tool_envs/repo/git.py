"""Runs git so that it does the same for everybody, and nothing that a repository asks for.

It reads no configuration but that of the repository named to it, and what there would run a program (hooks,
filters, monitors, remotes) is turned off.
"""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from tool_envs.errors import InfrastructureError, ToolEnvsError

_ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_GRAFT_FILE": os.devnull,
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "HOME": "/nonexistent",
    "LC_ALL": "C",
    "TZ": "UTC",
}
_SETTINGS = {
    "core.attributesFile": os.devnull,
    "core.excludesFile": os.devnull,
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.quotePath": "false",
    "gc.auto": "0",
    "pack.threads": "1",
    "safe.directory": "*",
}


class GitMissingError(InfrastructureError):
    """Raised when there is no git on this machine."""

    def __init__(self) -> None:
        super().__init__("git was not found: install it (Debian package git), 2.30 or newer.")


class GitError(ToolEnvsError):
    """Raised when git ended with an exit code other than 0.

    Args:
        command: What git was told to do.
        exit_code: How it ended.
        problem: What it said about it.
    """

    def __init__(self, command: str, exit_code: int, problem: str) -> None:
        self.command, self.exit_code, self.problem = command, exit_code, problem
        super().__init__(f"git {command} ended with {exit_code}: {problem}")

    def __reduce__(self) -> tuple[type, tuple[str, int, str]]:
        return type(self), (self.command, self.exit_code, self.problem)


def git(
    command: str,
    *arguments: str,
    repository: Path | None = None,
    folder: Path | None = None,
    index: Path | None = None,
    stdin: bytes | IO[bytes] = b"",
    stdout: IO[bytes] | None = None,
) -> bytes:
    """Run git to its end, and return what it wrote to stdout.

    Args:
        command: Its subcommand.
        arguments: Those of the subcommand.
        repository: The repository's own folder (`--git-dir`); None: git is to find none.
        folder: The working directory, for subcommands that read or write files there.
        index: The index to use instead of the repository's own.
        stdin: What it reads: bytes, or an open file.
        stdout: An open file that takes its output instead.

    Raises:
        GitMissingError: There is no git.
        GitError: It ended with another exit code than 0.
    """
    settings = [part for name, value in _SETTINGS.items() for part in ("-c", f"{name}={value}")]
    given: dict[str, Any] = {"input": stdin} if isinstance(stdin, bytes) else {"stdin": stdin}
    try:
        done: subprocess.CompletedProcess[bytes] = subprocess.run(  # noqa: S603 - see the module
            ["git", *settings, command, *arguments],  # noqa: S607 - wherever the user has it
            cwd=folder,
            env=_environment(repository, folder, index),
            stdout=stdout or subprocess.PIPE,
            stderr=subprocess.PIPE,
            check=False,
            **given,
        )
    except FileNotFoundError as error:
        raise GitMissingError from error
    if done.returncode:
        problem = done.stderr.decode(errors="replace").strip()
        raise GitError(" ".join((command, *arguments)), done.returncode, problem)
    return done.stdout or b""


def _environment(repository: Path | None, folder: Path | None, index: Path | None) -> Mapping[str, str]:
    environment = {"PATH": os.environ.get("PATH", os.defpath), **_ENVIRONMENT}
    if repository:
        environment["GIT_DIR"] = str(repository.absolute())
    else:
        environment["GIT_CEILING_DIRECTORIES"] = str((folder or Path()).absolute().parent)
    if index:
        environment["GIT_INDEX_FILE"] = str(index.absolute())
    return environment
