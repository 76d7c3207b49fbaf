"""Makes an instance from a commit that fixed a bug, as SWE-bench's were made from pull requests."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec

from tool_envs.errors import UsageError
from tool_envs.repo.deciding import Why, observe, sort_out
from tool_envs.repo.fixes import Fix, NoInstanceError, read_fix
from tool_envs.repo.grading import GRADING_LIMITS, grade_by_tests
from tool_envs.repo.instances import Instance, append_instance, as_row, check_free
from tool_envs.repo.sandbox import Limits, Sandbox, find_sandbox
from tool_envs.repo.testing import run_tests

__all__ = [
    "Made",
    "NoInstanceError",
    "append_instance",
    "as_row",
    "check_free",
    "describe",
    "find_sandbox",
    "make_instance",
]

TELLS = (
    "The problem statement is the commit's message, which may tell the solution: give the issue as a user "
    "would write it."
)


class Made(NamedTuple):
    """An instance that was made.

    Attributes:
        instance: The instance.
        dropped: Tests that ran and are in neither of its lists -> why.
        warnings: What should be looked at before it is used.
    """

    instance: Instance
    dropped: dict[str, Why]
    warnings: tuple[str, ...]


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
    draft = _draft(found, name or repository.resolve().name.split(".")[0], instance_id, issue)
    run = partial(run_tests, sandbox=sandbox, python=python, limits=limits)
    lists = sort_out(*observe(found, draft, tests, repeats, run))
    if not lists.fail_to_pass:
        flaky = ", ".join(test for test, why in lists.dropped.items() if why is Why.FLAKY)
        raise NoInstanceError(
            f"{fix}: no test fails before it and passes after it each time (flaky: {flaky or 'none'})."
        )
    instance = msgspec.structs.replace(
        draft, fail_to_pass=lists.fail_to_pass, pass_to_pass=lists.pass_to_pass
    )
    grade = grade_by_tests(found.source, instance, sandbox=sandbox, python=python, limits=limits)
    if not grade.resolved:
        lost = ", ".join([*grade.tests.fail_to_pass.failure, *grade.tests.pass_to_pass.failure])
        raise NoInstanceError(
            f"{fix}: to the grader the commit itself resolves nothing ({grade.problem or lost}). "
            "What decides how tests run, such as pyproject.toml, stays as it was before the commit."
        )
    return Made(instance, lists.dropped, () if issue is not None else (TELLS,))


def _draft(fix: Fix, name: str, instance_id: str | None, issue: str | None) -> Instance:
    """The instance without its lists of tests."""
    return Instance(
        instance_id=instance_id or f"{name.replace('/', '__')}-{fix.commit[:12]}",
        repo=name,
        base_commit=fix.base.commit,
        problem_statement=fix.message if issue is None else issue,
        patch=fix.source.diff(),
        test_patch=fix.tests.diff(),
        created_at=fix.created_at,
    )


def describe(made: Made) -> Iterator[str]:
    """What was made, in lines for people."""
    found = made.instance
    yield (
        f"{found.instance_id}: {len(found.fail_to_pass or ())} tests fail before the fix and pass after it, "
        f"{len(found.pass_to_pass or ())} pass before and after"
    )
    for why, names in _by_reason(made.dropped).items():
        shown = names if why is not Why.NEVER_PASSES else names[:3]
        more = ", ..." if len(shown) < len(names) else ""
        yield f"Dropped as {why.replace('_', ' ')}: {len(names)} ({', '.join(shown)}{more})"
    yield from (f"Note: {warning}" for warning in made.warnings)


def _by_reason(dropped: Mapping[str, Why]) -> dict[Why, list[str]]:
    return {why: names for why in Why if (names := [test for test, is_ in dropped.items() if is_ is why])}
