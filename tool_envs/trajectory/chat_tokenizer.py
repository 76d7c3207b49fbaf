"""What turns a conversation into tokens: a chat template with its tokeniser, and the form that they take."""

from collections.abc import Sequence
from typing import Any, Literal, Protocol

from tool_envs.chat_form import to_chat
from tool_envs.messages import Message, ToolCall
from tool_envs.trajectory.record import AssistantMessage, RecordedMessage, Trajectory, UserMessage


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


def chat_of(trajectory: Trajectory) -> list[dict[str, Any]]:
    """The conversation of a record in OpenAI's chat form, one dict for each message."""
    return [chat_message(message) for message in trajectory.messages]


def chat_message(recorded: RecordedMessage) -> dict[str, Any]:
    """A recorded message in OpenAI's chat form: see `tool_envs.chat_form`. Thoughts are left out."""
    (message,) = to_chat([_as_message(recorded)])
    return message


def _as_message(recorded: RecordedMessage) -> Message:
    if isinstance(recorded, AssistantMessage):
        calls = tuple(ToolCall(call.name, call.arguments, call.id) for call in recorded.tool_calls)
        return Message(role="assistant", content=recorded.content, tool_calls=calls, aside=recorded.aside)
    name, content, call_id = recorded.name, recorded.content, recorded.tool_call_id
    role: Literal["user", "tool"] = "user" if isinstance(recorded, UserMessage) else "tool"
    return Message(role=role, content=content, name=name, tool_call_id=call_id)
