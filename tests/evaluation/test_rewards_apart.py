"""Rewards by rules, by tests and by similarity: named wherever they stand, and never in one table."""

import dataclasses
import json

import gymnasium
import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy_domain import DeskEnv, load
from typer.testing import CliRunner

from tool_envs.agents import load_agent
from tool_envs.cli.app import app
from tool_envs.errors import SliceMismatchError, UsageError
from tool_envs.evaluation import evaluate, read_report, write_report
from tool_envs.evaluation.compare import attribute, compare_reports
from tool_envs.evaluation.paired import compare_means
from tool_envs.evaluation.results import EpisodeResult
from tool_envs.evaluation.runs import Stage, run_of_records, run_of_report
from tool_envs.evaluation.scores import scores_of
from tool_envs.evaluation.slice import freeze
from tool_envs.evaluation.slice_files import parse_slice
from tool_envs.evaluation.view import view_of
from tool_envs.reward import Ledger, Verdict
from tool_envs.trajectory import Trajectory, TrajectoryWriter, record_episode, replay

SOURCES = ("rules", "tests", "similarity")


class _Desk(DeskEnv):
    """A desk whose grader says that the reward comes from rules, whatever the domain says."""

    def __init__(self, **options):
        super().__init__(**options)
        self.domain = dataclasses.replace(load(), terminal_source=self.source, grade=self.grade)


class DeskWithTests(_Desk):
    source = "tests"
    grade = staticmethod(load().grade)


class DeskBySimilarity(_Desk):
    source = "similarity"

    @staticmethod
    def grade(episode):
        return Verdict(Ledger(terminal=len(episode.database.changed) / 8))


gymnasium.register(id="tool_envs_tests/DeskWithTests-v0", entry_point="test_rewards_apart:DeskWithTests")
gymnasium.register(
    id="tool_envs_tests/DeskBySimilarity-v0", entry_point="test_rewards_apart:DeskBySimilarity"
)
IDS = {
    "rules": "toy_domain:tool_envs_tests/Desk-v0",
    "tests": "tool_envs_tests/DeskWithTests-v0",
    "similarity": "tool_envs_tests/DeskBySimilarity-v0",
}


def played(source, agent="gold"):
    """A report, and the records of its episodes."""
    agent, records = load_agent(agent), []

    def note(env, result):
        records.append(record_episode(env, agent.name, agent.version, result.seed))

    return evaluate(IDS[source], {}, agent, on_episode=note), records


@pytest.mark.parametrize("source", SOURCES)
def test_ledger_record_slice_and_report_name_the_source(source, tmp_path):
    report, records = played(source)

    for record in records:
        assert record.outcome.ledger.terminal_source == source
        assert Trajectory.from_json(record.to_json()) == record
        replay(record)
    assert report.slice.reward == report.scores.reward == source
    assert parse_slice(report.slice.to_json(), "here") == report.slice
    write_report(report, tmp_path / "report.json")
    assert read_report(tmp_path / "report.json").scores == report.scores


def test_slices_of_rules_keep_the_form_in_which_they_were_released():
    frozen = {source: freeze("unreleased/tasks", IDS[source], {}, [0]) for source in SOURCES}

    versions = {source: each.format_version for source, each in frozen.items()}
    assert versions == {"rules": "1.0.0", "tests": "1.1.0", "similarity": "1.1.0"}
    assert "reward" not in frozen["rules"].fields()
    assert frozen["tests"].fields()["reward"] == "tests"


@pytest.mark.parametrize(("first", "second"), [(a, b) for a in SOURCES for b in SOURCES if a != b])
def test_two_rewards_are_never_in_one_table(first, second):
    (one, records), (other, more) = played(first), played(second)
    both = f"never stand in one table: .* from {first}, .* from {second}"

    with pytest.raises(SliceMismatchError, match=both):
        compare_reports(one, other)
    with pytest.raises(SliceMismatchError, match=both):
        attribute(one, one, other, other)
    with pytest.raises(SliceMismatchError, match=both):
        view_of(run_of_report(one), run_of_report(other))
    with pytest.raises(UsageError, match="never stand in one table"):
        run_of_records([*records, *more], Stage())


def test_a_similarity_has_a_mean_and_is_no_success():
    report, _ = played("similarity")

    scores = report.scores
    assert [result.reward for result in report.results] == [0.375, 0.625, 0.0, 0.0]
    assert (scores.score.value, scores.mean_similarity) == (0.25, scores.score)
    assert scores.success_rate is scores.rate is scores.flip_rate is None
    assert scores.pass_hat == scores.pass_at == scores.causes == scores.blames == {}
    assert scores.by_family[""].score == scores.score


def results(rewards):
    return [
        EpisodeResult(index=0, task_id=task, seed=0, status="completed", reward=reward, steps=1, trial=trial)
        for task, each in rewards.items()
        for trial, reward in enumerate(each)
    ]


@given(
    st.dictionaries(st.sampled_from("abcd"), st.lists(st.sampled_from([0.0, 1.0]), min_size=1, max_size=4))
)
def test_rates_and_means_are_the_same_figure_of_zeros_and_ones(rewards):
    rate, mean = (scores_of(results(rewards), source) for source in ("tests", "similarity"))

    assert rate.success_rate == mean.mean_similarity
    assert (rate.mean_similarity, mean.success_rate) == (None, None)
    assert rate.by_family == mean.by_family


@given(st.dictionaries(st.sampled_from("abcd"), st.floats(0, 1), min_size=1))
def test_means_compared_with_themselves_do_not_differ(means):
    found = compare_means(means, means)

    assert (found.difference.value, found.p_value, found.flips, found.test) == (0.0, 1.0, None, "permutation")


def test_two_evaluations_by_similarity_are_compared_by_their_means():
    (silent, _), (gold, _) = played("similarity", "silent"), played("similarity")

    found = compare_reports(silent, gold)

    assert (found.reward, found.paired.difference.value, found.paired.flips) == ("similarity", 0.25, None)
    assert [change.second for change in found.changes] == [0.375, 0.625]


def test_a_similarity_is_shown_as_a_mean_and_never_as_a_rate(tmp_path):
    report, records = played("similarity")
    path, store = str(tmp_path / "report.json"), str(tmp_path / "store")
    write_report(report, path)
    with TrajectoryWriter(store) as writer:
        for record in records:
            writer.append(record)

    for command in (
        ["eval", IDS["similarity"], "--agent", "gold", "--trials", "2"],
        ["compare", path, path],
        ["view", path],
        ["view", store],
        ["stats", store],
    ):
        shown = CliRunner().invoke(app, command)
        assert shown.exit_code == 0, shown.output
        assert "similarity" in shown.stdout
        assert "success" not in shown.stdout
        assert "pass^" not in shown.stdout
    assert (
        json.loads(json.dumps(view_of(run_of_report(report))))["runs"][0]["score_name"] == "mean similarity"
    )


def test_an_episode_that_was_cut_is_a_failure_under_a_similarity_too():
    report = evaluate(IDS["similarity"], {"max_steps": 1}, load_agent("gold"), tasks=[0])

    assert [result.reward for result in report.results] == [0.0]
    assert report.scores.causes == {"truncated: limit": 1}
