"""Solvers that bring the files of an episode to a wanted state, one call at a time, and hand them in."""

import difflib
import itertools
from collections.abc import Callable, Mapping
from typing import TypeAlias, cast

from tool_envs.domain import Solver
from tool_envs.episode import Episode
from tool_envs.messages import Json
from tool_envs.repo.editing import occurrences
from tool_envs.repo.texts import as_text
from tool_envs.repo.workspace import Workspace

Wanted: TypeAlias = Callable[[Episode], Mapping[str, bytes | None]]
"""What files are to hold at the end: path -> content; None: there is to be no such file. All others stay."""


def solver(wanted: Wanted) -> Solver:
    """A solver that decides anew at each step by what still differs, and so goes on from any state.

    What is no text in UTF-8 cannot be written by tools: such a file is left as it is.
    """

    def solve(episode: Episode) -> Json:
        workspace = cast("Workspace", episode.database)
        # What is to go goes first: it may be a folder where a file is wanted, or the other way round.
        for path, content in sorted(wanted(episode).items(), key=lambda file: (file[1] is not None, file[0])):
            call = _next_call(path, workspace.read(path), content)
            if call is not None:
                return call
        return {"name": "submit", "arguments": {}}

    return solve


def _next_call(path: str, now: bytes | None, wanted: bytes | None) -> Json:
    """A call that brings a file nearer to what is wanted; None: it is there, or no call can do it."""
    if now == wanted:
        return None
    if wanted is None:
        return _call("delete_file", path)
    text = as_text(wanted)
    if text is None:
        return None
    if now is None:
        return _call("create_file", path, content=text)
    edit = next_edit(as_text(now) or "", text)
    return _call("delete_file", path) if edit is None else _call("edit", path, old=edit[0], new=edit[1])


def next_edit(now: str, wanted: str) -> tuple[str, str] | None:
    """The old and the new text of an edit that makes the first difference vanish.

    The old text stands at one place only: lines around the difference are added until it does.

    Returns:
        Both; None: there is nothing in the text that could be replaced.
    """
    lines, others = now.splitlines(keepends=True), wanted.splitlines(keepends=True)
    codes = difflib.SequenceMatcher(None, lines, others, autojunk=False).get_opcodes()
    changed = [code[1:] for code in codes if code[0] != "equal"]
    if not lines or not changed:
        return None
    start, end, new_start, new_end = changed[0]
    for around in range(len(lines) + 1):
        first, last = max(0, start - around), end + around
        old = "".join(lines[first:last])
        if old and len(list(itertools.islice(occurrences(now, old), 2))) == 1:
            new = [*lines[first:start], *others[new_start:new_end], *lines[end:last]]
            return old, "".join(new)
    return None


def _call(name: str, path: str, **arguments: str) -> Json:
    return {"name": name, "arguments": {"path": path, **arguments}}
