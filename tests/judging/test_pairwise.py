"""Scores of rollouts: laws over judges of any kind, and how they land in records."""

import asyncio
import itertools
import math

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rollouts import failed, function_judge, greater, number_of, numbered, reward_of, rollout, run
from rubrics import filter_rubric, reward_rubric

from tool_envs.credit import group_advantages
from tool_envs.errors import InfrastructureError, UsageError
from tool_envs.judging import Rubric, episode_digest, score_rollouts, with_rubric
from tool_envs.judging.judges import FunctionJudge
from tool_envs.trajectory import Trajectory

RUBRIC = reward_of(reward_rubric())
few = settings(max_examples=30)
numbers = st.lists(st.integers(0, 9), min_size=2, max_size=6)


def score(found, judge, **options):
    return run(score_rollouts([numbered(number) for number in found], RUBRIC, judge, **options))


# --- Laws


@few
@given(numbers)
def test_a_transitive_judge_is_followed(found):
    scores = score(found, function_judge(greater))

    assert math.fsum(scores.values) == pytest.approx(0.0, abs=1e-9)
    assert (scores.source.agreement, scores.failed) == (1.0, 0)
    assert scores.asked == len(found) * (len(found) - 1)
    for (one, its), (other, others) in itertools.combinations(zip(found, scores.values, strict=True), 2):
        assert (its > others + 1e-6) == (one > other)
        assert (abs(its - others) < 1e-6) == (one == other)


@few
@given(numbers, st.sampled_from(["first", "second"]))
def test_a_judge_who_looks_at_the_order_alone_makes_no_difference(found, always):
    scores = score(found, function_judge(lambda *_: always))

    assert scores.values == pytest.approx((0.0,) * len(found), abs=1e-9)
    assert scores.source.agreement == 0.0


@st.composite
def opinions(draw):
    """A judge of distinct rollouts with any opinion on each pair in each order, or none."""
    found = draw(st.lists(st.integers(0, 9), min_size=2, max_size=5, unique=True))
    answers = st.sampled_from(["first", "second", "tie", None])
    return found, {pair: draw(answers) for pair in itertools.permutations(found, 2)}


@few
@given(opinions(), st.randoms(use_true_random=False))
def test_the_order_of_rollouts_does_not_matter(given_, random):
    found, table = given_
    judge = function_judge(lambda first, second: table[first, second])
    shuffled = random.sample(found, len(found))

    scores, others = score(found, judge), score(shuffled, judge)

    assert scores.source == others.source
    by_number = dict(zip(shuffled, others.values, strict=True))
    for number, value in zip(found, scores.values, strict=True):
        assert value == (by_number[number] and pytest.approx(by_number[number], abs=1e-9))


@few
@given(opinions())
def test_only_pairs_judged_in_both_orders_count(given_):
    found, table = given_
    both = {pair for pair in table if table[pair] is not None and table[pair[::-1]] is not None}
    halved = {pair: answer if pair in both else None for pair, answer in table.items()}

    scores = score(found, function_judge(lambda *pair: table[pair]))

    assert scores.values == score(found, function_judge(lambda *pair: halved[pair])).values
    assert scores.failed == sum(answer is None for answer in table.values())
    mirrored = {"first": "second", "second": "first", "tie": "tie"}
    agree = [table[i, j] == mirrored[table[j, i]] for i, j in both if i < j]
    assert scores.source.agreement == (sum(agree) / len(agree) if agree else None)


@few
@given(numbers, st.integers(1, 3), st.data())
def test_rollouts_that_failed_are_not_judged_and_move_no_score(found, size, data):
    group = [numbered(number) for number in found]
    for _ in range(size):
        group.insert(data.draw(st.integers(0, len(group))), failed())

    scores = run(score_rollouts(group, RUBRIC, function_judge(greater)))

    alone = score(found, function_judge(greater))
    assert [value for value in scores.values if value is not None] == list(alone.values)
    assert scores.source == alone.source
    for record, value in zip(with_rubric(group, scores), scores.values, strict=True):
        assert record.outcome.ledger.rubric == value
        assert (record.outcome.ledger.rubric_source is None) == (record.outcome.status == "infrastructure")


# --- Failures give no score


def down(*_):
    raise InfrastructureError("The judge is down.")


@pytest.mark.parametrize("judge", [down, lambda *_: None])
def test_a_judge_that_fails_gives_no_score_and_so_no_advantage(judge):
    scores = score([1, 2, 3], function_judge(judge))

    assert (scores.values, scores.failed, scores.source.agreement) == ((None,) * 3, 6, None)
    records = with_rubric([numbered(number) for number in (1, 2, 3)], scores)
    assert [record.outcome.ledger.rubric for record in records] == [None] * 3
    assert group_advantages(records, reward="rubric") == (None,) * 3


def test_rollouts_that_nothing_compares_with_the_others_leave_all_without_a_score():
    def only_small_ones(first, second):
        return greater(first, second) if max(first, second) < 3 else None

    assert score([1, 2, 3], function_judge(only_small_ones)).values == (None,) * 3
    assert score([1, 2], function_judge(only_small_ones)).values != (None,) * 2


def test_one_rollout_alone_is_compared_with_nothing():
    assert score([1], function_judge(greater)).values == (None,)
    assert run(score_rollouts([failed()], RUBRIC, function_judge(greater))).values == (None,)


def test_a_mistake_in_the_judge_is_raised_as_it_is():
    with pytest.raises(UsageError, match="first, second, tie or None; test says 'left'"):
        score([1, 2], function_judge(lambda *_: "left"))


def test_the_judge_is_asked_only_so_often_at_once():
    running, most = 0, 0

    async def slow(_task, first, second, _rubric):
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        return greater(number_of(first), number_of(second))

    scores = score([3, 1, 2, 4], FunctionJudge("slow", "1", slow), concurrency=3)

    assert most == 3
    assert scores.values == score([3, 1, 2, 4], function_judge(greater)).values


# --- In records


def test_scores_land_in_new_records_with_their_source():
    group = [numbered(number) for number in (1, 3, 2)]
    before = [record.to_line() for record in group]

    records = with_rubric(group, run(score_rollouts(group, RUBRIC, function_judge(greater))))

    assert [record.to_line() for record in group] == before
    for record, original in zip(records, group, strict=True):
        assert Trajectory.from_json(record.to_json()) == record
        assert episode_digest(record) == episode_digest(original)
        source = record.outcome.ledger.rubric_source
        assert (source.rubric, source.version, source.digest) == ("letter", "1.0.0", RUBRIC.digest)
        assert (source.judge, source.judge_version, source.agreement) == ("test", "1", 1.0)
        assert source.group == tuple(sorted(map(episode_digest, group)))
        assert record.outcome.ledger.terminal == original.outcome.ledger.terminal
    values = [advantage.value for advantage in group_advantages(records, reward="rubric")]
    assert values[1] > values[2] > values[0]


def test_scores_replace_older_ones():
    group = [numbered(1), numbered(2)]
    first = with_rubric(group, run(score_rollouts(group, RUBRIC, function_judge(greater))))

    second = with_rubric(first, run(score_rollouts(first, RUBRIC, function_judge(lambda *_: "tie"))))

    assert [record.outcome.ledger.rubric for record in second] == [0.0, 0.0]


@pytest.mark.parametrize("others", [[1, 2, 3], [1], [1, 3], []])
def test_scores_of_other_rollouts_are_refused(others):
    scores = score([1, 2], function_judge(greater))

    with pytest.raises(UsageError, match="of other rollouts"):
        with_rubric([numbered(number) for number in others], scores)


def test_what_may_not_be_compared_is_refused():
    with pytest.raises(UsageError, match=r"Rollouts of one task\.digest"):
        run(score_rollouts([numbered(1), rollout("Hi.", task_index=1)], RUBRIC, function_judge(greater)))
    other = msgspec.structs.replace(
        numbered(2), schema=msgspec.structs.replace(numbered(2).schema, sha256="f" * 64)
    )
    with pytest.raises(UsageError, match=r"Rollouts of one schema\.sha256"):
        run(score_rollouts([numbered(1), other], RUBRIC, function_judge(greater)))
    of_filters = Rubric.from_json(filter_rubric(), "filter")
    with pytest.raises(UsageError, match="of the kind 'reward', not 'filter'"):
        run(score_rollouts([numbered(1)], of_filters, function_judge(greater)))
    with pytest.raises(UsageError, match="at least 1, not 0"):
        score([1, 2], function_judge(greater), concurrency=0)
