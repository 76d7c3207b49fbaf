"""What an episode earned, on rows. Kernels (see `tool_envs.rows`).

It is what `tool_envs.service.grading` and the rules of the airline say of it. Some of that cannot be
otherwise here, since the array view shows and says nothing but what was shown: nothing is made up, no other
customer's records are touched, and every reply is English, formal and short. A write without a yes to it
breaks a rule. So the end state is right when there was one right write for each wish, and no other: each wish
has a reservation of its own, and no two move the same seats or balances.
"""

from tool_envs.booking.rows import Reservation
from tool_envs.booking.scene.sight import (
    BOOK,
    CERTIFICATE_SENT,
    FLIGHTS,
    MAX_PAID,
)
from tool_envs.booking.stepper.consent import is_same
from tool_envs.booking.stepper.rows import (
    AMOUNT,
    COUNT,
    MAX_WISHES,
    NO_FACT,
    STATUS,
    Aim,
    Call,
    Due,
    Errand,
    Lane,
    Room,
)
from tool_envs.booking.writes import fares
from tool_envs.rows import kernel
from tool_envs.service.wishes import MAX_ACCEPTED

# --- The end state


@kernel
def note_write(lane: Lane, errand: Errand, call: Call, trip: Reservation) -> None:
    """A write was made, and this is the reservation after it."""
    for number in range(MAX_WISHES):
        step = errand.dues[number].step
        if step < 0 or not _is_accepted(errand.aims[step], call):
            continue
        if call.tool == FLIGHTS and not _is_settled_once(errand, call, trip):
            continue
        if call.tool in (BOOK, CERTIFICATE_SENT) and lane.done >> number & 1:
            continue
        lane.done |= 1 << number
        return
    if call.tool == FLIGHTS and _undo(lane, errand, call.trip):
        return
    lane.wrong = 1


@kernel
def _is_accepted(aim: Aim, call: Call) -> bool:
    for choice in range(MAX_ACCEPTED):
        if aim.calls[choice].tool == call.tool and is_same(aim.calls[choice], call):
            return True
    return False


@kernel
def _is_settled_once(errand: Errand, call: Call, trip: Reservation) -> bool:
    """Whether the flights of a reservation were paid as if they had been changed only once."""
    before = errand.trips[call.trip]
    difference = fares(trip) - fares(before)
    if difference == 0:
        return trip.payments == before.payments
    last = trip.payments - 1
    if last != before.payments or trip.payment_method[last] != call.method:
        return False
    return trip.payment_amount[last] == difference


@kernel
def _undo(lane: Lane, errand: Errand, place: int) -> bool:
    """Other flights than those that are wanted: what was right is not any more, and may be again."""
    for number in range(MAX_WISHES):
        step = errand.dues[number].step
        if step >= 0 and errand.aims[step].tool == FLIGHTS and errand.aims[step].calls[0].trip == place:
            lane.done &= ~(1 << number)
            return True
    return False


# --- Facts


@kernel
def note_facts(lane: Lane, errand: Errand, room: Room, statuses: int, counts: int, proposes: bool) -> None:
    """A sentence told amounts, statuses and counts: some question's answer.

    Args:
        lane: The episode.
        errand: The task.
        room: Has the amount that is told, and the call of a proposal.
        statuses: Bits.
        counts: Bits.
        proposes: It is a proposal.
    """
    if proposes and errand.one_amount and _tells_many(room.call):
        lane.broken = 1
    for number in range(MAX_WISHES if lane.asked else 0):
        if not lane.asked >> number & 1:
            continue
        due = errand.dues[number]
        if due.fact == AMOUNT:
            is_told = room.tells == due.value or (proposes and _pays(room.call, due.value))
        elif due.fact == STATUS:
            is_told = statuses >> due.value & 1 > 0
        else:
            is_told = due.fact == COUNT and counts >> due.value & 1 > 0
        if is_told:
            lane.told |= 1 << number


@kernel
def _pays(call: Call, amount: int) -> bool:
    """Whether a proposal names a sum that some method pays."""
    for place in range(MAX_PAID):
        if call.methods[place] >= 0 and call.amounts[place] == amount:
            return True
    return False


@kernel
def _tells_many(call: Call) -> bool:
    """Whether a proposal names several sums."""
    for place in range(1, MAX_PAID):
        if call.methods[place] >= 0 and call.amounts[place] != call.amounts[0]:
            return True
    return False


# --- The end


@kernel
def earned(lane: Lane, errand: Errand) -> int:
    """The terminal reward of an episode that the customer ended: 1 or 0."""
    if lane.broken or lane.wrong:
        return 0
    for number in range(MAX_WISHES):
        due = errand.dues[number]
        if due.step < -1:
            break
        if due.fact != NO_FACT and not (lane.told >> number & 1 and _was_looked_up(lane, due)):
            return 0
        if due.forbidden and not (lane.taken >> number & 1 and _was_looked_up(lane, due)):
            return 0
        if due.step >= 0 and not lane.done >> number & 1:
            return 0
    return 1


@kernel
def _was_looked_up(lane: Lane, due: Due) -> bool:
    """Whether all that a wish is about was."""
    if due.trips & ~lane.read or due.searches & ~lane.searched:
        return False
    return not due.profile or lane.read_profile > 0
