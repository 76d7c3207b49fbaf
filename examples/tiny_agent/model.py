"""A small decoder-only transformer that is quick to learn to copy from its context."""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

_GRAM = 2
"""How many tokens before it the input of each place also holds."""

LOOK_BACK = _GRAM + 1
"""How many tokens before its first place a model is given, for that place and for the key of it."""

_SHARPNESS = 1.2
"""Scale of the queries and keys that look for copies: a match outweighs some hundred other places."""


class Shape(NamedTuple):
    """The sizes of a model."""

    vocabulary: int
    width: int = 128
    heads: int = 4
    layers: int = 2
    context: int = 2048  # tokens


class Cache(NamedTuple):
    """Keys and values of the tokens so far, each of shape (layers, batch, places, width)."""

    keys: Tensor
    values: Tensor


class Model(nn.Module):
    """Pre-norm transformer with rotary positions (Su et al., 2021) and tied embeddings.

    What this agent writes are mostly copies: ids, names, addresses. A transformer finds out how to copy late,
    and suddenly (Olsson et al., In-context learning and induction heads, 2022); this one begins with it. The
    input of a place is made of its token and of the two before it, and the first block looks for the places
    that come after the same input, and brings what stands there: its keys are made of the place before, with
    the weights of the queries. All blocks bring, at first, what they attend to, as it is. From there on all
    weights are free. One of them says how sure the model is: all logits are multiplied by its exponential (as
    in CLIP: Radford et al., 2021).

    Args:
        shape: Its sizes.
    """

    rotations: Tensor

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.embedding = nn.Embedding(shape.vocabulary, shape.width)
        self.gram = nn.ModuleList(nn.Linear(shape.width, shape.width, bias=False) for _ in range(_GRAM))
        self.copying = _Block(shape.width, heads=1)
        self.blocks = nn.ModuleList(_Block(shape.width, shape.heads) for _ in range(shape.layers))
        self.norm = nn.RMSNorm(shape.width)
        self.logit_scale = nn.Parameter(torch.zeros(()))
        nn.init.normal_(self.embedding.weight, std=shape.width**-0.5)
        with torch.no_grad():
            nn.init.orthogonal_(self.copying.to_query.weight, _SHARPNESS)
            self.copying.to_key.weight.copy_(self.copying.to_query.weight)
            self.copying.from_heads.weight.mul_(2)  # so that a copy is louder than all else
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
        inputs = self._inputs(ids)  # the first of them is the place before
        steps = torch.arange(inputs.shape[1] - 1)
        positions = steps[None] if first is None else first[:, None] + steps
        if cache is not None:
            positions = positions.clamp(max=cache.keys.shape[2] - 1)
        x: Tensor = self.copying(inputs[:, 1:], inputs[:, :-1], positions, None, _layer(cache, 0))
        rotation = self.rotations[:, positions][:, :, None]  # (2, batch or 1, 1, places, half)
        for number, block in enumerate(self.blocks, 1):
            x = block(x, x, positions, rotation, _layer(cache, number))
        normed: Tensor = self.norm(x)
        return normed

    def _inputs(self, ids: Tensor) -> Tensor:
        """The input of each place that has `_GRAM` tokens before it."""
        embedded = self.embedding(ids)
        places = ids.shape[1] - _GRAM
        x: Tensor = embedded[:, _GRAM:]
        for distance, linear in enumerate(self.gram, 1):
            x = x + linear(embedded[:, _GRAM - distance : _GRAM - distance + places])
        return x

    def log_probabilities(self, hidden: Tensor, temperature: float = 1.0) -> Tensor:
        """Log-probability of each token to come next, of shape (..., vocabulary)."""
        scale = self.logit_scale.exp() / temperature
        return functional.log_softmax(scale * hidden @ self.embedding.weight.T, dim=-1)

    def empty_cache(self, batch: int, places: int) -> Cache:
        """Room for keys and values."""
        size = (1 + self.shape.layers, batch, places, self.shape.width)
        return Cache(torch.zeros(size), torch.zeros(size))


def _layer(cache: Cache | None, number: int) -> Cache | None:
    return None if cache is None else Cache(cache.keys[number], cache.values[number])


class _Block(nn.Module):
    """Attention, then a perceptron.

    Args:
        width: Of what goes through.
        heads: Of the attention.
    """

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm = nn.RMSNorm(width)
        self.to_query = nn.Linear(width, width, bias=False)
        self.to_key = nn.Linear(width, width, bias=False)
        self.to_value = nn.Linear(width, width, bias=False)
        self.from_heads = nn.Linear(width, width, bias=False)
        self.perceptron = nn.Sequential(
            nn.RMSNorm(width),
            nn.Linear(width, 4 * width, bias=False),
            nn.GELU(),
            nn.Linear(4 * width, width, bias=False),
        )
        nn.init.orthogonal_(self.to_value.weight)
        with torch.no_grad():  # what is attended to, at twice the size of an embedding
            self.from_heads.weight.copy_(2 * width**-0.5 * self.to_value.weight.T)

    def forward(
        self, x: Tensor, keyed: Tensor, positions: Tensor, rotation: Tensor | None, cache: Cache | None
    ) -> Tensor:
        """What it makes of places.

        Args:
            x: What there is of each place, of shape (batch, places, width).
            keyed: What their keys are made of, of the same shape.
            positions: Of the places, int64 of shape (batch or 1, places).
            rotation: Of queries and keys by position; None: they know no positions.
            cache: As `Model.forward` says, of this layer.
        """
        normed = self.norm(x)
        query, key, value = self.to_query(normed), self.to_key(self.norm(keyed)), self.to_value(normed)
        query = _rotate(self._split(query), rotation)
        key = _rotate(self._split(key), rotation)
        if cache is None:
            attended = functional.scaled_dot_product_attention(query, key, self._split(value), is_causal=True)
        else:
            attended = self._attend_cached(query, key.transpose(1, 2).flatten(2), value, positions, cache)
        x = x + self.from_heads(attended.transpose(1, 2).flatten(2))
        return x + self.perceptron(x)

    def _split(self, x: Tensor) -> Tensor:
        """(batch, places, width) -> (batch, heads, places, width of a head)."""
        return x.unflatten(2, (self.heads, -1)).transpose(1, 2)

    def _attend_cached(
        self, query: Tensor, key: Tensor, value: Tensor, positions: Tensor, cache: Cache
    ) -> Tensor:
        """Write keys and values to their positions, and attend to all up to each query's own."""
        rows = torch.arange(len(query))[:, None]
        cache.keys[rows, positions] = key
        cache.values[rows, positions] = value
        end = int(positions.max()) + 1
        visible = torch.arange(end) <= positions[:, None, :, None]
        keys, values = self._split(cache.keys[:, :end]), self._split(cache.values[:, :end])
        return functional.scaled_dot_product_attention(query, keys, values, attn_mask=visible)


def _rotate(x: Tensor, rotation: Tensor | None) -> Tensor:
    if rotation is None:
        return x
    cos, sin = rotation
    one, other = x.chunk(2, dim=-1)
    return torch.cat([one * cos - other * sin, one * sin + other * cos], dim=-1)
