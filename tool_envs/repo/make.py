"""Makes an instance from a commit that fixed a bug, as SWE-bench's were made from pull requests."""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple, Protocol

import msgspec

from tool_envs.errors import UsageError
from tool_envs.repo.fixes import Fix, NoInstanceError, read_fix
from tool_envs.repo.grading import GRADING_LIMITS, grade_by_tests, with_hidden_tests
from tool_envs.repo.instances import Instance
from tool_envs.repo.resolution import PASSING, Status
from tool_envs.repo.sandbox import Limits, Sandbox
from tool_envs.repo.testing import TestRun, run_tests
from tool_envs.repo.workspace import Workspace

Statuses = Mapping[str, Status]
"""Test -> what became of it in a run."""

TELLS = (
    "The problem statement is the commit's message, which may tell the solution: give the issue as a user "
    "would write it."
)


class Sorted(NamedTuple):
    """Tests by what the fix does to them, each list sorted.

    Attributes:
        fail_to_pass: Those that never passed before and always after.
        pass_to_pass: Those that always passed, before and after.
        dropped: Those that cannot decide -> why.
    """

    fail_to_pass: tuple[str, ...]
    pass_to_pass: tuple[str, ...]
    dropped: dict[str, str]


class Made(NamedTuple):
    """An instance that was made.

    Attributes:
        instance: The instance.
        dropped: Tests that ran and are in neither of its lists -> why.
        warnings: What should be looked at before it is used.
    """

    instance: Instance
    dropped: dict[str, str]
    warnings: tuple[str, ...]


class _Run(Protocol):
    """Runs files of tests, in this order; see `run_tests`."""

    def __call__(self, workspace: Workspace, tests: Sequence[str], *, hash_seed: int) -> TestRun: ...


def make_instance(
    repository: Path,
    fix: str,
    *,
    sandbox: Sandbox,
    python: str,
    name: str | None = None,
    instance_id: str | None = None,
    issue: str | None = None,
    tests: Sequence[str] = (),
    repeats: int = 3,
    limits: Limits = GRADING_LIMITS,
) -> Made:
    """Make an instance from a commit that fixed a bug and changed the tests that show it.

    Its base commit is the parent; its patches are what the commit changed of the tests, and of all else. Its
    tests are found by running them as a grade does, with the changed tests, before and after the fix: each
    `repeats` times, with another hash seed and another order of files. In the end the fix itself is graded.

    Args:
        repository: A git repository, a bundle, or a stream of `git fast-export`.
        fix: The commit.
        sandbox: Where the tests run.
        python: The interpreter, in which pytest and what the project needs are installed.
        name: Of the repository, `owner/name`; None: that of its file or folder.
        instance_id: Of the instance; None: made of the name and the commit.
        issue: The text of the issue; None: the commit's message.
        tests: Files or folders of tests; empty: all that pytest finds.
        repeats: How often the tests run before and after.
        limits: Of each run.

    Raises:
        NoInstanceError: The commit makes none; says why.
        UsageError: An argument is not of its form.
        RepositoryError: The repository cannot be read.
        SandboxError: The sandbox failed.
    """
    if repeats < 1:
        raise UsageError(f"Tests have to run at least once, not {repeats} times.")
    found = read_fix(repository, fix)
    name = name or repository.resolve().name.split(".")[0]
    draft = Instance(
        instance_id=instance_id or f"{name.replace('/', '__')}-{found.commit[:12]}",
        repo=name,
        base_commit=found.base.commit,
        problem_statement=found.message if issue is None else issue,
        patch=found.source.diff(),
        test_patch=found.tests.diff(),
        created_at=found.created_at,
    )
    run = partial(run_tests, sandbox=sandbox, python=python, limits=limits)
    before, after = _observed(found, draft, tests, repeats, run)
    lists = sort_out(before, after)
    if not lists.fail_to_pass:
        raise NoInstanceError(
            f"{fix}: no test fails before the fix and passes after it{_told(lists.dropped)}."
        )
    instance = msgspec.structs.replace(
        draft, fail_to_pass=lists.fail_to_pass, pass_to_pass=lists.pass_to_pass
    )
    grade = grade_by_tests(found.source, instance, sandbox=sandbox, python=python, limits=limits)
    if not grade.resolved:
        lost = [*grade.tests.fail_to_pass.failure, *grade.tests.pass_to_pass.failure]
        raise NoInstanceError(
            f"{fix}: the grader does not take the fix itself as one ({grade.problem or ', '.join(lost)}). "
            "What decides how tests run, such as pyproject.toml, stays as it was before the fix."
        )
    return Made(instance, lists.dropped, () if issue is not None else (TELLS,))


def sort_out(before: Sequence[Statuses], after: Sequence[Statuses]) -> Sorted:
    """Tell which tests decide whether an issue is resolved.

    Args:
        before: What became of the tests in each run before the fix; one that did not run did not pass.
        after: The same after it.
    """
    fail_to_pass, pass_to_pass, dropped = [], [], {}
    for test in sorted({test for statuses in (*before, *after) for test in statuses}):
        earlier, later = _passed(test, before), _passed(test, after)
        if len(earlier) > 1 or len(later) > 1:
            dropped[test] = "flaky: it does not come out the same each time"
        elif later == {False}:
            dropped[test] = f"{'passes' if True in earlier else 'does not pass'} before, does not pass after"
        elif earlier == {True}:
            pass_to_pass.append(test)
        else:
            fail_to_pass.append(test)
    return Sorted(tuple(fail_to_pass), tuple(pass_to_pass), dropped)


def _passed(test: str, runs: Iterable[Statuses]) -> set[bool]:
    return {statuses.get(test) in PASSING for statuses in runs}


def _observed(
    fix: Fix, draft: Instance, tests: Sequence[str], repeats: int, run: _Run
) -> tuple[list[Statuses], list[Statuses]]:
    """What became of the tests in each run before the fix, and after it."""
    draft = msgspec.structs.replace(draft, fail_to_pass=(), pass_to_pass=())
    unfixed, _ = with_hidden_tests(Workspace(fix.base), draft)
    fixed, _ = with_hidden_tests(fix.source, draft)
    files = _files(_trusted(run(fixed, tests, hash_seed=0)), fixed)
    before, after = [], []
    for seed, order in enumerate(_orders(files, repeats)):
        after.append(_trusted(run(fixed, order, hash_seed=seed)))
        there = [file for file in order if unfixed.read(file) is not None]
        before.append(_before(unfixed, there, seed, run))
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


def _told(dropped: Mapping[str, str]) -> str:
    told = [f"{test} is {why}" for test, why in dropped.items() if why.startswith("flaky")]
    return f"; {'; '.join(told)}" if told else ""
