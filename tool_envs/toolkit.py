"""Binds a schema to the functions that do what it says: validate, call atomically, render."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import msgspec
import orjson

from tool_envs.database import Database
from tool_envs.errors import Code, UsageError
from tool_envs.messages import ToolCall, ToolResult
from tool_envs.schema import Tool, ToolSchema


class Refusal(msgspec.Struct, frozen=True):
    """A tool saying no: a stable code of the domain and a sentence for the agent."""

    code: str
    message: str


class JsonText(msgspec.Struct, frozen=True):
    """A result that is JSON text already; a domain may keep it and give it out again."""

    text: str


class PlainText(msgspec.Struct, frozen=True):
    """A result that is a text, shown to the agent as it is, without the quotes and escapes of JSON."""

    text: str


ToolFunction: TypeAlias = Callable[..., Any]
"""`(database, **arguments) -> JSON value | JsonText | PlainText | Refusal`. The arguments are valid for the
schema."""


class Toolkit:
    """The tools of a domain.

    Args:
        schema: The tools as the agent sees them.
        functions: One function for each tool of the schema but the one that talks to the user; it takes the
            database and then parameters of the schema's names.

    Raises:
        UsageError: Functions and schema do not have the same tools or parameters.
    """

    def __init__(self, schema: ToolSchema, functions: Mapping[str, ToolFunction]) -> None:
        self.schema = schema
        self.functions = dict(functions)
        _check_binding(schema, functions)

    def check(self, call: ToolCall) -> ToolResult | None:
        """What the agent is told when its call is not valid for the schema; None when it is."""
        tool = self.schema.tools.get(call.name)
        if tool is None:
            return error(Code.UNKNOWN_TOOL, f"There is no tool {call.name!r:.80}.")
        if not tool.accepts(call.arguments):
            return error(Code.INVALID_ARGUMENTS, tool.problems(call.arguments))
        return None

    def call(self, database: Database, call: ToolCall) -> ToolResult:
        """Run one call, whole or not at all.

        A call that is not valid, or that the tool refuses, changes nothing and answers with a code. An
        exception of the tool's function, or a result that is not JSON, is a defect of the domain: the
        database is restored and the exception goes on.
        """
        if (problem := self.check(call)) is not None:
            return problem
        before = database.snapshot()
        try:
            value = self.functions[call.name](database, **call.arguments)
            if isinstance(value, JsonText | PlainText):
                return ToolResult(value.text)
            if not isinstance(value, Refusal):
                return ToolResult(orjson.dumps(value).decode())
        except BaseException:
            database.restore(before)
            raise
        database.restore(before)
        return error(value.code, value.message)


def error(code: str, message: str) -> ToolResult:
    """The answer to an agent's mistake: a JSON object with the code and a sentence."""
    body = orjson.dumps({"error": {"code": str(code), "message": message}})
    return ToolResult(body.decode(), str(code))


def _check_binding(schema: ToolSchema, functions: Mapping[str, ToolFunction]) -> None:
    """Hold functions and schema together when the toolkit is made, not when a call fails."""
    wanted = {name: tool for name, tool in schema.tools.items() if tool.effect != "message"}
    if wanted.keys() != functions.keys():
        missing, extra = sorted(wanted.keys() - functions.keys()), sorted(functions.keys() - wanted.keys())
        raise UsageError(f"{schema.domain} {schema.version}: no function for {missing}, no tool for {extra}.")
    for name, tool in wanted.items():
        _check_parameters(tool, functions[name])


def _check_parameters(tool: Tool, function: ToolFunction) -> None:
    signature = list(inspect.signature(function).parameters.values())[1:]
    taken = {parameter.name: parameter.default is inspect.Parameter.empty for parameter in signature}
    required = set(tool.parameters.get("required", ()))
    described = {name: name in required for name in tool.parameters.get("properties", {})}
    if taken != described:
        raise UsageError(
            f"The function of tool `{tool.name}` takes {taken}, but its schema describes {described} "
            "(parameter: required). Make the names and what is required the same."
        )
