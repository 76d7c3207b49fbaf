"""Prompts of a conversation that grows, in tokens of which none is tokenised twice.

The first prompt is rendered as a whole. After that only what came since the agent's last turn is rendered
and tokenised, and added to the very tokens that were sent and sampled. So a template may rewrite earlier
turns (cut out their thoughts, say): the model goes on with what it wrote.
"""

from collections.abc import Sequence
from typing import Any

from tool_envs.errors import UsageError

_MARK = "TURN5e0c1f"
"""Stands for what the agent wrote, in a conversation that is made only to see what follows it."""


class GrowingChat:
    """A chat template of `transformers` for conversations that grow.

    Args:
        tokenizer: A tokenizer with a chat template.
        ends: The tokens that end a turn of the agent.
        options: More of what the template takes, such as `enable_thinking`.

    Raises:
        UsageError: There is not one chat template.
    """

    def __init__(self, tokenizer: Any, ends: Sequence[int], options: dict[str, Any]) -> None:  # noqa: ANN401
        if not isinstance(tokenizer.chat_template, str):
            raise UsageError(
                "Expected a tokenizer with one chat template, as a text, not with "
                f"{type(tokenizer.chat_template).__name__}."
            )
        self._tokenizer, self._options = tokenizer, options
        self.ends = tuple(tokenizer.decode([end]) for end in ends)
        """The texts that end a turn."""

    def begin(self, messages: Sequence[dict[str, Any]], tools: Sequence[dict[str, Any]]) -> list[int]:
        """The tokens of the first prompt."""
        text = self._render(messages, tools=list(tools) or None)
        return self._encode(text)

    def go_on(self, messages: Sequence[dict[str, Any]]) -> list[int]:
        """The tokens that follow a turn of the agent, which ended by itself.

        Args:
            messages: Those since that turn; of users and tools, at least one.

        Raises:
            UsageError: The template leaves out what the agent writes, or ends its turns with none of the
                tokens at which a model stops.
        """
        written: dict[str, Any] = {"role": "assistant", "content": _MARK}
        if calls := [_call(message) for message in messages if message["role"] == "tool"]:
            calls[-1]["function"]["arguments"] = {"mark": _MARK}
            written = {"role": "assistant", "content": "", "tool_calls": calls}
        text = self._render([{"role": "user", "content": "."}, written, *messages])
        after = text.partition(_MARK)[2]
        found = [(after.find(end), end) for end in self.ends if end in after]
        if not found:
            raise UsageError(f"The chat template ends the agent's turns with none of {', '.join(self.ends)}.")
        place, end = min(found)
        return self._encode(after[place + len(end) :])

    def _render(self, messages: Sequence[dict[str, Any]], **more: Any) -> str:  # noqa: ANN401
        text: str = self._tokenizer.apply_chat_template(
            list(messages), tokenize=False, add_generation_prompt=True, **more, **self._options
        )
        return text

    def _encode(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer(text, add_special_tokens=False)["input_ids"]
        return ids


def since_last_turn(messages: Sequence[dict[str, Any]]) -> Sequence[dict[str, Any]]:
    """The messages after the agent's last one."""
    last = max((n for n, message in enumerate(messages) if message["role"] == "assistant"), default=-1)
    return messages[last + 1 :]


def _call(answer: dict[str, Any]) -> dict[str, Any]:
    """A call that a tool message answers."""
    call = {"type": "function", "function": {"name": answer["name"], "arguments": {}}}
    return {**call, "id": answer["tool_call_id"]} if "tool_call_id" in answer else call
