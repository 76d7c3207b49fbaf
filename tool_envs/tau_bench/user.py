"""The user of a tau-bench episode: any simulator, behind tau-bench's magic substring."""

from collections.abc import Mapping

import msgspec

from tool_envs.messages import Json
from tool_envs.simulators import ReplayUser, Turn, UserSimulator
from tool_envs.task import Task

STOP = "###STOP###"
"""What tau-bench's user writes to hang up: a turn with it ends the episode, unless it is the first."""


class StopTokenUser:
    """Translates between the structured end of a simulator's turn and tau-bench's `###STOP###`."""

    def __init__(self, inner: UserSimulator) -> None:
        self._inner = inner
        self.name, self.version = inner.name, inner.version

    @property
    def not_understood(self) -> int:
        """What the inner simulator did not understand."""
        return self._inner.not_understood

    @property
    def digest(self) -> str:
        """The inner simulator's digest."""
        return self._inner.digest

    def reset(self, goal: Json, key: int) -> Turn:
        """The first turn, whatever stands in it."""
        return self._inner.reset(goal, key)

    def respond(self, agent_text: str) -> Turn:
        """The next turn; the end is written as the stop token, and the stop token is the end."""
        turn = self._inner.respond(agent_text)
        text = STOP if turn.ended and not turn.text else turn.text
        return msgspec.structs.replace(turn, text=text, ended=turn.ended or STOP in text)

    def snapshot(self) -> Json:
        """The inner simulator's state."""
        return self._inner.snapshot()

    def restore(self, snapshot: Json) -> None:
        """Go back to a state of the inner simulator."""
        self._inner.restore(snapshot)


def scripted_user(_: Task, options: Mapping[str, Json]) -> UserSimulator:
    """Says the option `user_turns`, then hangs up."""
    return StopTokenUser(ReplayUser(options.get("user_turns", ())))


def silent_user(_: Task, options: Mapping[str, Json]) -> UserSimulator:  # noqa: ARG001 - one interface for all
    """Says hello and hangs up at the first reply."""
    return StopTokenUser(ReplayUser(["Hello!"]))
