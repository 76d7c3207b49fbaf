"""Records in Parquet files: a few columns to query, and the whole record. Needs the extra `[parquet]`."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tool_envs.errors import DataFileError
from tool_envs.json_values import parse_json
from tool_envs.trajectory.record import Trajectory
from tool_envs.trajectory.segments import sync_folder

COLUMNS = pa.schema(
    [
        pa.field("env_id", pa.string(), nullable=False),
        pa.field("schema_sha256", pa.string(), nullable=False),
        pa.field("task_id", pa.string(), nullable=False),
        pa.field("task_digest", pa.string(), nullable=False),
        pa.field("agent", pa.string(), nullable=False),
        pa.field("agent_version", pa.string(), nullable=False),
        pa.field("status", pa.string(), nullable=False),
        pa.field("reward", pa.float64()),
        pa.field("steps", pa.int64()),
        pa.field("record", pa.string(), nullable=False),
    ]
)
"""The columns. `record` is the record as one line of ASCII JSON, exactly; the others are copies to query:
of a text that is not Unicode they show what is not as `\\udXXX`, of steps beyond 64 bits nothing."""

_GROUP_ROWS, _GROUP_BYTES = 1024, 1 << 23  # a row group ends at the first of the two
_READ_ROWS = 64


def write_parquet(trajectories: Iterable[Trajectory], path: str | Path) -> int:
    """Write records to a Parquet file, which replaces an older one when it is whole and on disk.

    Memory is bounded by a row group: 1,024 records or 8 MiB of them and one record more.

    Returns:
        How many records.

    Raises:
        DataFileError: The file cannot be written.
        ValueError: A record holds what JSON cannot: NaN, or an integer of thousands of digits.
    """
    path = Path(path)
    part = path.with_name(f"{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with part.open("wb") as file:
                count = _write_groups(trajectories, file)
                file.flush()
                os.fsync(file.fileno())
            part.replace(path)
            sync_folder(path.parent)
        finally:
            part.unlink(missing_ok=True)
    except OSError as problem:
        raise DataFileError(path, f"cannot be written: {problem.strerror or problem}") from None
    return count


def read_parquet(path: str | Path) -> Iterator[Trajectory]:
    """Read the records of a Parquet file that `write_parquet` wrote, in order, a row group at a time.

    Raises:
        DataFileError: The file is missing, no Parquet file or damaged, has no column `record` of texts, or
            a row is no record of a known form; says which, counted from 1.
    """
    try:
        with pq.ParquetFile(path, pre_buffer=False, page_checksum_verification=True) as file:
            _check_column(file.schema_arrow, str(path))
            for number, text in enumerate(_read_texts(file), start=1):
                yield _parse_row(text, f"{path}, row {number}")
    except pa.ArrowException as problem:
        raise DataFileError(path, f"no whole Parquet file: {problem}") from None
    except OSError as problem:
        raise DataFileError(path, f"cannot be read: {problem.strerror or problem}") from None


def _read_texts(file: pq.ParquetFile) -> Iterator[str | None]:
    for group in range(file.num_row_groups):  # one by one: a batch would span several
        for batch in file.iter_batches(_READ_ROWS, [group], ["record"], use_threads=False):
            yield from batch.column(0).to_pylist()


def _write_groups(trajectories: Iterable[Trajectory], file: Any) -> int:  # noqa: ANN401 - what pyarrow takes
    count, size, rows = 0, 0, []
    queried = COLUMNS.names[:-1]
    with pq.ParquetWriter(
        file,
        COLUMNS,
        compression="zstd",
        use_dictionary=queried,
        write_statistics=queried,
        write_page_checksum=True,
    ) as writer:
        for trajectory in trajectories:
            row = _row(trajectory)
            rows.append(row)
            count += 1
            size += len(row["record"])
            if len(rows) == _GROUP_ROWS or size >= _GROUP_BYTES:
                writer.write_table(pa.Table.from_pylist(rows, COLUMNS))
                size, rows = 0, []
        if rows:
            writer.write_table(pa.Table.from_pylist(rows, COLUMNS))
    return count


def _row(trajectory: Trajectory) -> dict[str, Any]:
    reward, steps = trajectory.outcome.reward, trajectory.outcome.steps
    return {
        "env_id": _unicode(trajectory.env.id),
        "schema_sha256": trajectory.schema.sha256,
        "task_id": _unicode(trajectory.task.id),
        "task_digest": trajectory.task.digest,
        "agent": _unicode(trajectory.agent.name),
        "agent_version": _unicode(trajectory.agent.version),
        "status": trajectory.outcome.status,
        "reward": None if reward is None else float(reward),
        "steps": steps if steps.bit_length() < 64 else None,
        "record": trajectory.to_line(),
    }


def _unicode(text: str) -> str:
    return text.encode(errors="backslashreplace").decode()


def _check_column(schema: pa.Schema, path: str) -> None:
    if "record" not in schema.names or schema.field("record").type != pa.string():
        raise DataFileError(path, "has no column `record` of texts, so these are no records of ours")


def _parse_row(text: str | None, where: str) -> Trajectory:
    try:
        value = parse_json(text or "")
    except (ValueError, RecursionError) as problem:
        raise DataFileError(where, f"no record: {problem}") from None
    return Trajectory.from_json(value, where)
