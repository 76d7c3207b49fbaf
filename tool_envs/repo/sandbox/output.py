"""What a command wrote, kept within a bound: the beginning and the end."""


class BoundedOutput:
    """Takes bytes without end and keeps `limit` of them: half from the beginning, half from the end.

    Args:
        limit: In bytes.
    """

    def __init__(self, limit: int) -> None:
        self._head_size = limit - limit // 2
        self._tail_size = limit // 2
        self._head = bytearray()
        self._tail = bytearray()
        self._left_out = 0

    def add(self, data: bytes) -> None:
        """Take what was written next."""
        room = self._head_size - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        beyond = len(self._tail) - self._tail_size
        if beyond > 0:
            del self._tail[:beyond]
            self._left_out += beyond

    def text(self) -> str:
        """All of it, or the two ends with a mark between them that says how much is missing."""
        if not self._left_out:
            return (self._head + self._tail).decode(errors="replace")
        mark = f"\n[... {self._left_out} bytes left out ...]\n"
        return self._head.decode(errors="replace") + mark + self._tail.decode(errors="replace")
