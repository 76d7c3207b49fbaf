"""A tokenizer for the tiny agent, trained on recorded conversations, and its chat template."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers

from tool_envs.trajectory import Trajectory
from tool_envs.trajectory.chat_tokenizer import chat_of

PAD, END = "<|pad|>", "<|end|>"
_ROLES = {role: f"<|{role}|>" for role in ("user", "assistant", "tool")}
_CALL, _END_CALL = "<tool_call>", "</tool_call>"

_PIECES = "|".join(
    (
        # A call up to its arguments: what the agent has to choose there is the tool.
        r"""\{"name":"[a-z_]+","arguments":(?=\{)""",
        # Always the same, so that a state comes next to its city, as in what customers say.
        r'","country":"USA","state":"',
        # A JSON key with the signs around it, and nothing of its value: one token for each key of each tool.
        r"""[\]\}",:{]*"[a-z][a-z_ ]*\d?":(?:\[?\{(?=")|\[?")?""",
        # An id of the catalog is one token where it is frequent; other numbers are cut at the same places
        # wherever they stand, so that copying one is copying its tokens.
        r"(?<!\d)\d{10}(?!\d)|\d{1,2}",
        r"#W",  # with which the ids of orders begin
        # A space belongs to the word before it: so the first word of a value is the same token in a sentence
        # and behind a quote.
        r"[A-Za-z]+[ _]?|[.,:;!?] ?",
        r"""["\[\]{},:]+""",
        r"[^A-Za-z\d]",
    )
)


class TinyTokenizer:
    """A `ChatTokenizer`: byte-level BPE, and a template that leaves out the domain policy and the tools.

    These are the same in all prompts, so that the model learns them from what is done, and a prompt is a
    fiftieth as long.

    Args:
        model: What `train_tokenizer` made.
    """

    end = END

    def __init__(self, model: Tokenizer) -> None:
        self._model = model
        self.pad_id, self.end_id = model.token_to_id(PAD), model.token_to_id(END)
        self.size: int = model.get_vocab_size()
        self.digest = hashlib.sha256(model.to_str().encode()).hexdigest()

    def render(self, messages: Sequence[dict[str, Any]], add_generation_prompt: bool) -> str:
        """The text of a conversation: see `ChatTokenizer`."""
        turns = "".join(
            f"{_ROLES[message['role']]}{_words(message)}{END}"
            for message in messages
            if message["role"] != "system"
        )
        return turns + _ROLES["assistant"] if add_generation_prompt else turns

    def encode(self, text: str) -> list[tuple[int, int, int]]:
        """The tokens of a text: see `ChatTokenizer`."""
        encoded = self._model.encode(text, add_special_tokens=False)
        return [(number, *place) for number, place in zip(encoded.ids, encoded.offsets, strict=True)]

    def ids(self, messages: Sequence[dict[str, Any]]) -> list[int]:
        """The tokens of messages and of the beginning of the agent's turn after them."""
        return self._model.encode(self.render(messages, True), add_special_tokens=False).ids

    def decode(self, ids: Sequence[int]) -> str:
        """The text of tokens."""
        return self._model.decode(ids, skip_special_tokens=False)


TEMPLATE_DIGEST = hashlib.sha256(repr((_ROLES, END, _CALL, _END_CALL)).encode()).hexdigest()
"""Changes with what the template puts around words."""


def _words(message: dict[str, Any]) -> str:
    """What a message says: its text, then its calls in the form that `tool_envs.actions` reads."""
    calls = (call["function"] for call in message.get("tool_calls") or ())
    return (message["content"] or "") + "".join(
        f'{_CALL}{{"name":"{call["name"]}","arguments":{call["arguments"]}}}{_END_CALL}' for call in calls
    )


def train_tokenizer(records: Iterable[Trajectory], size: int) -> TinyTokenizer:
    """A tokenizer for conversations like these.

    Args:
        records: The conversations.
        size: How many tokens it may have.
    """
    cut = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_PIECES), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False, trim_offsets=False),
        ]
    )
    chats = map(chat_of, records)
    texts = (_words(message) for chat in chats for message in chat if message["role"] != "system")
    pieces = Counter(piece for text in texts for piece, _ in cut.pre_tokenize_str(text))
    marks = [PAD, END, *_ROLES.values(), _CALL, _END_CALL]
    fixed = [*marks, *sorted(pre_tokenizers.ByteLevel.alphabet())]
    learnt = [piece for piece, _ in pieces.most_common() if piece not in set(fixed)]
    vocabulary = {piece: number for number, piece in enumerate([*fixed, *learnt][:size])}
    model = Tokenizer(models.BPE(vocabulary, [], ignore_merges=True))
    model.pre_tokenizer, model.decoder = cut, decoders.ByteLevel()
    model.add_special_tokens([AddedToken(mark, special=True, normalized=False) for mark in marks[:-2]])
    model.add_tokens([AddedToken(mark, special=False, normalized=False) for mark in marks[-2:]])
    return TinyTokenizer(model)
