"""Where the repositories of instances are on this machine. Nothing is fetched from anywhere else."""

from pathlib import Path
from typing import Any

from tool_envs.errors import DataFileError, UnknownNameError
from tool_envs.messages import Json
from tool_envs.repo.instances import Instance
from tool_envs.schema.files import read_json
from tool_envs.schema.forms import check_form

FORM_VERSION = "1.0.0"
"""Version of the form of manifests: `schemas/meta/mirrors`."""

_ENDINGS = ("", ".git", ".bundle", ".fast-export")


def mirrors_beside(instances: Path) -> Path:
    """Where the repositories of instances are if nobody says: `mirrors.json` beside them, or their folder."""
    manifest = instances.parent / "mirrors.json"
    return manifest if manifest.is_file() else instances.parent


class RepositoryMissingError(DataFileError):
    """Raised when the repository of an instance is not at hand; says what to provide."""


class Mirrors:
    """Finds the repositories of instances, and the Python that their tests run in.

    Args:
        path: A manifest of the form `schemas/meta/mirrors`, in which paths are relative to its own folder; or
            a folder. In a folder the repository of `owner/name` is named by the id of an instance, for that
            one alone, `owner__name`, `owner/name` or `name`; the first there is. Each is a git repository (a
            folder, whose name may end in `.git`), a bundle (`.bundle`) or a stream of git fast-export
            (`.fast-export`).

    Raises:
        DataFileError: It is missing, or a file that is no manifest.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self._manifest: dict[str, Any] | None = None
        if not self._path.exists():
            raise DataFileError(
                path, "expected a folder of repositories or a manifest of them; there is none"
            )
        if not self._path.is_dir():
            manifest = read_json(self._path)
            check_form("mirrors", FORM_VERSION, manifest, str(path))
            self._manifest = manifest

    def source(self, instance: Instance) -> Path:
        """The git repository, bundle or fast-export stream of an instance.

        That it holds the commit is seen when it is opened.

        Raises:
            RepositoryMissingError: It is not there; says what to provide.
        """
        if self._manifest is None:
            return self._source_in_folder(instance)
        named: str | None = self._entry("instances", instance.instance_id).get("source")
        named = named or self._entry("repositories", instance.repo).get("source")
        if named is None:
            raise RepositoryMissingError(
                self._path,
                f'{_wanted(instance)}: add `"{instance.repo}": {{"source": PATH}}` to repositories',
            )
        source = self._path.parent / named
        if not _is_source(source):
            raise RepositoryMissingError(source, _wanted(instance))
        return source

    def python(self, instance: Instance) -> str | None:
        """The path of the Python that the tests of an instance run in; None: the manifest names none.

        Raises:
            UnknownNameError: The manifest names some for versions of this repository, and none for this one.
        """
        named: Json = self._entry("instances", instance.instance_id).get("python")
        named = named or self._entry("repositories", instance.repo).get("python")
        if isinstance(named, dict):
            if instance.version not in named:
                raise UnknownNameError(
                    f"version of {instance.repo} with a Python in {self._path}", instance.version, named
                )
            named = named[instance.version]
        # Not resolved: what an environment's `python` links to is not in that environment.
        return None if named is None else str((self._path.parent / named).absolute())

    def _entry(self, kind: str, name: str) -> dict[str, Json]:
        entry: dict[str, Json] = (self._manifest or {}).get(kind, {}).get(name, {})
        return entry

    def _source_in_folder(self, instance: Instance) -> Path:
        joined, name = instance.repo.replace("/", "__"), instance.repo.rpartition("/")[2]
        stems = (instance.instance_id, joined, instance.repo, name)
        for candidate in (self._path / f"{stem}{ending}" for stem in stems for ending in _ENDINGS):
            if _is_source(candidate):
                return candidate
        raise RepositoryMissingError(
            self._path / joined,
            f"{_wanted(instance)}. To make one: git clone --mirror ADDRESS {self._path / joined}.git; "
            f"a bundle may be {joined}.bundle, a stream {joined}.fast-export",
        )


def _wanted(instance: Instance) -> str:
    return (
        f"{instance.instance_id} needs the repository {instance.repo} with commit {instance.base_commit}: "
        "a git repository, a git bundle or a stream of git fast-export"
    )


def _is_source(path: Path) -> bool:
    """Whether it is a file, or a folder that git would take as a repository."""
    return (
        path.is_file()
        or (path / ".git").exists()
        or ((path / "HEAD").is_file() and (path / "objects").is_dir())
    )
