"""Rows: flat records of small integers, declared once for Python and for compiled code.

```python
class Parcel(Row):
    weight: int  # grams
    size: Small
    stops: Annotated[list[int], 4]

class Van(Row):
    parcels: Annotated[list[Parcel], 2]
    driver: Small

parcel = Parcel(weight=500, size=2, stops=[7, 8, 0, 0])
vans = numpy.zeros(3, Van.numpy_dtype())  # the same fields, as an aligned structured array
vans[0] = Van(parcels=[parcel, parcel.copy()], driver=1).values()
```

A function over rows that is marked with `kernel` keeps to what a compiler of Python understands: integers,
fields of rows, lists of fixed length, loops. Python runs it as it stands.
"""

import functools
import typing
from collections.abc import Callable
from typing import Annotated, Any, Final, Self, TypeAlias, TypeVar

import msgspec

from tool_envs.errors import UsageError

F = TypeVar("F", bound=Callable[..., Any])

Small: TypeAlias = Annotated[int, "int16"]
"""An integer of 16 bits in compiled code; a plain `int` has 32."""
Tiny: TypeAlias = Annotated[int, "int8"]
"""One of 8 bits: a flag, a place in a short list, a few flags as bits."""

_INT = "int32"


class Row(msgspec.Struct):
    """What all rows have.

    A field is an `int`, a `Small`, a `Tiny`, a `Row` or `Annotated[list[...], length]` of these; a list may
    name its integers, too: `Annotated[list[int], length, "int16"]`. Its length never changes.
    """

    def copy(self) -> Self:
        """A row of its own: its fields and lists can be changed without changing this one."""
        new: Self = self.__copy__()  # type: ignore[attr-defined]  # msgspec has it, but does not declare it
        for name, copy in _copiers(type(self)):
            setattr(new, name, copy(getattr(self, name)))
        return new

    def values(self) -> tuple[Any, ...]:
        """The row as nested tuples: what an element of a structured numpy array is assigned from."""
        return tuple(_plain(getattr(self, name)) for name in self.__struct_fields__)

    @classmethod
    def numpy_dtype(cls) -> dict[str, Any]:
        """What `numpy.dtype` takes for an aligned structured type with the same fields in the same order.

        It is usable wherever numpy takes a dtype; numpy itself is not needed to make it.

        Raises:
            UsageError: A field is declared in another way than `Row` describes.
        """
        layout = _layout(cls)
        return {"names": list(layout), "formats": [*layout.values()], "aligned": True}


def _plain(value: Any) -> Any:  # noqa: ANN401 - an integer, a row or a list of either
    if isinstance(value, Row):
        return value.values()
    return [_plain(each) for each in value] if isinstance(value, list) else value


@functools.cache
def _copiers(cls: type[Row]) -> tuple[tuple[str, Callable[[Any], Any]], ...]:
    """For each field that holds something that changes, how it is copied."""
    found: list[tuple[str, Callable[[Any], Any]]] = []
    for name, form in _layout(cls).items():
        if isinstance(form, dict):
            found.append((name, Row.copy))
        elif isinstance(form, tuple):
            found.append((name, _copy_rows if isinstance(form[0], dict) else list.copy))
    return tuple(found)


def _copy_rows(rows: list[Row]) -> list[Row]:
    return [row.copy() for row in rows]


@functools.cache
def _layout(cls: type[Row]) -> dict[str, Any]:
    """Name of a field -> its format, as numpy has it."""
    hints = typing.get_type_hints(cls, include_extras=True)
    return {name: _form(f"{cls.__name__}.{name}", hints[name]) for name in cls.__struct_fields__}


def _form(name: str, hint: Any) -> Any:  # noqa: ANN401 - any annotation, any format
    """The numpy format of a field: of an integer or a row, or that and a length."""
    kind, *extras = typing.get_args(hint) if typing.get_origin(hint) is Annotated else (hint,)
    match kind, extras:
        case type(), [] if kind is int:
            return _INT
        case type(), [] if issubclass(kind, Row):
            return kind.numpy_dtype()
        case type(), [str(integer)] if kind is int:
            return integer
    if typing.get_origin(kind) is list:
        (element,) = typing.get_args(kind)
        match extras:
            case [int(length)]:
                return _form(name, element), length
            case [int(length), str(integer)] if element is int:
                return integer, length
    raise UsageError(
        f"{name}: expected `int`, `Small`, `Tiny`, a `Row` or `Annotated[list[...], length]` of these, "
        f"got {hint}."
    )


KERNELS: Final[list[Callable[..., Any]]] = []
"""All functions that are marked with `kernel`, in the order in which they were."""


def kernel(function: F) -> F:
    """Mark a function as one that can be compiled. It is returned as it came."""
    KERNELS.append(function)
    return function


def prefetch(part: Any) -> None:  # noqa: ANN401 - see below
    """Ask for a row, or a row or list in one, that is read soon.

    It changes nothing: Python does nothing here, and `tool_envs.arrays.compiled` makes instructions of it, by
    which the processor brings it into its cache while it goes on.
    """
