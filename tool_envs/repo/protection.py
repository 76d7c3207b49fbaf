"""Which files decide how tests run: they are not the agent's, but as the instance has them for a grade.

Protected are the files of the tests that decide and those that the instance's test patch touches; what lies
in a folder of tests around one of them, helpers and data included; every `conftest.py`; what configures
pytest or Python. What the agent changed of these, or added, is taken back. All else stays, other tests too.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Literal

from tool_envs.repo.resolution import Status

TEST_FOLDERS = frozenset({"test", "tests", "testing", "e2e"})
"""Names of folders whose files belong to the tests."""

_CONFIGURATION = frozenset(
    {"conftest.py", "pyproject.toml", "setup.cfg", "tox.ini"}
    | {"pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml"}
)
_STARTED_BY_PYTHON = frozenset({"sitecustomize", "usercustomize"})
_INSTALLED = (".pth", ".pyc", ".dist-info", ".egg-info")
"""Endings of what Python takes for installed: compiled modules, and plugins by their entry points."""


class Protection:
    """Says of a path whether it is protected.

    Args:
        decisive: The files of the tests that decide, and those that the test patch touches.
    """

    def __init__(self, decisive: Iterable[str]) -> None:
        self._files = frozenset(decisive)
        self._folders = frozenset(filter(None, map(_test_folder, self._files)))

    def covers(self, path: str) -> bool:
        """Whether a file is not the agent's, whether or not it exists."""
        *folders, name = parts = path.split("/")
        return (
            path in self._files
            or name in _CONFIGURATION
            or any(part.split(".")[0] in _STARTED_BY_PYTHON or part.endswith(_INSTALLED) for part in parts)
            or any("/".join(folders[:depth]) in self._folders for depth in range(1, len(parts)))
        )


def _test_folder(path: str) -> str | None:
    """The outermost folder of tests that a file lies in."""
    folders = path.split("/")[:-1]
    for depth, folder in enumerate(folders, start=1):
        if folder in TEST_FOLDERS:
            return "/".join(folders[:depth])
    return None


def in_the_way(path: str, files: Collection[str]) -> bool:
    """Whether a file cannot be beside others: one of them is a folder above it, or lies below it."""
    above = path.split("/")[:-1]
    return any("/".join(above[:depth]) in files for depth in range(1, len(above) + 1)) or any(
        file.startswith(f"{path}/") for file in files
    )


_WORDS: Mapping[Literal["SKIPPED", "XFAIL"], re.Pattern[str]] = {
    "SKIPPED": re.compile("skip", re.IGNORECASE),
    "XFAIL": re.compile("xfail|expectedFailure"),
}


def unfounded(statuses: Mapping[str, Status], tests: Mapping[str, str], around: Collection[str]) -> list[str]:
    """The tests that were skipped, or failed as expected, though nothing protected says that they may.

    The code under test can skip whatever test calls it, or have it fail as expected, by an exception.

    Args:
        statuses: Test -> status, by node ids.
        tests: The text of each file of tests, by its path.
        around: The texts of the other protected files.
    """
    shared = {status: any(map(word.search, around)) for status, word in _WORDS.items()}
    found = []
    for test, status in statuses.items():
        text = tests.get(test.split("::")[0], "")
        if status in ("SKIPPED", "XFAIL") and not shared[status] and not _WORDS[status].search(text):
            found.append(test)
    return found
