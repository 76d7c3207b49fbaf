"""Tools that look at files: they change nothing."""

import itertools
from collections.abc import Iterator

import re2

from tool_envs.repo.repositories import LINK
from tool_envs.repo.selection import as_pattern, folder_of, is_below
from tool_envs.repo.texts import (
    MAX_OUTPUT,
    MAX_TEXT,
    as_text,
    cut,
    numbered,
    read_text,
    split_lines,
)
from tool_envs.repo.workspace import Workspace
from tool_envs.toolkit import PlainText, Refusal

MOST_FILES = 500
"""Paths that are listed at once."""
MOST_LINES = 400
"""Lines that are read at once."""
MOST_HITS = 100
"""Lines that a search shows."""
MAX_SEARCHED = 64_000_000
"""Bytes that one search looks through: the same on every machine, which a limit on time would not be."""

_HIT = 300  # characters of a line that a search shows


def list_files(workspace: Workspace, folder: str = "", pattern: str = "*") -> PlainText | Refusal:
    """The paths below a folder that match a pattern."""
    folder = folder_of(folder)
    below = [path for path in workspace.paths() if is_below(path, folder)]
    if not below and folder:
        return Refusal("no_such_folder", f"There is no folder {folder[:200]!r} with files in it.")
    matches = as_pattern(pattern).match
    found = [path for path in below if matches(path)]
    more = [f"... and {len(found) - MOST_FILES} more: name a folder or a pattern"] * (len(found) > MOST_FILES)
    return PlainText("\n".join([*found[:MOST_FILES], *more]) or "No file there matches.")


def read_file(
    workspace: Workspace, path: str, first_line: int = 1, last_line: int | None = None
) -> PlainText | Refusal:
    """Lines of a text file with their numbers."""
    text = read_text(workspace, path)
    if isinstance(text, Refusal):
        return text
    lines = split_lines(text)
    if not lines:
        return PlainText(f"{path} is empty.")
    last = min(len(lines), first_line + MOST_LINES - 1, last_line or len(lines))
    if first_line > last:
        return Refusal("no_such_lines", f"{path} has the lines 1 to {len(lines)}.")
    shown = numbered(lines[first_line - 1 : last], first_line)
    last = first_line + shown.count("\n")
    end = "" if text.endswith("\n") or last < len(lines) else ", without a line feed at its end"
    return PlainText(f"{path}, lines {first_line} to {last} of {len(lines)}{end}\n{shown}")


def search(
    workspace: Workspace, query: str, regex: bool = False, ignore_case: bool = False, path: str = ""
) -> PlainText | Refusal:
    """The lines that hold a text, or match a regular expression of RE2, in linear time."""
    try:
        pattern = re2.compile(query, _options(literal=not regex, ignore_case=ignore_case))
    except re2.error as problem:
        return Refusal("bad_pattern", f"The query is no regular expression of RE2: {_said(problem)}.")
    paths = _searched(workspace, path)
    if not paths:
        return Refusal("no_such_file", f"Nothing matches the path {path[:200]!r}.")
    reader = _Reader(workspace, paths)
    hits = list(itertools.islice(_hits(reader, pattern), MOST_HITS + 1))
    if reader.is_exhausted:
        return Refusal(
            "too_much_to_search", f"That is more than {MAX_SEARCHED:,} bytes to look through: give a path."
        )
    more = ["... and more: give a path, or a longer query"] * (len(hits) > MOST_HITS)
    return PlainText(cut("\n".join([*hits[:MOST_HITS], *more]) or "No line holds that.", MAX_OUTPUT))


class _Reader:
    """Goes through the texts among files until too many bytes were looked through."""

    def __init__(self, workspace: Workspace, paths: list[str]) -> None:
        self._workspace, self._paths = workspace, paths
        self.is_exhausted = False

    def __iter__(self) -> Iterator[tuple[str, str]]:
        size = 0
        for path in self._paths:
            file, content = self._workspace.file(path), self._workspace.read(path) or b""
            if len(content) > MAX_TEXT or file is None or file.mode == LINK:
                continue
            size += len(content)
            if size > MAX_SEARCHED:
                self.is_exhausted = True
                return
            if (text := as_text(content)) is not None:
                yield path, text


def _hits(texts: _Reader, pattern: "re2._Regexp[str]") -> Iterator[str]:
    for path, text in texts:
        for number, line in enumerate(split_lines(text), 1):
            if pattern.search(line):
                yield f"{path}:{number}: {cut(line, _HIT)}"


def _searched(workspace: Workspace, path: str) -> list[str]:
    """The files that a search's path means."""
    folder = folder_of(path)
    paths = workspace.paths()
    if not folder:
        return paths
    matches = as_pattern(folder).match
    return [other for other in paths if other == folder or is_below(other, folder) or matches(other)]


def _options(*, literal: bool, ignore_case: bool) -> "re2.Options":
    options = re2.Options()
    options.literal = literal
    options.case_sensitive = not ignore_case
    options.log_errors = False  # else it writes to stderr
    return options


def _said(problem: Exception) -> str:
    said = problem.args[0] if problem.args else ""
    return said.decode(errors="replace") if isinstance(said, bytes) else str(said)
