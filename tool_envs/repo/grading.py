"""Grades a workspace by its instance's tests: restores them, runs them, and judges what became of them."""

from collections.abc import Mapping, Sequence

import msgspec

from tool_envs.canonical import digest
from tool_envs.errors import DataFileError, UsageError
from tool_envs.repo.instances import Instance
from tool_envs.repo.patches import PatchError, apply_patch, read_changes, touched_paths
from tool_envs.repo.protection import Protection, in_the_way, unfounded
from tool_envs.repo.resolution import Resolution, Status, TestsStatus, judge
from tool_envs.repo.sandbox import Limits, Sandbox
from tool_envs.repo.testing import Problem, run_tests
from tool_envs.repo.workspace import Workspace

GRADER_VERSION = "1.0.0"
"""Goes up with any change of this file, or of `protection.py`, `resolution.py`, `testing.py` or `plugin.py`,
that can change a grade."""

GRADING_LIMITS = Limits(cpu_seconds=300, wall_seconds=1800.0, processes=128, file_bytes=256 << 20)
"""Of the tests that decide; the wall clock's is that of SWE-bench, for what sleeps."""


class Grade(msgspec.Struct, frozen=True):
    """What became of the tests that decide.

    Attributes:
        tests: Which succeeded; none did where there is a problem.
        problem: Why the run is not to be trusted; None: it is.
        changed: What the project's code changed that it must not, by name.
        unfounded: Tests that count as failed, since nothing says that they may be skipped or fail.
        versions: Of Python and pytest in the run. They belong to the environment of the instance, and are no
            part of the grader's digest.
    """

    tests: TestsStatus
    problem: Problem | None
    changed: tuple[str, ...]
    unfounded: tuple[str, ...]
    versions: dict[str, str]

    @property
    def resolved(self) -> bool:
        """Whether the issue is resolved."""
        return self.problem is None and self.tests.resolved

    @property
    def resolution(self) -> Resolution:
        """FULL, PARTIAL or NO."""
        return self.tests.resolution if self.problem is None else Resolution.NO

    @property
    def components(self) -> dict[str, bool]:
        """The conditions of the terminal reward, by name."""
        return {
            "trusted": self.problem is None,
            "fail_to_pass": self.problem is None and not self.tests.fail_to_pass.failure,
            "pass_to_pass": self.problem is None and not self.tests.pass_to_pass.failure,
        }


def grader_digest(sandbox: str, limits: Limits = GRADING_LIMITS) -> str:
    """Digest of what decides a grade besides instance and workspace; the interpreter is no part of it.

    Args:
        sandbox: Name of the sandbox.
        limits: Of a run.
    """
    return digest(
        {
            "grader": "repo/tests",
            "version": GRADER_VERSION,
            "sandbox": sandbox,
            "limits": msgspec.to_builtins(limits),
        }
    )


def grade_by_tests(
    workspace: Workspace,
    instance: Instance,
    *,
    sandbox: Sandbox,
    python: str,
    limits: Limits = GRADING_LIMITS,
) -> Grade:
    """Grade what an agent did in a workspace, which stays as it is.

    Args:
        workspace: The agent's files, over the instance's base commit.
        instance: Has both lists of tests, whose ids are pytest's.
        sandbox: Where the tests run.
        python: The interpreter, in which pytest and what the project needs are installed.
        limits: Of the run.

    Raises:
        UsageError: The instance states no tests, or names them in another way than pytest, as SWE-bench's
            rows of Django and SymPy do: only logs of such runs can be graded (`logs.py`).
        DataFileError: The test patch does not fit the base commit.
        SandboxError: The sandbox failed; there is no grade.
    """
    if instance.fail_to_pass is None or instance.pass_to_pass is None:
        raise UsageError(
            f"{instance.instance_id} does not state FAIL_TO_PASS and PASS_TO_PASS, so tests cannot grade it; "
            "give both, or use the similarity to its patch"
        )
    graded, protection = with_hidden_tests(workspace, instance)
    files = sorted(_files_of_tests(instance))
    for file in files:
        if graded.read(file) is None:
            raise UsageError(
                f"{instance.instance_id} names a test in {file!r}, which is no file of its repository; tests "
                "are run by pytest's node ids, such as `tests/test_a.py::test_b`"
            )
    run = run_tests(graded, files, sandbox=sandbox, python=python, limits=limits)
    statuses = run.statuses if run.problem is None else {}
    baseless = _unfounded(statuses, graded, protection, files)
    return Grade(
        tests=judge(
            instance.fail_to_pass, instance.pass_to_pass, statuses | dict.fromkeys(baseless, "FAILED")
        ),
        problem=run.problem,
        changed=run.changed,
        unfounded=tuple(baseless),
        versions=run.versions,
    )


def with_hidden_tests(workspace: Workspace, instance: Instance) -> tuple[Workspace, Protection]:
    """The agent's files, with what is protected as at the base commit, and the test patch applied to that.

    Raises:
        DataFileError: The test patch does not fit the base commit.
    """
    hidden = _hidden_files(Workspace(workspace.base), instance)
    protection = Protection({*hidden, *_files_of_tests(instance)})
    protected = {path for path in workspace.base.files if protection.covers(path)} | hidden.keys()
    graded = Workspace(workspace.base)
    graded.restore(
        {
            key: record
            for key, record in workspace.snapshot().items()
            if not protection.covers(key[1]) and not in_the_way(key[1], protected)
        }
    )
    modes = {change.new: change.mode for change in read_changes(instance.test_patch)}
    for path, content in hidden.items():
        if content is not None:
            graded.write(path, content, modes.get(path))
        elif path in workspace.base.files:
            graded.delete(path)
    return graded, protection


def _hidden_files(base: Workspace, instance: Instance) -> dict[str, bytes | None]:
    """What the test patch makes of the files that it touches; None: it deletes one."""
    try:
        before = {path: base.read(path) for path in touched_paths(instance.test_patch)}
        there = {path: content for path, content in before.items() if content is not None}
        return apply_patch(there, instance.test_patch)
    except PatchError as problem:
        raise DataFileError(
            instance.instance_id, f"test_patch is expected to fit base_commit. {problem}"
        ) from problem


def _files_of_tests(instance: Instance) -> set[str]:
    decide = (*(instance.fail_to_pass or ()), *(instance.pass_to_pass or ()))
    return {test.split("::")[0] for test in decide}


def _unfounded(
    statuses: Mapping[str, Status], graded: Workspace, protection: Protection, files: Sequence[str]
) -> list[str]:
    texts = {
        path: (graded.read(path) or b"").decode(errors="replace")
        for path in graded.paths()
        if path.endswith(".py") and protection.covers(path)
    }
    tests = {path: texts.pop(path) for path in files}
    return unfounded(statuses, tests, tuple(texts.values()))
