"""Which writes can be made or proposed, on what was shown. Kernels, as in `sight`.

`fits_write` says whether a call can come of a draft. When it is `guarded`, it is one that the tool would not
refuse and that the rules permit, as far as that was shown: of flights that no search showed nobody knows the
price and the seats.
"""

from tool_envs.booking.rows import AVAILABLE, BASIC_ECONOMY, MAX_SEGMENTS, Reservation
from tool_envs.booking.scene.bookings import fits_booking, is_in_time, rows_left
from tool_envs.booking.scene.payments import first_people, last_people, party_sizes
from tool_envs.booking.scene.reasons import due, happened, is_cancellable, nonfree_bags
from tool_envs.booking.scene.sight import (
    BACK,
    BAGS,
    BOOK,
    CABIN_COUNT,
    CANCEL,
    CERTIFICATE_SENT,
    FLIGHTS,
    FOR_COMPENSATION,
    FOR_FLIGHTS,
    MAX_FLIGHTS,
    MAX_PAID,
    MAX_PEOPLE,
    MAX_TRIPS,
    NONE,
    OWN,
    PASSENGERS,
    THERE,
    UNKNOWN,
    Draft,
    Offer,
    Sight,
    may_be,
)
from tool_envs.booking.scene.ways import (
    any_left,
    is_same,
    is_under_way,
    way,
)
from tool_envs.booking.writes import (
    guard_active,
    guard_add_bags,
    guard_difference,
    guard_send_certificate,
)
from tool_envs.rows import kernel


@kernel
def fits_write(sight: Sight, guarded: bool, draft: Draft) -> bool:
    """Whether a call can come of a draft."""
    if not sight.scene.profile:
        return False
    if draft.tool in (BOOK, CERTIFICATE_SENT):
        return _fits_new(sight, guarded, draft)
    for place in range(MAX_TRIPS):
        if may_be(draft.trip, place) and _fits_trip(sight, guarded, draft, place):
            return True
    return False


@kernel
def possible_writes(sight: Sight, guarded: bool, draft: Draft) -> int:
    """Bits of the writes that `fits_write` with a draft that is open but for its `tool`, which is changed."""
    found = 0
    if not sight.scene.profile:
        return found
    for tool in (BOOK, CERTIFICATE_SENT):
        draft.tool = tool
        if _fits_new(sight, guarded, draft):
            found |= 1 << tool
    for place in range(MAX_TRIPS):
        if sight.scene.trip_code[place] < 0 or (guarded and not sight.scene.trip_seen[place]):
            continue
        for tool in (CANCEL, BAGS, FLIGHTS, PASSENGERS):
            draft.tool = tool
            if not found >> tool & 1 and _fits_trip(sight, guarded, draft, place):
                found |= 1 << tool
    return found


@kernel
def _fits_new(sight: Sight, guarded: bool, draft: Draft) -> bool:
    """The same of a write that is about no reservation that there is."""
    if draft.tool == CERTIFICATE_SENT:
        return _fits_certificate(sight, guarded, draft)
    return fits_booking(sight, draft) if guarded else _has_booking(sight, draft)


@kernel
def _fits_trip(sight: Sight, guarded: bool, draft: Draft, place: int) -> bool:
    """The same of one about a reservation."""
    if sight.scene.trip_code[place] < 0:
        return False
    return _fits_change_of(sight, draft, place) if guarded else _has_change(sight, draft, place)


# --- What can be expressed


@kernel
def _has_booking(sight: Sight, draft: Draft) -> bool:
    if sight.wanted.bags < 0:
        return False
    for number in range(MAX_PAID):
        if draft.methods[number] >= sight.customer.methods:
            return False
    return _are_rows(sight, draft, -1) and _are_in_profile(sight, draft)


@kernel
def _are_in_profile(sight: Sight, draft: Draft) -> bool:
    for number in range(MAX_PEOPLE):
        if draft.people[number] >= sight.scene.people:
            return False
    return True


@kernel
def _are_rows(sight: Sight, draft: Draft, place: int) -> bool:
    """Whether the flights of a draft were shown, and some where they are open."""
    if draft.flights[1] >= 0 and not _is_row(sight, place, draft.flights[1]):
        return False
    for row in range(MAX_FLIGHTS):
        if may_be(draft.flights[0], row) and _is_row(sight, place, row):
            return True
    return False


@kernel
def _is_row(sight: Sight, place: int, row: int) -> bool:
    if row < OWN and place < 0:
        return False
    return way(sight, place, row).legs > 0


@kernel
def _has_change(sight: Sight, draft: Draft, place: int) -> bool:
    """Whether a call can be expressed that is about a reservation that is listed."""
    if draft.tool == CANCEL:
        return True
    if draft.tool == PASSENGERS:
        return _are_in_profile(sight, draft)
    if draft.method >= sight.customer.methods:
        return False
    if draft.tool == FLIGHTS:
        return _are_rows(sight, draft, place)
    return sight.wanted.bags >= 0 and sight.scene.trip_seen[place] > 0


# --- Changes


@kernel
def _fits_certificate(sight: Sight, guarded: bool, draft: Draft) -> bool:
    """With the guard of reservations with the same sum only the first one, so that a sum is one draft."""
    if guarded and (sight.scene.wish != FOR_COMPENSATION or guard_send_certificate(sight.customer)):
        return False
    for place in range(MAX_TRIPS):
        if not may_be(draft.claim, place) or not sight.scene.trip_seen[place]:
            continue
        if _is_first_due(sight, place) if guarded else happened(sight, place) > 0:
            return True
    return False


@kernel
def _is_first_due(sight: Sight, place: int) -> bool:
    amount = due(sight, place)
    for earlier in range(place):
        if sight.scene.trip_seen[earlier] and due(sight, earlier) == amount:
            return False
    return amount > 0


@kernel
def _fits_change_of(sight: Sight, draft: Draft, place: int) -> bool:
    """Whether a write about a reservation that was shown would not be refused."""
    trip = sight.trips[place]
    if not sight.scene.trip_seen[place] or guard_active(trip):
        return False
    if draft.tool == CANCEL:
        return not is_under_way(sight, place) and is_cancellable(sight, place)
    if draft.tool == BAGS:
        return _fits_bags(sight, draft, place)
    if draft.tool == FLIGHTS:
        return _fits_flights(sight, draft, place)
    return fits_people(sight, draft, trip)


@kernel
def _fits_bags(sight: Sight, draft: Draft, place: int) -> bool:
    trip, total = sight.trips[place], sight.wanted.bags
    for method in range(sight.customer.methods if total >= 0 else 0):
        nonfree = nonfree_bags(sight, place, total)
        refused = guard_add_bags(trip, sight.customer, total, nonfree, method) != 0
        if may_be(draft.method, method) and not refused:
            return True
    return False


@kernel
def fits_people(sight: Sight, draft: Draft, trip: Reservation) -> bool:
    """As many as there are, and not just those who fly already."""
    size = int(trip.passengers)
    if not party_sizes(sight, draft) >> size & 1:
        return False
    now = 0
    for number in range(size):
        if trip.passenger[number] >= 0:
            now |= 1 << int(trip.passenger[number])
    return first_people(draft, size) != now or last_people(sight, draft, size) != now


@kernel
def _fits_flights(sight: Sight, draft: Draft, place: int) -> bool:
    trip = sight.trips[place]
    for cabin in range(CABIN_COUNT):
        is_other = sight.scene.wish == FOR_FLIGHTS and cabin != trip.cabin
        if not may_be(draft.cabin, cabin) or is_other:
            continue
        start, end = rows_left(draft.flights[0], 0, OWN + sight.scene.offers)
        for first in range(start, end):
            if not _is_way(sight, place, cabin, first, THERE):
                continue
            if not trip.round_trip:
                if may_be(draft.flights[1], NONE) and _fits_change(sight, draft, place, cabin, first, NONE):
                    return True
                continue
            back_start, back_end = rows_left(draft.flights[1], 0, OWN + sight.scene.offers)
            for second in range(back_start, back_end):
                if not _is_way(sight, place, cabin, second, BACK):
                    continue
                if not is_in_time(way(sight, place, first), way(sight, place, second)):
                    continue
                if _fits_change(sight, draft, place, cabin, first, second):
                    return True
    return False


@kernel
def _is_way(sight: Sight, place: int, cabin: int, row: int, side: int) -> bool:
    """Whether a row can be the way of a reservation on that side; what is there already is that alone."""
    trip, offer, own = sight.trips[place], way(sight, place, row), sight.ways[OWN * place + side]
    if offer.legs == 0 or own.legs == 0:
        return False
    if row < OWN:
        return row == side and _has_seats(trip, offer, cabin)
    start, end = trip.origin, trip.destination
    if side == BACK:
        start, end = end, start
    if offer.origin != start or offer.destination != end:
        return False
    if trip.cabin == BASIC_ECONOMY or any_left(own) or is_same(offer, own):
        return False
    return _has_seats(trip, offer, cabin)


@kernel
def _is_kept(trip: Reservation, offer: Offer, leg: int, cabin: int) -> bool:
    """Whether a flight of a way is one that a reservation has already in that cabin."""
    if cabin != trip.cabin:
        return False
    for number in range(trip.segments):
        if trip.flight[number] == offer.flight[leg] and trip.day[number] == offer.day[leg]:
            return True
    return False


@kernel
def _has_seats(trip: Reservation, offer: Offer, cabin: int) -> bool:
    """Whether all passengers can get seats that they do not have, as far as is known."""
    for leg in range(offer.legs):
        if _is_kept(trip, offer, leg, cabin):
            continue
        seats = offer.seats[leg * CABIN_COUNT + cabin]
        if offer.status[leg] != AVAILABLE or (seats != UNKNOWN and seats < trip.passengers):
            return False
    return True


@kernel
def _new_fares(trip: Reservation, offer: Offer, cabin: int) -> int:
    """What a way costs each passenger, in cents, or `UNKNOWN`; what is kept costs what it did."""
    amount = 0
    for leg in range(offer.legs):
        price = offer.price[leg * CABIN_COUNT + cabin]
        for number in range(MAX_SEGMENTS):
            is_own = trip.flight[number] == offer.flight[leg] and trip.day[number] == offer.day[leg]
            if is_own and cabin == trip.cabin:
                price = trip.price[number]
        if price == UNKNOWN:
            return UNKNOWN
        amount += price
    return amount


@kernel
def _fits_change(sight: Sight, draft: Draft, place: int, cabin: int, first: int, second: int) -> bool:
    """Whether something changes, and some method can settle the difference."""
    trip = sight.trips[place]
    if cabin == trip.cabin and first < OWN and second < OWN:
        return False
    there = _new_fares(trip, way(sight, place, first), cabin)
    back = 0
    if second >= 0:
        back = _new_fares(trip, way(sight, place, second), cabin)
    difference = -1  # a refund: that no card is too empty for
    if there != UNKNOWN and back != UNKNOWN:
        difference = there + back
        for number in range(trip.segments):
            difference -= trip.price[number]
        difference *= trip.passengers
    for method in range(sight.customer.methods):
        refused = guard_difference(trip, sight.customer, method, difference) != 0
        if may_be(draft.method, method) and not refused:
            return True
    return False
