"""What a domain supplies to an environment: one frozen bundle."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from tool_envs.array_rows import RowView
from tool_envs.array_view import ArrayView
from tool_envs.database import BaseData, Database
from tool_envs.episode import Episode
from tool_envs.messages import Json
from tool_envs.reward import TerminalSource, Verdict
from tool_envs.simulators import UserSimulator
from tool_envs.task import Task, TaskSet
from tool_envs.toolkit import Toolkit

SimulatorFactory: TypeAlias = Callable[[Task, Mapping[str, Json]], UserSimulator]
"""Makes the user of one episode from its task and the options of `reset`."""

Grader: TypeAlias = Callable[[Episode], Verdict]
"""Grades an episode that ended. Changes nothing."""

Interface: TypeAlias = Literal["ours", "upstream"]
"""Whose tool descriptions and domain policy the agent sees: written here, or by the benchmark's authors."""


RubricKind: TypeAlias = Literal["reward", "filter"]
"""What a rubric is for: rewards where there is no rule, or keeping trajectories for fine-tuning."""

RecordJson: TypeAlias = Callable[[Database, str, str], Json | None]
"""`(database, table, key)` -> the record as a JSON value; None: there is none, or it shows in others only."""

Solver: TypeAlias = Callable[[Episode], Json]
"""Says an agent's next action from the whole state of an episode, which the agent itself does not see."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Domain:
    """All that is the same for every episode; shared by them and never changed.

    Attributes:
        toolkit: The tools.
        base: The data that every episode starts from.
        tasks: The tasks of the chosen split.
        policy_text: The domain policy, as text for the agent.
        simulators: The kinds of user, by the name that `user=` takes.
        grade: The terminal reward.
        terminal_source: What that comes from.
        grader_digest: Digest of all that decides a grade besides task and database.
        load: A module-level function; `load(*load_arguments)` makes this bundle again in any process. A
            pickled environment carries these two instead of the data.
        load_arguments: Its arguments.
        interface: Whose tool descriptions and domain policy these are.
        reset_options: Options of `reset` that the simulators take, beyond `task_index` and `task_id`.
        make_database: Makes the database of an episode of a task, over data of its own; None: each begins
            with `base`. May raise an InfrastructureError.
        blocking: Whether databases, tools or grader wait for something, such as a process. `areset` and
            `astep` then run in a thread, so that other episodes go on.
        data_digest: Digest of a database.
        record_json: A record of a table as a JSON value, for those who show it.
        progress: How far an episode has come, 0.0 to 1.0, by sub-goals of its task; None: it has none.
        explain: Says why an episode was graded as it was, for those who may see its task; None: it cannot.
        rubric: The own rubric of a task, of a kind: a JSON value of the form `schemas/meta/rubric`, or None
            when it has none. It tells the answer key: for judges, never for an agent. None: no task has one.
        oracle: Solves every task, from any state of an episode that can still be solved; None: there is none.
        saboteurs: Rule id -> the oracle with one deviation, which breaks that rule and nothing else.
        cheats: Name -> a solver that is after the reward without doing the task; none of them may earn it.
        arrays: What the array view needs; None: there is none.
        rows: What the compiled stepper of the array view needs; None: there is none.
    """

    toolkit: Toolkit
    base: BaseData
    tasks: TaskSet
    policy_text: str
    simulators: Mapping[str, SimulatorFactory]
    grade: Grader
    load: Callable[..., "Domain"]
    load_arguments: tuple[Any, ...]
    terminal_source: TerminalSource = "rules"
    grader_digest: str = ""
    interface: Interface = "ours"
    reset_options: frozenset[str] = frozenset()
    make_database: Callable[[Task], Database] | None = None
    blocking: bool = False
    data_digest: Callable[[Database], str] = Database.digest
    record_json: RecordJson = Database.get
    progress: Callable[[Episode], float] | None = None
    explain: Callable[[Episode], dict[str, Json]] | None = None
    rubric: Callable[[Task, RubricKind], Json] | None = None
    oracle: Solver | None = None
    saboteurs: Mapping[str, Solver] = field(default_factory=dict)
    cheats: Mapping[str, Solver] = field(default_factory=dict)
    arrays: ArrayView | None = None
    rows: RowView | None = None

    def open_database(self, task: Task) -> Database:
        """The database of an episode of a task, as it begins.

        Raises:
            InfrastructureError: It could not be made here and now.
        """
        return self.make_database(task) if self.make_database else Database(self.base)

    def __reduce__(self) -> tuple[Callable[..., "Domain"], tuple[Any, ...]]:
        return self.load, self.load_arguments

    def __copy__(self) -> "Domain":
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> "Domain":
        return self
