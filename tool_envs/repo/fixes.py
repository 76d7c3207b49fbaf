"""Reads a commit that fixed a bug: what it changed of the tests, and what of all else."""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from tool_envs.errors import UsageError
from tool_envs.repo.git import GitError, git
from tool_envs.repo.patches import PatchError, read_changes
from tool_envs.repo.protection import TEST_FOLDERS
from tool_envs.repo.repositories import Repository, open_repository
from tool_envs.repo.repository_cache import git_folder
from tool_envs.repo.workspace import Workspace

_FULL_ID = re.compile("[0-9a-f]{40}|[0-9a-f]{64}", re.ASCII)
_TEST_FILE = re.compile(r"test_.*\.py|.*_test\.py|conftest\.py")


class NoInstanceError(UsageError):
    """Raised when a commit makes no instance; says why."""


class Fix(NamedTuple):
    """A commit that fixed a bug.

    Attributes:
        commit: Its full id.
        base: The repository at its only parent.
        message: What it says of itself.
        created_at: When it was committed, in ISO 8601, UTC.
        source: The files at the parent with what the commit changed outside the tests.
        tests: The same with what it changed of the tests.
    """

    commit: str
    base: Repository
    message: str
    created_at: str
    source: Workspace
    tests: Workspace


def read_fix(repository: Path, commit: str) -> Fix:
    """Read a commit and the parent that it fixed.

    Args:
        repository: A git repository, a bundle, or a stream of `git fast-export`.
        commit: The commit: its full id, or in a repository whatever git knows it by.

    Raises:
        NoInstanceError: It is a merge or has no parent, changes no tests or nothing else, or changes what no
            patch can say, such as a submodule or a link.
        UsageError: There is no such commit.
        RepositoryError: The repository cannot be read.
    """
    fixed = open_repository(repository, _full_id(repository, commit))
    told = git("log", "-1", "--encoding=UTF-8", "--format=%P%n%ct%n%B", fixed.commit, repository=fixed.path)
    parents, time, message = told.decode(errors="replace").split("\n", 2)
    if len(parents.split()) != 1:
        kind = "a merge" if parents else "the first commit"
        raise NoInstanceError(
            f"{commit} is {kind}: what it fixed is not told apart. Name an ordinary commit."
        )
    base = open_repository(repository, parents)
    source, tests = _changes(base, fixed)
    _check(commit, source, tests)
    created_at = datetime.fromtimestamp(int(time), UTC).isoformat()
    return Fix(fixed.commit, base, message.strip() + "\n", created_at, source, tests)


def is_test(path: str) -> bool:
    """Whether a file belongs to the tests: by its name, or as it lies in or below a folder of tests."""
    *folders, name = path.split("/")
    return not TEST_FOLDERS.isdisjoint(folders) or _TEST_FILE.fullmatch(name) is not None


def _full_id(repository: Path, commit: str) -> str:
    if _FULL_ID.fullmatch(commit):
        return commit
    if not repository.is_dir():
        raise UsageError(
            f"{repository} is a file: name the commit by all digits of its id, not by {commit!r}."
        )
    try:
        wanted = ("--verify", "--quiet", "--end-of-options", f"{commit}^{{commit}}")
        return git("rev-parse", *wanted, repository=git_folder(repository)).decode("ascii").split()[-1]
    except GitError:
        raise UsageError(f"{repository} is expected to be a repository with the commit {commit!r}.") from None


def _changes(base: Repository, fixed: Repository) -> tuple[Workspace, Workspace]:
    source, tests = Workspace(base), Workspace(base)
    changed = [path for path in {*base.files, *fixed.files} if base.files.get(path) != fixed.files.get(path)]
    # What goes away comes first, so that a folder can take the place of a file.
    for path in sorted(changed, key=lambda path: (path in fixed.files, path)):
        part = tests if is_test(path) else source
        if file := fixed.files.get(path):
            part.write(path, fixed.content(file.blob), file.mode)
        else:
            part.delete(path)
    if base.hidden != fixed.hidden:
        raise NoInstanceError(f"{fixed.commit} changes a submodule, or a path that is no Unicode.")
    return source, tests


def _check(commit: str, source: Workspace, tests: Workspace) -> None:
    if not tests.changes():
        raise NoInstanceError(f"{commit} changes no tests, so nothing decides whether an issue is resolved.")
    if not source.changes():
        raise NoInstanceError(f"{commit} changes nothing but tests, so it fixed nothing.")
    try:
        for part in (source, tests):
            read_changes(part.diff())
    except PatchError as problem:
        raise NoInstanceError(f"{commit} cannot be told as a patch. {problem}") from problem
