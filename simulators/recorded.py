"""A user who says recorded turns, and whose acts are read from those words."""

from collections.abc import Sequence

import msgspec

from tool_envs.messages import Json
from tool_envs.simulators.agenda import checked_goal
from tool_envs.simulators.agenda_plan import wish_act
from tool_envs.simulators.goal import UserGoal
from tool_envs.simulators.human import acts_of
from tool_envs.simulators.phrasing import Phrases
from tool_envs.simulators.replay import ReplayUser
from tool_envs.simulators.turn import Turn


class RecordedUser:
    """Says the given turns like `ReplayUser`; a yes, a no and the values named in them are acts.

    Args:
        turns: What the user says.
        phrases: The sentences of the domain.

    Raises:
        UsageError: A turn is no text.
    """

    name = "recorded"
    version = "1.0.0"

    def __init__(self, turns: Sequence[str], phrases: Phrases) -> None:
        self._replay = ReplayUser(turns)
        self._phrases = phrases
        self._goal: UserGoal | None = None

    @property
    def not_understood(self) -> int:
        """0: it does not listen."""
        return 0

    @property
    def digest(self) -> str:
        """Digest of the turns."""
        return self._replay.digest

    def reset(self, goal: Json, key: int) -> Turn:
        """The first turn; all wishes of the goal count as brought up by it."""
        self._goal = checked_goal(goal, self._phrases)
        acts = tuple(wish_act(wish, number) for number, wish in enumerate(self._goal.wishes))
        return msgspec.structs.replace(self._replay.reset(goal, key), acts=acts)

    def respond(self, agent_text: str) -> Turn:
        """The next turn, or the end."""
        turn = self._replay.respond(agent_text)
        if self._goal is None or turn.ended:
            return turn
        acts = acts_of(turn.text, agent_text, self._goal, self._phrases)
        return msgspec.structs.replace(turn, acts=tuple(acts))

    def snapshot(self) -> Json:
        """The goal, and how many turns were said."""
        return (self._goal, self._replay.snapshot())

    def restore(self, snapshot: Json) -> None:
        """Go on after that many turns."""
        self._goal, said = snapshot
        self._replay.restore(said)
