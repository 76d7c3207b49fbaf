"""Which files an agent means: those below a folder, or those that match a pattern."""

import fnmatch
import re


def folder_of(path: str) -> str:
    """A folder as agents write it, without `./` before it or `/` after it; empty: the root."""
    return "" if path in (".", "./") else path.removeprefix("./").rstrip("/")


def is_below(path: str, folder: str) -> bool:
    """Whether a file lies in a folder or in one below it; the empty folder is the root."""
    return not folder or path.startswith(f"{folder}/")


def as_pattern(pattern: str) -> re.Pattern[str]:
    """A pattern for whole paths: `*` stands for any characters, `/` among them.

    `fnmatch` makes each `*` an atomic group, so that no pattern goes back from one into the one before: the
    time is bounded by the product of both lengths.
    """
    return re.compile(fnmatch.translate(pattern))
