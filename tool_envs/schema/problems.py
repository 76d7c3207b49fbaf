"""What is wrong with a call's arguments, in one stable sentence of ours for the agent."""

import functools
import heapq
from collections.abc import Iterator
from typing import Any

import jsonschema_rs

from tool_envs.json_values import printable, shown
from tool_envs.messages import Json
from tool_envs.schema.profile import Schema

_LISTED = 5
_ITEMS_READ = 100

_KINDS: dict[str, tuple[str, Any]] = {
    "object": ("an object", dict),
    "array": ("an array", list),
    "string": ("a string", str),
    "boolean": ("a boolean", bool),
    "null": ("null", type(None)),
    "integer": ("a whole number", int | float),
    "number": ("a number", int | float),
}


def describe_problems(schema: Schema, value: Json) -> str:
    """What is wrong with a value, as `$.path: what; $.path: what`: at most 5 problems, in sorted order.

    The text depends on the schema and the value alone, and its length is bounded whatever the value is. Only
    the first 100 items of an array are looked at. Empty when the keywords of our profile find nothing.
    """
    problems = heapq.nsmallest(_LISTED + 1, set(_problems(schema, value, "$")))
    more = "; and more" if len(problems) > _LISTED else ""
    return "; ".join(problems[:_LISTED]) + more


def _problems(schema: Schema, value: Json, path: str) -> Iterator[str]:
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(_is_kind(kind, value) for kind in kinds):
        wanted = " or ".join(_KINDS[kind][0] for kind in kinds)
        yield f"{path}: {shown(value)} is not {wanted}"
        return
    yield from (f"{path}: {what}" for what in _choice_problems(schema, value))
    if isinstance(value, str):
        yield from (f"{path}: {what}" for what in _text_problems(schema, value))
    elif isinstance(value, dict):
        yield from _object_problems(schema, value, path)
    elif isinstance(value, list):
        yield from _array_problems(schema, value, path)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield from (f"{path}: {what}" for what in _number_problems(schema, value))


def _is_kind(kind: str, value: Json) -> bool:
    if isinstance(value, bool) or not isinstance(value, _KINDS[kind][1]):
        return kind == "boolean" and isinstance(value, bool)
    return kind != "integer" or float(value).is_integer()


def _choice_problems(schema: Schema, value: Json) -> Iterator[str]:
    options = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if options is not None and not any(_same(value, option) for option in options):
        yield f"{shown(value)} is not one of {', '.join(map(shown, options))}"
    branches = schema.get("anyOf")
    if branches and all(any(_problems(branch, value, "$")) for branch in branches):
        yield f"{shown(value)} is none of the {len(branches)} forms that are possible"


def _same(value: Json, option: Json) -> bool:
    return bool(value == option) and isinstance(value, bool) == isinstance(option, bool)


def _text_problems(schema: Schema, value: str) -> Iterator[str]:
    least, most = schema.get("minLength", 0), schema.get("maxLength")
    if len(value) < least:
        yield f"{shown(value)} has {len(value)} characters, but at least {least} are needed"
    elif most is not None and len(value) > most:
        yield f"{shown(value)} has {len(value)} characters, but at most {most} are possible"
    elif "pattern" in schema and not _matches(schema["pattern"], value):
        yield f"{shown(value)} does not match {schema['pattern']}"


def _number_problems(schema: Schema, value: float) -> Iterator[str]:
    if value < schema.get("minimum", value):
        yield f"{shown(value)} is less than {schema['minimum']}"
    if value > schema.get("maximum", value):
        yield f"{shown(value)} is greater than {schema['maximum']}"
    if value != value:
        yield "NaN is not a JSON number"


def _object_problems(schema: Schema, value: dict[str, Json], path: str) -> Iterator[str]:
    properties, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    rest = schema.get("additionalProperties", True)
    yield from (f"{_below(path, name)}: missing" for name in schema.get("required", []) if name not in value)
    for key, member in value.items():
        at = _below(path, key)
        known = [properties[key]] if key in properties else []
        known += [sub for pattern, sub in patterns.items() if _matches(pattern, key)]
        for sub in known:
            yield from _problems(sub, member, at)
        if not known and rest is False:
            yield f"{at}: unknown"
        elif not known and isinstance(rest, dict):
            yield from _problems(rest, member, at)


def _array_problems(schema: Schema, value: list[Json], path: str) -> Iterator[str]:
    least, most = schema.get("minItems", 0), schema.get("maxItems")
    if len(value) < least:
        yield f"{path}: {len(value)} items, but at least {least} needed"
    if most is not None and len(value) > most:
        yield f"{path}: {len(value)} items, but at most {most} possible"
    read = value[:_ITEMS_READ]
    if schema.get("uniqueItems") and any(item in read[:index] for index, item in enumerate(read)):
        yield f"{path}: an item stands there twice"
    if isinstance(schema.get("items"), dict):
        for index, item in enumerate(read):
            yield from _problems(schema["items"], item, f"{path}[{index}]")


def _below(path: str, key: object) -> str:
    name = key if isinstance(key, str) else shown(key)
    return f"{path}.{printable(name[:80])}"


@functools.lru_cache(maxsize=1024)
def _validator(pattern: str) -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator({"pattern": pattern})


def _matches(pattern: str, text: Any) -> bool:  # noqa: ANN401 - a key may be any object
    try:
        return _validator(pattern).is_valid(text)
    except ValueError:  # a lone surrogate, or no text at all
        return False
