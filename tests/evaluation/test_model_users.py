"""Slices whose user a language model plays: what they freeze, and commands that play and rescore them."""

import json
from pathlib import Path

import msgspec
import pytest
from chat_stub import completion, serving
from tau_checkout import USER_MODULE, make_whole_checkout
from typer.testing import CliRunner

from tool_envs.cli.app import app
from tool_envs.errors import DataFileError, SliceMismatchError, UsageError
from tool_envs.evaluation.slice import differences
from tool_envs.evaluation.slice_files import FOREIGN, load_slice, local_of, parse_slice, verify_slice
from tool_envs.trajectory import read_trajectories

SLICE = "tau_bench/retail/test"
USER = {"user": "llm", "user_model": "customer", "user_arguments": {"temperature": 0}}


@pytest.fixture
def path(tmp_path):
    return str(make_whole_checkout(tmp_path / "checkout"))


def load(path, **more):
    return load_slice(SLICE, {"path": path, **USER, **more})


# --- The manifest


def test_it_freezes_the_model_its_prompt_and_its_arguments(path):
    frozen = load(path)
    model = frozen.simulator.model

    assert (frozen.simulator.name, model.name, model.arguments) == (
        "tau_bench_llm",
        "customer",
        {"temperature": 0},
    )
    assert frozen.fields()["format_version"] == "1.1.0"
    assert parse_slice(frozen.to_json(), "x") == frozen


def test_where_its_server_is_does_not_count(path):
    arguments = {"path": path, **USER, "user_base_url": "http://127.0.0.1:9", "user_client": {"retries": 0}}
    frozen = load_slice(SLICE, arguments)

    assert frozen == load(path)
    assert frozen.env.kwargs.keys() == FOREIGN[SLICE][1].keys() | USER.keys()
    assert local_of(arguments).keys() == {"path", "user_base_url", "user_client"}
    verify_slice(frozen, local_of(arguments))


def test_a_slice_without_such_a_user_does_not_mention_one(path):
    fields = load_slice(SLICE, {"path": path}).fields()
    assert fields["format_version"] == "1.0.0"
    assert fields["simulator"].keys() == {"name", "version", "digest"}


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"user_model": "other"}, "simulator/model/name"),
        ({"user_arguments": {"temperature": 1}}, "simulator/model/arguments/temperature"),
    ],
)
def test_another_user_is_another_slice(path, change, field):
    found = [each.field for each in differences(load(path), load(path, **change))]
    assert {field, "simulator/digest"} <= set(found)


def test_another_prompt_is_another_slice(path, tmp_path):
    frozen = load(path)
    (tmp_path / "checkout/tau_bench/envs/user.py").write_text(USER_MODULE.replace("Play", "You play"))

    assert {"simulator/model/prompt_digest", "simulator/digest"} == {
        each.field for each in differences(frozen, load(path))
    }
    with pytest.raises(SliceMismatchError, match="prompt_digest"):
        verify_slice(frozen, {"path": path})


@pytest.mark.parametrize(
    ("form", "change"),
    [
        ("1.1.0", lambda user: user["model"].pop("name")),
        ("1.1.0", lambda user: user["model"].pop("prompt_digest")),
        ("1.0.0", lambda user: user),
        ("1.2.0", lambda user: user),
    ],
)
def test_a_manifest_of_another_form_is_refused(path, form, change):
    value = load(path).to_json()
    value["format_version"] = form
    change(value["simulator"])
    with pytest.raises(DataFileError, match=r"simulator|format_version"):
        parse_slice(value, "x")


def test_a_slice_takes_its_path_and_its_user_and_nothing_else(path):
    with pytest.raises(UsageError, match="has its own 'max_steps'"):
        load(path, max_steps=5)
    with pytest.raises(UsageError, match="no other user"):
        load_slice("retail/smoke@1", USER)


# --- The commands


@pytest.fixture
def run(monkeypatch, tmp_path):
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.chdir(tmp_path)

    def invoke(*words):
        return CliRunner().invoke(app, [str(word) for word in words])

    return invoke


def customer(request):
    """Says what they want, and hangs up when the agent has answered."""
    return completion("###STOP###" if len(request.json["messages"]) > 2 else "I want nothing.")


def options(url=None):
    words = ["-k", "user=llm", "-k", "user_model=customer", "-k", 'user_arguments={"temperature": 0}']
    prices = 'user_client={"prices": [1000000, 0]}'  # a dollar for each token that is sent
    return words if url is None else [*words, "-k", f"user_base_url={url}", "-k", prices]


def test_an_agent_is_evaluated_on_a_slice_and_rescored_without_the_model(run, path):
    with serving(customer) as stub:
        played = run(
            *("eval", "--slice", SLICE, "--path", path, *options(stub.url)),
            *("--agent", "gold", "--records", "r", "--out", "r.json"),
        )
        assert played.exit_code == 0, played.output
        asked = len(stub.requests)
    report = json.loads(Path("r.json").read_text())
    assert (report["slice"], report["floors"]) == (load(path).to_json(), {})
    assert report["scores"]["outcomes"] == {"completed": 1}
    assert report["scores"]["user_tokens"] == {"episodes": 1, "prompt": 20.0, "completion": 10.0}
    assert (report["scores"]["agent_tokens"], report["scores"]["cost"]) == (None, 20.0)
    assert "20.0 sent, 10.0 sampled; means of 1 episodes" in played.stdout
    assert "tau_bench_llm 1.0.0, played by customer" in played.stdout
    compared = run("compare", "r.json", "r.json")
    assert "20.0 sent, 10.0 sampled; means of 1 episodes and" in compared.stdout
    assert asked == 2

    rescored = run("rescore", "r", "--slice", SLICE, "--path", path, *options(), "--out", "again.json")
    assert rescored.exit_code == 0, rescored.output
    assert json.loads(Path("again.json").read_text())["results"] == report["results"]
    assert run("replay", "r").exit_code == 0


def test_a_model_is_evaluated_with_another_as_its_user(run, path):
    def answer(request):
        return customer(request) if request.json["model"] == "customer" else completion("Here you are.")

    with serving(answer) as stub:
        played = run(
            *("eval", "--slice", SLICE, "--path", path, *options(stub.url)),
            *("--agent", "openai:clerk", "--base-url", stub.url, "--records", "r", "--trials", 2, "--json"),
        )
        assert played.exit_code == 0, played.output
        assert {request.json["model"] for request in stub.requests} == {"clerk", "customer"}
    results = json.loads(played.stdout)["results"]
    assert [(result["status"], result["steps"]) for result in results] == [("completed", 1)] * 2
    asked = {"agent": {"prompt": 10, "completion": 5}, "user": {"prompt": 20, "completion": 10}}
    assert [result["usage"] for result in results] == [asked] * 2
    shown = run("view", "r")
    assert "20.0 sent, 10.0 sampled; means of 2 episodes" in shown.stdout
    shown = run("view", "r", "--episode", "retail/test/0")
    assert "10 sent, 5 sampled" in shown.stdout
    assert {record.simulator.name for record in read_trajectories("r")} == {"tau_bench_llm"}


@pytest.mark.parametrize(
    "command",
    [
        ["eval", "tool_envs/TauBench-v0", "--agent", "gold", "--records", "r"],
        [
            "rollout",
            "tool_envs/TauBench-v0",
            "--policy",
            "gold",
            "--episodes",
            4,
            "--group-size",
            4,
            "--out",
            "r",
        ],
    ],
    ids=lambda command: command[0],
)
def test_environments_by_their_id_take_such_a_user_too(run, path, command):
    with serving(customer) as stub:
        played = run(*command, "-k", f"path={path}", *options(stub.url))
    assert played.exit_code == 0, played.output
    assert run("replay", "r").exit_code == 0


def test_a_user_whose_server_is_down_is_nobodys_zero(run, path):
    with serving([completion("")]) as stub:
        played = run(
            *("eval", "--slice", SLICE, "--path", path, *options(stub.url), "--agent", "gold", "--json")
        )
    scores = json.loads(played.stdout)["scores"]
    assert (scores["graded"], scores["blames"]) == (0, {"user": 1})


def test_a_slice_is_shown_with_its_model(run, path):
    shown = run("slice", "show", SLICE, "--path", path, *options())
    assert shown.exit_code == 0, shown.output
    assert 'customer, {"temperature": 0}' in shown.stdout
    prompt = load(path).simulator.model.prompt_digest
    assert f"digest {prompt[:12]}" in shown.stdout
    verified = run("slice", "verify", SLICE, "--path", path, *options())
    assert "as frozen" in verified.stdout
    assert msgspec.json.decode(run("slice", "show", SLICE, "--path", path, *options(), "--json").stdout)
