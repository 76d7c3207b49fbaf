"""What rows are made of: a record, what its agent was told, and its tokens."""

import functools
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec

from tool_envs.env import unwrap
from tool_envs.environments import make_env
from tool_envs.errors import ReplayMismatchError, UsageError
from tool_envs.messages import Json
from tool_envs.trajectory.capture import refer_to_schema
from tool_envs.trajectory.chat_tokenizer import ChatTokenizer
from tool_envs.trajectory.record import Trajectory, assistant_messages
from tool_envs.trajectory.refs import Sha256
from tool_envs.trajectory.supervised import tokenize
from tool_envs.trajectory.tokens import NOT_SAMPLED, TokenSequence, to_tokens


class Context(msgspec.Struct, frozen=True):
    """What an agent is told before the first word.

    Attributes:
        policy: The domain policy, for a system message.
        tools: The tools in OpenAI's form.
    """

    policy: str
    tools: list[dict[str, Json]]


class Contexts:
    """The contexts of records. A record holds none, so the environment that it names is made again, once.

    Args:
        overrides: Arguments of environments that take the place of recorded ones: `path`, say.

    Attributes:
        made: What was asked for.
    """

    def __init__(self, overrides: Mapping[str, Json]) -> None:
        self.made: dict[str, Context] = {}
        self._overrides = overrides

    def find(self, record: Trajectory) -> Context:
        """The context of a record.

        Raises:
            ReplayMismatchError: The environment of today has other tools, or another grader or policy.
            UnknownNameError: There is no such environment here.
        """
        names = (record.env, record.schema, record.grader_digest)
        key = json.dumps(msgspec.to_builtins(names), sort_keys=True)
        if key not in self.made:
            self.made[key] = _make_context(record, self._overrides)
        return self.made[key]


def _make_context(record: Trajectory, overrides: Mapping[str, Json]) -> Context:
    env = make_env(record.env.id, {**record.env.kwargs, **overrides})
    inner = unwrap(env)
    met = {"schema": refer_to_schema(inner), "grader_digest": inner.domain.grader_digest}
    for name, value in met.items():
        if getattr(record, name) != value:
            raise ReplayMismatchError(f"{name}: recorded {getattr(record, name)}, here it is {value}")
    context = Context(inner.domain.policy_text, inner.schema.to_openai())
    env.close()
    return context


class TokenizerRef(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A tokenizer and its chat template, each by its sha256."""

    sha256: Sha256
    chat_template: Sha256


class Tokenizer(Protocol):
    """A tokenizer and its chat template, for records without token ids.

    Attributes:
        ref: Their digests.
    """

    ref: TokenizerRef

    def bind(self, context: Context) -> ChatTokenizer:
        """The tokenizer of conversations that begin with a context."""
        ...


@dataclass(frozen=True)
class Source:
    """What the rows of one record are made of; a part that no row needs is not made.

    Attributes:
        record: The record.
        sample: How many records of the same task came before it.
        contexts: Where its context comes from.
        tokenizer: For records without token ids; None: they cannot become tokens.
    """

    record: Trajectory
    sample: int
    contexts: Contexts
    tokenizer: Tokenizer | None

    @functools.cached_property
    def name(self) -> str:
        """Sha256 of the record's line, which names it in whatever store it is."""
        return hashlib.sha256(self.record.to_line().encode()).hexdigest()

    @functools.cached_property
    def context(self) -> Context:
        """What the agent was told; raises as `Contexts.find`."""
        return self.contexts.find(self.record)

    @property
    def is_trainable(self) -> bool:
        """Whether it has a message to train on."""
        return any(message.trainable for message in self.record.messages)

    @functools.cached_property
    def sequences(self) -> list[TokenSequence]:
        """Those of its sequences of tokens in which there is something to train on.

        Raises:
            UsageError: It has no token ids and there is no tokenizer, or only a part of it has them.
            MaskProofError: The mask of its text cannot be proven for the tokenizer's template.
        """
        made = [self._tokenized()] if self.is_tokenized else to_tokens(self.record)
        return [sequence for sequence in made if any(sequence.loss_mask)]

    @property
    def is_tokenized(self) -> bool:
        """Whether its tokens are made from its text, since it has none of what is to be trained on."""
        return self.is_trainable and not any(
            message.trainable and message.tokens for _, message in assistant_messages(self.record)
        )

    @property
    def tokenizers(self) -> list[TokenizerRef]:
        """What its token ids are of: one, or none where it has none."""
        record = self.record
        if self.is_tokenized and self.tokenizer is not None:
            return [self.tokenizer.ref]
        if record.tokenizer is None or record.chat_template is None:
            return []
        return [TokenizerRef(record.tokenizer, record.chat_template)]

    def _tokenized(self) -> TokenSequence:
        if self.tokenizer is None:
            raise UsageError(
                "it has no token ids. Give the tokenizer of the model that is to be trained (`--tokenizer "
                "FOLDER`), or export messages: openai, trl, atif."
            )
        return tokenize(self.record, self.tokenizer.bind(self.context))


def response_start(sequence: TokenSequence) -> int:
    """Where the prompt ends: the place of the first token that was sampled or is trained on.

    Raises:
        UsageError: There is no such token.
    """
    for place, (bit, version) in enumerate(zip(sequence.loss_mask, sequence.versions, strict=True)):
        if bit or version != NOT_SAMPLED:
            return place
    raise UsageError("no token of the sequence was sampled or is trained on, so it has no response.")


Row = dict[str, Any]
"""A row of JSON values."""
