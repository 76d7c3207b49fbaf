"""What a domain supplies for the compiled stepper of its array view, and the rows of the stepper itself.

The domain's part of a step comes as functions, its *moves* (see `tool_envs.array_steps` for what calls them):

* `begin(lane, tool)`: an action is begun; `tool` is the write that it calls or proposes, or -1;
* `allow_verbs(lane, store, policy, codes, out)`: which verbs are allowed; writes 1 or 0 for each;
* `allow_choices(lane, store, policy, code, role, place, width, out)`: which choices of the next slot are;
* `allow_anywhere(lane, store, policy, code, tool, role, place, width, room, out)`: which choices of a slot
  some allowed action of a verb has; `room` is room for a mask;
* `choose(lane, store, role, place, choice)`: a choice is made, -1 for none; False: there is no such row;
* `fits(lane, store, code)`: whether an action that can be expressed can come of the choices so far;
* `act(lane, errand, store, code, work)`: the action is carried out; answers bits: `ENDED` when it ends the
  episode, and then `lane.reward` is its reward; `OPENED` when other choices may be allowed now; and above
  `TABLES` a bit for each part of the observation that may look different now;
* `show(lane, store, out, changed)`: makes the tables of those parts anew;
* `expect_lane(lane)` and then `expect_errand(lane, errand, begun)`: asks for what a step in the lane will
  read, by `tool_envs.rows.prefetch`; `begun`: an action is half made.

`lane`, `errand`, `store` and `work` are the domain's rows: an episode, its task, what never changes, and room
to work in. `code`, `role` and `place` are what it knows verbs and slots by.
"""

from collections.abc import Callable
from typing import Annotated, Any, Final, NamedTuple, Protocol, TypeAlias

from tool_envs.array_view import Slot, Verb
from tool_envs.rows import Row, Small
from tool_envs.task import Task

MAX_SLOTS: Final = 16
"""Most slots of one verb."""

ENDED: Final = 1
OPENED: Final = 2
TABLES: Final = 2
"""Place of the first of a domain's own bits in what `act` answers."""
ALL_CHANGED: Final = -1
"""All bits."""

OUTCOME: Final = (
    *(("reward", "f8"), ("success", "f8"), ("steps", "i8"), ("choices", "i8"), ("task_index", "i8")),
    *(("terminated", "?"), ("truncated", "?")),
)
"""Fields of what a step answers for a lane, as `numpy.dtype` takes them."""

Move: TypeAlias = Callable[..., Any]
"""A function of a domain."""


class SlotForm(Row):
    """A slot of a verb, as kernels need it.

    Attributes:
        role: What the domain knows it by.
        place: Which of the values of an array parameter; 0 for others.
        width: How many things can be chosen.
        choices: How many indexes: one more where there is "no more".
        needs: Number of the slot before without which there is none, or -1.
        source: In the form `sequential`: index of its first choice.
        start: In the form `sequential`: its first field in `partial`, or -1; in `multidiscrete`: of the mask.
        dimension: In the form `multidiscrete`: which it is.
    """

    role: Small
    place: Small
    width: Small
    choices: Small
    needs: Small
    source: Small
    start: Small
    dimension: Small


class VerbForm(Row):
    """A verb, as kernels need it.

    Attributes:
        code: What the domain knows it by.
        tool: The write that it calls or proposes, or -1.
        field: Its field in `partial`, or -1.
        count: How many slots it has.
        slots: They; those behind `count` mean nothing.
    """

    code: Small
    tool: Small
    field: Small
    count: Small
    slots: Annotated[list[SlotForm], MAX_SLOTS]


class Rules(Row):
    """What holds in all episodes.

    Attributes:
        policy: 1: masks allow what is of use; 0: what can be expressed.
        max_steps: Actions until an episode is truncated.
        max_choices: Choices, likewise.
        tasks: How many tasks there are to draw from; at most 2**32.
        restarts: 1: a step of an episode that is over starts the next one, with a task of the pool.
    """

    policy: Small
    max_steps: int
    max_choices: int
    tasks: Annotated[int, "int64"]
    restarts: Small


class Play(Row):
    """Where an episode stands beside what the domain knows of it.

    Attributes:
        slot: Where its task is in the pool.
        verb: The verb of an action that is half made; -1: none is.
        count: How many of its slots are done with.
        chosen: For each of these the index chosen, or `SKIPPED`.
        steps: Actions carried out.
        choices: Choices taken.
        invalid: 1 when the last one was not possible.
        reward: Of the last one.
        terminated: 1 when it ended the episode.
        truncated: 1 when there were too many.
        total: Actions carried out in this lane, in all of its episodes.
        key: Of the lane, as `ToolEnv` has it.
        number: Of the episode since the lane was seeded; -1: there was none.
        task: Index of its task.
    """

    slot: int
    verb: Small
    count: Small
    chosen: Annotated[list[int], MAX_SLOTS, "int16"]
    steps: int
    choices: int
    invalid: Small
    reward: Small
    terminated: Small
    truncated: Small
    total: Annotated[int, "int64"]
    key: Annotated[int, "uint64"]
    number: Annotated[int, "int64"]
    task: Annotated[int, "int64"]


class Moves(NamedTuple):
    """A domain's functions; see the module."""

    begin: Move
    allow_verbs: Move
    allow_choices: Move
    allow_anywhere: Move
    choose: Move
    fits: Move
    act: Move
    show: Move
    expect_lane: Move
    expect_errand: Move


class Table(Protocol):
    """A layout, as kernels need it: one record, since it has as many verbs and slots as the layout has.

    Attributes:
        codes: Of all verbs, int16.
        tools: Likewise.
        verbs: All verbs.
        slots: All slots, each once.
        one: Room for a mask of a slot, int8.
        some: Likewise.
    """

    codes: Any
    tools: Any
    verbs: Any
    slots: Any
    one: Any
    some: Any


class Lanes(NamedTuple):
    """The arrays of many episodes; those that are changed come first.

    Attributes:
        plays: `Play`, one for each lane.
        given: Observations as the caller gets them, likewise.
        outcomes: What the caller gets beside them, likewise: `OUTCOME`.
        play: One `Play` more.
        lanes: The domain's rows, likewise.
        seen: Observations, likewise: the tables, `invalid`, `left`, in the form `sequential` `partial`, and
            `action_mask`.
        work: One of the domain's rows to work in.
        errands: The tasks of the pool.
        starts: For each of them the domain's row of an episode that is about to begin.
        firsts: For each of them the observation that it begins with.
        store: One row of what never changes.
        rules: One `Rules`.
        table: One `Table`.
    """

    plays: Any
    given: Any
    outcomes: Any
    play: Any
    lanes: Any
    seen: Any
    work: Any
    errands: Any
    starts: Any
    firsts: Any
    store: Any
    rules: Any
    table: Any


class RowView(Protocol):
    """One domain's episodes as rows: what the stepper needs of a domain.

    The functions are the kernels of this module with the domain's moves:

    ```python
    def run_choices(arrays, ids, choices):
        array_steps.run_choices(moves(), arrays, ids, choices)
    ```
    """

    @property
    def lane(self) -> type[Row]:
        """The rows of episodes; one has a field `reward`."""

    @property
    def errand(self) -> type[Row]:
        """The rows of tasks."""

    @property
    def work(self) -> Row:
        """A row to work in."""

    @property
    def store(self) -> Any:  # noqa: ANN401 - a structured array of the domain's own
        """What never changes, as an array of one element."""

    def make(self, task: Task, words: Task | None) -> tuple[Row, Row]:
        """A task as its row, and the row of its episode when the user has said their first words.

        Args:
            task: The task.
            words: The one whose user's words are heard: itself; for controls another one, or None for no
                words but those that say who the user is.
        """

    def verb(self, verb: Verb) -> tuple[int, int]:
        """The code of a verb, and the write that it calls or proposes, or -1."""

    def slot(self, slot: Slot) -> tuple[int, int]:
        """The role and the place of a slot."""

    @property
    def show_firsts(self) -> Callable[..., None]:
        """`show_firsts`, a function of a module."""

    @property
    def run_choices(self) -> Callable[..., None]:
        """`run_choices`, likewise."""

    @property
    def run_actions(self) -> Callable[..., None]:
        """`run_actions`, likewise."""
