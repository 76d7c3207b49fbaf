"""Instances from commits that fixed a bug: which tests decide, what is dropped, and what makes none."""

import json
import sys
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_repositories import add_commit, make_repository, run_git, write_files
from small_project import FIXED, SOURCE, TESTS
from typer.testing import CliRunner

from tool_envs.cli.app import app
from tool_envs.errors import DataFileError, UsageError
from tool_envs.repo.deciding import Why, sort_out
from tool_envs.repo.fixes import NoInstanceError, is_test, read_fix
from tool_envs.repo.instances import append_instance, load_instances
from tool_envs.repo.make import TELLS, make_instance
from tool_envs.repo.patches import touched_paths
from tool_envs.repo.resolution import PASSING
from tool_envs.repo.sandbox import find_sandbox

MORE_TESTS = TESTS + "\n\ndef test_add():\n    assert calc.add(1, 2) == 3\n"
OTHER_TESTS = """import sys

import pytest


def test_hash():
    assert hash("apple") % 2 == 0


def test_double_is_odd():
    assert __import__("calc").add(1, 1) == 0


@pytest.mark.skip
def test_skipped(): ...


def test_same():
    sys.ran_before = True
"""
LATER_TESTS = """import sys


def test_order():
    assert sys.ran_before
"""
BEFORE = {path: text.encode() for path, text in {"calc.py": SOURCE, "tests/test_calc.py": TESTS}.items()}
FIX = {"calc.py": FIXED.encode(), "tests/test_calc.py": MORE_TESTS.encode()}

statuses = st.sampled_from(["PASSED", "FAILED", "ERROR", "SKIPPED", "XFAIL", "XPASS"])
runs = st.lists(st.dictionaries(st.sampled_from("abcd"), statuses), min_size=1, max_size=3)


@given(runs, runs)
def test_each_test_is_in_one_place_and_belongs_there(before, after):
    lists = sort_out(before, after)

    placed = [*lists.fail_to_pass, *lists.pass_to_pass, *lists.dropped]
    assert sorted(placed) == sorted(set(chain(*before, *after)))
    for test in placed:
        earlier = {run.get(test) in PASSING for run in before}
        later = {run.get(test) in PASSING for run in after}
        assert (test in lists.fail_to_pass) == (earlier == {False} and later == {True})
        assert (test in lists.pass_to_pass) == (earlier == {True} and later == {True})
        assert (lists.dropped.get(test) == Why.FLAKY) == (len(earlier) == 2 or len(later) == 2)


@given(runs, runs, st.randoms())
def test_the_order_of_runs_does_not_matter(before, after, random):
    expected = sort_out(before, after)
    random.shuffle(before)
    random.shuffle(after)

    assert sort_out(before, after) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("tests/test_a.py", True),
        ("tests/data/a.json", True),
        ("pkg/test/helper.py", True),
        ("pkg/testing/asserts.py", True),
        ("pkg/test_core.py", True),
        ("pkg/core_test.py", True),
        ("conftest.py", True),
        ("pkg/testing.py", False),
        ("pkg/tester.py", False),
        ("contest.py", False),
        ("docs/tests.md", False),
        ("pyproject.toml", False),
    ],
)
def test_what_belongs_to_the_tests(path, expected):
    assert is_test(path) is expected


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def made(repository, fix, **options):
    sandbox = find_sandbox("subprocess")
    return make_instance(repository, fix, sandbox=sandbox, python=sys.executable, **options)


def test_an_instance_and_what_is_dropped(tmp_path):
    repository = tmp_path / "calc"
    files = BEFORE | {"tests/test_also.py": OTHER_TESTS.encode(), "tests/test_later.py": LATER_TESTS.encode()}
    base, fix = make_repository(repository, files, FIX | {"README.md": b"Sums\n"})

    instance, dropped, warnings = made(repository, "HEAD", tests=["tests"], repeats=4, issue="It is wrong.\n")

    assert (instance.instance_id, instance.repo) == (f"calc-{fix[:12]}", "calc")
    assert (instance.base_commit, instance.created_at) == (base, "2024-01-01T00:00:00+00:00")
    assert instance.problem_statement == "It is wrong.\n"
    assert touched_paths(instance.patch) == ["README.md", "calc.py"]
    assert touched_paths(instance.test_patch) == ["tests/test_calc.py"]
    assert instance.fail_to_pass == ("tests/test_calc.py::test_add",)
    assert instance.pass_to_pass == ("tests/test_also.py::test_same", "tests/test_calc.py::test_double")
    assert warnings == ()
    assert dropped == {
        "tests/test_also.py::test_hash": "flaky",
        "tests/test_also.py::test_double_is_odd": "broken_by_the_fix",
        "tests/test_also.py::test_skipped": "never_passes",
        "tests/test_later.py::test_order": "flaky",
    }


def test_the_message_of_a_commit_is_an_issue_with_a_warning(tmp_path):
    make_repository(tmp_path / "calc", BEFORE, FIX)

    instance, _, warnings = made(tmp_path / "calc", "main", name="small/calc", instance_id="one", repeats=1)

    assert (instance.instance_id, instance.repo) == ("one", "small/calc")
    assert instance.problem_statement == "Change what is given\n"
    assert warnings == (TELLS,)


def test_tests_that_cannot_be_imported_before_the_fix_leave_the_others_alone(tmp_path):
    fix = {"calc.py": FIXED + "\n\ndef half(a):\n    return a / 2\n"}
    fix["tests/test_half.py"] = "from calc import half\n\n\ndef test_half():\n    assert half(4) == 2\n"
    make_repository(tmp_path / "calc", BEFORE, {path: text.encode() for path, text in fix.items()})

    instance = made(tmp_path / "calc", "main", repeats=1).instance

    assert instance.fail_to_pass == ("tests/test_half.py::test_half",)
    assert instance.pass_to_pass == ("tests/test_calc.py::test_double",)


def test_a_file_that_ends_the_run_before_the_fix_leaves_the_others_alone(tmp_path):
    source = SOURCE.replace("    return a - b", "    import os\n    os._exit(0)")
    sums = b"import calc\n\n\ndef test_sum():\n    assert calc.add(1, 2) == 3\n"
    before = BEFORE | {"calc.py": source.encode()}
    make_repository(tmp_path / "calc", before, {"calc.py": FIXED.encode(), "tests/test_sum.py": sums})

    instance = made(tmp_path / "calc", "main", repeats=1).instance

    assert instance.fail_to_pass == ("tests/test_sum.py::test_sum",)
    assert instance.pass_to_pass == ("tests/test_calc.py::test_double",)


def merge(folder):
    make_repository(folder, BEFORE)
    run_git(folder, "checkout", "--quiet", "-b", "side")
    add_commit(folder, FIX)
    run_git(folder, "checkout", "--quiet", "main")
    run_git(folder, "merge", "--quiet", "--no-ff", "--message", "Merge", "side")


def submodule(folder):
    commit = make_repository(folder, BEFORE)[0]
    write_files(folder, FIX)
    run_git(folder, "add", "--all")
    run_git(folder, "update-index", "--add", "--cacheinfo", f"160000,{commit},vendor")
    run_git(folder, "commit", "--quiet", "--message", "Fix")


def link(folder):
    make_repository(folder, BEFORE)
    (folder / "link.py").symlink_to("calc.py")
    add_commit(folder, FIX)


def two_commits(before, fix):
    return lambda folder: make_repository(folder, before, fix)


NOT_FIXED = FIX | {"calc.py": SOURCE.encode() + b"# nothing\n"}
NO_TEST = FIX | {"tests/test_calc.py": b"import nothing_of_that_name\n"}


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (merge, "is a merge"),
        (lambda folder: make_repository(folder, BEFORE), "is the first commit"),
        (two_commits(BEFORE, {"calc.py": FIXED.encode()}), "changes no tests"),
        (two_commits(BEFORE, {"tests/test_calc.py": MORE_TESTS.encode()}), "changes nothing but tests"),
        (submodule, "changes a submodule"),
        (link, r"cannot be told as a patch.*`new file mode 120000`"),
    ],
    ids=["merge", "root", "no tests", "only tests", "submodule", "link"],
)
def test_commits_that_are_no_fix(tmp_path, make, reason):
    make(tmp_path / "calc")

    with pytest.raises(NoInstanceError, match=reason):
        read_fix(tmp_path / "calc", "main")


@pytest.mark.parametrize(
    ("fix", "reason"),
    [
        (NOT_FIXED, r"no test fails before it and passes after it each time \(flaky: none\)"),
        (NO_TEST, r"After the fix tests/test_calc.py cannot be collected: .*No module named 'nothing_of"),
        (FIX | {"tests/conftest.py": b"import nothing_of_that_name\n"}, r"cannot be run after the fix"),
        (FIX | {"tests/test_calc.py": None, "tests/data.txt": b""}, "After the fix there are no tests"),
    ],
    ids=["nothing fixed", "no module", "broken conftest", "no tests left"],
)
def test_commits_whose_tests_decide_nothing(tmp_path, fix, reason):
    make_repository(tmp_path / "calc", BEFORE, fix)

    with pytest.raises(NoInstanceError, match=f"(?s){reason}"):
        made(tmp_path / "calc", "main", repeats=1)


def test_a_fix_that_needs_what_a_grade_takes_back(tmp_path):
    tests = b"import calc\n\n\ndef test_sum(request):\n    assert request.config.getini('x') == '3'\n"
    conftest = b"def pytest_addoption(parser):\n    parser.addini('x', '')\n"
    before = BEFORE | {"pyproject.toml": b"", "conftest.py": conftest}
    configuration = b"[tool.pytest.ini_options]\nx = '3'\n"
    fix = {"calc.py": FIXED.encode(), "pyproject.toml": configuration, "tests/test_calc.py": tests}
    make_repository(tmp_path / "calc", before, fix)

    with pytest.raises(NoInstanceError, match="no test fails before it and passes after it"):
        made(tmp_path / "calc", "main", repeats=1)


def test_a_fix_that_the_grader_does_not_believe(tmp_path):
    expected = (
        "import pytest\n\nexpected = pytest.mark.xfail\n\n\n"  # nothing in the tests says that one may fail
    )
    tests = "\n\n@calc.expected\ndef test_later():\n    assert False\n"
    before = BEFORE | {"calc.py": (expected + SOURCE).encode()}
    fix = {"calc.py": (expected + FIXED).encode(), "tests/test_calc.py": (MORE_TESTS + tests).encode()}
    make_repository(tmp_path / "calc", before, fix)

    with pytest.raises(NoInstanceError, match=r"resolves nothing \(tests/test_calc.py::test_later\)"):
        made(tmp_path / "calc", "main", repeats=1)


@pytest.mark.parametrize("commit", ["no-such-branch", "--all", "0000000"])
def test_no_such_commit(tmp_path, commit):
    make_repository(tmp_path / "calc", BEFORE)

    with pytest.raises(UsageError, match=f"with the commit '{commit}'"):
        read_fix(tmp_path / "calc", commit)


def test_a_stream_has_no_names_of_commits(tmp_path):
    _, fix = make_repository(tmp_path / "calc", BEFORE, FIX)
    stream = run_git(tmp_path / "calc", "fast-export", "main")
    (tmp_path / "calc.fast-export").write_text(stream + "\n", encoding="utf-8")

    with pytest.raises(UsageError, match="name the commit by all digits of its id"):
        read_fix(tmp_path / "calc.fast-export", "main")
    assert read_fix(tmp_path / "calc.fast-export", fix).commit == fix


def test_rows_are_added_once_each(tmp_path):
    make_repository(tmp_path / "calc", BEFORE, FIX)
    instance = made(tmp_path / "calc", "main", instance_id="one", repeats=1).instance
    rows = tmp_path / "rows.jsonl"
    rows.write_text(
        '{"instance_id": "old", "repo": "o", "base_commit": "%s", "problem_statement": ""}' % ("0" * 40)
    )

    append_instance(rows, instance)

    assert [each.instance_id for each in load_instances(rows)] == ["old", "one"]
    assert load_instances(rows)[1] == instance
    with pytest.raises(DataFileError, match="holds an instance one already"):
        append_instance(rows, instance)


def test_a_row_is_printed_where_no_file_is_named(tmp_path):
    make_repository(tmp_path / "calc", BEFORE, FIX)
    command = ["repo", "make", "--repo", str(tmp_path / "calc"), "--fix", "main", "--repeats", "1"]

    done = CliRunner().invoke(app, [*command, "--sandbox", "subprocess"])

    assert json.loads(done.stdout)["FAIL_TO_PASS"] == ["tests/test_calc.py::test_add"]
    assert TELLS in done.stderr


def test_commands_make_an_instance_and_grade_predictions_of_it(tmp_path):
    make_repository(tmp_path / "calc", BEFORE, FIX)
    (tmp_path / "issue.md").write_text("Sums are wrong: 1 + 2 gives -1.\n", encoding="utf-8")
    rows, answers = tmp_path / "rows.jsonl", tmp_path / "predictions.jsonl"
    command = [
        "repo",
        "make",
        "--repo",
        str(tmp_path / "calc"),
        "--fix",
        "main",
        "--id",
        "one",
        "--repeats",
        "1",
    ]
    command += ["--issue", str(tmp_path / "issue.md"), "--sandbox", "subprocess", "--out", str(rows)]

    done = CliRunner().invoke(app, command)

    assert done.exit_code == 0, done.output
    assert done.stderr == "one: 1 tests fail before the fix and pass after it, 1 pass before and after\n"
    instance = load_instances(rows)[0]
    assert instance.problem_statement == "Sums are wrong: 1 + 2 gives -1.\n"
    again = CliRunner().invoke(app, command)
    assert (again.exit_code, "holds an instance one already" in again.stderr) == (2, True)

    answers.write_text(json.dumps({"instance_id": "one", "model_patch": instance.patch}), encoding="utf-8")
    grading = ["repo", "run", str(rows), "--predictions", str(answers), "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(app, [*grading, "--sandbox", "subprocess", "--json"])
    assert json.loads(done.stdout)["resolved_instances"] == 1
