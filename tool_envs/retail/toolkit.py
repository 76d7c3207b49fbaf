"""The tools under a schema version: parameters renamed and rows rendered as that version says."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

from tool_envs.database import Database
from tool_envs.errors import UnknownNameError
from tool_envs.retail.codes import ZipName, base_of, renderer
from tool_envs.retail.refusals import No
from tool_envs.retail.rows import Customer, Order
from tool_envs.retail.tools import TOOLS, Answer
from tool_envs.schema import load_schema
from tool_envs.toolkit import JsonText, ToolFunction, Toolkit

ZIP_NAMES: dict[str, ZipName] = {"1.0.0": "zip", "1.1.0": "zip", "2.0.0": "postal_code"}
"""What each schema version that these tools speak calls zip codes."""

_ZIP = "postal_code"  # as `tools` calls it


def retail_toolkit(schema_version: str) -> Toolkit:
    """The tools under a schema version, made once in a process.

    Raises:
        UnknownNameError: These tools do not speak that version.
    """
    if type(schema_version) is not str or schema_version not in ZIP_NAMES:
        raise UnknownNameError("version of the retail schema", schema_version, ZIP_NAMES)
    return _toolkit(schema_version)


@functools.cache
def _toolkit(schema_version: str) -> Toolkit:
    schema = load_schema("retail", schema_version)
    names = [name for name, tool in schema.tools.items() if tool.effect != "message"]
    return Toolkit(schema, {name: _bound(TOOLS[name], ZIP_NAMES[schema_version]) for name in names})


def _bound(tool: Callable[..., Answer], zip_name: ZipName) -> ToolFunction:
    """The tool as `(database, **parameters of the schema) -> JSON value | Refusal`."""
    signature = inspect.signature(tool)
    renames = _ZIP in signature.parameters and zip_name != _ZIP

    def call(database: Database, **arguments: Any) -> Any:  # noqa: ANN401 - JSON values
        if renames:
            arguments[_ZIP] = arguments.pop(zip_name)
        return _shown(database, tool(database, **arguments), zip_name)

    parameters = [
        each.replace(name=zip_name) if each.name == _ZIP else each for each in signature.parameters.values()
    ]
    call.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]  # as wraps does
    call.__name__, call.__doc__ = tool.__name__, tool.__doc__
    return call


def _shown(database: Database, answer: Answer, zip_name: ZipName) -> Any:  # noqa: ANN401
    if isinstance(answer, Order):
        return JsonText(renderer(base_of(database), zip_name).order_text(database, answer))
    if isinstance(answer, Customer):
        return JsonText(renderer(base_of(database), zip_name).user_text(database, answer))
    return answer.refusal if isinstance(answer, No) else answer
