"""Judges that are models, by the real client against a real server on loopback."""

import json

import pytest
from chat_stub import ChatStub, completion, cut_json, failure, overflow, refusal, serving
from rollouts import numbered, reward_of, rollout, run
from rubrics import filter_rubric, reward_rubric
from typer.testing import CliRunner

from tool_envs.chat import ChatClient
from tool_envs.cli.app import app
from tool_envs.judging import ChatJudge, score_rollouts
from tool_envs.judging.judges import PREFERENCE_FORMAT
from tool_envs.trajectory import TrajectoryWriter, read_trajectories

RUBRIC = reward_of(reward_rubric())
KEY = "sk-test-0123456789abcdefghij"


def greater(request):
    """What a model says that prefers the greater number that an agent said."""
    shown = json.loads(request.json["messages"][1]["content"])
    numbers = [int(shown[place][1]["text"].split()[-1][:-1]) for place in ("first", "second")]
    preferred = "first" if numbers[0] > numbers[1] else "second"
    return completion(json.dumps({"reason": "It is greater.", "preference": preferred}))


async def score(answers, rollouts, **options):
    async with ChatStub(answers) as stub, ChatClient("judge-1", base_url=stub.url, **options) as client:
        return await score_rollouts(rollouts, RUBRIC, ChatJudge(client)), stub.requests


def test_a_model_is_asked_for_each_pair_in_both_orders():
    scores, requests = run(score(greater, [numbered(number) for number in (2, 3, 1)]))

    assert scores.values[1] > scores.values[0] > scores.values[2]
    assert (scores.asked, scores.failed, len(requests)) == (6, 0, 6)
    assert (scores.source.judge, scores.source.judge_version) == ("chat", "judge-1, prompt 1.0.0")
    assert {request.json["model"] for request in requests} == {"judge-1"}
    assert all(request.json["response_format"] == PREFERENCE_FORMAT for request in requests)


@pytest.mark.parametrize(
    "answer", [failure(500), failure(400), cut_json(), overflow(), refusal(), completion("First, I think.")]
)
def test_whatever_goes_wrong_gives_no_score(answer):
    scores, _ = run(score([answer], [numbered(1), numbered(2)], retries=0))

    assert (scores.values, scores.failed) == ((None, None), 2)


# --- The command


@pytest.fixture
def filtered(monkeypatch, tmp_path):
    """Filters two rollouts by a model that answers so."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JUDGE_KEY", KEY)
    with TrajectoryWriter("x") as writer:
        for number in (1, 2):
            writer.append(rollout(f"Number {number}.", {"name": "close_desk", "arguments": {}}))
    (tmp_path / "rubric.json").write_text(json.dumps(filter_rubric()))

    def invoke(answers):
        with serving(answers) as stub:
            options = ["--rubric", "rubric.json", "--base-url", stub.url, "--api-key-env", "JUDGE_KEY"]
            return CliRunner().invoke(app, ["filter", "x", "--judge", "openai:m", "--out", "y", *options])

    return invoke


def odd(request):
    """What a model says that finds something missing where the agent said an odd number."""
    rollout_shown = json.loads(request.json["messages"][1]["content"])["rollout"]
    number = int(rollout_shown[1]["text"].split()[1][:-1])
    return completion(json.dumps({"unmet": [0] if number % 2 else []}))


def test_the_command_asks_a_model_and_writes_no_key(filtered, tmp_path):
    result = filtered(odd)

    verdicts = [record.filter_verdict for record in read_trajectories(tmp_path / "y")]
    assert result.exit_code == 0
    assert [verdict.keep for verdict in verdicts] == [False, True]
    assert verdicts[0].reasons == ("success criterion 1 is not met",)
    assert {(verdict.judge, verdict.judge_version) for verdict in verdicts} == {("chat", "m, prompt 1.0.0")}
    written = (tmp_path / "y" / "segment-000001.jsonl").read_text()
    assert KEY not in written + result.stdout + result.stderr


def test_the_command_says_how_often_the_model_failed(filtered, tmp_path):
    result = filtered([completion("Good.")])

    assert result.exit_code == 0
    assert "the judge failed on 2 records" in result.stderr
    assert [record.filter_verdict for record in read_trajectories(tmp_path / "y")] == [None, None]
