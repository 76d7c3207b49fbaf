"""Validation of stores: every record is proven, or counted with what is wrong with it and where."""

import importlib
import json

import msgspec
import pytest
from chat_tokenizers import chat_tokenizer
from hypothesis import given, settings
from hypothesis import strategies as st
from store_records import played
from talks import talks
from trajectory_records import RECORDS_1, assistant, base, finish, observation, records

from tool_envs.errors import DataFileError
from tool_envs.trajectory import (
    RecordProblem,
    TornLineWarning,
    Trajectory,
    TrajectoryWriter,
    ValidationReport,
    to_tokens,
    tokenize,
    validate,
)
from tool_envs.trajectory.segments import seal_line
from tool_envs.trajectory.validate import SHOWN

TOKENIZER = chat_tokenizer("zephyr_roles", "byte_bpe")


def write(path, *found):
    """A JSONL file of records, or of lines as they are."""
    lines = [line.to_line() if isinstance(line, Trajectory) else line for line in found]
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def changed(record, **members):
    """The line of a record with other members."""
    return json.dumps({**record.to_json(), **members})


def masks(sequences):
    """How many tokens there are, and how many of them are trained on."""
    bits = [bit for sequence in sequences for bit in sequence.loss_mask]
    return len(bits), sum(bits)


def is_sampled(record):
    """Whether a record has tokens of any message."""
    return any(getattr(message, "tokens", None) for message in record.messages)


# --- Records that are in order


ROLLOUTS = records(sampled=True, others=False).map(Trajectory.from_json).filter(is_sampled)


@settings(max_examples=30)
@given(found=st.lists(ROLLOUTS | talks, max_size=4))
def test_every_record_has_the_proof_of_its_kind(found, tmp_path_factory):
    found = [*found, *played("gold")]
    path = write(tmp_path_factory.mktemp("x") / "x.jsonl", *found)
    sampled, written = ([r for r in found if is_sampled(r) == wanted] for wanted in (True, False))

    report = validate(path, TOKENIZER)

    sequences = [s for r in sampled for s in to_tokens(r)] + [tokenize(r, TOKENIZER) for r in written]
    assert report == ValidationReport(
        records=len(found),
        sampled=len(sampled),
        supervised=len(written),
        unproven=0,
        tokens=masks(sequences)[0],
        trained_tokens=masks(sequences)[1],
        kinds={},
        problems=(),
    )
    bare = validate(path)
    assert (bare.sampled, bare.supervised, bare.unproven) == (len(sampled), 0, len(written))
    assert bare.failed == report.failed == 0


def test_a_store_of_several_segments_is_read_and_each_record_is_told_of(tmp_path):
    with TrajectoryWriter(tmp_path, segment_bytes=1) as writer:
        for record in played("gold"):
            writer.append(record)
    told = []

    report = validate(tmp_path, on_record=lambda: told.append(1))

    assert (report.records, report.unproven, len(told)) == (4, 4, 4)


def test_records_of_older_formats_are_validated_as_they_are_read():
    assert validate(RECORDS_1, TOKENIZER).supervised == len(RECORDS_1.read_text().splitlines())


# --- Records that are not


def turn(prompt, ids, **fields):
    """A message that the policy sampled."""
    tokens = {"prompt_token_ids": prompt, "token_ids": ids, "logprobs": [-0.5] * len(ids)}
    return assistant("x", tokens=tokens, policy_version=[{"version": "v", "count": len(ids)}], **fields)


def sampled(*messages):
    """A record of these messages."""
    versions = [{"version": "v", "number": 0}]
    return Trajectory.from_json(
        finish(base(), versions, list(messages), failed=False, sampled=True, reference=None)
    )


HELLO = observation("user", "Hello")
ROLLOUT = sampled(HELLO, turn([1, 2], [3, 4]), HELLO, turn([1, 2, 3, 4, 5], [6]), HELLO, turn([9], [7, 8]))
GOOD = played("gold")[0]
OVERRIDE = {"who": "Ada", "why": "x"}
HALF = sampled(turn([1], [2]), assistant("y", author="human", trainable=True, override=OVERRIDE))


def test_a_bad_record_is_named_and_does_not_keep_the_rest_from_it(tmp_path):
    sealed = seal_line(GOOD.to_line()).decode().rstrip("\n")
    path = write(
        tmp_path / "x.jsonl",
        GOOD,
        "{",
        sealed.replace('"seed":', '"seed":1'),
        changed(GOOD, format_version="9.9.9"),
        changed(GOOD, seed=-1),
        changed(GOOD, agent={"name": "gold", "version": "other"}),
        HALF,
        ROLLOUT,
        sealed,
    )

    report = validate(path)

    assert [(problem.line, problem.kind) for problem in report.problems] == [
        (2, "line"),
        (3, "line"),
        (4, "form"),
        (5, "form"),
        (6, "law"),
        (7, "sampled"),
    ]
    assert {problem.path for problem in report.problems} == {str(path)}
    for problem, text in zip(
        report.problems,
        ["no record", "CRC-32", "format_version", "seed", "agent: its version", "message 1: it is trainable"],
        strict=True,
    ):
        assert text in problem.text
    assert report.kinds == {"form": 2, "law": 1, "line": 2, "sampled": 1}
    assert (report.records, report.failed, report.sampled, report.unproven) == (9, 6, 1, 2)
    assert json.loads(json.dumps(report.to_json()))["failed"] == 6


def test_a_record_whose_mask_the_template_does_not_let_be_proven_is_counted(tmp_path):
    path = write(tmp_path / "x.jsonl", GOOD, ROLLOUT, GOOD)

    report = validate(path, chat_tokenizer("chatml_thoughts", "byte_bpe"))

    assert (report.sampled, report.supervised, report.kinds) == (1, 0, {"supervised": 2})
    assert report.problems[1] == RecordProblem(
        str(path), 3, "supervised", "message 1: the template rewrites what comes before it or in it"
    )


def edited(sequences, place, **columns):
    """Sequences of which one has other columns."""
    one = sequences[place]
    columns = {name: tuple(edit(list(getattr(one, name)))) for name, edit in columns.items()}
    return [*sequences[:place], msgspec.structs.replace(one, **columns), *sequences[place + 1 :]]


def stitched(sequences):
    """Two sequences as one."""
    first, second = sequences
    names = ("input_ids", "loss_mask", "logprobs", "versions", "messages")
    return [msgspec.structs.replace(first, **{n: getattr(first, n) + getattr(second, n) for n in names})]


PLANTED = {
    "off by one": lambda s: edited(s, 0, loss_mask=lambda c: c[-1:] + c[:-1]),
    "an observation marked": lambda s: edited(s, 0, loss_mask=lambda c: [*c[:4], 1, *c[5:]]),
    "a sampled token not marked": lambda s: edited(s, 1, loss_mask=lambda c: [*c[:1], 0, *c[2:]]),
    "a dropped logprob": lambda s: edited(s, 0, logprobs=lambda c: c[:-1]),
    "a logprob of nothing": lambda s: edited(s, 0, logprobs=lambda c: [*c[:2], 0.0, *c[3:]]),
    "a sampled token changed": lambda s: edited(s, 0, input_ids=lambda c: [*c[:2], 9, *c[3:]]),
    "a stitched sequence": stitched,
    "a lost sequence": lambda s: s[:1],
    "another order": lambda s: s[::-1],
    "another version": lambda s: edited(s, 0, versions=lambda c: [*c[:2], 1, *c[3:]]),
    "another reward": lambda s: [msgspec.structs.replace(each, reward=0.5) for each in s],
}


@pytest.mark.parametrize("plant", PLANTED.values(), ids=PLANTED)
def test_what_is_wrong_with_sequences_is_found(plant, tmp_path, monkeypatch):
    path = write(tmp_path / "x.jsonl", ROLLOUT)
    assert validate(path).failed == 0
    module = importlib.import_module("tool_envs.trajectory.validate")  # the package has the function
    monkeypatch.setattr(module, "to_tokens", lambda record: plant(to_tokens(record)))

    assert validate(path).kinds == {"sampled": 1}


def test_all_problems_are_counted_and_the_first_are_shown(tmp_path):
    report = validate(write(tmp_path / "x.jsonl", *["{"] * (SHOWN + 5), GOOD))

    assert (report.failed, len(report.problems), report.unproven) == (SHOWN + 5, SHOWN, 1)


# --- What is torn or not there


def test_a_torn_last_line_is_no_record_and_a_torn_one_before_is_a_bad_one(tmp_path):
    with TrajectoryWriter(tmp_path, segment_bytes=1) as writer:
        writer.append(GOOD)
        writer.append(GOOD)
    for name in ("segment-000001.jsonl", "segment-000002.jsonl"):
        with (tmp_path / name).open("a") as file:
            file.write('{"format')

    with pytest.warns(TornLineWarning, match=r"segment-000002.jsonl, line 2"):
        report = validate(tmp_path)

    assert report.records == 3
    assert [(problem.path, problem.line, problem.kind) for problem in report.problems] == [
        (str(tmp_path / "segment-000001.jsonl"), 2, "line")
    ]


def test_where_nothing_can_be_read_nothing_is_validated(tmp_path):
    with pytest.raises(DataFileError, match="cannot be read"):
        validate(tmp_path / "nowhere")
    with pytest.raises(DataFileError, match="no store"):
        validate(tmp_path)
    with pytest.raises(DataFileError, match="holds no record"):
        validate(write(tmp_path / "x.jsonl"))
    TrajectoryWriter(tmp_path / "store").close()
    with pytest.raises(DataFileError, match="holds no record"):
        validate(tmp_path / "store")
