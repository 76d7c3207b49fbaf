"""Bins of reward: they come together by a formula only, and R1's format reward stands apart."""

import json

import msgspec
import pytest
import toy_domain
from credit_records import base_record, changed, rewarded
from hypothesis import given
from hypothesis import strategies as st

from tool_envs.credit import combine, format_reward, group_advantages, with_format
from tool_envs.credit.combine import read_formula
from tool_envs.environments import make_env
from tool_envs.errors import UsageError
from tool_envs.reward import Ledger, ProcessSource, RubricSource
from tool_envs.trajectory import record_episode
from tool_envs.trajectory.record import AssistantMessage

DESK = toy_domain.ENV_ID

# --- Formulas

FORMULAS = [
    ("terminal", {"terminal": 1.0}),
    (" 0.5 * process ", {"process": 0.5}),
    ("terminal+0.1*format", {"terminal": 1.0, "format": 0.1}),
    ("2*rubric + terminal + 10.25*format", {"rubric": 2.0, "terminal": 1.0, "format": 10.25}),
]
LEDGER = Ledger(
    terminal=1.0,
    process=0.5,
    rubric=-0.25,
    format=0.75,
    process_source=ProcessSource("sub_goals", None),
    rubric_source=RubricSource("letter", "1.0.0", "d" * 64, "critic", "3", ("a" * 64,), None),
)


@pytest.mark.parametrize(("formula", "weights"), FORMULAS)
def test_a_formula_is_the_weighted_sum_of_its_bins(formula, weights):
    assert read_formula(formula) == weights
    assert combine(LEDGER, formula) == pytest.approx(
        sum(weight * getattr(LEDGER, name) for name, weight in weights.items())
    )


@pytest.mark.parametrize(
    ("formula", "problem"),
    [
        ("terminus+0.1*format", "Did you mean: `terminal`"),
        ("", "Unknown bin of rewards ''"),
        ("terminal+", "Unknown bin of rewards ''"),
        ("terminal-0.1*format", "decimal number"),
        ("x*format", "decimal number as weight, not 'x\\*format'"),
        ("nan*format", "decimal number"),
        ("-1*format", "decimal number"),
        ("1e3*format", "decimal number"),
        ("*format", "decimal number"),
        ("terminal+0.5*terminal", "stands in .* twice"),
    ],
)
def test_what_is_no_formula_is_refused(formula, problem):
    with pytest.raises(UsageError, match=problem):
        combine(LEDGER, formula)


@pytest.mark.parametrize("name", ["process", "rubric", "format"])
def test_a_bin_that_was_not_asked_for_is_refused_and_never_taken_for_nothing(name):
    with pytest.raises(UsageError, match=f"nothing in the bin '{name}'"):
        combine(Ledger(terminal=1.0), f"terminal+0.1*{name}")
    with pytest.raises(UsageError, match=f"nothing in the bin '{name}'"):
        group_advantages([base_record()] * 2, reward=name)


@pytest.mark.parametrize("missing", ["terminal", "rubric"])
def test_where_a_bin_has_no_reward_there_is_no_sum(missing):
    ledger = msgspec.structs.replace(LEDGER, **{missing: None})

    assert combine(ledger, f"{missing}+0.1*format") is None
    assert combine(ledger, "process+0.1*format") == pytest.approx(0.575)


def test_the_formula_stands_in_the_source_of_the_advantages():
    group = [rewarded(1.0, format=0.5), rewarded(0.0, format=1.0), rewarded(0.0, format=0.0)]

    found = group_advantages(group, reward="terminal + 0.1*format")

    grader = base_record().grader_digest
    assert {(each.reward_bin, each.reward_source) for each in found} == {
        ("combined", f"terminal+0.1*format: terminal by {grader}, format by format_reward")
    }
    assert found[0].value > found[1].value > found[2].value
    assert group_advantages(group)[1:] == group_advantages([group[0], group[2], group[2]])[1:]


# --- The format reward

THOUGHT = "<think>They want a book.</think>"
LOOK = '{"name": "get_book", "arguments": {"book_id": "B1"}}'


def wrote(*actions, **changes):
    """The format reward of an episode of these actions."""
    env = make_env(DESK, {"max_steps": len(actions)})
    env.reset(seed=1)
    for action in actions:
        if env.unwrapped.outcome is None:
            env.step(action)
    return format_reward(msgspec.structs.replace(record_episode(env, "model", "v1", 1), **changes))


CHAT_CALL = {"type": "function", "id": "a", "function": json.loads(LOOK)}


@pytest.mark.parametrize(
    ("action", "formed"),
    [
        (f"{THOUGHT}Good day.", True),
        (f"\n {THOUGHT}\n\nGood day.", True),
        (f"{THOUGHT}<tool_call>{LOOK}</tool_call>", True),
        (f"{THOUGHT}{LOOK}", True),
        ({"role": "assistant", "content": THOUGHT, "tool_calls": [CHAT_CALL]}, True),
        ({"role": "assistant", "content": f"{THOUGHT}Good day."}, True),
        ({"name": "respond", "arguments": {"content": f"{THOUGHT}Good day."}}, True),
        (f'{THOUGHT}{{"name": "no_such_tool", "arguments": {{}}}}', True),
        ("Good day.", False),
        (f"Good day. {THOUGHT}", False),
        (f"Well. {THOUGHT} Good day.", False),
        (THOUGHT, False),
        ("<think> </think>Good day.", False),
        ("<think>Open, and no end. Good day.", False),
        ("No start.</think>Good day.", False),
        (f"{THOUGHT}{THOUGHT}Good day.", False),
        (f"{THOUGHT}Good day.</think>", False),
        (f"{THOUGHT}<tool_call>{LOOK[:-1]}</tool_call>", False),
        (f"{THOUGHT}{LOOK[:-2]}", False),
        (json.loads(LOOK), False),
        ({"role": "assistant", "content": THOUGHT}, False),
        ({"role": "assistant", "content": None, "tool_calls": [CHAT_CALL]}, False),
        ([json.loads(LOOK)], False),
        (7, False),
    ],
)
def test_a_message_has_its_form_or_not(action, formed):
    assert wrote(action) == float(formed)


@given(st.lists(st.booleans(), min_size=1, max_size=8))
def test_the_format_reward_is_the_share_of_messages_in_form(formed):
    think = f'{THOUGHT}{{"name": "think", "arguments": {{}}}}'

    assert wrote(*[think if each else "{" for each in formed]) == sum(formed) / len(formed)


def test_the_format_reward_lands_apart_and_never_for_a_failure():
    record = base_record()

    formed = with_format(record)

    assert formed.outcome.ledger.format == 0.0
    assert record.outcome.ledger.format is None
    assert formed.outcome.reward == record.outcome.reward == 1.0
    assert group_advantages([formed]) == group_advantages([record])
    assert with_format(rewarded(None)) == rewarded(None)


def test_only_what_the_policy_wrote_is_looked_at():
    def by_a_human(message):
        if not isinstance(message, AssistantMessage):
            return message
        return msgspec.structs.replace(message, author="human", policy_version=(), trainable=False)

    assert format_reward(changed(messages=tuple(map(by_a_human, base_record().messages)))) is None
