"""Parquet files of records: exact, in bounded memory, and with columns that say what the records say."""

import os
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from store_records import any_records, numbered, played

from tool_envs.errors import DataFileError
from tool_envs.trajectory import Trajectory
from tool_envs.trajectory.parquet import COLUMNS, read_parquet, write_parquet


@settings(max_examples=30)
@given(st.lists(any_records(), max_size=4))
def test_any_record_comes_back_exactly(records):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.parquet"

        assert write_parquet(iter(records), path) == len(records)
        assert [record.to_line() for record in read_parquet(path)] == [record.to_line() for record in records]
        assert list(Path(folder).iterdir()) == [path]


def test_the_columns_say_what_the_records_say(tmp_path):
    records = [*played("gold"), *played("random")]
    write_parquet(records, tmp_path / "x.parquet")

    table = pq.read_table(tmp_path / "x.parquet")

    assert table.schema.equals(COLUMNS)
    for row, record in zip(table.to_pylist(), records, strict=True):
        assert row == {
            "env_id": record.env.id,
            "schema_sha256": record.schema.sha256,
            "task_id": record.task.id,
            "task_digest": record.task.digest,
            "agent": record.agent.name,
            "agent_version": record.agent.version,
            "status": record.outcome.status,
            "reward": record.outcome.reward,
            "steps": record.outcome.steps,
            "record": record.to_line(),
        }


def test_what_a_column_cannot_hold_is_in_the_record(tmp_path):
    value = played()[0].to_json()
    value["task"]["id"], value["outcome"]["steps"] = "a\ud800b", 2**63
    value["outcome"]["reward"] = None
    write_parquet([Trajectory.from_json(value)], tmp_path / "x.parquet")

    (row,) = pq.read_table(tmp_path / "x.parquet").to_pylist()

    assert (row["task_id"], row["steps"], row["reward"]) == ("a\\ud800b", None, None)
    assert [record.to_json() for record in read_parquet(tmp_path / "x.parquet")] == [value]


def test_rows_are_found_by_their_columns(tmp_path):
    records = [*played("gold"), *played("random")]
    write_parquet(records, tmp_path / "x.parquet")

    solved = pq.read_table(tmp_path / "x.parquet", filters=[("reward", "=", 1.0), ("agent", "=", "gold")])

    assert solved.num_rows == len(played("gold"))


def test_memory_does_not_grow_with_the_number_of_records(tmp_path):
    path, before, used = tmp_path / "x.parquet", pa.total_allocated_bytes(), []

    def records():
        for number in range(120):
            used.append(pa.total_allocated_bytes() - before)
            yield numbered(number, 500_000)

    write_parquet(records(), path)
    for number, record in enumerate(read_parquet(path)):
        assert record.seed == number
        used.append(pa.total_allocated_bytes() - before)

    assert number == 119
    assert pq.ParquetFile(path).metadata.num_row_groups > 5
    assert max(used) < 3 * (1 << 23)  # of 60 MB; a row group holds 8 MiB


def test_a_writer_that_fails_leaves_the_older_file(tmp_path):
    path = tmp_path / "x.parquet"
    write_parquet(played(), path)

    def records():
        yield numbered(1)
        raise KeyError("stop")

    with pytest.raises(KeyError):
        write_parquet(records(), path)
    assert list(read_parquet(path)) == list(played())
    assert list(tmp_path.iterdir()) == [path]


# --- What is no such file


def write_column(path, name, values):
    """A Parquet file of one column."""
    pq.write_table(pa.table({name: values}), path)


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda _: None, "cannot be read"),
        (lambda path: path.mkdir(), "cannot be read"),
        (lambda path: path.write_bytes(b""), "no whole Parquet file"),
        (lambda path: path.write_bytes(b"PAR1" * 9), "no whole Parquet file"),
        (lambda path: write_column(path, "text", ["x"]), "has no column `record` of texts"),
        (lambda path: write_column(path, "record", [1]), "has no column `record` of texts"),
        (lambda path: write_column(path, "record", [played()[0].to_line(), "{"]), r"row 2: no record"),
        (lambda path: write_column(path, "record", [played()[0].to_line(), None]), r"row 2: no record"),
        (lambda path: write_column(path, "record", ["[]"]), r"row 1: expected format_version"),
    ],
)
def test_what_holds_no_records_is_told(tmp_path, make, problem):
    path = tmp_path / "x.parquet"
    make(path)

    with pytest.raises(DataFileError, match=rf"x\.parquet.*{problem}"):
        list(read_parquet(path))


@pytest.mark.parametrize("place", [0.2, 0.5, 1.0])
def test_a_bit_flipped_in_the_records_is_told(tmp_path, place):
    path = tmp_path / "x.parquet"
    write_parquet([numbered(number, 1000) for number in range(50)], path)
    column = pq.ParquetFile(path).metadata.row_group(0).column(COLUMNS.names.index("record"))
    data = bytearray(path.read_bytes())
    data[column.data_page_offset + int(place * (column.total_compressed_size - 1))] ^= 16
    path.write_bytes(data)

    with pytest.raises(DataFileError, match=r"x\.parquet: .*page integrity"):
        list(read_parquet(path))


@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_a_file_cut_short_is_told(tmp_path, share):
    path = tmp_path / "x.parquet"
    write_parquet(played(), path)
    os.truncate(path, int(path.stat().st_size * share))

    with pytest.raises(DataFileError, match=r"x\.parquet: no whole Parquet file"):
        list(read_parquet(path))


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "x").write_text("")

    with pytest.raises(DataFileError, match="cannot be written"):
        write_parquet(played(), tmp_path / "x" / "y.parquet")
    assert os.listdir(tmp_path) == ["x"]
