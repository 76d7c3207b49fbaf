"""Reports: what they hold, that they come back from their files, and what follows from their results."""

import json

import msgspec
import numpy as np
import pytest
from evaluations import SMALL, played, reports
from hypothesis import given

from tool_envs.agents import load_agent
from tool_envs.environments import make_env
from tool_envs.errors import DataFileError, UsageError
from tool_envs.evaluation import evaluate_slice, read_report, write_report
from tool_envs.evaluation.episodes import result_without_episode
from tool_envs.evaluation.failures import Failure, failure_of
from tool_envs.evaluation.journal import Journal
from tool_envs.evaluation.scores import trials_by_task
from tool_envs.reward import Ledger, Outcome
from tool_envs.schema.forms import check_form

ORACLE = load_agent("oracle")


@given(reports())
def test_a_report_comes_back_from_its_file(tmp_path_factory, report):
    path = tmp_path_factory.mktemp("report") / "report.json"
    write_report(report, path)
    assert read_report(path) == report
    assert list(path.parent.iterdir()) == [path]


@given(reports())
def test_what_was_not_graded_counts_in_no_rate(report):
    graded = [result for result in report.results if result.reward is not None]
    without = msgspec.structs.replace(report, results=tuple(graded))
    scores = report.scores
    assert scores.graded == len(graded)
    assert (scores.rate, scores.pass_hat, scores.pass_at, scores.by_family) == (
        without.scores.rate,
        without.scores.pass_hat,
        without.scores.pass_at,
        without.scores.by_family,
    )
    assert scores.blames.get("infrastructure", 0) == len(report.results) - len(graded)


@given(reports())
def test_each_task_counts_once_in_the_success_rate(report):
    shares = [task.successes / task.trials for task in trials_by_task(report.results).values()]
    assert report.scores.rate == pytest.approx(np.mean(shares))
    assert report.scores.pass_hat[1] == report.scores.pass_at[1] == report.scores.success_rate
    assert list(report.scores.causes.values()) == sorted(report.scores.causes.values(), reverse=True)
    assert sum(report.scores.causes.values()) == sum(r.reward != 1.0 for r in report.results)


@given(reports())
def test_tokens_are_means_over_the_episodes_in_which_they_were_counted(report):
    for side, found in (("agent", report.scores.agent_tokens), ("user", report.scores.user_tokens)):
        known = [counts for r in report.results if (counts := getattr(r.usage, side)) is not None]
        assert (found is None) == (not known)
        if found:
            assert found.episodes == len(known)
            assert found.prompt == pytest.approx(np.mean([counts.prompt for counts in known]))
            assert found.completion == pytest.approx(np.mean([counts.completion for counts in known]))


def test_what_1_0_0_wrote_is_read_with_tokens_that_nobody_counted(tmp_path):
    report = played()
    value = report.to_json()
    for result in value["results"]:
        del result["usage"]
    value["format_version"] = "1.0.0"
    check_form("report", "1.0.0", value, "older")
    path = tmp_path / "report.json"
    path.write_text(json.dumps(value))
    assert read_report(path) == report
    path.write_text(json.dumps({**value, "results": 5}))
    with pytest.raises(DataFileError, match="results"):
        read_report(path)


def test_trials_differ_and_the_first_is_that_of_a_single_trial():
    once, twice = played("guess"), played("guess", trials=2)
    assert [r for r in twice.results if r.trial == 0] == list(once.results)
    assert len({r.seed for r in twice.results}) == 2 * len(SMALL.tasks)


def test_trivial_agents_stand_beside_each_score_of_a_slice():
    report = evaluate_slice(SMALL, ORACLE)
    assert report.scores.rate == 1.0
    assert report.floors == dict.fromkeys(
        ["silent", "transfer", "refuse", "repeat", "dump", "guess", "random"], 0.0
    )


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda value: value.pop("trials"), "trials"),
        (lambda value: value["slice"].update(seed=7), "its digest says"),
        (lambda value: value["results"][0].update(reward="much"), "results/0/reward"),
        (lambda value: value.update(format_version="0.9.0"), "format_version"),
    ],
)
def test_a_damaged_report_is_refused(tmp_path, change, problem):
    value = played().to_json()
    change(value)
    path = tmp_path / "report.json"
    path.write_text(json.dumps(value))
    with pytest.raises(DataFileError, match=problem):
        read_report(path)


def test_what_is_no_report_is_refused(tmp_path):
    with pytest.raises(DataFileError, match="cannot be read"):
        read_report(tmp_path / "none.json")
    (tmp_path / "x.json").write_text("{")
    with pytest.raises(DataFileError, match="no report"):
        read_report(tmp_path / "x.json")
    with pytest.raises(DataFileError, match="cannot be written"):
        write_report(played(), tmp_path / "missing" / "x.json")


# --- Stopped and run again


class StopError(Exception):
    pass


def stop_after(count):
    """A callback that stops an evaluation after so many episodes, and the episodes that it saw."""
    seen = []

    def note(_env, result):
        seen.append((result.index, result.trial))
        if len(seen) == count:
            raise StopError

    return note, seen


@pytest.mark.parametrize("stops", [[1], [5, 4], [2, 2, 2]])
def test_an_evaluation_that_was_stopped_goes_on_where_it_was(tmp_path, stops):
    out = tmp_path / "report.json"
    for count in stops:
        note, _ = stop_after(count)
        with pytest.raises(StopError):
            evaluate_slice(SMALL, ORACLE, trials=2, on_episode=note, out=out, floors=False)
    assert not out.exists()
    rest, seen = stop_after(10**6)
    report = evaluate_slice(SMALL, ORACLE, trials=2, on_episode=rest, out=out, floors=False)
    # The episode that was being noted when it was stopped is played again.
    assert len(seen) == 2 * len(SMALL.tasks) - sum(count - 1 for count in stops)
    assert report.results == played(trials=2).results
    assert read_report(out).results == report.results
    assert [path.name for path in tmp_path.iterdir()] == ["report.json"]


def test_a_torn_line_of_a_journal_is_dropped(tmp_path):
    out, what = tmp_path / "report.json", {"slice": "x"}
    with Journal(out, what) as journal:
        for result in played().results[:2]:
            journal.append(result)
    path = tmp_path / "report.json.part"
    path.write_bytes(path.read_bytes()[:-5])
    with Journal(out, what) as journal:
        assert list(journal.finished.values()) == list(played().results[:1])
        journal.append(played().results[1])
    with Journal(out, what) as journal:
        assert list(journal.finished.values()) == list(played().results[:2])


def test_a_journal_of_another_evaluation_is_refused(tmp_path):
    note, _ = stop_after(1)
    with pytest.raises(StopError):
        evaluate_slice(SMALL, ORACLE, on_episode=note, out=tmp_path / "r.json", floors=False)
    with pytest.raises(UsageError, match="another evaluation: agent, trials differ"):
        evaluate_slice(SMALL, load_agent("gold"), trials=3, out=tmp_path / "r.json", floors=False)
    (tmp_path / "r.json.part").write_text("{}\nnothing\n")
    with pytest.raises(DataFileError, match="no journal"):
        evaluate_slice(SMALL, ORACLE, out=tmp_path / "r.json", floors=False)


# --- Whose fault


def outcome(status="completed", reward=0.0, ended_by="user", **fields):
    components = fields.pop("components", {"end_state": 1.0})
    return Outcome(
        status=status,
        reward=reward,
        ledger=Ledger(terminal=reward, components=components),
        ended_by=ended_by,
        steps=3,
        **fields,
    )


@pytest.mark.parametrize(
    ("how", "said", "expected"),
    [
        (outcome(reward=1.0), 3, None),
        (outcome(reward=None), 3, None),
        (outcome("infrastructure", None, "ChatError"), 0, Failure("infrastructure", "ChatError")),
        (outcome("infrastructure", None, "UserReplyError"), 2, Failure("user", "UserReplyError")),
        (outcome("truncated", ended_by="limit"), 3, Failure("agent", "truncated: limit")),
        (
            outcome(violations=[{"rule": "ask_first", "step": 2}], not_understood=1),
            3,
            Failure("rules", "rule broken: ask_first"),
        ),
        (outcome(not_understood=1), 3, Failure("user", "the user did not understand the agent")),
        (outcome(not_understood=3), 3, Failure("agent", "not met: the terminal reward")),
        (
            outcome(components={"end_state": 0.0, "told_no": 0.0, "rules": 1.0}),
            1,
            Failure("agent", "not met: end_state, told_no"),
        ),
    ],
)
def test_failures_have_a_cause_and_somebody_to_blame(how, said, expected):
    assert failure_of(how, said) == expected


@pytest.mark.parametrize(
    ("error", "blame"), [("UserReplyError", "user"), ("ChatStatusError", "infrastructure")]
)
def test_who_is_to_blame_for_an_episode_that_never_was(error, blame):
    task = make_env(SMALL.env.id, SMALL.env.kwargs).unwrapped.domain.tasks[0]
    found = result_without_episode(task, 0, 1, 7, error)
    assert (found.failure, found.reward, found.trial) == (Failure(blame, error), None, 1)


def test_planted_saboteurs_are_blamed_on_the_rules():
    report = played("guess")
    assert report.scores.rate == 0.0
    assert sum(report.scores.blames.values()) == len(SMALL.tasks)
