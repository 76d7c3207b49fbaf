"""The filter before fine-tuning: what it reads off records, and that its verdict moves nothing else."""

import json

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rollouts import failed, failing, function_judge, greater, numbered, reward_of, rollout, run
from rubrics import filter_rubric, reward_rubric

from tool_envs.credit import format_reward, group_advantages
from tool_envs.errors import InfrastructureError, UsageError
from tool_envs.judging import (
    ChatFilterJudge,
    ChecklistJudge,
    FilterJudge,
    Review,
    Rubric,
    episode_digest,
    examples_of,
    filter_trajectories,
    meets,
    score_rollouts,
    verdict_of,
    with_verdict,
)
from tool_envs.judging.sft_filter import REVIEW_FORMAT, read_review, reviewing_messages
from tool_envs.trajectory import Trajectory, replay, summarize
from tool_envs.trajectory.record import FilterVerdict

FIND = {"name": "find_member", "arguments": {"email": "bob@example.org"}}
LEND = {"name": "lend", "arguments": {"member_id": "M2", "book_id": "B1", "days": 7}}
LENT = {"name": "lend", "arguments": {"member_id": "M2", "book_id": "B2", "days": 7}}
BOTH = {"days": 14, "book_id": "B1"}
CLOSE = {"name": "close_desk", "arguments": {}}
TELL = "Emma is yours. It costs $4.30 a week, for 2 weeks."


def say(text):
    return {"name": "respond", "arguments": {"content": text}}


def filter_of(*checks, tools=("lend",), **changes):
    """A filter that demands calls of tools and these checks."""
    value = filter_rubric(checks or [{"kind": "tool_called", "tool": "lend"}], **changes)
    return Rubric.from_json({**value, "expected_tools": list(tools)}, "filter")


def check(**parts):
    """One check, as a rubric reads it."""
    return filter_of(parts).checkpoints[0].check


# --- What is read off a record


@pytest.mark.parametrize(
    ("parts", "actions", "met"),
    [
        ({"kind": "tool_called", "tool": "lend"}, [LEND], True),
        ({"kind": "tool_called", "tool": "lend"}, [FIND], False),
        ({"kind": "tool_called", "tool": "lend"}, [LENT], False),
        ({"kind": "tool_called", "tool": "lend"}, [LENT, LEND], True),
        ({"kind": "tool_called", "tool": "lend"}, [[LENT, LEND]], True),
        ({"kind": "tool_called", "tool": "lend"}, [[CLOSE, LEND]], False),
        ({"kind": "tool_called", "tool": "lend"}, [[say("One moment."), LEND]], True),
        ({"kind": "tool_called", "tool": "lend"}, [[{**LENT, "id": "a"}, {**LEND, "id": "a"}]], True),
        ({"kind": "tool_called", "tool": "lend", "arguments": [{"book_id": "B1"}]}, [LEND], True),
        ({"kind": "tool_called", "tool": "lend", "arguments": [{"book_id": "B3"}]}, [LEND], False),
        ({"kind": "tool_called", "tool": "lend", "arguments": [{"pages": 7}]}, [LEND], False),
        ({"kind": "tool_called", "tool": "lend", "arguments": [{"days": 14}, {"days": 7}]}, [LEND], True),
        ({"kind": "tool_called", "tool": "lend", "arguments": [BOTH, {"days": 28}]}, [LEND], False),
        ({"kind": "tool_not_called", "tool": "lend"}, [FIND], True),
        ({"kind": "tool_not_called", "tool": "lend"}, [LENT], True),
        ({"kind": "tool_not_called", "tool": "lend"}, [LEND], False),
        ({"kind": "said", "texts": ["emma"]}, [TELL], True),
        ({"kind": "said", "texts": ["Dune", "is  YOURS"]}, [TELL], True),
        ({"kind": "said", "texts": ["Em"]}, [TELL], False),
        ({"kind": "said", "texts": ["emma"]}, [[FIND, say(TELL)]], True),
        ({"kind": "said", "texts": ["emma"]}, [f"<think>{TELL}</think>Yes."], False),
        ({"kind": "said", "texts": ["emma"]}, [{"name": "think", "arguments": {"thought": TELL}}], False),
        ({"kind": "told", "type": "amount", "value": 430}, [TELL], True),
        ({"kind": "told", "type": "amount", "value": 43}, [TELL], False),
        ({"kind": "told", "type": "count", "value": 2}, [TELL], True),
        ({"kind": "told", "type": "count", "value": 4}, [TELL], False),
        ({"kind": "rule_kept", "rule": "explicit_yes"}, [TELL], True),
    ],
)
def test_a_check_reads_what_happened(parts, actions, met):
    assert meets(rollout(*actions), check(**parts)) is met


@pytest.mark.parametrize(
    ("broken", "met"), [([], True), (["other"], True), (["other", "explicit_yes"], False)]
)
def test_a_rule_is_kept_if_the_outcome_has_no_violation_of_it(broken, met):
    record = rollout(TELL)
    violations = [{"rule": rule, "step": 0} for rule in broken]
    outcome = msgspec.structs.replace(record.outcome, violations=violations)

    kept = check(kind="rule_kept", rule="explicit_yes")

    assert meets(msgspec.structs.replace(record, outcome=outcome), kept) is met


def completed(*actions):
    """An episode that the agent ends after these actions."""
    return rollout(*actions, CLOSE, "never said")


RUBRIC = filter_of({"kind": "said", "texts": ["Emma"]}, {"kind": "told", "type": "amount", "value": 430})


@pytest.mark.parametrize(
    ("actions", "reasons"),
    [
        ([LEND, TELL], ()),
        ([TELL], ("no call of `lend` succeeded",)),
        ([LEND], ("checkpoint `check_0` is not met", "checkpoint `check_1` is not met")),
        ([LEND, "Emma is free."], ("checkpoint `check_1` is not met",)),
    ],
)
def test_the_checklist_keeps_what_meets_all_and_says_what_is_not_met(actions, reasons):
    record = completed(*actions)

    verdict = run(verdict_of(record, RUBRIC, ChecklistJudge()))

    assert verdict == FilterVerdict(
        keep=not reasons,
        reasons=reasons,
        rubric_digest=RUBRIC.digest,
        judge="checklist",
        judge_version="1.0.0",
    )
    assert Trajectory.from_json(with_verdict(record, verdict).to_json()).filter_verdict == verdict


# --- Verdicts


class Asked:
    """A judge of one answer, who counts."""

    name, version = "asked", "1"

    def __init__(self, answer):
        self.times, self._answer = 0, answer

    async def review(self, _trajectory, _rubric):
        self.times += 1
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer


@pytest.mark.parametrize("record", [rollout("Hello?"), failed()])
def test_what_was_not_completed_is_dropped_and_nobody_is_asked(record):
    judge = Asked(Review(()))

    verdict = run(verdict_of(record, RUBRIC, judge))

    assert judge.times == 0
    assert verdict.reasons == (f"the episode was not completed: {record.outcome.status}",)
    assert Trajectory.from_json(with_verdict(record, verdict).to_json()).filter_verdict == verdict


@pytest.mark.parametrize("answer", [None, InfrastructureError("The judge is down.")])
def test_a_judge_that_fails_gives_no_verdict(answer):
    assert isinstance(Asked(answer), FilterJudge)
    assert run(verdict_of(completed(), RUBRIC, Asked(answer))) is None


def test_a_rubric_of_rewards_is_no_filter():
    with pytest.raises(UsageError, match="of the kind 'filter', not 'reward'"):
        run(verdict_of(completed(), reward_of(reward_rubric()), ChecklistJudge()))


async def collect(*arguments, **options):
    return [each async for each in filter_trajectories(*arguments, **options)]


@given(st.lists(st.booleans(), max_size=7), st.integers(1, 4))
@settings(max_examples=20)
def test_trajectories_come_out_in_order_each_with_its_own_verdict(good, concurrency):
    records = [completed(*[LEND, TELL][: 2 if each else 1]) for each in good]
    before = [record.to_line() for record in records]

    found = run(collect(records, lambda _: RUBRIC, ChecklistJudge(), concurrency=concurrency))

    assert [record.filter_verdict.keep for record in found] == good
    assert list(map(episode_digest, found)) == list(map(episode_digest, records))
    assert [record.to_line() for record in records] == before


def test_no_trajectory_is_read_before_there_is_room_for_it():
    read = []

    def records():
        for number in range(9):
            read.append(number)
            yield completed()

    async def first():
        await anext(filter_trajectories(records(), lambda _: RUBRIC, ChecklistJudge(), concurrency=3))
        return list(read)

    assert run(first()) == [0, 1, 2]
    with pytest.raises(UsageError, match="at least 1, not 0"):
        run(collect([], lambda _: RUBRIC, ChecklistJudge(), concurrency=0))


# --- A verdict is no reward

verdicts = st.none() | st.builds(
    FilterVerdict,
    keep=st.booleans(),
    reasons=st.just(("because",)),
    rubric_digest=st.just("a" * 64),
    judge=st.just("test"),
    judge_version=st.just("1"),
)
GROUP = [completed(LEND), numbered(1), numbered(2), failing(numbered(3)), completed(FIND, LEND)]


def everything_said_of(records):
    """All rewards, advantages, metrics and scores of records."""
    compared = [record for record in records if record in records[1:3]]
    return (
        group_advantages(records),
        summarize(records),
        [record.outcome for record in records],
        list(map(format_reward, records)),
        list(map(episode_digest, records)),
        len(examples_of(records)),
        run(score_rollouts(compared, reward_of(reward_rubric()), function_judge(greater))),
    )


@given(st.lists(verdicts, min_size=len(GROUP), max_size=len(GROUP)))
@settings(max_examples=40)
def test_flipping_verdicts_moves_no_reward_advantage_or_metric(given_):
    judged = [with_verdict(record, verdict) for record, verdict in zip(GROUP, given_, strict=True)]

    assert everything_said_of(judged) == everything_said_of(GROUP)
    for record in judged:
        assert Trajectory.from_json(record.to_json()) == record


def test_a_record_with_a_verdict_is_replayed():
    replay(with_verdict(completed(LEND), run(verdict_of(completed(LEND), RUBRIC, ChecklistJudge()))))


# --- A model as a filter


class Model:
    model = "test-1"

    def __init__(self, text):
        self.asked, self.text = [], text

    async def complete(self, messages, *, response_format=None):
        self.asked.append((messages, response_format))
        return self


def test_a_model_is_asked_about_each_demand_and_its_answer_names_them():
    model = Model('{"unmet": [3, 0, 3]}')
    record, judge = completed(TELL), ChatFilterJudge(model)

    verdict = run(verdict_of(record, RUBRIC, judge))

    assert verdict.reasons == ("success criterion 1 is not met", "checkpoint `check_1` is not met")
    assert (verdict.judge, verdict.judge_version) == ("chat", "test-1, prompt 1.0.0")
    ((messages, form),) = model.asked
    assert form == REVIEW_FORMAT
    assert messages == reviewing_messages(record, RUBRIC)
    demands = json.loads(messages[1]["content"])["demands"]
    assert [demand["number"] for demand in demands] == [0, 1, 2, 3]
    assert demands[0]["text"] == RUBRIC.success_criteria[0]


@pytest.mark.parametrize(
    ("reply", "numbers"),
    [
        ('{"unmet": []}', []),
        ('{"unmet": [2, 1]}', [1, 2]),
        ('```json\n{"unmet": [0]}\n```', [0]),
        ('{"unmet": [4]}', None),
        ('{"unmet": [-1]}', None),
        ('{"unmet": [true]}', None),
        ('{"unmet": [1.5]}', None),
        ('{"unmet": null}', None),
        ('{"unmet": [], "keep": true}', None),
        ("{}", None),
        ("[]", None),
        ('The rollout says {"unmet": []}', None),
        ("", None),
    ],
)
def test_only_the_demanded_object_is_a_review(reply, numbers):
    assert read_review(reply, 4) == numbers


def test_a_reply_that_is_none_is_no_verdict():
    assert run(verdict_of(completed(TELL), RUBRIC, ChatFilterJudge(Model("Fine!")))) is None
    assert run(verdict_of(completed(TELL), RUBRIC, ChatFilterJudge(Model('{"unmet": []}')))).keep is True
