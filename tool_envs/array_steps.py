"""One step of an episode in arrays, on rows: choices to actions, masks, ends. Kernels (see `tool_envs.rows`).

It is what `tool_envs.arrays.env` does with a `SceneView`, for a domain whose episodes are rows alone. The
domain's part of it comes as functions, its *moves*:

* `begin(lane, tool)`: an action is begun; `tool` is the write that it calls or proposes, or -1;
* `allow_verbs(lane, store, policy, codes, tools, out)`: which verbs are allowed; writes 1 or 0 for each;
* `allow_choices(lane, store, policy, code, role, place, width, out)`: which choices of the next slot are;
* `allow_anywhere(lane, store, policy, code, tool, role, place, width, room, out)`: which choices of a slot
  some allowed action of a verb has; `room` is room for a mask;
* `choose(lane, store, role, place, choice)`: a choice is made, -1 for none; False: there is no such row;
* `fits(lane, store, code)`: whether an action that can be expressed can come of the choices so far;
* `act(lane, errand, store, code, work)`: the action is carried out; True when it ends the episode, and then
  `lane.reward` is its reward;
* `show(lane, store, out)`: fills the tables of an observation, which are all zero before.

`lane`, `errand`, `store` and `work` are the domain's rows: an episode, its task, what never changes, and room
to work in. `code`, `role` and `place` are what it knows verbs and slots by.
"""

from collections.abc import Callable, MutableSequence, Sequence
from typing import Annotated, Any, Final, NamedTuple, Protocol, TypeAlias

from tool_envs.array_view import SKIPPED, Slot, Verb
from tool_envs.rows import Row, Small, kernel
from tool_envs.task import Task

MAX_SLOTS: Final = 16
"""Most slots of one verb."""

Move: TypeAlias = Callable[..., Any]
"""A function of a domain."""
Out: TypeAlias = Any
"""A row of an observation, or an array in one: what compiled code writes to."""


class SlotForm(Row):
    """A slot of a verb, as kernels need it.

    Attributes:
        role: What the domain knows it by.
        place: Which of the values of an array parameter; 0 for others.
        width: How many things can be chosen.
        choices: How many indexes: one more where there is "no more".
        needs: Number of the slot before without which there is none, or -1.
        source: In the form `sequential`: index of its first choice.
        start: Among the choices of all slots: index of its first one.
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
        count: How many slots it has.
        slots: They; those behind `count` mean nothing.
    """

    code: Small
    tool: Small
    count: Small
    slots: Annotated[list[SlotForm], MAX_SLOTS]


class Rules(Row):
    """What holds in all episodes.

    Attributes:
        policy: 1: masks allow what is of use; 0: what can be expressed.
        max_steps: Actions until an episode is truncated.
        max_choices: Choices, likewise.
    """

    policy: Small
    max_steps: int
    max_choices: int


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
        over: 1 when the episode has ended.
    """

    slot: int
    verb: Small
    count: Small
    chosen: Annotated[list[int], MAX_SLOTS, "int16"]
    steps: int
    choices: int
    invalid: Small
    over: Small


@kernel
def begin_play(play: Play, slot: int) -> None:
    """An episode with the task in that place of the pool begins."""
    play.slot = slot
    play.verb = -1
    play.count = play.steps = play.choices = play.invalid = play.over = 0


# --- One choice at a time


@kernel
def take_choice(
    begin: Move, choose: Move, verbs: Sequence[VerbForm], play: Play, lane: Row, store: Row, choice: int
) -> bool:
    """Take a choice that the mask allows; True when all choices of an action are made."""
    if play.verb < 0:
        play.verb, play.count = choice, 0
        begin(lane, verbs[choice].tool)
    else:
        slot = verbs[play.verb].slots[play.count]
        _choose(choose, slot, play, lane, store, choice - slot.source)
    skip_slots(choose, verbs[play.verb], play, lane, store)
    return play.count == verbs[play.verb].count


@kernel
def _choose(choose: Move, slot: SlotForm, play: Play, lane: Row, store: Row, choice: int) -> bool:
    """Make a choice in the next slot; False: there is no such row."""
    play.chosen[play.count] = choice
    play.count += 1
    return choose(lane, store, slot.role, slot.place, choice if choice < slot.width else -1)


@kernel
def skip_slots(choose: Move, verb: VerbForm, play: Play, lane: Row, store: Row) -> None:
    """Pass over the slots that there is nothing to choose for."""
    while play.count < verb.count:
        slot = verb.slots[play.count]
        if slot.needs < 0:
            return
        needed = play.chosen[slot.needs]
        if needed != SKIPPED and needed != verb.slots[slot.needs].width:
            return
        play.chosen[play.count] = SKIPPED
        play.count += 1
        choose(lane, store, slot.role, slot.place, -1)


@kernel
def mask_next(
    allow_verbs: Move,
    allow_choices: Move,
    verbs: Sequence[VerbForm],
    codes: Sequence[int],
    tools: Sequence[int],
    rules: Rules,
    play: Play,
    lane: Row,
    store: Row,
    mask: Out,
) -> None:
    """The mask of the form `sequential`, which is all zero before."""
    if play.verb < 0:
        allow_verbs(lane, store, rules.policy, codes, tools, mask[: len(codes)])
        return
    verb = verbs[play.verb]
    slot = verb.slots[play.count]
    out = mask[slot.source : slot.source + slot.choices]
    allow_choices(lane, store, rules.policy, verb.code, slot.role, slot.place, slot.width, out)


@kernel
def show_partial(verbs: Sequence[VerbForm], play: Play, out: Out) -> None:
    """One-hot the choices of an action that is half made; all is zero before."""
    if play.verb < 0:
        return
    out[play.verb] = 1
    for number in range(play.count):
        if play.chosen[number] != SKIPPED:
            out[verbs[play.verb].slots[number].start + play.chosen[number]] = 1


# --- A whole action at a time


@kernel
def take_action(
    begin: Move,
    choose: Move,
    fits: Move,
    verbs: Sequence[VerbForm],
    play: Play,
    lane: Row,
    store: Row,
    mask: Out,
    action: Sequence[int],
) -> bool:
    """Take all choices of an action; False when the mask forbids one or they cannot be expressed together."""
    if not mask[action[0]]:
        return False
    verb = verbs[action[0]]
    begin(lane, verb.tool)
    play.count = 0
    skip_slots(choose, verb, play, lane, store)
    while play.count < verb.count:
        slot = verb.slots[play.count]
        choice = action[slot.dimension]
        if not mask[slot.start + choice]:
            return False
        if not _choose(choose, slot, play, lane, store, choice) or not fits(lane, store, verb.code):
            return False
        skip_slots(choose, verb, play, lane, store)
    play.verb = action[0]
    return True


@kernel
def mask_anywhere(
    allow_verbs: Move,
    allow_anywhere: Move,
    verbs: Sequence[VerbForm],
    codes: Sequence[int],
    tools: Sequence[int],
    slots: Sequence[SlotForm],
    rules: Rules,
    lane: Row,
    store: Row,
    rooms: Out,
    mask: Out,
) -> None:
    """The mask of the form `multidiscrete`, which is all zero before.

    Args:
        allow_verbs: See the module.
        allow_anywhere: See the module.
        verbs: All of them.
        codes: Of the verbs.
        tools: Of the verbs.
        slots: All slots, each once.
        rules: What holds.
        lane: The episode.
        store: What never changes.
        rooms: Room for two masks.
        mask: It is written here.
    """
    allow_verbs(lane, store, rules.policy, codes, tools, mask[: len(codes)])
    for number in range(len(codes)):
        if not mask[number]:
            continue
        verb = verbs[number]
        for place in range(verb.count):
            slot = verb.slots[place]
            room, out = rooms[0, : slot.choices], rooms[1, : slot.choices]
            for choice in range(slot.choices):
                out[choice] = 0
            allow_anywhere(
                lane,
                store,
                rules.policy,
                verb.code,
                verb.tool,
                slot.role,
                slot.place,
                slot.width,
                room,
                out,
            )
            for choice in range(slot.choices):
                mask[slot.start + choice] |= out[choice]
    for number in range(len(slots)):
        slot = slots[number]
        some = False
        for choice in range(slot.choices):
            some = some or mask[slot.start + choice] > 0
        if not some:
            mask[slot.start] = 1


# --- After it


@kernel
def show_rest(rules: Rules, play: Play, invalid: Out, left: Out) -> None:
    """What observations have beside the domain's tables, the mask and a partial action."""
    invalid[0] = play.invalid
    left[0] = 1 - play.steps / rules.max_steps
    left[1] = 1 - play.choices / rules.max_choices


@kernel
def clear(out: MutableSequence[int]) -> None:
    """Fill with 0."""
    for place in range(len(out)):
        out[place] = 0


@kernel
def spread(segments: Out, small: Out, real: Out, out: Out) -> None:
    """The tables of one observation in a row.

    Args:
        segments: For each table in order: 1 when it is of reals, where it begins among those of its kind,
            and how many fields it has.
        small: All int8 tables in a row.
        real: All float32 tables in a row.
        out: float32; they are written here.
    """
    at = 0
    for number in range(len(segments)):
        start, length = segments[number, 1], segments[number, 2]
        if segments[number, 0]:
            for place in range(length):
                out[at + place] = real[start + place]
        else:
            for place in range(length):
                out[at + place] = small[start + place]
        at += length


# --- All lanes


class Lanes(NamedTuple):
    """The arrays of many episodes; those that are changed come first.

    Attributes:
        plays: `Play`, one for each lane.
        lanes: The domain's rows, likewise.
        seen: Observations, likewise: the tables, `invalid`, `left`, in the form `sequential` `partial`, and
            `action_mask`.
        rewards: float64, of the last step.
        terminated: bool.
        truncated: bool.
        work: One of the domain's rows to work in.
        rooms: int8 (2, most choices of a slot).
        errands: The tasks of the pool.
        starts: For each of them the domain's row of an episode that is about to begin.
        blank: One observation that is all zero.
        store: One row of what never changes.
        rules: One row of what holds.
        verbs: `VerbForm`, all of them.
        slots: `SlotForm`, each once.
        codes: The verbs' codes.
        tools: The verbs' tools.
    """

    plays: Any
    lanes: Any
    seen: Any
    rewards: Any
    terminated: Any
    truncated: Any
    work: Any
    rooms: Any
    errands: Any
    starts: Any
    blank: Any
    store: Any
    rules: Any
    verbs: Any
    slots: Any
    codes: Any
    tools: Any


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


@kernel
def begin_lanes(
    moves: Moves, arrays: Lanes, ids: Sequence[int], pool: Sequence[int], by_choices: bool
) -> None:
    """Start an episode in some lanes.

    Args:
        moves: The domain's functions.
        arrays: All lanes.
        ids: Numbers of the lanes.
        pool: For each of them the place of its task.
        by_choices: The form of actions is `sequential`.
    """
    plays, lanes, starts = arrays.plays, arrays.lanes, arrays.starts
    for number in range(len(ids)):
        lane = ids[number]
        lanes[lane] = starts[pool[number]]
        begin_play(plays[lane], pool[number])
        show_lane(moves, arrays, lane, by_choices)


@kernel
def show_lane(moves: Moves, arrays: Lanes, number: int, by_choices: bool) -> None:
    """Make the observation of a lane anew; no action is half made."""
    arrays.seen[number] = arrays.blank[0]
    seen, play, lane, store = arrays.seen[number], arrays.plays[number], arrays.lanes[number], arrays.store[0]
    moves.show(lane, store, seen)
    show_rest(arrays.rules[0], play, seen.invalid, seen.left)
    if by_choices:
        mask_next(
            moves.allow_verbs,
            moves.allow_choices,
            arrays.verbs,
            arrays.codes,
            arrays.tools,
            arrays.rules[0],
            play,
            lane,
            store,
            seen.action_mask,
        )
    else:
        mask_anywhere(
            moves.allow_verbs,
            moves.allow_anywhere,
            arrays.verbs,
            arrays.codes,
            arrays.tools,
            arrays.slots,
            arrays.rules[0],
            lane,
            store,
            arrays.rooms,
            seen.action_mask,
        )


@kernel
def run_choices(moves: Moves, arrays: Lanes, ids: Sequence[int], choices: Sequence[int]) -> None:
    """Take a choice in some lanes with a running episode, in the form `sequential`.

    Args:
        moves: The domain's functions.
        arrays: All lanes.
        ids: Numbers of the lanes.
        choices: For each of them one.
    """
    for number in range(len(ids)):
        at = ids[number]
        play, lane, seen = arrays.plays[at], arrays.lanes[at], arrays.seen[at]
        store, choice = arrays.store[0], choices[number]
        play.choices += 1
        play.invalid = 1 - seen.action_mask[choice]
        whole = not play.invalid and take_choice(
            moves.begin, moves.choose, arrays.verbs, play, lane, store, choice
        )
        conclude(moves, arrays, at, whole)
        if whole:
            show_lane(moves, arrays, at, True)
            continue
        show_rest(arrays.rules[0], play, seen.invalid, seen.left)
        if not play.invalid:
            clear(seen.partial)
            clear(seen.action_mask)
            show_partial(arrays.verbs, play, seen.partial)
            mask_next(
                moves.allow_verbs,
                moves.allow_choices,
                arrays.verbs,
                arrays.codes,
                arrays.tools,
                arrays.rules[0],
                play,
                lane,
                store,
                seen.action_mask,
            )


@kernel
def run_actions(moves: Moves, arrays: Lanes, ids: Sequence[int], actions: Any) -> None:  # noqa: ANN401
    """Take an action in some lanes with a running episode, in the form `multidiscrete`.

    Args:
        moves: The domain's functions.
        arrays: All lanes.
        ids: Numbers of the lanes.
        actions: For each of them one, of shape (dimensions,).
    """
    for number in range(len(ids)):
        at = ids[number]
        play, lane, seen = arrays.plays[at], arrays.lanes[at], arrays.seen[at]
        play.choices += 1
        taken = take_action(
            moves.begin,
            moves.choose,
            moves.fits,
            arrays.verbs,
            play,
            lane,
            arrays.store[0],
            seen.action_mask,
            actions[number],
        )
        play.invalid = 1 - int(taken)
        conclude(moves, arrays, at, taken)
        if taken:
            show_lane(moves, arrays, at, False)
        else:
            show_rest(arrays.rules[0], play, seen.invalid, seen.left)


@kernel
def conclude(moves: Moves, arrays: Lanes, at: int, whole: bool) -> None:
    """Carry the action of a lane out if all of it was chosen, and say whether the episode is over."""
    play, lane, rules = arrays.plays[at], arrays.lanes[at], arrays.rules[0]
    over = False
    if whole:
        code = arrays.verbs[play.verb].code
        play.verb, play.count = -1, 0
        play.steps += 1
        over = moves.act(lane, arrays.errands[play.slot], arrays.store[0], code, arrays.work[0])
    arrays.rewards[at] = lane.reward if over else 0.0
    arrays.terminated[at] = over
    arrays.truncated[at] = not over and (play.steps >= rules.max_steps or play.choices >= rules.max_choices)
    play.over = int(over or arrays.truncated[at])


class RowView(Protocol):
    """One domain's episodes as rows: what the stepper needs of a domain.

    The functions are the kernels of this module with the domain's moves:

    ```python
    def begin(arrays, ids, pool, by_choices):
        begin_lanes(moves(), arrays, ids, pool, by_choices)
    ```

    Attributes:
        lane: The rows of episodes; one has a field `reward`.
        errand: The rows of tasks.
        work: A row to work in.
    """

    lane: type[Row]
    errand: type[Row]
    work: Row

    @property
    def store(self) -> Any:  # noqa: ANN401 - a structured array of the domain's own
        """What never changes, as an array of one element."""

    def make(self, task: Task) -> tuple[Row, Row]:
        """A task as its row, and the row of its episode when the user has said their first words."""

    def verb(self, verb: Verb) -> tuple[int, int]:
        """The code of a verb, and the write that it calls or proposes, or -1."""

    def slot(self, slot: Slot) -> tuple[int, int]:
        """The role and the place of a slot."""

    @property
    def begin(self) -> Callable[..., None]:
        """`begin_lanes`, a function of a module."""

    @property
    def run_choices(self) -> Callable[..., None]:
        """`run_choices`, likewise."""

    @property
    def run_actions(self) -> Callable[..., None]:
        """`run_actions`, likewise."""
