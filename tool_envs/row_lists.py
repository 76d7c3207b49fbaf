"""Bits, and lists of fixed length in rows: what any domain needs, mostly kernels (see `tool_envs.rows`)."""

import functools
from collections.abc import Callable, Iterable, MutableSequence, Sequence
from typing import Any, TypeAlias, TypeVar

from tool_envs.rows import kernel

R = TypeVar("R")

Out: TypeAlias = Any
"""An array, or a row of one, of numpy: what compiled code can write to by index."""


def filled(rows: Sequence[R], length: int, empty: Callable[[], R]) -> list[R]:
    """The rows and then empty ones up to the length."""
    if len(rows) > length:
        raise ValueError(f"there is room for {length} rows, not for {len(rows)}")
    return [*rows, *(empty() for _ in range(length - len(rows)))]


def as_bits(numbers: Iterable[int]) -> int:
    """An integer in which just the bits with these numbers are set."""
    return functools.reduce(lambda found, number: found | 1 << number, numbers, 0)


@kernel
def ones(bits: int) -> int:
    """How many bits are set."""
    count = 0
    while bits:
        bits &= bits - 1
        count += 1
    return count


@kernel
def append(codes: list[int], code: int, once: bool) -> int:
    """Put a code behind others in a list of fixed length.

    Args:
        codes: The list; -1 behind the last.
        code: -1: none.
        once: A code that is in it already is not added again.

    Returns:
        Its place; -1 when it was not added.
    """
    if code < 0:
        return -1
    for place in range(len(codes)):
        if codes[place] < 0:
            codes[place] = code
            return place
        if once and codes[place] == code:
            return -1
    return -1


@kernel
def replace(out: MutableSequence[int], values: Sequence[int]) -> bool:
    """Write values over those of a list of the same length; tells whether that changes it."""
    is_new = False
    for place in range(len(out)):
        is_new |= out[place] != values[place]
        out[place] = values[place]
    return is_new


@kernel
def clear(out: MutableSequence[int]) -> None:
    """Fill with 0."""
    for place in range(len(out)):
        out[place] = 0


@kernel
def clear_rows(out: Any) -> None:  # noqa: ANN401 - an array of two axes
    """Fill a table with 0."""
    for row in range(out.shape[0]):
        for place in range(out.shape[1]):
            out[row, place] = 0


@kernel
def put_one(out: Out, at: int, code: int, count: int) -> int:
    """Write a code one-hot from a place on, nothing for -1; returns the place behind it."""
    if code >= 0:
        out[at + code] = 1
    return at + count


@kernel
def scaled(cents: int, most: int) -> float:
    """An amount as -1.0 to 1.0."""
    return max(-1.0, min(1.0, cents / most))
