"""tau-bench's exact reward: the end state that the gold actions lead to, and what the user had to be told."""

from collections.abc import Mapping, Sequence
from typing import cast

from tool_envs.database import Database
from tool_envs.episode import Episode
from tool_envs.recent import Recent
from tool_envs.reward import Ledger, Verdict, grade
from tool_envs.task import Task
from tool_envs.tau_bench.data import TauData, changes
from tool_envs.tau_bench.tools import TauTool, shown

TRANSFER = "transfer_to_human_agents"
"""The tool that ends an episode; the gold replay leaves it out."""

END_STATE = "end_state"
"""Component of the reward: the database is as the gold actions leave it."""
FACTS_TOLD = "facts_told"
"""Component of the reward, where a task has facts: each was told."""

EndState = Mapping[tuple[str, str], str]
"""The records that differ from the base data, as hash texts."""


class Grader:
    """Grades the end states of one domain.

    One grader serves many environments: all that it keeps is keyed by content.

    Args:
        tools: The domain's tools by name.
        size: How many gold end states are kept.
    """

    def __init__(self, tools: Mapping[str, TauTool], size: int = 2048) -> None:
        self._tools = tools
        self._gold: Recent[tuple[str, str], EndState] = Recent(size)

    def grade_episode(self, episode: Episode) -> Verdict:
        """The reward of an episode that ended."""
        return Verdict(self.grade(episode.task, episode.database, episode.said))

    def grade(self, task: Task, database: Database, said: Sequence[str]) -> Ledger:
        """The reward of an end state.

        Args:
            task: What was to be done.
            database: The state at the end; it is only read.
            said: What the agent said to the user, message by message.
        """
        components = {END_STATE: self._reached(task, database)}
        if task.facts:
            components[FACTS_TOLD] = told(task.facts, said)
        return grade(components)

    def gold_changes(self, task: Task, base: TauData) -> EndState:
        """What the gold actions change; those that fail change nothing and are tolerated."""
        return self._gold.get((base.digest, task.digest), lambda: changes(self._after_gold(task, base)))

    def _reached(self, task: Task, database: Database) -> bool:
        try:
            return changes(database) == self.gold_changes(task, cast("TauData", database.base))
        except (RecursionError, ValueError):  # nested too deeply, too long a number: tau-bench has no hash
            return False

    def _after_gold(self, task: Task, base: TauData) -> Database:
        database = Database(base)
        for call in task.actions:
            if call.name in self._tools and call.name != TRANSFER:
                shown(self._tools[call.name], database, call.arguments)
        return database


def told(facts: Sequence[str], said: Sequence[str]) -> bool:
    """Whether each fact stands in some message, in whatever case; commas in the messages do not count."""
    messages = [content.lower().replace(",", "") for content in said]
    return all(any(fact.lower() in message for message in messages) for fact in facts)
