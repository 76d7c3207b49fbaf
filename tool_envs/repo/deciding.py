"""Finds the tests that decide whether an issue is resolved, by running them before its fix and after it."""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple, Protocol, TypeAlias

import msgspec

from tool_envs.repo.fixes import Fix, NoInstanceError
from tool_envs.repo.grading import with_hidden_tests
from tool_envs.repo.instances import Instance
from tool_envs.repo.resolution import PASSING, Status
from tool_envs.repo.testing import TestRun
from tool_envs.repo.workspace import Workspace

Statuses: TypeAlias = Mapping[str, Status]
"""Test -> what became of it in a run."""


class Why(StrEnum):
    """Why a test cannot decide whether an issue is resolved."""

    FLAKY = "flaky"
    """It does not come out the same each time."""
    BROKEN = "broken_by_the_fix"
    """It passes before the fix, and not after."""
    NEVER_PASSES = "never_passes"
    """It passes neither before nor after: it fails, or is skipped."""


class Sorted(NamedTuple):
    """Tests by what the fix does to them, each list sorted.

    Attributes:
        fail_to_pass: Those that never passed before and always after.
        pass_to_pass: Those that always passed, before and after.
        dropped: Those that cannot decide -> why.
    """

    fail_to_pass: tuple[str, ...]
    pass_to_pass: tuple[str, ...]
    dropped: dict[str, Why]


class _Run(Protocol):
    """Runs files of tests, in this order; see `run_tests`."""

    def __call__(self, workspace: Workspace, tests: Sequence[str], *, hash_seed: int) -> TestRun: ...


def observe(
    fix: Fix, draft: Instance, tests: Sequence[str], repeats: int, run: _Run
) -> tuple[list[Statuses], list[Statuses]]:
    """Run tests as a grade does, each time with another hash seed and another order of files.

    Args:
        fix: The commit.
        draft: Its instance; the lists of tests do not matter.
        tests: Files or folders of tests; empty: all that pytest finds.
        repeats: How often, before and after; positive.
        run: Runs them.

    Returns:
        What became of the tests in each run before the fix, and in each after it.

    Raises:
        NoInstanceError: They do not run after the fix.
    """
    draft = msgspec.structs.replace(draft, fail_to_pass=(), pass_to_pass=())
    unfixed, _ = with_hidden_tests(Workspace(fix.base), draft)
    fixed, _ = with_hidden_tests(fix.source, draft)
    before, after = [], [_trusted(run(fixed, tests, hash_seed=0))]
    for seed, order in enumerate(_orders(_files(after[0], fixed), repeats)):
        there = [file for file in order if unfixed.read(file) is not None]
        before.append(_before(unfixed, there, seed, run))
        if seed:
            after.append(_trusted(run(fixed, order, hash_seed=seed)))
    return before, after


def _orders(files: Sequence[str], repeats: int) -> Iterator[list[str]]:
    """Orders of files: that of a grade, the reverse, and then any."""
    for n in range(repeats):
        order = sorted(files, reverse=n == 1)
        if n > 1:
            random.Random(n).shuffle(order)  # noqa: S311 - no secret
        yield order


def _files(statuses: Statuses, workspace: Workspace) -> list[str]:
    files = sorted({test.split("::")[0] for test in statuses})
    if strange := [file for file in files if workspace.read(file) is None]:
        raise NoInstanceError(f"Tests are expected to be in files; {strange[0]!r} is none.")
    return files


def _before(workspace: Workspace, files: Sequence[str], seed: int, run: _Run) -> Statuses:
    """Statuses before the fix, where a file may break the run of all: then each has a run of its own."""
    if not files:
        return {}
    together = run(workspace, files, hash_seed=seed)
    if together.problem is None and not _uncollected(together):
        return together.statuses
    found: dict[str, Status] = {}
    for file in files:
        alone = run(workspace, [file], hash_seed=seed)
        if alone.problem is None:
            found.update(alone.statuses)
    return {test: status for test, status in found.items() if "::" in test}


def _trusted(run: TestRun) -> Statuses:
    """The statuses after the fix, where all must have run."""
    if uncollected := _uncollected(run):
        raise NoInstanceError(
            f"After the fix {', '.join(uncollected)} cannot be collected: name an interpreter that has what "
            f"the tests import, or the tests that are to be run. {run.texts.get(uncollected[0], '')}"
        )
    if run.problem is not None:
        raise NoInstanceError(f"The tests cannot be run after the fix ({run.problem}). {run.output}".strip())
    if not run.statuses:
        raise NoInstanceError(f"After the fix there are no tests. {run.output}".strip())
    return run.statuses


def _uncollected(run: TestRun) -> list[str]:
    """The files that could not be collected, which are no tests of the run."""
    return [test for test, status in run.statuses.items() if "::" not in test and status == "ERROR"]


def sort_out(before: Sequence[Statuses], after: Sequence[Statuses]) -> Sorted:
    """Tell which tests decide whether an issue is resolved.

    Args:
        before: What became of the tests in each run before the fix; one that did not run did not pass.
        after: The same after it.
    """
    fail_to_pass, pass_to_pass = [], []
    dropped: dict[str, Why] = {}
    for test in sorted({test for statuses in (*before, *after) for test in statuses}):
        earlier, later = _passed(test, before), _passed(test, after)
        if len(earlier) > 1 or len(later) > 1:
            dropped[test] = Why.FLAKY
        elif later == {False}:
            dropped[test] = Why.BROKEN if earlier == {True} else Why.NEVER_PASSES
        elif earlier == {True}:
            pass_to_pass.append(test)
        else:
            fail_to_pass.append(test)
    return Sorted(tuple(fail_to_pass), tuple(pass_to_pass), dropped)


def _passed(test: str, runs: Iterable[Statuses]) -> set[bool]:
    return {statuses.get(test) in PASSING for statuses in runs}
