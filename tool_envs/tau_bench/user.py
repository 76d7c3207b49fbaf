"""The user of a tau-bench episode: any simulator, behind tau-bench's magic substring."""

from typing import Any

import msgspec

from tool_envs.messages import Json
from tool_envs.simulators import ReplayUser, Turn, UserSimulator
from tool_envs.task import Task

STOP = "###STOP###"
"""What tau-bench's user writes to hang up: a turn that contains it ends the episode, but not the first turn."""


class StopTokenUser:
    """Translates between the structured end of a simulator's turn and tau-bench's `###STOP###`."""

    def __init__(self, inner: UserSimulator) -> None:
        self._inner = inner
        self.name, self.version = inner.name, inner.version

    @property
    def digest(self) -> str:
        return self._inner.digest

    def reset(self, goal: Json, key: int) -> Turn:
        return self._inner.reset(goal, key)

    def respond(self, agent_text: str) -> Turn:
        turn = self._inner.respond(agent_text)
        text = STOP if turn.ended and not turn.text else turn.text
        return msgspec.structs.replace(turn, text=text, ended=turn.ended or STOP in text)

    def snapshot(self) -> Json:
        return self._inner.snapshot()

    def restore(self, snapshot: Json) -> None:
        self._inner.restore(snapshot)


def scripted_user(_: Task, options: dict[str, Any]) -> UserSimulator:
    """Says the option `user_turns`, then hangs up."""
    return StopTokenUser(ReplayUser(options.get("user_turns", ())))


def silent_user(_: Task, options: dict[str, Any]) -> UserSimulator:  # noqa: ARG001 - one interface for all
    """Says hello and hangs up at the first reply."""
    return StopTokenUser(ReplayUser(["Hello!"]))
