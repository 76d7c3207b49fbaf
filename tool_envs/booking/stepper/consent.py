"""The explicit yes, on rows. Kernels (see `tool_envs.rows`).

It is `tool_envs.consent`. A yes is a number: it was given to one of the accepted calls of a step of the
agenda, and says nothing about some of its arguments.
"""

from typing import Final

from tool_envs.booking.stepper.hearing import (
    are_paid_bags_named,
    first_of,
    have_same,
    have_same_legs,
    have_same_payments,
    missing_parts,
    share_legs,
    share_payments,
)
from tool_envs.booking.stepper.rows import (
    FLIGHTS_OPEN,
    PAID_BAGS_OPEN,
    PAYMENTS_OPEN,
    Aim,
    Call,
    Errand,
    Lane,
    Room,
)
from tool_envs.row_lists import ones
from tool_envs.rows import kernel

_CHOICES: Final = 8
"""More than there are accepted calls of one step, and one more than all bits of what a yes leaves open."""


@kernel
def affirm(lane: Lane, errand: Errand, room: Room) -> None:
    """A yes to the accepted call that was proposed, of which the customer adds what was not named."""
    step = int(lane.state.wish)
    aim, sets = errand.aims[step], lane.state.sets & room.heard.agrees
    first = first_of(sets)
    room.added = missing_parts(errand, room.call, aim.calls[first]) & aim.worded
    yes = (step * _CHOICES + first) * _CHOICES + _left_open(aim, sets, room.call)
    for number in range(len(lane.yeses)):
        if lane.yeses[number] < 0:
            lane.yeses[number] = yes
            return


@kernel
def _left_open(aim: Aim, sets: int, call: Call) -> int:
    """What a yes to some accepted calls says nothing about, as bits."""
    left = 0
    if not share_legs(aim, sets):
        left |= FLIGHTS_OPEN
    if not share_payments(aim, sets):
        left |= PAYMENTS_OPEN
    if not are_paid_bags_named(call):
        left |= PAID_BAGS_OPEN
    return left


@kernel
def revoke_all(lane: Lane) -> None:
    """A no takes back every yes."""
    for number in range(len(lane.yeses)):
        lane.yeses[number] = -1


@kernel
def use_yes(lane: Lane, errand: Errand, call: Call) -> None:
    """Use up the yes that covers a write, the most definite one, then the oldest. Else a rule breaks."""
    used, least = -1, 0
    for number in range(len(lane.yeses)):
        yes = lane.yeses[number]
        if yes < 0:
            break
        left = ones(yes % _CHOICES)
        if covers(errand, yes, call) and (used < 0 or left < least):
            used, least = number, left
    if used < 0:
        lane.broken = 1
        return
    for number in range(used, len(lane.yeses) - 1):
        lane.yeses[number] = lane.yeses[number + 1]
    lane.yeses[len(lane.yeses) - 1] = -1


@kernel
def covers(errand: Errand, yes: int, call: Call) -> bool:
    """Whether a yes is one to that call."""
    left = yes % _CHOICES
    agreed = errand.aims[yes // (_CHOICES * _CHOICES)].calls[yes // _CHOICES % _CHOICES]
    if not is_same_but(agreed, call):
        return False
    if not left & FLIGHTS_OPEN and not have_same_legs(agreed, call):
        return False
    if not left & PAYMENTS_OPEN and not have_same_payments(agreed, call):
        return False
    return left & PAID_BAGS_OPEN > 0 or agreed.nonfree_bags == call.nonfree_bags


@kernel
def is_same_but(one: Call, other: Call) -> bool:
    """Whether two calls are the same but for flights, payments and how many bags are paid for."""
    if one.tool != other.tool or one.trip != other.trip or one.cabin != other.cabin:
        return False
    if one.origin != other.origin or one.destination != other.destination:
        return False
    if one.round_trip != other.round_trip or one.insurance != other.insurance:
        return False
    if one.method != other.method or one.total_bags != other.total_bags or one.amount != other.amount:
        return False
    return have_same(one.people, other.people)


@kernel
def is_same(one: Call, other: Call) -> bool:
    """Whether two calls are the same, the order of people and payments aside."""
    for place in range(len(one.flight)):
        if one.flight[place] != other.flight[place] or one.day[place] != other.day[place]:
            return False
    is_paid = one.nonfree_bags == other.nonfree_bags and have_same_payments(one, other)
    return is_paid and is_same_but(one, other)
