"""The proof that a loss mask made through a chat template covers what trainable messages say, and no more.

`tokenize` finds the text of a message by what the template adds when the message comes last. The proof takes
that for a bound alone: it puts words of its own in the place of what the message says, and sees which part of
the whole text they move.
"""

import itertools
import json
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import msgspec

from tool_envs.errors import MaskProofError, UsageError
from tool_envs.messages import Json
from tool_envs.trajectory.chat_tokenizer import ChatTokenizer, chat_message, chat_of
from tool_envs.trajectory.record import AssistantMessage, Trajectory
from tool_envs.trajectory.tokens import NOT_SAMPLED, TokenSequence


def prove_supervised(trajectory: Trajectory, tokenizer: ChatTokenizer, sequence: TokenSequence) -> None:
    """Prove of a sequence, however it was made, that its mask is 1 exactly on what trainable messages say.

    Of each trainable message:

    * The text before and after what it says is the same when it says something else, so that its words are
      in one place; and they stand there as they were recorded: nothing trimmed, dropped or merged.
    * Before them stands what the model is given there, the prompt for this turn, and after them the end of
      the turn, before the text of the next message. Between these stands nothing but spaces, or, of a
      message with calls, the signs around them: words alone would stand right after the prompt.

    A token is masked 1 when it stands for characters from the end of that prompt to the end of that turn, of
    one or more trainable messages, and for no others. The ids are the tokeniser's, their tokens cover the
    text, and nothing is said to be sampled.

    Raises:
        UsageError: A trainable message has token ids as they were sampled.
        MaskProofError: Something of that is not so; names the first place. Such a template cannot be used
            for this record: it rewrites earlier turns, say, or a token reaches over an end of a message.
    """
    chat = chat_of(trajectory)
    text = tokenizer.render(chat, False)
    trained = {
        index: message
        for index, message in enumerate(trajectory.messages)
        if isinstance(message, AssistantMessage) and message.trainable
    }
    wanted = bytearray(len(text))
    for index, message in trained.items():
        start, end = _Turn(chat, text, index, message, tokenizer).prove()
        wanted[start:end] = b"\1" * (end - start)
    encoded = tokenizer.encode(text)
    _prove_cover(text, encoded)
    _prove_columns(sequence, encoded)
    _prove_mask(sequence.loss_mask, encoded, wanted)
    if sequence.messages != tuple(trained):
        raise MaskProofError(f"its messages are {sequence.messages}, but trainable are {tuple(trained)}")
    if sequence.reward != trajectory.outcome.reward:
        raise MaskProofError(f"its reward {sequence.reward} is not the episode's")


class _Turn:
    """One trainable message in the text of its conversation.

    Args:
        chat: The conversation.
        text: All of it through the template.
        index: Which message.
        message: As it was recorded.
        tokenizer: The template.
    """

    def __init__(
        self,
        chat: list[dict[str, Any]],
        text: str,
        index: int,
        message: AssistantMessage,
        tokenizer: ChatTokenizer,
    ) -> None:
        if message.tokens is not None:
            raise UsageError(f"message {index}: its tokens are known as they were sampled: use `to_tokens`.")
        self._chat, self._text, self._index = chat, text, index
        self._message, self._tokenizer = message, tokenizer

    def prove(self) -> tuple[int, int]:
        """From and up to which character the model writes this message, its end included."""
        text = self._text
        prompt = self._tokenizer.render(self._chat[: self._index], True)
        so_far = self._tokenizer.render(self._chat[: self._index + 1], False)
        if not (so_far.startswith(prompt) and text.startswith(so_far)):
            self._refuse("the template rewrites what comes before it or in it")
        before, after = self._around()
        if not (text.startswith(before) and text.endswith(after) and len(before + after) <= len(text)):
            self._refuse("with other words in it, the template changes what stands around them")
        if not before.startswith(prompt):
            self._refuse("its words begin before the model begins to write")
        if self._message.tool_calls:
            self._prove_start(prompt)
        words_end = len(text) - len(after)
        ended = text.rfind(self._tokenizer.end, words_end, len(so_far))
        end = ended + len(self._tokenizer.end)
        if ended < 0 or text[end : len(so_far)].strip():
            self._refuse(f"the template does not end it with {self._tokenizer.end!r}")
        self._prove_words(text[len(prompt) : ended], text[len(before) : words_end])
        signs = text[len(prompt) : len(before)] + text[words_end:ended]
        if not self._message.tool_calls and signs.strip():
            self._refuse(f"the template puts {signs[:60]!r} around what it says")
        return len(prompt), end

    def _prove_start(self, prompt: str) -> None:
        """See that a word in the place of calls and their signs would be the first thing after the prompt."""
        word = self._word()
        text = self._tokenizer.render(
            [*self._chat[: self._index], {"role": "assistant", "content": word}], False
        )
        lead = text[len(prompt) :].partition(word)[0]
        if not text.startswith(prompt) or lead.strip():
            self._refuse(f"the template puts {lead[:60]!r} between the prompt and what the model writes")

    def _around(self) -> tuple[str, str]:
        """What stands before the first and after the last of its words, when these are others."""
        word = self._word()
        other, placed = _say(self._message, word)
        chat = [*self._chat]
        chat[self._index] = chat_message(other)
        text = self._tokenizer.render(chat, False)
        if (shown := text.count(word)) != placed:
            self._refuse(f"of {placed} words in it, the template shows {shown}")
        return text.partition(word)[0], text.rpartition(word)[2]

    def _word(self) -> str:
        """A word that does not stand in the conversation."""
        return next(word for n in itertools.count() if (word := f"standin{n}") not in self._text)

    def _prove_words(self, said: str, words: str) -> None:
        """Hold the text of the turn, and what other words would change of it, to the record."""
        message = self._message
        shown = message.content or message.aside
        if not message.tool_calls and words != shown:
            self._refuse(f"the template does not show {shown[:60]!r} as it is, but {words[:60]!r}")
        for part in _parts(message):
            if not any(spelling in said for spelling in _spellings(part)):
                self._refuse(f"the template does not show {part[:60]!r} as it is")

    def _refuse(self, problem: str) -> NoReturn:
        raise MaskProofError(f"message {self._index}: {problem}")


def _say(message: AssistantMessage, word: str) -> tuple[AssistantMessage, int]:
    """The same message with a word in the place of each of its texts, and how many these are.

    Keys, numbers and how values are nested stay: they move what stands around the texts.
    """
    if not message.tool_calls:
        return msgspec.structs.replace(message, content=word, aside=""), 1
    calls = tuple(
        msgspec.structs.replace(call, name=word, arguments=_with_texts(call.arguments, word))
        for call in message.tool_calls
    )
    aside = word if message.aside else ""
    texts = sum(1 + len(list(_texts(call.arguments))) for call in message.tool_calls)
    return msgspec.structs.replace(message, tool_calls=calls, aside=aside), bool(aside) + texts


def _with_texts(value: Json, word: str) -> Json:
    if isinstance(value, dict):
        return {key: _with_texts(inner, word) for key, inner in value.items()}
    if isinstance(value, list):
        return [_with_texts(inner, word) for inner in value]
    return word if isinstance(value, str) else value


def _texts(value: Json) -> Iterator[str]:
    """The texts in a JSON value, without keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)


def _parts(message: AssistantMessage) -> Iterator[str]:
    """The texts that a template must show of a message with calls."""
    if message.tool_calls:
        yield message.aside
        for call in message.tool_calls:
            yield from (call.name, *call.arguments, *_texts(call.arguments))


def _spellings(text: str) -> Iterator[str]:
    """How a text may stand in a call: as it is, or in JSON, which may stand in the text of another JSON."""
    yield text
    for depth in (1, 2):
        for is_ascii in (False, True):
            spelling = text
            for _ in range(depth):
                spelling = json.dumps(spelling, ensure_ascii=is_ascii)[1:-1]
            yield spelling


def _prove_cover(text: str, encoded: Sequence[tuple[int, int, int]]) -> None:
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


def _prove_columns(sequence: TokenSequence, encoded: Sequence[tuple[int, int, int]]) -> None:
    """Hold all but the mask to the tokeniser, and to what is known of text that nobody sampled."""
    size = len(encoded)
    lengths = {size, *map(len, (sequence.loss_mask, sequence.logprobs, sequence.versions))}
    if len(lengths) != 1 or sequence.input_ids != tuple(number for number, _, _ in encoded):
        raise MaskProofError("its tokens are not those of the tokeniser, or its fields are of another length")
    if set(sequence.versions) | {NOT_SAMPLED} != {NOT_SAMPLED} or any(sequence.logprobs):
        raise MaskProofError("it has logprobs or versions, but nothing of it was sampled")
    if sequence.version_names:
        raise MaskProofError("it names versions of the policy, but nothing of it was sampled")


def _prove_mask(mask: Sequence[int], encoded: Sequence[tuple[int, int, int]], wanted: bytearray) -> None:
    """Hold each token's bit to its characters': 1 for those that are trained on; no characters are a 0."""
    for place, ((_, start, end), bit) in enumerate(zip(encoded, mask, strict=True)):
        bits = set(wanted[start:end]) or {0}
        if len(bits) > 1:
            raise MaskProofError(f"character {start}: a token reaches over an end of a message")
        if {bit} != bits:
            raise MaskProofError(f"token {place}, character {start}: the mask is {bit}, expected {1 - bit}")
