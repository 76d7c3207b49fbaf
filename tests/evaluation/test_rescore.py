"""Rewards of stored trajectories, computed anew; and what an agent was trained on beside its scores."""

import json

import msgspec
import pytest
from evaluations import SMALL, played
from typer.testing import CliRunner

from tool_envs.agents import load_agent
from tool_envs.cli.app import app
from tool_envs.errors import ReplayMismatchError, SliceMismatchError, UsageError
from tool_envs.evaluation import evaluate, evaluate_slice
from tool_envs.evaluation.rescore import rescore
from tool_envs.evaluation.slice_files import read_slice, slice_of_task
from tool_envs.evaluation.training import training_marks
from tool_envs.retail.desk import RETAIL_GRADER
from tool_envs.reward import Ledger, Verdict
from tool_envs.trajectory import record_episode
from tool_envs.trajectory.exports import export_records, read_manifest

ORACLE = load_agent("oracle")


def recorded(agent=ORACLE, trials=1, tasks=SMALL):
    """The records of an evaluation of a slice."""
    records = []

    def note(env, result):
        records.append(record_episode(env, agent.name, agent.version, result.seed, slice_id=tasks.id))

    evaluate_slice(tasks, agent, trials=trials, on_episode=note, floors=False)
    return records


def train_records(version="1.0.0", split="train"):
    """Records of tasks for training."""
    records = []

    def note(env, result):
        records.append(record_episode(env, "oracle", "1", result.seed))

    kwargs = {"schema_version": version, "split": split}
    evaluate("tool_envs/Retail-v0", kwargs, ORACLE, tasks=range(3), on_episode=note)
    return records


@pytest.mark.parametrize("agent", ["oracle", "guess"])
def test_records_earn_again_what_they_earned(agent):
    report = rescore(recorded(load_agent(agent), trials=2), SMALL)
    assert report.results == played(agent, trials=2).results
    assert (report.trials, report.agent) == (2, played(agent).agent)
    assert set(report.floors.values()) == {0.0}


def test_the_grader_of_the_slice_decides(monkeypatch):
    records = recorded()
    stricter = staticmethod(lambda _: Verdict(Ledger(terminal=0.0, components={"stricter": 0.0})))
    monkeypatch.setattr(type(RETAIL_GRADER), "grade", stricter)
    from tool_envs.retail.domain import load_domain

    load_domain.cache_clear()
    try:
        assert rescore(records, SMALL).scores.causes == {"not met: stricter": len(records)}
    finally:
        monkeypatch.undo()
        load_domain.cache_clear()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("schema", msgspec.structs.replace(SMALL.schema, version="9.0.0")),
        ("simulator", msgspec.structs.replace(SMALL.simulator, version="9.0.0")),
        ("data_digest", "another"),
        ("tasks", SMALL.tasks[1:]),
    ],
)
def test_records_of_something_else_are_refused(field, value):
    other = msgspec.structs.replace(SMALL, **{field: value})
    named = field.rstrip("s")
    with pytest.raises(SliceMismatchError, match=rf"Record 1 is not of the slice .*{named}"):
        rescore(recorded(), other)


def test_a_record_that_meets_another_observation_is_refused():
    first = recorded()[0]
    messages = list(first.messages)
    messages[0] = msgspec.structs.replace(messages[0], content="Hello there.")
    with pytest.raises(ReplayMismatchError, match="message 0"):
        rescore([msgspec.structs.replace(first, messages=tuple(messages))], SMALL)


def test_records_of_several_agents_and_none_are_refused():
    with pytest.raises(UsageError, match=r"one agent in one version, found: oracle .*, guess"):
        rescore([recorded()[0], recorded(load_agent("guess"))[0]], SMALL)
    with pytest.raises(UsageError, match="found: none"):
        rescore([], SMALL)


# --- Training and evaluation are kept apart


def test_tasks_of_slices_are_known_by_their_digest(tau_bench_path):
    assert slice_of_task(SMALL.tasks[0].digest) == "retail/test@1"
    assert slice_of_task(read_slice("booking/test@1").tasks[7].digest) == "booking/test@1"
    assert slice_of_task("0" * 64) is None
    from tool_envs.evaluation import load_slice

    foreign = load_slice("tau_bench/airline/test", {"path": str(tau_bench_path)})
    assert {slice_of_task(task.digest) for task in foreign.tasks} == {"tau_bench/airline/test"}


def test_no_task_for_training_is_one_of_a_slice():
    assert {slice_of_task(record.task.digest) for record in train_records()} == {None}


def test_tasks_of_slices_are_exported_by_an_override_that_is_recorded(tmp_path):
    records = recorded()
    with pytest.raises(UsageError, match=r"Record 1 is of the task .* of the slice retail/test@1"):
        export_records(records, "openai", tmp_path / "out")
    assert not (tmp_path / "out").exists()
    export_records(records, "openai", tmp_path / "out", allow_slice_tasks=True)
    manifest = read_manifest(tmp_path / "out")
    assert (manifest.slice_tasks, manifest.slices) == (("retail/test@1",), ("retail/smoke@1",))
    export_records(records, "parquet", tmp_path / "archive")  # an archive is not trained on


def test_training_on_the_same_tools_and_other_tasks_leaves_no_mark(tmp_path):
    manifest = export_records(train_records(), "openai", tmp_path / "out")
    assert training_marks(manifest, SMALL) == ()


def test_other_tools_are_refused_or_marked(tmp_path):
    manifest = export_records(train_records("2.0.0"), "openai", tmp_path / "out")
    problem = "trained on retail 2.0.0, evaluated on retail 1.0.0"
    with pytest.raises(UsageError, match=problem):
        training_marks(manifest, SMALL)
    assert training_marks(manifest, SMALL, across_versions=True) == (problem,)


def test_overlap_is_refused_or_marked(tmp_path):
    manifest = export_records(recorded()[:2], "openai", tmp_path / "out", allow_slice_tasks=True)
    problem = "trained on 2 of the 6 tasks of retail/smoke@1: retail/test/any/0, retail/test/any/1"
    with pytest.raises(UsageError, match=problem):
        training_marks(manifest, SMALL)
    assert training_marks(manifest, SMALL, allow_overlap=True) == (problem,)


def test_on_the_command_line_a_mismatch_exits_2_at_once_and_an_override_marks_the_table(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    export_records(train_records("2.0.0"), "openai", tmp_path / "out")

    def run(*words):
        return CliRunner().invoke(app, ["eval", "--agent", "oracle", "--trained-on", "out", *words])

    refused = run("--slice", "retail/smoke@1", "--out", "r.json")
    assert (refused.exit_code, [path.name for path in tmp_path.iterdir()]) == (2, ["out"])
    assert "trained on retail 2.0.0, evaluated on retail 1.0.0" in refused.output
    marked = run("--slice", "retail/smoke@1", "--across-versions", "--out", "r.json")
    assert marked.exit_code == 0
    assert "NOT COMPARABLE" in marked.output
    assert json.loads((tmp_path / "r.json").read_text())["marks"] == [
        "trained on retail 2.0.0, evaluated on retail 1.0.0"
    ]
    assert run("tool_envs/Retail-v0").exit_code == 2


def test_records_are_rescored_on_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = CliRunner().invoke
    run(app, ["eval", "--slice", "retail/smoke@1", "--agent", "oracle", "--records", "r", "--out", "a.json"])
    again = run(app, ["rescore", "r", "--slice", "retail/smoke@1", "--out", "b.json"])
    assert again.exit_code == 0
    first, second = (json.loads((tmp_path / name).read_text()) for name in ("a.json", "b.json"))
    assert first["results"] == second["results"]
