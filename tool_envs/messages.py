"""The values that pass between agent, environment and user: frozen, comparable, free of behaviour."""

from typing import Any, Literal, TypeAlias

import msgspec

Json: TypeAlias = Any
"""A JSON value: None, bool, int, finite float, str, list of these, dict of these with str keys."""

RESPOND = "respond"
"""The tool through which an agent talks to the user; its one parameter is `CONTENT`."""
CONTENT = "content"


class ToolCall(msgspec.Struct, frozen=True):
    """One call of a tool: `arguments` are a JSON object; `id` is the one that the model gave, or empty."""

    name: str
    arguments: dict[str, Json]
    id: str = ""


class ToolResult(msgspec.Struct, frozen=True):
    """What a tool answered: the text that the agent sees, and the code of its mistake, if it made one."""

    content: str
    code: str | None = None


class Message(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One message of a conversation.

    Attributes:
        role: Who wrote it: the simulated user, the agent, or the environment in a tool's name.
        content: What was said to the other side (assistant, user) or answered by a tool.
        name: For `tool`: the tool's name; for `user`: "user".
        tool_calls: For `assistant`: the calls, in order; empty when the agent only spoke.
        tool_call_id: For `tool` and `user`: the id of the call that it answers, if that had one.
        code: For `tool`: the stable code of the agent's mistake, else None.
        aside: For `assistant`: text beside a call, seen by nobody; of what could not be read, all of it.
        thought: For `assistant`: what stood in `<think>`, seen by nobody.
        acts: For `user`: the dialogue acts behind the words; for rules only, in no record.
        action: For `assistant`: the action exactly as it was given to `step` (text, or a JSON value).
    """

    role: Literal["user", "assistant", "tool"]
    content: str
    name: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""
    code: str | None = None
    aside: str = ""
    thought: str = ""
    acts: tuple[Json, ...] = ()
    action: Json = None
