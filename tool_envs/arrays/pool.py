"""Tasks as arrays: a pool that is made once and kept on disk, or one that is refilled without end."""

import hashlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

import tool_envs
import tool_envs.schemas
import tool_envs.simulators
from tool_envs.array_rows import RowView
from tool_envs.arrays.compiled import files_digest, saying_when_slow
from tool_envs.canonical import digest
from tool_envs.domain import Domain
from tool_envs.errors import DataFileError
from tool_envs.randomness import draw_below
from tool_envs.task import Task
from tool_envs.user_cache import cache_folder

Words: TypeAlias = Literal["heard", "blanked", "shuffled"]
"""Whose words are heard."""

_STREAM = 30  # of the random words of this module

Records = npt.NDArray[np.void]
"""A structured array."""


class Pool:
    """Places for tasks as rows, with the rows of their episodes when they begin.

    Args:
        domain: Whose tasks.
        rows: How they become rows.
        size: How many places there are.
        words: Whose words are heard: `heard`, the user's own; for controls `blanked`, nobody's, or
            `shuffled`, those of the user of another task, which is drawn for each.
        record: What makes a numpy dtype of a row's.

    Attributes:
        errands: The tasks.
        starts: The episodes.
    """

    def __init__(
        self,
        domain: Domain,
        rows: RowView,
        size: int,
        words: Words,
        record: Callable[[Any], np.dtype[Any]],
    ) -> None:
        self._domain, self._rows, self._words = domain, rows, words
        self.errands: Records = np.zeros(size, record(rows.errand.numpy_dtype()))
        self.starts: Records = np.zeros(size, record(rows.lane.numpy_dtype()))

    def put(self, places: Sequence[int], tasks: Sequence[int]) -> None:
        """Put tasks, by their indexes, into places."""
        for place, index in zip(places, tasks, strict=True):
            task = self._domain.tasks[index]
            errand, lane = self._rows.make(task, self._spoken(index))
            self.errands[place], self.starts[place] = errand.values(), lane.values()

    def _spoken(self, index: int) -> Task | None:
        """The task whose user's words are heard in a task."""
        if self._words == "blanked":
            return None
        tasks = self._domain.tasks
        if self._words == "heard" or len(tasks) == 1:
            return tasks[index]
        # Not the next one: families of tasks take turns, so that its words would tell the family.
        return tasks[(index + 1 + draw_below(len(tasks) - 1, 0, _STREAM, index, 0)) % len(tasks)]

    def fill(self) -> None:
        """Put task i into place i, all of them; from the user's cache, where they are kept.

        Raises:
            DataFileError: The file in the cache is damaged.
        """
        size = len(self.errands)
        file = cache_folder("tasks") / f"{self._digest(size)}.bin"
        if file.exists():
            self._read(file)
            return
        with saying_when_slow(f"tool_envs: making {size} tasks of {self._rows.lane.__module__}, once ..."):
            self.put(range(size), range(size))
        self._write(file)

    def _digest(self, size: int) -> str:
        """All that decides what the tasks are: the domain's arguments, and all code."""
        loaded = self._domain.load
        arguments = [str(each) for each in self._domain.load_arguments]
        layouts = [str(records.dtype.descr) for records in (self.errands, self.starts)]
        return digest(
            [loaded.__module__, loaded.__qualname__, arguments, size, self._words, code_digest(), layouts]
        )

    def _write(self, file: Path) -> None:
        content = self.errands.tobytes() + self.starts.tobytes()
        # Never half a file under its name, whoever else writes it.
        part = file.with_suffix(f".{os.getpid()}.part")
        part.write_bytes(hashlib.sha256(content).digest() + content)
        part.replace(file)

    def _read(self, file: Path) -> None:
        whole = file.read_bytes()
        content = memoryview(whole)[32:]
        sizes = self.errands.nbytes, self.starts.nbytes
        if len(content) != sum(sizes) or hashlib.sha256(content).digest() != whole[:32]:
            raise DataFileError(str(file), "it is damaged; delete it, and it will be made again")
        for records, part in zip(
            (self.errands, self.starts), (content[: sizes[0]], content[sizes[0] :]), strict=True
        ):
            records[:] = np.frombuffer(part, records.dtype)


def code_digest() -> str:
    """Digest of all code of this package."""
    packages = (tool_envs, tool_envs.schemas, tool_envs.simulators)
    folders = [Path(path) for package in packages for path in package.__path__]
    return files_digest(sorted({file for folder in folders for file in folder.rglob("*.py")}))
