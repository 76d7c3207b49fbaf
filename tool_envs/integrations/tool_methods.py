"""Tools as Python methods, for libraries that read a tool's schema from signature, type hints and docstring.

`transformers.utils.get_json_schema` of a method made here has the tool's name and description, and of its
parameters the names, types, enums and descriptions, and which are required. Python's type hints and that
function cannot express

* patterns, bounds of numbers, of lengths and of numbers of items, formats, `const` and `additionalProperties:
  false`: they are left out;
* the properties of objects inside of the parameters: they are described in words, after the description of
  the parameter that they belong to;
* that a parameter has no description: its name stands there.

A method takes whatever it is called with: what the schema does not allow is refused by the environment, in an
observation with the code `invalid_arguments`, as from any other agent.
"""

import inspect
import keyword
from collections.abc import Callable, Iterator
from typing import Any, Literal, Union

from tool_envs.errors import UsageError
from tool_envs.messages import Json
from tool_envs.schema import Tool

Call = Callable[[Any, str, dict[str, Json]], str]
"""`(self, name of the tool, arguments) -> what the agent is told`."""

_SCALARS: dict[str, Any] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "null": type(None),
    "array": list,
    "object": dict,
}


def make_method(tool: Tool, call: Call) -> Callable[..., str]:
    """The method of a tool.

    Args:
        tool: The tool.
        call: What the method calls.

    Raises:
        UsageError: The name of the tool or of a parameter is none in Python.
    """
    properties = tool.parameters.get("properties", {})
    for name in (tool.name, *properties):
        if not name.isidentifier() or keyword.iskeyword(name):
            raise UsageError(f"The tool {tool.name!r} cannot be a Python method: {name!r} is no name there.")
    required = tool.parameters.get("required", [])
    hints = {name: _hint(schema) for name, schema in properties.items()}

    def method(self: object, /, **arguments: Json) -> str:
        return call(self, tool.name, arguments)

    method.__name__ = method.__qualname__ = tool.name
    method.__doc__ = _docstring(tool)
    method.__annotations__ = hints
    parameters = [_parameter(name, hint, name in required) for name, hint in hints.items()]
    receiver = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    vars(method)["__signature__"] = inspect.Signature([receiver, *parameters])
    return method


def _parameter(name: str, hint: object, is_required: bool) -> inspect.Parameter:
    default = inspect.Parameter.empty if is_required else None
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint)


def _hint(schema: dict[str, Json]) -> Any:  # noqa: ANN401 - a type hint
    """The type hint of a JSON Schema."""
    if "enum" in schema:
        return Literal[tuple(schema["enum"])]
    if "anyOf" in schema:
        return Union[tuple(map(_hint, schema["anyOf"]))]  # noqa: UP007 - of as many as there are
    kinds = schema.get("type")
    if isinstance(kinds, list):
        return Union[tuple(_hint({**schema, "type": kind}) for kind in kinds)]  # noqa: UP007
    if kinds == "array" and isinstance(schema.get("items"), dict):
        return list[_hint(schema["items"])]  # type: ignore[misc]
    if kinds == "object" and isinstance(schema.get("additionalProperties"), dict):
        return dict[str, _hint(schema["additionalProperties"])]  # type: ignore[misc]
    return _SCALARS.get(str(kinds), Any)


# --- Docstrings


def _docstring(tool: Tool) -> str:
    """What the tool is for, and its parameters, in Google's form: one line each."""
    lines = [_one_line(tool.description)]
    properties = tool.parameters.get("properties", {})
    if properties:
        described = ((name, _describe(schema) or name) for name, schema in properties.items())
        lines += ["", "Args:", *(f"    {name}: {text}" for name, text in described)]
    return "\n".join(lines)


def _describe(schema: dict[str, Json]) -> str:
    return " ".join(filter(None, [_one_line(schema.get("description", "")), *_fields(schema)]))


def _fields(schema: dict[str, Json]) -> Iterator[str]:
    """The properties of the objects in a schema, in words."""
    if isinstance(schema.get("items"), dict):
        yield from _fields(schema["items"])
    for option in schema.get("anyOf", []):
        yield from _fields(option)
    required = schema.get("required", [])
    for name, field in schema.get("properties", {}).items():
        need = "required" if name in required else "optional"
        yield f"`{name}` ({_kind(field)}, {need}): {_describe(field)}"


def _kind(schema: dict[str, Json]) -> str:
    if "enum" in schema:
        return "one of " + ", ".join(map(repr, schema["enum"]))
    kinds = schema.get("type", "any")
    return kinds if isinstance(kinds, str) else " or ".join(kinds)


def _one_line(text: str) -> str:
    return " ".join(text.split())
