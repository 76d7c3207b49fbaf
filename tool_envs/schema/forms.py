"""The forms of our own documents (records, slices, rubrics ...): JSON Schemas under `schemas/meta`."""

import functools

import jsonschema
import jsonschema_rs

from tool_envs.errors import DataFileError
from tool_envs.messages import Json
from tool_envs.schema.files import shipped_files


def check_form(kind: str, version: str, value: Json, path: str) -> None:
    """Refuse a value that is not of a released form.

    Args:
        kind: Kind of document: a folder of `schemas/meta`, such as `slice`.
        version: Version of its form.
        value: The JSON value.
        path: Where it was read, for errors.

    Raises:
        DataFileError: It is not of that form; says where and why.
    """
    problem = form_problem(f"meta/{kind}/{version}", value, f"the {kind}")
    if problem is not None:
        raise DataFileError(path, problem)


def form_problem(key: str, value: Json, what: str) -> str | None:
    """The first place at which a value is not of a form, and why; None: it is of that form.

    Args:
        key: The form, such as `meta/trajectory/2.0.0`.
        value: The value.
        what: What the value is called where all of it is meant: "the record".
    """
    try:
        for problem in _validator(key).iter_errors(value):
            where = "/".join(map(str, problem.instance_path)) or what
            return f"{where}: {problem.message:.300}"
        return None
    except UnicodeEncodeError:  # it cannot write down a problem of a value with lone surrogates in it
        form = shipped_files().read_released(key)
        for slow_problem in jsonschema.Draft202012Validator(form).iter_errors(value):
            where = "/".join(map(str, slow_problem.absolute_path)) or what
            return f"{where}: {slow_problem.message:.300}"
        return f"not of the form {key}"


@functools.cache
def _validator(key: str) -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(shipped_files().read_released(key))
