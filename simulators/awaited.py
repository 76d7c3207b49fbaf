"""Users who are far away: each turn of theirs is awaited."""

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any

from tool_envs.chat import Usage
from tool_envs.errors import UsageError
from tool_envs.messages import Json
from tool_envs.simulators.turn import Turn


class AwaitedUser:
    """The base of users behind a network, written once, as coroutines.

    `ToolEnv.areset` and `astep` await them, so that thousands of episodes share one thread; `reset` and
    `step` block until they have answered. The rest of a `UserSimulator` is the subclass's.
    """

    @property
    def cost(self) -> float:
        """US dollars that the episode has cost so far, as far as that is known."""
        return 0.0

    @property
    def usage(self) -> Usage | None:
        """Tokens of the episode's requests so far; None: nobody counted them, or not all."""
        return None

    @property
    def turns(self) -> Sequence[Json] | None:
        """What `options["user_turns"]` must hold for them to say it all again, far from any network.

        None: they cannot.
        """
        return None

    async def areset(self, goal: Json, key: int) -> Turn:
        """The first turn; see `UserSimulator.reset`."""
        raise NotImplementedError

    async def arespond(self, agent_text: str) -> Turn:
        """The turn after the agent said something; see `UserSimulator.respond`."""
        raise NotImplementedError

    def reset(self, goal: Json, key: int) -> Turn:
        """The first turn, waited for.

        Raises:
            UsageError: The thread runs an event loop, which would stand still.
        """
        return _wait_for(self.areset(goal, key))

    def respond(self, agent_text: str) -> Turn:
        """The turn after the agent said something, waited for. Raises as `reset` does."""
        return _wait_for(self.arespond(agent_text))


def _wait_for(turn: Coroutine[Any, Any, Turn]) -> Turn:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(turn)
    turn.close()
    raise UsageError("An event loop runs in this thread: await `areset` and `astep` of the environment.")
