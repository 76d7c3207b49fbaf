"""Why an issue was not resolved: for who looks at a record, and never for who works on the issue."""

import json

import pytest
from issue_repositories import make_instances
from typer.testing import CliRunner

from tool_envs.cli.app import app
from tool_envs.env import unwrap
from tool_envs.environments import make_env
from tool_envs.evaluation.conversation import conversation_of
from tool_envs.evaluation.runs import Stage
from tool_envs.repo import site
from tool_envs.repo.sandbox import SandboxError
from tool_envs.trajectory import TrajectoryWriter, record_episode
from tool_envs.trajectory.exports import FORMATS, export_records

TESTS, SIMILARITY = "tool_envs/RepoTests-v0", "tool_envs/RepoSimilarity-v0"
SUBMIT = {"name": "submit", "arguments": {}}
HIDDEN = "tests/test_area.py::test_areas"
OPEN = "tests/test_area.py::test_a_rectangle_without_height_has_its_width"
SOURCE = "shapes/area.py"


def edit(old, new):
    return {"name": "edit", "arguments": {"path": SOURCE, "old": old, "new": new}}


def insert(code):
    """Code at the top of the module that the tests import."""
    return edit('"""Areas of shapes."""', code)


HALF = edit("width + height", "width * height")
REST = edit("base * height", "base * height / 2")


@pytest.fixture(scope="module")
def kwargs(tmp_path_factory):
    """Arguments for two issues, whose tests run under limits alone: they are ours."""
    return make_instances(tmp_path_factory.mktemp("issues"))


def play(kwargs, *actions, env_id=TESTS, **more):
    """The record of an episode of the first issue, and all that its agent was shown."""
    env = make_env(env_id, {**kwargs, **more})
    shown = [env.reset(seed=0, options={"task_id": "shapes-area"})]
    shown += [env.step(action) for action in actions]
    assert unwrap(env).outcome is not None
    return record_episode(env, "tests", "1", 0), shown


def explained(record):
    """What somebody is told who looks at a record later."""
    told = conversation_of(record, Stage())
    assert told["notes"] == []
    return told["why"]


@pytest.mark.parametrize(
    ("actions", "why"),
    [
        ([HALF], {"failing": [HIDDEN]}),
        ([edit("width + height", "width - height")], {"failing": [HIDDEN], "lost": [OPEN]}),
        (
            [edit("return width + height", "import pytest\n\n    pytest.skip()")],
            {"failing": [HIDDEN], "lost": [OPEN], "unfounded": [OPEN, HIDDEN]},
        ),
        ([insert("import os\n\nos._exit(0)")], {"problem": "died"}),
        (
            [insert("import builtins\n\nbuiltins.abs = None")],
            {"problem": "tampered", "changed": ["builtins.abs"]},
        ),
    ],
    ids=["half a fix", "a loss", "skipped", "no run", "tampered"],
)
def test_who_looks_at_a_record_sees_which_tests_decided(kwargs, actions, why):
    record, _ = play(kwargs, *actions, SUBMIT)

    assert explained(record) == {"resolution": "RESOLVED_NO", **why}


def test_files_that_were_not_handed_in_are_judged_as_they_were(kwargs):
    half, _ = play(kwargs, HALF, max_steps=1)
    whole, _ = play(kwargs, HALF, REST, max_steps=2)

    assert {half.outcome.status, whole.outcome.status} == {"truncated"}
    assert explained(half) == {"resolution": "RESOLVED_NO", "failing": [HIDDEN]}
    assert explained(whole) == {"resolution": "RESOLVED_FULL"}


@pytest.mark.parametrize(
    ("env_id", "actions"), [(TESTS, [HALF, REST]), (SIMILARITY, [])], ids=["solved", "by similarity"]
)
def test_there_is_nothing_to_explain(kwargs, env_id, actions):
    record, _ = play(kwargs, *actions, SUBMIT, env_id=env_id)

    assert record.outcome.reward == float(env_id == TESTS)
    assert explained(record) is None


def test_where_tests_cannot_run_it_says_why_it_does_not_explain(kwargs, monkeypatch):
    record, _ = play(kwargs, HALF, SUBMIT)

    def gone(_):
        raise SandboxError("The sandbox is gone.")

    monkeypatch.setattr(site.Site, "sandbox", property(gone))
    told = conversation_of(record, Stage())

    assert told["why"] is None
    assert told["notes"] == ["Why the reward is 0 is not explained: The sandbox is gone."]


def test_hidden_tests_are_named_to_no_agent_and_in_no_record_or_row(kwargs, tmp_path):
    run_tests = {"name": "run_tests", "arguments": {"paths": ["."]}}

    record, shown = play(kwargs, HALF, run_tests, SUBMIT)

    assert HIDDEN in explained(record)["failing"]
    texts = [json.dumps(shown), record.to_line()]
    for name, form in FORMATS.items():
        if not form.of_tokens and form.file.endswith(".jsonl"):
            export_records([record], name, tmp_path / name)
            texts += [file.read_text() for file in (tmp_path / name).iterdir()]
    assert len(texts) > 6
    assert all("1 passed" in text for text in texts[:2])  # what is in the repository may be run
    assert not any("test_areas" in text for text in texts)


def test_the_command_shows_it(kwargs, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "140")
    record, _ = play(kwargs, HALF, SUBMIT)
    with TrajectoryWriter(tmp_path / "runs") as writer:
        writer.append(record)

    shown = CliRunner().invoke(app, ["view", str(tmp_path / "runs"), "--episode", "shapes-area"])

    assert shown.exit_code == 0, shown.output
    assert HIDDEN in shown.stdout
