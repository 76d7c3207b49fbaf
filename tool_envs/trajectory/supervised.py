"""Records without token ids as sequences of tokens, through a chat template.

This is for fine-tuning on what scripted agents and people wrote. What a policy sampled is not tokenised
again: see `tool_envs.trajectory.tokens`.
"""

import functools
import json
from typing import Any

from tool_envs.errors import UsageError
from tool_envs.trajectory.chat_tokenizer import ChatTokenizer, chat_of
from tool_envs.trajectory.record import Trajectory, assistant_messages
from tool_envs.trajectory.supervised_proof import prove_supervised
from tool_envs.trajectory.tokens import NOT_SAMPLED, TokenSequence


def tokenize(trajectory: Trajectory, tokenizer: ChatTokenizer) -> TokenSequence:
    """One sequence of a whole record, with mask 1 exactly on the text of its trainable messages.

    The text of a message reaches from where the model begins to write to the end of its turn. It is what the
    template makes of what was said; of a message with calls, of all its calls and the text beside them; of an
    action that could not be read, all of the action. Thoughts are in no text. Nothing was sampled, so there
    are neither logprobs nor versions. The sequence is proven before it is returned.

    Args:
        trajectory: A record without tokens of its trainable messages.
        tokenizer: The template and the tokeniser.

    Raises:
        UsageError: A trainable message has token ids as they were sampled.
        MaskProofError: The mask of this record cannot be proven: see `prove_supervised`.
    """
    tokenizer = _Remembering(tokenizer)
    text, spans = _spans(trajectory, tokenizer)
    trained = bytearray(len(text))
    for start, end in spans:
        trained[start:end] = b"\1" * (end - start)
    encoded = tokenizer.encode(text)
    sequence = TokenSequence(
        input_ids=tuple(number for number, _, _ in encoded),
        loss_mask=tuple(_mask_bit(start, end, trained) for _, start, end in encoded),
        logprobs=(0.0,) * len(encoded),
        versions=(NOT_SAMPLED,) * len(encoded),
        version_names={},
        messages=tuple(index for index, message in assistant_messages(trajectory) if message.trainable),
        reward=trajectory.outcome.reward,
    )
    prove_supervised(trajectory, tokenizer, sequence)
    return sequence


class _Remembering:
    """Makes each text of a conversation once, and its tokens: finding and proof need the same ones."""

    def __init__(self, tokenizer: ChatTokenizer) -> None:
        self.end = tokenizer.end
        self.encode = functools.cache(tokenizer.encode)
        self._tokenizer = tokenizer
        self._texts: dict[tuple[str, bool], str] = {}

    def render(self, messages: list[dict[str, Any]], add_generation_prompt: bool) -> str:
        key = (json.dumps(messages), add_generation_prompt)
        if key not in self._texts:
            self._texts[key] = self._tokenizer.render(messages, add_generation_prompt)
        return self._texts[key]


def _spans(trajectory: Trajectory, tokenizer: ChatTokenizer) -> tuple[str, list[tuple[int, int]]]:
    """The text of a conversation, and from and up to which character each trainable message reaches.

    Found as if every template were a good one; which are not, the proof says.
    """
    chat = chat_of(trajectory)
    spans = []
    for index, message in assistant_messages(trajectory):
        if not message.trainable:
            continue
        if message.tokens is not None:
            raise UsageError(f"message {index}: its tokens are known as they were sampled: use `to_tokens`.")
        start = len(tokenizer.render(chat[:index], True))
        after = tokenizer.render(chat[: index + 1], False)
        said, ended, _ = after[start:].rpartition(tokenizer.end)
        spans.append((start, start + len(said) + len(ended)))
    return tokenizer.render(chat, False), spans


def _mask_bit(start: int, end: int, trained: bytearray) -> int:
    """1 for a token that stands for characters that are trained on, and for no others."""
    return int(start < end and 0 not in trained[start:end])
