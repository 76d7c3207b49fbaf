"""The tools under a schema version: parameters renamed and rows rendered as that version says."""

import functools
from typing import Any

from tool_envs.database import Database
from tool_envs.errors import UnknownNameError
from tool_envs.retail.codes import ZipName, base_of, renderer
from tool_envs.retail.refusals import No
from tool_envs.retail.rows import Customer, Order
from tool_envs.retail.tools import TOOLS, Answer
from tool_envs.schema import load_schema
from tool_envs.service.tools import versioned_toolkit
from tool_envs.toolkit import JsonText, Toolkit

ZIP_NAMES: dict[str, ZipName] = {"1.0.0": "zip", "1.1.0": "zip", "2.0.0": "postal_code"}
"""What each schema version that these tools speak calls zip codes."""


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
    show = functools.partial(_shown, ZIP_NAMES[schema_version])
    return versioned_toolkit(schema, TOOLS, {"postal_code": "zip"}, show)


def _shown(zip_name: ZipName, database: Database, answer: Answer) -> Any:  # noqa: ANN401
    if isinstance(answer, Order):
        return JsonText(renderer(base_of(database), zip_name).order_text(database, answer))
    if isinstance(answer, Customer):
        return JsonText(renderer(base_of(database), zip_name).user_text(database, answer))
    return answer.refusal if isinstance(answer, No) else answer
