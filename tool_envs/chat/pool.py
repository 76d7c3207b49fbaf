"""Connections of one event loop, each used by one request at a time."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import httpx


class Pool:
    """Connections that are used again, the one that was used last first.

    Each is an httpx client of its own with one connection: what httpx does for a request grows with the
    square of a client's connections, and a rollout has a thousand of them.

    Args:
        connect: Makes a client of one connection.
        limit: How many there are at once; None: as many as there are requests.
    """

    def __init__(self, connect: "Callable[[], httpx.AsyncClient]", limit: int | None) -> None:
        self._connect = connect
        self._free = asyncio.Semaphore(limit) if limit is not None else contextlib.nullcontext()
        self._idle: list[httpx.AsyncClient] = []
        self._is_closed = False
        self._closer: AsyncGenerator[None, None] | None = None

    @contextlib.asynccontextmanager
    async def connection(self) -> "AsyncIterator[httpx.AsyncClient]":
        """A connection for one request. Once the pool is closed, it is closed after it."""
        async with self._free:
            http = self._idle.pop() if self._idle else self._connect()
            try:
                yield http
            finally:
                if self._is_closed:
                    await http.aclose()
                else:
                    self._idle.append(http)

    async def close_with_loop(self, forget: Callable[[], object]) -> None:
        """Have it closed with the event loop, if it is not closed before.

        The end of `asyncio.run` closes the generators of its loop, and so one that waits for nothing else.

        Args:
            forget: Called when it is closed.
        """
        self._closer = self._wait_for_the_end(forget)
        await anext(self._closer)

    async def aclose(self) -> None:
        """Close it, and all connections that no request has."""
        if self._closer is not None:
            await self._closer.aclose()

    async def _wait_for_the_end(self, forget: Callable[[], object]) -> AsyncGenerator[None, None]:
        try:
            yield
        finally:
            forget()
            self._is_closed = True
            for http in self._idle:
                await http.aclose()
            self._idle.clear()
