"""Counter-based randomness: every draw is a pure function of integers, so that any episode replays alone."""

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

_MASK = 0xFFFFFFFFFFFFFFFF
_ROUNDS = 2  # of a shuffle


def splitmix64(key: int, episode: int, turn: int, k: int) -> int:
    """A 64-bit number that depends on all four integers and on nothing else.

    The finaliser of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014) is
    applied once per integer.

    Args:
        key: 64-bit key of the environment, drawn at its last seeded reset.
        episode: Number of the episode since that reset.
        turn: Number of the turn in the episode.
        k: Number of the draw in the turn.
    """
    state = 0
    for part in (key, episode, turn, k):
        state = (state + 0x9E3779B97F4A7C15 + (part & _MASK)) & _MASK
        state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & _MASK
        state ^= state >> 31
    return state


def draw_below(n: int, key: int, episode: int, turn: int, k: int) -> int:
    """A number in `range(n)`, uniform up to a bias of n / 2**64."""
    return (splitmix64(key, episode, turn, k) * n) >> 64


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


class Shuffle:
    """A permutation of `range(high * low)`: a Feistel network whose halves are added modulo their sizes.

    Args:
        high: Size of one half.
        low: Size of the other.
        key: Seed; another key gives another permutation.
        stream: Number of the permutation under that key.
    """

    def __init__(self, high: int, low: int, key: int, stream: int) -> None:
        self.size = high * low
        self._high, self._low = high, low
        factors = [splitmix64(key, stream, number, 0) | 1 for number in range(2 * _ROUNDS)]
        self._rounds = [(factors[2 * number], factors[2 * number + 1]) for number in range(_ROUNDS)]

    def to(self, index: int) -> int:
        """Where `index` goes."""
        high_size, low_size = self._high, self._low
        high, low = divmod(index, low_size)
        for first, second in self._rounds:
            mixed = (low + 1) * first & _MASK
            high = (high + (((mixed ^ mixed >> 31) * first & _MASK) >> 24)) % high_size
            mixed = (high + 1) * second & _MASK
            low = (low + (((mixed ^ mixed >> 31) * second & _MASK) >> 24)) % low_size
        return high * low_size + low

    def back(self, image: int) -> int:
        """What goes to `image`."""
        high_size, low_size = self._high, self._low
        high, low = divmod(image, low_size)
        for first, second in reversed(self._rounds):
            mixed = (high + 1) * second & _MASK
            low = (low - (((mixed ^ mixed >> 31) * second & _MASK) >> 24)) % low_size
            mixed = (low + 1) * first & _MASK
            high = (high - (((mixed ^ mixed >> 31) * first & _MASK) >> 24)) % high_size
        return high * low_size + low
