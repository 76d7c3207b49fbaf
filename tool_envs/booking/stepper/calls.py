"""What a call of a tool does: to the records, and to what was shown. Kernels (see `tool_envs.rows`)."""

from tool_envs.booking.dates import NOW
from tool_envs.booking.itineraries import keep_prices, same_segment
from tool_envs.booking.refusals import No
from tool_envs.booking.rows import (
    BASIC_ECONOMY,
    MAX_PASSENGERS,
    MAX_PAYMENTS,
    MAX_SEGMENTS,
    Reservation,
)
from tool_envs.booking.scene.masks import (
    PROPOSE,
    READ_PROFILE,
    READ_TRIP,
    SEARCH_DIRECT,
    SEARCH_ONE_STOP,
)
from tool_envs.booking.scene.payments import booking_price, new_nonfree_bags, payment
from tool_envs.booking.scene.reasons import happened, is_new, nonfree_bags
from tool_envs.booking.scene.seen import see_payments, see_refused, see_sent, see_written
from tool_envs.booking.scene.sight import (
    BAGS,
    BOOK,
    CABIN_COUNT,
    CANCEL,
    CERTIFICATE_SENT,
    COVERED,
    FLIGHTS,
    MAX_PAID,
    MAX_TRIPS,
    OWN,
    PASSENGERS,
    Draft,
    Sight,
)
from tool_envs.booking.scene.ways import fare, is_business, is_called_off, way
from tool_envs.booking.stepper.consent import use_yes
from tool_envs.booking.stepper.grading import note_write
from tool_envs.booking.stepper.lookups import (
    copy_trip,
    departure_of,
    free_seats,
    is_used_up,
    move_seats,
    search,
    show_profile,
    show_trip,
    to_method,
)
from tool_envs.booking.stepper.rows import Call, Errand, Lane, Room
from tool_envs.booking.stepper.timetable import Timetable
from tool_envs.booking.writes import (
    apply_add_bags,
    apply_book,
    apply_cancel,
    apply_change_flights,
    apply_send_certificate,
    guard_add_bags,
    guard_book,
    guard_cancel,
    guard_change_flights,
    guard_passengers,
    guard_send_certificate,
)
from tool_envs.rows import kernel

_CENTS = 100  # of a dollar


@kernel
def run_call(lane: Lane, errand: Errand, table: Timetable, verb: int, room: Room) -> None:
    """Call the tool of a verb, a transfer aside, with what the draft has chosen."""
    draft = lane.draft
    lane.sight.scene.refused = 0
    if verb < PROPOSE:
        _write(lane, errand, table, room)
    elif verb == READ_PROFILE:
        show_profile(lane, errand)
    elif verb == READ_TRIP:
        lane.read |= 1 << draft.trip
        show_trip(lane, errand, table, draft.trip)
    elif verb in (SEARCH_DIRECT, SEARCH_ONE_STOP):
        if draft.origin == draft.destination:
            see_refused(lane.sight, 0)
        else:
            stops = verb - SEARCH_DIRECT
            search(lane, errand, table, stops, draft.origin, draft.destination, draft.day)


# --- The call that a draft stands for


@kernel
def to_call(lane: Lane, errand: Errand, call: Call) -> None:
    """The draft, of which all is chosen, as a call that is written over another one."""
    sight, draft = lane.sight, lane.draft
    tool = call.tool = draft.tool
    has_trip = tool not in (BOOK, CERTIFICATE_SENT)
    call.trip = draft.trip if has_trip else -1
    call.origin = draft.origin if tool == BOOK else -1
    call.destination = draft.destination if tool == BOOK else -1
    call.round_trip = draft.round_trip if tool == BOOK else -1
    call.insurance = 1 - draft.insurance if tool == BOOK else -1
    call.cabin = draft.cabin if tool in (BOOK, FLIGHTS) else -1
    call.method = to_method(lane, errand, draft.method) if tool in (FLIGHTS, BAGS) else -1
    call.amount = happened(sight, draft.claim) * _CENTS if tool == CERTIFICATE_SENT else -1
    _set_legs(call, sight, draft)
    size = 0
    for place in range(MAX_PASSENGERS):
        is_chosen = tool in (BOOK, PASSENGERS) and draft.people[place] >= 0
        call.people[place] = draft.people[place] if is_chosen else -1
        size += is_chosen
    call.total_bags = sight.wanted.bags if tool in (BOOK, BAGS) else -1
    call.nonfree_bags = -1
    if tool == BOOK:
        call.nonfree_bags = new_nonfree_bags(sight, draft.cabin, size)
    elif tool == BAGS:
        call.nonfree_bags = nonfree_bags(sight, draft.trip, sight.wanted.bags)
    _set_payments(lane, errand, call, size)


@kernel
def _set_legs(call: Call, sight: Sight, draft: Draft) -> None:
    """The flights of the ways that are chosen, one after the other."""
    at = 0
    for place in range(MAX_SEGMENTS):
        call.flight[place] = call.day[place] = -1
    for side in range(OWN):
        if draft.tool in (BOOK, FLIGHTS) and draft.flights[side] >= 0:
            offer = way(sight, draft.trip, draft.flights[side])
            for leg in range(offer.legs):
                call.flight[at], call.day[at] = offer.flight[leg], offer.day[leg]
                at += 1


@kernel
def _set_payments(lane: Lane, errand: Errand, call: Call, size: int) -> None:
    """What each method pays for a booking."""
    sight, draft = lane.sight, lane.draft
    price = 0
    if call.tool == BOOK:
        fares = 0
        for side in range(OWN):
            if draft.flights[side] >= 0:
                fares += fare(way(sight, draft.trip, draft.flights[side]), draft.cabin)
        price = booking_price(sight, fares, draft.cabin, size, call.insurance)
    for place in range(MAX_PAID):
        is_paying = call.tool == BOOK and draft.methods[place] >= 0
        call.methods[place], call.amounts[place] = -1, 0
        if is_paying:
            call.methods[place] = to_method(lane, errand, draft.methods[place])
            call.amounts[place] = payment(sight, draft, price, place)


# --- Writes


@kernel
def _write(lane: Lane, errand: Errand, table: Timetable, room: Room) -> None:
    """Call the tool of a write; the rules see what was shown before it."""
    call = room.call
    to_call(lane, errand, call)
    if call.tool == CERTIFICATE_SENT:
        refused = guard_send_certificate(lane.customer)
    elif call.tool == BOOK:
        refused = _try_booking(lane, table, call, room)
    else:
        _to_data(lane, errand, lane.sight.trips[call.trip], room.trip)
        copy_trip(room.trip, room.other)
        refused = _try_change(lane, table, call, room)
    if refused:
        if _breaks_rule(call.tool, refused):
            lane.broken = 1
        see_refused(lane.sight, 1)
        return
    use_yes(lane, errand, call)
    if not _is_permitted(lane, call):
        lane.broken = 1
    _apply(lane, table, call, room)
    note_write(lane, errand, call, room.other)
    _show_written(lane, errand, table, call, room)


@kernel
def _breaks_rule(tool: int, refused: int) -> bool:
    """Whether what a tool refused breaks a rule of the domain policy, too."""
    if refused == No.ALREADY_FLOWN:
        return tool == FLIGHTS
    if refused in (No.BAGS_ONLY_ADDED, No.PASSENGER_COUNT_FIXED):
        return True
    is_by_count = refused in (No.TOO_MANY_CERTIFICATES, No.TOO_MANY_GIFT_CARDS, No.TOO_MANY_CREDIT_CARDS)
    return is_by_count or refused == No.CERTIFICATE_NOT_ALLOWED


@kernel
def _to_data(lane: Lane, errand: Errand, shown: Reservation, out: Reservation) -> None:
    """A reservation as it was shown, with the numbers that the data has for payment methods."""
    copy_trip(shown, out)
    for number in range(out.payments):
        out.payment_method[number] = to_method(lane, errand, shown.payment_method[number])


@kernel
def _try_booking(lane: Lane, table: Timetable, call: Call, room: Room) -> int:
    """Make the reservation that is wanted; answers 0, or the number of a refusal."""
    new = room.other
    new.customer = new.number = -1
    new.created = NOW
    new.cancelled = 0
    new.origin, new.destination = call.origin, call.destination
    new.round_trip, new.cabin, new.insurance = call.round_trip, call.cabin, call.insurance
    new.total_bags, new.nonfree_bags = call.total_bags, call.nonfree_bags
    _set_flights(table, call, new)
    _set_people(call, new)
    _sort_payments(lane, call, new)
    _look_up(lane, table, new, room)
    people = count_people(call)
    return guard_book(new, lane.customer, table.flights, room.status, room.free, people)


@kernel
def _set_flights(table: Timetable, call: Call, trip: Reservation) -> None:
    """Give a reservation flights at today's prices."""
    trip.segments = 0
    for place in range(MAX_SEGMENTS):
        trip.flight[place], trip.day[place] = call.flight[place], call.day[place]
        trip.price[place] = 0
        if call.flight[place] >= 0:
            departure = departure_of(call.flight[place], call.day[place])
            trip.price[place] = table.price[departure * CABIN_COUNT + int(trip.cabin)]
            trip.segments = place + 1


@kernel
def _set_people(call: Call, trip: Reservation) -> None:
    trip.passengers = 0
    for place in range(MAX_PASSENGERS):
        trip.passenger[place] = call.people[place]
        trip.passengers += call.people[place] >= 0


@kernel
def count_people(call: Call) -> int:
    """How many different people a call names."""
    people = 0
    for place in range(MAX_PASSENGERS):
        if call.people[place] >= 0:
            people |= 1 << call.people[place]
    count = 0
    for person in range(MAX_PASSENGERS):
        count += people >> person & 1
    return count


@kernel
def _sort_payments(lane: Lane, call: Call, trip: Reservation) -> None:
    """Give a reservation its payments by method, and then by amount; what is used up is no method."""
    trip.payments = 0
    for place in range(MAX_PAYMENTS):
        trip.payment_method[place], trip.payment_amount[place] = -1, 0
    for place in range(MAX_PAID):
        method, amount = call.methods[place], call.amounts[place]
        if method < 0:
            continue
        if is_used_up(lane.customer, method):
            method = -1
        at = trip.payments
        while at > 0 and (
            trip.payment_method[at - 1] > method
            or (trip.payment_method[at - 1] == method and trip.payment_amount[at - 1] > amount)
        ):
            trip.payment_method[at] = trip.payment_method[at - 1]
            trip.payment_amount[at] = trip.payment_amount[at - 1]
            at -= 1
        trip.payment_method[at], trip.payment_amount[at] = method, amount
        trip.payments += 1


@kernel
def _look_up(lane: Lane, table: Timetable, trip: Reservation, room: Room) -> None:
    """Status and free seats of the departures of a reservation."""
    for place in range(trip.segments):
        flight, day = trip.flight[place], trip.day[place]
        room.status[place] = table.status[departure_of(flight, day)]
        room.free[place] = free_seats(lane, table, flight, day, trip.cabin)


@kernel
def _try_change(lane: Lane, table: Timetable, call: Call, room: Room) -> int:
    """Change a copy of a reservation as far as guards look at it; answers 0, or the number of a refusal."""
    old, new, customer = room.trip, room.other, lane.customer
    for place in range(old.segments):
        room.old_status[place] = table.status[departure_of(old.flight[place], old.day[place])]
    method = call.method
    if method >= 0 and is_used_up(customer, method):
        method = -1
    if call.tool == CANCEL:
        return guard_cancel(old, room.old_status)
    if call.tool == BAGS:
        return guard_add_bags(old, customer, call.total_bags, call.nonfree_bags, method)
    if call.tool == FLIGHTS:
        new.cabin = call.cabin
        _set_flights(table, call, new)
        _look_up(lane, table, new, room)
        keep_prices(old, new)
        return guard_change_flights(
            old, new, customer, table.flights, room.old_status, room.status, room.free, method
        )
    _set_people(call, new)
    return guard_passengers(old, new.passengers, count_people(call), _known_people(call, old))


@kernel
def _known_people(call: Call, trip: Reservation) -> int:
    """How many different people that a call names are passengers already."""
    count = 0
    for person in range(MAX_PASSENGERS):
        is_named = is_there = False
        for place in range(MAX_PASSENGERS):
            is_named = is_named or call.people[place] == person
            is_there = is_there or (place < trip.passengers and trip.passenger[place] == person)
        count += is_named and is_there
    return count


@kernel
def _apply(lane: Lane, table: Timetable, call: Call, room: Room) -> None:
    """Do what a write does that the guard lets pass: `room.other` becomes the reservation."""
    old, new, customer = room.trip, room.other, lane.customer
    if call.tool == BOOK:
        apply_book(new, customer)
        for place in range(new.segments):
            move_seats(lane, table, new.flight[place], new.day[place], new.cabin, -new.passengers)
    elif call.tool == CANCEL:
        apply_cancel(new, customer)
        for place in range(new.segments):
            move_seats(lane, table, new.flight[place], new.day[place], new.cabin, new.passengers)
    elif call.tool == BAGS:
        apply_add_bags(new, customer, call.total_bags, call.nonfree_bags, call.method)
    elif call.tool == FLIGHTS:
        apply_change_flights(old, new, customer, call.method)
        for place in range(old.segments):
            if same_segment(old, place, new) < 0:
                move_seats(lane, table, old.flight[place], old.day[place], old.cabin, old.passengers)
        for place in range(new.segments):
            if same_segment(new, place, old) < 0:
                move_seats(lane, table, new.flight[place], new.day[place], new.cabin, -new.passengers)
    elif call.tool == CERTIFICATE_SENT:
        apply_send_certificate(customer, call.amount)


# --- Rules about reservations, which no tool checks


@kernel
def _is_permitted(lane: Lane, call: Call) -> bool:
    """Whether the rules permit a write, by what was shown; a certificate uses a claim up."""
    if call.tool == FLIGHTS:
        return _keeps_basic_flights(lane, call)
    if call.tool == CANCEL:
        return _may_cancel(lane, call.trip)
    return call.tool != CERTIFICATE_SENT or _use_claim(lane, call)


@kernel
def _keeps_basic_flights(lane: Lane, call: Call) -> bool:
    trip = lane.sight.trips[call.trip]
    if not lane.sight.scene.trip_seen[call.trip]:
        return False
    if trip.cabin != BASIC_ECONOMY:
        return True
    for place in range(MAX_SEGMENTS):
        if trip.flight[place] != call.flight[place] or trip.day[place] != call.day[place]:
            return False
    return True


@kernel
def _may_cancel(lane: Lane, place: int) -> bool:
    trip = lane.sight.trips[place]
    if not lane.sight.scene.trip_seen[place]:
        return False
    is_covered = False
    for number in range(len(COVERED)):
        is_covered = is_covered or lane.reasons >> COVERED[number] & 1 > 0
    is_free = is_new(trip) or is_called_off(lane.sight, place) or is_business(trip)
    return is_free or (trip.insurance > 0 and is_covered)


@kernel
def _use_claim(lane: Lane, call: Call) -> bool:
    """Whether just this certificate is due, for the first reservation of those in the order shown."""
    first = -1
    for place in range(MAX_TRIPS):
        is_open = lane.shown_at[place] >= 0 and not lane.claimed >> place & 1
        is_earlier = first < 0 or lane.shown_at[place] < lane.shown_at[first]
        if is_open and is_earlier and _compensation(lane, place) * _CENTS == call.amount:
            first = place
    if first < 0:
        return False
    lane.claimed |= 1 << first
    return lane.complained > 0


@kernel
def _compensation(lane: Lane, place: int) -> int:
    """What is due for a reservation, in dollars."""
    trip = lane.sight.trips[place]
    is_entitled = lane.customer.membership > 0 or trip.insurance > 0 or is_business(trip)
    return happened(lane.sight, place) if is_entitled else 0


# --- What a write shows


@kernel
def _show_written(lane: Lane, errand: Errand, table: Timetable, call: Call, room: Room) -> None:
    sight = lane.sight
    lane.written, lane.written_trip = call.tool, call.trip
    lane.written_origin, lane.written_destination = call.origin, call.destination
    lane.written_amount = call.amount
    see_written(sight, call.tool)
    if call.tool == CERTIFICATE_SENT:
        see_sent(sight, call.amount // _CENTS)
        show_profile(lane, errand)
        return
    place, before = call.trip, 0
    if call.tool == BOOK:
        sight.customer.reservations += 1
        place = lane.customer.reservations - 1
    else:
        before = sight.trips[place].payments if sight.scene.trip_seen[place] else -1
    for number in range(room.other.payments):
        method = room.other.payment_method[number]
        room.other.payment_method[number] = lane.numbers[method]
    if place < MAX_TRIPS:
        sight.scene.trip_code[place] = errand.trip_code[place]
        copy_trip(room.other, sight.trips[place])
        show_trip(lane, errand, table, place)
    see_payments(sight, room.other, before)
