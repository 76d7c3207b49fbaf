"""What follows from the words of a customer and what was shown: answers, and why a wish cannot be fulfilled.

Kernels, as in `sight`.
"""

from typing import Final

from tool_envs.booking.dates import NOW
from tool_envs.booking.rows import (
    BAG_PRICE,
    BASIC_ECONOMY,
    DAY,
    FREE_BAGS,
    MAX_METHODS,
    REGULAR,
    Reservation,
)
from tool_envs.booking.rules import FOR_CANCELLED, FOR_DELAYED, HOURS
from tool_envs.booking.scene.sight import (
    BACK,
    COVERED,
    FOR_CANCEL,
    FOR_COMPENSATION,
    FOR_FEWER_BAGS,
    FOR_FLIGHTS,
    FOR_INSURANCE,
    FOR_MORE_PASSENGERS,
    MAX_TRIPS,
    OWN,
    THERE,
    UNKNOWN,
    Sight,
)
from tool_envs.booking.scene.ways import (
    fare,
    is_booking,
    is_business,
    is_called_off,
    is_delayed,
    is_searched,
    is_under_way,
    party,
    seen_at_hand,
    wanted_search,
    wanted_sides,
)
from tool_envs.booking.writes import bags_to_pay
from tool_envs.rows import kernel

REASONS: Final = (
    *("over_budget", "basic_economy", "bags_only_added", "passengers_fixed", "insurance_with_booking"),
    *("no_compensation", "already_flown", "not_covered", "no_tool"),
)
"""Codes of reasons against a wish, as the sentences of the domain know them."""
(
    _OVER_BUDGET,
    _BASIC_ECONOMY,
    _BAGS_ONLY_ADDED,
    _PASSENGERS_FIXED,
    _INSURANCE_WITH_BOOKING,
    _NO_COMPENSATION,
    _ALREADY_FLOWN,
    _NOT_COVERED,
    NO_TOOL,
) = range(len(REASONS))

_SINCE: Final = NOW - HOURS * DAY // 24


# --- Reservations and the rules


@kernel
def is_new(trip: Reservation) -> bool:
    """Whether a reservation was made lately enough to be cancelled for any reason."""
    return trip.created >= _SINCE


@kernel
def is_cancellable(sight: Sight, place: int) -> bool:
    """Whether the rules let a reservation be cancelled, for the reason that was told."""
    trip = sight.trips[place]
    is_covered = trip.insurance > 0 and sight.wanted.reason in COVERED
    return is_new(trip) or is_called_off(sight, place) or is_business(trip) or is_covered


@kernel
def happened(sight: Sight, place: int) -> int:
    """The compensation for what happened to a reservation, if any is due to its customer; in dollars."""
    each = 0
    if is_called_off(sight, place):
        each = FOR_CANCELLED
    elif is_delayed(sight, place):
        each = FOR_DELAYED
    return each * int(sight.trips[place].passengers)


@kernel
def due(sight: Sight, place: int) -> int:
    """The compensation that the rules give for a reservation and that was not sent yet, in dollars."""
    trip = sight.trips[place]
    is_entitled = sight.customer.membership != REGULAR or trip.insurance > 0 or is_business(trip)
    return happened(sight, place) if is_entitled and not sight.scene.trip_paid[place] else 0


# --- Answers


@kernel
def paid(trip: Reservation) -> int:
    """What was paid for a reservation in all, less what was refunded, in cents."""
    amount = 0
    for number in range(trip.payments):
        amount += trip.payment_amount[number]
    return amount


@kernel
def fares_today(sight: Sight, place: int, cabin: int) -> int:
    """What the flights of a reservation cost one passenger today, in cents, or `UNKNOWN`."""
    there = fare(sight.ways[OWN * place + THERE], cabin)
    back = fare(sight.ways[OWN * place + BACK], cabin)
    return UNKNOWN if there == UNKNOWN or back == UNKNOWN else there + back


@kernel
def upgrade_cost(sight: Sight, place: int, cabin: int) -> int:
    """What another cabin costs all passengers beyond what they paid, in cents; 0 when that is not known."""
    today = fares_today(sight, place, cabin)
    if today == UNKNOWN:
        return 0
    paid_each = sight.ways[OWN * place + THERE].paid + sight.ways[OWN * place + BACK].paid
    return (today - paid_each) * sight.trips[place].passengers


@kernel
def nonfree_bags(sight: Sight, place: int, total: int) -> int:
    """How many bags of a reservation must be paid for when there are so many."""
    trip = sight.trips[place]
    return max(trip.nonfree_bags, bags_to_pay(trip, sight.customer, total))


@kernel
def bags_cost(sight: Sight, place: int) -> int:
    """What the bags cost that the words add to a reservation, in cents."""
    trip = sight.trips[place]
    nonfree = nonfree_bags(sight, place, trip.total_bags + sight.wanted.more_bags)
    return int(nonfree - trip.nonfree_bags) * BAG_PRICE


@kernel
def free_bags(sight: Sight, place: int) -> int:
    """How many free checked bags all passengers of a reservation have."""
    trip = sight.trips[place]
    return FREE_BAGS[sight.customer.membership][trip.cabin] * int(trip.passengers)


@kernel
def credit(sight: Sight, kind: int) -> int:
    """What all payment methods of a kind hold, in cents."""
    amount = 0
    for method in range(MAX_METHODS):
        if method < sight.customer.methods and sight.customer.method_kind[method] == kind:
            amount += sight.customer.balance[method]
    return amount


@kernel
def trips_in(sight: Sight, cabin: int) -> int:
    """How many reservations are in a cabin, without the cancelled ones."""
    count = 0
    for place in range(MAX_TRIPS):
        trip = sight.trips[place]
        count += sight.scene.trip_seen[place] > 0 and trip.cabin == cabin and not trip.cancelled
    return count


# --- Why not


@kernel
def may_be_refused(sight: Sight) -> bool:
    """Whether what the wish at hand is about was shown, and no flights that it asks for are among it."""
    scene = sight.scene
    if not was_looked_up(sight):
        return False
    if is_booking(scene.wish) or scene.wish == FOR_FLIGHTS:
        return party(sight) > 0 and wanted_sides(sight) == 0
    return True


@kernel
def was_looked_up(sight: Sight) -> bool:
    """Whether what the wish at hand is about was shown: all that an answer to it follows from."""
    scene = sight.scene
    if scene.wish < 0:
        return False
    if not is_booking(scene.wish):
        place = seen_at_hand(sight)
        if place < 0:
            return False
        if scene.wish != FOR_FLIGHTS or sight.trips[place].cabin == BASIC_ECONOMY:
            return True
    for number in range(OWN):
        code = wanted_search(sight, number)
        if code >= 0 and not is_searched(scene, code):
            return False
    return not is_booking(scene.wish) or wanted_search(sight, THERE) >= 0


@kernel
def reason_against(sight: Sight) -> int:
    """Why the wish at hand cannot be fulfilled, of `REASONS`, as far as its kind tells."""
    wish = sight.scene.wish
    if is_booking(wish):
        return _OVER_BUDGET
    if wish == FOR_FLIGHTS:
        return _BASIC_ECONOMY
    if wish == FOR_FEWER_BAGS:
        return _BAGS_ONLY_ADDED
    if wish == FOR_MORE_PASSENGERS:
        return _PASSENGERS_FIXED
    if wish == FOR_INSURANCE:
        return _INSURANCE_WITH_BOOKING
    if wish == FOR_COMPENSATION:
        return _NO_COMPENSATION
    if wish == FOR_CANCEL:
        place = seen_at_hand(sight)
        return _ALREADY_FLOWN if place >= 0 and is_under_way(sight, place) else _NOT_COVERED
    return NO_TOOL
