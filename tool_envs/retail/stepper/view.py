"""The store's episodes as rows, for the compiled stepper."""

from typing import Any

import numpy as np
import numpy.typing as npt

from tool_envs.array_view import Verb
from tool_envs.retail.arrays import slot_role, verb_code, verb_tool
from tool_envs.retail.data import RetailBase
from tool_envs.retail.scene.words import shelves_of
from tool_envs.retail.stepper import moves
from tool_envs.retail.stepper.errands import Begun, ErrandMaker, new_room
from tool_envs.retail.stepper.rows import Errand, Lane
from tool_envs.retail.stepper.sentences import book
from tool_envs.task import Task


class RetailRows:
    """A store as `tool_envs.array_rows.RowView` has it.

    Args:
        base: Its data.
    """

    lane, errand = Lane, Errand
    show_firsts = staticmethod(moves.show_firsts)
    run_choices = staticmethod(moves.run_choices)
    run_actions = staticmethod(moves.run_actions)
    slot = staticmethod(slot_role)

    def __init__(self, base: RetailBase) -> None:
        self.work = new_room()
        self._base, self._maker = base, ErrandMaker(base)

    @property
    def store(self) -> npt.NDArray[np.void]:
        """As of `RowView`."""
        shelves = shelves_of(self._base.catalog)
        sentences = book()
        dtype: Any = {
            "names": ["shelves", "book"],
            "formats": [_shelves_dtype(shelves), sentences.numpy_dtype()],
            "aligned": True,
        }
        store: npt.NDArray[np.void] = np.array([(_plain(shelves), sentences.values())], np.dtype(dtype))
        return store

    def make(self, task: Task, words: Task | None) -> Begun:
        """As of `RowView`."""
        return self._maker.make(task, words)

    def verb(self, verb: Verb) -> tuple[int, int]:
        """As of `RowView`."""
        return verb_code(verb), verb_tool(verb)


def _shelves_dtype(shelves: Any) -> Any:  # noqa: ANN401 - a named tuple; what `numpy.dtype` takes
    """Shelves as a record whose lists have the lengths that they have."""
    formats = [
        _shelves_dtype(value) if hasattr(value, "_fields") else ("int32", len(value)) for value in shelves
    ]
    return {"names": list(shelves._fields), "formats": formats, "aligned": True}


def _plain(shelves: Any) -> tuple[Any, ...]:  # noqa: ANN401 - a named tuple of lists or of such
    return tuple(_plain(value) if hasattr(value, "_fields") else value for value in shelves)
