"""Files that are written whole or not at all."""

import os
from pathlib import Path

from tool_envs.errors import DataFileError


def write_whole(text: str, path: str | Path) -> None:
    """Write a text of ASCII to a file; whoever reads it meanwhile finds the old file or the new one.

    Raises:
        DataFileError: It cannot be written.
    """
    path = Path(path)
    beside = path.with_name(f".{path.name}.part")
    try:
        beside.write_text(text, encoding="ascii")
        os.replace(beside, path)
    except OSError as problem:
        raise DataFileError(path, f"cannot be written: {problem.strerror}") from None
