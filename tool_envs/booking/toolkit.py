"""The tools under a schema version: parameters renamed and rows rendered as that version says."""

import functools
from typing import Any

from tool_envs.booking.codes import PaymentsName, base_of, renderer
from tool_envs.booking.refusals import No
from tool_envs.booking.rows import Customer, Reservation
from tool_envs.booking.tools import TOOLS, Answer
from tool_envs.database import Database
from tool_envs.errors import UnknownNameError
from tool_envs.schema import load_schema
from tool_envs.service.tools import versioned_toolkit
from tool_envs.toolkit import JsonText, Toolkit

PAYMENTS_NAMES: dict[str, PaymentsName] = {
    "1.0.0": "payment_methods",
    "1.1.0": "payment_methods",
    "2.0.0": "payments",
}
"""What each schema version that these tools speak calls payments, and the payment methods of a profile."""


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
    show = functools.partial(_shown, PAYMENTS_NAMES[schema_version])
    return versioned_toolkit(schema, TOOLS, {"payments": "payment_methods"}, show)


def _shown(payments_name: PaymentsName, database: Database, answer: Answer) -> Any:  # noqa: ANN401
    if isinstance(answer, Reservation):
        return JsonText(renderer(base_of(database), payments_name).reservation_text(database, answer))
    if isinstance(answer, Customer):
        return JsonText(renderer(base_of(database), payments_name).user_text(answer))
    return answer.refusal if isinstance(answer, No) else answer
