"""What turns a conversation into tokens: a chat template with its tokeniser, and the form that they take."""

import bisect
import json
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

from tool_envs.chat_form import to_chat
from tool_envs.messages import Message, ToolCall
from tool_envs.trajectory.record import (
    AssistantMessage,
    RecordedMessage,
    Trajectory,
    UserMessage,
)


class ChatTokenizer(Protocol):
    """A chat template and a tokeniser; what every prompt begins with (orders, tools) is left to the template.

    `tool_envs.integrations.transformers` makes one of a folder with a tokeniser of Hugging Face's.

    Attributes:
        end: The text with which the model ends its turn, which is trained on: `<|im_end|>`, say.
    """

    end: str

    def render(self, messages: list[dict[str, Any]], add_generation_prompt: bool) -> str:
        """The text of a conversation in OpenAI's chat form, up to where the model begins to write or not.

        Raises:
            MaskProofError: The template refuses the conversation.
        """
        ...

    def encode(self, text: str) -> Sequence[tuple[int, int, int]]:
        """The tokens of a text: the id of each, and from and up to which character it stands for the text."""
        ...


def join_composed(text: str, encoded: Sequence[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """The tokens of a text, with characters that were composed with the one before them in its tokens.

    A tokeniser that composes characters first (Unicode's NFC: an `e` and an accent become one) gives tokens
    the place of the first alone, so that no token seems to stand for the accent.
    """
    starts = sorted({start for _, start, end in encoded if start < end} | {len(text)})
    composed = {}
    for end in {end for _, start, end in encoded if start < end} - set(starts):
        following = starts[bisect.bisect(starts, end)]
        if len(unicodedata.normalize("NFC", text[end - 1 : following])) == 1:
            composed[end] = following
    return [(number, start, composed.get(end, end) if start < end else end) for number, start, end in encoded]


def chat_of(trajectory: Trajectory) -> list[dict[str, Any]]:
    """The conversation of a record in OpenAI's chat form, one dict for each message."""
    return [chat_message(message) for message in trajectory.messages]


def chat_message(recorded: RecordedMessage) -> dict[str, Any]:
    """A recorded message in OpenAI's chat form: see `tool_envs.chat_form`. Thoughts are left out."""
    (message,) = to_chat([_as_message(recorded)])
    return message


def as_templates_expect(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message in OpenAI's chat form as chat templates expect it: arguments of calls are objects."""
    if not message.get("tool_calls"):
        return dict(message)
    calls = [
        {**call, "function": {**call["function"], "arguments": json.loads(call["function"]["arguments"])}}
        for call in message["tool_calls"]
    ]
    return {**message, "content": message["content"] or "", "tool_calls": calls}


def _as_message(recorded: RecordedMessage) -> Message:
    if isinstance(recorded, AssistantMessage):
        calls = tuple(ToolCall(call.name, call.arguments, call.id) for call in recorded.tool_calls)
        return Message(role="assistant", content=recorded.content, tool_calls=calls, aside=recorded.aside)
    name, content, call_id = recorded.name, recorded.content, recorded.tool_call_id
    role: Literal["user", "tool"] = "user" if isinstance(recorded, UserMessage) else "tool"
    return Message(role=role, content=content, name=name, tool_call_id=call_id)
