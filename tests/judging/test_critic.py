"""Critics: what they learn from the rewards of real rollouts, and how they fall behind a moving policy."""

import itertools
import subprocess
import sys

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rollouts import failed, numbered, reward_of, rollout, run
from rubrics import reward_rubric
from store_agents import record_of

from tool_envs.credit import group_advantages
from tool_envs.errors import UsageError
from tool_envs.judging import (
    Critic,
    HashedWordsCritic,
    Judge,
    TaskRubrics,
    accuracy,
    examples_of,
    score_rollouts,
    shipped_rubric,
    with_rubric,
)
from tool_envs.judging.features import FEATURES, features_of

RUBRIC = reward_of(reward_rubric())
TRIVIAL = ("silent", "refuse", "transfer", "dump")
LEARNED, HELD_OUT = range(20), range(20, 40)
TALKER = "no_made_up_facts"
"""The saboteur who serves customers as the oracle does, and makes up a tracking number in its report."""


# --- Rollouts of scripted agents in a real store


def served(name, task):
    """The record of an agent who serves a customer."""
    return record_of("tool_envs/Retail-v0", name, task)


def examples(names, tasks):
    """The oracle beside other agents, where they were rewarded differently."""
    return examples_of([served(name, task) for name in ("oracle", *names) for task in tasks])


# --- What a critic learns


def test_held_out_accuracy_rises_with_the_update():
    critic, held_out = HashedWordsCritic(), examples(TRIVIAL, HELD_OUT)
    assert len(held_out) == len(TRIVIAL) * len(HELD_OUT)
    assert accuracy(critic, held_out) == 0.5

    critic.update(examples(TRIVIAL, LEARNED))

    assert accuracy(critic, held_out) > 0.95


def test_a_stale_critic_loses_on_a_policy_that_moved_until_it_is_updated():
    """Against trivial agents it pays to serve at length; the next policy does, and makes things up in it."""
    critic = HashedWordsCritic()
    stale = critic.update(examples(TRIVIAL, LEARNED))
    moved = examples([TALKER], HELD_OUT)
    assert len(moved) > 10
    assert accuracy(critic, moved) < 0.4

    updated = critic.update(examples([TALKER], LEARNED))

    assert updated != stale
    assert accuracy(critic, moved) > 0.95
    assert accuracy(critic, examples(TRIVIAL, HELD_OUT)) > 0.95


def test_a_critic_judges_rollouts_and_its_version_stands_beside_each_score():
    critic = HashedWordsCritic()
    group = [served(name, HELD_OUT[0]) for name in ("refuse", "oracle", "silent")]
    before = run(score_rollouts(group, RUBRIC, critic))
    assert before.values == (None,) * 3

    version = critic.update(examples(TRIVIAL, LEARNED))
    records = with_rubric(group, run(score_rollouts(group, RUBRIC, critic)))

    assert isinstance(critic, Judge)
    sources = {record.outcome.ledger.rubric_source for record in records}
    assert {(source.judge, source.judge_version) for source in sources} == {("hashed_words", version)}
    assert version != before.source.judge_version
    scores = [record.outcome.ledger.rubric for record in records]
    assert scores[1] > max(scores[0], scores[2])


# --- Versions


def test_a_version_says_what_was_learned_and_in_which_order():
    few, more = examples(["refuse"], LEARNED[:2]), examples(["silent"], LEARNED[:2])

    def learned(*batches, **setting):
        critic = HashedWordsCritic(rounds=5, **setting)
        return [critic.version, *map(critic.update, batches)]

    assert learned(few, more) == learned(few, more)
    assert learned(few, [])[1:] == [learned(few)[1]] * 2
    versions = [*learned(few, more), *learned(more, few)[1:], *learned(few, penalty=0.1)]
    assert len(set(versions)) == len(versions)


def test_a_critic_is_one_of_the_protocol():
    critic: Critic = HashedWordsCritic()

    assert critic.update([]) == critic.version


@pytest.mark.parametrize("setting", [{"penalty": 0.0}, {"rounds": 0}, {"margin": -1.0}])
def test_a_setting_out_of_range_is_refused(setting):
    with pytest.raises(UsageError, match="Expected `penalty` above 0"):
        HashedWordsCritic(**setting)


def test_no_examples_have_no_accuracy():
    with pytest.raises(UsageError, match="no examples"):
        accuracy(HashedWordsCritic(), [])


# --- The fit


def loss(weights, differences, penalty):
    return np.mean(np.logaddexp(0.0, -differences @ weights)) + penalty / 2 * weights @ weights


def test_the_fit_is_where_the_loss_is_flat():
    critic = HashedWordsCritic(penalty=1e-2, rounds=2000)
    found = examples(["refuse", "silent"], LEARNED[:5])
    critic.update(found)

    differences = np.array([features_of(each.better) - features_of(each.worse) for each in found])
    weights = critic._weights
    wrong = 1.0 / (1.0 + np.exp(differences @ weights))
    gradient = 1e-2 * weights - differences.T @ wrong / len(found)
    assert np.linalg.norm(gradient) < 1e-8
    nudged = weights + 1e-3 * np.random.default_rng(0).normal(size=FEATURES)
    assert loss(weights, differences, 1e-2) < min(loss(nudged, differences, 1e-2), np.log(2.0))


@settings(max_examples=10)
@given(st.permutations(range(3)))
def test_preferences_are_antisymmetric_and_transitive(order):
    critic = HashedWordsCritic(rounds=20)
    critic.update(examples(["refuse"], LEARNED[:3]))
    group = [served(name, HELD_OUT[0]) for name in ("refuse", "oracle", "silent")]

    mirrored = {"first": "second", "second": "first", "tie": "tie"}
    first, second, third = (group[number] for number in order)
    assert critic.prefer(first, second) == mirrored[critic.prefer(second, first)]
    assert critic.prefer(first, first) == "tie"
    if critic.prefer(first, second) == critic.prefer(second, third) == "first":
        assert critic.prefer(first, third) == "first"


# --- Examples


def test_examples_are_pairs_of_one_task_that_were_rewarded_differently():
    tasks = LEARNED[:3]
    records = [served(name, task) for name in ("oracle", "refuse", "silent") for task in tasks]

    found = examples_of(records)

    assert len(found) == 2 * len(tasks)
    for each in found:
        assert each.better.task == each.worse.task
        assert (each.better.outcome.reward, each.worse.outcome.reward) == (1.0, 0.0)


def test_what_no_rule_graded_is_no_example():
    better, worse = served("oracle", 0), served("refuse", 0)
    assert len(examples_of([better, worse])) == 1
    ledger = msgspec.structs.replace(worse.outcome.ledger, terminal=None)
    ungraded = msgspec.structs.replace(worse.outcome, reward=None, ledger=ledger)
    cut = msgspec.structs.replace(worse.outcome, status="truncated")

    for outcome in (ungraded, cut):
        assert examples_of([better, msgspec.structs.replace(worse, outcome=outcome)]) == []
    assert examples_of([failed(), numbered(1), numbered(2)]) == []


# --- Features


def test_features_have_unit_length_and_know_neither_ids_nor_thoughts():
    record = rollout("Emma is B1, on shelf 12.", "Goodbye.")
    other = rollout("Emma is B7, on shelf 40.", "Goodbye.")

    assert np.linalg.norm(features_of(record)) == pytest.approx(1.0)
    assert np.array_equal(features_of(record), features_of(other))
    assert not np.array_equal(features_of(record), features_of(rollout("Emma is out.", "Goodbye.")))


def test_features_are_the_same_in_every_process():
    code = (
        "import sys; sys.path[:0] = sys.argv[1:]; from rollouts import numbered;"
        "from tool_envs.judging.features import features_of; import hashlib;"
        "print(hashlib.sha256(features_of(numbered(3)).tobytes()).hexdigest())"
    )
    here = [path for path in sys.path if path.endswith(("tests", "judging"))]
    printed = {
        subprocess.run(
            [sys.executable, "-c", code, *here],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }

    assert len(printed) == 1


def test_the_order_of_what_happened_is_in_the_features():
    steps = ["Hello.", {"name": "get_book", "arguments": {"book_id": "B1"}}]
    found = [features_of(rollout(*order)) for order in itertools.permutations(steps)]

    assert not np.array_equal(*found)


# --- From tasks that a rule grades to those that none does


@pytest.mark.parametrize("task", range(4))
def test_what_rules_taught_judges_letters_which_no_rule_grades(task):
    """As in K2: rewards of tasks with a rule update the critic, whose scores are rewards of the others."""
    critic = HashedWordsCritic()
    critic.update(examples(TRIVIAL, LEARNED))
    store = "tool_envs/Retail-v0"
    letters = [record_of(store, name, task, family="letter") for name in ("refuse", "oracle", "silent")]
    rubric = TaskRubrics().reward_of(letters[0], shipped_rubric("letter", "1.0.0", "reward"))

    records = with_rubric(letters, run(score_rollouts(letters, rubric, critic)))

    assert [record.outcome.reward for record in records] == [None] * 3
    assert group_advantages(records) == (None,) * 3
    refused, written, silent = group_advantages(records, reward="rubric")
    assert written.value > max(refused.value, silent.value)
    assert f"({rubric.digest}), judged by hashed_words@{critic.version}" in written.reward_source
