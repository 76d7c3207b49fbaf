"""Instances: an issue, the repository and commit that it is about, and the tests that decide.

The columns are those of SWE-bench's rows (`docs/guides/datasets.md` there); more of them are not read.
"""

import os
import re
from functools import cached_property
from pathlib import Path

import msgspec

from tool_envs.canonical import digest
from tool_envs.errors import DataFileError, UsageError
from tool_envs.json_values import NotJsonError, copy_json, parse_json, shown
from tool_envs.messages import Json
from tool_envs.repo.instance_rows import Row, read_rows

_SAFE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,199}", re.ASCII)
_REPO = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+-]*(/[A-Za-z0-9_][A-Za-z0-9._+-]*)?", re.ASCII)
_COMMIT = re.compile("[0-9a-f]{40}|[0-9a-f]{64}", re.ASCII)
_TEST_LISTS = ("FAIL_TO_PASS", "PASS_TO_PASS")


class Instance(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    dict=True,
    rename={"fail_to_pass": "FAIL_TO_PASS", "pass_to_pass": "PASS_TO_PASS"},
):
    """One issue in a repository; in JSON the lists of tests have their upper-case names of SWE-bench.

    Attributes:
        instance_id: Names it; safe as the name of a file or a folder.
        repo: Names the repository: `owner/name`, or a name.
        base_commit: The commit at which the issue is open: its full id, 40 or 64 hexadecimal digits.
        problem_statement: The text of the issue.
        patch: The reference change, a unified diff; empty: not stated.
        test_patch: The change of the tests that decides, a unified diff.
        fail_to_pass: Ids of tests that fail before the change and must pass after it; None: not stated, so
            that there is no reward by tests. An empty tuple is a statement.
        pass_to_pass: Ids of tests that pass before and must pass after; None: not stated.
        version: Version of the repository's software, by which its environment is chosen.
        hints_text: Comments on the issue from before the change.
        created_at: When the change was proposed, as the row says it.
        environment_setup_commit: The commit whose environment serves this version.
        difficulty: What the row says about it, such as `<15 min fix`.
        split: The split that the row says it is in; empty: not stated.

    Raises:
        UsageError: `instance_id`, `repo` or `base_commit` is not of its form.
    """

    instance_id: str
    repo: str
    base_commit: str
    problem_statement: str
    patch: str = ""
    test_patch: str = ""
    fail_to_pass: tuple[str, ...] | None = None
    pass_to_pass: tuple[str, ...] | None = None
    version: str = ""
    hints_text: str = ""
    created_at: str = ""
    environment_setup_commit: str = ""
    difficulty: str = ""
    split: str = ""

    def __post_init__(self) -> None:
        _check_text(
            "instance_id",
            self.instance_id,
            _SAFE_ID,
            "up to 200 letters, digits, `.`, `_`, `+` and `-`, the first a letter or a digit",
        )
        _check_text(
            "repo", self.repo, _REPO, "`owner/name` or a name of letters, digits, `.`, `_`, `+` and `-`"
        )
        _check_text(
            "base_commit", self.base_commit, _COMMIT, "all 40 or 64 hexadecimal digits of a commit id"
        )

    @property
    def has_tests(self) -> bool:
        """Whether both lists of tests are stated; without them there is no reward by tests."""
        return self.fail_to_pass is not None and self.pass_to_pass is not None

    @cached_property
    def digest(self) -> str:
        """Digest of what decides a reward, sha256 in hexadecimal.

        It covers the repository, the commit, the issue, both patches and both lists of tests in their order;
        the id and what else is said about the instance may change without it.
        """
        return digest(
            {
                "repo": self.repo,
                "base_commit": self.base_commit,
                "problem_statement": self.problem_statement,
                "patch": self.patch,
                "test_patch": self.test_patch,
                "FAIL_TO_PASS": _listed(self.fail_to_pass),
                "PASS_TO_PASS": _listed(self.pass_to_pass),
            }
        )


COLUMNS = tuple(field.encode_name for field in msgspec.structs.fields(Instance))
"""The columns of a row that are read."""


def load_instances(path: str | Path) -> tuple[Instance, ...]:
    """Read all instances of a file or a folder, in its order.

    Args:
        path: `*.jsonl` (a row on each line), `*.json` (a list of rows), `*.parquet` (needs the extra
            `[parquet]`), or a folder of tasks as SWE-bench 5 keeps them (`sweb.yaml` and `tasks/`; needs the
            extra `[repo]`), of which those in a published split are read.

    Raises:
        DataFileError: It is missing, damaged or empty, a row is no instance, or an id is there twice; says
            which row and column.
        UsageError: A library is missing, or the name has another ending.
    """
    instances: list[Instance] = []
    places: dict[str, str] = {}
    for row in read_rows(Path(path), COLUMNS):
        instance = _instance(row)
        place = f"{row.path}, line {row.line}" if row.line else row.path
        if instance.instance_id in places:
            first = places[instance.instance_id]
            raise DataFileError(
                row.path, f"instance_id {instance.instance_id} stands already at {first}", row.line
            )
        places[instance.instance_id] = place
        instances.append(instance)
    if not instances:
        raise DataFileError(path, "holds no instance")
    return tuple(instances)


def as_row(instance: Instance) -> bytes:
    """The line of a `*.jsonl` that holds an instance; a list of tests that is not stated is null in it."""
    return msgspec.json.encode(instance) + b"\n"


def append_instance(path: Path, instance: Instance) -> None:
    """Add an instance to a `*.jsonl`, which is made where there is none.

    Raises:
        DataFileError: The file is damaged, holds an instance of this id, or cannot be written.
    """
    check_free(path, instance.instance_id)
    try:
        with path.open("a+b") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(size - 1, 0))
            has_end = file.read() in (b"", b"\n")
            file.write((b"" if has_end else b"\n") + as_row(instance))
    except OSError as problem:
        raise DataFileError(path, f"cannot be written: {problem.strerror or problem}") from None


def check_free(path: Path, instance_id: str | None) -> None:
    """Hold a `*.jsonl` to having no instance of an id, so that one may be added.

    Raises:
        UsageError: It has another ending.
        DataFileError: It is damaged, or holds an instance of this id.
    """
    if path.suffix != ".jsonl":
        raise UsageError(f"Instances are added to *.jsonl, not to {path.name}.")
    there = load_instances(path) if path.exists() and path.stat().st_size else ()
    if instance_id in {each.instance_id for each in there}:
        raise DataFileError(
            path, f"holds an instance {instance_id} already; name another id, or another file"
        )


def _instance(row: Row) -> Instance:
    if not isinstance(row.columns, dict):
        raise DataFileError(row.path, "expected an object of columns", row.line)
    columns = {name: row.columns[name] for name in COLUMNS if row.columns.get(name) is not None}
    try:
        for name in _TEST_LISTS:
            if isinstance(columns.get(name), str):
                columns[name] = _test_list(name, columns[name])
        return msgspec.convert({name: _unicode(name, value) for name, value in columns.items()}, Instance)
    except (msgspec.ValidationError, UsageError) as problem:
        raise DataFileError(row.path, str(problem), row.line) from None


def _test_list(name: str, text: str) -> Json:
    """The list in a JSON text, which is how rows without a type for lists hold one."""
    hint = "expected a list of test ids or the JSON text of one; where tests are not known, leave it out"
    try:
        value = parse_json(text)
    except (ValueError, RecursionError):
        raise UsageError(f"{name}: {hint}; found {shown(text)}") from None
    if not isinstance(value, list):
        raise UsageError(f"{name}: {hint}; found {shown(text)}")
    return value


def _unicode(name: str, value: Json) -> Json:
    try:
        return copy_json(value)
    except NotJsonError as problem:
        raise UsageError(f"{name}: {problem}") from None
    except TypeError as problem:
        raise UsageError(f"{name}: expected text, found {type(problem.args[0]).__name__}") from None


def _check_text(name: str, value: str, form: re.Pattern[str], expected: str) -> None:
    if not form.fullmatch(value):
        raise UsageError(f"{name}: expected {expected}, found {shown(value)}")


def _listed(tests: tuple[str, ...] | None) -> Json:
    return None if tests is None else list(tests)
