"""The record of one episode, at the level of messages."""

import functools
import json

import jsonschema_rs
import msgspec

from tool_envs.errors import DataFileError
from tool_envs.messages import Json
from tool_envs.reward import Outcome
from tool_envs.schema.files import shipped_files

FORMAT_VERSION = "1.0.0"
"""The version of the record; its form is `schemas/meta/trajectory/<version>.json`."""


class _Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A closed part of a record."""


class EnvRef(_Part, frozen=True):
    """How to make the environment again; the version is the N of `Name-vN`."""

    id: str
    version: int | None
    kwargs: dict[str, Json]


class SchemaRef(_Part, frozen=True):
    """The tools, and whose descriptions of them the agent saw."""

    domain: str
    version: str
    sha256: str
    interface: str


class TaskRef(_Part, frozen=True):
    """The task, without what solves it."""

    id: str
    digest: str


class SimulatorRef(_Part, frozen=True):
    """The simulated user."""

    name: str
    version: str
    digest: str


class DataRef(_Part, frozen=True):
    """Digest of the data that all episodes start from, and the environment's `data_digest()` at the end."""

    base_digest: str
    final_digest: str


class AgentRef(_Part, frozen=True):
    """Who acted."""

    name: str
    version: str


class PolicyRun(_Part, frozen=True):
    """What one version of the policy wrote: a number of sampled tokens; None: all of it, not counted."""

    version: str
    count: int | None = None


class Call(_Part, frozen=True):
    """A call of a tool; the id is empty when nobody gave it one."""

    name: str
    arguments: dict[str, Json]
    id: str


class UserMessage(_Part, frozen=True, tag_field="role", tag="user"):
    """What the user said. See `tool_envs.messages.Message`."""

    name: str
    content: str
    tool_call_id: str
    trainable: bool


class ToolMessage(_Part, frozen=True, tag_field="role", tag="tool"):
    """What a tool answered. See `tool_envs.messages.Message`."""

    name: str
    content: str
    code: str | None
    tool_call_id: str
    trainable: bool


class AssistantMessage(_Part, frozen=True, tag_field="role", tag="assistant"):
    """What the agent did. See `tool_envs.messages.Message`.

    Attributes:
        content: What was said to the user.
        tool_calls: The calls, in order.
        aside: Text beside a call.
        thought: What stood in `<think>`.
        action: What was given to `step`, exactly.
        trainable: Whether it may be trained on.
        policy_version: Which versions of the policy wrote it; at least one.
    """

    content: str
    tool_calls: tuple[Call, ...]
    aside: str
    thought: str
    action: Json
    trainable: bool
    policy_version: tuple[PolicyRun, ...]


RecordedMessage = UserMessage | ToolMessage | AssistantMessage


class Trajectory(_Part, frozen=True, kw_only=True):
    """One episode: what was seen, said and done, how it ended, and the versions of all that could move it.

    Never holds the answer key: of the task only its id and digest. An episode that failed for its
    infrastructure has no reward, and no message of it is trainable.

    Attributes:
        format_version: The version of this form.
        env: How to make the environment.
        schema: The tools.
        task: The task.
        slice_id: The frozen slice that it belongs to; None: none.
        simulator: The user.
        grader_digest: Digest of what decides the grade.
        data: Digests of the data.
        seed: The seed of `reset`.
        options: The options of `reset`; they name the task by its id.
        agent: Who acted.
        messages: The conversation.
        outcome: How it ended.
        filter_verdict: What a filter for fine-tuning said, which is not a reward; None: none was asked.
        costs: US dollars paid for the models of `agent` and `user`.
    """

    format_version: str = FORMAT_VERSION
    env: EnvRef
    schema: SchemaRef
    task: TaskRef
    slice_id: str | None = None
    simulator: SimulatorRef
    grader_digest: str
    data: DataRef
    seed: int
    options: dict[str, Json]
    agent: AgentRef
    messages: tuple[RecordedMessage, ...]
    outcome: Outcome
    filter_verdict: None = None
    costs: dict[str, float]

    def to_json(self) -> dict[str, Json]:
        """The record as a JSON object."""
        value: dict[str, Json] = json.loads(self.to_line())
        return value

    def to_line(self) -> str:
        """The record as one line of ASCII, which any text survives, lone surrogates too.

        Raises:
            ValueError: It holds what JSON cannot: NaN, or an integer of thousands of digits.
        """
        return json.dumps(msgspec.to_builtins(self), allow_nan=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, value: Json, path: str = "record", line: int | None = None) -> "Trajectory":
        """The record that a JSON object describes.

        Args:
            value: The object.
            path: Where it was read, for errors.
            line: In which line.

        Raises:
            DataFileError: It is of an unknown format version, or not of the form of that version: a policy
                version is missing, say.
        """
        version = value.get("format_version") if isinstance(value, dict) else None
        if version != FORMAT_VERSION:
            raise DataFileError(
                path, f"expected format_version {FORMAT_VERSION!r}, not {version!r:.40}", line
            )
        for problem in _validator().iter_errors(value):
            where = "/".join(map(str, problem.instance_path)) or "the record"
            raise DataFileError(path, f"{where}: {problem.message:.300}", line)
        return msgspec.convert(value, cls)


@functools.cache
def _validator() -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(
        shipped_files().read_released(f"meta/trajectory/{FORMAT_VERSION}")
    )
