"""Stores of records: what is written is read, and what is torn, changed or missing is told."""

import errno
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from store_records import any_records, numbered, played

from tool_envs.errors import DataFileError, UsageError
from tool_envs.trajectory import TornLineWarning, TrajectoryWriter, clear_store, read_trajectories


def write(folder, records, **options):
    """Append records to a store."""
    with TrajectoryWriter(folder, **options) as writer:
        for record in records:
            writer.append(record)


def read(path):
    """All records."""
    return list(read_trajectories(path))


def segment(folder, number=1):
    return folder / f"segment-{number:06}.jsonl"


def names(folder):
    return sorted(path.name for path in folder.glob("segment-*"))


# --- What is written is read


def test_a_store_grows_and_is_read_in_order(tmp_path):
    write(tmp_path / "runs" / "x", played("silent"))
    write(tmp_path / "runs" / "x", played("gold"))

    assert read(tmp_path / "runs" / "x") == [*played("silent"), *played("gold")]


@settings(max_examples=40)
@given(st.lists(any_records(), max_size=4), st.integers(1, 20_000), st.integers(1, 5))
def test_any_record_comes_back_exactly(records, segment_bytes, sync_every):
    with tempfile.TemporaryDirectory() as folder:
        write(folder, records, segment_bytes=segment_bytes, sync_every=sync_every)

        assert [record.to_line() for record in read(folder)] == [record.to_line() for record in records]


@settings(max_examples=25)  # each brings much to disk
@given(st.integers(1, 12_000), st.lists(st.integers(0, 5_000), min_size=1, max_size=8))
def test_a_segment_is_full_at_its_size_and_holds_whole_records(segment_bytes, sizes):
    with tempfile.TemporaryDirectory() as folder:
        for number, size in enumerate(
            sizes
        ):  # each by a writer of its own: the store alone says where to go on
            write(folder, [numbered(number, size)], segment_bytes=segment_bytes)

        files = sorted(Path(folder).glob("segment-*"))
        counts = [len(read(file)) for file in files]
        assert [file.name for file in files] == [f"segment-{n + 1:06}.jsonl" for n in range(len(files))]
        assert sum(counts) == len(sizes)
        for file, count in zip(files[:-1], counts[:-1], strict=True):
            *_, last = file.read_bytes().splitlines(keepends=True)
            assert file.stat().st_size - len(last) < segment_bytes <= file.stat().st_size
            assert count > 0
        assert [record.seed for record in read(folder)] == list(range(len(sizes)))


@pytest.mark.parametrize(("more", "segments"), [(-1, 3), (0, 3), (1, 2)])
def test_the_next_segment_is_begun_when_the_last_is_full(tmp_path, three_lines, more, segments):
    write(
        tmp_path, [numbered(number) for number in range(3)], segment_bytes=three_lines.index(b"\n") + 1 + more
    )

    assert len(names(tmp_path)) == segments


def test_a_record_is_read_before_its_writer_ends(tmp_path):
    with TrajectoryWriter(tmp_path, sync_every=1000) as writer:
        writer.append(played()[0])

        assert read(tmp_path) == [played()[0]]


def test_an_empty_store_holds_nothing(tmp_path):
    write(tmp_path / "x", [])

    assert read(tmp_path / "x") == []


def test_files_of_others_are_left_alone(tmp_path):
    for name in ("notes.txt", "segment-1.jsonl", "segment-000001.jsonl.bak"):
        (tmp_path / name).write_text("mine")

    write(tmp_path, played())

    assert read(tmp_path) == list(played())
    assert (tmp_path / "segment-1.jsonl").read_text() == "mine"


def test_a_jsonl_file_of_others_is_read(tmp_path):
    (tmp_path / "x.jsonl").write_text("".join(record.to_line() + "\r\n" for record in played()))

    assert read(tmp_path / "x.jsonl") == list(played())


# --- What is acknowledged


@pytest.fixture
def synced(monkeypatch):
    """Sizes of the files whose content was brought to disk, in order."""
    sizes, real = [], os.fsync

    def fsync(number):
        real(number)
        sizes.append(os.fstat(number).st_size)

    monkeypatch.setattr(os, "fsync", fsync)
    return sizes


@pytest.mark.parametrize("sync_every", [1, 2, 3, 100])
def test_append_says_how_many_records_are_on_disk(tmp_path, synced, sync_every):
    with TrajectoryWriter(tmp_path, sync_every=sync_every) as writer:
        for count in range(1, 8):
            acknowledged = writer.append(played()[0])

            assert acknowledged == count - count % sync_every
            if acknowledged == count:
                assert synced[-1] == segment(tmp_path).stat().st_size
        writer.sync()
        assert synced[-1] == segment(tmp_path).stat().st_size
        writer.append(played()[0])
    assert synced[-1] == segment(tmp_path).stat().st_size


def test_a_segment_is_on_disk_before_the_next_is_begun(tmp_path, synced):
    with TrajectoryWriter(tmp_path, sync_every=100, segment_bytes=1) as writer:
        assert [writer.append(record) for record in played()] == [0, 1, 2, 3]

    sizes = [segment(tmp_path, number).stat().st_size for number in range(1, 5)]
    assert [size for size in synced if size in sizes] == sizes


@pytest.mark.parametrize("options", [{"sync_every": 0}, {"segment_bytes": 0}])
def test_a_number_below_one_is_refused(tmp_path, options):
    with pytest.raises(UsageError, match="above 0"):
        TrajectoryWriter(tmp_path, **options)


# --- What is torn


@pytest.fixture(scope="module")
def three_lines(tmp_path_factory):
    """The bytes of a segment of three records."""
    folder = tmp_path_factory.mktemp("three")
    write(folder, [numbered(number) for number in range(3)])
    return segment(folder).read_bytes()


@pytest.mark.filterwarnings("ignore::tool_envs.trajectory.TornLineWarning")
@given(st.data())
def test_any_prefix_of_a_segment_opens_to_the_whole_records_in_it(three_lines, data):
    size = data.draw(st.integers(0, len(three_lines)))
    # The end of the line is no part of a record.
    whole = (three_lines[:size] + b"\n" * (three_lines[size : size + 1] == b"\n")).count(b"\n")
    with tempfile.TemporaryDirectory() as folder:
        segment(Path(folder)).write_bytes(three_lines[:size])

        assert [record.seed for record in read(folder)] == list(range(whole))
        write(folder, [numbered(number) for number in range(whole, 3)])
        assert segment(Path(folder)).read_bytes() == three_lines


def test_a_torn_tail_is_reported_to_reader_and_writer(tmp_path, three_lines):
    segment(tmp_path).write_bytes(three_lines[:-9])

    with pytest.warns(TornLineWarning, match=r"segment-000001\.jsonl, line 3: torn"):
        assert len(read(tmp_path)) == 2
    with pytest.warns(TornLineWarning, match=r"segment-000001\.jsonl, last line, cut off"):
        TrajectoryWriter(tmp_path).close()
    assert len(read(tmp_path)) == 2


def test_a_torn_line_of_many_blocks_is_mended(tmp_path, three_lines):
    segment(tmp_path).write_bytes(three_lines + b'{"format_version": "' + b"x" * 1_000_000)

    with pytest.warns(TornLineWarning):
        TrajectoryWriter(tmp_path).close()

    assert segment(tmp_path).read_bytes() == three_lines


def test_a_segment_torn_before_the_last_one_is_damaged(tmp_path):
    write(tmp_path, played(), segment_bytes=1)
    os.truncate(segment(tmp_path, 2), segment(tmp_path, 2).stat().st_size - 9)

    with pytest.raises(DataFileError, match=r"segment-000002\.jsonl, line 1: torn"):
        read(tmp_path)


# --- What was changed or is missing


@given(st.data())
def test_a_bit_flipped_inside_of_a_line_is_told_with_file_and_line(three_lines, data):
    lines = three_lines.splitlines(keepends=True)
    number = data.draw(st.integers(0, 2))
    place, bit = data.draw(st.integers(0, len(lines[number]) - 2)), data.draw(st.integers(0, 7))
    line = bytearray(lines[number])
    line[place] ^= 1 << bit
    with tempfile.TemporaryDirectory() as folder:
        segment(Path(folder)).write_bytes(b"".join([*lines[:number], bytes(line), *lines[number + 1 :]]))
        records = read_trajectories(folder)

        for _ in range(number):
            next(records)
        with pytest.raises(DataFileError, match=rf"segment-000001\.jsonl, line {number + 1}: "):
            next(records)


def test_a_missing_segment_is_named_to_reader_and_writer(tmp_path):
    write(tmp_path, played(), segment_bytes=1)
    segment(tmp_path, 2).unlink()

    for use in (read, TrajectoryWriter):
        with pytest.raises(DataFileError, match=r"segment-000002\.jsonl: missing"):
            use(tmp_path)


def test_what_is_no_store_is_not_read(tmp_path):
    with pytest.raises(DataFileError, match=r"holds no segment-000001\.jsonl"):
        read(tmp_path)
    with pytest.raises(DataFileError, match=r"nowhere: cannot be read: No such file"):
        read(tmp_path / "nowhere")


def test_a_file_is_no_folder_to_write_in(tmp_path):
    (tmp_path / "x.jsonl").write_text("")

    for use in (TrajectoryWriter, clear_store):
        with pytest.raises(DataFileError, match=r"x\.jsonl: cannot be written: "):
            use(tmp_path / "x.jsonl")


# --- One writer


def test_a_second_writer_is_refused_with_who_holds_the_store(tmp_path):
    with (
        TrajectoryWriter(tmp_path),
        pytest.raises(UsageError, match=rf"process {os.getpid()} on \S+ is writing"),
    ):
        TrajectoryWriter(tmp_path)

    write(tmp_path, played())
    assert read(tmp_path) == list(played())


def test_who_is_refused_changes_nothing(tmp_path, three_lines):
    with TrajectoryWriter(tmp_path):
        segment(tmp_path).write_bytes(three_lines[:-9])

        with pytest.raises(UsageError, match="is writing"):
            TrajectoryWriter(tmp_path)
        with pytest.raises(UsageError, match="is writing"):
            clear_store(tmp_path)
        assert segment(tmp_path).read_bytes() == three_lines[:-9]


FORKS = """
import os, sys, time
from tool_envs.errors import UsageError
from tool_envs.trajectory import TrajectoryWriter
writer = TrajectoryWriter(sys.argv[1])
if os.fork() == 0:
    try:
        writer.sync()
    except UsageError:
        writer.close()
        os.write(1, f"{os.getpid()}\\n".encode())
time.sleep(60)
"""


def test_a_killed_writer_leaves_no_lock_though_its_child_lives(tmp_path):
    with subprocess.Popen([sys.executable, "-c", FORKS, tmp_path], stdout=subprocess.PIPE) as parent:
        child = int(parent.stdout.readline())
        try:
            with pytest.raises(UsageError, match=f"process {parent.pid} on"):
                TrajectoryWriter(tmp_path)
            parent.kill()
            parent.wait()
            os.kill(child, 0)  # it lives

            write(tmp_path, played())
        finally:
            os.kill(child, signal.SIGKILL)

    assert read(tmp_path) == list(played())


def test_a_closed_writer_writes_no_more(tmp_path):
    writer = TrajectoryWriter(tmp_path)
    writer.close()
    writer.close()

    for use in (writer.sync, lambda: writer.append(played()[0])):
        with pytest.raises(UsageError, match="the writer is closed"):
            use()


def test_what_is_no_json_is_refused_and_the_writer_goes_on(tmp_path):
    first, second = numbered(0), numbered(1)
    with TrajectoryWriter(tmp_path) as writer:
        writer.append(first)
        with pytest.raises(ValueError, match="JSON"):
            writer.append(msgspec.structs.replace(second, options={**second.options, "x": float("nan")}))
        writer.append(second)

    assert read(tmp_path) == [first, second]


# --- Writes that fail


@pytest.fixture
def file_limit():
    """Sets how long files may become; the system writes what fits, and then refuses."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_closes_the_writer_and_the_next_one_goes_on(tmp_path, three_lines, file_limit):
    ends = [match.end() for match in re.finditer(b"\n", three_lines)]
    writer = TrajectoryWriter(tmp_path)
    file_limit(ends[1] + 100)
    assert [writer.append(numbered(number)) for number in range(2)] == [1, 2]

    with pytest.raises(DataFileError, match=rf"segment-000001\.jsonl: .*{os.strerror(errno.EFBIG)}"):
        writer.append(numbered(2))

    with pytest.raises(UsageError, match="the writer is closed"):
        writer.append(numbered(2))
    assert segment(tmp_path).stat().st_size == ends[1] + 100
    file_limit(resource.getrlimit(resource.RLIMIT_FSIZE)[1])
    with pytest.warns(TornLineWarning):
        write(tmp_path, [numbered(2)])
    assert segment(tmp_path).read_bytes() == three_lines


def test_records_whose_fsync_fails_are_not_acknowledged(tmp_path, monkeypatch):
    writer = TrajectoryWriter(tmp_path, sync_every=2)
    assert writer.append(numbered(0)) == 0

    def fail(_):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises(DataFileError, match=os.strerror(errno.EIO)):
            writer.append(numbered(1))

    with pytest.raises(UsageError, match="the writer is closed"):
        writer.sync()
    TrajectoryWriter(tmp_path).close()


# --- Clearing


def test_a_cleared_store_is_empty_and_keeps_files_of_others(tmp_path):
    write(tmp_path, played(), segment_bytes=1)
    (tmp_path / "notes.txt").write_text("mine")

    clear_store(tmp_path)
    clear_store(tmp_path / "nowhere")

    assert names(tmp_path) == []
    assert (tmp_path / "notes.txt").read_text() == "mine"
    write(tmp_path, played("silent"))
    assert read(tmp_path) == list(played("silent"))
