"""The random choices that make a task."""

from collections.abc import Sequence
from typing import TypeVar

from tool_envs.randomness import draw_below

T = TypeVar("T")


class Draws:
    """Choices made one after the other; each is a function of the seed, the stream, the index and its number.

    Args:
        seed: 64 bits.
        stream: Keeps the choices of different makers apart.
        index: What is made.
    """

    def __init__(self, seed: int, stream: int, index: int) -> None:
        self._place = (seed, stream, index)
        self._number = 0

    def below(self, n: int) -> int:
        """A number in `range(n)`."""
        self._number += 1
        return draw_below(n, *self._place, self._number)

    def pick(self, values: Sequence[T]) -> T:
        """One of the values."""
        return values[self.below(len(values))]
