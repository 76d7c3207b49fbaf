"""Hugging Face's tokenizers: a `ChatTokenizer` from a folder. Needs the extra `[tokenizers]`.

tokenizer = load_tokenizer("models/small", tools=env.unwrapped.schema.to_openai())
sequence = tool_envs.trajectory.tokenize(trajectory, tokenizer)
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jinja2
import tokenizers
import transformers

from tool_envs.errors import DataFileError, MaskProofError, UsageError
from tool_envs.messages import Json
from tool_envs.trajectory.chat_tokenizer import as_templates_expect, join_composed

_TEMPLATE_ERRORS = (jinja2.TemplateError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What a template may raise: it is a program, and refuses a conversation in this way."""


class TransformersTokenizer:
    """A tokenizer of `transformers` and its chat template, as a `ChatTokenizer`.

    In the conversation, arguments of calls are objects, as templates expect them, and what beside a call was
    not said is an empty text.

    Args:
        tokenizer: A fast one, with a chat template.
        end: The text that ends a turn; None: the tokenizer's end of sequence.
        head: What every prompt begins with: the domain policy as a system message, say.
        tools: The tools that a prompt names, in OpenAI's form.

    Raises:
        UsageError: It has no chat template, no end of sequence, or no places of its tokens.
    """

    def __init__(
        self,
        tokenizer: Any,  # noqa: ANN401 - the library is not installed where types are checked
        *,
        end: str | None = None,
        head: Sequence[dict[str, Json]] = (),
        tools: Sequence[dict[str, Json]] = (),
    ) -> None:
        if not tokenizer.chat_template:
            raise UsageError("The tokenizer has no chat template.")
        if not tokenizer.is_fast:
            raise UsageError(
                "The tokenizer does not know the places of its tokens; it needs to be a fast one."
            )
        end = tokenizer.eos_token if end is None else end
        if not end:
            raise UsageError("The tokenizer has no end of sequence: say with `end` what ends a turn.")
        self.end = end
        self._tokenizer, self._head, self._tools = tokenizer, list(head), list(tools) or None
        # Of a copy: what comes after tokenising adds tokens, which the template does here, or cuts spaces out
        # of the places of tokens.
        self._model = tokenizers.Tokenizer.from_str(tokenizer.backend_tokenizer.to_str())
        self._model.post_processor = None
        self._model.no_truncation()
        self._model.no_padding()

    def render(self, messages: list[dict[str, Any]], add_generation_prompt: bool) -> str:
        """The text of a conversation: see `ChatTokenizer`."""
        chat = [*self._head, *map(as_templates_expect, messages)]
        try:
            text: str = self._tokenizer.apply_chat_template(
                chat, tools=self._tools, tokenize=False, add_generation_prompt=add_generation_prompt
            )
        except _TEMPLATE_ERRORS as problem:
            raise MaskProofError(f"the template refuses the conversation: {problem}") from None
        return text

    def encode(self, text: str) -> list[tuple[int, int, int]]:
        """The tokens of a text: see `ChatTokenizer`.

        Raises:
            MaskProofError: The text is not Unicode: it has a lone surrogate.
        """
        try:
            text.encode()
        except UnicodeEncodeError:
            raise MaskProofError("the conversation is not Unicode, which the tokeniser needs") from None
        encoded = self._model.encode(text, add_special_tokens=False)
        places = zip(encoded.ids, encoded.offsets, strict=True)
        return join_composed(text, [(number, start, end) for number, (start, end) in places])


def load_tokenizer(
    folder: str | Path,
    *,
    end: str | None = None,
    head: Sequence[dict[str, Json]] = (),
    tools: Sequence[dict[str, Json]] = (),
) -> TransformersTokenizer:
    """The tokenizer of a folder, as `transformers.AutoTokenizer` reads it.

    Nothing is downloaded, and no code in the folder is run but the template, in a sandbox. The arguments are
    those of `TransformersTokenizer`.

    Raises:
        DataFileError: The folder is missing, or holds no tokenizer.
        UsageError: It has no chat template, no end of sequence, or no places of its tokens.
    """
    return TransformersTokenizer(read_tokenizer(folder), end=end, head=head, tools=tools)


def read_tokenizer(folder: str | Path) -> Any:  # noqa: ANN401 - not installed where types are checked
    """The tokenizer of `transformers` in a folder; raises as `load_tokenizer` does of a folder."""
    if not Path(folder).is_dir():
        raise DataFileError(folder, "is no folder; expected one with the files of a tokenizer")
    try:
        return transformers.AutoTokenizer.from_pretrained(
            str(folder), local_files_only=True, trust_remote_code=False
        )
    except (OSError, ValueError) as problem:
        raise DataFileError(folder, f"holds no tokenizer: {problem!s:.300}") from None
