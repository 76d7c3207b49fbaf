"""Tools that change files, and the one that shows what was changed."""

import itertools
from collections.abc import Iterator

from tool_envs.repo.paths import PathError
from tool_envs.repo.texts import (
    MAX_OUTPUT,
    MAX_TEXT,
    bad_path,
    cut,
    missing_file,
    numbered,
    read_text,
    split_lines,
)
from tool_envs.repo.workspace import Workspace
from tool_envs.toolkit import PlainText, Refusal

_MOST_PLACES = 10  # line numbers in a refusal
_AROUND = 3  # lines around an edit that are shown
_MOST_EDITED = 60  # lines of an edit that are shown
_MOST_COMPARED = 40  # lines of an old text that is looked for with other spaces


def edit(workspace: Workspace, path: str, old: str, new: str) -> PlainText | Refusal:
    """Replace a text that stands at exactly one place of a file."""
    text = read_text(workspace, path)
    if isinstance(text, Refusal):
        return text
    if old == new:
        return Refusal("nothing_to_change", "The old text and the new one are the same.")
    places = list(itertools.islice(occurrences(text, old), _MOST_PLACES + 1))
    if not places:
        return Refusal("text_not_found", f"{path} does not hold the old text{_near_miss(text, old)}.")
    if len(places) > 1:
        return _ambiguous(path, text, places)
    edited = text[: places[0]] + new + text[places[0] + len(old) :]
    if problem := _write(workspace, path, edited):
        return problem
    return PlainText(f"Edited {path}.\n{_around(edited, places[0], len(new))}".rstrip())


def create_file(workspace: Workspace, path: str, content: str) -> PlainText | Refusal:
    """Create a text file."""
    if workspace.file(path) is not None:
        return Refusal("file_exists", f"{path} exists already: edit it, or delete it before.")
    if problem := _write(workspace, path, content):
        return problem
    return PlainText(f"Created {path}, {len(split_lines(content))} lines.")


def delete_file(workspace: Workspace, path: str) -> PlainText | Refusal:
    """Delete a file."""
    if workspace.file(path) is None:
        return missing_file(workspace, path)
    workspace.delete(path)
    return PlainText(f"Deleted {path}.")


def diff(workspace: Workspace) -> PlainText:
    """All changes as a unified diff."""
    return PlainText(cut(workspace.diff(), MAX_OUTPUT) or "Nothing was changed.")


def occurrences(text: str, part: str) -> Iterator[int]:
    """Where a part begins in a text, in order, places that overlap among them."""
    place = text.find(part)
    while place >= 0:
        yield place
        place = text.find(part, place + 1)


def _ambiguous(path: str, text: str, places: list[int]) -> Refusal:
    lines = ", ".join(str(_line_at(text, place)) for place in places[:_MOST_PLACES])
    often = f"{len(places)} times" if len(places) <= _MOST_PLACES else f"more than {_MOST_PLACES} times"
    return Refusal(
        "text_not_unique", f"{path} holds the old text {often}, at the lines {lines}: add lines around it."
    )


def _write(workspace: Workspace, path: str, text: str) -> Refusal | None:
    content = text.encode()
    if len(content) > MAX_TEXT:
        return Refusal(
            "too_large", f"{path} would have {len(content):,} bytes; texts have at most {MAX_TEXT:,}."
        )
    if b"\0" in content:
        return Refusal("not_a_text", "Texts hold no NUL character.")
    try:
        workspace.write(path, content)
    except PathError as error:
        return bad_path(error)
    return None


def _near_miss(text: str, old: str) -> str:
    """Where the old text stands but for the spaces at the ends of its lines, if it does."""
    wanted = [line.strip() for line in old.strip().split("\n")]
    if wanted == [""] or len(wanted) > _MOST_COMPARED:
        return ""
    lines = [line.strip() for line in text.split("\n")]
    for place in range(len(lines) - len(wanted) + 1):
        if lines[place : place + len(wanted)] == wanted:
            return f"; at line {place + 1} it stands with other spaces around its lines"
    return ""


def _line_at(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1


def _around(text: str, place: int, length: int) -> str:
    """The lines of an edit and some around it."""
    first = max(1, _line_at(text, place) - _AROUND)
    last = min(_line_at(text, place + length) + _AROUND, first + _MOST_EDITED)
    return numbered(split_lines(text)[first - 1 : last], first)
