"""One episode: everything that it does not share with others, in one object."""

from typing import Any

import msgspec

from tool_envs.database import Database, Snapshot
from tool_envs.messages import Json, Message
from tool_envs.process import ProcessReward
from tool_envs.reward import Outcome, TerminalSource
from tool_envs.simulators import UserSimulator
from tool_envs.task import Task


class EpisodeSnapshot(msgspec.Struct, frozen=True):
    """One moment of an episode, which later steps do not change.

    Attributes:
        fields: The episode's own fields, but for database and user.
        changed: What it had changed in the database.
        user_state: The state of its user.
    """

    fields: dict[str, Any]
    changed: Snapshot
    user_state: Json


class Episode(msgspec.Struct, kw_only=True):
    """The state of one episode.

    Attributes:
        number: How many episodes came before it since the last seeded reset.
        task: The task.
        options: The options that `reset` was given.
        database: The data, copy on write.
        user: The simulated user.
        terminal_source: What gives its terminal reward.
        history: The conversation.
        said: All that the agent said to the user, in order.
        steps: Actions taken.
        process: Sum of the process rewards; None when they were not asked for.
        process_reward: What gives them.
        ended_by: `user` or `agent` once one of them ended it.
        outcome: How it ended, once it did.
    """

    number: int
    task: Task
    options: dict[str, Json]
    database: Database
    user: UserSimulator
    terminal_source: TerminalSource = "rules"
    history: list[Message] = []
    said: list[str] = []
    steps: int = 0
    process: float | None = None
    process_reward: ProcessReward | None = None
    ended_by: str = ""
    outcome: Outcome | None = None

    def snapshot(self) -> EpisodeSnapshot:
        """This moment; costs a few shallow copies."""
        fields = {name: getattr(self, name) for name in _OWN_FIELDS}
        fields["history"], fields["said"] = self.history.copy(), self.said.copy()
        return EpisodeSnapshot(fields, self.database.snapshot(), self.user.snapshot())

    @classmethod
    def from_snapshot(cls, snapshot: EpisodeSnapshot, database: Database, user: UserSimulator) -> "Episode":
        """An episode of its own at that moment, which shares nothing that changes with the first one.

        Args:
            snapshot: The moment; it stays usable.
            database: A fresh database for the same task.
            user: A fresh user of the same kind, for the same task and options.
        """
        fields = dict(snapshot.fields)
        fields["history"], fields["said"] = fields["history"].copy(), fields["said"].copy()
        database.restore(snapshot.changed)
        user.restore(snapshot.user_state)
        return cls(database=database, user=user, **fields)


_OWN_FIELDS = tuple(name for name in Episode.__struct_fields__ if name not in ("database", "user"))
