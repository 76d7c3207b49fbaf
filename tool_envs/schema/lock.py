"""Releasing schema files: what is wrong with a folder of them, and writing its `LOCK.json`."""

import itertools
import json
from collections.abc import Iterator
from pathlib import Path

from tool_envs.errors import DataFileError, ToolEnvsError, UsageError
from tool_envs.schema.arrays_file import check_arrays_file
from tool_envs.schema.files import LOCK_KEY, SchemaFiles, file_digest
from tool_envs.schema.tool_schema import read_unreleased_schema


def unreleased(files: SchemaFiles) -> list[str]:
    """The keys of the files that the lock does not hold; all of them when there is no lock yet."""
    lock = _lock(files)
    return [key for key in files.all_keys() if key not in lock]


def lock_problems(files: SchemaFiles) -> list[ToolEnvsError]:
    """Everything that forbids a release, but for files that are not released yet.

    A released file was changed or is missing, a schema file or an arrays document is damaged, or a version
    number does not go up enough for what changed since the version before.
    """
    problems = [*_released_problems(files), *_version_problems(files), *_arrays_problems(files)]
    return list({str(problem): problem for problem in problems}.values())


def write_lock(files: SchemaFiles) -> list[str]:
    """Add the digests of all new files to `LOCK.json`, and return their keys; entries never change.

    Raises:
        ToolEnvsError: The first of `lock_problems`; nothing is written then.
        UsageError: The files are not in a folder that can be written to.
    """
    for problem in lock_problems(files):
        raise problem
    added = unreleased(files)
    digests = {key: file_digest(files.read(key), str(files.path(key))) for key in added}
    path = files.path(LOCK_KEY)
    if not isinstance(path, Path):
        raise UsageError(f"{path} is not in a folder, and so it cannot be written.")
    lock = dict(sorted((_lock(files) | digests).items()))
    path.write_text(json.dumps(lock, indent=2) + "\n", encoding="ascii")
    return added


def _lock(files: SchemaFiles) -> dict[str, str]:
    return files.lock() if files.path(LOCK_KEY).is_file() else {}


def _released_problems(files: SchemaFiles) -> Iterator[ToolEnvsError]:
    for key in _lock(files):
        try:
            files.read_released(key)
        except ToolEnvsError as error:
            yield error


def _version_problems(files: SchemaFiles) -> Iterator[ToolEnvsError]:
    for domain in files.domains():
        schemas = []
        for version in files.versions(domain):
            try:
                schemas.append(read_unreleased_schema(files, f"{domain}/{version}"))
            except ToolEnvsError as error:
                yield error
        for old, new in itertools.pairwise(schemas):
            diff = old.diff(new)
            if not diff.is_covered_by(old.version, new.version):
                path = str(files.path(f"{domain}/{new.version}"))
                breaking = "; ".join(str(change) for change in diff.changes if change.demands == diff.demands)
                yield DataFileError(
                    path, f"the changes since {old.version} demand a {diff.demands} step: {breaking}"
                )


def _arrays_problems(files: SchemaFiles) -> Iterator[ToolEnvsError]:
    for key in files.arrays_keys():
        try:
            check_arrays_file(files, key, files.read(key))
        except ToolEnvsError as error:
            yield error
