"""The record 4.0.0: its laws, the agreement of types and schema, and upgrades of what older ones wrote."""

import copy
import json
import re

import jsonschema
import jsonschema_rs
import msgspec
import pytest
import toy_domain
from hypothesis import given
from hypothesis import strategies as st
from trajectory_records import (
    RECORDS_1,
    RECORDS_2,
    RECORDS_3,
    assistant,
    base,
    finish,
    observation,
    records,
)

from tool_envs.agents import TRIVIAL, load_agent
from tool_envs.environments import make_env
from tool_envs.errors import DataFileError, InfrastructureError, ReplayMismatchError, UsageError
from tool_envs.evaluation import evaluate
from tool_envs.schema.files import shipped_files
from tool_envs.trajectory import Trajectory, record_episode, replay
from tool_envs.trajectory.capture import SCRIPTED, PolicySetting, Turn
from tool_envs.trajectory.record import (
    Override,
    PolicyRun,
    PolicyVersion,
    Sampling,
    Tokens,
)
from tool_envs.trajectory.tokens import NOT_SAMPLED, prove_sampled, to_tokens

FORM = jsonschema.Draft202012Validator(shipped_files().read("meta/trajectory/4.0.0"))
FAST_FORM = jsonschema_rs.Draft202012Validator(shipped_files().read("meta/trajectory/4.0.0"))
FORM_1 = jsonschema.Draft202012Validator(shipped_files().read("meta/trajectory/1.0.0"))
FORM_2 = jsonschema.Draft202012Validator(shipped_files().read("meta/trajectory/2.0.0"))
FORM_3 = jsonschema.Draft202012Validator(shipped_files().read("meta/trajectory/3.0.0"))
DESK, SAMPLE = toy_domain.ENV_ID, "tool_envs/TauBench-v0"


# --- Types and schema


def refusal(value):
    """Why the types refuse a value: for a law, or for its form; None: they do not."""
    try:
        msgspec.convert(value, Trajectory)
    except msgspec.ValidationError as problem:
        return "law" if isinstance(problem.__cause__, UsageError) else "form"
    return None


@given(records())
def test_a_record_has_its_form_and_comes_back(value):
    FORM.validate(value)

    trajectory = Trajectory.from_json(value)

    assert json.loads(trajectory.to_line()) == value
    assert Trajectory.from_json(json.loads(trajectory.to_line())) == trajectory


# JSON of any kind lives below these, and the outcome is the environment's own type: the schema is narrower.
FREE = {"kwargs", "options", "arguments", "action", "outcome"}
LEAVES = [None, True, False, 0, 1, -1, 2, 0.5, 2**31, "", "x", "user", "step-0", "0" * 64, [], {}, ["x"]]


def places(value, path=()):
    """All paths of a value that lead to something whose form is fixed."""
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield (*path, key)
            if key not in FREE:
                yield from places(item, (*path, key))


@st.composite
def mutated(draw, value):
    """A value with one member changed, taken away, doubled, or added."""
    value = copy.deepcopy(value)
    path = draw(st.sampled_from(list(places(value))))
    inner = value
    for key in path[:-1]:
        inner = inner[key]
    change = draw(st.sampled_from(["leaf", "leaf", "near", "delete", "add"]))
    old = inner[path[-1]]
    if change == "delete":
        del inner[path[-1]]
    elif change == "add" and isinstance(inner, list):
        inner.insert(path[-1], copy.deepcopy(old))
    elif change == "add":
        inner["more"] = draw(st.sampled_from(LEAVES))
    elif change == "near" and type(old) is int:
        inner[path[-1]] = old + draw(st.sampled_from([-1, 1]))
    elif change == "near" and isinstance(old, str):
        inner[path[-1]] = old + draw(st.sampled_from(["\n", "x"]))
    else:
        inner[path[-1]] = draw(st.sampled_from(LEAVES))
    return value


@given(st.data())
def test_types_and_schema_agree_on_what_is_no_record(data):
    value = data.draw(mutated(data.draw(records())))
    refused, in_form = refusal(value), FAST_FORM.is_valid(value)

    assert in_form is FORM.is_valid(value)
    assert not (refused == "form" and in_form)
    assert not (refused is None and not in_form)
    if refused is None:
        assert Trajectory.from_json(value).to_json() == value
    else:
        with pytest.raises(DataFileError):
            Trajectory.from_json(value)


# JSON Schema takes 1.0 for an integer; a count or an id is none.
@pytest.mark.parametrize(("name", "leaf"), [("seed", 1.0), ("costs", {"agent": 10**400, "user": 0})])
def test_a_number_that_the_types_cannot_hold_is_refused(name, leaf):
    assert FORM.is_valid({**base(), name: leaf})

    with pytest.raises(DataFileError, match=name):
        Trajectory.from_json({**base(), name: leaf})


# --- Laws


def sampled_record():
    """A record of two turns, of which the second was interrupted twice."""
    versions = [{"version": f"v{number}", "number": number} for number in (4, 5, 9)]
    first = {"prompt_token_ids": [1, 2], "token_ids": [3, 4], "logprobs": [-0.5, -1.0]}
    second = {"prompt_token_ids": [1, 2, 3, 4, 5], "token_ids": [6, 7, 8], "logprobs": [-0.1, -0.2, 0.0]}
    messages = [
        observation("user", "Hello"),
        assistant("Hi", policy_version=[{"version": "v4", "count": 2}], tokens=first),
        observation("user", "More"),
        assistant(
            "Well", policy_version=[{"version": f"v{n}", "count": 1} for n in (4, 5, 9)], tokens=second
        ),
        assistant("No", author="human"),
    ]
    return finish(base(), versions, messages, failed=False, sampled=True, reference="v0")


def at(value, *path):
    """The value at a path."""
    for key in path:
        value = value[key]
    return value


def test_a_message_may_span_versions():
    trajectory = Trajectory.from_json(sampled_record())

    assert [run.version for run in trajectory.messages[3].policy_version] == ["v4", "v5", "v9"]


@pytest.mark.parametrize("count", [None, 0])
def test_an_interrupted_message_says_how_much_each_version_wrote(count):
    value = sampled_record()
    value["messages"][3]["tokens"] = None
    Trajectory.from_json(value)
    value["messages"][3]["policy_version"][1]["count"] = count

    assert refusal(value) == "law"
    with pytest.raises(DataFileError, match="messages/3/policy_version/1/count"):
        Trajectory.from_json(value)


def test_nothing_of_a_failed_episode_is_trainable():
    value = sampled_record()
    value["outcome"] |= {"status": "infrastructure", "reward": None}
    value["outcome"]["ledger"]["terminal"] = None

    assert refusal(value) == "law"
    with pytest.raises(DataFileError, match="messages/1/trainable"):
        Trajectory.from_json(value)


WHO = {"who": "Ada", "why": "x"}


@pytest.mark.parametrize(
    ("path", "leaf", "problem"),
    [
        (("messages", 3, "policy_version", 1, "version"), "v9", "message 3: two runs of 'v9' in a row"),
        (("messages", 3, "policy_version", 2, "version"), "v4", "message 3: .*backwards, from 'v5' to 'v4'"),
        (("messages", 1, "policy_version", 0, "version"), "v5", "message 3: .*backwards, from 'v5' to 'v4'"),
        (
            ("messages", 1, "policy_version", 0, "version"),
            "v6",
            "message 1: .*'v6' is not in policy_versions",
        ),
        (("messages", 1, "policy_version", 0, "count"), 3, r"\[3\], do not add up to its 2 .*messages\[1\]"),
        (("messages", 1, "policy_version", 0, "count"), None, "messages/1/policy_version/0/count"),
        (("messages", 3, "policy_version", 0, "count"), 0, "messages/3/policy_version/0/count"),
        (("messages", 3, "policy_version", 0, "version"), "", "messages/3/policy_version/0/version"),
        (("messages", 1, "policy_version"), [], "messages/1/policy_version"),
        (("messages", 1, "tokens", "logprobs"), [-1.0], "2 sampled tokens, but 1 logprobs"),
        (("messages", 1, "tokens", "logprobs", 0), float("-inf"), "infinite|finite|messages/1/tokens"),
        (("messages", 1, "override"), WHO, "messages/1/override"),
        (("messages", 4, "trainable"), True, "messages/4/trainable"),
        (("messages", 4, "policy_version"), [{"version": "v9", "count": None}], "messages/4/policy_version"),
        (("messages", 0, "trainable"), True, "messages/0/trainable"),
        (("agent", "version"), "v5", "agent: its version 'v5' is not the first"),
        (("policy_versions", 1, "number"), 4, "policy_versions: the numbers do not go up"),
        (("policy_versions", 1, "version"), "v4", "policy_versions: a version stands there twice"),
        (("policy_versions",), [], "policy_versions"),
        (("tokenizer",), None, "tokenizer"),
        (("chat_template",), None, "chat_template"),
        (("sampling",), None, "sampling"),
        (("outcome", "status"), "infrastructure", "outcome/reward|messages/1/trainable"),
        (("options",), {}, "options"),
        (("costs",), {"agent": 0.0}, "costs"),
    ],
)
def test_what_contradicts_itself_is_refused_with_the_reason(path, leaf, problem):
    value = sampled_record()
    Trajectory.from_json(value)
    at(value, *path[:-1])[path[-1]] = leaf

    with pytest.raises(DataFileError, match=problem):
        Trajectory.from_json(value)
    assert refusal(value) is not None


@pytest.mark.parametrize("name", ["reference_policy", "sampling", "tokenizer", "chat_template"])
def test_a_setting_may_be_null_but_not_absent(name):
    value = base()
    Trajectory.from_json({**value, name: None})
    del value[name]

    with pytest.raises(DataFileError, match=name):
        Trajectory.from_json(value)


def test_other_text_is_trainable_by_an_override_that_says_who_and_why():
    value = sampled_record()
    value["messages"][4] |= {"trainable": True, "override": WHO}

    assert Trajectory.from_json(value).messages[4].override == Override(who="Ada", why="x")
    for name in WHO:
        value["messages"][4]["override"] = {**WHO, name: ""}
        with pytest.raises(DataFileError, match=f"messages/4/override/{name}"):
            Trajectory.from_json(value)


@given(records(sampled=True, others=False))
def test_head_and_tail_are_the_oldest_and_newest_version_that_sampled_a_token(value):
    trajectory = Trajectory.from_json(value)
    numbers = {n for sequence in to_tokens(trajectory) for n in sequence.versions if n != NOT_SAMPLED}

    ends = (trajectory.head_version, trajectory.tail_version)
    if not numbers:
        assert ends == (None, None)
        return
    assert [version.number for version in ends] == [min(numbers), max(numbers)]
    assert set(ends) <= set(trajectory.policy_versions)


def test_what_is_not_counted_was_written_and_what_is_empty_was_not():
    value = sampled_record()
    for place, run in ((1, {"version": "v4", "count": 0}), (3, {"version": "v5", "count": None})):
        value["messages"][place] |= {"tokens": None, "policy_version": [run]}

    trajectory = Trajectory.from_json(value)

    assert trajectory.head_version == trajectory.tail_version == PolicyVersion(version="v5", number=5)


SUB_GOALS = {"name": "sub_goals", "digest": None}
JUDGED = {
    "rubric": "letter",
    "version": "1.0.0",
    "digest": "a" * 64,
    "judge": "critic",
    "judge_version": "3",
    "group": ["b" * 64, "c" * 64],
    "agreement": 0.75,
}
DROPPED = {
    "keep": False,
    "reasons": ["No call of `cancel_order` succeeded."],
    "rubric_digest": "d" * 64,
    "judge": "checklist",
    "judge_version": "1.0.0",
}


def judged(ledger=None, verdict=None, **outcome):
    """A record with more in its ledger, a verdict, or another outcome."""
    value = sampled_record()
    value["outcome"]["ledger"] |= ledger or {}
    value["outcome"] |= outcome
    return {**value, "filter_verdict": verdict}


@pytest.mark.parametrize(
    "value",
    [
        judged({"process": 0.5, "process_source": SUB_GOALS}),
        judged({"process": -1.5, "process_source": {"name": "m:f", "digest": "e" * 64}}),
        judged({"rubric": 0.25, "rubric_source": JUDGED}),
        judged({"rubric": None, "rubric_source": {**JUDGED, "agreement": None}}),
        judged({"format": 0.5}),
        judged({"terminal": 1.0, "terminal_source": "tests"}),
        judged({"terminal": 0.25, "terminal_source": "similarity"}, reward=0.25),
        judged({"terminal": None, "terminal_source": "tests"}, reward=None),
        judged(verdict=DROPPED),
        judged(verdict={**DROPPED, "keep": True, "reasons": []}),
        judged({"terminal": None}, reward=None),
        judged({"terminal": None, "rubric": 0.25, "rubric_source": JUDGED}, reward=None),
    ],
)
def test_bins_come_with_what_gave_them_and_a_completed_episode_may_be_ungraded(value):
    trajectory = Trajectory.from_json(value)

    assert trajectory.to_json() == value
    FORM.validate(value)


FAILED_OUTCOME = {"status": "infrastructure", "reward": None}


def failed(ledger):
    """A record whose infrastructure failed, with more in its ledger."""
    value = judged({"terminal": None, **ledger}, **FAILED_OUTCOME)
    for message in value["messages"]:
        message["trainable"] = False
    return value


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (judged({"process": 0.5}), "outcome/ledger/process_source"),
        (judged({"process_source": SUB_GOALS}), "outcome/ledger/process_source"),
        (judged({"rubric": 0.25}), "outcome/ledger/rubric_source"),
        (failed({"rubric": 0.25, "rubric_source": JUDGED}), "outcome/ledger/rubric"),
        (failed({"rubric_source": JUDGED}), "outcome/ledger/rubric_source"),
        (failed({"format": 1.0}), "outcome/ledger/format"),
        (judged({"terminal": 0.25, "terminal_source": "tests"}), "outcome/ledger/terminal"),
        (judged({"terminal": -1.0, "terminal_source": "similarity"}), "outcome/ledger/terminal"),
        (judged({"terminal": 1.5, "terminal_source": "similarity"}), "outcome/ledger/terminal"),
        (judged(verdict={**DROPPED, "reasons": []}), "filter_verdict/reasons"),
    ],
)
def test_a_bin_without_its_source_and_a_verdict_without_a_reason_are_refused(value, problem):
    assert refusal(value) == "law"

    with pytest.raises(DataFileError, match=problem):
        Trajectory.from_json(value)


@pytest.mark.parametrize(
    ("ledger", "verdict"),
    [
        ({"format": 1.5}, None),
        ({"rubric": 0.25, "rubric_source": {**JUDGED, "agreement": -0.1}}, None),
        ({"rubric": 0.25, "rubric_source": {**JUDGED, "group": []}}, None),
        ({"rubric": 0.25, "rubric_source": {**JUDGED, "digest": "short"}}, None),
        ({"process": 0.5, "process_source": {"name": "", "digest": None}}, None),
        ({"bonus": 1.0}, None),
        ({"terminal_source": "taste"}, None),
        ({}, {**DROPPED, "rubric_digest": None}),
        ({}, {**DROPPED, "score": 1.0}),
    ],
)
def test_what_the_form_of_a_ledger_or_verdict_does_not_allow_is_refused(ledger, verdict):
    assert not FORM.is_valid(judged(ledger, verdict))

    with pytest.raises(DataFileError, match=r"outcome/ledger|filter_verdict"):
        Trajectory.from_json(judged(ledger, verdict))


def test_replay_leaves_judges_out():
    value = record_episode(played(), "model", "v1", 1).to_json()
    value["outcome"]["ledger"] |= {"rubric": 0.25, "rubric_source": JUDGED, "format": 0.0}
    trajectory = Trajectory.from_json(value)

    replay(trajectory)

    value["outcome"]["ledger"]["components"] = {"other": 1.0}
    with pytest.raises(ReplayMismatchError, match=r"outcome\.ledger\.components"):
        replay(Trajectory.from_json(value))


# --- Older formats


def as_3(value):
    """A record as 3.0.0 would have written it."""
    value = copy.deepcopy(value)
    del value["usage"]
    del value["outcome"]["ledger"]["terminal_source"]
    return {**value, "format_version": "3.0.0"}


def as_2(value):
    """A record as 2.0.0 would have written it."""
    value = as_3(value)
    if value["env"]["kwargs"].get("process") == "sub_goals":
        value["env"]["kwargs"]["process"] = True
    for name in ("format", "process_source", "rubric_source"):
        del value["outcome"]["ledger"][name]
    return {**value, "format_version": "2.0.0"}


def as_1(value):
    """A record as 1.0.0 would have written it."""
    value = as_2(value)
    for name in ("policy_versions", "reference_policy", "sampling", "tokenizer", "chat_template"):
        del value[name]
    for message in value["messages"]:
        for name in ("author", "override", "tokens"):
            message.pop(name, None)
    return {**value, "format_version": "1.0.0"}


@pytest.mark.parametrize("env_id", [SAMPLE, DESK])
@pytest.mark.parametrize("name", ["gold", *TRIVIAL])
def test_an_upgraded_record_of_a_scripted_agent_is_what_is_written_today(name, env_id):
    agent, found = load_agent(name), []
    evaluate(
        env_id,
        {},
        agent,
        tasks=[0],
        on_episode=lambda env, r: found.append(record_episode(env, agent.name, agent.version, r.seed)),
    )

    for trajectory in found:
        value = as_1(trajectory.to_json())
        FORM_1.validate(value)
        assert Trajectory.from_json(value) == trajectory
        for form, as_older in ((FORM_2, as_2), (FORM_3, as_3)):
            form.validate(as_older(trajectory.to_json()))
            assert Trajectory.from_json(as_older(trajectory.to_json())) == trajectory


def test_what_1_0_0_wrote_is_read_and_nothing_is_lost():
    values = [json.loads(line) for line in RECORDS_1.read_text().splitlines()]
    assert [value["outcome"]["status"] for value in values] == [
        *["completed"] * 2,
        "truncated",
        "infrastructure",
    ]

    for value in values:
        upgraded = Trajectory.from_json(value).to_json()
        FORM.validate(upgraded)
        assert as_1(upgraded) == value
        assert upgraded["policy_versions"] == [{"version": value["agent"]["version"], "number": 0}]


def test_what_2_0_0_wrote_is_read_and_replayed():
    values = [json.loads(line) for line in RECORDS_2.read_text().splitlines()]
    kwargs = [value["env"]["kwargs"].get("process") for value in values]
    assert kwargs == [None, None, None, True, False]

    for value, named in zip(values, [None, None, None, "sub_goals", None], strict=True):
        trajectory = Trajectory.from_json(value)
        upgraded = trajectory.to_json()
        FORM.validate(upgraded)
        assert upgraded["env"]["kwargs"].get("process") == named
        ledger = upgraded["outcome"]["ledger"]
        assert ledger["process_source"] == (named and {"name": "sub_goals", "digest": None})
        assert {**as_2(upgraded), "env": value["env"]} == value
        replay(trajectory)


def test_what_3_0_0_wrote_is_read_and_replayed():
    values = [json.loads(line) for line in RECORDS_3.read_text().splitlines()]
    assert any(message.get("tokens") for value in values for message in value["messages"])

    for value in values:
        FORM_3.validate(value)
        trajectory = Trajectory.from_json(value)
        upgraded = trajectory.to_json()
        FORM.validate(upgraded)
        assert upgraded["usage"] == {"agent": None, "user": None}
        assert trajectory.outcome.ledger.terminal_source == "rules"
        assert as_3(upgraded) == value
        replay(trajectory)


def test_an_older_score_that_nobody_is_known_to_have_given_is_refused():
    value = json.loads(RECORDS_2.read_text().splitlines()[0])
    value["outcome"]["ledger"]["rubric"] = 0.5
    FORM_2.validate(value)

    with pytest.raises(DataFileError, match="outcome/ledger/rubric_source"):
        Trajectory.from_json(value)


def test_an_older_record_that_goes_back_to_an_earlier_version_is_refused():
    value = json.loads(RECORDS_1.read_text().splitlines()[0])
    written = [message for message in value["messages"] if message["role"] == "assistant"]
    written[1]["policy_version"] = [{"version": "other", "count": None}]

    with pytest.raises(DataFileError, match="goes backwards, from 'other'"):
        Trajectory.from_json(value)


def test_an_older_record_is_held_to_its_own_form():
    value = json.loads(RECORDS_1.read_text().splitlines()[0])

    with pytest.raises(DataFileError, match="tokenizer"):
        Trajectory.from_json({**value, "tokenizer": None})


def test_an_older_record_begins_under_the_version_of_its_agent():
    value = json.loads(RECORDS_1.read_text().splitlines()[0])
    for message in value["messages"]:
        if message["role"] == "assistant":
            message["policy_version"] = [{"version": "other", "count": None}]

    upgraded = Trajectory.from_json(value)

    assert [v.version for v in upgraded.policy_versions] == [value["agent"]["version"], "other"]


def test_a_problem_beside_a_lone_surrogate_is_named():
    value = sampled_record()
    value["messages"][0]["content"] = "\ud800"
    Trajectory.from_json(value)
    del value["messages"][0]["trainable"]

    with pytest.raises(DataFileError, match="messages/0: 'trainable' is a required property"):
        Trajectory.from_json(value)


def test_an_older_digest_with_a_line_break_is_refused():
    value = json.loads(RECORDS_1.read_text().splitlines()[0])
    value["task"]["digest"] += "\n"

    with pytest.raises(DataFileError, match="task/digest"):
        Trajectory.from_json(value)


@pytest.mark.parametrize("version", ["0.9.0", "2.0.1", "5.0.0", None, 2, ["1.0.0"], {}])
def test_an_unknown_version_is_refused(version):
    known = re.escape("expected format_version '1.0.0' or '2.0.0' or '3.0.0' or '4.0.0', not ")

    with pytest.raises(DataFileError, match=known):
        Trajectory.from_json({**base(), "format_version": version})


# --- Capture

SETTING = PolicySetting(
    reference_policy="base",
    sampling=Sampling(temperature=0.7, top_p=1.0, seed=3, stop=()),
    tokenizer="a" * 64,
    chat_template="b" * 64,
)
ACTIONS = ["Hello", {"name": "get_book", "arguments": {"book_id": "B1"}}, "Goodbye"]


def played():
    """An environment with a finished episode of three actions."""
    env = make_env(DESK, {"max_steps": 3})
    env.reset(seed=1)
    for action in ACTIONS:
        env.step(action)
    return env


def turn(number, versions=("v1",), **fields):
    """What a policy sampled in one turn: three tokens by each version."""
    size = 3 * len(versions)
    tokens = Tokens(
        prompt_token_ids=tuple(range(10 * number + 1)), token_ids=(7,) * size, logprobs=(-0.5,) * size
    )
    runs = tuple(PolicyRun(version=version, count=3) for version in versions)
    return Turn(policy_version=runs, tokens=tokens, **fields)


def test_what_was_sampled_is_recorded_replayed_and_masked():
    versions = [PolicyVersion("v1", 11), PolicyVersion("v2", 12)]
    turns = [turn(0), turn(1, ("v1", "v2")), turn(2, ("v2",), trainable=False)]

    trajectory = record_episode(
        played(), "model", "v1", 1, setting=SETTING, policy_versions=versions, turns=turns
    )

    FORM.validate(trajectory.to_json())
    assert Trajectory.from_json(trajectory.to_json()) == trajectory
    replay(trajectory)
    sequences = to_tokens(trajectory)
    prove_sampled(trajectory, sequences)
    assert [sequence.versions[-3:] for sequence in sequences] == [(11,) * 3, (12,) * 3, (12,) * 3]
    assert [sum(sequence.loss_mask) for sequence in sequences] == [3, 6, 0]


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"turns": [turn(0), turn(1)]}, "expected one for each of the agent's 3 messages, not 2"),
        ({"turns": [turn(0)] * 3, "setting": SCRIPTED}, "there are tokens, but sampling"),
        ({"turns": [turn(0, ("v2",))] * 3}, "'v2' is not in policy_versions"),
        ({"turns": [Turn(policy_version=())] * 3}, "version is missing"),
        (
            {"turns": [Turn(policy_version=(PolicyRun(version="", count=None),))] * 3},
            "`turns`: Expected `str` of length",
        ),
        ({"policy_versions": [PolicyVersion("v1", 1.0)]}, "`policy_versions`: Expected `int`"),
        ({"setting": msgspec.structs.replace(SETTING, tokenizer="short")}, "`setting`: "),
        ({"setting": msgspec.structs.replace(SETTING, sampling=object())}, "`setting`: "),
    ],
)
def test_what_does_not_fit_the_episode_is_not_recorded(given, problem):
    with pytest.raises(UsageError, match=problem):
        record_episode(played(), "model", "v1", 1, **{"setting": SETTING, **given})


def test_nothing_that_was_sampled_before_a_failure_is_trained_on():
    env = make_env(DESK, {"user": "dead_line"})
    env.reset(seed=1)
    with pytest.raises(InfrastructureError):
        env.step("Hello?")

    trajectory = record_episode(env, "model", "v1", 1, setting=SETTING, turns=[turn(0)])

    (sequence,) = to_tokens(trajectory)
    assert sequence.loss_mask == (0,) * 4
    assert sequence.versions == (-1, 0, 0, 0)
    assert sequence.reward is None
    prove_sampled(trajectory, [sequence])
