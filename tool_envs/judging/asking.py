"""How a model is asked to judge, and how its answer is read: strictly, for rollouts may hold answers too."""

import re
from collections.abc import Mapping, Sequence
from typing import Protocol

from tool_envs.chat import ContextOverflowError
from tool_envs.json_values import parse_json
from tool_envs.judging.transcript import quote
from tool_envs.messages import Json

PROMPT_VERSION = "1.0.0"
"""Goes up with any change of what models are asked."""


class Reply(Protocol):
    """What a chat model replied."""

    @property
    def text(self) -> str:
        """What the message says."""


class ChatModel(Protocol):
    """A client of a chat model, such as `tool_envs.chat.ChatClient`."""

    model: str

    async def complete(
        self, messages: Sequence[Mapping[str, Json]], *, response_format: Mapping[str, Json] | None = None
    ) -> Reply:
        """The model's reply to a conversation.

        Raises:
            InfrastructureError: There is none.
            ContextOverflowError: The conversation does not fit into the model's context.
        """


class ChatAsking:
    """A judge that asks a model behind an OpenAI-compatible endpoint.

    Its version names the model, and the version of what it is asked.

    Args:
        client: The client of the model.
    """

    name = "chat"

    def __init__(self, client: ChatModel) -> None:
        self.version = f"{client.model}, prompt {PROMPT_VERSION}"
        self._client = client

    async def ask(self, messages: Sequence[Mapping[str, Json]], form: Mapping[str, Json]) -> str:
        """The model's reply as text; empty where rollouts are too long for it to read.

        Raises:
            InfrastructureError: There is no reply.
        """
        try:
            return (await self._client.complete(messages, response_format=form)).text
        except ContextOverflowError:
            return ""


def asking(instructions: str, shown: Json) -> list[dict[str, Json]]:
    """A conversation that asks about data: instructions by the system, and the data quoted by the user."""
    return [{"role": "system", "content": instructions}, {"role": "user", "content": quote(shown)}]


def reply_format(name: str, properties: dict[str, Json]) -> dict[str, Json]:
    """OpenAI's `response_format` for an object that has all of these members, and no other."""
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    return {"type": "json_schema", "json_schema": {"name": name, "strict": True, "schema": schema}}


_FENCE = re.compile(r"```(?:json)?\s*\n(.*)\n\s*```", re.DOTALL)


def read_object(reply: str) -> Json:
    """The JSON value that a reply is, behind its thought and in a code fence if it has them; None: it is not.

    An object that only stands somewhere in a text is not looked for: it may be one that a rollout held.
    """
    text = reply.rpartition("</think>")[2].strip()
    fenced = _FENCE.fullmatch(text)
    try:
        return parse_json(fenced[1] if fenced else text)
    except (ValueError, RecursionError):
        return None
