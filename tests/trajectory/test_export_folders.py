"""An export as a whole: what is left out, the index, the manifest; a part is never taken for the whole."""

import hashlib
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import toy_domain
from export_records import CLOSE, Tokenizer, at_desk, call, play
from hypothesis import given
from hypothesis import strategies as st
from processes import outputs
from store_records import played
from trajectory_records import SHA, assistant, base, finish, observation

from tool_envs.errors import (
    DataFileError,
    ReplayMismatchError,
    TamperedFileError,
    UnknownNameError,
    UsageError,
)
from tool_envs.trajectory import Trajectory, TrajectoryWriter, read_trajectories
from tool_envs.trajectory.exports import FORMATS, INDEX, MANIFEST, export_records, read_manifest
from tool_envs.trajectory.exports.folder import new_folder
from tool_envs.trajectory.parquet import read_parquet

TRAINS = sorted(name for name, form in FORMATS.items() if form.use != "archive")
KEEPS = sorted(name for name, form in FORMATS.items() if form.use == "archive")
REWARDED = sorted(name for name, form in FORMATS.items() if form.use == "reinforcement")


def export(records, name, out):
    """Export records, with a tokenizer where the format takes one."""
    tokenizer = Tokenizer() if FORMATS[name].of_tokens else None
    return export_records(iter(records), name, out, tokenizer=tokenizer)


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def failed():
    """An episode whose user could not be reached."""
    value = play("Hello.", CLOSE).to_json()
    for message in value["messages"]:
        message["trainable"] = False
    value["outcome"] |= {"status": "infrastructure", "reward": None}
    value["outcome"]["ledger"]["terminal"] = None
    return Trajectory.from_json(value)


def by_hand():
    """An episode of a person, who did not say that it may be trained on."""
    value = play("Hello.", CLOSE).to_json()
    for message in value["messages"]:
        if message["role"] == "assistant":
            message |= {"author": "human", "trainable": False, "policy_version": []}
    return Trajectory.from_json(value)


def unrewarded():
    """A completed episode that has no reward."""
    value = play("Hello.", CLOSE).to_json()
    value["outcome"]["reward"] = None
    return Trajectory.from_json(value)


SPOKEN = play("Hello.", "Goodbye.", CLOSE)
CUT = play("Hello.", call("get_book", book_id="B1"), max_steps=2)
"""A truncated episode."""

# --- What is in it


@pytest.mark.parametrize("name", FORMATS)
def test_nothing_is_trained_on_that_may_not_be(name, tmp_path):
    records = [failed(), SPOKEN, by_hand(), CUT, unrewarded()]

    manifest = export(records, name, tmp_path / "x")

    left_out = {"infrastructure": 1, "nothing_to_train_on": 1} if name in TRAINS else {}
    left_out |= {"no_reward": 1} if name in REWARDED else {}
    assert manifest.counts.left_out == left_out
    assert (manifest.counts.read, manifest.counts.exported) == (5, 5 - sum(left_out.values()))
    statuses = [entry["status"] for entry in lines(tmp_path / "x" / INDEX)]
    assert manifest.counts.statuses == {status: statuses.count(status) for status in sorted(set(statuses))}
    assert manifest.counts.statuses["truncated"] == 1
    assert ("infrastructure" in statuses) == (name in KEEPS)


def with_verdict(record, keep):
    """A record that a filter judged."""
    verdict = {"keep": keep, "reasons": [] if keep else ["It does not ask before it acts."]}
    by = {"rubric_digest": SHA, "judge": "checklist", "judge_version": "1.0.0"}
    return Trajectory.from_json({**record.to_json(), "filter_verdict": {**verdict, **by}})


@pytest.mark.parametrize("name", FORMATS)
def test_what_a_filter_dropped_is_not_imitated_and_nothing_else_of_it_changes(name, tmp_path):
    records = [with_verdict(SPOKEN, keep) for keep in (True, False, True)]

    manifest = export(records, name, tmp_path / "x")

    dropped = {"dropped_by_filter": 1} if FORMATS[name].use == "imitation" else {}
    assert manifest.counts.left_out == dropped


@pytest.mark.parametrize("name", sorted({*FORMATS} - {"parquet"}))
def test_the_index_says_line_by_line_what_a_row_is_of(name, tmp_path):
    records = [SPOKEN, CUT, *played(), SPOKEN]

    manifest = export(records, name, tmp_path / "x")

    rows, index = lines(tmp_path / "x" / "rows.jsonl"), lines(tmp_path / "x" / INDEX)
    assert len(rows) == len(index) == manifest.counts.rows == len(records)
    for entry, record in zip(index, records, strict=True):
        assert entry["trajectory"] == hashlib.sha256(record.to_line().encode()).hexdigest()
        assert (entry["task_id"], entry["task_digest"]) == (record.task.id, record.task.digest)
        assert (entry["status"], entry["reward"]) == (record.outcome.status, record.outcome.reward)
        assert (entry["part"], entry["parts"]) == (0, 1)
    tasks = [record.task.id for record in records]
    assert [entry["sample"] for entry in index] == [tasks[:n].count(task) for n, task in enumerate(tasks)]


def test_the_rows_of_a_broken_chain_name_their_record(tmp_path):
    def turn(prompt, ids):
        tokens = {"prompt_token_ids": prompt, "token_ids": ids, "logprobs": [-1.0] * len(ids)}
        return assistant("x", tokens=tokens, policy_version=[{"version": "v7", "count": len(ids)}])

    messages = [observation("user", "Hello"), turn([1], [2]), turn([9], [3])]
    broken = at_desk(finish(base(), [{"version": "v7", "number": 7}], messages, False, True, "v0"))

    manifest = export([broken, SPOKEN], "areal", tmp_path / "x")

    index = lines(tmp_path / "x" / INDEX)
    assert [(entry["part"], entry["parts"]) for entry in index] == [(0, 2), (1, 2), (0, 1)]
    assert index[0]["trajectory"] == index[1]["trajectory"]
    assert (manifest.counts.exported, manifest.counts.rows) == (2, 3)
    assert manifest.reference_policies == ("v0", None)
    assert {(ref.sha256, ref.chat_template) for ref in manifest.tokenizers} == {
        (SHA, SHA),
        ("ab" * 32, "cd" * 32),
    }
    assert [(p.agent, p.version, p.number) for p in manifest.policy_versions] == [
        (broken.agent.name, "v7", 7),
        ("tester", "v1", 0),
    ]


def test_parquet_holds_the_records(tmp_path):
    records = [failed(), SPOKEN, *played("random")]

    export(records, "parquet", tmp_path / "x")

    assert list(read_parquet(tmp_path / "x" / "records.parquet")) == records


# --- The manifest


@pytest.mark.parametrize("name", FORMATS)
def test_the_manifest_is_read_back(name, tmp_path):
    records = [*played("gold"), *played("random"), SPOKEN]

    manifest = export(records, name, tmp_path / "x")

    assert read_manifest(tmp_path / "x") == read_manifest(tmp_path / "x" / MANIFEST) == manifest
    assert (manifest.format.name, manifest.format.version) == (name, 1)
    assert manifest.schemas == (SPOKEN.schema,)
    assert set(manifest.simulators) == {record.simulator for record in records}
    assert manifest.graders == (SPOKEN.grader_digest,)
    assert manifest.data == (SPOKEN.data.base_digest,)
    digests = {(task.env_id, task.id, task.digest) for task in manifest.tasks}
    assert digests == {(record.env.id, record.task.id, record.task.digest) for record in records}
    assert list(manifest.tasks) == sorted(manifest.tasks, key=lambda task: (task.env_id, task.id))
    policy = hashlib.sha256(toy_domain.POLICY.encode()).hexdigest()
    assert manifest.domain_policies == (() if name == "parquet" else (policy,))
    assert set(os.listdir(tmp_path / "x")) == {MANIFEST, *manifest.files}


@given(st.permutations(range(4)))
def test_the_manifest_does_not_depend_on_the_order_of_records(tmp_path_factory, order):
    folder = tmp_path_factory.mktemp("x")

    first = export(played(), "openai", folder / "first")
    second = export([played()[place] for place in order], "openai", folder / "second")

    assert {**first.to_json(), "files": 0} == {**second.to_json(), "files": 0}


WRITE = """
import sys
sys.path[:0] = sys.argv[2:]
import tempfile, pathlib, toy_domain
from tool_envs.trajectory import read_trajectories
from tool_envs.trajectory.exports import FORMATS, export_records
for name in FORMATS:
    if not FORMATS[name].of_tokens:
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "x"
            export_records(read_trajectories(sys.argv[1]), name, out)
            for file in sorted(out.iterdir()):
                print(name, file.name, file.read_bytes())
"""


def test_the_same_store_gives_the_same_bytes(tmp_path):
    with TrajectoryWriter(tmp_path / "store") as writer:
        for record in (*played("random"), SPOKEN, CUT):
            writer.append(record)

    (printed,) = outputs(WRITE, tmp_path / "store", Path(toy_domain.__file__).parent)

    assert printed.count(b"manifest.json") == 4


def edit(path, change):
    value = json.loads(path.read_text())
    change(value)
    path.write_text(json.dumps(value))


@pytest.mark.parametrize(
    ("damage", "error", "problem"),
    [
        (lambda x: (x / MANIFEST).unlink(), DataFileError, "manifest.json: cannot be read"),
        (lambda x: (x / MANIFEST).write_text("{"), DataFileError, "not JSON"),
        (lambda x: (x / MANIFEST).write_text("[]"), DataFileError, "expected format_version '1.0.0'"),
        (lambda x: edit(x / MANIFEST, lambda v: v.update(format_version="9.0.0")), DataFileError, "'9.0.0'"),
        (lambda x: edit(x / MANIFEST, lambda v: v.pop("tasks")), DataFileError, '"tasks" is a required'),
        (lambda x: edit(x / MANIFEST, lambda v: v.update(more=1)), DataFileError, "'more' was unexpected"),
        (
            lambda x: edit(x / MANIFEST, lambda v: v["tasks"][0].update(digest="0")),
            DataFileError,
            "tasks/0/digest",
        ),
        (
            lambda x: edit(x / MANIFEST, lambda v: v["files"].update({"../x": v["files"][INDEX]})),
            DataFileError,
            "files",
        ),
        (lambda x: (x / INDEX).unlink(), DataFileError, "index.jsonl: named by the manifest"),
        (lambda x: (x / "rows.jsonl").write_text(""), TamperedFileError, "rows.jsonl: 0 bytes"),
        (lambda x: os.truncate(x / INDEX, 99), TamperedFileError, "99 bytes .* were exported"),
    ],
)
def test_a_damaged_export_is_told(damage, error, problem, tmp_path):
    export(played(), "openai", tmp_path / "x")
    damage(tmp_path / "x")

    with pytest.raises(error, match=problem):
        read_manifest(tmp_path / "x")


# --- What is refused


def test_records_are_needed(tmp_path):
    with pytest.raises(UsageError, match="There is no record to export"):
        export([], "openai", tmp_path / "x")
    with pytest.raises(
        UsageError, match="None of 2 records has a row: infrastructure 1, nothing_to_train_on 1"
    ):
        export([failed(), by_hand()], "openai", tmp_path / "x")
    assert os.listdir(tmp_path) == []


def test_an_error_names_the_record(tmp_path):
    with pytest.raises(UsageError, match=r"record 2, of the task 'lend-emma': it has no token ids"):
        export_records([by_hand(), SPOKEN], "verl", tmp_path / "x")
    value = SPOKEN.to_json()
    value["grader_digest"] = "other"
    with pytest.raises(ReplayMismatchError, match="record 1, of the task 'lend-emma': grader_digest"):
        export_records([Trajectory.from_json(value)], "openai", tmp_path / "x")
    assert os.listdir(tmp_path) == []


def test_a_tokenizer_is_for_formats_of_tokens(tmp_path):
    with pytest.raises(UsageError, match="'openai' holds no tokens of its own"):
        export_records(played(), "openai", tmp_path / "x", tokenizer=Tokenizer())
    with pytest.raises(UnknownNameError, match="Did you mean: `verl`"):
        export_records(played(), "vrl", tmp_path / "x")


@pytest.mark.parametrize("make", [lambda x: x.write_text(""), lambda x: (x / "y").mkdir(parents=True)])
def test_what_is_there_is_never_written_over(make, tmp_path):
    make(tmp_path / "x")

    with pytest.raises(UsageError, match="name a folder that is missing or empty"):
        export(played(), "openai", tmp_path / "x")
    assert os.listdir(tmp_path) == ["x"]


def test_an_empty_folder_is_taken(tmp_path):
    (tmp_path / "x").mkdir()

    export(played(), "openai", tmp_path / "x")

    assert read_manifest(tmp_path / "x").counts.rows == 4


def test_two_do_not_write_one_folder(tmp_path):
    with new_folder(tmp_path / "x"), pytest.raises(UsageError, match="is writing"):
        export(played(), "openai", tmp_path / "x")

    assert os.listdir(tmp_path / "x") == []


# --- Killed


EXPORT = """
import os, sys
sys.path[:0] = sys.argv[2:]
import toy_domain
from tool_envs.trajectory import read_trajectories
from tool_envs.trajectory.exports import export_records, folder

def kill(*_):
    os.kill(os.getpid(), 9)

def records(last):
    for number, record in enumerate(read_trajectories("store")):
        if number == last:
            kill()
        yield record

if sys.argv[1] == "whole":
    folder._sync_files = kill
export_records(records(int(sys.argv[1]) if sys.argv[1].isdigit() else None), "openai", "x")
"""


@pytest.mark.parametrize("at", ["0", "1", "3", "whole"])
def test_a_killed_export_leaves_nothing_that_looks_whole(at, tmp_path):
    with TrajectoryWriter(tmp_path / "store") as writer:
        for record in played():
            writer.append(record)
    command = [sys.executable, "-c", EXPORT, at, str(Path(toy_domain.__file__).parent)]

    process = subprocess.run(command, cwd=tmp_path, check=False)

    assert process.returncode == -signal.SIGKILL
    assert sorted(os.listdir(tmp_path)) == [".x.part", "store"]
    with pytest.raises(DataFileError):
        read_manifest(tmp_path / "x")
    export(read_trajectories(tmp_path / "store"), "parquet", tmp_path / "x")
    assert sorted(os.listdir(tmp_path)) == ["store", "x"]
    assert sorted(os.listdir(tmp_path / "x")) == [INDEX, MANIFEST, "records.parquet"]
    assert read_manifest(tmp_path / "x").counts.rows == 4


def test_make_exports_to_every_format():
    makefile = (Path(__file__).parents[2] / "Makefile").read_text()
    (named,) = re.findall(r"^FORMATS \?= (.*)$", makefile, re.MULTILINE)
    (of_tokens,) = re.findall(r"^\t+([a-z|-]+)\) with=\"--tokenizer", makefile, re.MULTILINE)

    assert sorted(named.split()) == sorted(FORMATS)
    assert sorted(of_tokens.split("|")) == sorted(name for name, form in FORMATS.items() if form.of_tokens)
