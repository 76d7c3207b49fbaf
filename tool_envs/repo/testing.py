"""Runs tests with pytest in a sandbox, and says what became of them.

What a run wrote to its folder goes away with it. A run is to be trusted only if its own report (`plugin.py`)
is whole, is sealed with the key that only that run had, and ends with the exit code that the sandbox saw.
"""

import hashlib
import hmac
import os
import secrets
import stat
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from tool_envs.repo import plugin
from tool_envs.repo.interpreter import check_pytest, find_interpreter
from tool_envs.repo.resolution import Status
from tool_envs.repo.sandbox import Completed, Limits, Sandbox
from tool_envs.repo.workspace import Workspace

_SOURCE_FOLDERS = ("src", "lib")
_REPORT = ".tool_envs_report"
_REPORT_LIMIT = 256 << 20  # bytes; a run that writes more is not to be trusted
_ARGUMENTS = ("--rootdir=.", "--maxfail=0", "--color=no", "-p", "no:randomly")
_ENVIRONMENT = {
    "COLUMNS": "100",
    "LC_ALL": "C.UTF-8",
    "NO_COLOR": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONNOUSERSITE": "1",
    "TZ": "UTC",
}


class Problem(StrEnum):
    """Why a run is not to be trusted: what its tests are said to be may not be so."""

    CPU_LIMIT = "cpu_limit"
    WALL_LIMIT = "wall_limit"
    MEMORY_LIMIT = "memory_limit"
    DISK_LIMIT = "disk_limit"
    DIED = "died"
    """The process ended before pytest did, or pytest was stopped from inside."""
    NOT_RUN = "not_run"
    """pytest could not be used, or failed itself: a broken conftest.py or configuration."""
    DISAGREES = "disagrees"
    """pytest's exit code is not the one that its tests, or the sandbox, say."""
    TAMPERED = "tampered"
    """What decides whether a test passes was changed by the project's code."""


class TestRun(msgspec.Struct, frozen=True):
    """What became of tests.

    Attributes:
        statuses: Test -> status, in the order in which they ran; a file that cannot be collected is an ERROR
            by its own name.
        texts: Test -> why it has its status, and what it wrote, where it did not just pass.
        exit_code: pytest's; None: it was stopped.
        problem: Why the run is not to be trusted; None: it is.
        changed: What the project's code changed that it must not, by name; empty unless `TAMPERED`.
        output: What was printed, cut in the middle with a mark.
        versions: Of Python and pytest, as far as they are known: `{"python": "3.11.7", "pytest": "9.2.0"}`.
    """

    __test__ = False  # pytest collects classes by this beginning of their names

    statuses: dict[str, Status]
    texts: dict[str, str]
    exit_code: int | None
    problem: Problem | None
    changed: tuple[str, ...]
    output: str
    versions: dict[str, str]


class _Event(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A line of the report; `plugin.py` says which fields come together."""

    test: str | None = None
    when: str = ""
    outcome: str = ""
    marked: bool = False
    text: str = ""
    captured: tuple[tuple[str, str], ...] = ()
    collected: int | None = None
    changed: tuple[str, ...] = ()
    exit_code: int | None = None
    python: tuple[int, ...] = ()
    pytest: str = ""


def run_tests(
    workspace: Workspace,
    tests: Sequence[str],
    *,
    sandbox: Sandbox,
    python: str,
    limits: Limits,
    hash_seed: int = 0,
) -> TestRun:
    """Run tests on the files of a workspace, which stays as it is.

    Args:
        workspace: The files.
        tests: Files, folders or node ids, relative to the workspace; empty: all that pytest finds.
        sandbox: Where they run.
        python: The interpreter, in which pytest and what the project needs are installed.
        limits: Of the whole run.
        hash_seed: Of Python's hashes, on which the order of sets depends.

    Raises:
        SandboxError: The sandbox failed, or pytest cannot be imported in it; nothing is known of the tests.
        UsageError: `python` is no interpreter.
    """
    interpreter = find_interpreter(python)
    key = secrets.token_bytes(32)
    task = {
        "key": key.hex(),
        "report": _REPORT,
        "own": sorted(own_modules(workspace.base.files)),
        "path": import_folders(workspace.base.files),
        "arguments": [*_ARGUMENTS, "--", *tests],
    }
    with TemporaryDirectory(prefix="tool-envs-", ignore_cleanup_errors=True) as temporary:
        folder = Path(temporary) / "workspace"
        workspace.materialize(folder)
        completed = sandbox.run(
            [str(interpreter.path), "-s", "-c", Path(plugin.__file__).read_text(encoding="utf-8")],
            folder,
            limits=limits,
            environment={**_ENVIRONMENT, "PYTHONHASHSEED": str(hash_seed)},
            readable=interpreter.folders,
            stdin=msgspec.json.encode(task),
        )
        events = list(read_report(_read_file(folder / _REPORT), key))
    if not events:
        check_pytest(interpreter, sandbox)
    return _summed_up(events, completed)


def own_modules(paths: Iterable[str]) -> frozenset[str]:
    """The names by which a project's own modules may be imported.

    They are those of its packages that lie in no other package, of its modules at the root or in `src` or
    `lib`, and of its folders at the root.

    Args:
        paths: The files of the project, relative to its root.
    """
    paths = [path for path in paths if path.endswith(".py")]
    packages = {path.rpartition("/")[0] for path in paths if path.endswith("/__init__.py")}
    outer = {package for package in packages if package.rpartition("/")[0] not in packages}
    names = {package.rpartition("/")[2] for package in outer}
    names |= {path.split("/")[0].removesuffix(".py") for path in paths}
    names |= {
        path.rpartition("/")[2].removesuffix(".py")
        for path in paths
        if path.count("/") == 1 and path.split("/")[0] in _SOURCE_FOLDERS
    }
    return frozenset(name for name in names if name.isidentifier())


def import_folders(paths: Iterable[str]) -> list[str]:
    """The folders from which a project's modules are imported, as if it were installed in place.

    They are its root and, where there is Python in one that is no package itself, `src` and `lib`.

    Args:
        paths: The files of the project, relative to its root.
    """
    paths = [path for path in paths if path.endswith(".py")]
    folders = (
        folder
        for folder in _SOURCE_FOLDERS
        if any(path.startswith(f"{folder}/") for path in paths) and f"{folder}/__init__.py" not in paths
    )
    return [*folders, "."]


def read_report(report: bytes, key: bytes) -> Iterator[_Event]:
    """The events of a report, up to the first line that is not as its writer sealed it."""
    for line in report.split(b"\n"):
        seal, _, event = line.partition(b" ")
        if not hmac.compare_digest(seal, hmac.new(key, event, hashlib.sha256).hexdigest().encode()):
            return
        try:
            yield msgspec.json.decode(event, type=_Event)
        except msgspec.ValidationError:
            return
        key = hashlib.sha256(key).digest()


def _read_file(path: Path) -> bytes:
    """A file that hostile code may have put there: nothing unless it is a plain file of a fair size."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return b""
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        return file.read() if stat.S_ISREG(found.st_mode) and found.st_size <= _REPORT_LIMIT else b""


def _summed_up(events: Sequence[_Event], completed: Completed) -> TestRun:
    statuses: dict[str, Status] = {}
    texts: dict[str, str] = {}
    for event in events:
        status = _status(event)
        if event.test is None or status is None:
            continue
        if _RANK[status] >= _RANK[statuses.get(event.test, status)]:
            statuses[event.test] = status
        if written := "\n".join([event.text, *(f"{name}:\n{text}" for name, text in event.captured)]).strip():
            texts[event.test] = f"{texts[event.test]}\n{written}" if event.test in texts else written
    changed = tuple(sorted({name for event in events for name in event.changed}))
    first = events[0] if events else _Event()
    versions = {"python": ".".join(map(str, first.python)), "pytest": first.pytest}
    return TestRun(
        statuses=statuses,
        texts=texts,
        exit_code=completed.exit_code,
        problem=_problem(events, statuses, completed, changed),
        changed=changed,
        output=completed.output,
        versions={name: version for name, version in versions.items() if version},
    )


_RANK = {"PASSED": 0, "XPASS": 1, "XFAIL": 1, "SKIPPED": 1, "FAILED": 2, "ERROR": 3}


def _status(event: _Event) -> Status | None:
    """What an event makes of its test; of several, the worst counts."""
    if event.outcome == "failed":
        return "FAILED" if event.when == "call" else "ERROR"
    if event.outcome == "skipped":
        return "XFAIL" if event.marked else "SKIPPED"
    if event.outcome == "passed" and event.when == "call":
        return "XPASS" if event.marked else "PASSED"
    return None


def _problem(
    events: Sequence[_Event], statuses: dict[str, Status], completed: Completed, changed: Sequence[str]
) -> Problem | None:
    if completed.cut:
        return Problem(f"{completed.cut}_limit")
    if changed:
        return Problem.TAMPERED
    ended = events[-1].exit_code if events else None
    if ended is None:
        return Problem.DIED if events else Problem.NOT_RUN
    if ended != completed.exit_code:
        return Problem.DISAGREES
    if ended in (3, 4):
        return Problem.NOT_RUN
    failures = bool({"FAILED", "ERROR"} & set(statuses.values()))
    if ended == 2 and not failures:
        return Problem.DIED
    return Problem.DISAGREES if failures != (ended in (1, 2)) else None
