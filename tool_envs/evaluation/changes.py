"""What each call of a record changed in the database: its writes are made again, without a user."""

import json
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any

import msgspec

from tool_envs.database import Database
from tool_envs.domain import Domain
from tool_envs.errors import ReplayMismatchError
from tool_envs.messages import Json, ToolCall
from tool_envs.trajectory.record import (
    AssistantMessage,
    Call,
    RecordedMessage,
    ToolMessage,
    Trajectory,
    UserMessage,
)

Answer = ToolMessage | UserMessage

_ABSENT: Any = object()


class Difference(msgspec.Struct, frozen=True):
    """One place of a record that a call changed.

    Attributes:
        path: Where, such as `items/0/price`.
        before: The JSON text of its value; None: there was none.
        after: Likewise.
    """

    path: str
    before: str | None
    after: str | None


class Change(msgspec.Struct, frozen=True):
    """What one call changed in one record of a table.

    Attributes:
        table: The table.
        key: The record's key.
        before: The record as JSON; None: there was none.
        after: Likewise.
    """

    table: str
    key: str
    before: Json | None
    after: Json | None

    @property
    def differences(self) -> list[Difference]:
        """The places that differ, in the order of the record after the call."""
        if self.before is None or self.after is None:
            return []
        return list(_differences("", self.before, self.after))


def changes_of(domain: Domain, trajectory: Trajectory) -> dict[tuple[int, int], list[Change]]:
    """(index of a message, place of a call in it) -> what that call changed; calls that changed nothing miss.

    Args:
        domain: What the episode was played in.
        trajectory: The record. Of its calls only successful ones of tools that can change something are run.

    Raises:
        ReplayMismatchError: The tools, the data or the task are others than those of the record, or a call
            has another answer here.
        UnknownNameError: There is no such task here.
    """
    _require_same("tools", trajectory.schema.sha256, domain.toolkit.schema.sha256)
    _require_same("data", trajectory.data.base_digest, domain.base.digest)
    task = domain.tasks.find(trajectory.task.id)
    _require_same("task", trajectory.task.digest, task.digest)
    database, found = domain.open_database(task), {}
    for index, place, call, answer in answered_calls(trajectory.messages):
        tool = domain.toolkit.schema.tools.get(call.name)
        if not isinstance(answer, ToolMessage) or answer.code is not None:
            continue
        if tool is None or tool.effect not in ("write", "end"):
            continue
        before = database.snapshot()
        result = domain.toolkit.call(database, ToolCall(call.name, call.arguments, call.id))
        _require_same(f"answer of message {index}, call {place}", answer.content, result.content)
        start = domain.open_database(task)
        start.restore(before)
        if changes := list(_changes(domain, start, database)):
            found[index, place] = changes
    return found


def answered_calls(
    messages: tuple[RecordedMessage, ...],
) -> Iterator[tuple[int, int, Call, Answer | None]]:
    """Each call of a conversation: the index of its message, its place there, it, and its answer.

    Answers belong to calls by their order, since a model may give two calls one id.
    """
    for index, message in enumerate(messages):
        if not isinstance(message, AssistantMessage):
            continue
        answers = answers_after(messages, index)
        for place, call in enumerate(message.tool_calls):
            yield index, place, call, answers[place] if place < len(answers) else None


def answers_after(messages: tuple[RecordedMessage, ...], index: int) -> list[Answer]:
    """What came between a message of the agent and its next one."""
    found: list[Answer] = []
    for message in messages[index + 1 :]:
        if isinstance(message, AssistantMessage):
            break
        found.append(message)
    return found


def _changes(domain: Domain, start: Database, database: Database) -> Iterator[Change]:
    for table, key in _touched(start.changed, database):
        old, new = domain.record_json(start, table, key), domain.record_json(database, table, key)
        if old != new:
            yield Change(table, key, old, new)


def _touched(before: Mapping[tuple[str, str], Any], database: Database) -> list[tuple[str, str]]:
    """The records that were put. A record is never changed, so a new version is another object."""
    return [place for place, record in database.changed.items() if before.get(place) is not record]


def _differences(path: str, before: Json, after: Json) -> Iterator[Difference]:
    pairs = _pairs(before, after)
    if pairs is not None:
        for name, old, new in pairs:
            yield from _differences(f"{path}/{name}" if path else str(name), old, new)
    elif before is _ABSENT or after is _ABSENT or _text(before) != _text(after):
        yield Difference(path, _text(before), _text(after))


def _pairs(before: Json, after: Json) -> list[tuple[str | int, Json, Json]] | None:
    """The members of two objects, or the elements of two lists, side by side; None: they are neither."""
    if isinstance(before, dict) and isinstance(after, dict):
        names = [*after, *(name for name in before if name not in after)]
        return [(name, before.get(name, _ABSENT), after.get(name, _ABSENT)) for name in names]
    if isinstance(before, list) and isinstance(after, list):
        both = zip_longest(before, after, fillvalue=_ABSENT)
        return [(number, old, new) for number, (old, new) in enumerate(both)]
    return None


def _text(value: Json) -> str | None:
    return None if value is _ABSENT else json.dumps(value, ensure_ascii=False)


def _require_same(what: str, recorded: str, met: str) -> None:
    if recorded != met:
        raise ReplayMismatchError(f"{what}: recorded {recorded:.80}, here {met:.80}")
