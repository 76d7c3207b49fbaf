"""Rows of other systems: their form, all that was sampled, and nothing trained on that may not be."""

import json

import jsonschema_rs
import msgspec
import pytest
import toy_domain
from export_forms import FORMS, READERS
from export_records import CLOSE, ROLLOUTS, WRITTEN, Tokenizer, at_desk, call, play, source
from hypothesis import assume, given
from hypothesis import strategies as st
from trajectory_records import assistant, base, finish, observation

from tool_envs.errors import MaskProofError, ReplayMismatchError, UnknownNameError, UsageError
from tool_envs.trajectory import Trajectory
from tool_envs.trajectory.exports import FORMATS, find_format
from tool_envs.trajectory.exports.source import Contexts
from tool_envs.trajectory.record import assistant_messages
from tool_envs.trajectory.tokens import NOT_SAMPLED, to_tokens

TOKENS = sorted(name for name, form in FORMATS.items() if form.of_tokens)
TRAINS = sorted(name for name, form in FORMATS.items() if form.use != "archive")


def rows_of(name, record, tokenizer=None, sample=0):
    """The rows of a record, as they are read from a file."""
    rows = FORMATS[name].rows(source(record, tokenizer, sample))
    return json.loads(json.dumps(rows, allow_nan=False))


def sequences_of(name, record, tokenizer=None):
    """The sequences in the rows of a record, with the fields that the form has."""
    return [found for row in rows_of(name, record, tokenizer) for found in READERS[name](row)]


def graded(record):
    """Whether it has a reward: others never get rows of this kind."""
    return record.outcome.reward is not None


def trained_messages(record):
    return [message for _, message in assistant_messages(record) if message.trainable]


# --- Laws of tokens


@given(ROLLOUTS.filter(graded), st.sampled_from(TOKENS))
def test_rows_of_tokens_hold_the_sequences_with_something_to_train_on(record, name):
    wanted = [msgspec.to_builtins(s) for s in to_tokens(record) if any(s.loss_mask)]

    met = sequences_of(name, record)

    assert len(met) == len(wanted)
    for found, sequence in zip(met, wanted, strict=True):
        assert found == {field: json.loads(json.dumps(sequence[field])) for field in found}


@given(ROLLOUTS.filter(graded), st.sampled_from(TOKENS))
def test_the_masks_sum_up_to_what_was_sampled_for_training(record, name):
    sampled = [i for message in trained_messages(record) for i in message.tokens.token_ids]

    met = sequences_of(name, record)

    assert [
        number
        for found in met
        for number, bit in zip(found["input_ids"], found["loss_mask"], strict=True)
        if bit
    ] == sampled
    assert {len(column) for found in met for column in found.values() if isinstance(column, list)} == {
        len(found["input_ids"]) for found in met
    }
    assert {found.get("reward", record.outcome.reward) for found in met} <= {record.outcome.reward}


@given(ROLLOUTS.filter(graded))
def test_versions_are_those_that_sampled_and_minus_one_elsewhere(record):
    numbers = {version.version: version.number for version in record.policy_versions}
    trained = [
        numbers[run.version]
        for m in trained_messages(record)
        for run in m.policy_version
        for _ in range(run.count)
    ]

    met = sequences_of("areal", record)

    versions = [pair for found in met for pair in zip(found["versions"], found["loss_mask"], strict=True)]
    assert [version for version, bit in versions if bit] == trained
    for found in met:
        unsampled = [p for v, p in zip(found["versions"], found["logprobs"], strict=True) if v == NOT_SAMPLED]
        assert set(unsampled) <= {0.0}
    for found, row in zip(met, rows_of("verl", record), strict=True):
        used = [version for version in found["versions"] if version != NOT_SAMPLED]
        assert row["extra_fields"] == {"min_global_steps": min(used), "max_global_steps": max(used)}


@given(ROLLOUTS.filter(graded))
def test_a_prompt_ends_where_the_policy_begins_to_write(record):
    for areal, verl in zip(sequences_of("areal", record), rows_of("verl", record), strict=True):
        start = len(verl["prompt_ids"])
        assert set(areal["versions"][:start]) <= {NOT_SAMPLED}
        assert areal["versions"][start] != NOT_SAMPLED


@given(WRITTEN.filter(graded), st.sampled_from(TOKENS))
def test_text_that_no_policy_sampled_is_tokenized_and_claims_no_logprobs(record, name):
    texts = [message.content + "</s>" for message in trained_messages(record)]

    met = sequences_of(name, record, Tokenizer())

    assert "".join(
        chr(number)
        for found in met
        for number, bit in zip(found["input_ids"], found["loss_mask"], strict=True)
        if bit
    ) == "".join(texts)
    for row in rows_of(name, record, Tokenizer()):
        assert row.get("response_logprobs") is row.get("rollout_logprobs") is None
        assert not any(row.get("extra_fields", {}).values())
        assert set(row.get("versions", [[NOT_SAMPLED]])[0]) == {NOT_SAMPLED}


# --- Laws of messages


@given(ROLLOUTS | WRITTEN)
def test_openai_weights_are_what_may_be_trained_on(record):
    rows = rows_of("openai", record)

    weights = [m["weight"] for row in rows for m in row["messages"] if m["role"] == "assistant"]
    trainable = [message.trainable for _, message in assistant_messages(record)]
    assert weights == (trainable if any(trainable) else [])


@given(ROLLOUTS | WRITTEN)
def test_messages_are_the_records_after_the_domain_policy(record):
    texts = [toy_domain.POLICY, *(message.content for message in record.messages)]

    for row in rows_of("openai", record):
        assert [message["content"] for message in row["messages"]] == texts
    (row,) = rows_of("atif", record)
    results = lambda step: [r["content"] for r in step.get("observation", {"results": []})["results"]]  # noqa: E731
    shown = [text for step in row["steps"] for text in ([step["message"]] * _is_said(step)) + results(step)]
    assert shown == texts


def _is_said(step):
    """Whether a step says something: one that only holds what tools answered does not."""
    return not (step["source"] == "system" and "observation" in step)


@given(ROLLOUTS | WRITTEN)
def test_atif_keeps_all_of_the_record(record):
    (row,) = rows_of("atif", record)
    value = record.to_json()
    messages = value.pop("messages")

    agent = [step for step in row["steps"] if step["source"] == "agent"]
    assert row["extra"]["tool_envs"] == value
    assert [step["step_id"] for step in row["steps"]] == list(range(1, len(row["steps"]) + 1))
    for step, message in zip(agent, [m for m in messages if m["role"] == "assistant"], strict=True):
        names = ("author", "trainable", "override", "policy_version")
        assert step["extra"]["tool_envs"] == {name: message[name] for name in names}
        tokens = step.get("metrics") and {
            "prompt_token_ids": step["metrics"]["prompt_token_ids"],
            "token_ids": step["metrics"]["completion_token_ids"],
            "logprobs": step["metrics"]["logprobs"],
        }
        assert tokens == message["tokens"]


# --- Laws of all


@given(ROLLOUTS | WRITTEN, st.sampled_from(sorted(FORMS)))
def test_rows_have_the_documented_fields(record, name):
    assume(graded(record) or find_format(name).use != "reinforcement")
    assume(name != "trl" or all(message.trainable for _, message in assistant_messages(record)))

    for row in rows_of(name, record, Tokenizer()):
        assert jsonschema_rs.is_valid(FORMS[name], row), row


@given(ROLLOUTS | WRITTEN, st.sampled_from(TRAINS))
def test_nothing_is_trained_on_when_nothing_may_be(record, name):
    assume(not trained_messages(record))

    assert rows_of(name, record) == []


@given(ROLLOUTS.filter(graded), st.sampled_from(sorted(FORMATS)))
def test_rows_are_made_without_changing_the_record(record, name):
    before = record.to_line()
    assume(name != "trl" or all(message.trainable for _, message in assistant_messages(record)))

    made = FORMATS[name].rows(source(record))

    assert FORMATS[name].rows(source(record)) == made
    assert record.to_line() == before


# --- Examples


CALLS = play(
    call("find_member", email="bob@example.org"),
    '<think>Lend.</think><tool_call>{"name": "lend", "arguments": '
    '{"member_id": "M2", "book_id": "B9", "days": 7}}</tool_call>',
    "<tool_call>{broken",
    [call("respond", content="Shall I?"), call("get_book", book_id="B1")],
    "Goodbye.",
    CLOSE,
)
"""Calls, thoughts, what cannot be read, and several calls of one action."""


def test_openai_shows_calls_as_the_form_demands():
    (row,) = rows_of("openai", CALLS)
    jsonschema_rs.validate(FORMS["openai"], row)

    system, opening, found, member, lent, refused, broken, told, several, *rest = row["messages"]
    assert system == {"role": "system", "content": toy_domain.POLICY}
    assert opening["role"] == "user"
    (first,) = found["tool_calls"]
    assert json.loads(first["function"]["arguments"]) == {"email": "bob@example.org"}
    assert member == {"role": "tool", "name": "find_member", "content": '"M2"', "tool_call_id": first["id"]}
    assert lent["content"] is None
    assert refused["tool_call_id"] == lent["tool_calls"][0]["id"]
    assert broken["content"] == "<tool_call>{broken"
    assert (told["role"], "could not be read" in told["content"]) == ("user", True)
    assert [c["function"]["name"] for c in several["tool_calls"]] == ["respond", "get_book"]
    assert [m["tool_call_id"] for m in rest[:2]] == [c["id"] for c in several["tool_calls"]]
    assert row["tools"] == toy_domain.load().toolkit.schema.to_openai()


def test_trl_shows_arguments_as_objects_and_tools_as_text():
    (row,) = rows_of("trl", CALLS)

    arguments = [c["function"]["arguments"] for m in row["messages"] for c in m.get("tool_calls", ())]
    assert arguments[0] == {"email": "bob@example.org"}
    assert all(isinstance(each, dict) for each in arguments)
    assert json.loads(row["tools"]) == toy_domain.load().toolkit.schema.to_openai()


def test_atif_gives_each_call_its_answer():
    (row,) = rows_of("atif", CALLS)

    agent = [step for step in row["steps"] if step["source"] == "agent"]
    for step in agent:
        calls = [c["tool_call_id"] for c in step.get("tool_calls", ())]
        answers = [r.get("source_call_id") for r in step.get("observation", {"results": []})["results"]]
        assert answers == (calls or answers)
    assert agent[1]["reasoning_content"] == "Lend."
    refusal = agent[1]["observation"]["results"][0]["extra"]["tool_envs"]
    assert (refusal["name"], refusal["code"]) == ("lend", "no_such_record")
    assert agent[2]["observation"]["results"][0]["extra"]["tool_envs"]["code"] == "malformed_call"
    user = agent[3]["observation"]["results"][0]
    assert (user["content"], user["extra"]["tool_envs"]["role"]) == ("Yes.", "user")
    assert row["agent"]["tool_definitions"] == toy_domain.load().toolkit.schema.to_openai()


def turn(prompt, ids, **fields):
    """A message that the policy sampled."""
    tokens = {"prompt_token_ids": prompt, "token_ids": ids, "logprobs": [-float(i) for i in ids]}
    return assistant("x", tokens=tokens, policy_version=[{"version": "v7", "count": len(ids)}], **fields)


def rollout(*messages, status="completed"):
    """A record of these messages."""
    messages = [observation("user", "Hello"), *messages]
    value = finish(base(), [{"version": "v7", "number": 7}], messages, False, True, None)
    value["outcome"]["status"] = status
    return at_desk(value)


TOLD = observation("tool", "?")
BROKEN = rollout(turn([1, 2], [3, 4]), TOLD, turn([1, 9, 5], [6]))
"""The second prompt does not go on with the first: two sequences."""


def test_a_broken_chain_is_several_rows_that_share_the_reward():
    first, second = rows_of("verl", BROKEN)

    assert (first["prompt_ids"], first["response_ids"], first["response_mask"]) == ([1, 2], [3, 4], [1, 1])
    assert (second["prompt_ids"], second["response_ids"], second["num_turns"]) == ([1, 9, 5], [6], 4)
    assert first["response_logprobs"] == [-3.0, -4.0]
    assert first["reward_score"] == second["reward_score"] == 1.0


def test_skyrl_keeps_the_sequences_of_a_trajectory_together():
    (row,) = rows_of("skyrl", BROKEN, sample=4)

    assert row["rewards"] == [1.0, 1.0]
    assert row["is_last_step"] == [False, True]
    assert (
        row["trajectory_ids"]
        == [{"instance_id": f"{BROKEN.env.id}/{BROKEN.task.id}", "repetition_id": 4}] * 2
    )
    assert row["stop_reasons"] == ["stop", "stop"]


def test_skyrl_tells_a_truncated_episode():
    (row,) = rows_of("skyrl", rollout(turn([1, 2], [3, 4]), status="truncated"))

    assert row["stop_reasons"] == ["length"]


def test_areal_and_trl_hold_whole_sequences():
    record = rollout(turn([1, 2], [3, 4]), TOLD, turn([1, 2, 3, 4, 5], [6], trainable=False))
    (areal,), (trl,) = rows_of("areal", record), rows_of("trl-tokens", record)

    assert areal == {
        "input_ids": [[1, 2, 3, 4, 5, 6]],
        "loss_mask": [[0, 0, 1, 1, 0, 0]],
        "logprobs": [[0.0, 0.0, -3.0, -4.0, 0.0, -6.0]],
        "versions": [[-1, -1, 7, 7, -1, 7]],
        "attention_mask": [[True] * 6],
        "rewards": [1.0],
    }
    assert trl == {"input_ids": [1, 2, 3, 4, 5, 6], "labels": [-100, -100, 3, 4, -100, -100]}


def test_sampled_tokens_are_kept_though_there_is_a_tokenizer():
    assert rows_of("verl", BROKEN, Tokenizer()) == rows_of("verl", BROKEN)


@pytest.mark.parametrize("name", TOKENS)
def test_a_record_without_tokens_says_what_to_do(name):
    with pytest.raises(UsageError, match=r"no token ids\. Give the tokenizer .*--tokenizer"):
        rows_of(name, CALLS)


def test_a_record_of_which_a_part_has_tokens_is_refused():
    override = {"who": "Ada", "why": "x"}
    part = rollout(turn([1], [2]), assistant("y", author="human", trainable=True, override=override))

    for tokenizer in (None, Tokenizer()):
        with pytest.raises(UsageError, match="message 2: it is trainable, but the record has no tokens"):
            rows_of("verl", part, tokenizer)


def test_trl_has_no_place_for_a_message_that_is_not_trained_on():
    part = rollout(turn([1], [2]), turn([1, 2], [3], trainable=False))

    with pytest.raises(UsageError, match=r"message 2 is not trained on.*`trl-tokens`"):
        rows_of("trl", part)


def test_a_template_whose_mask_cannot_be_proven_is_refused():
    class Trims(Tokenizer):
        def bind(self, context):
            bound = super().bind(context)
            render = bound.render
            bound.render = lambda *arguments: render(*arguments).replace(" ", "")
            return bound

    with pytest.raises(MaskProofError):
        rows_of("verl", play("Good morning.", CLOSE), Trims())


def test_an_unknown_format_is_refused():
    with pytest.raises(UnknownNameError, match="Did you mean: `openai`"):
        find_format("opnai")


# --- What an agent was told


def test_an_environment_is_made_again_once():
    contexts = Contexts({})

    assert contexts.find(CALLS) is contexts.find(BROKEN)
    assert contexts.find(CALLS).policy == toy_domain.POLICY
    assert len(contexts.made) == 1


def test_an_environment_that_has_become_another_is_refused():
    value = CALLS.to_json()

    for name, part in (("schema", {**value["schema"], "sha256": "0" * 64}), ("grader_digest", "other")):
        with pytest.raises(ReplayMismatchError, match=f"{name}: recorded .*, here it is"):
            Contexts({}).find(Trajectory.from_json({**value, name: part}))


def test_arguments_of_environments_can_be_given():
    value = CALLS.to_json()
    value["env"]["kwargs"] = {"user": "nobody"}
    record = Trajectory.from_json(value)

    with pytest.raises(UnknownNameError, match="Unknown user 'nobody'"):
        Contexts({}).find(record)
    assert Contexts({"user": "silent"}).find(record).policy == toy_domain.POLICY
