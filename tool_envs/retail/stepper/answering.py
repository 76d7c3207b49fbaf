"""What a customer's words say, on rows. Kernels (see `tool_envs.rows`).

It is what `tool_envs.retail.scene.words` reads in the sentences of `tool_envs.simulators.speech`: a turn says
what the words for its parts say, one after the other.
"""

from typing import Final

from tool_envs.retail.scene.sight import IDENTITY, MAX_CHANGED, MOVES, SLOTS, Said
from tool_envs.retail.stepper.hearing import narrowed_to, worded
from tool_envs.retail.stepper.rows import IN_NEW_ITEM, PARTS, Errand, Room, Wanted
from tool_envs.row_lists import append
from tool_envs.rows import kernel
from tool_envs.simulators.agenda_core import (
    ACCEPT_NO,
    AFFIRM,
    AGAIN,
    ASK_AGAIN,
    ASK_DETAILS,
    BYE,
    CHANGE,
    CORRECT,
    DENY,
    HOLD_BACK,
    INFORM,
    INSIST,
    NEXT,
    OTHERWISE,
    THANK,
    WAIT,
)

_IS_CORRECT: Final = 1 << MOVES.index("correct")
_IS_INFORM: Final = 1 << MOVES.index("inform")
_IS_UNKNOWN: Final = 1 << MOVES.index("unknown")
_IS_BYE: Final = 1 << MOVES.index("bye")
_PLAIN: Final = THANK | DENY | AFFIRM | HOLD_BACK | ASK_DETAILS | ASK_AGAIN | WAIT | INSIST | ACCEPT_NO
"""Bits that mean the same in the core's moves and in `MOVES`."""
_USER_ID: Final = 3
"""The core's slots are `SLOTS` with the user id in this place, which nobody is asked for."""


@kernel
def answer(errand: Errand, before: int, after: int, sets: int, room: Room) -> None:
    """What the customer's turn says.

    Args:
        errand: The task.
        before: The step of the agenda at which the agent was heard.
        after: The step now.
        sets: The accepted calls of it that are wanted still.
        room: Has what they do; what they say is written there.
    """
    said, moves = room.said, room.step.moves
    say_nothing(said)
    wanted = errand.wanted[before]
    said.moves = moves & _PLAIN
    if moves & AFFIRM:
        _say_parts(said, wanted, sets, room.added)
    if moves & (CORRECT | CHANGE):
        wrong = room.wrong & worded(wanted, sets)
        _say_parts(said, wanted, sets, wrong)
        if wrong:
            said.moves |= _IS_CORRECT
    if moves & INFORM:
        _inform(said, errand, wanted, sets, room.step.slots)
    if moves & (NEXT | OTHERWISE | AGAIN):
        bring_up(said, errand.wanted[after])
        if moves & AGAIN and narrowed_to(errand.wanted[after], sets) >= 0:
            _say_parts(said, errand.wanted[after], sets, 1 << IN_NEW_ITEM)
    if moves & BYE:
        said.moves |= _IS_BYE


@kernel
def bring_up(said: Said, wanted: Wanted) -> None:
    """A wish, or its question."""
    say(said, wanted.opening)
    said.wish, said.question = wanted.opening.wish, wanted.opening.question
    said.moves |= wanted.opening.moves


@kernel
def _say_parts(said: Said, wanted: Wanted, sets: int, parts: int) -> None:
    """The words for some of `PARTS`."""
    for part in range(len(PARTS)):
        if parts >> part & 1:
            _say_part(said, wanted, sets, part)


@kernel
def _say_part(said: Said, wanted: Wanted, sets: int, part: int) -> None:
    narrowed = narrowed_to(wanted, sets) if part == IN_NEW_ITEM else -1
    if narrowed >= 0:
        say(said, wanted.new_words[narrowed])
    else:
        say(said, wanted.words[part])


@kernel
def _inform(said: Said, errand: Errand, wanted: Wanted, sets: int, slots: int) -> None:
    """Answers to all that was asked."""
    known = worded(wanted, sets)
    for number in range(len(SLOTS)):
        slot = number if number < _USER_ID else number + 1
        if not slots >> slot & 1:
            continue
        if number < IDENTITY:
            if errand.known[number]:
                said.told |= 1 << number
                said.moves |= _IS_INFORM
                continue
        elif known >> (number - IDENTITY) & 1:
            _say_part(said, wanted, sets, number - IDENTITY)
            said.moves |= _IS_INFORM
            continue
        said.unknown |= 1 << number
        said.moves |= _IS_UNKNOWN


@kernel
def say_nothing(said: Said) -> None:
    """No word was said yet."""
    said.moves = said.address = said.told = said.unknown = said.demands = 0
    said.wish = said.question = said.sign = said.method_kind = said.method_digits = said.reason = -1
    for place in range(MAX_CHANGED):
        said.orders[place] = said.things[place] = said.wants[place] = said.variants[place] = -1
        said.same[place] = 0


@kernel
def mute(said: Said) -> None:
    """Take back all that was said but who they are."""
    told = said.told
    say_nothing(said)
    said.told = told


@kernel
def say(said: Said, words: Said) -> None:
    """Say something after what was said already; of what can be said once, the first counts."""
    if said.sign < 0:
        said.sign = words.sign
    if said.method_kind < 0:
        said.method_kind, said.method_digits = words.method_kind, words.method_digits
    if said.reason < 0:
        said.reason = words.reason
    said.address |= words.address
    for place in range(MAX_CHANGED):
        append(said.orders, words.orders[place], False)
        append(said.things, words.things[place], True)
        append(said.variants, words.variants[place], True)
        if words.wants[place] >= 0:
            at = append(said.wants, words.wants[place], False)
            if at >= 0:
                said.same[at] = words.same[place]
