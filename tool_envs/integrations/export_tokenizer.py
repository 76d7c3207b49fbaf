"""The tokenizer of a model that is to be trained on exported records. Needs the extra `[tokenizers]`.

tokenizer = ExportTokenizer("models/small")
export_records(read_trajectories("runs/gold"), "trl-tokens", "exports/gold", tokenizer=tokenizer)
"""

import hashlib
import json
from pathlib import Path

from tool_envs.errors import UsageError
from tool_envs.integrations.transformers import TransformersTokenizer, read_tokenizer
from tool_envs.trajectory.exports import Context, TokenizerRef


class ExportTokenizer:
    """Makes the tokenizers of conversations that begin with a domain policy, as system message, and tools.

    Args:
        folder: A fast tokenizer with one chat template, as `save_pretrained` writes it.
        end: The text that ends a turn; None: the tokenizer's end of sequence.

    Attributes:
        ref: Sha256 of the tokenizer's JSON as `tokenizers` writes it, and of the text of the template.

    Raises:
        DataFileError: The folder is missing, or holds no tokenizer.
        UsageError: It has not one chat template, no end of sequence, or no places of its tokens.
    """

    def __init__(self, folder: str | Path, *, end: str | None = None) -> None:
        self._tokenizer, self._end = read_tokenizer(folder), end
        TransformersTokenizer(self._tokenizer, end=end)  # refuses what cannot tokenize
        template = self._tokenizer.chat_template
        if not isinstance(template, str):
            raise UsageError(f"{folder}: the tokenizer has the chat templates {sorted(template)}; keep one.")
        backend: str = self._tokenizer.backend_tokenizer.to_str()
        self.ref = TokenizerRef(sha256=_sha256(backend), chat_template=_sha256(template))
        self._bound: dict[str, TransformersTokenizer] = {}

    def bind(self, context: Context) -> TransformersTokenizer:
        """The tokenizer of conversations that begin with a context."""
        key = json.dumps([context.policy, context.tools])
        if key not in self._bound:
            head = [{"role": "system", "content": context.policy}]
            self._bound[key] = TransformersTokenizer(
                self._tokenizer, end=self._end, head=head, tools=context.tools
            )
        return self._bound[key]


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
