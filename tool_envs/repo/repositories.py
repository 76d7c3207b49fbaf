"""Repositories at one commit: what every episode about it starts from, read-only and shared."""

import functools
import hashlib
import mmap
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import msgspec

from tool_envs.canonical import digest
from tool_envs.database import BaseData
from tool_envs.repo.paths import PathError, check_path
from tool_envs.repo.repository_cache import RepositoryError, cached_repository

PLAIN, EXECUTABLE, LINK = 0o100644, 0o100755, 0o120000
"""The modes that git knows of files; the content of a link is where it leads."""

_OLD_PLAIN = 0o100664  # in commits of git's first years
_SUBMODULE = 0o160000


class File(msgspec.Struct, frozen=True):
    """A file as a record of the table `files`.

    Attributes:
        mode: `PLAIN`, `EXECUTABLE` or `LINK`.
        blob: Git's id of the content.
        content: The content, where it is not in the repository.
    """

    mode: int
    blob: str
    content: bytes | None = None


class Hidden(NamedTuple):
    """What is in a checkout and is no file that a tool could name.

    Attributes:
        path: Its path, in bytes that may be no UTF-8.
        mode: As git has it.
        blob: Git's id of the content; None: a submodule, which a checkout shows as an empty folder.
    """

    path: bytes
    mode: int
    blob: str | None


class Repository(BaseData):
    """The files of one commit. Made by `open_repository`.

    Args:
        folder: As `tool_envs.repo.repository_cache` makes it.
        commit: The commit's id.

    Attributes:
        commit: The commit's id.
        path: The bare repository, which holds what the commit reaches and nothing else; to be read only.
        index: The index of a checkout of the commit.
        files: All files, by path, in git's order.
        hidden: What else a checkout shows.

    Raises:
        RepositoryError: It holds paths that git itself would not check out.
    """

    def __init__(self, folder: Path, commit: str) -> None:
        self.commit, self.path, self.index = commit, folder / "git", folder / "index"
        self._folder = folder
        files, self.hidden = _read_tree(folder)
        self.files: Mapping[str, File] = MappingProxyType(files)
        super().__init__({"files": self.files})
        self._contents = _map(folder / "contents")
        self._places = _places(self._contents)

    @property
    def digest(self) -> str:
        """Digest of the commit's id, from which all else follows."""
        return digest({"commit": self.commit})

    def content(self, blob: str) -> bytes:
        """The content of a blob that the commit's tree holds.

        Raises:
            KeyError: The tree does not hold it.
            RepositoryError: What is kept on disk was damaged.
        """
        start, size = self._places[blob]
        content = self._contents[start : start + size]
        if blob_id(content, blob) != blob:
            raise RepositoryError(self._folder, f"the content of {blob} was changed; delete this folder")
        return content


def open_repository(source: Path, commit: str) -> Repository:
    """The repository at a commit, cached on disk and, for a few, in this process.

    Args:
        source: A git repository, a bundle, or a stream of `git fast-export`; read only where the commit is
            not in the cache.
        commit: The full id of a commit in it.

    Raises:
        RepositoryError: It cannot be made from this source, or cannot be shown.
        GitMissingError: There is no git.
    """
    return _opened(cached_repository(source, commit), commit)


@functools.lru_cache(maxsize=64)
def _opened(folder: Path, commit: str) -> Repository:
    return Repository(folder, commit)


def blob_id(content: bytes, like: str) -> str:
    """Git's id of a content, by the hash function of another id (sha1 or sha256)."""
    function = hashlib.sha1 if len(like) == 40 else hashlib.sha256
    return function(b"blob %d\0" % len(content) + content).hexdigest()


def _read_tree(folder: Path) -> tuple[dict[str, File], tuple[Hidden, ...]]:
    files: dict[str, File] = {}
    hidden = []
    names = []
    for entry in (folder / "tree").read_bytes().split(b"\0")[:-1]:
        about, _, name = entry.partition(b"\t")
        mode_text, _, blob = about.decode("ascii").split()
        mode = int(mode_text, 8)
        names.append(name)
        if mode == _SUBMODULE:
            hidden.append(Hidden(name, mode, None))
        elif not _is_unicode(name):
            hidden.append(Hidden(name, mode, blob))
        else:
            files[name.decode()] = File(PLAIN if mode == _OLD_PLAIN else mode, blob)
    _check(folder, names)
    return files, tuple(hidden)


def _is_unicode(name: bytes) -> bool:
    try:
        name.decode()
    except UnicodeDecodeError:
        return False
    return True


def _check(folder: Path, names: list[bytes]) -> None:
    """Hold the paths of a tree to what git checks out; trees made by hand can hold anything."""
    try:
        for name in names:
            check_path(name.decode(errors="replace"))
    except PathError as error:
        raise RepositoryError(folder, f"expected paths that git checks out. {error}") from error
    folders = {name[:end] for name in names for end, byte in enumerate(name) if byte == ord("/")}
    twice = [name for name, times in Counter([*names, *folders]).items() if times > 1]
    if twice:
        raise RepositoryError(folder, f"expected each path once, and {twice[0]!r} is there twice")


def _map(file: Path) -> mmap.mmap | bytes:
    """The bytes of a file, shared with all processes that read it; an empty file cannot be mapped."""
    with file.open("rb") as opened:
        return mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) if file.stat().st_size else b""


def _places(contents: mmap.mmap | bytes) -> dict[str, tuple[int, int]]:
    """Where the content of each blob begins, and its size, in bytes."""
    places = {}
    position = 0
    while position < len(contents):
        start = contents.find(b"\n", position) + 1
        blob, _, size = contents[position : start - 1].decode("ascii").split()
        places[blob] = start, int(size)
        position = start + int(size) + 1
    return places
