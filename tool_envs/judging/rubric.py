"""Rubrics: what a judge looks at, as versioned files of two kinds that never stand for each other."""

import json
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from tool_envs.errors import DataFileError, UsageError
from tool_envs.messages import Json
from tool_envs.schema.files import file_digest, read_json, shipped_files
from tool_envs.schema.forms import check_form
from tool_envs.trajectory.refs import Part

FORMAT_VERSION: Final = "1.0.0"
"""The version of the form; it is `schemas/meta/rubric/<version>.json`."""

Kind = Literal["reward", "filter"]
"""`reward` compares rollouts of a task that has no rule; `filter` keeps or drops records for fine-tuning."""

Group = Literal["core", "prescriptive", "task"]
"""What any answer is held to, what keeps an answer from pleasing a judge by tricks, what one task asks."""

Text = Annotated[str, Meta(min_length=1)]


class Item(Part, frozen=True):
    """One thing that a judge looks at, in a sentence or two."""

    id: Text
    group: Group
    text: Text


class ToolCalled(Part, frozen=True, tag_field="kind", tag="tool_called", omit_defaults=True):
    """A call of the tool succeeded; one that has all members of one of `arguments`, if there are any."""

    tool: Text
    arguments: tuple[dict[str, Json], ...] = ()


class ToolNotCalled(Part, frozen=True, tag_field="kind", tag="tool_not_called"):
    """No call of the tool succeeded."""

    tool: Text


class Said(Part, frozen=True, tag_field="kind", tag="said"):
    """The agent said one of the texts to the user: whole words, in any case and spacing."""

    texts: Annotated[tuple[Text, ...], Meta(min_length=1)]


class Told(Part, frozen=True, tag_field="kind", tag="told"):
    """The agent told the user an amount (cents, no sign) or a count, as `tool_envs.facts` reads them."""

    type: Literal["amount", "count"]
    value: Annotated[int, Meta(ge=0)]


class RuleKept(Part, frozen=True, tag_field="kind", tag="rule_kept"):
    """The outcome has no violation of a rule of the domain policy."""

    rule: Text


Check = ToolCalled | ToolNotCalled | Said | Told | RuleKept
"""What can be read off the record of an episode; `tool_envs.judging.checklist` does it."""


class Checkpoint(Part, frozen=True):
    """Something that must have happened."""

    id: Text
    text: Text
    check: Check


class Rubric(Part, frozen=True, dict=True, kw_only=True, omit_defaults=True):
    """What a judge looks at.

    Attributes:
        format_version: The version of this form.
        name: Its name.
        version: Its version, `major.minor.patch`.
        kind: Whether it makes rewards or a filter.
        items: What is looked at; a filter may have none.
        success_criteria: Of a filter: when the task is done, in sentences.
        expected_tools: Of a filter: tools that are called with success, in any order.
        checkpoints: Of a filter: what must have happened, each with a check.

    Raises:
        UsageError: An id stands in it twice, or what is a filter's stands in a rubric for rewards.
    """

    format_version: Literal["1.0.0"]
    name: Text
    version: Annotated[str, Meta(pattern=r"^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\Z")]
    kind: Kind
    items: tuple[Item, ...]
    success_criteria: tuple[Text, ...] = ()
    expected_tools: tuple[Text, ...] | None = None
    checkpoints: tuple[Checkpoint, ...] = ()

    def __post_init__(self) -> None:
        for problem in _problems(self):
            raise UsageError(problem)

    @cached_property
    def digest(self) -> str:
        """Sha256 of its canonical JSON."""
        return file_digest(self.to_json(), self.name)

    def to_json(self) -> dict[str, Json]:
        """The rubric as the JSON object of its file."""
        value: dict[str, Json] = json.loads(json.dumps(msgspec.to_builtins(self)))
        return value

    @classmethod
    def from_json(cls, value: Json, kind: Kind, path: str = "rubric") -> "Rubric":
        """The rubric that a JSON object describes.

        Args:
            value: The object.
            kind: What it is wanted for.
            path: Where it was read, for errors.

        Raises:
            DataFileError: It is of the other kind, of an unknown format version, not of its form, or breaks a
                law of rubrics.
        """
        version = value.get("format_version") if isinstance(value, dict) else None
        if version != FORMAT_VERSION:
            raise DataFileError(path, f"expected format_version {FORMAT_VERSION!r}, not {version!r:.40}")
        check_form("rubric", FORMAT_VERSION, value, path)
        if value["kind"] != kind:
            raise DataFileError(
                path, f"expected a rubric of the kind {kind!r}, not {value['kind']!r}: a filter is no reward"
            )
        try:
            return msgspec.convert(value, cls)
        except msgspec.ValidationError as problem:
            raise DataFileError(path, str(problem)) from None

    def with_items(self, items: Iterable[Item]) -> "Rubric":
        """This rubric for one task: with the task's own items behind those that it has.

        Raises:
            UsageError: An id stands in it twice then.
        """
        return msgspec.structs.replace(self, items=(*self.items, *items))


def read_rubric(path: str | Path, kind: Kind) -> Rubric:
    """The rubric of a file.

    Raises:
        DataFileError: The file is missing or not JSON, or as `Rubric.from_json`.
    """
    return Rubric.from_json(read_json(Path(path)), kind, str(path))


def shipped_rubric(name: str, version: str, kind: Kind) -> Rubric:
    """A released rubric that comes with this package, such as `letter` 1.0.0.

    Raises:
        DataFileError: There is none, it was changed since, or it is of the other kind.
    """
    files, key = shipped_files(), f"rubrics/{name}/{version}"
    return Rubric.from_json(files.read_released(key), kind, str(files.path(key)))


def _problems(rubric: Rubric) -> Iterator[str]:
    ids = [item.id for item in rubric.items] + [point.id for point in rubric.checkpoints]
    for number, found in enumerate(ids):
        if found in ids[:number]:
            yield f"the id {found!r} stands in the rubric {rubric.name!r} twice"
    of_filters = bool(rubric.success_criteria and rubric.checkpoints) and rubric.expected_tools is not None
    of_rewards = not (rubric.success_criteria or rubric.checkpoints) and rubric.expected_tools is None
    if rubric.kind == "filter" and not of_filters:
        yield "a filter has success criteria, expected tools (or an empty list of them) and checkpoints"
    if rubric.kind == "reward" and not (of_rewards and rubric.items):
        yield "a rubric for rewards has items, and neither success criteria, expected tools nor checkpoints"
