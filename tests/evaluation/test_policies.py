"""Policies that are waited for, on slices: as graded as others, and never 0 for what is not their fault."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from chat_stub import completion, failure, serving
from evaluations import SMALL, played
from typer.testing import CliRunner

from tool_envs.agents import load_agent
from tool_envs.cli.app import app
from tool_envs.errors import InfrastructureError
from tool_envs.evaluation.policies import evaluate_policy
from tool_envs.rollout import PolicyOutput, ScriptedPolicy
from tool_envs.trajectory.capture import SCRIPTED


@pytest.mark.parametrize("agent", ["oracle", "guess"])
def test_a_scripted_agent_gets_what_it_gets_alone(agent, tmp_path):
    scripted = load_agent(agent)
    report = evaluate_policy(SMALL, ScriptedPolicy(scripted), scripted.version, tmp_path / "run", trials=2)
    assert report.results == played(agent, trials=2).results
    assert (report.agent, report.slice) == (played(agent).agent, SMALL)
    assert set(report.floors.values()) == {0.0}


class Unreliable:
    """Says goodbye, or is not reached."""

    name, setting = "unreliable", SCRIPTED

    def __init__(self, is_down):
        self.is_down, self.asked = is_down, 0

    async def act(self, messages, tools):  # noqa: ARG002 - the interface of a policy
        self.asked += 1
        await asyncio.sleep(0)
        if self.is_down(self.asked):
            raise InfrastructureError("the server is down")
        return PolicyOutput(action="Goodbye!", cost=0.5)


def test_what_could_not_be_played_has_no_grade_and_is_tried_again(tmp_path):
    down = Unreliable(lambda asked: asked > 8)
    report = evaluate_policy(SMALL, down, "1", tmp_path / "run", retries=0, concurrency=1)
    lost = [result for result in report.results if result.reward is None]
    assert 0 < len(lost) < len(SMALL.tasks)
    assert report.scores.graded == len(SMALL.tasks) - len(lost)
    assert report.scores.blames["infrastructure"] == len(lost)
    assert {result.failure.cause for result in lost} == {"InfrastructureError"}

    again = evaluate_policy(SMALL, Unreliable(lambda _: False), "1", tmp_path / "run")
    assert again.scores.graded == len(SMALL.tasks)
    assert again.scores.rate == 0.0
    assert again.scores.cost > 0


def test_nothing_is_graded_when_nothing_could_be_played(tmp_path):
    report = evaluate_policy(SMALL, Unreliable(lambda _: True), "1", tmp_path / "run", retries=0)
    assert (report.scores.graded, report.scores.rate) == (0, None)


# --- A model behind a server, on the command line


def run(*words):
    words = ["eval", "--slice", "retail/smoke@1", "--agent", "openai:small", *words]
    return CliRunner().invoke(app, words)


def test_a_model_is_evaluated_on_a_slice(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.chdir(tmp_path)
    with serving(lambda _: completion("Goodbye!")) as stub:
        done = run("--base-url", stub.url, "--records", "run", "--out", "r.json")
    assert done.exit_code == 0, done.output
    report = json.loads((tmp_path / "r.json").read_text())
    assert (len(report["results"]), report["scores"]["success_rate"]["value"]) == (45, 0.0)
    assert CliRunner().invoke(app, ["replay", "run"]).exit_code == 0


def test_a_server_that_is_down_is_nobodys_zero(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with serving(lambda _: failure(400)) as stub:
        done = run("--base-url", stub.url, "--records", "run", "--out", "r.json")
    assert done.exit_code == 0, done.output
    scores = json.loads((tmp_path / "r.json").read_text())["scores"]
    assert (scores["graded"], scores["success_rate"]) == (0, None)


def test_the_run_of_a_model_is_kept():
    refused = run("--base-url", "http://127.0.0.1:9")
    assert refused.exit_code == 2
    assert "--records DIR" in refused.output


def test_the_example_compares_two_runs_of_a_model(tmp_path):
    example = Path(__file__).parents[2] / "examples" / "evaluate_model.py"
    with serving(lambda _: completion("Goodbye!")) as stub:
        environment = {**os.environ, "OPENAI_BASE_URL": stub.url, "OPENAI_API_KEY": "none"}
        done = subprocess.run(
            [sys.executable, example, "small", "retail/smoke@1"],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=environment,
        )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "retail/smoke@1: difference +0.000, p-value 1.000"
    assert len(list(tmp_path.rglob("report.json"))) == 2
