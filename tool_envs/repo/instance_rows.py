"""Reads rows of instances from files of JSON, JSON lines or Parquet, and from folders of tasks."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tool_envs.errors import DataFileError, UsageError
from tool_envs.json_values import parse_json
from tool_envs.messages import Json


class Row(NamedTuple):
    """A row as it was read.

    Attributes:
        path: The file, with the number of the row where it has no lines.
        line: 1-based line; None: there are no lines.
        columns: What should be an object of columns.
    """

    path: str
    line: int | None
    columns: Json


def read_rows(path: Path, columns: Sequence[str]) -> Iterator[Row]:
    """Read the rows of a file or a folder, in order; see `tool_envs.repo.instances.load_instances`.

    Args:
        path: The file or the folder.
        columns: The columns that are needed; others may be left out.

    Raises:
        DataFileError: It is missing or damaged.
        UsageError: A library is missing, or the name has another ending.
    """
    if path.is_dir():
        return _read_folder(path)
    if path.suffix == ".jsonl":
        return _read_lines(path)
    if path.suffix == ".json":
        return _read_list(path)
    if path.suffix == ".parquet":
        return _read_parquet(path, columns)
    raise UsageError(
        f"Instances are read from *.jsonl, *.json, *.parquet or a folder with tasks/, not from {path.name}."
    )


def _read_lines(path: Path) -> Iterator[Row]:
    for number, line in enumerate(_read_bytes(path).split(b"\n"), start=1):
        if line.strip():
            yield Row(str(path), number, _parsed(line, str(path), number))


def _read_list(path: Path) -> Iterator[Row]:
    rows = _parsed(_read_bytes(path), str(path), None)
    if not isinstance(rows, list):
        raise DataFileError(path, "expected a list of rows; a file with a row on each line is named *.jsonl")
    for number, row in enumerate(rows, start=1):
        yield Row(f"{path}, row {number}", None, row)


def _read_parquet(path: Path, columns: Sequence[str]) -> Iterator[Row]:
    try:
        from tool_envs.repo.parquet_rows import read_parquet_rows
    except ModuleNotFoundError as problem:
        raise UsageError(f"{problem}. For Parquet: pip install 'tool-envs[parquet]'.") from None
    for number, row in enumerate(read_parquet_rows(path, columns), start=1):
        yield Row(f"{path}, row {number}", None, row)


def _read_folder(path: Path) -> Iterator[Row]:
    try:
        from tool_envs.repo.task_folders import read_task_folders
    except ModuleNotFoundError as problem:
        raise UsageError(f"{problem}. For folders of tasks: pip install 'tool-envs[repo]'.") from None
    for folder, row in read_task_folders(path):
        yield Row(str(folder), None, row)


def _read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as problem:
        raise DataFileError(path, f"cannot be read: {problem.strerror or problem}") from None


def _parsed(content: bytes, path: str, line: int | None) -> Json:
    try:
        return parse_json(content.decode())
    except json.JSONDecodeError as problem:
        raise DataFileError(path, f"not JSON: {problem.msg}", line or problem.lineno) from None
    except (ValueError, RecursionError) as problem:
        raise DataFileError(path, f"not JSON: {problem}", line) from None
