"""The command line: what it prints where, and its exit codes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import toy_domain
from typer.testing import CliRunner

from tool_envs.agents import TRIVIAL
from tool_envs.cli.app import app
from tool_envs.cli.demo import OURS
from tool_envs.errors import InfrastructureError
from tool_envs.trajectory import TrajectoryWriter, read_trajectories
from tool_envs.trajectory.exports import read_manifest

SAMPLE = "tool_envs/TauBench-v0"
COMMAND = Path(sys.executable).with_name("tool-envs")


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Runs a command in an empty folder, without tau-bench's data."""
    monkeypatch.setenv("TAU_BENCH_PATH", "")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments, lines=()):
        return CliRunner().invoke(app, list(arguments), input="".join(f"{line}\n" for line in lines))

    return invoke


def run_process(*arguments):
    environment = {**os.environ, "TAU_BENCH_PATH": ""}
    return subprocess.run([COMMAND, *arguments], capture_output=True, text=True, env=environment, timeout=60)


def test_list_names_the_environments(run):
    result = run("list")

    assert result.exit_code == 0
    assert SAMPLE in result.stdout
    assert "v0" in result.stdout


def test_help_names_the_commands(run):
    result = run("--help")

    assert all(
        command in result.stdout
        for command in ("list", "play", "eval", "replay", "stats", "validate", "export", "schema", "demo")
    )


def test_eval_prints_one_json_object_and_nothing_else():
    result = run_process("eval", SAMPLE, "--agent", "gold", "--tasks", "3", "-k", "user=silent", "--json")

    report = json.loads(result.stdout)
    assert result.returncode == 0
    assert (report["scores"]["episodes"], report["scores"]["success_rate"]["value"]) == (3, 1.0)
    assert report["slice"]["env"]["kwargs"] == {"user": "silent"}


def test_eval_prints_a_table_that_names_the_interface(run):
    result = run("eval", SAMPLE, "--agent", "silent", "--split", "dev", "-k", "max_steps=5")

    assert result.exit_code == 0
    assert "interface: ours" in result.stdout
    assert "0.000" in result.stdout


def test_eval_appends_records_that_replay(run):
    for agent in ("gold", "silent"):
        assert run("eval", SAMPLE, "--agent", agent, "--tasks", "2", "--records", "runs/x").exit_code == 0

    result = run("replay", "runs/x")

    assert result.exit_code == 0
    assert result.stdout.startswith("4 episodes replayed")


def test_eval_keeps_no_record_of_an_episode_that_never_began(run, monkeypatch, tmp_path):
    simulators = toy_domain.load().simulators
    usual = simulators["scripted"]

    def make(task, options):
        if task.id == "swap":
            raise InfrastructureError("The model server is down.")
        return usual(task, options)

    monkeypatch.setitem(simulators, "scripted", make)
    result = run("eval", toy_domain.ENV_ID, "--agent", "gold", "--records", "x", "--json")

    assert json.loads(result.stdout)["scores"]["outcomes"] == {"completed": 3, "infrastructure": 1}
    records = list(read_trajectories(tmp_path / "x"))
    assert [record.task.id for record in records] == ["lend-emma", "where", "refuse"]


def test_replay_of_a_changed_record_fails_with_the_difference(run, tmp_path):
    run("eval", SAMPLE, "--agent", "gold", "--tasks", "2", "--records", "x")
    first, second = (record.to_line() for record in read_trajectories(tmp_path / "x"))
    changed = second.replace('"reward":1.0', '"reward":0.0')
    (tmp_path / "x.jsonl").write_text(f"{first}\n{changed}\n")

    result = run("replay", "x.jsonl")

    assert result.exit_code == 1
    assert "episode 2: outcome.reward: recorded 0.0, met 1.0" in result.stderr


def test_a_store_with_a_writer_is_refused(run, tmp_path):
    with TrajectoryWriter(tmp_path / "x"):
        result = run("eval", SAMPLE, "--agent", "gold", "--tasks", "2", "--records", "x")

    assert result.exit_code == 2
    assert "is writing" in result.stderr
    assert list(read_trajectories(tmp_path / "x")) == []


def test_stats_counts_what_a_store_holds(run):
    for agent in ("gold", "silent"):
        run("eval", SAMPLE, "--agent", agent, "--tasks", "2", "--records", "x")

    counts = json.loads(run("stats", "x", "--json").stdout)
    table = rows_of(run("stats", "x").stdout)

    assert (counts["episodes"], counts["graded"], counts["mean_rewards"]) == (4, 4, {"rules": 0.5})
    assert table["episodes"] == ["4: completed 4"]
    assert table["mean reward by rules"] == ["0.500"]
    assert table["environments"] == [f"{SAMPLE} 4"]
    assert table["agent's mistakes"] == ["none"]


def test_validate_says_what_is_proven_and_which_lines_are_bad(run, tmp_path):
    run("eval", SAMPLE, "--agent", "gold", "--tasks", "2", "--records", "x")
    first, second = (record.to_line() for record in read_trajectories(tmp_path / "x"))
    (tmp_path / "x.jsonl").write_text(f"{first}\n{{\n{second}\n")

    good, bad = run("validate", "x"), run("validate", "x.jsonl")

    assert (good.exit_code, bad.exit_code) == (0, 1)
    assert rows_of(good.stdout)["failed"] == ["0: none"]
    table = rows_of(bad.stdout)
    assert (table["records"], table["failed"]) == (["3"], ["1: line 1"])
    assert table["not proven"] == ["2 without token ids: --tokenizer proves their masks"]
    assert table["x.jsonl"][:2] == ["2", "line"]
    report = json.loads(run("validate", "x.jsonl", "--json").stdout)
    assert (report["records"], report["failed"], report["problems"][0]["line"]) == (3, 1, 2)


def test_validate_says_which_library_a_tokenizer_needs(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)

    result = run("validate", "x", "--tokenizer", "somewhere")

    assert result.exit_code == 2
    assert "needs the library transformers: pip install 'tool-envs[tokenizers]'" in result.stderr


def test_export_writes_rows_with_a_manifest(run, tmp_path):
    run("eval", SAMPLE, "--agent", "gold", "--tasks", "2", "--records", "x")

    table = rows_of(run("export", "x", "--format", "openai", "--out", "out/openai").stdout)
    printed = json.loads(run("export", "x", "--format", "atif", "--out", "out/atif", "--json").stdout)

    assert table["records"] == ["2 of 2: completed 2"]
    assert table["left out"] == ["none"]
    assert table["files"] == ["index.jsonl, rows.jsonl"]
    assert len((tmp_path / "out/openai/rows.jsonl").read_text().splitlines()) == 2
    assert printed == read_manifest("out/atif").to_json()
    assert printed["environments"] == [{"id": SAMPLE, "version": 0}]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--format", "verl", "--out", "out"], "no token ids. Give the tokenizer"),
        (["--format", "openai", "--out", "x"], "x: holds something already"),
        (["--format", "openai", "--out", "out", "-k", "domain=sea"], "Unknown domain 'sea'"),
        (["--format", "verl", "--out", "out", "--tokenizer", "nowhere"], "okenizer"),
    ],
)
def test_an_export_that_cannot_be_is_told(run, tmp_path, arguments, problem):
    run("eval", SAMPLE, "--agent", "gold", "--tasks", "2", "--records", "x")

    result = run("export", "x", *arguments)

    assert result.exit_code == 2
    assert problem in result.stderr
    assert sorted(os.listdir(tmp_path)) == ["x"]


def test_an_empty_store_has_no_export(run, tmp_path):
    TrajectoryWriter(tmp_path / "x").close()

    result = run("export", "x", "--format", "openai", "--out", "out")

    assert result.exit_code == 2
    assert "There is no record to export" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["eval", "tool_envs/TauBnch-v0", "--agent", "gold"], "Did you mean: `tool_envs/TauBench-v0`?"),
        (["eval", SAMPLE, "--agent", "glod"], "Did you mean: `gold`?"),
        (["eval", SAMPLE, "--agent", "gold", "--split", "tset"], "Unknown split 'tset'"),
        (["eval", SAMPLE, "--agent", "gold", "-k", "usr=silent"], "Did you mean: `user`?"),
        (["eval", SAMPLE, "--agent", "gold", "-k", "user"], "Expected KEY=VALUE"),
        (["eval", SAMPLE, "--agent", "gold", "--tasks", "1000"], "Unknown task index 10"),
        (["eval", SAMPLE, "--agent", "gold", "-k", "path=nowhere"], "no such folder"),
        (["eval", "nobody:ns/Env-v0", "--agent", "gold"], "No module named 'nobody'"),
        (["play", "tool_envs/Nothing-v0"], "Unknown environment"),
        (["replay", "nowhere.jsonl"], "cannot be read"),
        (["stats", "nowhere"], "cannot be read"),
        (["validate", "nowhere"], "cannot be read"),
        (["validate", "nowhere", "--end", "</s>"], "give that too"),
        (["export", "nowhere", "--format", "openai", "--out", "x"], "cannot be read"),
        (["export", "nowhere", "--format", "opnai", "--out", "x"], "Did you mean: `openai`?"),
        (["export", "nowhere", "--format", "verl", "--out", "x", "--end", "</s>"], "`--tokenizer`"),
        (["schema", "show", "retial", "1.0.0"], "Did you mean: `retail`?"),
        (["demo", "--path", "nowhere"], "no such folder"),
    ],
)
def test_a_mistake_is_told_on_stderr_with_exit_code_2(run, arguments, problem):
    result = run(*arguments)

    assert result.exit_code == 2
    assert problem in result.stderr
    assert result.stdout == ""


def test_a_mistake_shows_no_traceback():
    result = run_process("eval", SAMPLE, "--agent", "nobody", "--json")

    assert result.returncode == 2
    assert (result.stdout, len(result.stderr.splitlines())) == ("", 1)


def test_play_takes_turns_with_a_person(run):
    turns = ["-o", 'user_turns=["Hi!", "Yes."]']

    result = run("play", SAMPLE, *turns, "--task", "0", "--seed", "1", lines=["/tools", "Hello?", "Bye."])

    assert result.exit_code == 0
    assert "user: Hi!" in result.stdout
    assert "user: Yes." in result.stdout
    assert "completed after 2 steps, reward 0.0 (end_state 0)" in result.stdout


def test_play_can_be_left(run):
    result = run("play", SAMPLE, lines=["/quit"])

    assert result.exit_code == 0
    assert result.stdout.endswith("You left; the episode has no reward.\n")


def rows_of(text):
    """Agent -> what stands in the other columns of the demo's table."""
    rows = (line.strip("│").split("│") for line in text.splitlines() if line.startswith("│"))
    return {agent.strip(): [cell.strip() for cell in cells] for agent, *cells in rows}


def test_demo_plays_the_built_in_set_and_replays_its_records(run, tmp_path):
    store = tmp_path / "runs" / "demo"
    TrajectoryWriter(store).close()
    (store / "segment-000001.jsonl").write_text("what an earlier demo left\n")

    result = run("demo")

    episodes = len(list(read_trajectories(store)))
    assert result.exit_code == 0
    assert "git clone https://github.com/sierra-research/tau-bench" in result.stdout
    assert list(rows_of(result.stdout)) == ["solver", *TRIVIAL]
    assert f"{episodes} of {episodes} episodes" in result.stdout


def test_demo_plays_our_domains_and_tau_bench_in_one_table(run, tau_bench_path):
    result = run("demo", "--path", str(tau_bench_path))

    rows = rows_of(result.stdout)
    assert result.exit_code == 0
    assert rows.pop("solver") == [*["100/100 1.000"] * len(OURS), "115/115 1.000", "25/25 1.000"]
    assert {cell for cells in rows.values() for cell in cells[: len(OURS)]} == {"0/100 0.000"}
    assert rows["silent"][-2:] == ["7/115 0.061", "7/25 0.280"]
    assert rows["dump"][-2:] == ["11/115 0.096", "7/25 0.280"]
    assert f"{len(OURS) * 100 + 140} of" in result.stdout
    for text in ("Retail-v0", "TauBench-v0 retail", "TauBench-v0 airline", "interface: ours", "json.load"):
        assert text in result.stdout
    assert "git clone" not in result.stdout


def test_demo_shows_a_message_in_a_line_and_not_too_many(run, monkeypatch):
    monkeypatch.setattr("tool_envs.cli.demo._LINES", 4)

    result = run("demo")

    _, *conversations, rest = result.stdout.split("\n\n")
    assert len(conversations) == len(OURS) + 2
    for heading, *messages, last in (text.splitlines() for text in conversations):
        assert ", served by " in heading
        assert len(messages) == 4
        assert max(map(len, messages)) <= 120
        assert last.startswith("... and ")
    assert "Tasks solved" in rest
