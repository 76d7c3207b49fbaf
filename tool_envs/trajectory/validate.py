"""Reads all records of a store and proves what can be proven of each."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import msgspec

from tool_envs.errors import DataFileError, MaskProofError, RecordFormError, RecordLawError, UsageError
from tool_envs.messages import Json
from tool_envs.trajectory.chat_tokenizer import ChatTokenizer
from tool_envs.trajectory.record import Trajectory, assistant_messages
from tool_envs.trajectory.store import StoredLine, read_lines
from tool_envs.trajectory.supervised import tokenize
from tool_envs.trajectory.tokens import TokenSequence, prove_sampled, to_tokens

SHOWN = 20
"""So many problems of a report have their text; all are counted."""

Kind = Literal["line", "form", "law", "sampled", "supervised"]
"""What is wrong with a record:

* `line`: it cannot be read: it is torn, no JSON, or was changed since it was written;
* `form`: it is of an unknown format version, or not of the form of its version;
* `law`: it contradicts itself;
* `sampled`: its sequences are not proven to be what was sampled;
* `supervised`: the tokenizer's template has no mask for it that can be proven.
"""


class RecordProblem(msgspec.Struct, frozen=True):
    """What is wrong with one record, which stands in a line of a file, counted from 1."""

    path: str
    line: int
    kind: Kind
    text: str


class ValidationReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a validation found.

    Attributes:
        records: How many were read; a torn last line, which a killed writer left, is none.
        sampled: Records with token ids whose sequences are proven.
        supervised: Records without, of which the tokenizer makes a sequence that is proven.
        unproven: Records without token ids that are in order, when there was no tokenizer.
        tokens: Tokens in all proven sequences.
        trained_tokens: Those of them under a mask.
        kinds: Records with a problem, by its kind; each has one, the first. Kinds without any are left out.
        problems: The first `SHOWN` of them.
    """

    records: int
    sampled: int
    supervised: int
    unproven: int
    tokens: int
    trained_tokens: int
    kinds: dict[str, int]
    problems: tuple[RecordProblem, ...]

    @property
    def failed(self) -> int:
        """How many records have a problem."""
        return sum(self.kinds.values())

    def to_json(self) -> dict[str, Json]:
        """The report as a JSON object."""
        value: dict[str, Json] = msgspec.to_builtins(self)
        return {**value, "failed": self.failed}


def validate(
    path: str | Path,
    tokenizer: ChatTokenizer | None = None,
    *,
    on_record: Callable[[], None] | None = None,
) -> ValidationReport:
    """Validate every record of a store, or of a JSONL file; a bad one does not keep the rest from it.

    A record with token ids of any message has the proof of what was sampled (`prove_sampled`), one without,
    if there is a tokenizer, that of its mask (`prove_supervised`). Memory does not grow with their number.

    Args:
        path: The store or file.
        tokenizer: The template and tokeniser that make sequences of records without token ids.
        on_record: Called after each record.

    Raises:
        DataFileError: Nothing is there or it holds no record, a segment is missing, or a file cannot be read.
    """
    counts: Counter[str] = Counter()
    kinds: Counter[Kind] = Counter()
    problems: list[RecordProblem] = []
    for line in read_lines(path):
        found = _prove(line, tokenizer)
        counts["records"] += 1
        if isinstance(found, RecordProblem):
            kinds[found.kind] += 1
            problems += [found] if len(problems) < SHOWN else []
        else:
            counts.update(found)
        if on_record is not None:
            on_record()
    if not counts["records"]:
        raise DataFileError(path, "holds no record, so there is nothing to validate")
    return ValidationReport(
        records=counts["records"],
        sampled=counts["sampled"],
        supervised=counts["supervised"],
        unproven=counts["unproven"],
        tokens=counts["tokens"],
        trained_tokens=counts["trained_tokens"],
        kinds=dict(sorted(kinds.items())),
        problems=tuple(problems),
    )


def _prove(line: StoredLine, tokenizer: ChatTokenizer | None) -> dict[str, int] | RecordProblem:
    """What was proven of the record in a line, in counts, or what is wrong with it."""
    record = line.found
    if isinstance(record, DataFileError):
        return RecordProblem(str(line.path), line.number, _kind_of(record), record.problem)
    is_sampled = any(message.tokens is not None for _, message in assistant_messages(record))
    kind: Kind = "sampled" if is_sampled else "supervised"
    if tokenizer is None and not is_sampled:
        return {"unproven": 1}
    try:
        sequences = _sampled(record) if tokenizer is None or is_sampled else [tokenize(record, tokenizer)]
    except (MaskProofError, UsageError) as problem:
        return RecordProblem(str(line.path), line.number, kind, str(problem))
    masks = [sequence.loss_mask for sequence in sequences]
    return {kind: 1, "tokens": sum(map(len, masks)), "trained_tokens": sum(map(sum, masks))}


def _sampled(record: Trajectory) -> list[TokenSequence]:
    sequences = to_tokens(record)
    prove_sampled(record, sequences)
    return sequences


def _kind_of(problem: DataFileError) -> Kind:
    if isinstance(problem, RecordFormError):
        return "form"
    return "law" if isinstance(problem, RecordLawError) else "line"
