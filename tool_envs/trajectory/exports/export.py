"""Exports records to a folder.

rows.jsonl       the rows, in the form of one system (of Parquet: records.parquet)
index.jsonl      line by line, which record each row is of, how it ended and what it earned
manifest.json    what the rows were made of, and the digests of the files
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from tool_envs.errors import MaskProofError, ReplayMismatchError, UsageError
from tool_envs.evaluation.slice_files import slice_of_task
from tool_envs.messages import Json
from tool_envs.trajectory.exports.folder import new_folder
from tool_envs.trajectory.exports.formats import Format, find_format
from tool_envs.trajectory.exports.manifest import MANIFEST, FormatRef, Manifest, Tally
from tool_envs.trajectory.exports.source import Contexts, Source, Tokenizer
from tool_envs.trajectory.record import Trajectory

INDEX = "index.jsonl"
"""The file that says which record a row is of."""


def export_records(
    records: Iterable[Trajectory],
    format_name: str,
    out: str | Path,
    *,
    tokenizer: Tokenizer | None = None,
    overrides: Mapping[str, Json] | None = None,
    allow_slice_tasks: bool = False,
) -> Manifest:
    """Write records in the form that a system takes, one by one, with an index and a manifest.

    Rows that are trained on are never made of an infrastructure failure; those that are trained on by their
    reward, never of a record without one. The manifest counts what is left out. The same records give the
    same bytes.

    Args:
        records: The records.
        format_name: One of `FORMATS`.
        out: A folder, missing or empty. It is there when all is written, and else as it was.
        tokenizer: For records without token ids, in a form of tokens.
        overrides: Arguments of environments that take the place of recorded ones: `path`, say. Environments
            are made again for the domain policy and the tools, which records do not hold.

        allow_slice_tasks: Export tasks of frozen slices too, which are for evaluation; the manifest names
            the slices.

    Returns:
        The manifest.

    Raises:
        UnknownNameError: There is no such format, or an environment of the records does not exist here.
        UsageError: There is no record or none has a row, `out` is not empty, the format takes no tokenizer,
            a record is of a task of a frozen slice, or cannot be put into this form; says which and why.
        MaskProofError: The mask of a record cannot be proven for the tokenizer's chat template.
        ReplayMismatchError: An environment has other tools, or another grader, than when a record was made.
        DataFileError: A file cannot be written.
        ValueError: A record holds what JSON cannot.
    """
    form = find_format(format_name)
    if tokenizer is not None and not form.of_tokens:
        raise UsageError(f"The format {format_name!r} holds no tokens of its own: leave the tokenizer out.")
    contexts, tally = Contexts(overrides or {}), Tally()
    with new_folder(Path(out)) as folder:
        with (folder / INDEX).open("w", encoding="ascii", newline="\n") as index:
            checked = _for_training(records, form, allow_slice_tasks)
            form.write(_rows(_sources(checked, contexts, tokenizer), form, tally, index), folder / form.file)
        _require_rows(tally)
        manifest = tally.conclude(
            FormatRef(format_name, form.version),
            (context.policy for context in contexts.made.values()),
            [folder / INDEX, folder / form.file],
        )
        text = json.dumps(manifest.to_json(), indent=2) + "\n"
        (folder / MANIFEST).write_text(text, encoding="ascii", newline="\n")
    return manifest


def _for_training(
    records: Iterable[Trajectory], form: Format, allow_slice_tasks: bool
) -> Iterator[Trajectory]:
    """The records, none of which is of a task that agents are evaluated on, unless that is let."""
    for number, record in enumerate(records, start=1):
        frozen = slice_of_task(record.task.digest)
        if frozen and form.use != "archive" and not allow_slice_tasks:
            raise UsageError(
                f"Record {number} is of the task {record.task.id!r:.80} of the slice {frozen}, which is for "
                "evaluation: an agent that is trained on it could not be evaluated there. "
                "`allow_slice_tasks` (--allow-slice-tasks) exports it, and the manifest says so."
            )
        yield record


def _sources(
    records: Iterable[Trajectory], contexts: Contexts, tokenizer: Tokenizer | None
) -> Iterator[Source]:
    samples: Counter[tuple[str, str]] = Counter()
    for record in records:
        task = (record.env.id, record.task.digest)
        yield Source(record, samples[task], contexts, tokenizer)
        samples[task] += 1


def _rows(sources: Iterable[Source], form: Format, tally: Tally, index: TextIO) -> Iterator[Any]:
    """The rows of all records; each is in the index before it is handed out."""
    for source in sources:
        reason = _reason_to_leave_out(source.record, form)
        with _named(source.record, tally.read + 1):
            rows = [] if reason else form.rows(source)
        if not rows:
            tally.leave_out(reason or "nothing_to_train_on")
            continue
        tally.add(source, len(rows))
        for part, row in enumerate(rows):
            entry = {**_index_entry(source), "part": part, "parts": len(rows)}
            index.write(json.dumps(entry, allow_nan=False, separators=(",", ":")) + "\n")
            yield row


def _reason_to_leave_out(record: Trajectory, form: Format) -> str | None:
    if form.use == "archive":
        return None
    if record.outcome.status == "infrastructure":
        return "infrastructure"
    verdict = record.filter_verdict
    if form.use == "imitation" and verdict is not None and not verdict.keep:
        return "dropped_by_filter"
    if form.use == "reinforcement" and record.outcome.reward is None:
        return "no_reward"
    return None


def _index_entry(source: Source) -> dict[str, Json]:
    record = source.record
    return {
        "trajectory": source.name,
        "env_id": record.env.id,
        "schema_sha256": record.schema.sha256,
        "task_id": record.task.id,
        "task_digest": record.task.digest,
        "sample": source.sample,
        "seed": record.seed,
        "agent": record.agent.name,
        "agent_version": record.agent.version,
        "status": record.outcome.status,
        "reward": record.outcome.reward,
    }


@contextmanager
def _named(record: Trajectory, number: int) -> Iterator[None]:
    """Name the record in errors about it."""
    try:
        yield
    except (UsageError, MaskProofError, ReplayMismatchError) as problem:
        kind = UsageError if isinstance(problem, UsageError) else type(problem)
        raise kind(f"record {number}, of the task {record.task.id!r:.80}: {problem}") from problem


def _require_rows(tally: Tally) -> None:
    if not tally.read:
        raise UsageError("There is no record to export.")
    if not tally.exported:
        raise UsageError(f"None of {tally.read} records has a row: {tally.describe_left_out()}.")
