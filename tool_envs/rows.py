"""Rows: flat records of small integers, declared once for Python and for compiled code.

```python
class Parcel(Row):
    weight: int  # grams
    size: Small
    stops: Annotated[list[int], 4]

parcel = Parcel(weight=500, size=2, stops=[7, 8, 0, 0])
numpy.zeros(3, Parcel.numpy_dtype())  # the same fields, as an aligned structured array
```

A function over rows that is marked with `kernel` keeps to what a compiler of Python understands: integers,
fields of rows, lists of fixed length, loops. Python runs it as it stands.
"""

import functools
import typing
from collections.abc import Callable
from typing import Annotated, Any, Self, TypeAlias, TypeVar

import msgspec

from tool_envs.errors import UsageError

F = TypeVar("F", bound=Callable[..., Any])

Small: TypeAlias = Annotated[int, "int16"]
"""An integer of 16 bits in compiled code; a plain `int` has 32."""

_INT = "int32"


class Row(msgspec.Struct):
    """What all rows have. A field is an `int`, a `Small`, or `Annotated[list[int], length]`.

    A list may name its integers too: `Annotated[list[int], length, "int16"]`. Its length never changes.
    """

    def copy(self) -> Self:
        """A row of its own: its fields and lists can be changed without changing this one."""
        new: Self = self.__copy__()  # type: ignore[attr-defined]  # msgspec has it, but does not declare it
        for name in _list_fields(type(self)):
            setattr(new, name, getattr(self, name).copy())
        return new

    @classmethod
    def numpy_dtype(cls) -> dict[str, Any]:
        """What `numpy.dtype` takes for an aligned structured type with the same fields in the same order.

        It is usable wherever numpy takes a dtype; numpy itself is not needed to make it.

        Raises:
            UsageError: A field is declared in another way than `Row` describes.
        """
        layout = _layout(cls)
        return {"names": list(layout), "formats": [*layout.values()], "aligned": True}


@functools.cache
def _list_fields(cls: type[Row]) -> tuple[str, ...]:
    return tuple(name for name, form in _layout(cls).items() if isinstance(form, tuple))


@functools.cache
def _layout(cls: type[Row]) -> dict[str, str | tuple[str, int]]:
    hints = typing.get_type_hints(cls, include_extras=True)
    return {name: _form(f"{cls.__name__}.{name}", hints[name]) for name in cls.__struct_fields__}


def _form(name: str, hint: Any) -> str | tuple[str, int]:  # noqa: ANN401 - any annotation
    """The numpy format of a field: an integer type, or that and a length."""
    kind, *extras = typing.get_args(hint) if typing.get_origin(hint) is Annotated else (hint,)
    match kind, extras:
        case type(), [] if kind is int:
            return _INT
        case type(), [str(integer)] if kind is int:
            return integer
    match extras:
        case [int(length)] if kind == list[int]:
            return _INT, length
        case [int(length), str(integer)] if kind == list[int]:
            return integer, length
    raise UsageError(f"{name}: expected `int`, `Small` or `Annotated[list[int], length]`, got {hint}.")


def kernel(function: F) -> F:
    """Mark a function as one that can be compiled. It is returned as it came."""
    return function
