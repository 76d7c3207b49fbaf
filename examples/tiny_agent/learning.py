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
        tokens = sum(sum(sequence.loss_mask) for sequence in part)
        losses = (supervised_loss(model, batch) for batch in batches(part, [0.0] * len(part)))
        yield _update(model, optimizer, losses, tokens)
        schedule.step()


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


def improve(
    model: Model, weighted: Sequence[Weighted], size: int, step: float, temperature: float = 1.0
) -> None:
    """Make more probable what was better than the rest of its group, in updates of like numbers of sequences.

    They are plain gradient steps. AdamW moves weights that hardly matter as far as all others: with the noise
    of so few episodes it undid within some updates what the model had learnt.

    Args:
        model: The model.
        weighted: What the model of now sampled, group by group.
        size: Sequences of an update, at most; from the second on the model is not the one that sampled, which
            is what the clipped ratio is for.
        step: How far an update moves the weights, at most: the Euclidean norm over all of them.
        temperature: At which it was sampled.
    """
    optimizer = torch.optim.SGD(model.parameters(), 1.0)
    updates = math.ceil(len(weighted) / size)
    for number in range(updates):
        start, end = (len(weighted) * place // updates for place in (number, number + 1))
        sequences, advantages = zip(*weighted[start:end], strict=True)
        tokens = sum(sum(sequence.loss_mask) for sequence in sequences)
        losses = (grpo_loss(model, batch, CLIP, temperature) for batch in batches(sequences, advantages))
        _update(model, optimizer, losses, tokens, step)


def _update(
    model: Model,
    optimizer: torch.optim.Optimizer,
    losses: Iterable[Tensor],
    tokens: int,
    steepest: float = _MAX_GRADIENT,
) -> float:
    """One update by the mean over tokens of losses that are sums over them; returns that mean.

    A gradient whose norm is greater than `steepest` is made as long as that.
    """
    optimizer.zero_grad()
    total = 0.0
    for loss in losses:
        (loss / tokens).backward()
        total += loss.item() / tokens
    nn.utils.clip_grad_norm_(model.parameters(), steepest)
    optimizer.step()
    return total
