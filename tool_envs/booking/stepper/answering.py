"""What a customer's words say, on rows. Kernels (see `tool_envs.rows`).

It is what `tool_envs.booking.scene.words` reads in the sentences of `tool_envs.simulators.speech`: a turn
says what the words for its parts say, one after the other.
"""

from typing import Final

from tool_envs.booking.rows import MAX_SEGMENTS
from tool_envs.booking.scene.seen import forget_wanted
from tool_envs.booking.scene.sight import (
    MAX_PAID,
    MAX_PEOPLE,
    MOVES,
    SLOTS,
    Said,
    Wanted,
)
from tool_envs.booking.stepper.hearing import first_of, narrowed_parts
from tool_envs.booking.stepper.rows import (
    ALL_SLOTS,
    IDENTITY,
    IN_BAGS,
    IN_CABIN,
    IN_DATE,
    IN_FLIGHTS,
    IN_INSURANCE,
    IN_METHOD,
    IN_PEOPLE,
    IN_REASON,
    IN_TRIP,
    PARTS,
    Aim,
    Call,
    Errand,
    Room,
)
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
_UNKNOWN_SLOT: Final = tuple(SLOTS.index(slot) if slot in SLOTS else -1 for slot in ALL_SLOTS)
"""The agenda's slots -> those of `SLOTS`."""


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
    said, wanted, moves = room.said, room.wanted, room.step.moves
    say_nothing(said, wanted)
    aim = errand.aims[before]
    said.moves = moves & _PLAIN
    if moves & AFFIRM:
        _say_parts(wanted, aim, sets, room.added)
    if moves & (CORRECT | CHANGE):
        wrong = room.wrong & aim.worded
        _say_parts(wanted, aim, sets, wrong)
        if wrong:
            said.moves |= _IS_CORRECT
    if moves & INFORM:
        _inform(said, wanted, aim, sets, room.step.slots)
    if moves & (NEXT | OTHERWISE | AGAIN):
        bring_up(said, wanted, errand.aims[after])
        if moves & AGAIN:
            _say_parts(wanted, aim, sets, narrowed_parts(aim, sets))
    if moves & BYE:
        said.moves |= _IS_BYE


@kernel
def bring_up(said: Said, wanted: Wanted, aim: Aim) -> None:
    """A wish, or its question."""
    say(wanted, aim.opening_wanted)
    said.wish, said.question = aim.opening.wish, aim.opening.question
    said.moves |= aim.opening.moves


@kernel
def _inform(said: Said, wanted: Wanted, aim: Aim, sets: int, slots: int) -> None:
    """Answers to all that was asked."""
    for slot in range(len(ALL_SLOTS)):
        if not slots >> slot & 1:
            continue
        part = slot - IDENTITY
        if slot < IDENTITY:
            said.user |= int(slot == 0)
            said.moves |= _IS_INFORM
        elif aim.worded >> part & 1:
            _say_parts(wanted, aim, sets, 1 << part)
            said.moves |= _IS_INFORM
        else:
            said.moves |= _IS_UNKNOWN
            if _UNKNOWN_SLOT[slot] >= 0:
                said.unknown |= 1 << _UNKNOWN_SLOT[slot]


@kernel
def _say_parts(wanted: Wanted, aim: Aim, sets: int, parts: int) -> None:
    """The words for some of `PARTS`."""
    if not parts:
        return
    narrowed = narrowed_parts(aim, sets)
    for part in range(len(PARTS)):
        if not parts >> part & 1:
            continue
        if narrowed >> part & 1:
            _say_left(wanted, aim.calls[first_of(sets)], part)
        else:
            _say_part(wanted, aim, part)


@kernel
def _say_left(wanted: Wanted, call: Call, part: int) -> None:
    """The flights or the days that are left for one who changed their mind."""
    if part == IN_FLIGHTS:
        _say_each(wanted.flights, call.flight)
    else:
        _say_each(wanted.days, call.day)


@kernel
def _say_each(said: list[int], codes: list[int]) -> None:
    """Some codes, each once."""
    for place in range(MAX_SEGMENTS):
        is_new = codes[place] >= 0
        for earlier in range(place):
            is_new = is_new and codes[earlier] != codes[place]
        if is_new:
            append(said, codes[place], False)


@kernel
def _say_part(wanted: Wanted, aim: Aim, part: int) -> None:
    """The words for one part; those for others say nothing that is kept in mind."""
    words = aim.words
    if part == IN_TRIP:
        _say_trip(wanted, words)
    elif part == IN_DATE:
        _say_days(wanted, words.days)
    elif part == IN_FLIGHTS:
        _say_flights(wanted, words)
        _say_days(wanted, aim.flight_days)
    elif part == IN_CABIN:
        _say_cabin(wanted, words)
    elif part == IN_PEOPLE:
        _say_people(wanted, words)
    elif part == IN_METHOD:
        _say_methods(wanted, words)
    elif part == IN_BAGS:
        _say_bags(wanted, words)
    elif part == IN_INSURANCE:
        _say_insurance(wanted, words)
    elif part == IN_REASON:
        _say_reason(wanted, words)


@kernel
def say_nothing(said: Said, wanted: Wanted) -> None:
    """No word was said yet."""
    said.moves = said.user = said.unknown = said.demands = 0
    said.wish = said.question = -1
    forget_wanted(wanted)
    for place in range(MAX_PAID):
        wanted.method_kind[place] = wanted.method_how[place] = wanted.method_mark[place] = -1


@kernel
def mute(said: Said, wanted: Wanted) -> None:
    """Take back all that was said but who they are."""
    user = said.user
    say_nothing(said, wanted)
    said.user = user


# --- One after the other: of what can be said once, the first counts


@kernel
def say(wanted: Wanted, words: Wanted) -> None:
    """Say something after what was said already."""
    _say_trip(wanted, words)
    if wanted.origin < 0:
        wanted.origin, wanted.destination = words.origin, words.destination
    _say_days(wanted, words.days)
    _say_flights(wanted, words)
    _say_cabin(wanted, words)
    _say_people(wanted, words)
    _say_methods(wanted, words)
    _say_bags(wanted, words)
    _say_insurance(wanted, words)
    _say_reason(wanted, words)


@kernel
def _say_trip(wanted: Wanted, words: Wanted) -> None:
    if wanted.trip < 0:
        wanted.trip = words.trip
    if wanted.trip_from < 0:
        wanted.trip_from, wanted.trip_to = words.trip_from, words.trip_to


@kernel
def _say_days(wanted: Wanted, days: list[int]) -> None:
    for place in range(len(days)):
        append(wanted.days, days[place], False)


@kernel
def _say_flights(wanted: Wanted, words: Wanted) -> None:
    if wanted.best < 0:
        wanted.best, wanted.stops = words.best, words.stops
    if wanted.leaves_after < 0:
        wanted.leaves_after = words.leaves_after
    if wanted.arrives_before < 0:
        wanted.arrives_before = words.arrives_before
    if wanted.at_most < 0:
        wanted.at_most = words.at_most
    for place in range(MAX_SEGMENTS):
        append(wanted.flights, words.flights[place], False)


@kernel
def _say_cabin(wanted: Wanted, words: Wanted) -> None:
    if wanted.cabin < 0:
        wanted.cabin = words.cabin


@kernel
def _say_people(wanted: Wanted, words: Wanted) -> None:
    """Nobody is named behind one who does not fly any more."""
    if wanted.instead >= 0:
        return
    wanted.instead = words.instead
    for place in range(MAX_PEOPLE):
        if words.people[place] >= 0:
            append(wanted.people, words.people[place], True)


@kernel
def _say_methods(wanted: Wanted, words: Wanted) -> None:
    for place in range(words.methods):
        if wanted.methods < MAX_PAID:
            wanted.method_kind[wanted.methods] = words.method_kind[place]
            wanted.method_how[wanted.methods] = words.method_how[place]
            wanted.method_mark[wanted.methods] = words.method_mark[place]
            wanted.methods += 1


@kernel
def _say_bags(wanted: Wanted, words: Wanted) -> None:
    if wanted.bags < 0:
        wanted.bags = words.bags
    if wanted.more_bags < 0:
        wanted.more_bags = words.more_bags


@kernel
def _say_insurance(wanted: Wanted, words: Wanted) -> None:
    if wanted.insurance < 0:
        wanted.insurance = words.insurance


@kernel
def _say_reason(wanted: Wanted, words: Wanted) -> None:
    if wanted.reason < 0:
        wanted.reason = words.reason
