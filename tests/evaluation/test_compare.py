"""Comparisons: only of equal slices, and what they then say."""

import itertools
import json

import msgspec
import pytest
from evaluations import SMALL, played, reports
from hypothesis import given
from typer.testing import CliRunner

from tool_envs.agents import load_agent
from tool_envs.cli.app import app
from tool_envs.errors import SliceMismatchError, UsageError
from tool_envs.evaluation import evaluate, write_report
from tool_envs.evaluation.compare import attribute, compare_reports
from tool_envs.evaluation.paired import compare_paired
from tool_envs.evaluation.scores import trials_by_task


def on(version, agent, tasks=6):
    """A real report under a version of the retail schema."""
    kwargs = {"schema_version": version, "split": "test"}
    return evaluate("tool_envs/Retail-v0", kwargs, load_agent(agent), tasks=range(tasks))


def renamed(report, name):
    return msgspec.structs.replace(report, agent=msgspec.structs.replace(report.agent, name=name))


@given(reports(name="old"), reports(name="new"))
def test_equal_slices_are_compared_task_by_task(first, second):
    found = compare_reports(first, second)
    before, after = trials_by_task(first.results), trials_by_task(second.results)
    assert found.paired == compare_paired(before, after)
    losses = [change.second - change.first for change in found.changes]
    assert losses == sorted(losses)
    assert 0.0 not in losses
    assert set(found.marks) == {*first.marks, *second.marks}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("seed", 1),
        ("grader_digest", "another"),
        ("data_digest", "another"),
        ("simulator", msgspec.structs.replace(SMALL.simulator, version="2.0.0")),
        ("limits", msgspec.structs.replace(SMALL.limits, max_steps=10)),
        ("tasks", SMALL.tasks[:5]),
        ("schema", msgspec.structs.replace(SMALL.schema, interface="upstream")),
    ],
)
def test_other_slices_are_refused_and_every_field_is_named(field, value):
    other = msgspec.structs.replace(played(), slice=msgspec.structs.replace(SMALL, **{field: value}))
    with pytest.raises(SliceMismatchError, match=rf"not comparable: .*{field}"):
        compare_reports(played(), other)


def test_all_differing_fields_are_named():
    changed = msgspec.structs.replace(
        SMALL, seed=1, grader_digest="x", data_digest="y", policy_digest="0" * 64
    )
    with pytest.raises(SliceMismatchError) as refused:
        compare_reports(played(), msgspec.structs.replace(played(), slice=changed))
    assert all(
        name in str(refused.value) for name in ("seed", "grader_digest", "data_digest", "policy_digest")
    )


@given(reports(name="old"), reports(name="new"), reports(name="old"), reports(name="new"))
def test_the_parts_of_a_change_add_up(old_old, new_old, old_new, new_new):
    found = attribute(old_old, new_old, old_new, new_new)
    parts = found.model.value + found.schema.value + found.interaction.value
    assert found.total.value == pytest.approx(parts, abs=1e-9)
    # Seen from the other schema the interaction turns round.
    turned = attribute(old_new, new_new, old_old, new_old)
    assert turned.interaction.value == pytest.approx(-found.interaction.value, abs=1e-9)


def test_a_real_change_is_split_into_model_and_schema():
    cells = [on(v, agent) for v, agent in itertools.product(("1.0.0", "2.0.0"), ("guess", "oracle"))]
    cells = [renamed(cell, name) for cell, name in zip(cells, ["old", "new"] * 2, strict=True)]
    found = attribute(*cells)
    assert (found.model.value, found.schema.value, found.interaction.value) == (1.0, 0.0, 0.0)


def test_only_the_schema_may_differ_between_the_two_slices():
    first, second = on("1.0.0", "oracle"), on("2.0.0", "oracle")
    fewer = on("2.0.0", "oracle", tasks=5)
    with pytest.raises(SliceMismatchError, match=r"More than the version of the schema differs: .*tasks"):
        attribute(first, first, fewer, fewer)
    with pytest.raises(SliceMismatchError, match=r"not comparable: .*schema"):
        attribute(first, second, second, second)
    with pytest.raises(UsageError, match="one model on both"):
        attribute(first, first, second, renamed(second, "another"))


# --- The commands


@pytest.fixture
def run(monkeypatch, tmp_path):
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.chdir(tmp_path)
    return lambda *words: CliRunner().invoke(app, list(words))


def test_reports_are_compared_on_the_command_line(run, tmp_path):
    write_report(played("guess"), tmp_path / "a.json")
    write_report(played("oracle"), tmp_path / "b.json")
    shown = run("compare", "a.json", "b.json")
    assert shown.exit_code == 0
    assert "mcnemar" in shown.output
    assert "retail/test/any/0" in shown.output
    assert json.loads(run("compare", "a.json", "b.json", "--json").output)["paired"]["tasks"] == 6


def test_a_comparison_across_schemas_exits_2_and_names_them(run, tmp_path):
    write_report(on("1.0.0", "oracle"), tmp_path / "a.json")
    write_report(on("2.0.0", "oracle"), tmp_path / "b.json")
    refused = run("compare", "a.json", "b.json")
    assert refused.exit_code == 2
    assert "schema/version: 1.0.0 and 2.0.0" in refused.output
    split = run("attribute", "a.json", "a.json", "b.json", "b.json")
    assert split.exit_code == 0
    assert "interaction" in split.output


def test_a_slice_is_evaluated_with_trials_into_a_report(run, tmp_path):
    done = run("eval", "--slice", "retail/smoke@1", "--agent", "oracle", "--trials", "2", "--out", "r.json")
    assert done.exit_code == 0
    assert "pass^2" in done.output
    assert "silent 0.000" in done.output
    report = json.loads((tmp_path / "r.json").read_text())
    assert (report["trials"], len(report["results"])) == (2, 90)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ((), "Say what to play"),
        (("tool_envs/Retail-v0", "--slice", "retail/smoke@1"), "Say what to play"),
        (("--slice", "retail/smoke@1", "--tasks", "3"), "A slice has its own"),
        (("--slice", "retail/smoke@1", "--seed", "0"), "A slice has its own"),
        (("tool_envs/Retail-v0", "--path", "x"), "for foreign slices"),
    ],
)
def test_what_contradicts_itself_is_refused(run, words, problem):
    refused = run("eval", *words, "--agent", "oracle")
    assert refused.exit_code == 2
    assert problem in refused.output
