"""One step of an episode in arrays, on rows: choices to actions, masks, ends. Kernels (see `tool_envs.rows`).

It is what `tool_envs.arrays.env` does with a `SceneView`, for a domain whose episodes are rows alone. What is
the domain's own comes as its moves, see `tool_envs.array_rows`.
"""

from collections.abc import Sequence
from typing import Any

from tool_envs.array_draws import draw_task
from tool_envs.array_rows import (
    ALL_CHANGED,
    ENDED,
    OPENED,
    Lanes,
    Move,
    Moves,
    Play,
    Rules,
    SlotForm,
    Table,
    VerbForm,
)
from tool_envs.array_view import SKIPPED
from tool_envs.row_lists import Out, clear
from tool_envs.rows import Row, kernel, prefetch


@kernel
def begin_play(play: Play, slot: int) -> None:
    """An episode with the task in that place of the pool begins."""
    play.slot = slot
    play.verb = -1
    play.count = play.steps = play.choices = play.invalid = 0
    play.reward = play.terminated = play.truncated = 0


# --- One choice at a time


@kernel
def take_choice(moves: Moves, table: Table, play: Play, lane: Row, store: Row, choice: int) -> bool:
    """Take a choice that the mask allows; True when all choices of an action are made."""
    if play.verb < 0:
        play.verb, play.count = choice, 0
        moves.begin(lane, table.tools[choice])
    else:
        slot = table.verbs[play.verb].slots[play.count]
        _choose(moves, slot, play, lane, store, choice - slot.source)
    _skip_slots(moves, table.verbs[play.verb], play, lane, store)
    return bool(play.count == table.verbs[play.verb].count)


@kernel
def _choose(moves: Moves, slot: SlotForm, play: Play, lane: Row, store: Row, choice: int) -> bool:
    """Make a choice in the next slot; False: there is no such row."""
    play.chosen[play.count] = choice
    play.count += 1
    return bool(moves.choose(lane, store, slot.role, slot.place, choice if choice < slot.width else -1))


@kernel
def _skip_slots(moves: Moves, verb: VerbForm, play: Play, lane: Row, store: Row) -> None:
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
        moves.choose(lane, store, slot.role, slot.place, -1)


@kernel
def mask_next(moves: Moves, table: Table, rules: Rules, play: Play, lane: Row, store: Row, mask: Out) -> None:
    """The mask of the form `sequential`, which is all zero before."""
    if play.verb < 0:
        moves.allow_verbs(lane, store, rules.policy, table.codes, mask)
        return
    verb = table.verbs[play.verb]
    slot = verb.slots[play.count]
    out = mask[slot.source : slot.source + slot.choices]
    moves.allow_choices(lane, store, rules.policy, verb.code, slot.role, slot.place, slot.width, out)


@kernel
def show_partial(table: Table, play: Play, out: Out) -> None:
    """One-hot the choices of an action that is half made; all is zero before."""
    if play.verb < 0:
        return
    out[table.verbs[play.verb].field] = 1
    for number in range(play.count):
        if play.chosen[number] != SKIPPED:
            out[table.verbs[play.verb].slots[number].start + play.chosen[number]] = 1


# --- A whole action at a time


@kernel
def take_action(
    moves: Moves, table: Table, play: Play, lane: Row, store: Row, mask: Out, action: Sequence[int]
) -> bool:
    """Take all choices of an action; False when the mask forbids one or they cannot be expressed together."""
    if not mask[action[0]]:
        return False
    verb = table.verbs[action[0]]
    moves.begin(lane, verb.tool)
    play.count = 0
    _skip_slots(moves, verb, play, lane, store)
    while play.count < verb.count:
        slot = verb.slots[play.count]
        choice = action[slot.dimension]
        if not mask[slot.start + choice]:
            return False
        if not _choose(moves, slot, play, lane, store, choice) or not moves.fits(lane, store, verb.code):
            return False
        _skip_slots(moves, verb, play, lane, store)
    play.verb = action[0]
    return True


@kernel
def mask_anywhere(moves: Moves, table: Table, rules: Rules, lane: Row, store: Row, mask: Out) -> None:
    """The mask of the form `multidiscrete`, which is all zero before."""
    moves.allow_verbs(lane, store, rules.policy, table.codes, mask)
    for number in range(len(table.codes)):
        if mask[number]:
            _mask_slots(moves, table, table.verbs[number], rules, lane, store, mask)
    for number in range(len(table.slots)):
        slot = table.slots[number]
        some = False
        for choice in range(slot.start, slot.start + slot.choices):
            some = some or mask[choice] > 0
        if not some:
            mask[slot.start] = 1


@kernel
def _mask_slots(
    moves: Moves, table: Table, verb: VerbForm, rules: Rules, lane: Row, store: Row, mask: Out
) -> None:
    """Add what some allowed action of a verb has in its slots."""
    for number in range(verb.count):
        slot = verb.slots[number]
        one, some = table.one[: slot.choices], table.some[: slot.choices]
        clear(some)
        moves.allow_anywhere(
            lane, store, rules.policy, verb.code, verb.tool, slot.role, slot.place, slot.width, one, some
        )
        for choice in range(slot.choices):
            mask[slot.start + choice] |= some[choice]


# --- After it


@kernel
def show_rest(rules: Rules, play: Play, seen: Out) -> None:
    """What observations have beside the domain's tables, the mask and a partial action."""
    seen.invalid[0] = play.invalid
    seen.left[0] = 1 - play.steps / rules.max_steps
    seen.left[1] = 1 - play.choices / rules.max_choices


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


@kernel
def show_firsts(moves: Moves, arrays: Lanes, pool: Sequence[int], by_choices: bool) -> None:
    """Make the first observation of some tasks.

    Args:
        moves: The domain's functions.
        arrays: All lanes.
        pool: Places of tasks.
        by_choices: The form of actions is `sequential`.
    """
    starts, firsts, play = arrays.starts, arrays.firsts, arrays.play[0]
    store, rules, table = arrays.store[0], arrays.rules[0], arrays.table[0]
    begin_play(play, 0)
    for number in range(len(pool)):
        at = pool[number]
        _show(moves, table, rules, play, starts[at], store, firsts[at], ALL_CHANGED, by_choices)


@kernel
def draw_tasks(arrays: Lanes, ids: Sequence[int]) -> None:
    """Count an episode more in some lanes, and draw its task.

    Args:
        arrays: All lanes.
        ids: Numbers of the lanes.
    """
    plays, rules = arrays.plays, arrays.rules[0]
    for number in range(len(ids)):
        _draw(rules, plays[ids[number]])


@kernel
def _draw(rules: Rules, play: Play) -> None:
    play.number += 1
    play.task = draw_task(rules.tasks, play.key, play.number)


@kernel
def begin_lanes(arrays: Lanes, ids: Sequence[int], pool: Sequence[int]) -> None:
    """Start an episode in some lanes.

    Args:
        arrays: All lanes. Of their outcomes the reward and the ends stay as they are.
        ids: Numbers of the lanes.
        pool: For each of them the place of its task.
    """
    # Taking an array out of a tuple counts references, so it is not done for each lane.
    plays, lanes, seen, given, outcomes = (
        arrays.plays,
        arrays.lanes,
        arrays.seen,
        arrays.given,
        arrays.outcomes,
    )
    starts, firsts = arrays.starts, arrays.firsts
    for number in range(len(ids)):
        at, place = ids[number], pool[number]
        lanes[at] = starts[place]
        seen[at] = given[at] = firsts[place]
        begin_play(plays[at], place)
        _inform(plays[at], outcomes[at])


@kernel
def _inform(play: Play, outcome: Out) -> None:
    """What infos say of a lane."""
    outcome.success = play.reward
    outcome.steps, outcome.choices, outcome.task_index = play.steps, play.choices, play.task


@kernel
def _conclude(play: Play, outcome: Out) -> None:
    """All that a step answers of a lane beside the observation."""
    outcome.reward = play.reward
    outcome.terminated, outcome.truncated = play.terminated, play.truncated
    _inform(play, outcome)


@kernel
def _show(
    moves: Moves,
    table: Table,
    rules: Rules,
    play: Play,
    lane: Row,
    store: Row,
    seen: Out,
    changed: int,
    by_choices: bool,
) -> None:
    """Bring an observation up to date when no action is half made."""
    moves.show(lane, store, seen, changed)
    show_rest(rules, play, seen)
    if changed & OPENED:
        clear(seen.action_mask)
        if by_choices:
            mask_next(moves, table, rules, play, lane, store, seen.action_mask)
        else:
            mask_anywhere(moves, table, rules, lane, store, seen.action_mask)


@kernel
def run_choices(moves: Moves, arrays: Lanes, ids: Sequence[int], choices: Sequence[int]) -> None:
    """A step of some lanes, in the form `sequential`: take a choice, or start the next episode.

    Args:
        moves: The domain's functions.
        arrays: All lanes.
        ids: Numbers of the lanes.
        choices: For each of them one.
    """
    _step_lanes(_run_choice, moves, arrays, ids, choices)


@kernel
def run_actions(moves: Moves, arrays: Lanes, ids: Sequence[int], actions: Any) -> None:  # noqa: ANN401
    """A step of some lanes, in the form `multidiscrete`: take an action, or start the next episode.

    Args:
        moves: The domain's functions.
        arrays: All lanes.
        ids: Numbers of the lanes.
        actions: For each of them one, of shape (dimensions,).
    """
    _step_lanes(_run_action, moves, arrays, ids, actions)


@kernel
def _step_lanes(run: Move, moves: Moves, arrays: Lanes, ids: Sequence[int], actions: Any) -> None:  # noqa: ANN401
    # Taking an array out of a tuple counts references, so it is not done for each lane.
    plays, lanes, errands, outcomes = arrays.plays, arrays.lanes, arrays.errands, arrays.outcomes
    seen, given, starts, firsts = arrays.seen, arrays.given, arrays.starts, arrays.firsts
    store, rules, table, work = arrays.store[0], arrays.rules[0], arrays.table[0], arrays.work[0]
    last = len(ids) - 1
    for number in range(len(ids)):
        # What this step writes at its end, and what the next ones read, is on its way while it is taken.
        at, ahead, further = ids[number], ids[min(number + 1, last)], ids[min(number + 2, last)]
        prefetch(given[at])
        prefetch(plays[further])
        prefetch(seen[further].action_mask)
        moves.expect_lane(lanes[further])
        if _restarts(rules, plays[ahead]):
            task = draw_task(rules.tasks, plays[ahead].key, plays[ahead].number + 1)
            prefetch(lanes[ahead])
            prefetch(starts[task])
            prefetch(firsts[task])
        else:
            moves.expect_errand(lanes[ahead], errands[plays[ahead].slot], plays[ahead].verb >= 0)
        play = plays[at]
        if _restarts(rules, play):
            _draw(rules, play)
            begin_play(play, play.task)
            lanes[at], seen[at] = starts[play.task], firsts[play.task]
        else:
            errand = errands[play.slot]
            run(moves, table, rules, play, lanes[at], errand, store, work, seen[at], actions[number])
        _conclude(play, outcomes[at])
        given[at] = seen[at]  # while it is in the processor's cache


@kernel
def _restarts(rules: Rules, play: Play) -> bool:
    """Whether the next step of a lane starts an episode."""
    return rules.restarts > 0 and (play.terminated > 0 or play.truncated > 0)


@kernel
def _run_choice(
    moves: Moves,
    table: Table,
    rules: Rules,
    play: Play,
    lane: Out,
    errand: Row,
    store: Row,
    work: Row,
    seen: Out,
    choice: int,
) -> None:
    """Take a choice, or find that it is not possible."""
    play.choices += 1
    play.invalid = 1 - seen.action_mask[choice]
    begun = play.verb >= 0
    if not play.invalid and take_choice(moves, table, play, lane, store, choice):
        changed = _carry_out(moves, table, play, lane, errand, store, work)
        if begun:
            clear(seen.partial)
            changed |= OPENED
        _show(moves, table, rules, play, lane, store, seen, changed, True)
    else:
        _show_choice(moves, table, rules, play, lane, store, seen)
    _truncate(rules, play)


@kernel
def _show_choice(
    moves: Moves, table: Table, rules: Rules, play: Play, lane: Row, store: Row, seen: Out
) -> None:
    """What is new after a choice that completed no action."""
    show_rest(rules, play, seen)
    if not play.invalid:
        clear(seen.partial)
        clear(seen.action_mask)
        show_partial(table, play, seen.partial)
        mask_next(moves, table, rules, play, lane, store, seen.action_mask)


@kernel
def _run_action(
    moves: Moves,
    table: Table,
    rules: Rules,
    play: Play,
    lane: Out,
    errand: Row,
    store: Row,
    work: Row,
    seen: Out,
    action: Sequence[int],
) -> None:
    """Take all choices of an action, or find that they are not possible."""
    play.choices += 1
    play.invalid = 1 - int(take_action(moves, table, play, lane, store, seen.action_mask, action))
    if play.invalid:
        show_rest(rules, play, seen)
    else:
        changed = _carry_out(moves, table, play, lane, errand, store, work)
        _show(moves, table, rules, play, lane, store, seen, changed, False)
    _truncate(rules, play)


@kernel
def _carry_out(moves: Moves, table: Table, play: Play, lane: Out, errand: Row, store: Row, work: Row) -> int:
    """Carry out an action of which all choices are made; answers what `act` does."""
    code = table.codes[play.verb]
    play.verb, play.count = -1, 0
    play.steps += 1
    play.total += 1
    changed = int(moves.act(lane, errand, store, code, work))
    if changed & ENDED:
        play.terminated, play.reward = 1, lane.reward
    return changed


@kernel
def _truncate(rules: Rules, play: Play) -> None:
    """Whether there were too many actions or choices."""
    too_many = play.steps >= rules.max_steps or play.choices >= rules.max_choices
    play.truncated = int(too_many and not play.terminated)
