"""Grades predictions as SWE-bench's harness takes them: a patch for each instance, and tests that decide."""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path

import msgspec

from tool_envs.canonical import digest
from tool_envs.errors import DataFileError, InfrastructureError, UnknownNameError, UsageError
from tool_envs.messages import Json
from tool_envs.repo.grading import GRADER_VERSION, GRADING_LIMITS, Grade, grade_by_tests, grader_digest
from tool_envs.repo.instance_rows import read_rows
from tool_envs.repo.instances import Instance, load_instances
from tool_envs.repo.mirrors import Mirrors, mirrors_beside
from tool_envs.repo.patches import PatchError, apply_patch, read_changes, touched_paths
from tool_envs.repo.paths import PathError
from tool_envs.repo.repositories import open_repository
from tool_envs.repo.resolution import TestsStatus
from tool_envs.repo.sandbox import Limits, Sandbox, find_sandbox
from tool_envs.repo.workspace import Workspace

__all__ = [
    "Mirrors",
    "PredictionGrader",
    "Result",
    "load_instances",
    "load_predictions",
    "mirrors_beside",
    "report",
]

REPORT_VERSION = "1.0.0"
"""Version of the form of what `report` makes."""


class Prediction(msgspec.Struct, frozen=True):
    """What a model answered to an instance.

    Attributes:
        instance_id: The instance.
        model_patch: A unified diff against its base commit; None or blank: no answer.
        model_name_or_path: Who answered.
    """

    instance_id: str
    model_patch: str | None
    model_name_or_path: str = ""


class State(StrEnum):
    """How far the grading of a prediction came; beside these, the values of `Problem`."""

    TESTS_RAN = "tests_ran"
    EMPTY_PATCH = "empty_patch"
    PATCH_APPLY_FAILED = "patch_apply_failed"
    ERROR = "error"
    """It could not be graded, through no fault of the prediction: it counts nowhere."""


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """The grade of a prediction.

    Attributes:
        digest: Digest of all that decides it, the libraries of the interpreter apart.
        state: A `State` or a `Problem`.
        resolved: Whether the issue is resolved.
        message: Why the patch does not apply, or what failed.
        tests_status: What became of the tests that decide; None: they did not run.
        changed: What the code under test changed that it must not, by name.
        unfounded: Tests that count as failed, since nothing says that they may be skipped or fail.
        versions: Of Python and pytest in the run.
    """

    instance_id: str
    model_name_or_path: str
    digest: str
    state: str
    resolved: bool = False
    message: str = ""
    tests_status: TestsStatus | None = None
    changed: tuple[str, ...] = ()
    unfounded: tuple[str, ...] = ()
    versions: dict[str, str] = {}


def load_predictions(path: str | Path, instances: Sequence[Instance]) -> tuple[Prediction, ...]:
    """Read predictions: `*.jsonl` (one on each line) or `*.json` (a list of them).

    Args:
        path: The file.
        instances: What they may be about.

    Raises:
        DataFileError: It is missing or damaged, a row is no prediction, or an instance has two.
        UnknownNameError: One is about an instance that is not there.
    """
    known = {instance.instance_id for instance in instances}
    found: dict[str, Prediction] = {}
    for row in read_rows(Path(path), Prediction.__struct_fields__):
        try:
            prediction = msgspec.convert(row.columns, Prediction)
        except msgspec.ValidationError as problem:
            raise DataFileError(row.path, f"expected a prediction: {problem}", row.line) from None
        if prediction.instance_id in found:
            raise DataFileError(row.path, f"a second prediction for {prediction.instance_id}", row.line)
        if prediction.instance_id not in known:
            raise UnknownNameError("instance", prediction.instance_id, known)
        found[prediction.instance_id] = prediction
    return tuple(found.values())


class PredictionGrader:
    """Grades predictions, each by itself.

    Args:
        instances: What they are about.
        mirrors: Where the repositories are.
        sandbox: Name of the sandbox.
        python: The interpreter of instances for which the mirrors name none.
        limits: Of the tests of one prediction.
    """

    def __init__(
        self,
        instances: Iterable[Instance],
        mirrors: Mirrors,
        *,
        sandbox: str,
        python: str,
        limits: Limits = GRADING_LIMITS,
    ) -> None:
        self._instances = {instance.instance_id: instance for instance in instances}
        self._mirrors, self._python, self._limits = mirrors, python, limits
        self._sandbox: Sandbox = find_sandbox(sandbox)
        self.grader = {
            "version": GRADER_VERSION,
            "digest": grader_digest(self._sandbox.name, limits),
            "sandbox": self._sandbox.name,
        }

    def digest(self, prediction: Prediction) -> str:
        """Digest of what decides the result of a prediction.

        Raises:
            UnknownNameError: The mirrors name interpreters for its repository, and none for its version.
        """
        instance = self._instances[prediction.instance_id]
        patch = (prediction.model_patch or "").encode(errors="surrogatepass")
        decides = [instance.digest, patch.hex(), self.grader["digest"], self._python_of(instance)]
        return digest(decides)

    def _python_of(self, instance: Instance) -> str:
        return self._mirrors.python(instance) or self._python

    def grade(self, prediction: Prediction) -> Result:
        """Grade one. What is not the prediction's fault becomes a result with the state `ERROR`."""
        if not (prediction.model_patch or "").strip():
            return self._result(prediction, State.EMPTY_PATCH)
        try:
            return self._graded(prediction)
        except (DataFileError, InfrastructureError, UsageError) as problem:
            return self._result(prediction, State.ERROR, message=str(problem))

    def _graded(self, prediction: Prediction) -> Result:
        instance = self._instances[prediction.instance_id]
        repository = open_repository(self._mirrors.source(instance), instance.base_commit)
        workspace = Workspace(repository)
        try:
            _apply(workspace, prediction.model_patch or "")
        except (PatchError, PathError) as problem:
            return self._result(prediction, State.PATCH_APPLY_FAILED, message=str(problem))
        python = self._mirrors.python(instance) or self._python
        grade = grade_by_tests(workspace, instance, sandbox=self._sandbox, python=python, limits=self._limits)
        return self._result(prediction, grade.problem or State.TESTS_RAN, grade)

    def _result(
        self, prediction: Prediction, state: str, grade: Grade | None = None, message: str = ""
    ) -> Result:
        about = Result(
            instance_id=prediction.instance_id,
            model_name_or_path=prediction.model_name_or_path,
            digest=self.digest(prediction),
            state=str(state),
            message=message,
        )
        if grade is None:
            return about
        return msgspec.structs.replace(
            about,
            resolved=grade.resolved,
            tests_status=grade.tests,
            changed=grade.changed,
            unfounded=grade.unfounded,
            versions=grade.versions,
        )


def _apply(workspace: Workspace, patch: str) -> None:
    """Carry out a patch in a workspace; tolerant as SWE-bench's harness is."""
    before = {path: workspace.read(path) for path in touched_paths(patch)}
    there = {path: content for path, content in before.items() if content is not None}
    modes = {change.new: change.mode for change in read_changes(patch)}
    after = apply_patch(there, patch, fuzzy=True)
    for path in (path for path, content in after.items() if content is None and path in there):
        workspace.delete(path)
    for path, content in after.items():
        if content is not None:
            workspace.write(path, content, modes.get(path))


def report(
    instances: Sequence[Instance], results: Sequence[Result], grader: Mapping[str, str]
) -> dict[str, Json]:
    """The results as one JSON object, with the names of SWE-bench's report where it has the thing.

    Unlike there, a patch that does not apply is unresolved: errors are no fault of a prediction.
    """
    of_state = {state: [r.instance_id for r in results if r.state == state] for state in State}
    empty, errors = set(of_state[State.EMPTY_PATCH]), set(of_state[State.ERROR])
    submitted = {result.instance_id for result in results}
    resolved = {result.instance_id for result in results if result.resolved}
    completed = submitted - empty - errors
    ids = {
        "completed_ids": completed,
        "incomplete_ids": {instance.instance_id for instance in instances} - submitted,
        "empty_patch_ids": empty,
        "submitted_ids": submitted,
        "resolved_ids": resolved,
        "unresolved_ids": completed - resolved,
        "error_ids": errors,
    }
    counted = ("submitted", "completed", "resolved", "unresolved", "empty_patch", "error")
    return {
        "report_version": REPORT_VERSION,
        "grader": dict(grader),
        "total_instances": len(instances),
        **{f"{name}_instances": len(ids[f"{name}_ids"]) for name in counted},
        **{name: sorted(found) for name, found in ids.items()},
        "instances": {result.instance_id: msgspec.to_builtins(result) for result in results},
    }
