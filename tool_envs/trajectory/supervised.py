"""Records without token ids as sequences of tokens, through a chat template, with the proof of their mask.

This is for fine-tuning on what scripted agents and people wrote. What a policy sampled is not tokenised
again: see `tool_envs.trajectory.tokens`.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Literal, Protocol

from tool_envs.chat_form import to_chat
from tool_envs.errors import MaskProofError, UsageError
from tool_envs.messages import Message, ToolCall
from tool_envs.trajectory.record import (
    AssistantMessage,
    RecordedMessage,
    Trajectory,
    UserMessage,
    assistant_messages,
)
from tool_envs.trajectory.tokens import NOT_SAMPLED, TokenSequence


class ChatTokenizer(Protocol):
    """A chat template and a tokeniser; what every prompt begins with (orders, tools) is left to the template.

    With `transformers`: `render` is `apply_chat_template(head + messages, tools=tools, tokenize=False,
    add_generation_prompt=...)`, and `encode` is made of `tokenizer(text, add_special_tokens=False,
    return_offsets_mapping=True)`.

    Attributes:
        end: The text with which the model ends its turn, which is trained on: `<|im_end|>`, say.
    """

    end: str

    def render(self, messages: list[dict[str, Any]], add_generation_prompt: bool) -> str:
        """The text of a conversation in OpenAI's chat form, up to where the model begins to write or not."""
        ...

    def encode(self, text: str) -> Sequence[tuple[int, int, int]]:
        """The tokens of a text: the id of each, and from and up to which character it stands for the text."""
        ...


def tokenize(trajectory: Trajectory, tokenizer: ChatTokenizer) -> TokenSequence:
    """One sequence of a whole record, with mask 1 exactly on the text of its trainable messages.

    The text of a message reaches from where the model begins to write to the end of its turn. Nothing of it
    was sampled, so there are neither logprobs nor versions.

    Args:
        trajectory: A record without tokens of its trainable messages.
        tokenizer: The template and the tokeniser.

    Raises:
        UsageError: A trainable message has token ids as they were sampled.
        MaskProofError: The mask of this record cannot be proven: the template rewrites earlier turns, or does
            not show a message as it is, or a token reaches over an end of a message.
    """
    text, spans = _spans(trajectory, tokenizer)
    encoded = tokenizer.encode(text)
    _check_cover(text, encoded)
    return TokenSequence(
        input_ids=tuple(number for number, _, _ in encoded),
        loss_mask=tuple(_mask_bit(start, end, spans) for _, start, end in encoded),
        logprobs=(0.0,) * len(encoded),
        versions=(NOT_SAMPLED,) * len(encoded),
        version_names={},
        messages=tuple(index for index, message in assistant_messages(trajectory) if message.trainable),
        reward=trajectory.outcome.reward,
    )


def prove_supervised(trajectory: Trajectory, tokenizer: ChatTokenizer, sequence: TokenSequence) -> None:
    """Prove of a sequence, however it was made, that its mask is 1 exactly on what trainable messages say.

    The characters under the mask, and only they, are those of the trainable messages; the ids are the
    tokeniser's; nothing is said to be sampled.

    Raises:
        UsageError: A trainable message has token ids as they were sampled.
        MaskProofError: Something of that is not so, or it cannot be proven for this template.
    """
    text, spans = _spans(trajectory, tokenizer)
    encoded = tokenizer.encode(text)
    _check_cover(text, encoded)
    size = len(encoded)
    lengths = {size, *map(len, (sequence.loss_mask, sequence.logprobs, sequence.versions))}
    if len(lengths) != 1 or sequence.input_ids != tuple(number for number, _, _ in encoded):
        raise MaskProofError("its tokens are not those of the tokeniser, or its fields are of another length")
    if set(sequence.versions) | {NOT_SAMPLED} != {NOT_SAMPLED} or any(sequence.logprobs):
        raise MaskProofError("it has logprobs or versions, but nothing of it was sampled")
    covered = {
        place
        for (_, start, end), bit in zip(encoded, sequence.loss_mask, strict=True)
        if bit
        for place in range(start, end)
    }
    wanted = {place for start, end in spans for place in range(start, end)}
    for place in sorted(covered ^ wanted):
        has, should = place in covered, place in wanted
        raise MaskProofError(f"character {place}: the mask is {int(has)}, expected {int(should)}")
    bits = [_mask_bit(start, end, spans) for _, start, end in encoded]
    if list(sequence.loss_mask) != bits:
        raise MaskProofError("a token that stands for no text, or for a part of a character, is masked wrong")
    if sequence.reward != trajectory.outcome.reward:
        raise MaskProofError(f"its reward {sequence.reward} is not the episode's")


def _spans(trajectory: Trajectory, tokenizer: ChatTokenizer) -> tuple[str, list[tuple[int, int]]]:
    """The text of a conversation, and from and up to which character each trainable message reaches."""
    chat = to_chat(map(_as_message, trajectory.messages))
    whole = tokenizer.render(chat, False)
    spans = []
    for index, message in assistant_messages(trajectory):
        if not message.trainable:
            continue
        if message.tokens is not None:
            raise UsageError(f"message {index}: its tokens are known as they were sampled: use `to_tokens`.")
        before = tokenizer.render(chat[:index], True)
        after = tokenizer.render(chat[: index + 1], False)
        if not (after.startswith(before) and whole.startswith(after)):
            raise MaskProofError(f"message {index}: the template rewrites what comes before it or in it")
        said, ended, _ = after[len(before) :].rpartition(tokenizer.end)
        if not ended:
            raise MaskProofError(f"message {index}: the template does not end it with {tokenizer.end!r}")
        for part in _parts(message):
            if part not in said:
                raise MaskProofError(f"message {index}: the template does not show {part[:60]!r} as it is")
        spans.append((len(before), len(before) + len(said) + len(ended)))
    return whole, spans


def _as_message(recorded: RecordedMessage) -> Message:
    if isinstance(recorded, AssistantMessage):
        calls = tuple(ToolCall(call.name, call.arguments, call.id) for call in recorded.tool_calls)
        return Message(role="assistant", content=recorded.content, tool_calls=calls, aside=recorded.aside)
    name, content, call_id = recorded.name, recorded.content, recorded.tool_call_id
    role: Literal["user", "tool"] = "user" if isinstance(recorded, UserMessage) else "tool"
    return Message(role=role, content=content, name=name, tool_call_id=call_id)


def _parts(message: AssistantMessage) -> Iterator[str]:
    """The texts of a message that a template must show: what was said, or the names of what was called."""
    if message.tool_calls:
        yield message.aside
        yield from (call.name for call in message.tool_calls)
    else:
        yield message.content or message.aside


def _check_cover(text: str, encoded: Sequence[tuple[int, int, int]]) -> None:
    """Refuse tokens that leave out a part of the text, or do not follow it."""
    reached = last = 0
    for _, start, end in encoded:
        if start == end:
            continue
        if not last <= start <= reached or end < reached:
            raise MaskProofError(f"character {reached}: the tokeniser's tokens do not follow the text")
        last, reached = start, end
    if reached != len(text):
        raise MaskProofError(f"character {reached}: the tokeniser leaves out the rest of the text")


def _mask_bit(start: int, end: int, spans: Sequence[tuple[int, int]]) -> int:
    """1 for a token inside of a span, 0 for one outside of all, or that stands for no text."""
    for first, after in spans:
        if start < after and end > first and start < end:
            if start < first or end > after:
                raise MaskProofError(f"character {start}: a token reaches over an end of a message")
            return 1
    return 0
