"""Arrays documents: how the parameters of a domain's tools become choices, in a locked file of their own."""

import functools
from importlib.resources.abc import Traversable

import jsonschema_rs

from tool_envs.errors import DataFileError, UnknownNameError
from tool_envs.json_values import is_json
from tool_envs.messages import Json
from tool_envs.schema.files import SchemaFiles, read_json, shipped_files
from tool_envs.schema.profile import Schema, meta_problem

META_KEY = "meta/arrays/1.0.0"


def load_arrays(domain: str, number: int) -> Json:
    """A released arrays document that comes with this package: `schemas/<domain>/arrays-<number>.json`.

    Raises:
        UnknownNameError: There is none of that domain and number; the message lists what there is.
        DataFileError: The file is damaged, or has no digest in `LOCK.json` yet.
        TamperedFileError: The file is not the one that was released.
    """
    files = shipped_files()
    key = f"{domain}/arrays-{number}"
    if key not in files.arrays_keys():
        raise UnknownNameError("arrays document", key, files.arrays_keys())
    document = files.read_released(key)
    check_arrays_file(files, key, document)
    return document


def read_arrays(path: Traversable) -> Json:
    """The arrays document in a file, for domains outside of this package.

    Raises:
        DataFileError: The file is missing or not JSON, or what it holds is no arrays document.
    """
    document = read_json(path)
    check_arrays(document, str(path))
    return document


def check_arrays(document: Json, path: str) -> None:
    """Check an arrays document against its meta schema.

    Args:
        document: What was read.
        path: Where it comes from, for errors.

    Raises:
        DataFileError: It names the file, the JSON path in it, and the problem.
    """
    if not is_json(document):
        raise DataFileError(path, "the document is not a JSON value")
    if not _meta_validator().is_valid(document):
        raise DataFileError(path, meta_problem(document, _meta_schema()))


def check_arrays_file(files: SchemaFiles, key: str, document: Json) -> None:
    """Check the document of a file in a folder of schema files.

    Raises:
        DataFileError: As of `check_arrays`, or the document speaks of another domain than its name.
    """
    path = str(files.path(key))
    check_arrays(document, path)
    if document["domain"] != key.split("/")[0]:
        raise DataFileError(path, f"the file says that it is of the domain {document['domain']}")


@functools.cache
def _meta_schema() -> Schema:
    schema: Schema = shipped_files().read_released(META_KEY)
    return schema


@functools.cache
def _meta_validator() -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(_meta_schema())
