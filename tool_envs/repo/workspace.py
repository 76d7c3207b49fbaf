"""The files of one episode: those of a commit, and what the episode changed.

Nothing of it is on a disk. A folder with these files is made where a command is to run, and thrown away.
"""

import os
import re
import shutil
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from tool_envs.canonical import digest
from tool_envs.database import Database
from tool_envs.repo.git import git
from tool_envs.repo.paths import PathError, check_path
from tool_envs.repo.repositories import EXECUTABLE, LINK, PLAIN, File, Repository, blob_id
from tool_envs.repo.repository_cache import link_objects

_FILES = "files"
_GONE = File(mode=0, blob="")  # a record cannot be taken away, see `Database`
_LONGEST_TARGET = 4095  # bytes, of a symbolic link on Linux
_CONFIG = "[core]\n\trepositoryformatversion = {version}\n\tbare = false\n[gc]\n\tauto = 0\n"
_SHA256 = "[extensions]\n\tobjectFormat = sha256\n"


class Workspace(Database):
    """Reads and changes the files of a commit, by paths relative to its root, `/` between the parts.

    Args:
        base: The repository at the commit.
    """

    __slots__ = ()

    base: Repository

    def __init__(self, base: Repository) -> None:
        super().__init__(base)

    def file(self, path: str) -> File | None:
        """The file's mode and git's id of its content, or None."""
        found: File | None = self.get(_FILES, path)
        return None if found is None or found is _GONE else found

    def read(self, path: str) -> bytes | None:
        """The content of a file, of a link where it leads; None: there is no such file."""
        found = self.file(path)
        return None if found is None else self._content(found)

    def _content(self, file: File) -> bytes:
        return self.base.content(file.blob) if file.content is None else file.content

    def write(self, path: str, content: bytes, mode: int | None = None) -> None:
        """Make a file, or give one a new content.

        Args:
            path: Where.
            content: All of it.
            mode: `PLAIN`, `EXECUTABLE` or `LINK`; None: as it was, `PLAIN` for a new one.

        Raises:
            PathError: No file can have this path (it leads outside, through a file, or to a folder), or it is
                a link and the content no place that one can lead to.
        """
        found = self.file(path)
        if found is None:
            self._check_new(path)
        if mode is None:
            mode = found.mode if found else PLAIN
        if mode == LINK and not _can_be_a_target(content):
            raise PathError(path, "is a link, which leads to 1 to 4095 bytes of UTF-8 without a zero byte")
        blob = blob_id(content, self.base.commit)
        before = self.base.files.get(path)
        known = before is not None and before.blob == blob
        self.put(_FILES, path, File(mode, blob, None if known else content))

    def _check_new(self, path: str) -> None:
        check_path(path)
        parts = path.split("/")
        for n in range(1, len(parts)):
            if self.file(parent := "/".join(parts[:n])):
                raise PathError(path, f"leads through {parent!r}, which is a file")
        if any(other.startswith(path + "/") for other in self.paths()):
            raise PathError(path, "is a folder")
        name = path.encode() + b"/"
        if any(name.startswith(hidden.path + b"/") for hidden in self.base.hidden):
            raise PathError(path, "is, or is in, a submodule")

    def delete(self, path: str) -> None:
        """Take a file away.

        Raises:
            PathError: There is none.
        """
        if self.file(path) is None:
            raise PathError(path, "names no file")
        self.put(_FILES, path, _GONE)

    def paths(self) -> list[str]:
        """The paths of all files, in the order of their code points."""
        return sorted(path for path, file in self.items(_FILES) if file is not _GONE)

    def changes(self) -> dict[str, tuple[File | None, File | None]]:
        """What differs from the commit, by path in order: the file before and now; None: there is none."""
        changes = {}
        for _, path in sorted(self.changed):
            before, now = self.base.files.get(path), self.file(path)
            if _same(before) != _same(now):
                changes[path] = before, now
        return changes

    def digest(self) -> str:
        """Digest of the commit and of what differs from it: equal files have equal digests."""
        changes = [[path, *(_same(now) or ())] for path, (_, now) in self.changes().items()]
        return digest({"base": self.base.digest, "changes": changes})

    def diff(self) -> str:
        """What differs from the commit as a patch for `git apply`; empty where nothing does.

        Renames are shown as a deletion and a new file, ids in full, and files that are no UTF-8 as binary.
        Where a link of the commit leads that is no UTF-8, git has no such form: it is escaped.
        """
        changes = self.changes()
        if not changes:
            return ""
        with tempfile.TemporaryDirectory(prefix="tool-envs-") as scratch:
            folder, index = Path(scratch, "git"), Path(scratch, "index")
            _make_git_folder(folder, self.base)
            (folder / "objects" / "info").mkdir()
            objects = self.base.path.absolute() / "objects"
            (folder / "objects" / "info" / "alternates").write_bytes(os.fsencode(objects) + b"\n")
            for _, now in changes.values():
                if now is not None and now.content is not None:
                    _write_object(folder, now.blob, now.content)
            _put_into_index(folder, index, self.base, {path: before for path, (before, _) in changes.items()})
            before_tree = git("write-tree", repository=folder, index=index).decode("ascii").strip()
            _put_into_index(folder, index, self.base, {path: now for path, (_, now) in changes.items()})
            _show_as_binary(folder, [path for path, files in changes.items() if not self._are_text(files)])
            form = ("--patch", "--binary", "--full-index", "--no-renames", "--no-ext-diff", "--no-textconv")
            diff = git("diff-index", "--cached", *form, before_tree, repository=folder, index=index)
        return diff.decode(errors="backslashreplace")

    def _are_text(self, files: tuple[File | None, File | None]) -> bool:
        """Whether all of these are UTF-8."""
        try:
            for file in files:
                if file is not None:
                    self._content(file).decode()
        except UnicodeDecodeError:
            return False
        return True

    def materialize(self, folder: Path) -> None:
        """Write the files into an empty folder, and a `.git` at the commit whose objects are hard links.

        The links are those of the cached repository, which nobody may write through: a `Sandbox` shows them
        read-only. Files are written as they are in the repository: no filter and no hook runs.

        Args:
            folder: Made where there is none.

        Raises:
            FileExistsError: It holds something.
        """
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise FileExistsError(f"expected an empty folder: {folder}")
        _make_git_folder(folder / ".git", self.base)
        link_objects(self.base.path, folder / ".git" / "objects" / "pack")
        shutil.copyfile(self.base.index, folder / ".git" / "index")
        for hidden in self.base.hidden:
            if hidden.blob is None:
                _make_folders(os.path.join(os.fsencode(folder), hidden.path))
        files = self._checkout()
        # Links come last, so that no file is written through one.
        for name, mode, content in sorted(files, key=lambda file: file[1] == LINK):
            _write_file(folder, name, mode, content)

    def _checkout(self) -> Iterator[tuple[bytes, int, bytes]]:
        """Path, mode and content of all files, of those as well that no tool can name."""
        for path, file in self.items(_FILES):
            if file is not _GONE:
                yield path.encode(), file.mode, self._content(file)
        for hidden in self.base.hidden:
            if hidden.blob is not None:
                yield hidden.path, hidden.mode, self.base.content(hidden.blob)


def _can_be_a_target(content: bytes) -> bool:
    """Whether a link can lead there on Linux, and git can say so in a patch."""
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return 0 < len(content) <= _LONGEST_TARGET and b"\0" not in content


def _same(file: File | None) -> tuple[int, str] | None:
    """What makes two files equal."""
    return (file.mode, file.blob) if file else None


def _put_into_index(folder: Path, index: Path, base: Repository, files: Mapping[str, File | None]) -> None:
    """Make an index of a repository hold these files, and not those that are None."""
    no_blob = blob_id(b"", base.commit).encode("ascii")  # any id: mode 0 takes the path away
    # Those first: a file may have taken the place of a folder, and the other way round.
    lines = [b"0 %s\t%s\0" % (no_blob, path.encode()) for path, file in files.items() if file is None]
    for path, file in files.items():
        if file is not None:
            lines.append(b"%06o %s\t%s\0" % (file.mode, file.blob.encode("ascii"), path.encode()))
    git("update-index", "-z", "--index-info", repository=folder, index=index, stdin=b"".join(lines))


def _make_git_folder(folder: Path, base: Repository) -> None:
    for part in ("objects/pack", "refs/heads", "refs/tags"):
        (folder / part).mkdir(parents=True)
    (folder / "HEAD").write_text(f"{base.commit}\n", encoding="ascii")
    is_sha256 = len(base.commit) == 64
    config = _CONFIG.format(version=int(is_sha256)) + _SHA256 * is_sha256
    (folder / "config").write_text(config, encoding="ascii")


def _write_object(folder: Path, blob: str, content: bytes) -> None:
    """A loose object, as gitrepository-layout(5) has it."""
    place = folder / "objects" / blob[:2] / blob[2:]
    place.parent.mkdir(exist_ok=True)
    place.write_bytes(zlib.compress(b"blob %d\0" % len(content) + content, 1))


def _show_as_binary(folder: Path, paths: list[str]) -> None:
    """Make git show these files as binary, by patterns as gitattributes(5) has them."""
    (folder / "info").mkdir()
    lines = "".join(f"{_pattern(path)} -diff\n" for path in paths)
    (folder / "info" / "attributes").write_bytes(lines.encode())


def _pattern(path: str) -> str:
    """The quoted pattern that a path alone matches."""
    literal = re.sub(r"[][*?\\]", r"\\\g<0>", "/" + path)
    return '"' + "".join(f"\\{ord(c):03o}" if c < " " or c in '\\"\x7f' else c for c in literal) + '"'


def _write_file(folder: Path, name: bytes, mode: int, content: bytes) -> None:
    place = os.path.join(os.fsencode(folder), name)
    _make_folders(os.path.dirname(place))
    if mode == LINK:
        os.symlink(content, place)
        return
    rights = 0o755 if mode == EXECUTABLE else 0o644
    with open(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW), "wb") as file:
        os.fchmod(file.fileno(), rights)
        file.write(content)


def _make_folders(place: bytes) -> None:
    """Make a folder and those above it, with the same rights whatever the process's umask is."""
    if not os.path.isdir(place):
        _make_folders(os.path.dirname(place))
        os.mkdir(place)
        os.chmod(place, 0o755)  # noqa: S103 - as git makes them
