"""The forms of our own documents (records, slices, manifests): JSON Schemas under `schemas/meta`."""

import functools

import jsonschema
import jsonschema_rs

from tool_envs.errors import DataFileError
from tool_envs.messages import Json
from tool_envs.schema.files import shipped_files


def check_form(kind: str, version: str, value: Json, path: str, line: int | None = None) -> None:
    """Refuse a value that is not of a released form.

    Args:
        kind: Kind of document: a folder of `schemas/meta`, such as `trajectory`.
        version: Version of its form.
        value: The JSON value.
        path: Where it was read, for errors.
        line: In which line.

    Raises:
        DataFileError: It is not of that form; says where and why.
    """
    problem = form_problem(kind, version, value)
    if problem is not None:
        raise DataFileError(path, problem, line)


def form_problem(kind: str, version: str, value: Json) -> str | None:
    """The first place at which a value is not of a form, and why; None: it is of that form."""
    try:
        for problem in _validator(kind, version).iter_errors(value):
            where = "/".join(map(str, problem.instance_path)) or f"the {kind}"
            return f"{where}: {problem.message:.300}"
        return None
    except UnicodeEncodeError:  # it cannot write down a problem of a value with lone surrogates in it
        form = shipped_files().read_released(f"meta/{kind}/{version}")
        for slow_problem in jsonschema.Draft202012Validator(form).iter_errors(value):
            where = "/".join(map(str, slow_problem.absolute_path)) or f"the {kind}"
            return f"{where}: {slow_problem.message:.300}"
        return f"not of the form {kind}/{version}"


@functools.cache
def _validator(kind: str, version: str) -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(shipped_files().read_released(f"meta/{kind}/{version}"))
