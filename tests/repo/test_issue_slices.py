"""Slices of issues: those of this package, and SWE-bench Verified over rows that somebody has."""

import json
import sys

import msgspec
import pytest
from made_repositories import make_repository
from sandboxes import sandbox_or_skip
from test_make import BEFORE, FIX
from typer.testing import CliRunner

from tool_envs.cli.app import app
from tool_envs.errors import UsageError
from tool_envs.evaluation.slice_files import load_slice, read_slice, verify_slice
from tool_envs.repo.domain import BUILT_IN
from tool_envs.repo.grading import grader_digest
from tool_envs.repo.instances import append_instance, as_row, load_instances
from tool_envs.repo.make import make_instance
from tool_envs.repo.sandbox import find_sandbox

VERIFIED = "swe_bench/verified"


def test_the_slice_of_the_built_in_issues_is_all_of_them():
    frozen = read_slice("repo/test@1")

    rows = load_instances(BUILT_IN / "test.jsonl")
    assert [task.id for task in frozen.tasks] == [row.instance_id for row in rows]
    assert (frozen.reward, frozen.human_verified, frozen.upstream) == ("tests", False, None)
    assert frozen.grader_digest == grader_digest("bubblewrap")


@pytest.fixture
def rows(tmp_path, monkeypatch):
    """A file with one row, its repository beside it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    make_repository(tmp_path / "psf__requests", BEFORE, FIX)
    sandbox = find_sandbox("subprocess")
    made = make_instance(
        tmp_path / "psf__requests",
        "main",
        sandbox=sandbox,
        python=sys.executable,
        name="psf/requests",
        repeats=1,
    )
    append_instance(tmp_path / "rows.jsonl", made.instance)
    return tmp_path / "rows.jsonl"


def test_verified_is_over_the_rows_that_are_there(rows):
    found = load_slice(VERIFIED, {"path": str(rows)})

    assert (found.coverage, found.reward, found.human_verified) == ("1 of 500 tasks", "tests", True)
    assert found.grader_digest == read_slice("repo/test@1").grader_digest
    assert not {"path", "mirrors", "python"} & set(found.env.kwargs)
    verify_slice(found, {"path": str(rows)})


def test_where_repositories_are_is_the_users_to_say_and_all_else_is_the_slices(rows, tmp_path):
    elsewhere = {"path": str(rows), "mirrors": str(tmp_path), "python": sys.executable}

    assert load_slice(VERIFIED, elsewhere) == load_slice(VERIFIED, {"path": str(rows)})
    with pytest.raises(UsageError, match="has its own 'max_steps'"):
        load_slice(VERIFIED, {"path": str(rows), "max_steps": 5})


def test_other_rows_are_another_slice(rows):
    before = load_slice(VERIFIED, {"path": str(rows)})
    changed = msgspec.structs.replace(load_instances(rows)[0], problem_statement="Something else.")
    rows.write_bytes(as_row(changed))

    assert load_slice(VERIFIED, {"path": str(rows)}).digest != before.digest


def test_rows_of_other_repositories_are_not_verified(rows):
    rows.write_bytes(as_row(msgspec.structs.replace(load_instances(rows)[0], repo="psf/black")))

    with pytest.raises(UsageError, match=r"has tasks of astropy/astropy, .*, not of psf/black"):
        load_slice(VERIFIED, {"path": str(rows)})


def test_more_rows_than_there_are_tasks_are_not_verified(rows):
    row = load_instances(rows)[0]
    many = (msgspec.structs.replace(row, instance_id=f"psf__requests-{n}") for n in range(501))
    rows.write_bytes(b"".join(map(as_row, many)))

    with pytest.raises(UsageError, match="has 500 tasks; your files have 501"):
        load_slice(VERIFIED, {"path": str(rows)})


def test_the_oracle_plays_verified(rows, tmp_path):
    sandbox_or_skip("bubblewrap")
    command = ["eval", "--slice", VERIFIED, "--path", str(rows), "--agent", "oracle", "--json"]

    done = CliRunner().invoke(app, [*command, "--records", str(tmp_path / "records")])

    assert done.exit_code == 0, done.output
    report = json.loads(done.stdout)
    assert report["slice"]["human_verified"] is True
    assert [result["reward"] for result in report["results"]] == [1.0]
    assert set(report["floors"].values()) == {0.0}
    again = ["rescore", str(tmp_path / "records"), "--slice", VERIFIED, "--path", str(rows), "--json"]
    rescored = json.loads(CliRunner().invoke(app, again).stdout)
    assert [result["reward"] for result in rescored["results"]] == [1.0]
