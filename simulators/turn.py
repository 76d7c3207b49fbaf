"""What a simulated user is: the interface, and one turn of theirs.

The acts of a turn are JSON objects, `{"act": ..., ...}`, for rules and array views. No agent sees them:

* `wish` (`kind`, `tool`, `wish`: its number, `told`: what its opening says), `ask` (`wish`): brought up;
* `inform` (`slot`, `value`; `wish` when it is about one), `unknown` (`slot`), `hold_back`: answers;
* `affirm` (`tool`, `arguments`: the proposal as it was understood, and what was added): a yes;
* `deny`: a no, which revokes every open yes; `correct` (`slot`, `value`): what is wanted instead;
* `accept_no` (`wish`), `insist`: after the agent's no;
* `ask_details`, `ask_again`, `wait`, `thank`, `bye`.

A slot in `told`, `inform` and `correct` is an argument of the write with its whole value, or something beside
its arguments with what it means. Of an argument that holds objects, `told` and `inform` may have only members
(`date` with all dates). What has no single value is told by the words for it.
"""

from typing import Protocol

import msgspec

from tool_envs.messages import Json


class Turn(msgspec.Struct, frozen=True):
    """One turn of the user.

    Attributes:
        text: What they say; the only part that the agent sees.
        acts: The dialogue acts behind it (JSON objects), for rules and array views.
        ended: They have hung up: the episode ends after this turn.
    """

    text: str
    acts: tuple[Json, ...] = ()
    ended: bool = False


class UserSimulator(Protocol):
    """A user of one episode. Its whole state is what `snapshot` returns."""

    name: str
    """Names the kind of user in records and slices."""
    version: str
    """Grows with every change that can move a score."""

    @property
    def not_understood(self) -> int:
        """How many messages of the agent they did not understand so far."""

    @property
    def digest(self) -> str:
        """Digest of all that decides its behaviour besides goal and key."""

    def reset(self, goal: Json, key: int) -> Turn:
        """Start an episode: the first turn. `key` is the 64-bit key of all the user's choices in it."""

    def respond(self, agent_text: str) -> Turn:
        """The user's turn after the agent said something.

        Raises:
            InfrastructureError: The user could not be reached (a model server is down, say).
        """

    def snapshot(self) -> Json:
        """The state now, as a value that nobody changes."""

    def restore(self, snapshot: Json) -> None:
        """Go back to the state of a snapshot."""
