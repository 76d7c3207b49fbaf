"""Makes a repository that holds what one commit reaches, and nothing else.

In its folder are

* `git`: a bare repository with one pack, HEAD at the commit, and neither branches, tags, remotes nor reflogs;
* `index`: the index of a checkout of the commit;
* `tree`: what `git ls-tree -r -z` says of it;
* `contents`: what `git cat-file --batch` says of the blobs in it.

So reading a file of the commit needs no git. The folder's name is the commit's id, and all in it follows from
that, whatever source it was made from.
"""

import contextlib
import errno
import os
import tempfile
from pathlib import Path

from tool_envs.errors import DataFileError
from tool_envs.repo.git import GitError, git
from tool_envs.user_cache import cache_folder

FORMAT = "1"
"""Version of the form of these folders."""

_BUNDLES = (b"# v2 git bundle\n", b"# v3 git bundle\n")
_CONFIG = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n"
_CONFIG_SHA256 = _CONFIG.replace("= 0", "= 1") + "[extensions]\n\tobjectFormat = sha256\n"


class RepositoryError(DataFileError):
    """Raised when a source of a repository is damaged, lacks a commit, or holds what no checkout can show."""


def cached_repository(source: Path, commit: str) -> Path:
    """The folder of a commit's repository, made from `source` where it is not there yet.

    Any number of processes may ask for the same one at once.

    Args:
        source: A git repository, bare or not; a `git bundle`; or a stream of `git fast-export`.
        commit: The full id of a commit in it.

    Raises:
        RepositoryError: It cannot be made from this source.
        GitMissingError: There is no git.
    """
    folder = cache_folder("repositories", FORMAT) / commit
    if folder.is_dir():
        return folder
    with tempfile.TemporaryDirectory(prefix="making-", dir=folder.parent) as scratch:
        made = Path(scratch, "made")
        try:
            _make(_git_folder(source, Path(scratch, "source"), commit), commit, made)
        except GitError as error:
            raise RepositoryError(source, f"expected a repository with all of {commit}; {error}") from error
        try:
            made.rename(folder)
        except OSError as error:
            if error.errno not in (errno.EEXIST, errno.ENOTEMPTY):
                raise
    return folder


def git_folder(checkout: Path) -> Path:
    """Git's own folder of a repository that is a folder, bare or not."""
    return checkout / ".git" if (checkout / ".git").exists() else checkout


def _git_folder(source: Path, scratch: Path, commit: str) -> Path:
    """A folder that git takes as a repository, with all that `source` holds."""
    if source.is_dir():
        return git_folder(source)
    try:
        with source.open("rb") as file:
            start = file.read(len(_BUNDLES[0]))
    except OSError as error:
        raise RepositoryError(source, f"expected a repository; {error.strerror}") from error
    _init(scratch, commit)
    if start in _BUNDLES:
        git("bundle", "unbundle", str(source.absolute()), repository=scratch)
    else:
        with source.open("rb") as stream:
            git("fast-import", "--quiet", repository=scratch, stdin=stream)
    return scratch


def _make(source: Path, commit: str, folder: Path) -> None:
    bare = folder / "git"
    _init(bare, commit)
    git("cat-file", "commit", commit, repository=source)  # says best what is wrong, if anything is
    pack = str(bare.absolute() / "objects" / "pack" / "pack")
    git("pack-objects", "--quiet", "--revs", pack, repository=source, stdin=f"{commit}\n".encode())
    (bare / "HEAD").write_text(f"{commit}\n", encoding="ascii")
    # The source may have been a part of a repository: then something that the commit reaches is missing here.
    git("rev-list", "--objects", "--quiet", commit, repository=bare)
    git("read-tree", commit, repository=bare, index=folder / "index")
    tree = git("ls-tree", "-r", "-z", "--full-tree", commit, repository=bare)
    (folder / "tree").write_bytes(tree)
    blobs = sorted({blob for kind, blob in map(_kind_and_id, tree.split(b"\0")[:-1]) if kind == b"blob"})
    with (folder / "contents").open("wb") as contents:
        wanted = b"".join(blob + b"\n" for blob in blobs)
        git("cat-file", "--batch", repository=bare, stdin=wanted, stdout=contents)


def _kind_and_id(entry: bytes) -> tuple[bytes, bytes]:
    _, kind, object_id = entry.partition(b"\t")[0].split()
    return kind, object_id


def _init(folder: Path, commit: str) -> None:
    """An empty bare repository without the samples and descriptions that `git init` makes."""
    for part in ("objects/pack", "objects/info", "refs"):
        (folder / part).mkdir(parents=True)
    (folder / "HEAD").write_text("ref: refs/heads/main\n", encoding="ascii")
    config = _CONFIG if len(commit) == 40 else _CONFIG_SHA256
    (folder / "config").write_text(config, encoding="ascii")


def link_objects(bare: Path, folder: Path) -> None:
    """Put a cached repository's packs into a folder: as hard links, or copies where there can be none."""
    for pack in sorted((bare / "objects" / "pack").iterdir()):
        target = folder / pack.name
        try:
            os.link(pack, target)
        except OSError as error:
            if error.errno not in (errno.EXDEV, errno.EPERM, errno.EMLINK, errno.ENOTSUP):
                raise
            target.write_bytes(pack.read_bytes())
            with contextlib.suppress(PermissionError):
                target.chmod(0o444)
