"""Evaluations: what counts, what does not, and that tasks and episodes do not depend on each other."""

import dataclasses
import json
from collections import Counter

import gymnasium
import pytest
import toy_domain

from tool_envs.agents import TRIVIAL, Agent, load_agent
from tool_envs.environments import find_env_ids
from tool_envs.errors import DataFileError, UnknownNameError, UsageError
from tool_envs.evaluation import evaluate
from tool_envs.reward import Ledger, Verdict

SAMPLE = "tool_envs/TauBench-v0"
GOLD, SILENT = load_agent("gold"), load_agent("silent")
DESK_TASKS = len(toy_domain.TASKS)


def test_a_report_says_what_was_played_and_what_came_out():
    env = gymnasium.make(SAMPLE).unwrapped

    report = evaluate(SAMPLE, {"user": "silent"}, GOLD, seed=3)

    frozen, scores = report.slice, report.scores
    assert frozen.schema.sha256 == env.schema.sha256
    assert frozen.data_digest == env.domain.base.digest
    assert (frozen.schema.interface, frozen.simulator.name) == ("ours", "replay")
    assert scores.episodes == scores.graded == scores.outcomes["completed"] == len(env.domain.tasks)
    assert scores.mean_steps == sum(r.steps for r in report.results) / scores.episodes
    assert json.loads(json.dumps(report.to_json(), allow_nan=False))["results"][0]["reward"] == 1.0


@pytest.mark.parametrize(
    ("agent", "solved"),
    [("gold", 115), ("silent", 7), ("transfer", 7), ("refuse", 7), ("repeat", 7), ("dump", 11)],
)
def test_tau_bench_retail_gives_its_known_scores(tau_bench_path, agent, solved):
    report = evaluate(SAMPLE, {"path": str(tau_bench_path)}, load_agent(agent))

    assert report.scores.graded == 115
    assert sum(result.reward for result in report.results) == solved


@pytest.mark.parametrize(
    ("agent", "solved"), [("gold", 25), ("silent", 7), ("transfer", 7), ("refuse", 7), ("dump", 7)]
)
def test_tau_bench_airline_gives_its_known_scores(tau_bench_path, agent, solved):
    report = evaluate(SAMPLE, {"path": str(tau_bench_path), "domain": "airline"}, load_agent(agent))

    assert report.scores.graded == 25
    assert sum(result.reward for result in report.results) == solved


def test_mistakes_are_counted_by_their_code():
    report = evaluate(toy_domain.ENV_ID, {}, load_agent("random"), seed=1)

    totals = sum((Counter(result.error_codes) for result in report.results), Counter())
    assert report.scores.error_codes == dict(totals)
    assert "no_such_record" in totals


@pytest.mark.parametrize("agent", ["gold", *TRIVIAL])
def test_an_episode_does_not_depend_on_those_before_it(agent):
    def play(tasks):
        return evaluate(toy_domain.ENV_ID, {}, load_agent(agent), seed=4, tasks=tasks).results

    assert play(None) == tuple(play([index])[0] for index in range(DESK_TASKS))


def test_the_seed_chooses_episodes_but_no_tasks():
    first, second = (evaluate(toy_domain.ENV_ID, {}, SILENT, seed=seed).results for seed in (0, 1))

    assert [r.task_id for r in first] == [r.task_id for r in second] == [t.id for t in toy_domain.TASKS]
    assert not {r.seed for r in first} & {r.seed for r in second}
    assert all(0 <= r.seed < 2**53 for r in first)


@pytest.mark.parametrize(("fails_at", "steps"), [(0, 0), (1, 2)])
def test_an_infrastructure_failure_has_no_reward_and_the_others_go_on(monkeypatch, fails_at, steps):
    simulators = toy_domain.load().simulators
    usual = simulators["scripted"]

    def make(task, options):
        return toy_domain.DeadLineUser(fails_at) if task.id == "where" else usual(task, options)

    monkeypatch.setitem(simulators, "scripted", make)
    report = evaluate(toy_domain.ENV_ID, {}, GOLD)

    assert report.scores.outcomes == {"completed": DESK_TASKS - 1, "infrastructure": 1}
    scores = report.scores
    assert (scores.episodes, scores.graded, scores.rate) == (DESK_TASKS, DESK_TASKS - 1, 1.0)
    assert scores.blames == {"infrastructure": 1}
    assert [(r.reward, r.steps) for r in report.results if r.task_id == "where"] == [(None, steps)]


def test_there_is_no_rate_where_nothing_was_graded():
    report = evaluate(toy_domain.ENV_ID, {"user": "dead_line"}, SILENT)

    assert report.scores.graded == 0
    assert report.scores.rate is report.scores.mean_steps is None
    assert report.scores.pass_hat == report.scores.by_family == {}


def test_an_ungraded_episode_does_not_count(monkeypatch):
    ungraded = dataclasses.replace(toy_domain.load(), grade=lambda _: Verdict(Ledger(terminal=None)))
    monkeypatch.setattr(toy_domain, "load", lambda: ungraded)

    report = evaluate(toy_domain.ENV_ID, {}, GOLD)

    assert (report.scores.episodes, report.scores.graded, report.scores.rate) == (DESK_TASKS, 0, None)
    assert report.scores.causes == {}


@pytest.mark.parametrize(("tasks", "trials"), [([], 1), (None, 0)])
def test_an_evaluation_of_nothing_is_refused(tasks, trials):
    with pytest.raises(UsageError, match="at least one"):
        evaluate(toy_domain.ENV_ID, {}, SILENT, tasks=tasks, trials=trials)


def test_the_callback_sees_each_finished_episode():
    seen = []

    def note(env, result):
        assert (env.outcome.reward, env.episode.steps) == (result.reward, result.steps)
        seen.append(env.task)

    evaluate(toy_domain.ENV_ID, {}, SILENT, on_episode=note)

    assert seen == list(toy_domain.TASKS)


@pytest.mark.parametrize(
    ("env_id", "kwargs", "tasks", "problem"),
    [
        ("tool_envs/TauBnch-v0", {}, None, "Unknown environment .* Did you mean: `tool_envs/TauBench-v0`"),
        (SAMPLE, {"splt": "test"}, None, "Unknown argument .* Did you mean: `split`"),
        (SAMPLE, {"split": "tset"}, None, "Unknown split"),
        (SAMPLE, {"user": "silnt"}, None, "Did you mean: `silent`"),
        (SAMPLE, {}, range(1000), "Unknown task index 10"),
    ],
)
def test_an_unknown_name_is_refused_before_the_first_episode(env_id, kwargs, tasks, problem):
    with pytest.raises(UnknownNameError, match=problem):
        evaluate(env_id, kwargs, SILENT, tasks=tasks)


def test_a_missing_folder_is_named():
    with pytest.raises(DataFileError, match="no such folder"):
        evaluate(SAMPLE, {"path": "nowhere"}, SILENT)


def test_an_agent_that_stops_early_is_a_mistake():
    with pytest.raises(UsageError, match="stopped before the end of task 0"):
        evaluate(SAMPLE, {}, Agent("quitter", "1", lambda *_: iter(())))


def test_our_environments_are_found_by_their_namespace():
    assert SAMPLE in find_env_ids()
    assert all(env_id.startswith("tool_envs/") for env_id in find_env_ids())
