"""What a model is to those who talk to it, wherever it runs."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from tool_envs.chat.reply import ChatReply
from tool_envs.messages import Json


class ChatModel(Protocol):
    """Where replies come from: a `ChatClient`, say."""

    model: str
    """The model's name."""

    async def complete(
        self,
        messages: Sequence[Mapping[str, Json]],
        *,
        tools: Sequence[Mapping[str, Json]] = (),
        response_format: Mapping[str, Json] | None = None,
        arguments: Mapping[str, Json] | None = None,
    ) -> ChatReply:
        """See `ChatClient.complete`."""
