"""Tools that every service desk has, and a domain's tools under one of its schema versions."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from tool_envs.calculator import CalculationError
from tool_envs.calculator import calculate as value_of
from tool_envs.database import Database
from tool_envs.messages import Json
from tool_envs.schema import Tool, ToolSchema
from tool_envs.toolkit import Refusal, ToolFunction, Toolkit

Show: TypeAlias = Callable[[Database, Any], Any]
"""Makes what the toolkit takes (a JSON value, `JsonText`, `Refusal`) of what a tool answered."""

_NO_VALUE = Refusal("calculation_failed", "The expression is not valid, divides by zero, or is too large.")


def calculate(database: Database, expression: str) -> dict[str, Json] | Refusal:  # noqa: ARG001 - all alike
    """The value of an expression."""
    try:
        return {"value": value_of(expression)}
    except CalculationError:
        return _NO_VALUE


def think(database: Database, thought: str) -> dict[str, Json]:  # noqa: ARG001
    """Nothing."""
    return {}


def transfer_to_human_agents(database: Database, summary: str) -> dict[str, Json]:  # noqa: ARG001
    """Nothing; the schema says that the episode ends."""
    return {}


COMMON_TOOLS: Mapping[str, ToolFunction] = {
    tool.__name__: tool for tool in (calculate, think, transfer_to_human_agents)
}
"""Tools that need nothing of a domain, by name."""


def versioned_toolkit(
    schema: ToolSchema, tools: Mapping[str, Callable[..., Any]], other_names: Mapping[str, str], show: Show
) -> Toolkit:
    """A domain's tools under a schema version.

    Args:
        schema: The version.
        tools: All tools of all versions but the common ones, by name; parameters have one name for all.
        other_names: Parameter of a tool -> what the versions call it that do not call it so.
        show: Renders what the tools answer.
    """
    functions = {**COMMON_TOOLS, **tools}
    return Toolkit(
        schema,
        {
            name: _bound(functions[name], tool, other_names, show)
            for name, tool in schema.tools.items()
            if tool.effect != "message"
        },
    )


def _bound(
    function: Callable[..., Any], tool: Tool, other_names: Mapping[str, str], show: Show
) -> ToolFunction:
    """The function under the parameter names of a schema's tool."""
    signature, known = inspect.signature(function), tool.parameters.get("properties", {})
    named = {
        name: other_names[name] if name in other_names and name not in known else name
        for name in signature.parameters
    }
    own_names = {other: name for name, other in named.items() if other != name}

    def call(database: Database, **arguments: Any) -> Any:  # noqa: ANN401 - JSON values
        for other, name in own_names.items():
            arguments[name] = arguments.pop(other)
        return show(database, function(database, **arguments))

    parameters = [each.replace(name=named[name]) for name, each in signature.parameters.items()]
    call.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]  # as wraps does
    call.__name__, call.__doc__ = function.__name__, function.__doc__
    return call
