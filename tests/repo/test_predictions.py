"""`tool-envs repo run`: predictions in, results and a report out."""

import json

import msgspec
import pytest
from small_project import FIXED, Project
from typer.testing import CliRunner

from tool_envs.cli.app import app
from tool_envs.errors import DataFileError, UnknownNameError
from tool_envs.repo.instances import Instance
from tool_envs.repo.predictions import Prediction, load_predictions

HALF = FIXED.replace("a + b", "a + b if b == 2 else a - b")
MISFIT = """--- a/calc.py
+++ b/calc.py
@@ -1,3 +1,3 @@
 not
-what
+is
 there
"""
OUTSIDE = "--- /dev/null\n+++ b/../calc.py\n@@ -0,0 +1 @@\n+x\n"
THROUGH_A_FILE = "--- /dev/null\n+++ b/calc.py/more.py\n@@ -0,0 +1 @@\n+x\n"
MANY = {
    "fixed": {"calc.py": FIXED},
    "half": {"calc.py": HALF},
    "cheat": {"conftest.py": "def pytest_runtest_setup():\n    raise SystemExit(0)\n"},
    "gone": {"calc.py": "import os\nos._exit(0)\n"},
}


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A folder with a repository, and instances of it by the name of the patch that is to be predicted."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "120")
    project = Project(tmp_path / "small__calc")
    names = [*MANY, "empty", "none", "misfit", "outside", "through", "left"]
    rows = [msgspec.structs.replace(project.instance, instance_id=name) for name in names]
    (tmp_path / "instances.jsonl").write_bytes(msgspec.json.Encoder().encode_lines(rows))
    patches = {name: project.workspace(changes).diff() for name, changes in MANY.items()}
    patches |= {"empty": " \n", "none": None, "misfit": MISFIT, "outside": OUTSIDE, "through": THROUGH_A_FILE}
    predictions = [Prediction(name, patch, "a/model") for name, patch in patches.items()]
    (tmp_path / "predictions.jsonl").write_bytes(msgspec.json.Encoder().encode_lines(predictions))
    return tmp_path


def run(files, *more):
    command = [
        "repo",
        "run",
        str(files / "instances.jsonl"),
        "--predictions",
        str(files / "predictions.jsonl"),
    ]
    return CliRunner().invoke(app, [*command, "--out", str(files / "out"), "--sandbox", "subprocess", *more])


def test_every_kind_of_prediction(files):
    result = run(files, "--json")
    report = json.loads(result.stdout)
    states = {name: found["state"] for name, found in report["instances"].items()}

    assert result.exit_code == 0
    assert states == {
        "fixed": "tests_ran",
        "half": "tests_ran",
        "cheat": "tests_ran",
        "gone": "died",
        "empty": "empty_patch",
        "none": "empty_patch",
        "misfit": "patch_apply_failed",
        "outside": "patch_apply_failed",
        "through": "patch_apply_failed",
    }
    assert report["resolved_ids"] == ["fixed"]
    assert report["unresolved_ids"] == ["cheat", "gone", "half", "misfit", "outside", "through"]
    assert report["empty_patch_ids"] == ["empty", "none"]
    assert report["incomplete_ids"] == ["left"]
    assert report["error_ids"] == []
    assert report["instances"]["half"]["tests_status"]["FAIL_TO_PASS"]["success"] == [
        "tests/test_calc.py::test_add",
        "tests/test_calc.py::test_add_with_help",
    ]
    assert json.loads((files / "out" / "report.json").read_text()) == report


def test_the_same_command_goes_on(files):
    lines = (files / "predictions.jsonl").read_text().splitlines(keepends=True)
    (files / "predictions.jsonl").write_text(lines[0])
    run(files)
    kept = files / "out" / "results" / "fixed.json"
    result = json.loads(kept.read_text())
    kept.write_text(json.dumps({**result, "message": "made before"}))
    (files / "predictions.jsonl").write_text(lines[0] + lines[-1])
    report = json.loads(run(files, "--json").stdout)

    assert report["instances"]["fixed"]["message"] == "made before"
    assert report["submitted_ids"] == ["fixed", "through"]


def test_a_result_of_another_patch_is_made_anew(files):
    fixed, half, *_ = map(json.loads, (files / "predictions.jsonl").read_text().splitlines())
    (files / "predictions.jsonl").write_text(json.dumps(fixed))
    run(files)
    (files / "predictions.jsonl").write_text(json.dumps({**half, "instance_id": "fixed"}))

    assert json.loads(run(files, "--json").stdout)["resolved_ids"] == []


def test_what_cannot_be_graded_is_no_failure_and_is_tried_again(files):
    (files / "predictions.jsonl").write_text((files / "predictions.jsonl").read_text().splitlines()[0])
    elsewhere = files / "elsewhere"
    elsewhere.mkdir()
    failed = run(files, "--mirrors", str(elsewhere))
    report = json.loads((files / "out" / "report.json").read_text())

    assert failed.exit_code == 1
    assert "The same command tries them again" in failed.stderr
    assert (report["error_ids"], report["unresolved_ids"]) == (["fixed"], [])
    assert "needs the repository small/calc" in report["instances"]["fixed"]["message"]
    assert json.loads(run(files, "--json").stdout)["resolved_ids"] == ["fixed"]


def test_the_table(files):
    (files / "predictions.jsonl").write_text((files / "predictions.jsonl").read_text().splitlines()[0])
    result = run(files)

    assert result.exit_code == 0
    assert "resolved" in result.stdout
    assert "subprocess" in result.stdout


def test_a_damaged_result_is_said(files):
    (files / "out" / "results").mkdir(parents=True)
    (files / "out" / "results" / "fixed.json").write_text("{")
    result = run(files)

    assert result.exit_code == 2
    assert "delete the file to have it made anew" in result.stderr


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ('{"instance_id": "x"}', DataFileError, "line 1: expected a prediction"),
        ('{"instance_id": "x", "model_patch": 3}', DataFileError, "line 1: expected a prediction"),
        ('{"instance_id": "y", "model_patch": ""}', UnknownNameError, "Unknown instance 'y'"),
        ('{"instance_id": "x", "model_patch": ""}\n' * 2, DataFileError, "line 2: a second prediction for x"),
    ],
)
def test_files_that_are_no_predictions(text, error, message, tmp_path):
    (tmp_path / "predictions.jsonl").write_text(text)
    instance = Instance(instance_id="x", repo="a/b", base_commit="0" * 40, problem_statement="")

    with pytest.raises(error, match=message):
        load_predictions(tmp_path / "predictions.jsonl", [instance])
