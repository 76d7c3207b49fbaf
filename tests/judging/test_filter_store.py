"""Whole stores through the filter: the rubrics of real tasks, stopping and going on, and the command."""

import itertools
import json

import msgspec
import pytest
from rollouts import numbered, rollout
from rubrics import filter_rubric, reward_rubric
from store_agents import record_of
from typer.testing import CliRunner

from tool_envs.cli.app import app
from tool_envs.errors import DataFileError, InfrastructureError, UnknownNameError, UsageError
from tool_envs.judging import ChecklistJudge, Review, Rubric, TaskRubrics, filter_store, shipped_rubric
from tool_envs.judging.pairwise import episode_digest
from tool_envs.trajectory import TrajectoryWriter, read_trajectories

RETAIL, BOOKING = "tool_envs/Retail-v0", "tool_envs/Booking-v0"
TASKS = range(12)


# --- Real tasks


@pytest.mark.parametrize(
    ("env_id", "kwargs"),
    [
        (RETAIL, {}),
        (RETAIL, {"schema_version": "2.0.0"}),
        (BOOKING, {}),
        (BOOKING, {"schema_version": "1.1.0"}),
    ],
)
@pytest.mark.parametrize("agent", ["oracle", "refuse", "transfer", "explicit_yes", "no_made_up_facts"])
def test_the_checklist_keeps_just_what_the_rules_reward(tmp_path, env_id, kwargs, agent):
    records = [record_of(env_id, agent, task, **kwargs) for task in TASKS]
    write(tmp_path / "x", records)

    filtered = filter_store(tmp_path / "x", tmp_path / "y", TaskRubrics().filter_of, ChecklistJudge())

    kept = [record.filter_verdict.keep for record in read_trajectories(tmp_path / "y")]
    assert kept == [record.outcome.reward == 1.0 for record in records]
    assert (filtered.kept, filtered.dropped, filtered.not_judged) == (sum(kept), len(kept) - sum(kept), 0)


def test_letters_which_no_rule_grades_are_filtered_and_have_a_rubric_for_rewards():
    rubrics, letter = TaskRubrics(), shipped_rubric("letter", "1.0.0", "reward")
    oracle, refuse = (record_of(RETAIL, agent, 0, family="letter") for agent in ("oracle", "refuse"))

    own = rubrics.reward_of(oracle, letter)

    assert oracle.outcome.reward is None
    assert own.items[: len(letter.items)] == letter.items
    assert {item.group for item in own.items[len(letter.items) :]} == {"task"}
    assert rubrics.reward_of(refuse, letter) == own
    assert rubrics.filter_of(oracle).kind == "filter"


def test_a_task_without_a_rubric_and_one_that_changed_are_refused():
    record = record_of(RETAIL, "oracle", 0)
    letter = shipped_rubric("letter", "1.0.0", "reward")

    with pytest.raises(UsageError, match="no rubric of its own of the kind 'reward'"):
        TaskRubrics().reward_of(record, letter)
    with pytest.raises(UsageError, match="no rubric of its own of the kind 'filter'"):
        TaskRubrics().filter_of(numbered(1))
    for part, field, named in (("task", "digest", r"task\.digest"), ("schema", "sha256", r"schema\.sha256")):
        changed = msgspec.structs.replace(getattr(record, part), **{field: "f" * 64})
        with pytest.raises(UsageError, match=named):
            TaskRubrics().filter_of(msgspec.structs.replace(record, **{part: changed}))
    with pytest.raises(UnknownNameError, match="Unknown split"):
        TaskRubrics(split="tset").filter_of(record)


# --- Stores

RUBRIC = Rubric.from_json(filter_rubric([{"kind": "said", "texts": ["number"]}]), "filter")
RECORDS = [rollout(f"Number {n}.", {"name": "close_desk", "arguments": {}}) for n in range(5)]


def write(path, records):
    with TrajectoryWriter(path) as writer:
        for record in records:
            writer.append(record)


def lines(path):
    return [record.to_line() for record in read_trajectories(path)]


class Stopping:
    """A judge who keeps the even and drops the odd, and is stopped after so many reviews."""

    name, version = "stopping", "1"

    def __init__(self, most=None):
        self._left = itertools.count(most, -1) if most is not None else itertools.repeat(1)

    async def review(self, trajectory, _rubric):
        if next(self._left) == 0:
            raise KeyboardInterrupt
        number = int(trajectory.messages[1].content.split()[1][:-1])
        return Review(("it is odd",) if number % 2 else ())


def filtered(source, out, judge, **options):
    return filter_store(source, out, lambda _: RUBRIC, judge, **options)


@pytest.mark.parametrize("concurrency", [1, 2, 16])
@pytest.mark.parametrize("most", range(6))
def test_a_run_that_was_stopped_goes_on_as_if_it_had_not_been(tmp_path, most, concurrency):
    write(tmp_path / "x", RECORDS)
    whole = filtered(tmp_path / "x", tmp_path / "whole", Stopping())
    assert (whole.kept, whole.dropped, whole.reasons) == (3, 2, {"it is odd": 2})

    stopped = False
    try:
        filtered(tmp_path / "x", tmp_path / "y", Stopping(most), concurrency=concurrency)
    except KeyboardInterrupt:
        stopped = True
    seen = []
    again = filtered(tmp_path / "x", tmp_path / "y", Stopping(), on_record=seen.append)

    assert stopped is (most < 5)
    assert again == whole
    assert lines(tmp_path / "y") == lines(tmp_path / "whole")
    assert [episode_digest(record) for record in seen] == [episode_digest(record) for record in RECORDS]


def test_the_source_stays_as_it_was(tmp_path):
    write(tmp_path / "x", RECORDS)
    before = lines(tmp_path / "x")

    filtered(tmp_path / "x", tmp_path / "y", Stopping())

    assert lines(tmp_path / "x") == before


def test_a_judge_that_fails_leaves_records_without_a_verdict(tmp_path):
    class Down(Stopping):
        async def review(self, _trajectory, _rubric):
            raise InfrastructureError("The judge is down.")

    write(tmp_path / "x", RECORDS)

    counts = filtered(tmp_path / "x", tmp_path / "y", Down())

    assert (counts.kept, counts.dropped, counts.not_judged, counts.reasons) == (0, 0, 5, {})
    assert lines(tmp_path / "y") == lines(tmp_path / "x")


def test_a_folder_with_another_run_is_refused(tmp_path):
    write(tmp_path / "x", RECORDS)
    write(tmp_path / "others", RECORDS[1:])
    write(tmp_path / "fewer", RECORDS[:2])
    filtered(tmp_path / "x", tmp_path / "y", Stopping())
    before = lines(tmp_path / "y")

    for source in ("others", "fewer"):
        with pytest.raises(UsageError, match="holds another run: its record"):
            filtered(tmp_path / source, tmp_path / "y", Stopping())
    with pytest.raises(UsageError, match=r"was judged by stopping 1 under .* not by checklist"):
        filtered(tmp_path / "x", tmp_path / "y", ChecklistJudge())
    other = Rubric.from_json(filter_rubric(), "filter")
    with pytest.raises(UsageError, match="was judged by"):
        filter_store(tmp_path / "x", tmp_path / "y", lambda _: other, Stopping())
    with pytest.raises(UsageError, match="is the store that is read"):
        filtered(tmp_path / "x", tmp_path / "x", Stopping())
    assert lines(tmp_path / "y") == before


def test_a_folder_that_is_being_written_is_refused(tmp_path):
    write(tmp_path / "x", RECORDS)

    with TrajectoryWriter(tmp_path / "y"), pytest.raises(UsageError, match="is writing"):
        filtered(tmp_path / "x", tmp_path / "y", Stopping())


# --- The command


@pytest.fixture
def command(monkeypatch, tmp_path):
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(app, ["filter", *arguments])


def test_the_command_filters_by_the_rubrics_of_tasks_and_again_by_none(command, tmp_path):
    write(tmp_path / "x", [record_of(RETAIL, agent, 0) for agent in ("oracle", "refuse")])

    result = command("x", "--judge", "checklist", "--out", "y", "--json")

    assert result.exit_code == 0
    counts = json.loads(result.stdout)
    assert (counts["kept"], counts["dropped"], counts["not_judged"]) == (1, 1, 0)
    assert "checkpoint `wish_1_done` is not met" in counts["reasons"]
    assert json.loads(command("x", "--judge", "checklist", "--out", "y", "--json").stdout) == counts
    assert "checklist 1.0.0" in command("x", "--judge", "checklist", "--out", "y").stdout


def test_the_command_takes_a_rubric_for_all(command, tmp_path):
    write(tmp_path / "x", RECORDS)
    value = filter_rubric([{"kind": "said", "texts": ["number 3"]}])
    (tmp_path / "rubric.json").write_text(json.dumps({**value, "expected_tools": ["close_desk"]}))

    result = command("x", "--judge", "checklist", "--out", "y", "--rubric", "rubric.json", "--json")

    assert json.loads(result.stdout)["kept"] == 1


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (
            ["x", "--judge", "chekclist", "--out", "y"],
            "Did you mean: `checklist`? Known: checklist, openai:MODEL",
        ),
        (["x", "--judge", "checklist", "--out", "y", "--rubric", "reward.json"], "a filter is no reward"),
        (["x", "--judge", "openai:", "--out", "y"], "Unknown judge 'openai:'"),
        (
            ["x", "--judge", "openai:m", "--out", "y", "--base-url", "nowhere"],
            "the URL of an OpenAI-compatible",
        ),
        (["x", "--judge", "checklist", "--out", "y"], "no rubric of its own"),
        (["nowhere", "--judge", "checklist", "--out", "y"], "cannot be read"),
        (["x", "--judge", "checklist", "--out", "x"], "is the store that is read"),
    ],
)
def test_what_cannot_be_filtered_is_refused_with_exit_code_2(command, tmp_path, arguments, problem):
    write(tmp_path / "x", RECORDS)
    (tmp_path / "reward.json").write_text(json.dumps(reward_rubric()))

    result = command(*arguments)

    assert result.exit_code == 2
    assert problem in result.stderr


def test_a_missing_store_leaves_nothing_behind(tmp_path):
    with pytest.raises(DataFileError):
        filtered(tmp_path / "nowhere", tmp_path / "y", Stopping())

    assert not (tmp_path / "y").exists()
