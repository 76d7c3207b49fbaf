"""Records that are made when somebody asks for them."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
R = TypeVar("R")

_KEPT = 8192  # records of each kind


class Kept(dict[K, V]):
    """Values that were made lately, by key; all are dropped when there are too many.

    Args:
        make: Makes the value of a key.
    """

    def __init__(self, make: Callable[[K], V]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, key: K) -> V:
        value = self._make(key)
        if len(self) >= _KEPT:
            self.clear()
        self[key] = value
        return value


class Table(Mapping[str, R], Generic[K, R]):
    """A table of records that are made when they are asked for.

    Args:
        places: All records' places (any hashable), in the order of the table; called for each iteration.
        key: The key at a place.
        find: The place of a key; None when it is no key.
        record: The record at a place.
    """

    def __init__(
        self,
        places: Callable[[], Iterable[K]],
        key: Callable[[K], str],
        find: Callable[[str], K | None],
        record: Callable[[K], R],
    ) -> None:
        self._places, self._key, self._record = places, key, record
        self._found: Kept[str, K | None] = Kept(find)
        self._length: int | None = None

    def get(self, key: str, default: Any = None) -> Any:  # noqa: ANN401 - as in Mapping
        """The record, or the default."""
        place = self._found[key]
        return default if place is None else self._record(place)

    def __getitem__(self, key: str) -> R:
        place = self._found[key]
        if place is None:
            raise KeyError(key)
        return self._record(place)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self._found[key] is not None

    def __iter__(self) -> Iterator[str]:
        return map(self._key, self._places())

    def __len__(self) -> int:
        if self._length is None:
            self._length = sum(1 for _ in self._places())
        return self._length


def padded(values: Sequence[int], length: int, empty: int) -> list[int]:
    """The values and then `empty` up to the length."""
    return [*values, *[empty] * (length - len(values))]
