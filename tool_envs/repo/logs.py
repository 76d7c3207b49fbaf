"""Reads the logs that SWE-bench's evaluation scripts write: their states, and the statuses that tests had.

Source of every rule: SWE-bench 5, `swebench/harness/grading.py` and `log_parsers/python.py`, for the Python
repositories that its datasets hold. Where those rules are loose, so is this: a log is text that the code
under test helped to write. `testing.py` runs tests itself and does not read logs.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import TypeAlias

import msgspec

from tool_envs.errors import UnknownNameError
from tool_envs.repo.resolution import STATUSES, Status

Parser: TypeAlias = Callable[[str], Iterator[tuple[str, Status]]]
"""Finds (test, status) in a log, in the order of the log: of one test the last counts."""


class LogState(StrEnum):
    """What a log says of its run; only a `READ` one can show that an issue is resolved."""

    READ = "read"
    PATCH_APPLY_FAILED = "patch_apply_failed"
    RESET_FAILED = "reset_failed"
    TESTS_ERRORED = "tests_errored"
    TESTS_TIMED_OUT = "tests_timed_out"
    NO_MARKERS = "no_markers"
    """The output of the tests does not begin, or does not end."""
    EMPTY = "empty"
    """No test has a status."""
    EXIT_CODE_DISAGREES = "exit_code_disagrees"
    """The tests' command failed though no test did: the log does not show the run that took place."""


class Log(msgspec.Struct, frozen=True):
    """A log that was read.

    Attributes:
        state: What it says of its run.
        statuses: Test -> status; empty unless the state is `READ`.
    """

    state: LogState
    statuses: dict[str, Status] = {}


_MARK = ">>>>> "
_START, _END = _MARK + "Start Test Output", _MARK + "End Test Output"
_EXIT_CODE = re.compile(re.escape(_MARK) + r"Test Exit Code:\s*(-?\d+)")
_BAD_STATES = {
    _MARK + "Patch Apply Failed": LogState.PATCH_APPLY_FAILED,
    _MARK + "Reset Failed": LogState.RESET_FAILED,
    _MARK + "Tests Errored": LogState.TESTS_ERRORED,
    _MARK + "Tests Timed Out": LogState.TESTS_TIMED_OUT,
}


def read_log(content: str, repo: str) -> Log:
    """Read the log of an evaluation.

    Args:
        content: The whole log.
        repo: Repository, as `owner/name`; it decides the parser.

    Raises:
        UnknownNameError: No parser is known for the repository.
    """
    parser = parser_of(repo)
    for mark, state in _BAD_STATES.items():
        if mark in content:
            return Log(state)
    if _START not in content or _END not in content:
        return Log(LogState.NO_MARKERS)
    output = content.split(_START)[1].split(_END)[0]
    statuses = dict(parser(output)) or dict(parser(content))
    if not statuses:
        return Log(LogState.EMPTY)
    exit_code = _EXIT_CODE.search(content)
    if exit_code and int(exit_code[1]) != 0 and not {"FAILED", "ERROR"} & set(statuses.values()):
        return Log(LogState.EXIT_CODE_DISAGREES)
    return Log(LogState.READ, statuses)


def parser_of(repo: str) -> Parser:
    """The parser for the logs of a repository, given as `owner/name`.

    Raises:
        UnknownNameError: None is known.
    """
    if repo not in PARSERS:
        raise UnknownNameError("repository with a log parser", repo, PARSERS)
    return PARSERS[repo]


def _is_count(status: str, name: str) -> bool:
    """Whether it is pytest's summary `SKIPPED [3] file:line: reason`, where a count stands for the name."""
    return status == "SKIPPED" and re.fullmatch(r"\[\d+\]", name) is not None


def parse_pytest(log: str) -> Iterator[tuple[str, Status]]:
    """Statuses from lines `STATUS test`, as `pytest -rA` sums up."""
    for line in log.split("\n"):
        words = (line.replace(" - ", " ") if line.startswith("FAILED") else line).split()
        if not line.startswith(tuple(STATUSES)) or len(words) < 2 or _is_count(*words[:2]):
            continue
        if words[0] in STATUSES:
            yield words[1], STATUSES[words[0]]


def parse_pytest_options(log: str) -> Iterator[tuple[str, Status]]:
    """As `parse_pytest`; a parameter that is a path (`test_x[/home/me/file]`) keeps its last part only."""
    for name, status in parse_pytest(log):
        found = re.search(r"(.*?)\[(.*)\]", name)
        if not found:
            yield name, status
            continue
        test, option = found.groups()
        if option.startswith("/") and not option.startswith("//") and "*" not in option:
            option = "/" + option.rpartition("/")[2]
        yield f"{test}[{option}]", status


_CONTROL_CHARACTERS = dict.fromkeys(range(1, 32))


def parse_pytest_v2(log: str) -> Iterator[tuple[str, Status]]:
    """As `parse_pytest` for coloured output, names with spaces, and old pytest's lines `test STATUS`."""
    for raw in log.split("\n"):
        line = re.sub(r"\[\d+m", "", raw).translate(_CONTROL_CHARACTERS)
        if line.startswith(tuple(STATUSES)):
            if line.startswith("FAILED"):
                line = line.split(" - ", 1)[0]
            status, *name = line.split()
        elif line.endswith(tuple(STATUSES)):
            *name, status = line.split()
        else:
            continue
        if name and status in STATUSES and not _is_count(status, name[0]):
            yield " ".join(name), STATUSES[status]


def parse_matplotlib(log: str) -> Iterator[tuple[str, Status]]:
    """As `parse_pytest`; the names of mouse buttons, which depend on Python's version, become numbers."""
    return parse_pytest(log.replace("MouseButton.LEFT", "1").replace("MouseButton.RIGHT", "3"))


def parse_seaborn(log: str) -> Iterator[tuple[str, Status]]:
    """Failures from lines `FAILED test`; passes from `PASSED test` and from `test PASSED [ 10%]`."""
    for line in log.split("\n"):
        words = line.split()
        if len(words) < 2:
            continue
        if line.startswith("FAILED"):
            yield words[1], "FAILED"
        elif " PASSED " in line:
            if words[1] == "PASSED":
                yield words[0], "PASSED"
        elif line.startswith("PASSED"):
            yield words[1], "PASSED"


_SYMPY_ENDINGS: Mapping[str, Status] = {" E": "ERROR", " F": "FAILED", " ok": "PASSED"}


def parse_sympy(log: str) -> Iterator[tuple[str, Status]]:
    """Statuses from SymPy's own runner: headings of failures (`____ file.py:test ____`) and `test_x ok`."""
    for _, file, test, _ in re.findall(r"(_*) (.*)\.py:(.*) (_*)", log):
        yield f"{file}.py:{test}", "FAILED"
    for line in map(str.strip, log.split("\n")):
        for ending, status in _SYMPY_ENDINGS.items():
            if line.startswith("test_") and line.endswith(ending):
                yield line.split()[0], status


_DJANGO_OK = re.compile(r"(.*) \.\.\. (?:ok| ?OK)")
_DJANGO_MIGRATION = "Applying sites.0002_alter_domain_unique...test_no_migrations"
_DJANGO_VERSION = "--version is equivalent to version"
_DJANGO_INTERRUPTED = [
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"^(.*?)\s\.\.\.\sTesting against Django installed in (?s:.*?) silenced\)\.\nok$",
        r"^(.*?)\s\.\.\.\sInternal Server Error: /.*/\nok$",
        r"^(.*?)\s\.\.\.\sSystem check identified no issues \(0 silenced\)\nok$",
    )
]


def parse_django(log: str) -> Iterator[tuple[str, Status]]:
    """Statuses from unittest's lines `test ... ok` as Django's runner writes them.

    What a test prints may stand between its name and its `ok`, and a test may be named by a sentence.
    """
    started = None
    for line in map(str.strip, log.split("\n")):
        if _DJANGO_VERSION in line:
            yield _DJANGO_VERSION, "PASSED"
        if " ... " in line:
            started = line.split(" ... ")[0]
        yield from _django_line(line)
        if line.startswith("ok") and started is not None:
            yield started, "PASSED"
    for pattern in _DJANGO_INTERRUPTED:
        for found in pattern.finditer(log):
            yield found[1], "PASSED"


def _django_line(line: str) -> Iterator[tuple[str, Status]]:
    if passed := _DJANGO_OK.fullmatch(line):
        test = passed[1]
        yield (test.split("...", 1)[1].strip() if test.startswith(_DJANGO_MIGRATION) else test), "PASSED"
    if " ... skipped" in line:
        yield line.split(" ... skipped")[0], "SKIPPED"
    bad: tuple[tuple[str, Status], ...] = (("FAIL", "FAILED"), ("ERROR", "ERROR"))
    for word, status in bad:
        if line.endswith(f" ... {word}"):
            yield line.split(f" ... {word}")[0], status
        if line.startswith(f"{word}:") and len(line.split()) > 1:
            yield line.split()[1], status


PARSERS: Mapping[str, Parser] = MappingProxyType(
    {
        "astropy/astropy": parse_pytest_v2,
        "django/django": parse_django,
        "marshmallow-code/marshmallow": parse_pytest,
        "matplotlib/matplotlib": parse_matplotlib,
        "mwaskom/seaborn": parse_seaborn,
        "pallets/flask": parse_pytest,
        "psf/requests": parse_pytest_options,
        "pvlib/pvlib-python": parse_pytest,
        "pydata/xarray": parse_pytest,
        "pydicom/pydicom": parse_pytest_options,
        "pylint-dev/astroid": parse_pytest,
        "pylint-dev/pylint": parse_pytest_options,
        "pytest-dev/pytest": parse_pytest,
        "pyvista/pyvista": parse_pytest,
        "scikit-learn/scikit-learn": parse_pytest_v2,
        "sphinx-doc/sphinx": parse_pytest_v2,
        "sqlfluff/sqlfluff": parse_pytest,
        "sympy/sympy": parse_sympy,
    }
)
"""Repository, as `owner/name` -> the parser of its logs."""
