"""An event loop whose clock jumps over waiting: real sockets, hours in a moment, always the same times."""

import asyncio
import selectors

_GRACE = 0.001  # real seconds in which what was sent over loopback arrives


class _JumpingSelector(selectors.DefaultSelector):
    """Waits for nothing but what is on its way already, and then lets the clock jump instead."""

    def __init__(self):
        super().__init__()
        self.now = 0.0

    def select(self, timeout=None):
        if timeout is None:
            return super().select(None)
        ready = super().select(0) or (super().select(_GRACE) if timeout > 0 else [])
        if not ready:
            self.now += max(0.0, timeout)
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop on virtual time, which begins at 0. Client and server must both run in it."""

    def __init__(self):
        self._clock = _JumpingSelector()
        super().__init__(self._clock)

    def time(self):
        return self._clock.now


def run_virtually(coroutine):
    """`asyncio.run` on virtual time."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(coroutine)
