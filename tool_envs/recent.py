"""A small cache that is keyed by content and forgets."""

from collections.abc import Callable
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Recent(Generic[K, V]):
    """What was made for the last `size` keys; the oldest is dropped first.

    Args:
        size: How many values are kept.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._values: dict[K, V] = {}

    def get(self, key: K, make: Callable[[], V]) -> V:
        """The value of `key`, made now unless it is kept."""
        value = self._values.get(key)
        if value is None:
            value = self._values[key] = make()
            while len(self._values) > self._size:
                self._values.pop(next(iter(self._values)), None)
        return value
