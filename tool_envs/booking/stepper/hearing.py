"""What a customer understands of a proposal or report, on rows. Kernels (see `tool_envs.rows`).

It is what `tool_envs.simulators.hearing` makes of the sentences that the array view says. They name things as
calls do, so that what they mean follows from the call that they are made of. They are compared with what is
wanted leaf by leaf: of flights their numbers and their dates, of people first names, last names and births.
"""

from typing import Final

from tool_envs.booking.rows import MAX_PASSENGERS, MAX_SEGMENTS
from tool_envs.booking.scene.sight import (
    BOOK,
    CERTIFICATE_SENT,
    MAX_PAID,
)
from tool_envs.booking.stepper.rows import (
    IN_AMOUNT,
    IN_BAGS,
    IN_CABIN,
    IN_DATE,
    IN_DESTINATION,
    IN_FLIGHTS,
    IN_INSURANCE,
    IN_KIND,
    IN_METHOD,
    IN_ORIGIN,
    IN_PEOPLE,
    IN_TRIP,
    Aim,
    Call,
    Errand,
    Lane,
    Room,
)
from tool_envs.row_lists import ones
from tool_envs.rows import kernel
from tool_envs.service.wishes import MAX_ACCEPTED
from tool_envs.simulators.agenda_core import OTHER, SAME

_FIRST, _LAST, _BIRTH, _TOTAL, _NONFREE = 16, 17, 18, 19, 20
"""Leaves that are a part of what customers speak of as one; the others have the numbers of `PARTS`."""
_WHO: Final = 1 << _FIRST | 1 << _LAST | 1 << _BIRTH
_HOW_MANY: Final = 1 << _TOTAL | 1 << _NONFREE


@kernel
def hear_proposal(lane: Lane, errand: Errand, room: Room) -> None:
    """The customer compares the call of a proposal with what they want."""
    heard, call = room.heard, room.call
    aim, sets = errand.aims[lane.state.wish], lane.state.sets
    heard.tool = SAME if call.tool == aim.tool else OTHER
    heard.identified = int(heard.tool == SAME)
    heard.agrees = heard.others = heard.correctable = 0
    if heard.tool == OTHER:
        return
    for number in range(MAX_ACCEPTED):
        if aim.calls[number].tool >= 0 and not wrong_leaves(errand, call, aim.calls[number]):
            heard.agrees |= 1 << number
    room.wrong = nearest_wrong(errand, aim, call, sets)
    heard.correctable = int(room.wrong & aim.worded > 0)
    heard.others = _other_sets(errand, aim, call, heard.agrees, sets)


@kernel
def hear_report(lane: Lane, errand: Errand, room: Room) -> None:
    """The customer hears that the last write was made: which reservation, route or sum it was about."""
    heard, aim = room.heard, errand.aims[lane.state.wish]
    heard.tool = SAME if lane.written == aim.tool else OTHER
    heard.agrees = 0
    for number in range(MAX_ACCEPTED):
        call = aim.calls[number]
        if call.tool >= 0 and heard.tool == SAME and _is_reported(lane, errand, call):
            heard.agrees |= 1 << number


@kernel
def _is_reported(lane: Lane, errand: Errand, call: Call) -> bool:
    """Whether what was reported does not contradict an accepted call of that write."""
    if call.tool == CERTIFICATE_SENT:
        return call.amount == lane.written_amount
    if call.tool == BOOK:
        begins = _is_airport_right(errand.origins, lane.written_origin, call.origin)
        return begins and _is_airport_right(errand.destinations, lane.written_destination, call.destination)
    return call.trip == lane.written_trip


@kernel
def _is_airport_right(noticed: int, named: int, wanted: int) -> bool:
    """Customers notice only airports at which their trips begin or end."""
    return named == wanted or not noticed >> named & 1


# --- Leaves


@kernel
def wrong_leaves(errand: Errand, call: Call, wanted: Call) -> int:
    """Bits of the leaves in which the words of a proposal contradict an accepted call of the same write."""
    wrong = 0
    if call.trip != wanted.trip:
        wrong |= 1 << IN_TRIP
    if call.tool == BOOK:
        if not _is_airport_right(errand.origins, call.origin, wanted.origin):
            wrong |= 1 << IN_ORIGIN
        if not _is_airport_right(errand.destinations, call.destination, wanted.destination):
            wrong |= 1 << IN_DESTINATION
    if call.round_trip != wanted.round_trip:
        wrong |= 1 << IN_KIND
    if call.cabin != wanted.cabin:
        wrong |= 1 << IN_CABIN
    if not is_within(call.flight, wanted.flight):
        wrong |= 1 << IN_FLIGHTS
    if not is_within(call.day, wanted.day):
        wrong |= 1 << IN_DATE
    if not is_within(call.methods, wanted.methods) or call.method != wanted.method:
        wrong |= 1 << IN_METHOD
    if call.total_bags != wanted.total_bags:
        wrong |= 1 << _TOTAL
    if are_paid_bags_named(call) and call.nonfree_bags != wanted.nonfree_bags:
        wrong |= 1 << _NONFREE
    if call.insurance != wanted.insurance:
        wrong |= 1 << IN_INSURANCE
    if call.amount != wanted.amount:
        wrong |= 1 << IN_AMOUNT
    return wrong | _wrong_people(errand, call, wanted)


@kernel
def _wrong_people(errand: Errand, call: Call, wanted: Call) -> int:
    """The bits of the leaves of people."""
    wrong = 0
    if not _are_alike_within(errand.first, call.people, wanted.people):
        wrong |= 1 << _FIRST
    if not _are_alike_within(errand.last, call.people, wanted.people):
        wrong |= 1 << _LAST
    if not _are_alike_within(errand.birth, call.people, wanted.people):
        wrong |= 1 << _BIRTH
    return wrong


@kernel
def are_paid_bags_named(call: Call) -> bool:
    """Whether a proposal says how many bags are paid for: not when there are none at all."""
    return call.total_bags > 0 or call.nonfree_bags > 0


@kernel
def is_within(named: list[int], wanted: list[int]) -> bool:
    """Whether all that is in one list is in another one, too; -1 stands for nothing."""
    for place in range(len(named)):
        if named[place] >= 0:
            found = False
            for other in range(len(wanted)):
                found = found or wanted[other] == named[place]
            if not found:
                return False
    return True


@kernel
def _are_alike_within(alike: list[int], named: list[int], wanted: list[int]) -> bool:
    """The same for people of whom only a part of their name counts, or their date of birth."""
    for place in range(MAX_PASSENGERS):
        if named[place] >= 0:
            found = False
            for other in range(MAX_PASSENGERS):
                if wanted[other] >= 0:
                    found = found or alike[wanted[other]] == alike[named[place]]
            if not found:
                return False
    return True


@kernel
def parts_of(leaves: int) -> int:
    """Bits of the `PARTS` of some leaves."""
    parts = leaves & (1 << _FIRST) - 1
    if leaves & _WHO:
        parts |= 1 << IN_PEOPLE
    return parts | 1 << IN_BAGS if leaves & _HOW_MANY else parts


@kernel
def nearest_wrong(errand: Errand, aim: Aim, call: Call, sets: int) -> int:
    """Bits of `PARTS` that are wrong beside the accepted call of a mask that is nearest to a proposal."""
    nearest, fewest = 0, -1
    for number in range(MAX_ACCEPTED):
        if sets >> number & 1:
            wrong = wrong_leaves(errand, call, aim.calls[number])
            if fewest < 0 or ones(wrong) < fewest:
                nearest, fewest = wrong, ones(wrong)
    return parts_of(nearest)


@kernel
def missing_parts(errand: Errand, call: Call, wanted: Call) -> int:
    """Bits of `PARTS` of which a proposal that does not contradict an accepted call names too little."""
    missing = 0
    if call.tool == BOOK:
        if not errand.origins >> call.origin & 1:
            missing |= 1 << IN_ORIGIN
        if not errand.destinations >> call.destination & 1:
            missing |= 1 << IN_DESTINATION
    if not is_within(wanted.flight, call.flight):
        missing |= 1 << IN_FLIGHTS
    if not is_within(wanted.day, call.day):
        missing |= 1 << IN_DATE
    if not is_within(wanted.methods, call.methods):
        missing |= 1 << IN_METHOD
    return missing | parts_of(_wrong_people(errand, wanted, call))


# --- Accepted calls of which some are left


@kernel
def have_same(one: list[int], other: list[int]) -> bool:
    """Whether two lists hold the same, each as often, in any order."""
    for place in range(len(one)):
        count = 0
        for number in range(len(one)):
            count += int(one[number] == one[place]) - int(other[number] == one[place])
        if count:
            return False
    return True


@kernel
def first_of(sets: int) -> int:
    """The first of the accepted calls of a mask, which is not empty."""
    first = 0
    while not sets >> first & 1:
        first += 1
    return first


@kernel
def share_flights(aim: Aim, sets: int) -> bool:
    """Whether all accepted calls of a mask have the same flights."""
    first = aim.calls[first_of(sets)]
    for number in range(MAX_ACCEPTED):
        if sets >> number & 1 and not have_same(aim.calls[number].flight, first.flight):
            return False
    return True


@kernel
def share_days(aim: Aim, sets: int) -> bool:
    """Whether all accepted calls of a mask have flights on the same days."""
    first = aim.calls[first_of(sets)]
    for number in range(MAX_ACCEPTED):
        if sets >> number & 1 and not have_same(aim.calls[number].day, first.day):
            return False
    return True


@kernel
def share_legs(aim: Aim, sets: int) -> bool:
    """Whether all accepted calls of a mask have the same flights on the same days."""
    first = aim.calls[first_of(sets)]
    for number in range(MAX_ACCEPTED):
        if sets >> number & 1 and not have_same_legs(aim.calls[number], first):
            return False
    return True


@kernel
def have_same_legs(one: Call, other: Call) -> bool:
    """Whether two calls have the same flights on the same days, in any order."""
    for place in range(MAX_SEGMENTS):
        count = 0
        for number in range(MAX_SEGMENTS):
            flight, day = one.flight[place], one.day[place]
            count += int(one.flight[number] == flight and one.day[number] == day)
            count -= int(other.flight[number] == flight and other.day[number] == day)
        if count:
            return False
    return True


@kernel
def share_payments(aim: Aim, sets: int) -> bool:
    """Whether all accepted calls of a mask are paid in the same way."""
    first = aim.calls[first_of(sets)]
    for number in range(MAX_ACCEPTED):
        if sets >> number & 1 and not have_same_payments(aim.calls[number], first):
            return False
    return True


@kernel
def have_same_payments(one: Call, other: Call) -> bool:
    """Whether the same methods pay the same in two calls, in any order."""
    for place in range(MAX_PAID):
        count = 0
        for number in range(MAX_PAID):
            method, amount = one.methods[place], one.amounts[place]
            count += int(one.methods[number] == method and one.amounts[number] == amount)
            count -= int(other.methods[number] == method and other.amounts[number] == amount)
        if count:
            return False
    return True


@kernel
def narrowed_parts(aim: Aim, sets: int) -> int:
    """Bits of `PARTS` for which somebody who changed their mind now has the words of what is left."""
    whole = int(aim.accepted)
    if not whole or not sets or sets == whole:
        return 0
    parts = 0
    if share_flights(aim, sets) and not share_flights(aim, whole):
        parts |= 1 << IN_FLIGHTS
    if share_days(aim, sets) and not share_days(aim, whole):
        parts |= 1 << IN_DATE
    return parts


@kernel
def _other_sets(errand: Errand, aim: Aim, call: Call, agrees: int, sets: int) -> int:
    """What is left for one who agrees, and now wants other flights: rather other days than other numbers."""
    agreeing = agrees & sets
    if not agreeing or agreeing == sets:
        return 0
    nearest, fewest, wrong = -1, 0, 0
    for number in range(MAX_ACCEPTED):
        if sets & ~agrees & 1 << number:
            leaves = wrong_leaves(errand, call, aim.calls[number])
            if nearest < 0 or ones(leaves) < fewest:
                nearest, fewest, wrong = number, ones(leaves), leaves
    found, other = 0, aim.calls[nearest]
    for number in range(MAX_ACCEPTED):
        if not sets >> number & 1:
            continue
        one = aim.calls[number]
        by_day = wrong >> IN_DATE & 1 and have_same(one.day, other.day)
        if by_day or (not wrong >> IN_DATE & 1 and have_same(one.flight, other.flight)):
            found |= 1 << number
    return found
