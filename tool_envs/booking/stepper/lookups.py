"""What the tools that look something up show, on rows. Kernels (see `tool_envs.rows`)."""

from typing import Final

from tool_envs.booking.dates import DAYS
from tool_envs.booking.rows import (
    AVAILABLE,
    CERTIFICATE,
    DAY,
    MAX_METHODS,
    MAX_PASSENGERS,
    MAX_PAYMENTS,
    MAX_SEGMENTS,
    Customer,
    Reservation,
)
from tool_envs.booking.scene.search_codes import (
    search_code,
)
from tool_envs.booking.scene.seen import keep_offers, make_room, see_profile, see_search, see_trip
from tool_envs.booking.scene.sight import (
    BACK,
    CABIN_COUNT,
    DIRECT,
    MAX_LEGS,
    MAX_OFFERS,
    MAX_PEOPLE,
    MAX_TRIPS,
    OWN,
    PLACES,
    THERE,
    UNKNOWN,
    Offer,
)
from tool_envs.booking.scene.ways import is_searched
from tool_envs.booking.stepper.rows import MAX_EVIDENCE, Errand, Lane
from tool_envs.booking.stepper.timetable import Timetable
from tool_envs.errors import UsageError
from tool_envs.rows import kernel

_CABINS = 4
"""Moved seats are kept as cabin + seats * that."""


# --- The profile


@kernel
def show_profile(lane: Lane, errand: Errand) -> None:
    """The profile was shown: payment methods get a number when they first come up."""
    lane.read_profile = 1
    shown, customer, scene = lane.sight.customer, lane.customer, lane.sight.scene
    for method in range(customer.methods):
        if lane.numbers[method] < 0 and not is_used_up(customer, method):
            number = shown.methods
            lane.numbers[method] = number
            shown.method_kind[number] = customer.method_kind[method]
            scene.digits[number], scene.number[number] = errand.digits[method], errand.method_number[method]
            shown.methods += 1
    for method in range(customer.methods):
        if lane.numbers[method] >= 0:
            shown.balance[lane.numbers[method]] = customer.balance[method]
    shown.membership, shown.reservations = customer.membership, customer.reservations
    for place in range(MAX_TRIPS):
        scene.trip_code[place] = errand.trip_code[place] if place < customer.reservations else -1
    scene.people = errand.people
    for place in range(MAX_PEOPLE):
        scene.name[place] = errand.name[place]
    see_profile(lane.sight)


@kernel
def is_used_up(customer: Customer, method: int) -> bool:
    """Whether a payment method is a certificate that paid for something, and so gone from the profile."""
    return customer.method_kind[method] == CERTIFICATE and customer.balance[method] == 0


@kernel
def to_method(lane: Lane, errand: Errand, number: int) -> int:
    """The payment method that came up with a number; without one it is that which was used up before."""
    if number < 0:
        return errand.gone
    for method in range(MAX_METHODS):
        if lane.numbers[method] == number:
            return method
    return -1


# --- Reservations


@kernel
def show_trip(lane: Lane, errand: Errand, table: Timetable, place: int) -> None:
    """A reservation was shown."""
    trip = lane.sight.trips[place]
    for number in range(trip.payments):
        if trip.payment_method[number] < 0:
            trip.payment_method[number] = lane.numbers[errand.gone]
    split_trip(trip, table, lane.sight.ways[OWN * place + THERE], lane.sight.ways[OWN * place + BACK])
    see_trip(lane.sight, place)
    if lane.shown_at[place] < 0:
        before = 0
        for other in range(MAX_TRIPS):
            before += lane.shown_at[other] >= 0
        lane.shown_at[place] = before


@kernel
def split_trip(trip: Reservation, table: Timetable, there: Offer, back: Offer) -> None:
    """The way there and the way back; of a trip one way there is no way back."""
    first = trip.segments
    for place in range(trip.segments):
        if first == trip.segments and table.flights.destination[trip.flight[place]] == trip.destination:
            first = place + 1
    own_way(trip, table, 0, first, there)
    own_way(trip, table, first, trip.segments, back)


@kernel
def own_way(trip: Reservation, table: Timetable, start: int, end: int, out: Offer) -> None:
    """Some flights of a reservation as a way; only those of one or two are one."""
    clear_offer(out)
    if not 0 < end - start <= MAX_LEGS:
        return
    for place in range(start, end):
        add_leg(out, table, trip.flight[place], trip.day[place])
        out.paid += trip.price[place]


@kernel
def clear_offer(out: Offer) -> None:
    """No way."""
    out.legs = out.statuses = out.departs = out.arrives = out.paid = 0
    out.origin = out.destination = out.stop = -1
    for leg in range(MAX_LEGS):
        out.flight[leg] = out.day[leg] = -1
        out.status[leg] = 0
    for number in range(MAX_LEGS * CABIN_COUNT):
        out.price[number] = out.seats[number] = UNKNOWN


@kernel
def add_leg(out: Offer, table: Timetable, flight: int, day: int) -> None:
    """Go on by a flight."""
    leg = out.legs
    out.flight[leg], out.day[leg] = flight, day
    out.status[leg] = table.status[departure_of(flight, day)]
    out.statuses |= 1 << int(out.status[leg])
    if leg == 0:
        out.origin = table.flights.origin[flight]
        out.departs = int(day) * DAY + table.flights.departure[flight]
    else:
        out.stop = table.flights.origin[flight]
    out.destination = table.flights.destination[flight]
    out.arrives = int(day) * DAY + table.flights.arrival[flight]
    out.legs += 1


@kernel
def copy_trip(source: Reservation, target: Reservation) -> None:
    """Write one reservation over another one."""
    target.customer, target.number, target.created = source.customer, source.number, source.created
    target.origin, target.destination = source.origin, source.destination
    target.round_trip, target.cabin, target.segments = source.round_trip, source.cabin, source.segments
    target.passengers, target.payments = source.passengers, source.payments
    target.total_bags, target.nonfree_bags = source.total_bags, source.nonfree_bags
    target.insurance, target.cancelled = source.insurance, source.cancelled
    for place in range(MAX_SEGMENTS):
        target.flight[place], target.day[place] = source.flight[place], source.day[place]
        target.price[place] = source.price[place]
    for place in range(MAX_PASSENGERS):
        target.passenger[place] = source.passenger[place]
    for place in range(MAX_PAYMENTS):
        target.payment_method[place] = source.payment_method[place]
        target.payment_amount[place] = source.payment_amount[place]


# --- Flights

_TOO_MANY_MOVED: Final = (
    "One episode moved seats of more cabins than the compiled stepper keeps. Take fewer `max_steps`, or run "
    'single environments by `vectorization_mode="sync"`.'
)


@kernel
def departure_of(flight: int, day: int) -> int:
    """The number of a departure."""
    return int(flight) * DAYS + int(day)


@kernel
def free_seats(lane: Lane, table: Timetable, flight: int, day: int, cabin: int) -> int:
    """Free seats of a departure now."""
    departure = departure_of(flight, day)
    seats = table.seats[departure * CABIN_COUNT + int(cabin)]
    for number in range(len(lane.moved)):
        if lane.moved[number] < 0:
            break
        if lane.moved[number] == departure and lane.seats[number] % _CABINS == cabin:
            seats += lane.seats[number] // _CABINS
    return seats


@kernel
def move_seats(lane: Lane, table: Timetable, flight: int, day: int, cabin: int, seats: int) -> None:
    """Release so many seats, or take them when below 0; of what cannot be booked there are none to move.

    Raises:
        UsageError: The episode has moved seats of `MAX_MOVED` cabins already.
    """
    departure = departure_of(flight, day)
    if table.status[departure] != AVAILABLE:
        return
    for number in range(len(lane.moved)):
        if lane.moved[number] < 0:
            lane.moved[number], lane.seats[number] = departure, cabin + seats * _CABINS
            return
        if lane.moved[number] == departure and lane.seats[number] % _CABINS == cabin:
            lane.seats[number] += seats * _CABINS
            return
    raise UsageError(_TOO_MANY_MOVED)


@kernel
def search(
    lane: Lane, errand: Errand, table: Timetable, stops: int, origin: int, destination: int, day: int
) -> None:
    """A search between two different airports was made."""
    sight = lane.sight
    evidence = search_code(DIRECT, origin, destination, day)  # whoever looks for either has looked
    for number in range(MAX_EVIDENCE):
        if errand.evidence[number] == evidence:
            lane.searched |= 1 << number
    code = search_code(stops, origin, destination, day)
    if is_searched(sight.scene, code):
        keep_offers(sight, False)
    pair = int(origin) * PLACES + int(destination)
    found = 0
    if stops:
        start, end = table.via_from[pair], table.via_from[pair + 1]
        for number in range(start, end):
            found += found < MAX_OFFERS and _can_connect(table, number, day)
        first = make_room(sight, found)
        found = 0
        for number in range(start, end):
            if found < MAX_OFFERS and _can_connect(table, number, day):
                out = sight.offers[first + found]
                clear_offer(out)
                _offer_leg(lane, table, out, table.via_first[number], day)
                _offer_leg(lane, table, out, table.via_second[number], day + table.via_later[number])
                found += 1
    else:
        start, end = table.direct_from[pair], table.direct_from[pair + 1]
        for number in range(start, end):
            found += found < MAX_OFFERS and _can_book(table, table.direct[number], day)
        first = make_room(sight, found)
        found = 0
        for number in range(start, end):
            if found < MAX_OFFERS and _can_book(table, table.direct[number], day):
                out = sight.offers[first + found]
                clear_offer(out)
                _offer_leg(lane, table, out, table.direct[number], day)
                found += 1
    see_search(sight, code, found)


@kernel
def _can_book(table: Timetable, flight: int, day: int) -> bool:
    return table.status[departure_of(flight, day)] == AVAILABLE


@kernel
def _can_connect(table: Timetable, number: int, day: int) -> bool:
    """Whether both flights of a connection can be booked when the first one leaves on a day."""
    second_day = day + table.via_later[number]
    if second_day >= DAYS or not _can_book(table, table.via_first[number], day):
        return False
    return _can_book(table, table.via_second[number], second_day)


@kernel
def _offer_leg(lane: Lane, table: Timetable, out: Offer, flight: int, day: int) -> None:
    """Go on by a flight, with today's prices and free seats."""
    leg = out.legs
    add_leg(out, table, flight, day)
    departure = departure_of(flight, day)
    for cabin in range(CABIN_COUNT):
        out.price[leg * CABIN_COUNT + cabin] = table.price[departure * CABIN_COUNT + cabin]
        out.seats[leg * CABIN_COUNT + cabin] = free_seats(lane, table, flight, day, cabin)
