"""A user who brings an issue and then does not listen: who works on code works alone."""

from tool_envs.canonical import digest
from tool_envs.errors import UsageError
from tool_envs.messages import Json
from tool_envs.simulators.turn import Turn


class IssueUser:
    """Says the issue, and answers every text with one notice. Never hangs up.

    Args:
        notice: What tells the agent that nobody reads what it says, and what to do instead.
    """

    name = "issue"
    version = "1.0.0"

    def __init__(self, notice: str) -> None:
        self._notice = notice

    @property
    def not_understood(self) -> int:
        """0: it does not listen."""
        return 0

    @property
    def digest(self) -> str:
        """Digest of the notice."""
        return digest({"name": self.name, "version": self.version, "notice": self._notice})

    def reset(self, goal: Json, key: int) -> Turn:  # noqa: ARG002 - the interface of a user
        """The issue: the goal's `problem_statement`.

        Raises:
            UsageError: The goal has none.
        """
        if not (isinstance(goal, dict) and isinstance(goal.get("problem_statement"), str)):
            raise UsageError("The goal of an issue is an object with a text `problem_statement`.")
        return Turn(goal["problem_statement"])

    def respond(self, agent_text: str) -> Turn:  # noqa: ARG002 - the interface of a user
        """The notice."""
        return Turn(self._notice)

    def snapshot(self) -> Json:
        """None: it has no state."""

    def restore(self, snapshot: Json) -> None:
        """Nothing: it has no state."""
