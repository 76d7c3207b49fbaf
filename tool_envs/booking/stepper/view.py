"""The airline's episodes as rows, for the compiled stepper."""

from typing import Any

import numpy as np
import numpy.typing as npt

from tool_envs.array_view import Verb
from tool_envs.booking.arrays import slot_role, verb_code, verb_tool
from tool_envs.booking.data import BookingBase
from tool_envs.booking.stepper import moves
from tool_envs.booking.stepper.blank import new_room
from tool_envs.booking.stepper.errands import Begun, ErrandMaker
from tool_envs.booking.stepper.rows import Errand, Lane
from tool_envs.booking.stepper.timetable import store_of
from tool_envs.rows import Row
from tool_envs.task import Task


class BookingRows:
    """An airline as `tool_envs.array_rows.RowView` has it.

    Args:
        base: Its data.
    """

    lane, errand = Lane, Errand
    show_firsts = staticmethod(moves.show_firsts)
    run_choices = staticmethod(moves.run_choices)
    run_actions = staticmethod(moves.run_actions)
    slot = staticmethod(slot_role)

    def __init__(self, base: BookingBase) -> None:
        self.work = new_room()
        self._base, self._maker = base, ErrandMaker(base)

    @property
    def store(self) -> npt.NDArray[np.void]:
        """As of `RowView`."""
        store = store_of(self._base)
        return np.array([_plain(store)], _dtype(store))

    def make(self, task: Task, words: Task | None) -> Begun:
        """As of `RowView`."""
        return self._maker.make(task, words)

    def verb(self, verb: Verb) -> tuple[int, int]:
        """As of `RowView`."""
        return verb_code(verb), verb_tool(verb)


def _dtype(value: Any) -> Any:  # noqa: ANN401 - named tuples of lists, rows and such; what `numpy.dtype` takes
    """The dtype of a record with lists of the lengths that they have."""
    if isinstance(value, Row):
        return value.numpy_dtype()
    if hasattr(value, "_fields"):
        return {"names": list(value._fields), "formats": [_dtype(each) for each in value], "aligned": True}
    return "int32", len(value)


def _plain(value: Any) -> Any:  # noqa: ANN401 - as above
    """The same as nested tuples and lists."""
    if isinstance(value, Row):
        return value.values()
    return tuple(map(_plain, value)) if hasattr(value, "_fields") else value
