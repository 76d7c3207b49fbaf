"""Makes verbs and slots of a tool schema and an arrays document."""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NoReturn

import jsonschema_rs

from tool_envs.array_view import Layout, Slot, Told, Verb
from tool_envs.errors import DataFileError
from tool_envs.messages import Json
from tool_envs.schema import Tool, ToolSchema
from tool_envs.schema.files import SchemaFiles
from tool_envs.schema.tool_schema import read_unreleased_schema


def make_layout(schema: ToolSchema, document: Json) -> Layout:
    """The verbs of a schema version: calls in its order, proposals of writes, questions, other speech.

    Args:
        schema: The tools.
        document: A checked arrays document (see `tool_envs.schema.read_arrays`).

    Raises:
        DataFileError: The document is of another domain, or it does not say of every parameter of every
            tool, in one way that fits it, how it is filled, or it gives one name to two things.
    """
    if schema.domain != document["domain"]:
        _fail(document, f"it is not for the domain {schema.domain}")
    verbs = tuple(_verbs(schema, document))
    slots = tuple(dict.fromkeys(slot for verb in verbs for slot in verb.slots))
    _check_distinct(document, "verbs", [verb.name for verb in verbs])
    _check_distinct(document, "slots", [slot.name for slot in slots])
    shapes = {(slot.source, slot.width, slot.values) for slot in slots}
    _check_distinct(document, "tables or values of different sizes", sorted(source for source, *_ in shapes))
    return Layout(verbs, slots)


def unknown_names(document: Json, schemas: Iterable[ToolSchema]) -> list[str]:
    """The tools and parameters in an arrays document that no version of the schema has, sorted."""
    tools = [tool for schema in schemas for tool in schema.tools.values()]
    known = {tool.name for tool in tools} | {name for tool in tools for name in tool.parameters["properties"]}
    keys = [*document["told"], *document["tables"], *itertools.chain(*document["texts"].values())]
    named = {*document["left_out"], *document["texts"], *itertools.chain(*(key.split("|") for key in keys))}
    return sorted(named - known)


def layout_problems(files: SchemaFiles) -> list[DataFileError]:
    """What is wrong with the arrays documents of a folder of schema files, held against all versions.

    Args:
        files: A folder with which `tool_envs.schema.lock.lock_problems` finds nothing wrong.
    """
    return [problem for key in files.arrays_keys() for problem in _file_problems(files, key)]


def _file_problems(files: SchemaFiles, key: str) -> Iterator[DataFileError]:
    domain = key.split("/")[0]
    schemas = [read_unreleased_schema(files, f"{domain}/{version}") for version in files.versions(domain)]
    document = files.read(key)
    for schema in schemas:
        try:
            make_layout(schema, document)
        except DataFileError as problem:
            yield DataFileError(str(files.path(key)), f"{domain} {schema.version}: {problem.problem}")
    unknown = unknown_names(document, schemas)
    if unknown:
        yield DataFileError(str(files.path(key)), f"no version of {domain} has {', '.join(unknown)}")


def _verbs(schema: ToolSchema, document: Json) -> Iterator[Verb]:
    left_out, speech = document["left_out"], document["speech"]
    tools = [tool for tool in schema.tools.values() if tool.effect != "message" and tool.name not in left_out]
    calls = [_call(tool, document) for tool in tools]
    yield from calls
    for tool, call in zip(tools, calls, strict=True):
        if speech["propose"] and tool.effect == "write":
            yield call._replace(name=f"propose_{tool.name}", kind="propose")
    for slot in speech["ask"]:
        yield Verb(f"ask_{slot}", "ask", asked=slot)
    values = {slot.name: slot for call in calls for slot in call.slots if slot.values}
    for other in speech["others"]:
        yield Verb(other["verb"], "speech", slots=_spoken(other, values, document))


def _call(tool: Tool, document: Json) -> Verb:
    """The call of a tool: what it demands to be chosen, and what fills the rest of its parameters."""
    slots: list[Slot] = []
    told: list[Told] = []
    fixed: dict[str, Json] = {}
    for parameter, form in tool.parameters["properties"].items():
        where = f"the parameter {parameter} of {tool.name}"
        ways = (
            _entry(document["texts"].get(tool.name, {}), parameter),
            _entry(document["told"], parameter),
            _entry(document["tables"], parameter),
        )
        match ways:
            case (_, value), None, None:
                if not jsonschema_rs.is_valid(form, value):
                    _fail(document, f"its text is not valid for {where}: {value!r:.80}")
                fixed[parameter] = value
            case None, (name, slot), None:
                told.append(Told(parameter, name, slot))
            case None, None, (name, entry):
                if (form.get("type") == "array") != (entry.keys() & {"most", "like"} != set()):
                    _fail(document, f"`most` or `like` is for parameters that are arrays; see {where}")
                slots += _rows(name, parameter, entry, slots, document)
            case None, None, None if "enum" in form:
                values = tuple(form["enum"])
                slots.append(Slot(parameter, len(values), False, parameter, parameter, values))
            case None, None, None:
                _fail(document, f"it does not say how {where} is filled")
            case _:
                _fail(document, f"it says in several ways how {where} is filled")
    return Verb(tool.name, "call", tool.name, tuple(slots), told=tuple(told), fixed=fixed)


def _entry(entries: Mapping[str, Json], parameter: str) -> tuple[str, Json] | None:
    """What a part of the document says of a parameter, after the first of its names."""
    for key, value in entries.items():
        names = key.split("|")
        if parameter in names:
            return names[0], value
    return None


def _rows(name: str, parameter: str, entry: Json, before: Sequence[Slot], document: Json) -> list[Slot]:
    """The slots of a parameter whose choices are the rows of a table."""
    table, width = entry["table"], entry["size"]
    if "like" in entry:
        like = entry["like"].split("|")[0]
        others = [slot for slot in before if slot.place >= 0 and slot.name == f"{like}[{slot.place}]"]
        if not others:
            _fail(document, f"{name} is to be like {like}, but no array of that name stands before it")
        return [
            Slot(
                f"{name}[{other.place}]",
                width,
                parameter=parameter,
                source=table,
                place=other.place,
                needs=other.name if other.optional else "",
            )
            for other in others
        ]
    if "most" not in entry:
        return [Slot(name, width, parameter=parameter, source=table)]
    return [
        Slot(
            f"{name}[{place}]",
            width,
            optional=place > 0,
            parameter=parameter,
            source=table,
            place=place,
            needs=f"{name}[{place - 1}]" if place > 1 else "",
        )
        for place in range(entry["most"])
    ]


def _spoken(other: Json, values: Mapping[str, Slot], document: Json) -> tuple[Slot, ...]:
    """The slots of another thing to say: parameters, with the choices that they have in calls."""
    slots: list[Slot] = []
    for key in other.get("slots", []):
        name = key.split("|")[0]
        entry = _entry(document["tables"], name)
        if entry is not None:
            slots += _rows(entry[0], name, entry[1], slots, document)
        elif name in values:
            slots.append(values[name])
        else:
            _fail(document, f"{other['verb']}: {name} is chosen in no call and from no table")
    return tuple(slots)


def _check_distinct(document: Json, kind: str, names: Sequence[str]) -> None:
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        _fail(document, f"two {kind} are called {', '.join(repeated)}")


def _fail(document: Json, problem: str) -> NoReturn:
    raise DataFileError(f"the arrays document of {document['domain']}", problem)
