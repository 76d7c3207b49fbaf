"""Turns of many episodes sampled side by side, each from what the model remembers of its episode."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from tiny_agent.model import LOOK_BACK, Cache, Model

_COMPACT_BELOW = 0.75
"""Share of rows still being written below which the others are taken out of the cache, which copies it."""

_WASTE = 1.25
"""How many times as many places as tokens may be read at once."""


@dataclass
class Context:
    """What one episode's model was given and wrote.

    Attributes:
        ids: All tokens.
        memory: Keys and values of the first of them; None: of none.
    """

    ids: list[int] = field(default_factory=list)
    memory: Cache | None = None

    @property
    def known(self) -> int:
        """How many of the tokens are in the memory."""
        return 0 if self.memory is None else self.memory.keys.shape[-2]

    @property
    def unread(self) -> int:
        """How many of them are not."""
        return len(self.ids) - self.known


@dataclass
class Draft:
    """A turn that is being written.

    Attributes:
        context: What it goes on with; grows with it.
        draw: The n-th uniform number in [0, 1) of this turn.
        ids: The tokens that were sampled.
        logprobs: Natural logarithms of their probabilities.
    """

    context: Context
    draw: Callable[[int], float]
    ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)

    def has_ended(self, end: int) -> bool:
        """Whether its last token is the one that ends a turn."""
        return self.ids[-1:] == [end]


@torch.inference_mode()
def write(model: Model, drafts: Sequence[Draft], end: int, longest: int, temperature: float = 1.0) -> None:
    """Sample each draft up to its end.

    What is sampled depends on the context and the draws of each alone, up to rounding, and not on what is
    sampled beside it.

    Args:
        model: The model.
        drafts: The turns; each context has tokens that its memory does not know, and room for `longest` more.
        end: The token that ends a turn.
        longest: How many tokens may be sampled of a turn.
        temperature: What logits are divided by; the log-probabilities are those of what is sampled from.
    """
    rows = sorted(drafts, key=lambda draft: draft.context.unread)
    cache = _gather(model, rows, longest)
    hidden = _read_news(model, rows, cache)
    for number in range(longest):
        _extend(rows, model.log_probabilities(hidden, temperature), number, end)
        going = [place for place, draft in enumerate(rows) if not draft.has_ended(end)]
        if number + 1 == longest or not going:
            break
        if len(going) < _COMPACT_BELOW * len(rows):
            _keep(rows, cache)
            rows = [rows[place] for place in going]
            cache = Cache(cache.keys[:, going], cache.values[:, going])
        hidden = _read_last(model, rows, cache)
    _keep(rows, cache)


def _gather(model: Model, rows: Sequence[Draft], longest: int) -> Cache:
    """The memories side by side, with room for what will be read and written."""
    cache = model.empty_cache(len(rows), max(len(draft.context.ids) for draft in rows) + longest)
    for row, draft in enumerate(rows):
        if draft.context.memory is not None:
            cache.keys[:, row, : draft.context.known] = draft.context.memory.keys
            cache.values[:, row, : draft.context.known] = draft.context.memory.values
    return cache


def _read_news(model: Model, rows: Sequence[Draft], cache: Cache) -> Tensor:
    """Read all that the memories do not know; what the model makes of each row's last token.

    Rows come in the order of how much that is, so that those that are read together are of like lengths.
    Shorter ones are filled up at their end: what that writes to the cache is written over by the tokens that
    come there, before anything looks at it.
    """
    contexts = [draft.context for draft in rows]
    news = [context.unread for context in contexts]
    hidden, start = [], 0
    while start < len(rows):
        end = start + 1
        while end < len(rows) and news[end] * (end - start) <= _WASTE * sum(news[start:end]):
            end += 1
        ids = torch.zeros(end - start, LOOK_BACK + news[end - 1], dtype=torch.int64)
        for row, context in enumerate(contexts[start:end]):
            padded = [0] * LOOK_BACK + context.ids
            ids[row, : LOOK_BACK + context.unread] = torch.tensor(padded[context.known :])
        first = torch.tensor([context.known for context in contexts[start:end]])
        part = Cache(cache.keys[:, start:end], cache.values[:, start:end])
        made = model(ids, first, part)
        hidden.append(made[torch.arange(end - start), torch.tensor(news[start:end]) - 1])
        start = end
    return torch.cat(hidden)


def _read_last(model: Model, rows: Sequence[Draft], cache: Cache) -> Tensor:
    """Read the last token of each row; one that has ended reads it again, which changes nothing."""
    ids = torch.tensor([([0] * LOOK_BACK + draft.context.ids)[-LOOK_BACK - 1 :] for draft in rows])
    first = torch.tensor([len(draft.context.ids) - 1 for draft in rows])
    hidden: Tensor = model(ids, first, cache)[:, 0]
    return hidden


def _extend(rows: Sequence[Draft], logprobs: Tensor, number: int, end: int) -> None:
    """Draw the next token of each row that has not ended."""
    below = logprobs.double().exp().cumsum(dim=-1)
    draws = torch.tensor([[draft.draw(number)] for draft in rows], dtype=torch.float64)
    chosen = torch.searchsorted(below, draws * below[:, -1:], right=True).clamp(max=below.shape[1] - 1)
    for draft, token, logprob in zip(
        rows, chosen[:, 0].tolist(), logprobs.gather(1, chosen)[:, 0].tolist(), strict=True
    ):
        if not draft.has_ended(end):
            draft.ids.append(token)
            draft.logprobs.append(logprob)
            draft.context.ids.append(token)


def _keep(rows: Sequence[Draft], cache: Cache) -> None:
    """Have each context remember all but its last token, which was not read."""
    for row, draft in enumerate(rows):
        known = len(draft.context.ids) - 1
        draft.context.memory = Cache(cache.keys[:, row, :known].clone(), cache.values[:, row, :known].clone())
