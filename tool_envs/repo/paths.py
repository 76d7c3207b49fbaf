"""Which paths a file of a repository may have, and why not."""

from tool_envs.errors import UsageError

_LONGEST_NAME = 255  # bytes, on the file systems of Linux
_LONGEST_PATH = 3072  # bytes; with the folder that it is put into, below the 4096 that Linux takes


class PathError(UsageError):
    """Raised when a file cannot have a path: it leads out of the repository, say, or is taken by a folder.

    Args:
        path: The path.
        problem: Why not, as the end of a sentence whose subject is the path.
    """

    def __init__(self, path: str, problem: str) -> None:
        self.path, self.problem = path, problem
        super().__init__(f"The path {path!r} {problem}.")

    def __reduce__(self) -> tuple[type, tuple[str, str]]:
        return type(self), (self.path, self.problem)


def check_path(path: str) -> None:
    """Hold a path to what git itself checks out: relative, within the repository, and no part of `.git`.

    Raises:
        PathError: It is no such path.
    """
    if problem := _problem(path):
        raise PathError(path, problem)


def _problem(path: str) -> str:
    if not path:
        return "is empty"
    if "\0" in path:
        return "holds a zero byte"
    try:
        names = path.encode().split(b"/")
    except UnicodeEncodeError:
        return "is no valid Unicode"
    if not names[0]:
        return "is absolute; paths are relative to the root of the repository"
    if b".." in names:
        return "leads upwards"
    if b"" in names or b"." in names:
        return "has a part that is empty or `.`"
    if any(name.lower() in (b".git", b"git~1") for name in names):
        return "leads into git's own files"
    if len(path.encode()) > _LONGEST_PATH or max(map(len, names)) > _LONGEST_NAME:
        return "is too long"
    return ""
