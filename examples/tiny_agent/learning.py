"""Updates of the tiny agent: supervised ones from records of others, and GRPO from the rewards of its own."""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from tiny_agent.losses import batches, grpo_loss, supervised_loss
from tiny_agent.model import Model
from tool_envs.credit import group_advantages
from tool_envs.errors import UsageError
from tool_envs.rollout import Group
from tool_envs.trajectory import TokenSequence, to_tokens

CLIP = 0.2
"""How far the ratio of GRPO may be from 1."""
_MAX_GRADIENT = 1.0
_WARM_UP = 20  # updates


class Weighted(NamedTuple):
    """A sequence and its advantage."""

    sequence: TokenSequence
    advantage: float


def fine_tune(
    model: Model, sequences: Sequence[TokenSequence], size: int, learning_rate: float
) -> Iterator[float]:
    """Learn to write what the masks let through, from each sequence once, in their order.

    Args:
        model: The model.
        sequences: Conversations.
        size: Sequences of an update.
        learning_rate: Of AdamW, after the first updates; it falls to 0 in a line.

    Yields:
        The mean loss of a masked token, in nats, of each update, before it.
    """
    updates = math.ceil(len(sequences) / size)
    optimizer = torch.optim.AdamW(model.parameters(), learning_rate, betas=(0.9, 0.98), weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda done: min((done + 1) / _WARM_UP, (updates - done) / updates)
    )
    for start in range(0, len(sequences), size):
        part = sequences[start : start + size]
        losses = (supervised_loss(model, batch) for batch in batches(part, [0.0] * len(part)))
        mean = _differentiate(model, losses, part)
        nn.utils.clip_grad_norm_(model.parameters(), _MAX_GRADIENT)
        optimizer.step()
        schedule.step()
        yield mean


def weigh(groups: Iterable[Group]) -> list[Weighted]:
    """The sequences of groups by which something can be learnt: those whose rewards are not all equal.

    Raises:
        UsageError: An episode failed: none of this process's can, but by a mistake.
    """
    weighted = []
    for group in groups:
        if group.failures:
            raise UsageError(f"Task {group.task}: {group.failures[0]}")
        for record, advantage in zip(group.records, group_advantages(group.records), strict=True):
            if advantage is not None and advantage.value:
                weighted += [Weighted(sequence, advantage.value) for sequence in to_tokens(record)]
    return weighted


class Grpo:
    """Makes more probable what was better than the rest of its group, and less probable what was worse.

    Updates are plain gradient steps: AdamW moves weights that hardly matter as far as all others, and with
    the noise of so few episodes it undid within some updates what the model had learnt. How sure it should be
    all tokens tell together, with far less noise: that one weight, `logit_scale`, has an Adam of its own.

    Args:
        model: The model.
        size: Sequences of an update, at most; from the second on the model is not the one that sampled, which
            is what the clipped ratio is for.
        step: How far an update moves all other weights, at most: the Euclidean norm over them.
        sureness: How far, about, an update moves `logit_scale`.
        temperature: At which is sampled.
    """

    def __init__(
        self, model: Model, size: int, step: float, sureness: float, temperature: float = 1.0
    ) -> None:
        self._model, self._size, self._step, self._temperature = model, size, step, temperature
        self._weights = [weight for weight in model.parameters() if weight is not model.logit_scale]
        self._optimizers = (
            torch.optim.SGD(self._weights, 1.0),
            torch.optim.Adam([model.logit_scale], sureness, betas=(0.9, 0.98)),
        )

    def improve(self, weighted: Sequence[Weighted]) -> None:
        """Learn from what the model of now sampled, group by group; updates are of like sizes."""
        updates = math.ceil(len(weighted) / self._size)
        for number in range(updates):
            start, end = (len(weighted) * place // updates for place in (number, number + 1))
            sequences, advantages = zip(*weighted[start:end], strict=True)
            losses = (
                grpo_loss(self._model, batch, CLIP, self._temperature)
                for batch in batches(sequences, advantages)
            )
            _differentiate(self._model, losses, sequences)
            nn.utils.clip_grad_norm_(self._weights, self._step)
            for optimizer in self._optimizers:
                optimizer.step()


def _differentiate(model: Model, losses: Iterable[Tensor], sequences: Sequence[TokenSequence]) -> float:
    """Leave with the weights the gradient of the mean over masked tokens of losses that are sums over them.

    Returns:
        That mean.
    """
    model.zero_grad()
    tokens, total = sum(sum(sequence.loss_mask) for sequence in sequences), 0.0
    for loss in losses:
        (loss / tokens).backward()
        total += loss.item() / tokens
    return total
