"""The schema files: where they are, strict reading, and the lock that keeps released ones as they are."""

import functools
import importlib.resources
import json
import re
from collections.abc import Iterator
from importlib.resources.abc import Traversable

from tool_envs.canonical import digest
from tool_envs.errors import DataFileError, TamperedFileError, UnknownNameError
from tool_envs.json_values import parse_json
from tool_envs.messages import Json

LOCK_KEY = "LOCK"
_VERSION = re.compile(r"(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)", re.ASCII)
_ARRAYS_KEY = re.compile("[^/]+/arrays-[1-9][0-9]*", re.ASCII)


class SchemaFiles:
    """A folder of schema files with its `LOCK.json`.

    A file's key is its path in the folder without `.json`: `retail/1.0.0`, `meta/tool_schema/1.0.0`. The lock
    says for each released key the sha256 of the file's canonical JSON.

    Args:
        root: The folder: a `pathlib.Path`, or what `importlib.resources.files` gives.
    """

    def __init__(self, root: Traversable) -> None:
        self.root = root

    def all_keys(self) -> list[str]:
        """The keys of all JSON files but the lock, sorted."""
        return sorted(key for key in _json_keys(self.root, "") if key != LOCK_KEY)

    def domains(self) -> list[str]:
        """The domains with at least one tool schema, sorted."""
        pairs = [key.split("/") for key in self.all_keys()]
        return sorted({pair[0] for pair in pairs if len(pair) == 2 and _VERSION.fullmatch(pair[1])})

    def versions(self, domain: str) -> list[str]:
        """The versions of a domain's tool schema, oldest first; empty for an unknown domain."""
        names = [key.removeprefix(f"{domain}/") for key in self.all_keys() if key.startswith(f"{domain}/")]
        return sorted(filter(_VERSION.fullmatch, names), key=version_numbers)

    def arrays_keys(self) -> list[str]:
        """The keys of the arrays documents, such as `retail/arrays-1`, sorted."""
        return list(filter(_ARRAYS_KEY.fullmatch, self.all_keys()))

    def path(self, key: str) -> Traversable:
        """Where the file of a key is or would be."""
        return self.root.joinpath(*f"{key}.json".split("/"))

    def lock(self) -> dict[str, str]:
        """The digests of the released files by key.

        Raises:
            DataFileError: The lock is missing or damaged.
        """
        lock = self.read(LOCK_KEY)
        if not (isinstance(lock, dict) and all(isinstance(value, str) for value in lock.values())):
            raise DataFileError(str(self.path(LOCK_KEY)), "expected an object of keys and sha256 digests")
        return lock

    def read(self, key: str) -> Json:
        """The content of a file, whether it is released or not.

        Raises:
            DataFileError: The file is missing or not JSON.
        """
        return read_json(self.path(key))

    def read_released(self, key: str) -> Json:
        """The content of a released file.

        Raises:
            DataFileError: The file is missing, not JSON, or not released.
            TamperedFileError: It is not the file that was released.
        """
        path, value = str(self.path(key)), self.read(key)
        released, sha256 = self.lock().get(key), file_digest(value, path)
        if released is None:
            raise DataFileError(
                path,
                "LOCK.json has no digest of it, so it is not released; once final: `tool-envs schema lock`",
            )
        if sha256 != released:
            raise TamperedFileError(
                path,
                f"its sha256 is {sha256}, but it was released with {released}. A released file "
                "never changes: restore it, and put the change into a new version.",
            )
        return value

    def check_name(self, domain: object, version: object) -> str:
        """The key of a domain's version.

        Raises:
            UnknownNameError: There is no such domain, or it has no such version.
        """
        if not (isinstance(domain, str) and domain in self.domains()):
            raise UnknownNameError("schema domain", domain, self.domains())
        key = f"{domain}/{version}"
        known = self.versions(domain)
        if not (isinstance(version, str) and (version in known or key in self.lock())):
            raise UnknownNameError(f"version of the schema {domain}", version, known)
        return key


def read_json(path: Traversable) -> Json:
    """The content of a JSON file.

    Raises:
        DataFileError: The file is missing or not JSON.
    """
    try:
        return parse_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataFileError(str(path), "the file is missing; install the package again") from None
    except json.JSONDecodeError as error:
        raise DataFileError(str(path), f"not JSON: {error.msg}", error.lineno) from None
    except (ValueError, RecursionError) as error:
        raise DataFileError(str(path), f"not JSON: {error}") from None


def _json_keys(folder: Traversable, prefix: str) -> Iterator[str]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _json_keys(entry, f"{prefix}{entry.name}/")
        elif entry.name.endswith(".json"):
            yield prefix + entry.name.removesuffix(".json")


def file_digest(value: Json, path: str) -> str:
    """Sha256 of a file's canonical JSON.

    Raises:
        DataFileError: The value has no canonical JSON (a huge integer, a lone surrogate).
    """
    try:
        return digest(value)
    except (ValueError, RecursionError) as error:
        raise DataFileError(path, f"the content has no canonical JSON: {error}") from None


def version_numbers(version: str) -> tuple[int, int, int]:
    """The numbers of a version `major.minor.patch`, which compare as versions do.

    Raises:
        UnknownNameError: It is not of that form.
    """
    if not _VERSION.fullmatch(version):
        raise UnknownNameError("version", version, ["major.minor.patch, such as 1.0.0"])
    major, minor, patch = map(int, version.split("."))
    return major, minor, patch


@functools.cache
def shipped_files() -> SchemaFiles:
    """The schema files that come with this package."""
    return SchemaFiles(importlib.resources.files("tool_envs.schemas"))
