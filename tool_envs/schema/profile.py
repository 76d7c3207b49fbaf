"""The JSON Schema keywords that tool schemas use: checking documents, putting definitions in their place."""

import functools
import re
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import jsonschema
import jsonschema_rs

from tool_envs.errors import DataFileError
from tool_envs.json_values import is_json, shown
from tool_envs.messages import Json
from tool_envs.schema.files import shipped_files

Schema: TypeAlias = dict[str, Any]
"""A JSON Schema (draft 2020-12) as a dict."""

META_KEY = "meta/tool_schema/1.0.0"
_LIMITS = (("minLength", "maxLength"), ("minItems", "maxItems"), ("minimum", "maximum"))
_PATTERN_TOKEN = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|\$", re.DOTALL)


def rebuild(schema: Schema, change: Callable[[Schema], Schema]) -> Schema:
    """A copy of a schema whose direct sub-schemas were passed through `change`."""
    copy: Schema = {}
    for keyword, value in schema.items():
        if keyword in ("properties", "patternProperties", "$defs") and isinstance(value, dict):
            copy[keyword] = {name: change(sub) for name, sub in value.items()}
        elif keyword in ("items", "additionalProperties") and isinstance(value, dict):
            copy[keyword] = change(value)
        elif keyword in ("anyOf", "allOf", "oneOf") and isinstance(value, list):
            copy[keyword] = [change(sub) for sub in value]
        else:
            copy[keyword] = value
    return copy


def subschemas(schema: Schema, path: str) -> Iterator[tuple[str, Schema]]:
    """A schema and all schemas inside it, each with its JSON path below `path`."""
    yield path, schema
    for keyword in ("properties", "patternProperties"):
        for name, sub in schema.get(keyword, {}).items():
            yield from subschemas(sub, f"{path}.{keyword}.{name}")
    for keyword in ("items", "additionalProperties"):
        if isinstance(schema.get(keyword), dict):
            yield from subschemas(schema[keyword], f"{path}.{keyword}")
    for index, sub in enumerate(schema.get("anyOf", [])):
        yield from subschemas(sub, f"{path}.anyOf[{index}]")


def without_annotations(schema: Schema) -> Schema:
    """A fresh copy of a schema without our `x-` keywords."""
    copy = rebuild(schema, without_annotations)
    return {keyword: value for keyword, value in copy.items() if not keyword.startswith("x-")}


def with_python_patterns(schema: Schema) -> Schema:
    """A copy for Python's `re`, whose `$`, unlike JSON Schema's, also matches before a newline at the end."""
    copy = rebuild(schema, with_python_patterns)
    if isinstance(copy.get("pattern"), str):
        copy["pattern"] = python_pattern(copy["pattern"])
    if isinstance(copy.get("patternProperties"), dict):
        copy["patternProperties"] = {python_pattern(p): sub for p, sub in copy["patternProperties"].items()}
    return copy


def python_pattern(pattern: str) -> str:
    """The pattern for Python's `re` with `$` at the very end only."""
    return _PATTERN_TOKEN.sub(lambda token: r"\Z" if token[0] == "$" else token[0], pattern)


def inline(schema: Schema, definitions: dict[str, Schema], path: str, inside: tuple[str, ...] = ()) -> Schema:
    """A copy of a schema with every `$ref` replaced by its definition; a description beside `$ref` wins.

    Args:
        schema: A schema of a checked document.
        definitions: The document's `$defs`.
        path: The document's file, for errors.
        inside: The definitions that the schema stands in.

    Raises:
        DataFileError: A `$ref` leads nowhere or in a circle.
    """
    if "$ref" not in schema:
        return rebuild(schema, lambda sub: inline(sub, definitions, path, inside))
    name = schema["$ref"].removeprefix("#/$defs/")
    if name not in definitions:
        raise DataFileError(
            path, f"{schema['$ref']} leads nowhere: $defs holds {', '.join(definitions) or 'nothing'}"
        )
    if name in inside:
        raise DataFileError(path, f"$defs refer to each other in a circle: {' -> '.join((*inside, name))}")
    target = inline(definitions[name], definitions, path, (*inside, name))
    return target | {key: value for key, value in schema.items() if key != "$ref"}


def references(value: Json) -> Iterator[str]:
    """Every reference anywhere in a schema, whatever its keywords."""
    if isinstance(value, dict):
        yield from (
            ref for key, ref in value.items() if key in ("$ref", "$dynamicRef") and isinstance(ref, str)
        )
        value = list(value.values())
    for part in value if isinstance(value, list) else ():
        yield from references(part)


def check_document(document: Json, path: str) -> None:
    """Check a tool schema document against the meta schema and for what that cannot say.

    Raises:
        DataFileError: It names the file, the JSON path in it, and the problem.
    """
    if not is_json(document):
        raise DataFileError(path, "the document is not a JSON value")
    if not _fast_meta_validator().is_valid(document):
        raise DataFileError(path, meta_problem(document, _meta_schema()))
    for problem in _further_problems(document):
        raise DataFileError(path, problem)


@functools.cache
def _meta_schema() -> Schema:
    schema: Schema = shipped_files().read_released(META_KEY)
    return schema


@functools.cache
def _fast_meta_validator() -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(_meta_schema())


def meta_problem(document: Json, meta_schema: Schema) -> str:
    """The first problem that a meta schema finds; slow, and so only for a document with one."""
    errors = jsonschema.Draft202012Validator(meta_schema).iter_errors(document)
    error = jsonschema.exceptions.best_match(errors)
    if error is None:
        return f"not a document of the form {meta_schema['title']}"
    what = error.message
    if len(what) > 200:
        what = f"{shown(error.instance)} breaks the keyword {error.validator}"
    rule = error.schema.get("description", "") if isinstance(error.schema, dict) else ""
    return f"{error.json_path}: {what}" + (f". {rule}" if rule else "")


def _further_problems(document: Json) -> Iterator[str]:
    names = [tool["name"] for tool in document["tools"]]
    yield from (f"$.tools: two tools are called {n}" for n in sorted(set(names)) if names.count(n) > 1)
    for name, definition in document.get("$defs", {}).items():
        yield from _schema_problems(definition, f"$.$defs.{name}")
    for index, tool in enumerate(document["tools"]):
        for part in ("parameters", "result"):
            yield from _schema_problems(tool[part], f"$.tools[{index}].{part}")


def _schema_problems(schema: Schema, path: str) -> Iterator[str]:
    for at, sub in subschemas(schema, path):
        unknown = [name for name in sub.get("required", []) if name not in sub.get("properties", {})]
        yield from (f"{at}.required: there is no property {shown(name)}" for name in unknown)
        crossed = [pair for pair in _LIMITS if sub.keys() >= set(pair) and sub[pair[0]] > sub[pair[1]]]
        yield from (f"{at}: {low} is greater than {high}" for low, high in crossed)
        patterns = [sub["pattern"]] if "pattern" in sub else list(sub.get("patternProperties", {}))
        broken = [pattern for pattern in patterns if not _compiles(pattern)]
        yield from (f"{at}: not a regular expression: {shown(pattern)}" for pattern in broken)
        yield from (f"{at}.enum: {shown(value)} is no {sub['type']}" for value in _misfits(sub))


def _misfits(schema: Schema) -> list[Json]:
    if "type" not in schema or "enum" not in schema:
        return []
    typed = jsonschema.Draft202012Validator({"type": schema["type"]})
    return [value for value in schema["enum"] if not typed.is_valid(value)]


def _compiles(pattern: str) -> bool:
    try:
        re.compile(pattern)
        jsonschema_rs.validator_for({"pattern": pattern})
    except (re.error, ValueError):
        return False
    return True
