"""Random values of JSON Schemas: one walker, driven by any source of choices.

It serves `ToolCallSpace.sample`, mutated calls, and property tests, which drive it with a Hypothesis draw.
"""

import copy
import math
from collections.abc import Callable
from typing import Any, TypeAlias

from tool_envs.errors import UsageError
from tool_envs.messages import Json
from tool_envs.schema.patterns import Draw, sample_pattern, shifted
from tool_envs.schema.profile import Schema
from tool_envs.schema.tool_schema import ToolSchema

_SCALAR_KEYWORDS = ("type", "enum", "const", "pattern", "minLength", "maxLength", "minimum", "maximum")
_ARRAY_KEYWORDS = ("items", "minItems", "maxItems", "uniqueItems")
_OBJECT_KEYWORDS = ("properties", "required", "additionalProperties", "patternProperties")
_OTHER_KEYWORDS = ("anyOf", "description", "title", "default", "examples", "format")
_KNOWN = frozenset((*_SCALAR_KEYWORDS, *_ARRAY_KEYWORDS, *_OBJECT_KEYWORDS, *_OTHER_KEYWORDS))
_Mutation: TypeAlias = Callable[[ToolSchema, dict[str, Json], Draw], dict[str, Json]]
_FREE_LENGTH = 12
_FREE_RANGE = 1000
_MORE_ITEMS = 3
_ATTEMPTS = 100
_SURROGATES = range(0xD800, 0xE000)
_ANY_TYPES = ("string", "integer", "number", "boolean", "null")


def sample_value(schema: Schema, draw: Draw) -> Json:
    """A value that is valid for the schema. Numbers have at most two decimals; free text is any Unicode.

    Args:
        schema: A JSON Schema of our profile without references.
        draw: Chooses an integer in `range(n)`.

    Raises:
        UsageError: The schema uses a keyword outside of our profile, or no valid value was found.
    """
    if unknown := [keyword for keyword in schema if keyword not in _KNOWN and not keyword.startswith("x-")]:
        raise UsageError(
            f"Cannot sample a schema with the keyword {unknown[0]!r}; known: {', '.join(sorted(_KNOWN))}."
        )
    if "const" in schema:
        return copy.deepcopy(schema["const"])
    if "enum" in schema:
        return copy.deepcopy(_pick(schema["enum"], draw))
    if "anyOf" in schema:
        return sample_value(_pick(schema["anyOf"], draw), draw)
    kind = schema.get("type", _ANY_TYPES)
    kind = kind if isinstance(kind, str) else _pick(kind, draw)
    return _SAMPLERS[kind](schema, draw)


def sample_call(schema: ToolSchema, draw: Draw) -> dict[str, Json]:
    """A valid call `{"name", "arguments"}` of any tool of the schema; raises as `sample_value` does."""
    tool = _pick(list(schema.tools.values()), draw)
    return {"name": tool.name, "arguments": sample_value(tool.parameters, draw)}


def mutate_call(schema: ToolSchema, call: dict[str, Json], draw: Draw) -> dict[str, Json]:
    """A fresh call that is a little wrong or just different; the given one stays as it is.

    Args:
        schema: The tools that the call is for.
        call: A call `{"name", "arguments"}`, valid or not.
        draw: Chooses an integer in `range(n)`.

    Raises:
        UsageError: As `sample_value`.
    """
    mutated = copy.deepcopy(call)
    mutate: _Mutation = _pick(_MUTATIONS, draw)
    return mutate(schema, mutated, draw)


def _pick(options: Any, draw: Draw) -> Any:  # noqa: ANN401 - any sequence, and what it holds
    return options[draw(len(options))]


def _string(schema: Schema, draw: Draw) -> str:
    least = schema.get("minLength", 0)
    most = schema.get("maxLength", least + _FREE_LENGTH)
    if "pattern" in schema:
        return sample_pattern(schema["pattern"], draw, least, schema.get("maxLength", 10_000))
    return sample_text(draw, least, min(most, least + _FREE_LENGTH))


def sample_text(draw: Draw, least: int, most: int) -> str:
    """Free text of `least` to `most` characters: mostly ASCII, now and then any code point but surrogates."""
    return "".join(_character(draw) for _ in range(least + draw(most - least + 1)))


def _character(draw: Draw) -> str:
    if draw(8):
        return chr(0x20 + draw(0x5F))
    code = draw(0x110000 - len(_SURROGATES))
    return chr(code if code < _SURROGATES.start else code + len(_SURROGATES))


def _integer(schema: Schema, draw: Draw) -> int:
    low, high = _bounds(schema)
    low, high = math.ceil(low), math.floor(high)
    if low > high:
        raise UsageError(f"No integer lies between {schema.get('minimum')} and {schema.get('maximum')}.")
    return low + draw(high - low + 1)


def _number(schema: Schema, draw: Draw) -> float:
    low, high = _bounds(schema)
    value = round(low + draw(int((high - low) * 100) + 1) / 100, 2)
    return float(min(max(value, low), high))


def _bounds(schema: Schema) -> tuple[float, float]:
    low = schema.get("minimum", min(-_FREE_RANGE, schema.get("maximum", 0) - _FREE_RANGE))
    return low, schema.get("maximum", max(_FREE_RANGE, low + _FREE_RANGE))


def _boolean(schema: Schema, draw: Draw) -> bool:  # noqa: ARG001 - all samplers are called alike
    return bool(draw(2))


def _null(schema: Schema, draw: Draw) -> None:  # noqa: ARG001
    return None


def _array(schema: Schema, draw: Draw) -> list[Json]:
    least = schema.get("minItems", 0)
    most = min(schema.get("maxItems", least + _MORE_ITEMS), least + _MORE_ITEMS)
    length = least + draw(most - least + 1)
    item_schema = schema.get("items", {})
    items: list[Json] = []
    for attempt in range(length + _ATTEMPTS):
        if len(items) == length:
            break
        item = sample_value(item_schema, shifted(draw, attempt) if schema.get("uniqueItems") else draw)
        if not (schema.get("uniqueItems") and item in items):
            items.append(item)
    if len(items) < least:
        raise UsageError(f"Found no {least} different items for an array.")
    return items


def _object(schema: Schema, draw: Draw) -> dict[str, Json]:
    required, properties = schema.get("required", ()), schema.get("properties", {})
    members = {
        name: sample_value(sub, draw) for name, sub in properties.items() if name in required or draw(2)
    }
    members |= {name: sample_value({}, draw) for name in required if name not in members}
    for pattern, sub in schema.get("patternProperties", {}).items():
        for _ in range(draw(_MORE_ITEMS + 1)):
            members[sample_pattern(pattern, draw, 0, 10_000)] = sample_value(sub, draw)
    rest = schema.get("additionalProperties")
    if isinstance(rest, dict):
        members |= {f"key {draw(100)}": sample_value(rest, draw) for _ in range(draw(_MORE_ITEMS + 1))}
    return members


_SAMPLERS: dict[str, Callable[[Schema, Draw], Json]] = {
    "string": _string,
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "null": _null,
    "array": _array,
    "object": _object,
}


def _other_call(schema: ToolSchema, call: dict[str, Json], draw: Draw) -> dict[str, Json]:  # noqa: ARG001
    return sample_call(schema, draw)


def _other_name(schema: ToolSchema, call: dict[str, Json], draw: Draw) -> dict[str, Json]:
    names = [*schema.tools, f"{call['name']}s", str(call["name"]).upper(), ""]
    return {**call, "name": _pick(names, draw)}


def _other_arguments(schema: ToolSchema, call: dict[str, Json], draw: Draw) -> dict[str, Json]:
    """All arguments anew for the same tool, or something that is no object."""
    tool = schema.tools.get(call["name"])
    if tool and draw(2):
        return {**call, "arguments": sample_value(tool.parameters, draw)}
    return {**call, "arguments": _odd_value(draw)}


def _without_argument(schema: ToolSchema, call: dict[str, Json], draw: Draw) -> dict[str, Json]:
    if not (isinstance(call["arguments"], dict) and call["arguments"]):
        return _other_call(schema, call, draw)
    del call["arguments"][_pick(list(call["arguments"]), draw)]
    return call


def _with_argument(schema: ToolSchema, call: dict[str, Json], draw: Draw) -> dict[str, Json]:
    if not isinstance(call["arguments"], dict):
        return _other_call(schema, call, draw)
    call["arguments"][sample_text(draw, 1, 8)] = _odd_value(draw)
    return call


def _spoiled_argument(schema: ToolSchema, call: dict[str, Json], draw: Draw) -> dict[str, Json]:
    if not (isinstance(call["arguments"], dict) and call["arguments"]):
        return _other_call(schema, call, draw)
    name = _pick(list(call["arguments"]), draw)
    call["arguments"][name] = _spoiled(call["arguments"][name], draw)
    return call


def _spoiled(value: Json, draw: Draw) -> Json:
    """A value near the given one, or of another type."""
    if isinstance(value, str) and draw(4):
        return _pick([f"{value}\n", f" {value}", value[1:], value[:-1], value.upper(), value * 2, ""], draw)
    if isinstance(value, list) and value and draw(4):
        index = draw(len(value))
        return [*value[:index], _spoiled(value[index], draw), *value[index + 1 + draw(2) :]]
    return _odd_value(draw)


def _odd_value(draw: Draw) -> Json:
    return copy.deepcopy(
        _pick([None, True, False, 0, -1, 1.5, 10**20, "", "x", [], [[]], {}, {"": None}], draw)
    )


_MUTATIONS = (
    _other_call,
    _other_name,
    _other_arguments,
    _without_argument,
    _with_argument,
    _spoiled_argument,
    _spoiled_argument,
)
