"""Reads rows of Parquet files. Needs the extra `[parquet]`."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tool_envs.errors import DataFileError
from tool_envs.messages import Json


def read_parquet_rows(path: Path, columns: Sequence[str]) -> Iterator[dict[str, Json]]:
    """Read some columns of a Parquet file, row by row.

    Args:
        path: The file.
        columns: The columns to read; a row has those of them that the file has.

    Raises:
        DataFileError: It cannot be read, or is no whole Parquet file.
    """
    try:
        with pq.ParquetFile(path) as file:
            present = [name for name in columns if name in file.schema_arrow.names]
            for batch in file.iter_batches(columns=present):
                yield from batch.to_pylist()
    except pa.ArrowException as problem:
        raise DataFileError(path, f"no whole Parquet file: {problem}") from None
    except OSError as problem:
        raise DataFileError(path, f"cannot be read: {problem.strerror or problem}") from None
