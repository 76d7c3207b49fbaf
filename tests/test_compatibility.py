"""The README's table of libraries says what runs of their tests showed, and nothing else."""

import json
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "benchmarks" / "compatibility.py"
INTEGRATIONS = ROOT / "tests" / "integrations"
TABLE = runpy.run_path(str(SCRIPT))
NO_LIBRARY = {"learn", "tiny", "view"}  # a benchmark, an example, and a page that needs a browser

MARKED = """\
import pytest

pytestmark = pytest.mark.library("pytest")


@pytest.mark.shows("all of it")
@pytest.mark.parametrize("number", [1, 2])
def test_one(number):
    assert number < 3


@pytest.mark.shows("half of it")
@pytest.mark.parametrize("number", [1, 2])
def test_two(number):
    assert number < 2


@pytest.fixture
def broken():
    yield
    raise OSError


@pytest.mark.shows("not even the end")
def test_three(broken):
    pass


@pytest.mark.shows("unknown")
def test_four():
    pytest.skip("no time")


@pytest.mark.library("gone")
def test_five():
    pytest.skip("it is not here")


@pytest.mark.library("closed", fake="it is not for sale")
@pytest.mark.shows("its form")
def test_six():
    pass


def test_seven():
    pass
"""


def run(folder, *arguments):
    """Run the tests in a folder with the plugin, and keep what they show in `kept` beside it."""
    ini = "[pytest]\nmarkers =\n    library\n    shows\n"
    folder.joinpath("pytest.ini").write_text(ini)
    folder.joinpath("conftest.py").write_text(
        INTEGRATIONS.joinpath("conftest.py")
        .read_text()
        .replace("Path(__file__).parents[2]", f"Path({str(ROOT)!r})")
        + "\n"
    )
    plugin = INTEGRATIONS.joinpath("compatibility_plugin.py").read_text()
    folder.joinpath("compatibility_plugin.py").write_text(plugin)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


@pytest.fixture
def marked(tmp_path):
    """A folder with a file of marked tests."""
    tmp_path.joinpath("test_marked.py").write_text(MARKED)
    return tmp_path


def test_a_run_is_kept(marked):
    finished = run(marked, "--compatibility", "kept", "test_marked.py")

    assert finished.returncode == 1, finished.stderr
    kept = json.loads(marked.joinpath("kept", "marked.json").read_text())
    assert kept["python"] == f"{sys.version_info.major}.{sys.version_info.minor}"
    closed, gone, real = kept["libraries"]
    assert closed == {
        "library": "closed",
        "version": None,
        "fake": "it is not for sale",
        "passed": 1,
        "failed": 0,
        "skipped": 0,
        "why_skipped": [],
        "shows": ["its form"],
        "fails": [],
    }
    assert gone == {
        "library": "gone",
        "version": None,
        "fake": None,
        "passed": 0,
        "failed": 0,
        "skipped": 1,
        "why_skipped": ["it is not here"],
        "shows": [],
        "fails": [],
    }
    assert real == {
        "library": "pytest",
        "version": pytest.__version__,
        "fake": None,
        "passed": 4,
        "failed": 2,
        "skipped": 1,
        "why_skipped": ["no time"],
        "shows": ["all of it"],
        "fails": ["half of it", "not even the end"],
    }


@pytest.mark.parametrize(
    "arguments", [["-k", "one"], ["test_marked.py::test_one"], ["--deselect", "test_marked.py::test_one"]]
)
def test_a_part_of_a_file_is_not_kept(marked, arguments):
    finished = run(marked, "--compatibility", "kept", *arguments)

    assert finished.returncode == pytest.ExitCode.USAGE_ERROR
    assert "choose no tests" in finished.stderr
    assert not marked.joinpath("kept").exists()


def test_files_of_one_extra_are_kept_as_one(tmp_path):
    """`http` is an extra, `http_many` is none."""
    one = 'import pytest\n\npytestmark = pytest.mark.library("pytest")\n\n\ndef test_it():\n    pass\n'
    for name in ("http", "http_many"):
        tmp_path.joinpath(f"test_{name}.py").write_text(one)

    assert run(tmp_path, "--compatibility", "kept", "test_http.py").returncode == pytest.ExitCode.USAGE_ERROR
    assert run(tmp_path, "--compatibility", "kept").returncode == 0

    [file] = tmp_path.joinpath("kept").iterdir()
    [shown] = json.loads(file.read_text())["libraries"]
    assert (file.name, shown["passed"]) == ("http.json", 2)


@pytest.mark.parametrize("arguments", [["-x", "--compatibility", "kept"], []])
def test_nothing_is_kept_of_a_run_that_stops_or_was_not_asked_to_keep(marked, arguments):
    assert run(marked, *arguments, "test_marked.py").returncode == pytest.ExitCode.TESTS_FAILED
    assert not marked.joinpath("kept").exists()


def test_the_table_of_a_run(marked):
    run(marked, "--compatibility", "kept", "test_marked.py")
    marked.joinpath("test_new.py").write_text('import pytest\n\npytestmark = pytest.mark.library("new")\n')
    python = f"Python {sys.version_info.major}.{sys.version_info.minor}"

    lines = TABLE["table"](marked / "kept", marked).splitlines()

    own = [line for line in lines[2:] if "not tested" not in line]
    assert own == [
        f"| `closed` |  | `marked` | a fake of it (it is not for sale), {python}: 1 passed | its form |",
        "| `gone` |  | `marked` | not run: it is not here |  |",
        "| `new` |  | `new` | not run |  |",
        f"| `pytest` | {pytest.__version__} | `marked` | the library itself, {python}: 4 passed, 2 failed, "
        "1 skipped | all of it; fails: half of it; not even the end |",
    ]
    assert len(lines) - 2 - len(own) == len(TABLE["UNTESTED"])


def test_the_readme_has_the_table_of_the_kept_runs():
    finished = subprocess.run([sys.executable, str(SCRIPT), "--check"], capture_output=True, text=True)

    assert (finished.returncode, finished.stderr) == (0, "")


def test_a_table_that_was_edited_is_found():
    text = TABLE["with_table"](f"Before.\n{TABLE['BEGIN']}{TABLE['END']}After.\n", "| a |\n")

    assert TABLE["with_table"](text, "| a |\n") == text
    assert TABLE["with_table"](text.replace("| a |", "| b |"), "| a |\n") == text
    with pytest.raises(ValueError, match="once each"):
        TABLE["with_table"](text + TABLE["END"], "")


def test_every_file_of_tests_is_about_a_library():
    files = TABLE["files_by_extra"](INTEGRATIONS)

    about_none = {extra for extra, found in files.items() if not all(map(TABLE["marked_libraries"], found))}

    assert about_none == NO_LIBRARY


def test_kept_runs_are_of_the_tests_that_there_are():
    """What was shown once, by tests that have another name now, is shown by none."""
    files = TABLE["files_by_extra"](INTEGRATIONS)
    for extra, kept in TABLE["read_runs"](TABLE["RESULTS"]).items():
        source = "".join(file.read_text("utf-8") for file in files[extra])
        phrases = set(re.findall(r'mark\.shows\(\s*"(.*)"', source))
        for each in kept.libraries:
            assert f'mark.library("{each.library}"' in source
            assert {*each.shows, *each.fails} <= phrases
