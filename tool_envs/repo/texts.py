"""Files as an agent sees them: texts, in bounded pieces."""

from tool_envs.repo.paths import PathError, check_path
from tool_envs.repo.repositories import LINK
from tool_envs.repo.selection import is_below
from tool_envs.repo.workspace import Workspace
from tool_envs.toolkit import Refusal

MAX_TEXT = 1_000_000
"""Bytes of a file that is read or written as a text."""
MAX_LINE = 2_000
"""Characters of a line that are shown."""
MAX_OUTPUT = 30_000
"""Characters of an answer."""


def read_text(workspace: Workspace, path: str) -> str | Refusal:
    """The text of a file, or why it has none that can be shown or edited."""
    file = workspace.file(path)
    content = workspace.read(path)
    if file is None or content is None:
        return missing_file(workspace, path)
    if file.mode == LINK:
        return Refusal("not_a_text", f"{path} is a symbolic link.")
    if len(content) > MAX_TEXT:
        return Refusal("too_large", f"{path} has {len(content):,} bytes; texts have at most {MAX_TEXT:,}.")
    text = as_text(content)
    return Refusal("not_a_text", f"{path} is no text in UTF-8.") if text is None else text


def as_text(content: bytes) -> str | None:
    """The text that bytes are in UTF-8; None: they are none, or hold a NUL, as binary files do."""
    if b"\0" in content:
        return None
    try:
        return content.decode()
    except UnicodeDecodeError:
        return None


def missing_file(workspace: Workspace, path: str) -> Refusal:
    """What is said of a file that is not there."""
    try:
        check_path(path)
    except PathError as error:
        return bad_path(error)
    paths = workspace.paths()
    if any(is_below(other, path) for other in paths):
        return Refusal("is_a_folder", f"{path} is a folder; list_files shows what is in it.")
    name = path.rpartition("/")[2]
    alike = [other for other in paths if other.rpartition("/")[2] == name][:5]
    hint = f" Files of that name: {', '.join(alike)}." if alike else ""
    return Refusal("no_such_file", f"There is no file {path}.{hint}")


def bad_path(error: PathError) -> Refusal:
    """What is said of a path that no file can have."""
    return Refusal("bad_path", f"The path {error.path[:200]!r} {error.problem}.")


def split_lines(text: str) -> list[str]:
    """The lines of a text, without their ends; only a line feed ends one."""
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def numbered(lines: list[str], first: int) -> str:
    """Lines after their numbers, as many as an answer may hold, each cut if it is too long."""
    shown: list[str] = []
    size = 0
    for number, line in enumerate(lines, first):
        shown.append(f"{number:>6}\t{cut(line, MAX_LINE)}")
        size += len(shown[-1]) + 1
        if size > MAX_OUTPUT and len(shown) > 1:
            shown.pop()
            break
    return "\n".join(shown)


def cut(text: str, limit: int) -> str:
    """A text of at most `limit` characters, and in its middle a mark that says how many are missing."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}[... {len(text) - 2 * half} characters ...]{text[len(text) - half :]}"
