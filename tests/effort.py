"""How long something takes, as a ratio to a reference that runs just before it; never in seconds."""

import time
from collections.abc import Callable


def effort(work: Callable[[], object]) -> float:
    """Time of one run of `work` over that of adding up a million numbers."""
    reference = _seconds(lambda: sum(number for number in range(1_000_000)))
    return _seconds(work) / reference


def _seconds(work: Callable[[], object]) -> float:
    start = time.thread_time()
    work()
    return time.thread_time() - start
