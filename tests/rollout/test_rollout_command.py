"""`tool-envs rollout`: what it prints where, its exit codes, and what it leaves in its folder."""

import functools
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import toy_domain
from chat_stub import completion, failure, serving
from typer.testing import CliRunner

from tool_envs.cli.app import app
from tool_envs.trajectory import read_trajectories

RETAIL = "tool_envs/Retail-v0"
COMMAND = Path(sys.executable).with_name("tool-envs")


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Runs the command in an empty folder."""
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(app, ["rollout", *map(str, arguments)])


def test_it_records_groups_and_goes_on_when_it_is_run_again(run):
    command = [RETAIL, "-k", "split=test", "--policy", "oracle", "--episodes", 6, "--group-size", 2, "--json"]
    first, again = run(*command, "--out", "x"), run(*command, "--out", "x", "--concurrency", 3)

    assert (first.exit_code, again.exit_code) == (0, 0)
    assert (json.loads(first.stdout)["resumed"], json.loads(again.stdout)["resumed"]) == (0, 6)
    records = list(read_trajectories("x"))
    assert sorted(r.task.id for r in records) == sorted(2 * [f"retail/test/any/{n}" for n in range(3)])
    assert len({r.seed for r in records}) == 6


def test_its_table_says_what_came_out(run):
    result = run(toy_domain.ENV_ID, "--policy", "gold", "--episodes", 4, "--out", "x")

    assert result.exit_code == 0
    assert "1.000 of 4 completed episodes" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--policy", "orcle", "--episodes", 2], "Did you mean: `oracle`"),
        (["--policy", "oracle", "--episodes", 5, "--group-size", 2], "multiple of the group size 2"),
        (["--policy", "oracle", "--episodes", 2, "-a", "temperature=0"], "go with openai:MODEL"),
        (["--policy", "openai:m", "--episodes", 2], "Expected the URL"),
        (["--policy", "gold", "--episodes", 9], "Unknown task index 8"),
    ],
)
def test_what_makes_no_sense_is_said_and_leaves_no_folder(run, monkeypatch, arguments, problem):
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    result = run(toy_domain.ENV_ID, *arguments, "--out", "x")

    assert result.exit_code == 2
    assert problem in result.stderr
    assert not Path("x").exists()


def test_a_model_behind_a_server_is_asked_without_leaving_its_key(run, monkeypatch):
    monkeypatch.setenv("STUB_KEY", "sk-secret-0123456789")
    with serving([completion("Goodbye.")]) as stub:
        result = run(
            *(toy_domain.ENV_ID, "--policy", "openai:some/model", "--episodes", 4, "--out", "x", "--json"),
            *("--base-url", stub.url, "--api-key-env", "STUB_KEY", "-a", "temperature=0.5"),
        )

    assert result.exit_code == 0
    assert stub.requests[0].headers["authorization"] == "Bearer sk-secret-0123456789"
    assert stub.requests[0].json["temperature"] == 0.5
    record = next(read_trajectories("x"))
    assert (record.agent.name, record.sampling.temperature) == ("some/model", 0.5)
    assert all(b"sk-secret" not in path.read_bytes() for path in Path("x").iterdir())


def test_episodes_that_failed_are_told_of_and_tried_by_the_next_command(run):
    answers = [failure(401, "no such key")] * 4 + [completion("Goodbye.")]
    with serving(answers) as stub:
        command = [toy_domain.ENV_ID, "--policy", "openai:m", "--episodes", 4, "--base-url", stub.url]
        options = ["--out", "x", "--retries", 0, "--json"]
        first, again = run(*command, *options), run(*command, *options)

    assert (first.exit_code, again.exit_code) == (1, 0)
    assert json.loads(first.stdout)["failed_attempts"] == {"ChatStatusError": 4}
    assert "4 episodes failed; x/failures.jsonl says why" in first.stderr
    assert json.loads(again.stdout)["recorded"] == 4


def test_ctrl_c_ends_it_and_keeps_what_was_recorded(tmp_path):
    store = tmp_path / "x"
    command = [COMMAND, "rollout", RETAIL, "--policy", "oracle", "--episodes", "100000", "--out", store]
    # Who runs the tests in the background may have them ignore Ctrl-C, and then their children would as well.
    listen = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, env=os.environ, preexec_fn=listen
    ) as process:
        while not (segments := list(store.glob("segment*"))) or not segments[0].stat().st_size:
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate()

    assert process.returncode == 130
    assert "the same command goes on" in said
    assert "Traceback" not in said
    assert 0 < len(list(read_trajectories(store))) < 100000
