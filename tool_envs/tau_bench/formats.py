"""What tau-bench's files must look like, and the reading that both layouts share."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, NoReturn

import jsonschema_rs
import msgspec
import rfc8785

from tool_envs.database import Record
from tool_envs.errors import DataFileError, UnknownNameError
from tool_envs.messages import Json, ToolCall
from tool_envs.recent import Recent
from tool_envs.task import Task
from tool_envs.tau_bench.data import AirlineData, RetailData, TauData

Interface = Literal["ours", "upstream"]
"""Whose tool descriptions and policy text the agent gets."""


class TauFiles(msgspec.Struct, frozen=True):
    """Everything that one split of one domain is made of.

    Attributes:
        data: The base data; the same object for equal database files. Its `digest` is that of the files.
        tasks: The tasks in order; the id is domain/split/index, the goal holds `user_id` and `instruction`.
        interface: `upstream` when the files bring their own tools and policy, else `ours`.
        tools: What the files' tools say about themselves (OpenAI form), in order; None: nothing.
        policy: The files' domain policy; None: there is none.
    """

    data: TauData
    tasks: tuple[Task, ...]
    interface: Interface = "ours"
    tools: list[dict[str, Json]] | None = None
    policy: str | None = None


class DomainFormat(NamedTuple):
    """The tables of a domain.

    Attributes:
        records: Table name -> JSON Schema of one record: the fields that tools need; others may stand beside.
        data: Makes base data of tables and their files' digest.
    """

    records: Mapping[str, Json]
    data: Callable[[Mapping[str, Mapping[str, Record]], str], TauData]


def _object(extra: Json = None, /, **properties: Json) -> Json:
    """Schema of an object that has all of these keys, and may have those of `extra`."""
    shape = {"type": "object", "required": list(properties), "properties": properties | (extra or {})}
    return shape if properties else {"type": "object"}


def _list(items: Json) -> Json:
    return {"type": "array", "items": items}


def _map(values: Json) -> Json:
    return {"type": "object", "additionalProperties": values}


_TEXT = {"type": "string"}
_NUMBER = {"type": "number"}

_ORDER = _object(
    user_id=_TEXT,
    status=_TEXT,
    items=_list(_object(product_id=_TEXT, item_id=_TEXT, price=_NUMBER, options=_object())),
    payment_history=_list(_object(transaction_type=_TEXT, amount=_NUMBER, payment_method_id=_TEXT)),
)
_VARIANT = _object(item_id=_TEXT, options=_object(), available={"type": "boolean"}, price=_NUMBER)
_PRODUCT = _object(name=_TEXT, product_id=_TEXT, variants=_map(_VARIANT))
_PAYMENT_METHOD = {
    **_object({"balance": _NUMBER}, source=_TEXT),
    "if": {"properties": {"source": {"const": "gift_card"}}},
    "then": {"required": ["balance"]},
}
_USER = _object(
    name=_object(first_name=_TEXT, last_name=_TEXT),
    address=_object(zip=_TEXT),
    email=_TEXT,
    payment_methods=_map(_PAYMENT_METHOD),
)

_OFFER = {
    **_object({"available_seats": _map(_NUMBER), "prices": _map(_NUMBER)}, status=_TEXT),
    "if": {"properties": {"status": {"const": "available"}}},
    "then": {"required": ["available_seats", "prices"]},
}
_FLIGHT = _object(
    origin=_TEXT,
    destination=_TEXT,
    scheduled_departure_time_est=_TEXT,
    scheduled_arrival_time_est=_TEXT,
    dates=_map(_OFFER),
)
_RESERVATION = _object(
    user_id=_TEXT,
    cabin=_TEXT,
    flights=_list(_object(flight_number=_TEXT, date=_TEXT, price=_NUMBER, origin=_TEXT, destination=_TEXT)),
    passengers=_list(_object()),
    payment_history=_list(_object(payment_id=_TEXT, amount=_NUMBER)),
    nonfree_baggages=_NUMBER,
)
_MEANS = {
    **_object({"amount": _NUMBER}, source=_TEXT),
    "if": {"properties": {"source": {"enum": ["gift_card", "certificate"]}}},
    "then": {"required": ["amount"]},
}
_FLYER = _object(payment_methods=_map(_MEANS), reservations=_list(_TEXT))

DOMAINS: Mapping[str, DomainFormat] = {
    "retail": DomainFormat({"orders": _ORDER, "products": _PRODUCT, "users": _USER}, RetailData),
    "airline": DomainFormat({"flights": _FLIGHT, "reservations": _RESERVATION, "users": _FLYER}, AirlineData),
}
"""The domains that can be read, by name."""

_BASES: Recent[tuple[str, str], TauData] = Recent(8)
_TASKS: Recent[tuple[str, str, str, str], tuple[Task, ...]] = Recent(32)


def domain_format(domain: str) -> DomainFormat:
    """The format of a domain; raises UnknownNameError."""
    if not isinstance(domain, str) or domain not in DOMAINS:
        raise UnknownNameError("domain", domain, DOMAINS)
    return DOMAINS[domain]


def read_bytes(path: Path) -> bytes:
    """The bytes of a file; raises DataFileError."""
    try:
        return path.read_bytes()
    except OSError as problem:
        raise DataFileError(path, f"cannot be read: {problem.strerror}") from problem


def read_text(path: Path) -> str:
    """The text of a file, whichever line ends it has; raises DataFileError."""
    return _decoded(path, read_bytes(path)).replace("\r\n", "\n")


def read_database(folder: Path, domain: str) -> TauData:
    """The base data in `folder`: one JSON file per table.

    Its digest is the sha256 over the bytes of the tables' files, one after the other in order of their names.

    Raises:
        DataFileError: A file is missing or damaged.
    """
    form = domain_format(domain)
    contents = {table: read_bytes(folder / f"{table}.json") for table in sorted(form.records)}
    digest = hashlib.sha256(b"".join(contents.values())).hexdigest()

    def parse() -> TauData:
        return form.data(
            {table: _table(folder, domain, table, contents[table]) for table in contents}, digest
        )

    return _BASES.get((domain, digest), parse)


def _table(folder: Path, domain: str, table: str, content: bytes) -> Mapping[str, Record]:
    path = folder / f"{table}.json"
    records: Mapping[str, Record] = parse_json(path, content)
    check_shape(path, records, _record_validator(domain, table))
    return records


def read_tasks(
    path: Path, domain: str, split: str, parse: Callable[[Path, bytes], list[Json]]
) -> tuple[Task, ...]:
    """The tasks of a file; `parse` makes JSON objects of its bytes, checked ones (`check_tasks`).

    Raises:
        DataFileError: The file is missing or damaged.
    """
    content = read_bytes(path)
    key = (path.suffix, domain, split, hashlib.sha256(content).hexdigest())
    return _TASKS.get(key, lambda: _tasks(path, domain, split, parse(path, content)))


def _tasks(path: Path, domain: str, split: str, records: list[Json]) -> tuple[Task, ...]:
    tasks = tuple(_task(f"{domain}/{split}/{index}", record) for index, record in enumerate(records))
    for index, task in enumerate(tasks):
        try:
            _ = task.digest
        except (rfc8785.CanonicalizationError, RecursionError) as problem:
            raise DataFileError(path, f"$.tasks[{index}]: {problem}") from problem
    return tasks


def _task(task_id: str, record: Json) -> Task:
    return Task(
        id=task_id,
        goal={"user_id": record["user_id"], "instruction": record["instruction"]},
        actions=tuple(ToolCall(action["name"], action["arguments"]) for action in record["actions"]),
        facts=tuple(record["outputs"]),
    )


def parse_json(path: Path, content: bytes) -> Json:
    """The JSON value in a file's bytes; raises DataFileError."""
    try:
        return json.loads(_decoded(path, content), parse_constant=_refuse_constant)
    except json.JSONDecodeError as problem:
        raise DataFileError(
            path, f"not JSON: {problem.msg} (column {problem.colno})", problem.lineno
        ) from problem
    except RecursionError as problem:
        raise DataFileError(path, "nested too deeply") from problem
    except ValueError as problem:
        raise DataFileError(path, f"not JSON: {problem}") from problem


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _decoded(path: Path, content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as problem:
        line = content.count(b"\n", 0, problem.start) + 1
        raise DataFileError(path, f"not UTF-8: {problem.reason}", line) from problem


def check_tasks(path: Path, tasks: Json, lines: Sequence[int] = ()) -> None:
    """Refuse a file of tasks that has another form than `{"tasks": [...]}`.

    Args:
        path: The file.
        tasks: What stands in it.
        lines: The line at which each task begins, where they are known.
    """
    check_shape(path, tasks, _tasks_validator(), lines)


def check_shape(path: Path, value: Json, validator: Any, lines: Sequence[int] = ()) -> None:  # noqa: ANN401 - a class per draft
    """Refuse a value that is not valid, with the place of the first problem; `lines` belong to list items."""
    problem = next(validator.iter_errors(value), None)
    if problem is None:
        return
    place = list(problem.instance_path)
    index = next((part for part in place if isinstance(part, int)), None)
    line = lines[index] if lines and index is not None else None
    raise DataFileError(path, f"{_pointer(place)}: {_shortened(problem.message)}", line)


def _pointer(place: Sequence[str | int]) -> str:
    """A place in a JSON value, as `$.tasks[3].name`."""
    parts = [f".{part}" if isinstance(part, str) and part.isidentifier() else f"[{part!r}]" for part in place]
    return "$" + "".join(parts)


def _shortened(message: str) -> str:
    """Both ends of a message: it starts with the value that came and ends with what was expected."""
    return message if len(message) <= 200 else f"{message[:80]} ... {message[-100:]}"


@cache
def _record_validator(domain: str, table: str) -> Any:  # noqa: ANN401 - a class per draft
    return jsonschema_rs.validator_for(_map(DOMAINS[domain].records[table]))


@cache
def _tasks_validator() -> Any:  # noqa: ANN401 - a class per draft
    action = _object(name=_TEXT, arguments=_object())
    task = _object(user_id=_TEXT, instruction=_TEXT, actions=_list(action), outputs=_list(_TEXT))
    return jsonschema_rs.validator_for(_object(tasks=_list(task) | {"minItems": 1}))
