"""The manifest beside exported records: what a later evaluation needs to know of what was trained on."""

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from tool_envs.errors import DataFileError, TamperedFileError
from tool_envs.evaluation.slice_files import slice_of_task
from tool_envs.json_values import parse_json
from tool_envs.messages import Json
from tool_envs.schema.forms import check_form
from tool_envs.trajectory.exports.source import Source, TokenizerRef
from tool_envs.trajectory.record import FORMAT_VERSION
from tool_envs.trajectory.refs import Part, SchemaRef, Sha256, SimulatorRef

MANIFEST = "manifest.json"
"""Its file."""

MANIFEST_VERSION: Final = "1.0.0"
"""The version of the manifest; its form is `schemas/meta/manifest/<version>.json`."""


class FormatRef(Part, frozen=True):
    """The form of the rows; the version goes up with any change of them."""

    name: str
    version: int


class Counts(Part, frozen=True):
    """How many records were read, have rows, and were left out by reason; how they ended; how many rows."""

    read: int
    exported: int
    left_out: dict[str, int]
    statuses: dict[str, int]
    rows: int


class EnvironmentRef(Part, frozen=True):
    """An environment; the version is the N of `Name-vN`."""

    id: str
    version: int | None


class TaskEntry(Part, frozen=True):
    """A task of an environment."""

    env_id: str
    id: str
    digest: Sha256


class PolicyEntry(Part, frozen=True):
    """A version of a policy, and its place in the order of versions."""

    agent: str
    version: str
    number: int


class FileRef(Part, frozen=True):
    """A file beside the manifest."""

    sha256: Sha256
    bytes: Annotated[int, Meta(ge=0)]


class Manifest(Part, frozen=True, kw_only=True):
    """What was exported. Lists are sorted, have no entry twice, and tell of the records that have rows.

    Attributes:
        format_version: The version of this form.
        format: The form of the rows.
        counts: How many.
        record_format: The version of the form of records that the rows were made of.
        environments: The environments.
        schemas: The tools, and whose descriptions of them the agent saw.
        domain_policies: Sha256 of each domain policy in the rows; empty where the rows hold none.
        tasks: The tasks.
        slices: The frozen slices that episodes belong to.
        slice_tasks: The frozen slices of which tasks are among those exported, though for evaluation only.
        simulators: The users.
        graders: Digests of what decided grades.
        data: Digests of the data that episodes started from.
        policy_versions: The versions of policies under which episodes ran.
        reference_policies: What the KL divergence is taken against; None: there is no such term.
        tokenizers: What token ids are of; empty where no record has any.
        files: The files beside the manifest, by name.
    """

    format_version: Literal["1.0.0"]
    format: FormatRef
    counts: Counts
    record_format: str
    environments: tuple[EnvironmentRef, ...]
    schemas: tuple[SchemaRef, ...]
    domain_policies: tuple[Sha256, ...]
    tasks: tuple[TaskEntry, ...]
    slices: tuple[str, ...]
    slice_tasks: tuple[str, ...]
    simulators: tuple[SimulatorRef, ...]
    graders: tuple[str, ...]
    data: tuple[str, ...]
    policy_versions: tuple[PolicyEntry, ...]
    reference_policies: tuple[str | None, ...]
    tokenizers: tuple[TokenizerRef, ...]
    files: dict[str, FileRef]

    def to_json(self) -> dict[str, Json]:
        """The manifest as a JSON object."""
        value: dict[str, Json] = json.loads(json.dumps(msgspec.to_builtins(self)))
        return value


class Tally:
    """Takes note of records while they are exported, and makes their manifest.

    Attributes:
        read: Records that were read.
    """

    def __init__(self) -> None:
        self.read = 0
        self._rows = 0
        self._left_out: Counter[str] = Counter()
        self._statuses: Counter[str] = Counter()
        self._lists: defaultdict[str, set[Any]] = defaultdict(set)

    def leave_out(self, reason: str) -> None:
        """Note a record without rows."""
        self.read += 1
        self._left_out[reason] += 1

    def add(self, source: Source, rows: int) -> None:
        """Note a record with rows."""
        self.read += 1
        self._rows += rows
        self._statuses[source.record.outcome.status] += 1
        for name, entries in _entries(source).items():
            self._lists[name].update(entries)

    @property
    def exported(self) -> int:
        """Records with rows."""
        return self._statuses.total()

    def describe_left_out(self) -> str:
        """The reasons for which records have no rows, with how many."""
        return ", ".join(f"{reason} {count}" for reason, count in sorted(self._left_out.items()))

    def conclude(self, form: FormatRef, domain_policies: Iterable[str], files: Iterable[Path]) -> Manifest:
        """The manifest of what was noted, which is one record with rows at least.

        Args:
            form: The form of the rows.
            domain_policies: The texts in the rows.
            files: The files, as they are on disk.
        """
        counts = Counts(
            read=self.read,
            exported=self.exported,
            left_out=dict(sorted(self._left_out.items())),
            statuses=dict(sorted(self._statuses.items())),
            rows=self._rows,
        )
        policies = {hashlib.sha256(text.encode()).hexdigest() for text in domain_policies}
        return Manifest(
            format_version=MANIFEST_VERSION,
            format=form,
            counts=counts,
            record_format=FORMAT_VERSION,
            domain_policies=tuple(sorted(policies)),
            files={path.name: _refer_to_file(path) for path in sorted(files)},
            **{name: tuple(sorted(entries, key=_sort_key)) for name, entries in self._lists.items()},
        )


def _entries(source: Source) -> dict[str, list[Any]]:
    """What a record adds to the lists of the manifest."""
    record = source.record
    return {
        "environments": [EnvironmentRef(record.env.id, record.env.version)],
        "schemas": [record.schema],
        "tasks": [TaskEntry(record.env.id, record.task.id, record.task.digest)],
        "slices": [] if record.slice_id is None else [record.slice_id],
        "slice_tasks": list(filter(None, [slice_of_task(record.task.digest)])),
        "simulators": [record.simulator],
        "graders": [record.grader_digest],
        "data": [record.data.base_digest],
        "policy_versions": [
            PolicyEntry(record.agent.name, version.version, version.number)
            for version in record.policy_versions
        ],
        "reference_policies": [record.reference_policy],
        "tokenizers": source.tokenizers,
    }


def _sort_key(entry: object) -> str:
    return json.dumps(msgspec.to_builtins(entry))


def _refer_to_file(path: Path) -> FileRef:
    with path.open("rb") as file:
        return FileRef(sha256=hashlib.file_digest(file, "sha256").hexdigest(), bytes=path.stat().st_size)


def read_manifest(path: str | Path) -> Manifest:
    """The manifest of exported records, when it is of its form and the files beside it are those it names.

    Args:
        path: The folder, or the manifest in it.

    Raises:
        DataFileError: It or a file that it names cannot be read, or it is of an unknown form.
        TamperedFileError: A file is not the one that was exported.
    """
    path = Path(path)
    path = path / MANIFEST if path.is_dir() else path
    manifest = _parse_manifest(path)
    for name, recorded in manifest.files.items():
        _check_file(path.with_name(name), recorded)
    return manifest


def _parse_manifest(path: Path) -> Manifest:
    try:
        value = parse_json(path.read_text(encoding="utf-8"))
    except OSError as problem:
        raise DataFileError(path, f"cannot be read: {problem.strerror}") from None
    except (ValueError, RecursionError) as problem:
        raise DataFileError(path, f"not JSON: {problem}") from None
    version = value.get("format_version") if isinstance(value, dict) else None
    if version != MANIFEST_VERSION:
        raise DataFileError(path, f"expected format_version {MANIFEST_VERSION!r}, not {version!r:.40}")
    check_form("manifest", MANIFEST_VERSION, value, str(path))
    return msgspec.convert(value, Manifest)


def _check_file(path: Path, recorded: FileRef) -> None:
    try:
        met = _refer_to_file(path)
    except OSError as problem:
        raise DataFileError(path, f"named by the manifest, cannot be read: {problem.strerror}") from None
    if met != recorded:
        raise TamperedFileError(
            path,
            f"{met.bytes} bytes with the sha256 {met.sha256}, but {recorded.bytes} with {recorded.sha256} "
            "were exported",
        )
