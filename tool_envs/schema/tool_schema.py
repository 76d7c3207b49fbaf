"""Tool schemas: the versioned action space of a domain, loaded, checked, compared, and shown to a model."""

import copy
import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.resources.abc import Traversable
from types import MappingProxyType
from typing import Any, Literal, Self

import jsonschema
import jsonschema_rs

from tool_envs.errors import DataFileError, UnknownNameError, UsageError
from tool_envs.json_values import is_json
from tool_envs.messages import CONTENT, RESPOND, Json
from tool_envs.schema.diff import SchemaDiff, compare_schemas
from tool_envs.schema.files import SchemaFiles, file_digest, read_json, shipped_files
from tool_envs.schema.problems import describe_problems
from tool_envs.schema.profile import (
    Schema,
    check_document,
    inline,
    references,
    with_python_patterns,
    without_annotations,
)

Effect = Literal["read", "write", "message", "end"]
"""What a call does: changes nothing; changes the database; speaks to the user; ends the episode."""

FOREIGN_FORMAT = "openai_tools/1.0.0"
"""Format of a document that keeps another project's OpenAI-style tool list as it is."""
_FOREIGN_EFFECTS: dict[str, Effect] = {"read": "read", "write": "write", "end": "end"}
_ANY_TEXT: Schema = {"type": "string"}


@dataclass(frozen=True)
class Tool:
    """One tool of a schema. Its dicts are shared: nobody changes them.

    Attributes:
        name: Its name in calls.
        description: What the agent is told about it.
        effect: What a call does.
        listed: False when it can be called but is not shown in the tool list.
        parameters: JSON Schema of the arguments, without references.
        result: JSON Schema of what it answers when it succeeds, without references.
    """

    name: str
    description: str
    effect: Effect
    listed: bool
    parameters: Schema = field(hash=False)
    result: Schema = field(hash=False)

    def accepts(self, arguments: object) -> bool:
        """Whether the arguments are valid; False, never an exception, for whatever is no JSON value."""
        try:
            return is_json(arguments) and self._validator.is_valid(arguments)
        except (ValueError, RecursionError):  # nested deeper than the validator goes
            return False

    def accepts_reference(self, arguments: object) -> bool:
        """The verdict of the reference validator, about 200 times slower; `accepts` must agree."""
        return is_json(arguments) and self._reference.is_valid(arguments)

    def problems(self, arguments: Json) -> str:
        """What is wrong with the arguments, in one bounded line for the agent; empty when they are valid.

        At most 5 problems as `$.path: what`, sorted, with values cut to 80 characters. The text is ours and
        stays the same for the same schema and arguments.
        """
        if self.accepts(arguments):
            return ""
        found = describe_problems(self.parameters, arguments) if is_json(arguments) else "$: not a JSON value"
        return found or "$: not valid for the parameters of this tool"

    @cached_property
    def _validator(self) -> jsonschema_rs.Draft202012Validator:
        return jsonschema_rs.Draft202012Validator(self.parameters)

    @cached_property
    def _reference(self) -> jsonschema.Draft202012Validator:
        return jsonschema.Draft202012Validator(with_python_patterns(self.parameters))

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        # Validators cannot be pickled; the copy compiles its own when it needs them.
        return type(self), (
            self.name,
            self.description,
            self.effect,
            self.listed,
            self.parameters,
            self.result,
        )

    def __deepcopy__(self, memo: object) -> Self:
        return self


class ToolSchema:
    """The tools of a domain in one version: immutable, equal to another when the digests are equal.

    Made by `load_schema`, `from_file`, `from_document` or `from_openai`.

    Attributes:
        domain: The domain's name.
        version: `major.minor.patch`, or any text for a foreign tool list.
        sha256: Digest of the document's canonical JSON.
        tools: The tools by name, in the document's order.
    """

    def __init__(self, document: Json, tools: Sequence[Tool], sha256: str) -> None:
        self._document = document
        self.domain: str = document["domain"]
        self.version: str = document["version"]
        self.sha256 = sha256
        self.tools: Mapping[str, Tool] = MappingProxyType({tool.name: tool for tool in tools})

    @classmethod
    def from_file(cls, path: Traversable) -> Self:
        """The schema that a file describes, for domains outside of this package.

        Args:
            path: The file: a `pathlib.Path`, or one below what `importlib.resources.files` gives.

        Raises:
            DataFileError: The file is missing or not JSON, or what it holds is no tool schema.
        """
        return cls.from_document(read_json(path), str(path))

    @classmethod
    def from_document(cls, document: Json, path: str) -> Self:
        """The schema that a document in memory describes.

        Args:
            document: A JSON object of the form `tool_schema/1.0.0`; it is copied.
            path: Where it comes from, for errors.

        Raises:
            DataFileError: The document breaks the meta schema, or its references lead nowhere or in a circle.
        """
        check_document(document, path)
        sha256 = file_digest(document, path)
        return cls(copy.deepcopy(document), _own_tools(document, path), sha256)

    @classmethod
    def from_openai(
        cls, domain: str, version: str, tools: Sequence[dict[str, Json]], effects: Mapping[str, str]
    ) -> Self:
        """The schema of another project's tools, which stay exactly as they are, and an unlisted `respond`.

        Args:
            domain: The domain's name.
            version: Any text that names the version.
            tools: OpenAI-style tools, `{"type": "function", "function": {...}}`; they are copied.
            effects: For each tool's name: `read`, `write` or `end`.

        Raises:
            UsageError: A tool has another form, two have one name, or the effects are not those of the tools.
        """
        document: Json = {
            "format": FOREIGN_FORMAT,
            "domain": domain,
            "version": version,
            "effects": dict(effects),
            "tools": copy.deepcopy(list(tools)),
        }
        made = _foreign_tools(document["tools"], document["effects"])
        return cls(document, made, file_digest(document, f"the tools of {domain} {version}"))

    @property
    def document(self) -> Json:
        """A fresh copy of the document."""
        return copy.deepcopy(self._document)

    @property
    def description(self) -> str:
        """What the domain is about; empty for a foreign tool list."""
        return str(self._document.get("description", ""))

    def to_openai(self) -> list[dict[str, Json]]:
        """The listed tools as OpenAI-style tools, fresh objects, in order.

        References are put in their place and our annotations left out; a foreign tool list comes out as it
        went in.
        """
        if self._document["format"] == FOREIGN_FORMAT:
            return copy.deepcopy(self._document["tools"])
        return [_openai_tool(tool) for tool in self.tools.values() if tool.listed]

    def diff(self, other: "ToolSchema") -> SchemaDiff:
        """What changes when `other` takes the place of this schema."""
        return compare_schemas(self, other)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ToolSchema) and self.sha256 == other.sha256

    def __hash__(self) -> int:
        return hash(self.sha256)

    def __repr__(self) -> str:
        return f"ToolSchema({self.domain} {self.version}, {len(self.tools)} tools, sha256 {self.sha256[:12]})"

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        return type(self), (self._document, tuple(self.tools.values()), self.sha256)

    def __deepcopy__(self, memo: object) -> Self:
        return self


def _own_tools(document: Json, path: str) -> list[Tool]:
    definitions = document.get("$defs", {})
    for name, definition in definitions.items():
        inline(definition, definitions, path, (name,))
    return [
        Tool(
            name=tool["name"],
            description=tool["description"],
            effect=tool["effect"],
            listed=tool.get("listed", True),
            parameters=inline(tool["parameters"], definitions, path),
            result=inline(tool["result"], definitions, path),
        )
        for tool in copy.deepcopy(document["tools"])
    ]


def _foreign_tools(tools: list[Json], effects: Mapping[str, str]) -> list[Tool]:
    made = [_foreign_tool(tool, effects) for tool in tools]
    names = [tool.name for tool in made]
    for name in effects:
        if name not in names:
            raise UnknownNameError("tool in the effects", name, names)
    if len({*names, RESPOND}) <= len(names):
        raise UsageError(f"The tools need distinct names, none of them {RESPOND}; got: {', '.join(names)}.")
    parameters = {
        "type": "object",
        "properties": {CONTENT: _ANY_TEXT},
        "required": [CONTENT],
        "additionalProperties": False,
    }
    respond = Tool(
        RESPOND, "Say something to the user and get their reply.", "message", False, parameters, _ANY_TEXT
    )
    return [*made, respond]


def _foreign_tool(tool: Json, effects: Mapping[str, str]) -> Tool:
    function = tool.get("function") if isinstance(tool, dict) and tool.get("type") == "function" else None
    if not (isinstance(function, dict) and isinstance(function.get("name"), str)):
        form = '{"type": "function", "function": {"name": ...}}'
        raise UsageError(f"Expected a tool of the form {form}, got {str(tool)[:200]}.")
    name, parameters = function["name"], function.get("parameters", {"type": "object", "properties": {}})
    effect = _FOREIGN_EFFECTS.get(effects.get(name, ""))
    if effect is None:
        raise UnknownNameError(f"effect of the tool {name}", effects.get(name), _FOREIGN_EFFECTS)
    _check_foreign_parameters(name, parameters)
    return Tool(name, function.get("description") or "", effect, True, parameters, _ANY_TEXT)


def _check_foreign_parameters(name: str, parameters: Json) -> None:
    if not isinstance(parameters, dict) or any(not ref.startswith("#") for ref in references(parameters)):
        raise UsageError(
            f"The parameters of the tool {name} must be an object without references to other documents."
        )
    try:
        jsonschema_rs.Draft202012Validator(parameters)
    except ValueError as error:
        raise UsageError(f"The parameters of the tool {name} are no JSON Schema: {error}") from None


def _openai_tool(tool: Tool) -> dict[str, Json]:
    parameters = copy.deepcopy(without_annotations(tool.parameters))
    return {
        "type": "function",
        "function": {"name": tool.name, "description": tool.description, "parameters": parameters},
    }


def load_schema(domain: str, version: str) -> ToolSchema:
    """A released schema that comes with this package. It is read and checked once in a process.

    Args:
        domain: The domain's name, such as `retail`.
        version: `major.minor.patch`; there is no default and no "newest", so that scores stay comparable.

    Raises:
        UnknownNameError: There is no such domain or version; the message lists what there is.
        DataFileError: The file is missing, damaged, or has no digest in `LOCK.json` yet.
        TamperedFileError: The file is not the one that was released.
    """
    if type(domain) is not str or type(version) is not str:
        shipped_files().check_name(domain, version)  # what is no text need not be hashable
    return _load_shipped(domain, version)


@functools.cache
def _load_shipped(domain: str, version: str) -> ToolSchema:
    return read_schema(shipped_files(), domain, version)


def read_schema(files: SchemaFiles, domain: str, version: str) -> ToolSchema:
    """A released schema of some folder of schema files, read anew; raises as `load_schema` does."""
    key = files.check_name(domain, version)
    return _schema_of_file(files.read_released(key), files, key)


def read_unreleased_schema(files: SchemaFiles, key: str) -> ToolSchema:
    """The schema in a file, whether it is released or not.

    Raises:
        DataFileError: The file is missing or damaged, or speaks of another domain or version than its name.
    """
    return _schema_of_file(files.read(key), files, key)


def _schema_of_file(document: Json, files: SchemaFiles, key: str) -> ToolSchema:
    path = str(files.path(key))
    schema = ToolSchema.from_document(document, path)
    if f"{schema.domain}/{schema.version}" != key:
        raise DataFileError(path, f"the file says that it is {schema.domain} {schema.version}")
    return schema
