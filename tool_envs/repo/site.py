"""Where episodes are played: the repositories of instances, the sandbox and the Python that tests run in."""

import sys
from pathlib import Path

from tool_envs.repo.instances import Instance
from tool_envs.repo.mirrors import Mirrors
from tool_envs.repo.repositories import Repository, open_repository
from tool_envs.repo.sandbox import Sandbox, SandboxName, find_sandbox
from tool_envs.repo.workspace import Workspace


class IssueWorkspace(Workspace):
    """The files of an episode, and the instance that they belong to."""

    __slots__ = ("instance",)

    def __init__(self, base: Repository, instance: Instance) -> None:
        super().__init__(base)
        self.instance = instance


class Site:
    """What the episodes of an environment are played with.

    Args:
        mirrors: Where repositories are found.
        sandbox: Name of the sandbox. It is looked for when something is to run, not before: reading and
            editing need none.
        python: The interpreter for all tests; None: what the mirrors say, or else this process's own.
    """

    def __init__(self, mirrors: Mirrors, sandbox: SandboxName, python: str | None) -> None:
        self._mirrors, self._python = mirrors, python
        self.sandbox_name = sandbox

    @property
    def sandbox(self) -> Sandbox:
        """The sandbox.

        Raises:
            SandboxError: It cannot be had on this machine.
        """
        return find_sandbox(self.sandbox_name)

    def python_of(self, instance: Instance) -> str:
        """The interpreter for the tests of an instance."""
        return self._python or self._mirrors.python(instance) or sys.executable

    def open(self, instance: Instance) -> IssueWorkspace:
        """The files of an instance at its base commit, of which nothing was changed yet.

        Raises:
            RepositoryMissingError: Its repository, or the commit, is not at hand; says what to provide.
        """
        source: Path = self._mirrors.source(instance)
        return IssueWorkspace(open_repository(source, instance.base_commit), instance)
