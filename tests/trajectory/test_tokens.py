"""Sequences of tokens: chains of prefixes, masks on what was sampled, and a proof that all else fails."""

import itertools

import msgspec
import pytest
from chat_tokenizers import chat_tokenizer
from hypothesis import assume, given
from hypothesis import strategies as st
from talks import texts
from trajectory_records import assistant, base, finish, observation, records

from tool_envs.errors import MaskProofError, UsageError
from tool_envs.trajectory import Trajectory
from tool_envs.trajectory.tokens import NOT_SAMPLED, TokenSequence, prove_sampled, to_tokens

ROLLOUTS = records(sampled=True, others=False).map(Trajectory.from_json)
"""Records with the tokens of all that the policy wrote."""


def sampled_messages(trajectory):
    """The messages with tokens."""
    return [message for message in trajectory.messages if getattr(message, "tokens", None)]


# --- Laws


@given(ROLLOUTS)
def test_the_sequences_of_any_record_are_proved(trajectory):
    prove_sampled(trajectory, to_tokens(trajectory))


@given(ROLLOUTS)
def test_the_mask_reads_back_what_was_sampled_for_training_and_nothing_else(trajectory):
    chosen = [m for m in sampled_messages(trajectory) if m.trainable]
    names = {version.version: version.number for version in trajectory.policy_versions}
    versions = [names[run.version] for m in chosen for run in m.policy_version for _ in range(run.count)]
    rows = [
        row
        for sequence in to_tokens(trajectory)
        for row in zip(
            sequence.loss_mask, sequence.input_ids, sequence.logprobs, sequence.versions, strict=True
        )
    ]

    assert [row[1:] for row in rows if row[0]] == list(
        zip(
            [i for m in chosen for i in m.tokens.token_ids],
            [x for m in chosen for x in m.tokens.logprobs],
            versions,
            strict=True,
        )
    )
    assert all(row[2] == 0.0 for row in rows if row[3] == NOT_SAMPLED)
    sampled = sum(len(m.tokens.token_ids) for m in sampled_messages(trajectory))
    assert sum(row[3] != NOT_SAMPLED for row in rows) == sampled


@given(ROLLOUTS)
def test_a_sequence_begins_exactly_where_the_chain_breaks(trajectory):
    turns = [message.tokens for message in sampled_messages(trajectory)]
    breaks = 0
    for old, new in itertools.pairwise(turns):
        said = old.prompt_token_ids + old.token_ids
        breaks += new.prompt_token_ids[: len(said)] != said

    assert len(to_tokens(trajectory)) == (breaks + 1 if turns else 0)


@given(ROLLOUTS)
def test_sequences_share_the_reward_and_a_failure_trains_nothing(trajectory):
    for sequence in to_tokens(trajectory):
        assert sequence.reward == trajectory.outcome.reward
        if trajectory.outcome.status == "infrastructure":
            assert sequence.reward is None
            assert set(sequence.loss_mask) <= {0}


# --- Nothing else passes


def with_column(sequence, name, edit):
    """A sequence with another column."""
    return msgspec.structs.replace(sequence, **{name: tuple(edit(list(getattr(sequence, name))))})


def shifted(column):
    """A column one place later."""
    return column[-1:] + column[:-1]


COLUMNS = ("loss_mask", "logprobs", "versions", "input_ids")


@st.composite
def damaged(draw, sequences):
    """Sequences with one thing wrong."""
    sequences = list(sequences)
    place = draw(st.integers(0, len(sequences) - 1))
    sequence = sequences[place]
    assume(sequence.input_ids)
    token = draw(st.integers(0, len(sequence.input_ids) - 1))
    name = draw(st.sampled_from(COLUMNS))
    match draw(
        st.sampled_from(["flip", "value", "drop", "shift", "twice", "lose", "stitch", "split", "more"])
    ):
        case "flip":
            sequences[place] = with_column(sequence, "loss_mask", lambda c: _set(c, token, 1 - c[token]))
        case "value":
            sequences[place] = with_column(sequence, name, lambda c: _set(c, token, c[token] + 1))
        case "drop":
            sequences[place] = with_column(sequence, name, lambda c: c[:token] + c[token + 1 :])
        case "shift":
            sequences[place] = with_column(sequence, name, shifted)
        case "twice":
            sequences.insert(place, sequence)
        case "lose":
            del sequences[place]
        case "stitch":
            sequences[place : place + 2] = [_joined(sequences[place : place + 2])]
        case "split":
            sequences[place : place + 1] = _cut(sequence, token)
        case "more":
            sequences[place] = _joined([sequence, _prompt(draw(st.integers(0, 300)))])
    return sequences


def _set(column, token, value):
    column[token] = value
    return column


def _joined(sequences):
    first = sequences[0]
    columns = {name: tuple(v for s in sequences for v in getattr(s, name)) for name in (*COLUMNS, "messages")}
    names = {number: name for s in sequences for number, name in s.version_names.items()}
    return msgspec.structs.replace(first, version_names=names, **columns)


def _prompt(token):
    return TokenSequence(
        input_ids=(token,),
        loss_mask=(0,),
        logprobs=(0.0,),
        versions=(NOT_SAMPLED,),
        version_names={},
        messages=(),
        reward=None,
    )


def _cut(sequence, token):
    parts = []
    for part, messages in (
        (slice(token), sequence.messages[:1]),
        (slice(token, None), sequence.messages[1:]),
    ):
        columns = {name: getattr(sequence, name)[part] for name in COLUMNS}
        parts.append(msgspec.structs.replace(sequence, messages=messages, **columns))
    return parts


@given(st.data())
def test_whatever_differs_from_the_sequences_of_the_record_is_refused(data):
    trajectory = data.draw(ROLLOUTS)
    sequences = to_tokens(trajectory)
    assume(sequences)
    others = data.draw(damaged(sequences))
    assume(others != sequences)

    with pytest.raises(MaskProofError):
        prove_sampled(trajectory, others)


# --- A template that leaves out earlier thoughts


STEPS = st.lists(st.tuples(st.sampled_from(["user", "tool"]), texts, texts, texts), min_size=1, max_size=4)


def think(steps, tokenizer):
    """A record of what a model thinks and says to what it hears, each prompt made from the texts so far."""
    chat, messages = [], []
    for role, heard, thought, answer in steps:
        chat.append({"role": role, "content": heard})
        prompt = [i for i, *_ in tokenizer.encode(tokenizer.render(chat, True))]
        ids = [i for i, *_ in tokenizer.encode(f"<think>\n{thought}\n</think>\n\n{answer}<|im_end|>")]
        tokens = {"prompt_token_ids": prompt, "token_ids": ids, "logprobs": [-0.5] * len(ids)}
        messages.append(observation(role, heard))
        messages.append(
            assistant(
                answer, thought=thought, tokens=tokens, policy_version=[{"version": "v", "count": len(ids)}]
            )
        )
        chat.append({"role": "assistant", "content": answer, "reasoning_content": thought})
    versions = [{"version": "v", "number": 0}]
    value = finish(base(), versions, messages, failed=False, sampled=True, reference=None)
    return Trajectory.from_json(value)


@given(STEPS, st.sampled_from(["byte_bpe", "composed_bpe"]))
def test_thoughts_that_are_left_out_later_make_several_sequences_and_never_a_stitched_one(steps, name):
    trajectory = think(steps, chat_tokenizer("chatml_thoughts", name))

    sequences = to_tokens(trajectory)

    prove_sampled(trajectory, sequences)
    assert len(sequences) > sum(role == "user" for role, *_ in steps[1:])
    masked = [i for s in sequences for i, bit in zip(s.input_ids, s.loss_mask, strict=True) if bit]
    assert masked == [i for message in sampled_messages(trajectory) for i in message.tokens.token_ids]
    for place in range(len(sequences) - 1):
        stitched = [*sequences[:place], _joined(sequences[place : place + 2]), *sequences[place + 2 :]]
        with pytest.raises(MaskProofError):
            prove_sampled(trajectory, stitched)


def test_a_thought_is_kept_while_the_user_is_silent():
    steps = [("user", "Hi", "Hm", "Let me see"), ("tool", "none", "Ah", "Bye"), ("user", "Wait", "Oh", "Yes")]

    sequences = to_tokens(think(steps, chat_tokenizer("chatml_thoughts", "byte_bpe")))

    assert [sequence.messages for sequence in sequences] == [(1, 3), (5,)]


# --- Examples


def turn(prompt, ids, **fields):
    """A message that the policy sampled."""
    tokens = {"prompt_token_ids": prompt, "token_ids": ids, "logprobs": [-float(i) for i in ids]}
    run = {"version": "v7", "count": len(ids)}
    return assistant("x", tokens=tokens, policy_version=[run], **fields)


def rollout(*messages):
    """A record of these messages."""
    messages = [observation("user", "Hello"), *messages]
    versions = [{"version": "v7", "number": 7}]
    value = finish(base(), versions, messages, failed=False, sampled=True, reference=None)
    return Trajectory.from_json(value)


KEPT = rollout(turn([1, 2], [3, 4]), observation("tool", "?"), turn([1, 2, 3, 4, 5], [6]))
BROKEN = rollout(turn([1, 2], [3, 4]), observation("tool", "?"), turn([1, 2, 9, 4, 5], [6]))


def test_a_kept_chain_is_one_sequence():
    assert to_tokens(KEPT) == [
        TokenSequence(
            input_ids=(1, 2, 3, 4, 5, 6),
            loss_mask=(0, 0, 1, 1, 0, 1),
            logprobs=(0.0, 0.0, -3.0, -4.0, 0.0, -6.0),
            versions=(-1, -1, 7, 7, -1, 7),
            version_names={7: "v7"},
            messages=(1, 3),
            reward=1.0,
        )
    ]


def test_a_rewritten_turn_begins_a_new_sequence_and_is_never_stitched():
    first, second = to_tokens(BROKEN)

    assert (first.input_ids, first.loss_mask) == ((1, 2, 3, 4), (0, 0, 1, 1))
    assert (second.input_ids, second.loss_mask) == ((1, 2, 9, 4, 5, 6), (0, 0, 0, 0, 0, 1))
    assert first.reward == second.reward == 1.0


@pytest.mark.parametrize(
    ("trajectory", "edit", "problem"),
    [
        (KEPT, lambda s: [with_column(s[0], "loss_mask", lambda c: _set(c, 4, 1))], "token 4: mask"),
        (KEPT, lambda s: [with_column(s[0], "loss_mask", shifted)], "token 0: mask"),
        (KEPT, lambda s: [with_column(s[0], "logprobs", lambda c: c[1:])], r"lengths \[5, 6\]"),
        (KEPT, lambda s: [with_column(s[0], "logprobs", shifted)], "token 0: mask, logprob"),
        (KEPT, lambda s: [with_column(s[0], "versions", lambda c: _set(c, 2, -1))], "token 2: mask"),
        (KEPT, lambda s: [with_column(s[0], "input_ids", lambda c: _set(c, 0, 9))], "prompt of message 1"),
        (KEPT, lambda s: [with_column(s[0], "input_ids", lambda c: _set(c, 5, 9))], "after the prompt of"),
        (KEPT, lambda s: [msgspec.structs.replace(s[0], reward=0.0)], "its reward 0.0"),
        (KEPT, lambda s: [msgspec.structs.replace(s[0], version_names={7: "v8"})], "names of versions"),
        (KEPT, lambda s: [_joined([s[0], _prompt(1)])], "it has 7 tokens"),
        (KEPT, lambda _: to_tokens(rollout(turn([1, 2], [3, 4]))), "once each"),
        (BROKEN, lambda s: [_joined(s)], "prompt of message 3"),
        (BROKEN, lambda s: s[::-1], "in order"),
        (BROKEN, lambda s: s[:1], "once each"),
    ],
)
def test_the_proof_names_what_is_wrong(trajectory, edit, problem):
    prove_sampled(trajectory, to_tokens(trajectory))

    with pytest.raises(MaskProofError, match=problem):
        prove_sampled(trajectory, edit(to_tokens(trajectory)))


def test_a_chain_may_not_be_cut_where_it_goes_on():
    (whole,) = to_tokens(KEPT)
    first = to_tokens(rollout(turn([1, 2], [3, 4])))[0]
    rest = msgspec.structs.replace(whole, loss_mask=(0, 0, 0, 0, 0, 1), messages=(3,))
    rest = with_column(
        with_column(rest, "logprobs", lambda c: [0.0] * 4 + c[4:]), "versions", lambda _: [-1] * 5 + [7]
    )

    with pytest.raises(MaskProofError, match="sequence 1: its prompt goes on"):
        prove_sampled(KEPT, [first, rest])


def test_turns_may_not_overlap_in_a_sequence():
    trajectory = rollout(turn([1, 2], [3, 4]), turn([1, 2, 3], [4]))
    first, second = to_tokens(trajectory)
    together = msgspec.structs.replace(first, messages=(1, 2))

    assert second.input_ids == first.input_ids
    with pytest.raises(MaskProofError, match="does not begin with the prompt of message 2"):
        prove_sampled(trajectory, [together])


def test_a_trainable_message_without_tokens_has_no_mask():
    override = {"who": "Ada", "why": "x"}
    trajectory = rollout(turn([1], [2]), assistant("y", author="human", trainable=True, override=override))

    with pytest.raises(UsageError, match="message 2: it is trainable, but the record has no tokens"):
        to_tokens(trajectory)
    with pytest.raises(MaskProofError, match="message 2: it is trainable"):
        prove_sampled(trajectory, [])


def test_a_record_with_nothing_to_train_on_has_no_sequences():
    assert to_tokens(rollout(assistant("y", author="human"))) == []
