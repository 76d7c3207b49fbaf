"""Runs of tests: their statuses, the sealed report that they come from, and the text that an agent reads."""

import math
import os
import sys
import unittest
import venv

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_repositories import make_repository

from tool_envs.errors import UsageError
from tool_envs.repo.interpreter import find_interpreter
from tool_envs.repo.plugin import Generated, InstalledFirst, Originals, Reporter, journal
from tool_envs.repo.repositories import open_repository
from tool_envs.repo.run_text import describe, steady
from tool_envs.repo.sandbox import Limits, SandboxError, find_sandbox
from tool_envs.repo.testing import Problem, import_folders, own_modules, read_report, run_tests
from tool_envs.repo.texts import cut
from tool_envs.repo.workspace import Workspace

EVERY_STATUS = """
import unittest

import pytest


def test_passes():
    assert True


def test_fails():
    print("a word before it")
    assert 1 + 1 == 3


def test_an_address(tmp_path):
    assert object() is None, tmp_path


@pytest.mark.skip(reason="not today")
def test_skipped():
    assert False


@pytest.mark.xfail
def test_fails_as_expected():
    assert False


@pytest.mark.xfail
def test_passes_against_expectation():
    assert True


@pytest.mark.xfail(strict=True)
def test_must_fail():
    assert True


@pytest.fixture
def no_setup():
    raise RuntimeError("no setup")


def test_without_setup(no_setup):
    pass


@pytest.fixture
def no_teardown():
    yield
    raise RuntimeError("no teardown")


def test_without_teardown(no_teardown):
    pass


class TestOld(unittest.TestCase):
    def test_parts(self):
        for part in range(3):
            with self.subTest(part=part):
                self.assertNotEqual(part, 1)

    @unittest.expectedFailure
    def test_old_expectation(self):
        self.fail()
"""
STATUSES = {
    "test_passes": "PASSED",
    "test_fails": "FAILED",
    "test_an_address": "FAILED",
    "test_skipped": "SKIPPED",
    "test_fails_as_expected": "XFAIL",
    "test_passes_against_expectation": "XPASS",
    "test_must_fail": "FAILED",
    "test_without_setup": "ERROR",
    "test_without_teardown": "ERROR",
    "TestOld::test_parts": "FAILED",
    "TestOld::test_old_expectation": "XFAIL",
}
IN_SRC = """
import subprocess
import sys

import inner


def test_import():
    assert inner.__file__.endswith("src/inner/__init__.py")


def test_process(tmp_path):
    command = [sys.executable, "-c", "import inner; print(inner.__name__)"]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True).stdout == b"inner\\n"
"""
FILES = {
    "src/inner/__init__.py": "",
    "tests/test_inner.py": IN_SRC,
    "tests/test_all.py": EVERY_STATUS,
    "tests/test_broken.py": "import nowhere\n",
    "tests/test_good.py": "def test_good():\n    pass\n",
    "tests/test_none.py": "",
    "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-x'\n",
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        folder = tmp_path_factory.mktemp("made") / "repository"
        files = {path: text.encode() for path, text in FILES.items()}
        yield Workspace(open_repository(folder, *make_repository(folder, files)))


@pytest.fixture(scope="module")
def run(workspace):
    def run(*tests, sandbox="subprocess", python=sys.executable, changes=()):
        changed = Workspace(workspace.base)
        for path, text in dict(changes).items():
            changed.write(path, text.encode())
        return run_tests(changed, tests, sandbox=find_sandbox(sandbox), python=python, limits=Limits())

    return run


@pytest.fixture(scope="module")
def all_statuses(run):
    return run("tests/test_all.py")


def test_every_status_and_no_stop_at_the_first_failure(all_statuses):
    assert all_statuses.statuses == {
        f"tests/test_all.py::{test}": status for test, status in STATUSES.items()
    }
    assert all_statuses.problem is None
    assert all_statuses.exit_code == 1


def test_what_was_said_and_printed(all_statuses):
    texts = {test.rpartition("::")[2]: text for test, text in all_statuses.texts.items()}

    assert "assert (1 + 1) == 3" in texts["test_fails"]
    assert "a word before it" in texts["test_fails"]
    assert "not today" in texts["test_skipped"]
    assert "no teardown" in texts["test_without_teardown"]
    assert "test_passes" not in texts


def test_the_run_says_what_it_ran_with(all_statuses):
    assert all_statuses.versions == {
        "python": ".".join(map(str, sys.version_info[:3])),
        "pytest": pytest.__version__,
    }


def test_the_text_is_the_same_again_and_in_bubblewrap(all_statuses, run):
    assert describe(run("tests/test_all.py")) == describe(all_statuses)
    try:
        find_sandbox("bubblewrap")
    except SandboxError as problem:
        pytest.skip(str(problem))
    assert describe(run("tests/test_all.py", sandbox="bubblewrap")) == describe(all_statuses)


def test_the_text_begins_with_the_counts(all_statuses):
    text = describe(all_statuses)

    assert text.startswith("4 failed, 2 in error, 1 passed, 1 skipped, 2 xfailed, 1 xpassed\n\nFAILED tests/")
    assert "object at 0x..." in text
    assert "\n\nSKIPPED tests/test_all.py::test_skipped: Skipped: not today\nXFAIL tests/" in text


def test_one_test_by_its_id(run):
    done = run("tests/test_all.py::test_passes")

    assert done.statuses == {"tests/test_all.py::test_passes": "PASSED"}
    assert describe(done) == "1 passed"


def test_a_file_that_cannot_be_imported(run):
    done = run("tests/test_broken.py", "tests/test_good.py")

    assert done.statuses == {"tests/test_broken.py": "ERROR"}
    assert done.problem is None
    assert "No module named 'nowhere'" in describe(done)


def test_a_project_in_src_is_as_if_it_were_installed(run):
    assert describe(run("tests/test_inner.py")) == "2 passed"


def test_no_tests(run):
    done = run("tests/test_none.py")

    assert (done.statuses, done.problem, done.exit_code) == ({}, None, 5)
    assert describe(done).startswith("no tests ran")


def test_a_configuration_that_pytest_does_not_take(run):
    done = run(
        "tests/test_good.py", changes={"pyproject.toml": "[tool.pytest.ini_options]\naddopts = '--no'\n"}
    )

    assert done.problem is Problem.NOT_RUN
    assert "unrecognized arguments: --no" in describe(done)


def test_an_exit_code_that_its_tests_do_not_have(run):
    made_good = "def pytest_sessionfinish(session):\n    session.exitstatus = 0\n"
    done = run("tests/test_all.py::test_fails", changes={"conftest.py": made_good})

    assert done.exit_code == 0
    assert done.problem is Problem.DISAGREES


def test_what_a_run_writes_is_gone(run):
    leave = "import pathlib\n\ndef test_leaves():\n    with open('left', 'x'):\n        pass\n"

    for _ in range(2):
        assert run("test_more.py", changes={"test_more.py": leave}).problem is None


def test_the_workspace_stays_as_it_is(workspace, run):
    before = workspace.snapshot()
    run("tests/test_good.py", changes={"tests/test_good.py": "def test_good(): assert 0\n"})

    assert workspace.snapshot() == before


def test_an_interpreter_without_pytest_is_no_fault_of_the_code(run, tmp_path):
    venv.create(tmp_path / "bare", symlinks=True)

    with pytest.raises(SandboxError, match="install pytest"):
        run("tests/test_good.py", python=str(tmp_path / "bare" / "bin" / "python"))


@pytest.mark.parametrize("python", ["no-such-python", "/bin/false", "/bin/echo"])
def test_what_is_no_interpreter_is_refused(python):
    with pytest.raises(UsageError, match="expected to be a Python interpreter"):
        find_interpreter(python)


def test_a_link_to_an_interpreter_is_kept():
    assert str(find_interpreter(sys.executable).path) == sys.executable


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        ([], set()),
        (["calc.py", "README.md", "tests/test_calc.py"], {"calc", "tests"}),
        (["src/calc/__init__.py", "src/calc/random.py"], {"src", "calc"}),
        (["src/calc.py", "docs/random.py"], {"src", "calc", "docs"}),
        (["python/calc/__init__.py", "python/calc/sub/__init__.py"], {"python", "calc"}),
        (["spaces/core.py"], {"spaces"}),
        (["set-up.py"], set()),
    ],
)
def test_the_modules_of_a_project(paths, names):
    assert own_modules(paths) == names


@pytest.mark.parametrize(
    ("paths", "folders"),
    [
        ([], ["."]),
        (["calc.py", "src/notes.txt"], ["."]),
        (["src/calc/core.py"], ["src", "."]),
        (["lib/calc.py", "src/calc.py"], ["src", "lib", "."]),
        (["src/__init__.py", "src/calc.py"], ["."]),
    ],
)
def test_where_a_project_is_imported_from(paths, folders):
    assert import_folders(paths) == folders


def test_what_is_installed_comes_first(tmp_path):
    (tmp_path / "fractions.py").write_text("")
    found = InstalledFirst([path for path in sys.path if path], {"json"})

    assert found.find_spec("fractions", None).origin == sys.modules["fractions"].__file__
    assert found.find_spec("json", None) is None
    assert found.find_spec("nowhere", None) is None
    assert found.find_spec("decoder", ["json"]) is None


def test_what_a_build_adds_to_a_package_is_found_where_it_is_installed(tmp_path):
    (tmp_path / "calc" / "inner").mkdir(parents=True)
    for file in ("calc/_version.py", "calc/inner/data.py", "other.py"):
        (tmp_path / file).write_text("")
    found = Generated([str(tmp_path)], {"calc", "other"})

    version, data = found.find_spec("calc._version", []), found.find_spec("calc.inner.data", [])
    assert version.origin == str(tmp_path / "calc/_version.py")
    assert data.origin == str(tmp_path / "calc/inner/data.py")
    assert found.find_spec("calc.nowhere", []) is None
    assert found.find_spec("other", None) is None
    assert Generated([str(tmp_path)], {"other"}).find_spec("calc._version", []) is None


events = st.lists(
    st.fixed_dictionaries({"test": st.text(), "outcome": st.sampled_from(["passed", "failed"])}), max_size=5
)
KEY = b"k" * 32


def sealed(path, written):
    path.unlink(missing_ok=True)
    report = journal(str(path), KEY)
    for event in written:
        report(**event)
    return path.read_bytes()


def read_back(report):
    return [{"test": event.test, "outcome": event.outcome} for event in read_report(report, KEY)]


@given(events)
def test_a_report_is_read_back(tmp_path_factory, written):
    path = tmp_path_factory.getbasetemp() / "report"

    assert read_back(sealed(path, written)) == written


@given(events.filter(bool), st.data())
def test_of_a_report_that_was_changed_only_what_came_before_counts(tmp_path_factory, written, data):
    path = tmp_path_factory.getbasetemp() / "report"
    lines = sealed(path, written).splitlines(keepends=True)
    place = data.draw(st.integers(0, len(lines) - 1))
    position = data.draw(st.integers(0, len(lines[place]) - 2))
    bit = data.draw(st.integers(0, 6))
    changed = bytearray(lines[place])
    changed[position] ^= 1 << bit

    assert read_back(b"".join([*lines[:place], bytes(changed), *lines[place + 1 :]])) == written[:place]


@given(events.filter(lambda written: len(written) > 1), st.data())
def test_lines_cannot_be_left_out_or_exchanged(tmp_path_factory, written, data):
    path = tmp_path_factory.getbasetemp() / "report"
    lines = sealed(path, written).splitlines(keepends=True)
    place = data.draw(st.integers(0, len(lines) - 2))

    assert read_back(b"".join(lines[:place] + lines[place + 1 :])) == written[:place]
    lines[place : place + 2] = lines[place + 1], lines[place]
    assert read_back(b"".join(lines)) == written[:place]


@given(st.binary())
def test_any_bytes_are_a_report_of_nothing(report):
    assert read_back(report) == []


def test_a_process_that_was_forked_writes_nothing(tmp_path):
    report = journal(str(tmp_path / "report"), KEY)
    report(test="a", outcome="passed")
    if not (child := os.fork()):
        report(test="b", outcome="passed")
        os._exit(0)
    os.waitpid(child, 0)
    report(test="c", outcome="passed")

    assert [event["test"] for event in read_back((tmp_path / "report").read_bytes())] == ["a", "c"]


@pytest.fixture(scope="module")
def originals():
    return Originals(Reporter(print, "/nowhere"))


PLACES = [
    *((unittest.TestCase, name) for name in ("assertEqual", "fail", "run", "assertRaises", "subTest")),
    *((unittest.mock.NonCallableMock, name) for name in ("assert_called_with", "called")),
    *((math, name) for name in ("isclose", "fsum")),
]


@pytest.mark.parametrize(("owner", "name"), PLACES, ids=[name for _, name in PLACES])
def test_what_decides_is_watched(owner, name, originals, monkeypatch):
    before = set(originals.changes())
    monkeypatch.setattr(owner, name, lambda *_: None)

    assert any(place.endswith(f".{name}") for place in set(originals.changes()) - before)
    monkeypatch.undo()
    assert set(originals.changes()) == before


def test_what_changes_within_a_function_is_watched(originals, monkeypatch):
    function = unittest.TestCase.assertTrue
    monkeypatch.setattr(function, "__code__", (lambda *_: None).__code__)

    assert "unittest.case.TestCase.assertTrue" in set(originals.changes())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<f at 0x7f12ab34cd56>", "<f at 0x...>"),
        ("0x10", "0x10"),
        ("/tmp/pytest-of-me/pytest-12/test_a0/x", "/tmp/pytest/test_a0/x"),  # noqa: S108 - a text
        ("/tmp/tool-envs-ab_12x/workspace/calc.py:3", "./calc.py:3"),  # noqa: S108 - a text
        ("/workspace/calc.py:3", "./calc.py:3"),
        ("==== 3 passed in 0.12s ====", "==== 3 passed in ...s ===="),
        ("waited 0.12s for it", "waited 0.12s for it"),
    ],
)
def test_steady_text(text, expected):
    assert steady(text) == expected


@given(st.text(), st.integers(0, 60))
def test_a_text_is_cut_in_its_middle(text, limit):
    found = cut(text, limit)

    assert (
        found == text if len(text) <= limit else f"[... {len(text) - limit // 2 * 2} characters ...]" in found
    )
    assert len(found) <= limit + 40
    assert found.startswith(text[: limit // 2])
