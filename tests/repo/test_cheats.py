"""Changes that would have failing tests look as if they passed; none of them resolves an issue."""

import pytest
from small_project import FIXED, SOURCE, TESTS, Project

from tool_envs.repo.grading import with_hidden_tests
from tool_envs.repo.sandbox import Limits, SandboxError, find_sandbox
from tool_envs.repo.testing import Problem

FORGED_REPORTS = """
import pytest

@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    result = yield
    result.get_result().outcome = "passed"

def pytest_sessionfinish(session):
    session.exitstatus = 0
"""
SKIPS_ALL = "def pytest_runtest_setup(item):\n    import pytest\n    pytest.skip()\n"
FORGE = """
import glob, json, os

def forge():
    for path in glob.glob(".*report*"):
        os.remove(path)
        with open(path, "w") as report:
            for name in ("test_add", "test_add_fractions", "test_add_with_help", "TestAdd::test_zero"):
                event = {"test": f"tests/test_calc.py::{name}", "when": "call", "outcome": "passed"}
                report.write("0" * 64 + " " + json.dumps(event) + chr(10))
            report.write("0" * 64 + " " + json.dumps({"exit_code": 0}) + chr(10))
"""
OF_REPORT = "import glob\nreport, = glob.glob('.*report*')\n"
EQUAL_TO_ALL = "class Fraction:\n    def __init__(self, *_): pass\n    def __eq__(self, other): return True\n"
NOTHING_RAISED = """
import contextlib

@contextlib.contextmanager
def raises(*_, **__):
    try:
        yield
    except BaseException:
        pass

class fixture:
    def __new__(cls, function): return function
"""
ENTRY_POINT = {
    "evil-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n",
    "evil-1.0.dist-info/entry_points.txt": "[pytest11]\nevil = evil\n",
    "evil.py": FORGED_REPORTS,
}

# Files that decide how tests run: taken back before the tests run, so that they fail as they did before.
TAKEN_BACK = {
    "a conftest.py at the root": {"conftest.py": FORGED_REPORTS},
    "the tests' conftest.py": {"tests/conftest.py": FORGED_REPORTS},
    "a conftest.py that skips": {"conftest.py": SKIPS_ALL},
    "a plugin by pytest.ini": {"pytest.ini": "[pytest]\naddopts = -p evil\n", "evil.py": FORGED_REPORTS},
    "a plugin by .pytest.ini": {".pytest.ini": "[pytest]\naddopts = -p evil\n", "evil.py": FORGED_REPORTS},
    "a plugin by pytest.toml": {
        "pytest.toml": "[pytest]\naddopts = ['-p', 'evil']\n",
        "evil.py": FORGED_REPORTS,
    },
    "a plugin by pyproject.toml": {
        "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-p evil'\n",
        "evil.py": FORGED_REPORTS,
    },
    "a plugin by setup.cfg": {
        "pyproject.toml": None,
        "setup.cfg": "[tool:pytest]\naddopts = -p evil\n",
        "evil.py": FORGED_REPORTS,
    },
    "a plugin by tox.ini": {
        "pyproject.toml": None,
        "tox.ini": "[pytest]\naddopts = -p evil\n",
        "evil.py": FORGED_REPORTS,
    },
    "a plugin by an entry point": ENTRY_POINT,
    "deselected tests": {"pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-k double'\n"},
    "deleted tests": {"tests/test_calc.py": None},
    "emptied tests": {"tests/test_calc.py": "def test_double(): pass\n"},
    "a file in place of the tests": {
        "tests/test_calc.py": None,
        "tests/helpers.py": None,
        "tests/conftest.py": None,
        "tests": "",
    },
    "a folder in place of the tests": {"tests/test_calc.py": None, "tests/test_calc.py/__init__.py": ""},
    "a helper of the tests": {"tests/helpers.py": "def same(a, b):\n    return True\n"},
    "tests as a package with a hook": {"tests/__init__.py": FORGED_REPORTS},
    "sitecustomize": {"sitecustomize.py": "import unittest\nunittest.TestCase.assertEqual = print\n"},
    "usercustomize": {"usercustomize.py": "import unittest\nunittest.TestCase.assertEqual = print\n"},
    "sitecustomize as a package": {"sitecustomize/__init__.py": "import os\nos._exit(0)\n"},
    "a .pth file": {"evil.pth": "import os; os._exit(0)\n"},
}

# Modules that stand in for others: never found.
STAND_INS = {
    "pytest.py": {"pytest.py": NOTHING_RAISED},
    "_pytest": {"_pytest/__init__.py": "", "_pytest/runner.py": ""},
    "a standard module": {"fractions.py": EQUAL_TO_ALL},
    "a standard package": {"unittest/__init__.py": "class TestCase: pass\n"},
    "an installed module": {"pluggy.py": "", "iniconfig.py": ""},
}

_IMPORT_ALL = "import atexit, builtins, gc, os, sys, unittest\n"


def source(more):
    return {"calc.py": f"{_IMPORT_ALL}{more}\n{SOURCE}"}


def in_add(statement):
    return {"calc.py": _IMPORT_ALL + SOURCE.replace("    return a - b", f"    {statement}\n    return a - b")}


# Source that ends or disturbs the run: nothing counts of what it says.
UNTRUSTED = {
    "os._exit(0) at import": (source("os._exit(0)"), Problem.DIED),
    "os._exit(0) in a function": (in_add("os._exit(0)"), Problem.DIED),
    "pytest.exit(0) in a function": (in_add("import pytest; pytest.exit('done', returncode=0)"), None),
    "sys.exit(0) at import": (source("sys.exit(0)"), Problem.NOT_RUN),
    "sys.exit(0) in a function": (in_add("sys.exit(0)"), None),
    "KeyboardInterrupt": (in_add("raise KeyboardInterrupt"), Problem.DIED),
    "a fork whose parent ends well": (source("os.fork() and os._exit(0)"), Problem.DIED),
    "a report of its own, and an end": (source(FORGE + "forge()\nos._exit(0)"), Problem.NOT_RUN),
    "a report of its own at exit": (source(FORGE + "atexit.register(forge)"), None),
    "a report without an end": (
        source("import glob\nfor r in glob.glob('.*report*'): os.remove(r)"),
        Problem.NOT_RUN,
    ),
    "an empty report": (
        source("import glob\nfor r in glob.glob('.*report*'): os.truncate(r, 0)"),
        Problem.NOT_RUN,
    ),
    "a pipe as a report": (
        source("import glob\nfor r in glob.glob('.*report*'):\n    os.remove(r)\n    os.mkfifo(r)"),
        Problem.NOT_RUN,
    ),
    "printed results": (source("print('PASSED tests/test_calc.py::test_add')"), None),
    "skips when tested": (in_add("import pytest; pytest.skip('later')"), None),
    "skips by unittest": (in_add("raise unittest.SkipTest('later')"), None),
    "fails as expected": (in_add("import pytest; pytest.xfail('known')"), None),
    "marks its tests": (
        source(
            "import pytest\nframe = sys._getframe()\n"
            "while frame:\n"
            "    if 'test_calc' in frame.f_globals.get('__name__', ''):\n"
            "        frame.f_globals['pytestmark'] = pytest.mark.xfail\n"
            "    frame = frame.f_back"
        ),
        None,
    ),
}

# Source that changes what decides whether a test passes: noticed.
TAMPERING = {
    "unittest's assertEqual": source("unittest.TestCase.assertEqual = lambda *_: None"),
    "the code of assertEqual": source("unittest.TestCase.assertEqual.__code__ = (lambda *_: None).__code__"),
    "an assertion of a subclass": source("unittest.TestCase.__getattribute__ = lambda *_: print"),
    "how pytest runs a function": source(
        "import _pytest.python\n_pytest.python.Function.runtest = lambda _: None"
    ),
    "how pytest calls anything": source(
        "import _pytest.runner\n"
        "_pytest.runner.CallInfo.from_call.__func__.__code__ = (lambda *_, **__: None).__code__"
    ),
    "what pytest reports": source(
        "import _pytest.reports\n"
        "make = _pytest.reports.TestReport.from_item_and_call.__func__\n"
        "def passed(cls, item, call):\n"
        "    report = make(cls, item, call)\n"
        "    report.outcome = 'passed'\n"
        "    return report\n"
        "_pytest.reports.TestReport.from_item_and_call = classmethod(passed)"
    ),
    "pytest.raises": source("import pytest\nfrom contextlib import suppress\npytest.raises = suppress"),
    "a name that hides a builtin": source(
        "import _pytest.runner\n_pytest.runner.isinstance = lambda *_: False"
    ),
    "a builtin": source("builtins.abs = lambda _: 0"),
    "pytest in sys.modules": source(
        "import types\nfake = types.ModuleType('pytest')\nsys.modules['pytest'] = fake"
    ),
    "a plugin of its own": source(
        "class Plugin:\n"
        "    def pytest_pyfunc_call(self, pyfuncitem):\n"
        "        return True\n"
        "for manager in gc.get_objects():\n"
        "    if type(manager).__name__ == 'PytestPluginManager':\n"
        "        manager.register(Plugin())"
    ),
    "the code of a test that calls it": in_add(
        "sys._getframe(1).f_globals['test_add_fractions'].__code__ = (lambda: None).__code__"
    ),
    "the reporter": source(
        "for found in gc.get_objects():\n"
        "    if type(found).__name__ == 'Reporter':\n"
        "        report = found._report\n"
        "        found._report = lambda **event: report(**{**event, 'outcome': 'passed'})"
    ),
    "the class of the reporter": source("import __main__\n__main__.Reporter.check = lambda *_: None"),
}


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield Project(tmp_path_factory.mktemp("made") / "project")


@pytest.fixture(scope="module")
def sandbox():
    return find_sandbox("subprocess")


def test_without_a_change_nothing_is_resolved(project, sandbox):
    grade = project.grade({}, sandbox)

    assert not grade.resolved
    assert grade.problem is None
    assert grade.tests.pass_to_pass.failure == ()
    assert grade.tests.fail_to_pass.success == ()


def test_the_fix_resolves(project, sandbox):
    assert project.grade({"calc.py": FIXED}, sandbox).resolved


@pytest.mark.parametrize("name", TAKEN_BACK)
def test_what_decides_how_tests_run_is_taken_back(name, project):
    graded, _ = with_hidden_tests(project.workspace(TAKEN_BACK[name]), project.instance)
    expected, _ = with_hidden_tests(project.workspace({}), project.instance)

    assert set(graded.changes()) - {"evil.py"} == set(expected.changes())
    assert graded.read("tests/test_calc.py") == expected.read("tests/test_calc.py")


@pytest.mark.parametrize("more", [{}, {"calc.py": FIXED}], ids=["the bug", "the fix"])
def test_all_of_them_at_once_change_no_grade(more, project, sandbox):
    changes = dict(more)
    for cheat in (TAKEN_BACK | STAND_INS).values():
        if None not in cheat.values():
            changes.update(cheat)

    assert project.grade(changes, sandbox) == project.grade(more, sandbox)


@pytest.mark.parametrize("name", STAND_INS)
def test_stand_ins_are_never_found(name, project, sandbox):
    assert project.grade(STAND_INS[name], sandbox) == project.grade({}, sandbox)


@pytest.fixture(scope="module")
def project_in_src(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield Project(tmp_path_factory.mktemp("made") / "project", "src/calc.py")


def test_a_project_in_src_is_graded_and_stand_ins_there_are_never_found(project_in_src, sandbox):
    stand_ins = {f"src/{path}": text for cheat in STAND_INS.values() for path, text in cheat.items()}

    assert project_in_src.grade({"src/calc.py": FIXED}, sandbox).resolved
    assert project_in_src.grade({"calc.py": FIXED}, sandbox) == project_in_src.grade({}, sandbox)
    assert project_in_src.grade(stand_ins, sandbox) == project_in_src.grade({}, sandbox)


def test_nobody_adds_a_folder_that_modules_are_imported_from(project, sandbox):
    assert project.grade({"src/calc.py": FIXED}, sandbox) == project.grade({}, sandbox)


@pytest.mark.parametrize("name", UNTRUSTED)
def test_source_that_disturbs_the_run(name, project, sandbox):
    changes, problem = UNTRUSTED[name]
    grade = project.grade(changes, sandbox)

    assert not grade.resolved
    assert grade.problem == problem
    assert grade.tests.fail_to_pass.success == ()


@pytest.mark.parametrize("name", TAMPERING)
def test_source_that_changes_how_tests_are_judged(name, project, sandbox):
    grade = project.grade(TAMPERING[name], sandbox)

    assert not grade.resolved
    assert grade.problem is Problem.TAMPERED
    assert grade.changed


def test_tests_of_the_agent_stay_and_do_not_count(project, sandbox):
    failing = {"checks.py": TESTS, "test_more.py": "def test_more():\n    assert False\n"}

    assert project.grade({**failing, "calc.py": FIXED}, sandbox).resolved


@pytest.fixture(scope="module")
def bubblewrap():
    try:
        return find_sandbox("bubblewrap")
    except SandboxError as problem:
        pytest.skip(str(problem))


OUT_OF_BOUNDS = {
    "kills what started it": ("os.kill(os.getppid(), 9)", Limits(), None),  # it may not: an error like others
    "kills all that it can": ("os.kill(-1, 9)", Limits(), None),
    "never ends": ("while True: pass", Limits(cpu_seconds=2), Problem.CPU_LIMIT),
    "sleeps": ("import time; time.sleep(1000)", Limits(wall_seconds=2.0), Problem.WALL_LIMIT),
    "fills the disk": (
        "for n in range(100): open(str(n), 'wb').write(bytes(1 << 20))",
        Limits(disk_bytes=20 << 20),
        Problem.DISK_LIMIT,
    ),
}


def test_in_bubblewrap_the_fix_resolves_and_the_bug_does_not(project, bubblewrap):
    assert project.grade({"calc.py": FIXED}, bubblewrap).resolved
    assert project.grade({}, bubblewrap).tests.fail_to_pass.success == ()


@pytest.mark.parametrize("name", OUT_OF_BOUNDS)
def test_source_that_goes_beyond_its_bounds(name, project, bubblewrap):
    statement, limits, problem = OUT_OF_BOUNDS[name]
    grade = project.grade(in_add(statement), bubblewrap, limits)

    assert grade.problem is problem
    assert not grade.resolved
