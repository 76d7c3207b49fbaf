"""What a domain of customer service tells the shared parts about itself."""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from tool_envs.consent import Pairs
from tool_envs.database import Database
from tool_envs.facts import FactReader
from tool_envs.rules import Called, Rule
from tool_envs.service.versions import NO_RENAMES, Renames
from tool_envs.simulators.goal import UserGoal
from tool_envs.simulators.phrasing import Phrases
from tool_envs.task import Task
from tool_envs.toolkit import Toolkit

State: TypeAlias = frozenset[tuple[str, str, bytes]]
"""The records that differ from the base data and count for the end state: table, key, JSON."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Desk:
    """A service desk: its tools and rules, as progress, oracle and grading need to know them.

    Everything is as under the first schema version; `renames` leads there.

    Attributes:
        grader: Name and version of all that decides a grade: `retail/1`.
        toolkit: The tools under the first schema version.
        rules: The domain policy.
        writes: The tools that a customer must say yes to.
        record: The argument of writes that names the record that is changed (`order_id`).
        found: The user id that a successful call found; empty when it is no call that finds a customer.
        state: What of a database counts for the end state.
        phrases: What people say here.
        facts: Finds facts in what was said.
        words: Type of fact -> all answers that there could be (`status` -> all statuses).
        reasons: Words of which one stands in a reason for a no.
        pairs: Arguments of which elements at the same place belong together.
        ordered: Arguments that are lists of objects whose order counts.
        renames: What later schema versions call parameters.
    """

    grader: str
    toolkit: Toolkit
    rules: tuple[Rule, ...]
    writes: Collection[str]
    record: str
    found: Callable[[Called], str]
    state: Callable[[Database], State]
    phrases: Phrases
    facts: FactReader
    reasons: re.Pattern[str]
    words: Mapping[str, Collection[str]] = field(default_factory=dict)
    pairs: Pairs = ()
    ordered: Collection[str] = ()
    renames: Renames = NO_RENAMES


def goal_of(task: Task) -> UserGoal:
    """The goal of a task that the shared task maker made."""
    goal: UserGoal = task.goal
    return goal
