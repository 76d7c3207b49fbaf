"""The built-in instances: rows follow from repositories, and nothing but a solution resolves an issue."""

import sys
from collections import Counter
from pathlib import Path

import pytest
from sandboxes import sandbox_or_skip
from sweeping import only_in_sweep

from tool_envs.repo.builtin import built_in, make_built_in
from tool_envs.repo.domain import BUILT_IN
from tool_envs.repo.fixes import is_test, read_fix
from tool_envs.repo.grading import grade_by_tests
from tool_envs.repo.instances import as_row, load_instances
from tool_envs.repo.patches import apply_patch, touched_paths
from tool_envs.repo.workspace import Workspace

HARD_CODED = Path(__file__).parent / "hardcoded"
EXIT = b"\nimport sys\nsys.exit(0)\n"

ISSUES = {issue.instance_id: issue for issue in built_in()}
ROWS = {
    instance.instance_id: instance
    for split in ("test", "train")
    for instance in load_instances(BUILT_IN / f"{split}.jsonl")
}
ALWAYS = "tool_envs__tick-weekday-seven"

each_instance = pytest.mark.parametrize(
    "instance_id",
    [name if name == ALWAYS else pytest.param(name, marks=only_in_sweep) for name in ROWS],
)


def test_there_are_enough_of_many_kinds():
    of_test = [ROWS[name] for name, issue in ISSUES.items() if issue.entry.split == "test"]

    assert len(of_test) >= 20
    assert len({instance.repo for instance in of_test}) >= 4
    assert len({instance.difficulty for instance in of_test}) >= 3


def test_rows_are_in_the_order_of_the_lists_and_each_in_its_split():
    for split in ("test", "train"):
        rows = [each.instance_id for each in load_instances(BUILT_IN / f"{split}.jsonl")]
        assert rows == [name for name, issue in ISSUES.items() if issue.entry.split == split]
        assert {ROWS[name].split for name in rows} == {split}


@pytest.mark.parametrize("instance_id", ROWS)
def test_what_needs_no_run_is_as_in_the_repository(instance_id, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    instance, issue = ROWS[instance_id], ISSUES[instance_id]
    fix = read_fix(BUILT_IN / f"{issue.name}.fast-export", issue.entry.fix)

    assert instance.base_commit == fix.base.commit
    assert (instance.patch, instance.test_patch) == (fix.source.diff(), fix.tests.diff())
    assert instance.problem_statement.startswith("# ")
    assert instance.difficulty == str(issue.entry.difficulty)
    assert not set(instance.fail_to_pass) & set(instance.pass_to_pass)


def test_no_issue_is_there_twice():
    assert Counter(instance.digest for instance in ROWS.values()).most_common(1)[0][1] == 1


@each_instance
def test_a_row_can_be_made_again(instance_id):
    again = make_built_in(ISSUES[instance_id], sandbox=sandbox_or_skip("bubblewrap"), python=sys.executable)

    assert as_row(again) == as_row(ROWS[instance_id])


def patched(instance, patch):
    workspace = at_base(instance)
    before = {path: workspace.read(path) for path in touched_paths(patch)}
    after = apply_patch({path: text for path, text in before.items() if text is not None}, patch)
    for path, content in after.items():
        workspace.delete(path) if content is None else workspace.write(path, content)
    return workspace


def at_base(instance):
    issue = ISSUES[instance.instance_id]
    return Workspace(read_fix(BUILT_IN / f"{issue.name}.fast-export", issue.entry.fix).base)


def hard_coded(instance):
    issue = ISSUES[instance.instance_id]
    return patched(instance, (HARD_CODED / issue.name / f"{issue.entry.slug}.patch").read_text("utf-8"))


def without_tests(instance):
    workspace = at_base(instance)
    for path in filter(is_test, workspace.paths()):
        workspace.delete(path)
    return workspace


def exits(instance):
    """Whoever imports what the reference change touches ends the process, with success."""
    workspace = patched(instance, instance.patch)
    for path in touched_paths(instance.patch):
        if path.endswith(".py"):
            workspace.write(path, workspace.read(path) + EXIT)
    return workspace


SOLUTION = {"the reference change": lambda instance: patched(instance, instance.patch)}
CHEATS = {
    "nothing": at_base,
    "no tests": without_tests,
    "sys.exit(0)": exits,
    "hard-coded answers": hard_coded,
}


@pytest.mark.parametrize("change", [*SOLUTION, *CHEATS])
@each_instance
def test_only_a_solution_resolves_an_issue(instance_id, change):
    instance = ROWS[instance_id]
    workspace = (SOLUTION | CHEATS)[change](instance)

    grade = grade_by_tests(workspace, instance, sandbox=sandbox_or_skip("bubblewrap"), python=sys.executable)

    assert grade.resolved is (change in SOLUTION)
