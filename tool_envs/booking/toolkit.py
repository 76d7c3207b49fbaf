"""The tools under a schema version: parameters renamed and rows rendered as that version says."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

from tool_envs.booking.codes import PaymentsName, base_of, renderer
from tool_envs.booking.refusals import No
from tool_envs.booking.rows import Customer, Reservation
from tool_envs.booking.tools import TOOLS, Answer
from tool_envs.database import Database
from tool_envs.errors import UnknownNameError
from tool_envs.schema import load_schema
from tool_envs.toolkit import JsonText, ToolFunction, Toolkit

PAYMENTS_NAMES: dict[str, PaymentsName] = {
    "1.0.0": "payment_methods",
    "1.1.0": "payment_methods",
    "2.0.0": "payments",
}
"""What each schema version that these tools speak calls payments, and the payment methods of a profile."""

_PAYMENTS: PaymentsName = "payments"  # as `tools` calls it


def booking_toolkit(schema_version: str) -> Toolkit:
    """The tools under a schema version, made once in a process.

    Raises:
        UnknownNameError: These tools do not speak that version.
    """
    if type(schema_version) is not str or schema_version not in PAYMENTS_NAMES:
        raise UnknownNameError("version of the booking schema", schema_version, PAYMENTS_NAMES)
    return _toolkit(schema_version)


@functools.cache
def _toolkit(schema_version: str) -> Toolkit:
    schema = load_schema("booking", schema_version)
    names = [name for name, tool in schema.tools.items() if tool.effect != "message"]
    return Toolkit(schema, {name: _bound(TOOLS[name], PAYMENTS_NAMES[schema_version]) for name in names})


def _bound(tool: Callable[..., Answer], payments_name: PaymentsName) -> ToolFunction:
    """The tool as `(database, **parameters of the schema) -> JSON value | Refusal`."""
    signature = inspect.signature(tool)
    renames = _PAYMENTS in signature.parameters and payments_name != _PAYMENTS

    def call(database: Database, **arguments: Any) -> Any:  # noqa: ANN401 - JSON values
        if renames:
            arguments[_PAYMENTS] = arguments.pop(payments_name)
        return _shown(database, tool(database, **arguments), payments_name)

    parameters = [
        each.replace(name=payments_name) if each.name == _PAYMENTS else each
        for each in signature.parameters.values()
    ]
    call.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]  # as wraps does
    call.__name__, call.__doc__ = tool.__name__, tool.__doc__
    return call


def _shown(database: Database, answer: Answer, payments_name: PaymentsName) -> Any:  # noqa: ANN401
    if isinstance(answer, Reservation):
        return JsonText(renderer(base_of(database), payments_name).reservation_text(database, answer))
    if isinstance(answer, Customer):
        return JsonText(renderer(base_of(database), payments_name).user_text(answer))
    return answer.refusal if isinstance(answer, No) else answer
