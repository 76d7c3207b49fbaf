"""What the commands show: tables on stdout, progress on stderr."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TypeVar

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from tool_envs.evaluation.metrics import Interval

_T = TypeVar("_T")

Tick = Callable[[int | None], None]
"""Moves a progress bar on by one; takes how many there are in all, once that is known."""


def console() -> Console:
    """Standard output. What is printed may hold any text, so nothing in it is read as markup."""
    return Console(markup=False, highlight=False)


def table_of(*columns: str) -> Table:
    """An empty table that folds what is too wide instead of cutting it."""
    table = Table()
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


@contextmanager
def progress(what: str) -> Iterator[Tick]:
    """A progress bar on stderr, when that is a terminal."""
    screen = Console(stderr=True)
    with Progress(console=screen, transient=True, disable=not screen.is_terminal) as bar:
        task = bar.add_task(what, total=None)
        yield lambda total: bar.update(task, total=total, advance=1)


def ticked(values: Iterable[_T], tick: Tick) -> Iterator[_T]:
    """The values, each moving a progress bar on by one."""
    for value in values:
        tick(None)
        yield value


def show_counts(counts: Mapping[str, int]) -> str:
    """Counts in one line; `none` when there are none."""
    return ", ".join(f"{name} {count}" for name, count in counts.items()) or "none"


def show_rate(rate: float | None, digits: int = 3) -> str:
    """A rate or mean; `-` when there is none."""
    return "-" if rate is None else f"{rate:.{digits}f}"


def show_interval(interval: Interval | None, digits: int = 3) -> str:
    """An estimate with its confidence interval; `-` when there is none."""
    if interval is None:
        return "-"
    value = show_rate(interval.value, digits)
    if interval.low is None or interval.high is None:
        return value
    return f"{value} [{interval.low:.{digits}f}, {interval.high:.{digits}f}]"
