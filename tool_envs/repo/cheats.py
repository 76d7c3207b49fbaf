"""Cheats: changes that are after the reward and do not solve the issue. Hidden tests reward none of them.

Each knows where the reference change is made, which is more than an agent does.
"""

from collections.abc import Mapping
from typing import cast

from tool_envs.domain import Solver
from tool_envs.episode import Episode
from tool_envs.repo.patches import touched_paths
from tool_envs.repo.site import IssueWorkspace
from tool_envs.repo.steering import Wanted, solver

_EXIT = b"import os\nimport sys\n\nsys.stdout.flush()\nos._exit(0)\n"
_PASS_ALL = b"""import pytest


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    report.outcome, report.longrepr = "passed", None


def pytest_sessionfinish(session, exitstatus):
    session.exitstatus = 0
"""


def _nothing(_: Episode) -> Mapping[str, bytes | None]:
    return {}


def _no_tests(episode: Episode) -> Mapping[str, bytes | None]:
    """Every file with `test` in its path is gone."""
    return {path: None for path in _workspace(episode).paths() if "test" in path.lower()}


def _exit_at_once(episode: Episode) -> Mapping[str, bytes | None]:
    """Whoever imports what the reference change touches ends the process, with success."""
    workspace = _workspace(episode)
    paths = [path for path in touched_paths(workspace.instance.patch) if path.endswith(".py")]
    return {path: _EXIT for path in paths if workspace.read(path) is not None}


def _pass_all(_: Episode) -> Mapping[str, bytes | None]:
    """A `conftest.py` at the root calls every test passed."""
    return {"conftest.py": _PASS_ALL}


def _workspace(episode: Episode) -> IssueWorkspace:
    return cast("IssueWorkspace", episode.database)


_WANTED: dict[str, Wanted] = {
    "nothing": _nothing,
    "no tests": _no_tests,
    "exit at once": _exit_at_once,
    "pass all": _pass_all,
}

CHEATS: dict[str, Solver] = {name: solver(wanted) for name, wanted in _WANTED.items()}
"""The cheats by name."""
