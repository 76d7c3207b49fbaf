"""A user who says recorded turns, whatever the agent says."""

from collections.abc import Sequence

from tool_envs.canonical import digest
from tool_envs.errors import UsageError
from tool_envs.messages import Json
from tool_envs.simulators.turn import Turn


class ReplayUser:
    """Says the given turns in order, the first one at reset, and hangs up silently when they run out.

    Args:
        turns: What the user says. When there are none, the first turn is empty and the next one is the end.

    Raises:
        UsageError: The turns are not a sequence of strings.
    """

    name = "replay"
    version = "1.0.0"

    def __init__(self, turns: Sequence[str]) -> None:
        if isinstance(turns, str) or not all(isinstance(turn, str) for turn in turns):
            raise UsageError(f"The turns of a user are a list of strings, not {turns!r:.80}.")
        self._turns = tuple(turns)
        self._said = 0

    @property
    def not_understood(self) -> int:
        """0: it does not listen."""
        return 0

    @property
    def digest(self) -> str:
        """Digest of the turns."""
        return digest({"name": self.name, "version": self.version, "turns": list(self._turns)})

    def reset(self, goal: Json, key: int) -> Turn:  # noqa: ARG002 - the interface of a user
        """The first turn."""
        self._said = 1
        return Turn(self._turns[0] if self._turns else "")

    def respond(self, agent_text: str) -> Turn:  # noqa: ARG002 - the interface of a user
        """The next turn, or the end."""
        if self._said >= len(self._turns):
            return Turn("", ended=True)
        self._said += 1
        return Turn(self._turns[self._said - 1])

    def snapshot(self) -> Json:
        """How many turns were said."""
        return self._said

    def restore(self, snapshot: Json) -> None:
        """Go on after that many turns."""
        self._said = snapshot
