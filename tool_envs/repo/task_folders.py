"""Reads folders of tasks as SWE-bench 5 keeps them (`swebench/task/repo.py`). Needs the extra `[repo]`.

`sweb.yaml` says which splits are published; `tasks/<instance_id>/` holds `task.yaml` with short columns,
`tests.json` with the two lists of tests, and a file each for the texts and patches.
"""

from collections.abc import Iterator
from pathlib import Path

import yaml

from tool_envs.errors import DataFileError
from tool_envs.json_values import parse_json
from tool_envs.messages import Json

_TEXT_FILES = {
    "problem_statement": "problem_statement.md",
    "patch": "gold.patch",
    "test_patch": "test.patch",
    "hints_text": "hints.md",
}


def read_task_folders(root: Path) -> Iterator[tuple[Path, dict[str, Json]]]:
    """The folders of the tasks in a published split, sorted by name, each with its columns.

    A text whose file is not there is a column that is not there, and so are the lists of tests.

    Raises:
        DataFileError: There is no `sweb.yaml` or no task, or a file is damaged; or tests need binary files
            (`test_assets/`), which `test.patch` cannot bring and nothing here would put into place.
    """
    splits = _read_splits(root)
    folders = sorted(file.parent for file in root.glob("tasks/*/task.yaml"))
    if not folders:
        raise DataFileError(
            root, "expected folders tasks/<instance_id>/ with a task.yaml each; there is none"
        )
    for folder in folders:
        columns = _read_columns(folder)
        if columns["split"] in splits:
            yield folder, columns | _read_texts(folder) | _read_tests(folder / "tests.json")


def _read_splits(root: Path) -> list[Json]:
    path = root / "sweb.yaml"
    splits = _read_yaml(path).get("splits", ["test"])
    if not isinstance(splits, list):
        raise DataFileError(path, "splits: expected a list of names")
    return splits


def _read_columns(folder: Path) -> dict[str, Json]:
    path = folder / "task.yaml"
    columns = _read_yaml(path)
    if columns.get("instance_id") != folder.name:
        raise DataFileError(path, f"instance_id: expected {folder.name}, the folder's name")
    if "split" not in columns:
        raise DataFileError(path, "split: expected the name of one, by which the task is published or not")
    return columns


def _read_texts(folder: Path) -> dict[str, Json]:
    if any((folder / "test_assets").glob("*")):
        raise DataFileError(folder / "test_assets", "binary files of tests cannot be put into place")
    return {
        column: _read_text(folder / name) for column, name in _TEXT_FILES.items() if (folder / name).exists()
    }


def _read_tests(path: Path) -> dict[str, Json]:
    if not path.exists():
        return {}
    try:
        tests = parse_json(_read_text(path))
    except (ValueError, RecursionError) as problem:
        raise DataFileError(path, f"not JSON: {problem}") from None
    if not isinstance(tests, dict):
        raise DataFileError(path, "expected an object with FAIL_TO_PASS and PASS_TO_PASS")
    return {name: tests.get(name) for name in ("FAIL_TO_PASS", "PASS_TO_PASS")}


def _read_yaml(path: Path) -> dict[str, Json]:
    try:
        columns = yaml.safe_load(_read_text(path))
    except yaml.MarkedYAMLError as problem:
        mark = problem.problem_mark
        raise DataFileError(path, f"not YAML: {problem.problem}", mark.line + 1 if mark else None) from None
    except (yaml.YAMLError, ValueError, RecursionError) as problem:
        raise DataFileError(path, f"not YAML: {problem}") from None
    if not isinstance(columns, dict):
        raise DataFileError(path, "expected a mapping of columns")
    return columns


def _read_text(path: Path) -> str:
    """The text of a file with the line ends that it has, since a patch needs them."""
    try:
        return path.read_bytes().decode()
    except OSError as problem:
        raise DataFileError(path, f"cannot be read: {problem.strerror or problem}") from None
    except UnicodeDecodeError as problem:
        raise DataFileError(path, f"not UTF-8: {problem.reason}") from None
