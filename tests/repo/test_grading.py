"""What is protected before a grade, and what a grade says."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_project import FIXED, TEST_PATCH, TESTS, Project

from tool_envs.errors import DataFileError, UsageError
from tool_envs.repo.grading import Grade, grade_by_tests, grader_digest, with_hidden_tests
from tool_envs.repo.protection import Protection, in_the_way, unfounded
from tool_envs.repo.resolution import Resolution, Split, TestsStatus
from tool_envs.repo.sandbox import Limits, find_sandbox
from tool_envs.repo.testing import Problem

names = st.sampled_from(["a", "tests", "b.py", "test_c.py", "conftest.py", "src"])
paths = st.lists(names, min_size=1, max_size=4).map("/".join)


@given(st.sets(paths), paths)
def test_what_decides_is_protected_and_so_is_its_folder_of_tests(decisive, path):
    protection = Protection(decisive)

    assert all(map(protection.covers, decisive))
    for file in decisive:
        folder, found, _ = file.rpartition("tests/")
        if found and not folder.endswith("/tests/"):
            assert protection.covers(f"{folder}tests/{path}")


@given(st.sets(paths), paths)
def test_more_that_decides_never_protects_less(decisive, path):
    assert Protection({*decisive, "more/tests/x.py"}).covers(path) or not Protection(decisive).covers(path)


@pytest.mark.parametrize(
    ("path", "covered"),
    [
        ("pkg/tests/test_a.py", True),
        ("pkg/tests/data/values.json", True),
        ("pkg/core.py", False),
        ("pkg/testing.py", False),
        ("test_root.py", False),
        ("other/tests/test_b.py", False),
        ("other/tests/conftest.py", True),
        ("setup.cfg", True),
        ("docs/tox.ini", True),
        ("setup.py", False),
        ("evil.pth", True),
        ("lib/evil.egg-info/entry_points.txt", True),
        ("pkg/__pycache__/core.cpython-311.pyc", True),
        ("sitecustomize.cpython-311-x86_64-linux-gnu.so", True),
    ],
)
def test_protection(path, covered):
    assert Protection(["pkg/tests/test_a.py"]).covers(path) is covered


@given(st.sets(paths, min_size=1), paths)
def test_what_is_in_the_way_is_above_or_below(files, path):
    parts = path.split("/")
    above = {"/".join(parts[:depth]) for depth in range(1, len(parts))}

    assert in_the_way(path, files) == (bool(above & files) or any(f.startswith(path + "/") for f in files))


@pytest.mark.parametrize(
    ("text", "around", "found"),
    [
        ("def test_a(): pass", (), ["t.py::skipped", "t.py::xfailed"]),
        ("@pytest.mark.skipif(x)", (), ["t.py::xfailed"]),
        ("raise unittest.SkipTest", (), ["t.py::xfailed"]),
        ("@unittest.expectedFailure", (), ["t.py::skipped"]),
        ("pytest.xfail()", ("def needs_db(): pytest.skip()",), []),
    ],
)
def test_who_may_skip(text, around, found):
    statuses = {"t.py::passed": "PASSED", "t.py::skipped": "SKIPPED", "t.py::xfailed": "XFAIL"}

    assert unfounded(statuses, {"t.py": text}, around) == found


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield Project(tmp_path_factory.mktemp("made") / "project")


changes = st.dictionaries(paths, st.text(max_size=3), max_size=5)


@given(changes)
def test_what_is_protected_is_as_without_the_agent_and_all_else_stays(project, drawn):
    files = {*drawn, *project.repository.files}
    drawn = {path: text for path, text in drawn.items() if not in_the_way(path, files - {path})}
    workspace = project.workspace(drawn)
    graded, protection = with_hidden_tests(workspace, project.instance)
    expected, _ = with_hidden_tests(project.workspace({}), project.instance)

    for path in {*graded.paths(), *expected.paths(), *drawn}:
        source = expected if protection.covers(path) else workspace
        assert graded.read(path) == source.read(path)


def test_the_agents_workspace_stays_as_it_is(project):
    workspace = project.workspace({"calc.py": FIXED, "tests/test_calc.py": ""})
    before = workspace.snapshot()
    with_hidden_tests(workspace, project.instance)

    assert workspace.snapshot() == before


def test_without_a_test_patch_the_tests_are_those_of_the_commit(project):
    instance = msgspec.structs.replace(project.instance, test_patch="")
    graded, _ = with_hidden_tests(project.workspace({"tests/test_calc.py": "more"}), instance)

    assert graded.changes() == {}


def test_a_test_patch_may_delete_and_make_files_with_modes(project):
    lines = TESTS.splitlines()
    patch = (
        "diff --git a/tests/test_calc.py b/tests/test_calc.py\ndeleted file mode 100644\n"
        f"--- a/tests/test_calc.py\n+++ /dev/null\n@@ -1,{len(lines)} +0,0 @@\n"
        + "".join(f"-{line}\n" for line in lines)
        + "diff --git a/tests/run.sh b/tests/run.sh\nnew file mode 100755\n"
        "--- /dev/null\n+++ b/tests/run.sh\n@@ -0,0 +1 @@\n+true\n"
    )
    instance = msgspec.structs.replace(project.instance, test_patch=patch)
    graded, _ = with_hidden_tests(project.workspace({"tests/test_calc.py": "x"}), instance)

    assert graded.read("tests/test_calc.py") is None
    assert graded.file("tests/run.sh").mode == 0o100755


def test_a_test_patch_that_does_not_fit_is_the_instances_fault(project):
    instance = msgspec.structs.replace(
        project.instance, test_patch=TEST_PATCH.replace("calc.double(4)", "no")
    )

    with pytest.raises(DataFileError, match="test_patch is expected to fit base_commit"):
        with_hidden_tests(project.workspace({}), instance)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"fail_to_pass": None}, "does not state FAIL_TO_PASS and PASS_TO_PASS"),
        ({"pass_to_pass": None}, "does not state FAIL_TO_PASS and PASS_TO_PASS"),
        ({"pass_to_pass": ("test_x (app.tests.T)",)}, "tests are run by pytest's node ids"),
        ({"fail_to_pass": ("tests/test_none.py::test_x",)}, "no file of its repository"),
    ],
)
def test_instances_that_tests_cannot_grade(fields, message, project):
    instance = msgspec.structs.replace(project.instance, **fields)

    with pytest.raises(UsageError, match=message):
        grade_by_tests(project.workspace({}), instance, sandbox=find_sandbox("subprocess"), python="python3")


def test_a_fix_of_one_part_is_partial(project):
    half = FIXED.replace("a + b", "a + b if b == 2 else a - b")
    grade = project.grade({"calc.py": half}, find_sandbox("subprocess"))

    assert grade.resolution is Resolution.PARTIAL
    assert not grade.resolved
    assert grade.components == {"trusted": True, "fail_to_pass": False, "pass_to_pass": True}


def test_a_fix_that_loses_what_worked_is_none(project):
    lost = FIXED.replace("2 * a", "3 * a")
    grade = project.grade({"calc.py": lost}, find_sandbox("subprocess"))

    assert grade.resolution is Resolution.NO
    assert grade.tests.fail_to_pass.failure == ()
    assert grade.components == {"trusted": True, "fail_to_pass": True, "pass_to_pass": False}


@pytest.mark.parametrize("problem", Problem)
def test_a_run_that_is_not_to_be_trusted_resolves_nothing(problem):
    all_pass = TestsStatus(Split(("a",), ()), Split(("b",), ()))
    grade = Grade(tests=all_pass, problem=problem, changed=(), unfounded=(), versions={})

    assert not grade.resolved
    assert grade.resolution is Resolution.NO
    assert not any(grade.components.values())


def test_the_digest_covers_sandbox_and_limits():
    digests = {
        grader_digest("bubblewrap"),
        grader_digest("subprocess"),
        grader_digest("bubblewrap", Limits(cpu_seconds=1)),
    }

    assert len(digests) == 3
    assert grader_digest("bubblewrap") == grader_digest("bubblewrap")
