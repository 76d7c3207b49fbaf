"""The files of a store: their names, the lines in them, and what is done to them on disk."""

import json
import os
import re
import zlib
from pathlib import Path
from typing import BinaryIO

from tool_envs.errors import DataFileError

_NAME = re.compile(r"segment-([0-9]{6})\.jsonl")
_BLOCK = 1 << 16  # bytes read at first when a file is searched from its end
_SUM = b',"crc32":"%08x"}'
_SUM_START, _SUM_SIZE = _SUM[:10], 20


def segment_path(folder: Path, number: int) -> Path:
    """The file of a segment; segments are numbered from 1.

    Raises:
        DataFileError: There is no such number: a store ends at 999,999 segments.
    """
    if number > 999_999:
        raise DataFileError(folder, "holds as many segments as there are numbers")
    return folder / f"segment-{number:06}.jsonl"


def list_segments(folder: Path) -> list[Path]:
    """The segments of a store, oldest first; other files in the folder are none of its own.

    Raises:
        DataFileError: One of them is missing.
        OSError: The folder cannot be read.
    """
    names = {path.name for path in folder.iterdir() if _NAME.fullmatch(path.name)}
    paths = [segment_path(folder, number) for number in range(1, len(names) + 1)]
    for path in paths:
        if path.name not in names:
            raise DataFileError(path, f"missing, though {folder} holds {max(names)}")
    return paths


def seal_line(line: str) -> bytes:
    """The line of a store for a record's: one member more, `crc32`, the CRC-32 of the record's own line."""
    body = line.encode()
    return body[:-1] + _SUM % zlib.crc32(body) + b"\n"


def unseal_line(line: bytes) -> bytes:
    """The record's own line; one without a sum, which no store wrote, is as it is.

    Raises:
        ValueError: The sum is another one than that of the record.
    """
    line = line.rstrip(b"\r\n")
    start = len(line) - _SUM_SIZE
    if not line.startswith(_SUM_START, max(start, 0)):
        return line
    body = line[:start] + b"}"
    if line[start:] != _SUM % zlib.crc32(body):
        raise ValueError("it was changed since it was written: its CRC-32 is another one")
    return body


def is_whole(line: bytes) -> bool:
    """Whether all of a record was written. Only the end of its line may be missing: no part of it is JSON."""
    if line.endswith(b"\n"):
        return True
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def mend_tail(file: BinaryIO) -> bool:
    """Cut off a torn last line, or end a whole one that lacks its line end; returns whether one was torn."""
    size = start = file.seek(0, os.SEEK_END)
    tail = b""
    while start and b"\n" not in tail:
        block = min(start, max(_BLOCK, len(tail)))  # twice as many each time: a torn line may be long
        start -= block
        file.seek(start)
        tail = file.read(block) + tail
    line = tail[tail.rfind(b"\n") + 1 :]
    if not line:
        return False
    if is_whole(line):
        file.write(b"\n")
        return False
    file.truncate(size - len(line))
    return True


def make_folder(folder: Path) -> None:
    """Make a folder and those that it is in, on disk before this returns.

    Raises:
        OSError: It cannot be made, or it is a file.
    """
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for path in missing:
        sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Bring the names in a folder to disk: a file whose name is not on disk is lost with the machine.

    Raises:
        OSError: The system reports a failure.
    """
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
