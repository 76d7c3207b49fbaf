"""What the tiny agent is trained on: sequences of tokens with masks, and two losses over them."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from tiny_agent.model import LOOK_BACK, Model
from tool_envs.trajectory import TokenSequence

TOKENS_AT_ONCE = 2048
"""Tokens, padding included, that go through the model at once."""


class Batch(NamedTuple):
    """Sequences side by side.

    Attributes:
        ids: int64 of shape (batch, LOOK_BACK + places); 0 where there is no token.
        mask: bool of shape (batch, places): the tokens that are trained on.
        logprobs: float of shape (batch, places): what the sampler gave each; 0.0 where nothing was sampled.
        advantages: float of shape (batch,).
    """

    ids: Tensor
    mask: Tensor
    logprobs: Tensor
    advantages: Tensor


def batches(
    sequences: Sequence[TokenSequence], advantages: Sequence[float], size: int = TOKENS_AT_ONCE
) -> Iterator[Batch]:
    """All sequences, those of like lengths together.

    Args:
        sequences: The sequences.
        advantages: Of each.
        size: How many tokens a batch may have with its padding; a longer sequence is a batch of its own.
    """
    order = sorted(range(len(sequences)), key=lambda place: len(sequences[place].input_ids))
    while order:
        longest = len(sequences[order[-1]].input_ids)
        count = max(1, size // longest)
        order, taken = order[:-count], order[-count:]
        yield _collate([sequences[n] for n in taken], [advantages[n] for n in taken], longest)


def _collate(sequences: Sequence[TokenSequence], advantages: Sequence[float], places: int) -> Batch:
    ids = torch.zeros(len(sequences), LOOK_BACK + places, dtype=torch.int64)
    mask = torch.zeros(len(sequences), places, dtype=torch.bool)
    logprobs = torch.zeros(len(sequences), places)
    for row, sequence in enumerate(sequences):
        length = len(sequence.input_ids)
        ids[row, LOOK_BACK : LOOK_BACK + length] = torch.tensor(sequence.input_ids)
        mask[row, :length] = torch.tensor(sequence.loss_mask, dtype=torch.bool)
        logprobs[row, :length] = torch.tensor(sequence.logprobs)
    return Batch(ids, mask, logprobs, torch.tensor(advantages))


def masked_logprobs(model: Model, batch: Batch, temperature: float = 1.0) -> Tensor:
    """Log-probability of each token that the mask lets through, row by row; each is foretold by those before.

    A first token has nothing before it: its mask must be 0.
    """
    hidden = model(batch.ids[:, :-1])[batch.mask[:, 1:]]
    targets = batch.ids[:, LOOK_BACK + 1 :][batch.mask[:, 1:]]
    return model.log_probabilities(hidden, temperature).gather(1, targets[:, None])[:, 0]


def supervised_loss(model: Model, batch: Batch) -> Tensor:
    """Sum over the masked tokens of -log p."""
    return -masked_logprobs(model, batch).sum()


def grpo_loss(model: Model, batch: Batch, clip: float, temperature: float = 1.0) -> Tensor:
    """Sum over the masked tokens of the clipped objective of PPO, negated, without a KL term.

    Of a token with ratio r = p / p_when_sampled and its trajectory's advantage A:
    -min(r * A, clamp(r, 1 - clip, 1 + clip) * A).

    Source: Shao et al., DeepSeekMath, 2024, arXiv 2402.03300, equation 3, summed over tokens rather than
    averaged in each trajectory, as in Yu et al., DAPO, 2025, arXiv 2503.14476.
    """
    ratio = (masked_logprobs(model, batch, temperature) - batch.logprobs[:, 1:][batch.mask[:, 1:]]).exp()
    advantage = batch.advantages[:, None].expand_as(batch.mask[:, 1:])[batch.mask[:, 1:]]
    clipped = ratio.clamp(1 - clip, 1 + clip)
    return -torch.minimum(ratio * advantage, clipped * advantage).sum()
