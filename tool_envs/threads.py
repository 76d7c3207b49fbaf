"""Calls that wait for something other than the event loop, in threads."""

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

_T = TypeVar("_T")


async def run_in_thread(call: Callable[[], _T]) -> _T:
    """The result of a call that runs in a thread of the event loop's pool, whose size bounds such calls.

    Nobody can stop a thread, and it changes what its caller holds. So a cancellation comes through only when
    the call is over: at once, if no thread has begun with it, which then none will.

    Raises:
        CancelledError: It was cancelled; what the call returned or raised is lost.
        Exception: Whatever the call raises.
    """
    begun = threading.Lock()  # taken by who comes first: the thread, or a cancellation

    def begin() -> _T:
        if not begun.acquire(blocking=False):
            raise asyncio.CancelledError
        return call()

    work = asyncio.ensure_future(asyncio.to_thread(begin))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        if begun.acquire(blocking=False):
            work.cancel()
        await _wait_out(work)
        raise


async def _wait_out(work: "asyncio.Future[_T]") -> None:
    """Wait until it is done, however often that is cancelled."""
    while not work.done():
        try:
            await asyncio.wait([work])
        except asyncio.CancelledError:
            continue
    if not work.cancelled():
        work.exception()  # it was looked at, so the event loop need not complain
