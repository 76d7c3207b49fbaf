"""What a judge is shown of an episode: what was seen, said and done, as data that nothing in it can leave."""

import json

from tool_envs.messages import Json
from tool_envs.trajectory.record import AssistantMessage, RecordedMessage, Trajectory


def transcript(trajectory: Trajectory) -> list[dict[str, Json]]:
    """The conversation, without thoughts and asides, which nobody saw, and without rewards and versions."""
    return [_show(message) for message in trajectory.messages]


def quote(value: Json) -> str:
    """A JSON value as one line of ASCII in which no text of it can look like anything but a string.

    There is no line break in it, no quotation mark that a text brought along, and no `<` or `>`, so neither a
    tag nor a chat template's own token.
    """
    text = json.dumps(value, sort_keys=True)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("\x7f", "\\u007f")


def _show(message: RecordedMessage) -> dict[str, Json]:
    if not isinstance(message, AssistantMessage):
        return {"from": message.name if message.name == "user" else "tool", "text": message.content}
    shown: dict[str, Json] = {"from": "agent"}
    if message.content:
        shown["text"] = message.content
    if message.tool_calls:
        shown["calls"] = [{"tool": call.name, "arguments": call.arguments} for call in message.tool_calls]
    return shown
