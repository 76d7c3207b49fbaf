"""The folder of a run, in which the same command goes on where the last one was stopped.

runs/x/run.json                what is run: a manifest
       segment-000001.jsonl    the store of the records (see `tool_envs.trajectory.store`)
       failures.jsonl          attempts that failed: each line a `Failure`
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import rfc8785

from tool_envs.canonical import canonical_json, digest
from tool_envs.env import ToolEnv
from tool_envs.errors import DataFileError, UsageError
from tool_envs.json_values import parse_json, shown
from tool_envs.messages import Json
from tool_envs.rollout.failures import Failure, FailureLog
from tool_envs.rollout.plan import Plan
from tool_envs.rollout.policy import EpisodePolicy, Policy
from tool_envs.task import TaskSet
from tool_envs.trajectory.record import PolicyVersion, Trajectory
from tool_envs.trajectory.segments import list_segments, sync_folder
from tool_envs.trajectory.store import TrajectoryWriter, read_trajectories

FORMAT = "rollout_run/1.0.0"
"""The version of the manifest."""

_MANIFEST, _FAILURES = "run.json", "failures.jsonl"

_SYNC_EVERY = 100
"""Records on their way to disk at once. None of them is lost with the process, only with the machine."""


def describe_run(
    env: ToolEnv, policy: Policy | EpisodePolicy, version: PolicyVersion, plan: Plan
) -> dict[str, Json]:
    """The manifest: all that decides which episodes a run has, and what is in their records.

    How many run at once, how often one is tried and how long it may take are not in it: a run may go on with
    other numbers.

    Raises:
        UsageError: The environment's arguments are no JSON values, or it has no id.
    """
    if env.spec is None:
        raise UsageError("The environment has no id. Make it with `gymnasium.make`.")
    manifest = {
        "format": FORMAT,
        "env_id": env.spec.id,
        "kwargs": env.spec.kwargs,
        "schema_sha256": env.schema.sha256,
        "interface": env.domain.interface,
        "data_digest": env.domain.base.digest,
        "grader_digest": env.domain.grader_digest,
        "policy": policy.name,
        "policy_version": version.version,
        "policy_number": version.number,
        "setting": msgspec.to_builtins(policy.setting),
        "seed": plan.seed,
        "group_size": plan.group_size,
        "tasks": list(plan.tasks),
    }
    try:
        plain: dict[str, Json] = parse_json(canonical_json(manifest).decode())
    except rfc8785.CanonicalizationError as problem:
        raise UsageError(f"The manifest of a run is canonical JSON, which this is not: {problem}.") from None
    return {**plain, "digest": digest(plain)}


class RunFolder:
    """The folder of a run, held by one process at a time.

    Args:
        path: The folder; it and those it is in are made when they are missing.
        manifest: From `describe_run`.

    Raises:
        UsageError: It is the folder of another run (the message names what differs), or holds a store that no
            run made, or another process writes to it.
        DataFileError: It cannot be opened or written, or its manifest was changed.
    """

    def __init__(self, path: str | Path, manifest: dict[str, Json]) -> None:
        self.path = Path(path)
        self._file = self.path / _MANIFEST
        self._is_fresh(manifest)  # a folder of others is refused before anything in it is touched
        self._writer = TrajectoryWriter(self.path, sync_every=_SYNC_EVERY)
        self._log = FailureLog(self.path / _FAILURES)
        try:
            if self._is_fresh(manifest):
                self._write(manifest)
        except BaseException:
            self.close()
            raise

    def records(self, tasks: TaskSet) -> Iterator[tuple[int, Trajectory]]:
        """The records of the commands before this one, each after the index of its task.

        Raises:
            DataFileError: As `read_trajectories`.
            UnknownNameError: A task of theirs does not exist.
        """
        for record in read_trajectories(self.path):
            yield tasks.index(record.task.id), record

    def keep(self, record: Trajectory) -> None:
        """Append the record of an episode; it survives this process. Raises as `TrajectoryWriter` does."""
        self._writer.append(record)

    def tell(self, failure: Failure) -> None:
        """Append a failure; raises as `FailureLog` does."""
        self._log.append(failure)

    def close(self) -> None:
        """Bring all records to disk and let others write; raises as `TrajectoryWriter` does."""
        self._log.close()
        self._writer.close()

    def _is_fresh(self, manifest: dict[str, Json]) -> bool:
        """Whether no manifest is there yet. One that is there must be of the same run."""
        if self._file.exists():
            _compare(self.path, _read(self._file), manifest)
            return False
        if self.path.is_dir() and any(segment.stat().st_size for segment in list_segments(self.path)):
            raise UsageError(
                f"{self.path} holds records, but no {_MANIFEST}: no run made it. Choose another."
            )
        return True

    def _write(self, manifest: dict[str, Json]) -> None:
        """Write the manifest so that it is there as a whole or not at all."""
        draft = self._file.with_suffix(".json.new")
        try:
            with draft.open("wb") as file:
                file.write(canonical_json(manifest) + b"\n")
                file.flush()
                os.fsync(file.fileno())
            draft.replace(self._file)
            sync_folder(self.path)
        except OSError as problem:
            raise DataFileError(self._file, f"cannot be written: {problem.strerror}") from None


def _read(file: Path) -> dict[str, Any]:
    try:
        value = parse_json(file.read_text(encoding="utf-8"))
    except OSError as problem:
        raise DataFileError(file, f"cannot be read: {problem.strerror}") from None
    except ValueError as problem:
        raise DataFileError(file, f"no manifest of a run: {problem}") from None
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise DataFileError(file, f"expected a manifest of the format {FORMAT!r}")
    fields = {name: field for name, field in value.items() if name != "digest"}
    if value.get("digest") != digest(fields):
        raise DataFileError(file, "it was changed since it was written: its digest is another one")
    return value


def _compare(path: Path, found: dict[str, Json], wanted: dict[str, Json]) -> None:
    """Refuse the manifest of another run. A policy that was trained in between has a later version."""
    is_later = wanted["policy_number"] > found["policy_number"]
    passed = {"digest", *(("policy_version", "policy_number") if is_later else ())}
    there, here = (dict(_flatten(manifest)) for manifest in (found, wanted))
    details = "; ".join(
        f"{name}: {shown(there.get(name))} there, {shown(here.get(name))} here"
        for name in sorted({*there, *here} - passed)
        if (name in there, there.get(name)) != (name in here, here.get(name))
    )
    if details:
        raise UsageError(
            f"{path} is the folder of another run. Choose another folder. It differs in {details}."
        )


def _flatten(value: dict[str, Json], prefix: str = "") -> Iterator[tuple[str, Json]]:
    """The members of an object by their names, those of objects in it by `outer.inner`."""
    for name, member in value.items():
        if isinstance(member, dict):
            yield from _flatten(member, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", member
