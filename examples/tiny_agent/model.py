"""A small decoder-only transformer that is quick to learn to copy from its context."""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

LOOK_BACK = 2
"""How many tokens before it the input of each place also holds."""


class Shape(NamedTuple):
    """The sizes of a model."""

    vocabulary: int
    width: int = 128
    heads: int = 4
    layers: int = 2
    context: int = 2048  # tokens


class Cache(NamedTuple):
    """Keys and values of the tokens so far, each of shape (layers, batch, heads, places, width of a head)."""

    keys: Tensor
    values: Tensor


class Model(nn.Module):
    """Pre-norm transformer with rotary positions (Su et al., 2021) and tied embeddings.

    The input of a place is made of its token and of the `LOOK_BACK` tokens before it. So already the first
    layer can look for the place where the last three tokens stood before and copy what came next, which it
    would otherwise have to find out in two layers (Olsson et al., In-context learning and induction heads,
    2022). What this agent writes are mostly copies: ids, names, addresses.

    Args:
        shape: Its sizes.
    """

    rotations: Tensor

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.embedding = nn.Embedding(shape.vocabulary, shape.width)
        self.look_back = nn.ModuleList(
            nn.Linear(shape.width, shape.width, bias=False) for _ in range(LOOK_BACK)
        )
        self.blocks = nn.ModuleList(_Block(shape) for _ in range(shape.layers))
        self.norm = nn.RMSNorm(shape.width)
        nn.init.normal_(self.embedding.weight, std=shape.width**-0.5)
        half = shape.width // shape.heads // 2
        angles = torch.arange(shape.context)[:, None] * 10000.0 ** (-torch.arange(half) / half)
        self.register_buffer("rotations", torch.stack([angles.cos(), angles.sin()]), persistent=False)

    def forward(self, ids: Tensor, first: Tensor | None = None, cache: Cache | None = None) -> Tensor:
        """What the model makes of each place, float of shape (batch, places, width).

        Args:
            ids: int64 of shape (batch, LOOK_BACK + places): the tokens, after those that stand before them
                (padding where nothing does).
            first: Position of each row's first token, int64 of shape (batch,); None: 0.
            cache: Keys and values of the positions before, to which those of these tokens are written; tokens
                for which it has no room, which can only be padding, go to its last place. None: there are
                none.
        """
        places = ids.shape[1] - LOOK_BACK
        embedded = self.embedding(ids)
        x = embedded[:, LOOK_BACK:]
        for distance, linear in enumerate(self.look_back, 1):
            x = x + linear(embedded[:, LOOK_BACK - distance : LOOK_BACK - distance + places])
        steps = torch.arange(places)
        positions = steps[None] if first is None else first[:, None] + steps
        if cache is not None:
            positions = positions.clamp(max=cache.keys.shape[-2] - 1)
        cos, sin = self.rotations[:, positions][:, :, None]  # each (batch or 1, 1, places, half)
        for number, block in enumerate(self.blocks):
            at = None if cache is None else Cache(cache.keys[number], cache.values[number])
            x = block(x, positions, (cos, sin), at)
        normed: Tensor = self.norm(x)
        return normed

    def log_probabilities(self, hidden: Tensor) -> Tensor:
        """Log-probability of each token to come next, of shape (..., vocabulary)."""
        return functional.log_softmax(hidden @ self.embedding.weight.T, dim=-1)

    def empty_cache(self, batch: int, places: int) -> Cache:
        """Room for keys and values."""
        shape = self.shape
        size = (shape.layers, batch, shape.heads, places, shape.width // shape.heads)
        return Cache(torch.zeros(size), torch.zeros(size))


class _Block(nn.Module):
    """Attention, then a perceptron."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        width = shape.width
        self.heads = shape.heads
        self.norm = nn.RMSNorm(width)
        self.to_heads = nn.Linear(width, 3 * width, bias=False)
        self.from_heads = nn.Linear(width, width, bias=False)
        self.perceptron = nn.Sequential(
            nn.RMSNorm(width),
            nn.Linear(width, 4 * width, bias=False),
            nn.GELU(),
            nn.Linear(4 * width, width, bias=False),
        )

    def forward(
        self, x: Tensor, positions: Tensor, rotation: tuple[Tensor, Tensor], cache: Cache | None
    ) -> Tensor:
        batch, places, width = x.shape
        heads = self.to_heads(self.norm(x)).view(batch, places, 3, self.heads, width // self.heads)
        query, key, value = heads.permute(2, 0, 3, 1, 4)
        query, key = _rotate(query, rotation), _rotate(key, rotation)
        if cache is None:
            attended = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        else:
            attended = _attend_cached(query, key, value, positions, cache)
        x = x + self.from_heads(attended.transpose(1, 2).reshape(batch, places, width))
        return x + self.perceptron(x)


def _rotate(x: Tensor, rotation: tuple[Tensor, Tensor]) -> Tensor:
    cos, sin = rotation
    one, other = x.chunk(2, dim=-1)
    return torch.cat([one * cos - other * sin, one * sin + other * cos], dim=-1)


def _attend_cached(query: Tensor, key: Tensor, value: Tensor, positions: Tensor, cache: Cache) -> Tensor:
    """Write keys and values to their positions, and attend to all up to each query's own."""
    rows = torch.arange(len(query))[:, None]
    cache.keys[rows, :, positions] = key.transpose(1, 2)
    cache.values[rows, :, positions] = value.transpose(1, 2)
    end = int(positions.max()) + 1
    visible = torch.arange(end) <= positions[:, None, :, None]
    return functional.scaled_dot_product_attention(
        query, cache.keys[:, :, :end], cache.values[:, :, :end], attn_mask=visible
    )
