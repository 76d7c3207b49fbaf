"""Applies patches to files that are in memory, as `git apply` does, and reads which files a patch changes.

A patch is text that a model wrote: what it names is checked before any of it is applied, which happens in a
folder of its own that holds nothing but the files that the patch changes.
"""

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from tool_envs.errors import InfrastructureError, UsageError
from tool_envs.repo.git import GitError, git
from tool_envs.repo.paths import PathError, check_path
from tool_envs.repo.repositories import EXECUTABLE, PLAIN

_HUNK = re.compile(r"@@ -\d{1,9}(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@", re.ASCII)
_EXTENDED = re.compile(
    r"((?:old|new|new file|deleted file) mode|(?:rename|copy) (?:from|to)|index [0-9a-f]+\.\.[0-9a-f]+) (.*)"
)
_MODES = re.compile(r".* mode|index .*")
_REGULAR = (f"{PLAIN:o}", f"{EXECUTABLE:o}")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
_ESCAPED = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}
_FUZZY = ("--unified", "--batch", "--forward", "--fuzz=5", "--strip=1", "--no-backup-if-mismatch")


class PatchError(UsageError):
    """Raised when a patch cannot be applied, or asks for what no patch may do here; says what and why."""


class FileChange(NamedTuple):
    """What a patch does to one file.

    Attributes:
        old: Its path before, or that of the file it is a copy of; None: it is new.
        new: Its path after; None: it is deleted.
        mode: The mode that the patch gives it, `PLAIN` or `EXECUTABLE`; None: that of `old`, or `PLAIN`.
    """

    old: str | None
    new: str | None
    mode: int | None


def apply_patch(files: Mapping[str, bytes], patch: str, *, fuzzy: bool = False) -> dict[str, bytes | None]:
    """What a patch makes of files: all of it, or an error.

    Args:
        files: Path -> content before; at least of all `touched_paths` that there are.
        patch: A unified diff with paths below a first part, such as `a/` and `b/`, as git writes it. An empty
            one changes nothing. Bytes that are no UTF-8 stand in it as surrogates (PEP 383).
        fuzzy: Where `git apply` refuses it, let GNU patch try (`--fuzz=5`), as SWE-bench does for predictions
            (`GIT_APPLY_CMDS` in its `run_evaluation.py`). The two tries in between are left out: `--reject`
            never applies what plain `git apply` does not, and `--3way` needs versions of a file that are not
            those at the base commit.

    Returns:
        Path -> content after of all `touched_paths`, sorted; None: there is no such file after it.

    Raises:
        PatchError: It does not fit the files, is damaged, or may not be applied: see `read_changes`.
        GitMissingError: There is no git.
        InfrastructureError: It needs GNU patch, and there is none.
    """
    touched = touched_paths(patch)
    if not patch.strip():
        return {}
    with tempfile.TemporaryDirectory(prefix="tool-envs-") as scratch:
        folder = Path(scratch)
        for path in touched:
            if path in files:
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_bytes(files[path])
        _apply(folder, patch.encode(errors="surrogateescape"), fuzzy)
        after = _read_files(folder)
    if strays := sorted(after.keys() - set(touched)):
        raise PatchError(f"The patch changes {strays[0]!r} in a way that cannot be read.")
    return {path: after.get(path) for path in touched}


def touched_paths(patch: str) -> list[str]:
    """The paths of all files that a patch changes, moves or copies, before and after, sorted.

    Raises:
        PatchError: As of `read_changes`.
    """
    return sorted({path for change in read_changes(patch) for path in (change.old, change.new) if path})


def read_changes(patch: str) -> list[FileChange]:
    """What a patch does to each file, in its order, read from what stands around the hunks.

    Raises:
        PatchError: A path leads outside or into git's own files, or has no first part to take away; a file is
            no regular one (a symbolic link, a submodule); or the text is no Unicode.
    """
    try:
        patch.encode(errors="surrogateescape")
    except UnicodeEncodeError:
        raise PatchError("The patch is not valid Unicode text.") from None
    return [_read_change(header) for header in _headers(patch)]


def _apply(folder: Path, patch: bytes, fuzzy: bool) -> None:
    try:
        git("apply", "--whitespace=nowarn", "-", folder=folder, stdin=patch)
    except GitError as refusal:
        if not fuzzy:
            raise PatchError(f"The patch does not apply: {refusal.problem}") from None
        _apply_fuzzily(folder, patch)


def _apply_fuzzily(folder: Path, patch: bytes) -> None:
    environment = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TMPDIR": str(folder)}
    try:
        done = subprocess.run(  # noqa: S603 - `--unified` takes no scripts of ed, which could run commands
            ["patch", *_FUZZY],  # noqa: S607 - wherever the user has it
            cwd=folder,
            env=environment,
            input=patch,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
    except FileNotFoundError:
        raise InfrastructureError("patch was not found: install it (Debian package patch).") from None
    if done.returncode:
        raise PatchError(f"The patch does not apply: {done.stdout.decode(errors='replace').strip()}")


def _read_files(folder: Path) -> dict[str, bytes]:
    files = {}
    for place in folder.rglob("*"):
        if place.is_symlink():
            raise PatchError(f"The patch makes a symbolic link, {place.relative_to(folder).as_posix()!r}.")
        if place.is_file():
            files[place.relative_to(folder).as_posix()] = place.read_bytes()
    return files


class _Header:
    """What stands before the hunks of one file.

    Attributes:
        git: What follows `diff --git`; None: there is no such line.
        names: What follows `---` and `+++`; None: there are no such lines.
        extended: The lines in between, of which `git-diff(1)` tells.
        is_whole: What follows is about another file, or content.
    """

    def __init__(self, git: str | None) -> None:
        self.git = git
        self.names: tuple[str, str] | None = None
        self.extended: list[str] = []
        self.is_whole = False


def _headers(patch: str) -> list[_Header]:
    """The headers of all files; text before the first is skipped, such as that of a mail."""
    headers: list[_Header] = []
    for line, following in pairwise([*_lines_around_hunks(patch), ""]):
        if line.startswith("diff --git "):
            headers.append(_Header(line.removeprefix("diff --git ")))
        elif line.startswith("--- ") and following.startswith("+++ "):
            if not headers or headers[-1].is_whole:
                headers.append(_Header(None))
            headers[-1].names, headers[-1].is_whole = (line[4:], following[4:]), True
        elif headers and not headers[-1].is_whole:
            headers[-1].extended.append(line)
            headers[-1].is_whole = line.startswith(("Binary files ", "GIT binary patch"))
    return headers


def _lines_around_hunks(patch: str) -> Iterator[str]:
    old = new = 0  # lines of the hunk that are still to come
    for line in patch.split("\n"):
        kind = line[:1] or " "
        if (old > 0 or new > 0) and kind in " -+\\":
            old -= kind in " -"
            new -= kind in " +"
        elif hunk := _HUNK.match(line):
            old, new = (int(count or 1) for count in hunk.groups())
        else:
            old = new = 0
            yield line


def _read_change(header: _Header) -> FileChange:
    said = {match[1]: match[2] for match in map(_EXTENDED.fullmatch, header.extended) if match}
    for name, value in said.items():
        if _MODES.fullmatch(name) and value not in _REGULAR:
            raise PatchError(f"The patch may not be applied: `{name} {value}` is of no regular file.")
    old, new = _paths(header, said)
    mode = said.get("new file mode") or said.get("new mode")
    return FileChange(
        None if "new file mode" in said else old,
        None if "deleted file mode" in said else new,
        int(mode, 8) if mode else None,
    )


def _paths(header: _Header, said: Mapping[str, str]) -> tuple[str | None, str | None]:
    """The paths before and after; None: `/dev/null`."""
    if header.names:
        old, new = (_below_first_part(_unquoted(name)) for name in header.names)
        return old, new
    for what in ("rename", "copy"):
        if {f"{what} from", f"{what} to"} <= said.keys():
            return _checked(_unquoted(said[f"{what} from"])), _checked(_unquoted(said[f"{what} to"]))
    path = _path_of_both(header.git or "")
    return path, path


def _path_of_both(names: str) -> str | None:
    """The path in what follows `diff --git` where both are the same, whatever spaces are in them."""
    half = len(names) // 2
    old, new = (_below_first_part(_unquoted(name)) for name in (names[:half], names[half + 1 :]))
    if old != new:
        raise PatchError(f"The patch cannot be read: `diff --git {names}` and nothing else names its file.")
    return old


def _unquoted(name: str) -> str:
    """A name as git writes it: as it is up to a tab, or in quotes with escapes as in C."""
    quoted = _QUOTED.match(name)
    if not quoted:
        return name.partition("\t")[0]
    content = quoted[1].encode(errors="surrogateescape")
    return _ESCAPE.sub(_unescaped, content).decode(errors="surrogateescape")


def _unescaped(escape: re.Match[bytes]) -> bytes:
    what = escape[1]
    return bytes([int(what, 8) & 255]) if what.isdigit() else _ESCAPED.get(what, what)


def _below_first_part(name: str) -> str | None:
    if name == "/dev/null":
        return None
    if name.startswith("/"):
        raise PatchError(f"The patch may not be applied: the path {name!r} is absolute.")
    _, part, path = name.partition("/")
    if not part:
        raise PatchError(f"The patch cannot be read: expected a path below `a/` or `b/`, found {name!r}.")
    return _checked(path)


def _checked(path: str) -> str:
    try:
        check_path(path)
    except PathError as problem:
        raise PatchError(f"The patch may not be applied. {problem}") from None
    return path
