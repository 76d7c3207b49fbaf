"""What was shown as arrays. Kernels, as in `sight`: each fills one table, or some fields of it.

Where a kernel does not say otherwise, what it fills is all zero before.

Places in tables stand for entities: a reservation by its place in the profile, a payment method by its
number, an airport or a day by its code, a flight by its row among the flights to choose from: first the way
there and the way back of the reservation at hand, as they are, then what searches found.
"""

from collections.abc import Mapping
from typing import Final, Literal

from tool_envs.booking.dates import DAYS
from tool_envs.booking.rows import (
    CABINS,
    DAY,
    MAX_METHODS,
    MAX_SEGMENTS,
    MEMBERSHIPS,
    METHOD_KINDS,
    STATUSES,
)
from tool_envs.booking.scene.payments import is_method_meant, is_method_named
from tool_envs.booking.scene.reasons import due, is_cancellable, is_new
from tool_envs.booking.scene.search_codes import (
    code_day,
    code_destination,
    code_origin,
)
from tool_envs.booking.scene.sight import (
    BACK,
    BEST,
    CABIN_COUNT,
    DEMANDS,
    MAX_FLIGHTS,
    MAX_LEGS,
    MAX_PAID,
    MAX_PEOPLE,
    MAX_TRIPS,
    MOVES,
    OWN,
    PLACES,
    QUESTIONS,
    REASONS_TOLD,
    SLOTS,
    THERE,
    UNKNOWN,
    WISHES,
    WRITE_TOOLS,
    Draft,
    Sight,
)
from tool_envs.booking.scene.ways import (
    cabin_at_hand,
    fare,
    has_room,
    is_among_best,
    is_called_off,
    is_cheap_enough,
    is_delayed,
    is_early_enough,
    is_late_enough,
    is_named,
    is_on_route,
    is_under_way,
    least_rank,
    open_search,
    party,
    search_for,
    search_numbers,
    seen_at_hand,
    side_by,
    wanted_search,
    wanted_sides,
    way,
)
from tool_envs.row_lists import Out, put_one, scaled
from tool_envs.rows import kernel

FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "conversation": (
        *("profile shown", "a balance moved since", "told user_id", "last call refused"),
        *(f"does not know {slot}" for slot in SLOTS),
        *(f"says {move}" for move in MOVES),
        *(f"wants {wish}" for wish in WISHES),
        *(f"asks for {question}" for question in QUESTIONS),
        *(f"because of {reason}" for reason in REASONS_TOLD),
        *(f"wants {cabin}" for cabin in CABINS),
        *("without insurance", "with insurance"),
        *(f"wants the {best} flight" for best in BEST),
        *("with one stop", "leaves after", "arrives before", "costs at most", "flights named"),
        *("reservation named by id", "reservation named by route", "route told", "way back told"),
        *("payment method named", "several payment methods named", "people named", "number of bags told"),
        *("a search is to be made", "some flight there is wanted", "some flight back is wanted"),
        *MEMBERSHIPS,
        *(f"yes to {tool}" for tool in WRITE_TOOLS),
        *(f"proposed {tool}" for tool in WRITE_TOOLS),
        *(f"{tool} to be reported" for tool in WRITE_TOOLS),
        *(f"demands {demand}" for demand in DEMANDS),
    ),
    "reservations": (
        *("listed", "shown", "named by id", "named by route", "shown last", "cancelled", "round trip"),
        *CABINS,
        *("insured", "new", "some flight left", "some flight called off", "some flight delayed"),
        *("may be cancelled", "compensation due", "fewer bags than told", "one flight", "proposed"),
    ),
    "flights": (
        *("shown", "own", "one stop", "way there", "way back", "enough seats", "late enough"),
        *("early enough", "cheap enough", "wanted", "proposed"),
    ),
    "times": ("departs", "arrives", "fare"),
    "legs": ("shown", *STATUSES, "price known"),
    "methods": (
        *("shown", *METHOD_KINDS, "named", "named first", "named second", "named third"),
        *("holds something", "proposed"),
    ),
    "balances": ("balance",),
    "people": ("shown", "named", "not any more", "flies already", "proposed"),
    "airports": ("trip begins", "trip ends", "search begins", "search ends"),
    "days": ("way there", "way back", "search"),
    "party": ("people", "bags", "more bags"),
}
"""Name of a table -> what stands along its last axis."""

_ROWS: Final[Mapping[str, tuple[int, ...]]] = {
    "conversation": (),
    "reservations": (MAX_TRIPS,),
    "flights": (MAX_FLIGHTS,),
    "times": (MAX_FLIGHTS,),
    "legs": (MAX_SEGMENTS,),
    "methods": (MAX_METHODS,),
    "balances": (MAX_METHODS,),
    "people": (MAX_PEOPLE,),
    "airports": (PLACES,),
    "days": (DAYS,),
    "party": (),
}
_AMOUNTS = ("times", "balances", "party")
SHAPES: Final[Mapping[str, tuple[tuple[int, ...], Literal["int8", "float32"]]]] = {
    name: ((*rows, len(FIELDS[name])), "float32" if name in _AMOUNTS else "int8")
    for name, rows in _ROWS.items()
}
"""Name of a table -> its shape and dtype."""

_MOST_FARE: Final = 200_000
_MOST_BALANCE: Final = 100_000
"""In cents: what is shown as 1.0, as everything above is."""
_MOST_BAGS: Final = 20


_MOVES_AT: Final = 4 + len(SLOTS)
_WISH_AT: Final = _MOVES_AT + len(MOVES)
_WRITES_AT: Final = len(FIELDS["conversation"]) - len(DEMANDS) - 3 * len(WRITE_TOOLS)
"""Where parts of the conversation begin: moves, the wish, and writes that are proposed or made."""


@kernel
def fill_turn(sight: Sight, out: Out) -> None:
    """What every turn may change of the conversation. It need not be zero before."""
    scene = sight.scene
    out[0], out[1], out[2], out[3] = scene.profile, scene.stale, scene.user, scene.refused
    moves, unreported = int(scene.moves), int(scene.unreported)
    unknown, demands = int(scene.unknown), int(scene.demands)
    for slot in range(len(SLOTS)):
        out[4 + slot] = unknown >> slot & 1
    for move in range(len(MOVES)):
        out[_MOVES_AT + move] = moves >> move & 1
    proposed, agreed = int(sight.proposed.tool), -1
    if scene.yes:
        proposed, agreed = -1, proposed
    for tool in range(len(WRITE_TOOLS)):
        out[_WRITES_AT + tool] = agreed == tool
        out[_WRITES_AT + len(WRITE_TOOLS) + tool] = proposed == tool
        out[_WRITES_AT + 2 * len(WRITE_TOOLS) + tool] = unreported == tool
    for demand in range(len(DEMANDS)):
        out[_WRITES_AT + 3 * len(WRITE_TOOLS) + demand] = demands >> demand & 1


@kernel
def fill_wish(sight: Sight, out: Out) -> None:
    """The rest of the conversation: what was told of the wish at hand, and what is known for it."""
    scene, wanted = sight.scene, sight.wanted
    at = put_one(out, _WISH_AT, scene.wish, len(WISHES))
    at = put_one(out, at, scene.question, len(QUESTIONS))
    at = put_one(out, at, wanted.reason, len(REASONS_TOLD))
    at = put_one(out, at, wanted.cabin, CABIN_COUNT)
    at = put_one(out, at, wanted.insurance, 2)
    at = put_one(out, at, wanted.best, len(BEST))
    out[at], out[at + 1], out[at + 2] = (
        wanted.stops == 1,
        wanted.leaves_after >= 0,
        wanted.arrives_before >= 0,
    )
    out[at + 3], out[at + 4] = wanted.at_most >= 0, wanted.flights[0] >= 0
    out[at + 5], out[at + 6] = wanted.trip >= 0, wanted.trip_from >= 0
    out[at + 7], out[at + 8] = wanted.origin >= 0, wanted.days[BACK] >= 0
    out[at + 9], out[at + 10] = wanted.methods > 0, wanted.methods > 1
    out[at + 11], out[at + 12] = wanted.people[0] >= 0, wanted.bags >= 0
    first, end = search_numbers(scene)
    for number in range(first, end):
        if open_search(sight, number) >= 0:
            out[at + 13] = 1
    sides = wanted_sides(sight)
    out[at + 14], out[at + 15] = sides >> THERE & 1, sides >> BACK & 1
    put_one(out, at + 16, sight.customer.membership if scene.profile else -1, len(MEMBERSHIPS))


@kernel
def fill_reservations(sight: Sight, out: Out) -> None:
    """The customer's reservations."""
    scene, wanted = sight.scene, sight.wanted
    for place in range(MAX_TRIPS):
        row = out[place]
        row[0], row[1] = scene.trip_code[place] >= 0, scene.trip_seen[place]
        row[2], row[3] = is_named(sight, place), is_on_route(sight, place)
        row[4] = scene.shown_last == place
        if scene.trip_seen[place]:
            trip = sight.trips[place]
            row[5], row[6] = trip.cancelled, trip.round_trip
            at = put_one(row, 7, trip.cabin, CABIN_COUNT)
            row[at], row[at + 1] = trip.insurance, is_new(trip)
            row[at + 2], row[at + 3] = is_under_way(sight, place), is_called_off(sight, place)
            row[at + 4], row[at + 5] = is_delayed(sight, place), is_cancellable(sight, place)
            row[at + 6], row[at + 7] = due(sight, place) > 0, wanted.bags > trip.total_bags
            row[at + 8] = trip.segments == 1


@kernel
def fill_flights(sight: Sight, out: Out, times: Out) -> None:
    """The flights to choose from."""
    place, cabin, size = seen_at_hand(sight), cabin_at_hand(sight), party(sight)
    search_there, search_back = wanted_search(sight, THERE), wanted_search(sight, BACK)
    least_there = least_rank(sight, THERE, cabin, size)
    least_back = least_rank(sight, BACK, cabin, size)
    for number in range(OWN + sight.scene.offers):
        if number < OWN and place < 0:
            continue
        offer = way(sight, place, number)
        if offer.legs == 0:
            continue
        code = search_for(offer) if number < OWN else int(sight.scene.found_by[number - OWN])
        row, side = out[number], side_by(code, search_there, search_back)
        row[0], row[1], row[2] = 1, number < OWN, offer.legs == MAX_LEGS
        row[3] = side == THERE or number == THERE
        row[4] = side == BACK or number == BACK
        row[5], row[6] = has_room(offer, cabin, size), is_late_enough(sight, offer)
        row[7], row[8] = is_early_enough(sight, offer), is_cheap_enough(sight, offer, cabin, size)
        if number >= OWN and side >= 0 and size:
            row[9] = is_among_best(sight, offer, cabin, size, least_back if side == BACK else least_there)
        midnight = int(offer.day[0]) * DAY
        times[number, 0] = scaled(offer.departs - midnight, DAY)
        times[number, 1] = scaled(offer.arrives - midnight, 2 * DAY)
        if cabin >= 0 and fare(offer, cabin) != UNKNOWN:
            times[number, 2] = scaled(fare(offer, cabin), _MOST_FARE)


@kernel
def fill_legs(sight: Sight, out: Out) -> None:
    """The flights of the reservation that was shown last."""
    place = sight.scene.shown_last
    at = 0
    for side in range(OWN if place >= 0 else 0):
        own = sight.ways[OWN * place + side]
        for leg in range(own.legs):
            row = out[at]
            row[0], row[len(row) - 1] = 1, own.price[leg * CABIN_COUNT] != UNKNOWN
            put_one(row, 1, own.status[leg], len(STATUSES))
            at += 1


@kernel
def fill_methods(sight: Sight, out: Out, balances: Out) -> None:
    """The customer's payment methods, and what they hold."""
    customer = sight.customer
    for method in range(customer.methods):
        row = out[method]
        row[0] = 1
        at = put_one(row, 1, customer.method_kind[method], len(METHOD_KINDS))
        row[at] = is_method_named(sight, method)
        for place in range(3):
            row[at + 1 + place] = is_method_meant(sight, method, place)
        row[at + 4] = customer.balance[method] > 0
        balances[method, 0] = scaled(customer.balance[method], _MOST_BALANCE)


@kernel
def fill_people(sight: Sight, out: Out) -> None:
    """The customer, and whom they saved."""
    scene, wanted = sight.scene, sight.wanted
    place = seen_at_hand(sight)
    for number in range(scene.people):
        row = out[number]
        row[0], row[2] = 1, scene.name[number] == wanted.instead
        for other in range(MAX_PEOPLE):
            if scene.name[number] == wanted.people[other]:
                row[1] = 1
        for other in range(sight.trips[place].passengers if place >= 0 else 0):
            if sight.trips[place].passenger[other] == number:
                row[3] = 1


@kernel
def fill_airports(sight: Sight, out: Out) -> None:
    """Where the trip of the wish begins and ends, and the searches that are to be made for it."""
    wanted, place = sight.wanted, seen_at_hand(sight)
    if wanted.origin >= 0:
        out[wanted.origin, 0] = out[wanted.destination, 1] = 1
    elif place >= 0:
        out[sight.trips[place].origin, 0] = out[sight.trips[place].destination, 1] = 1
    first, end = search_numbers(sight.scene)
    for number in range(first, end):
        code = open_search(sight, number)
        if code >= 0:
            out[code_origin(code), 2] = out[code_destination(code), 3] = 1


@kernel
def fill_days(sight: Sight, out: Out) -> None:
    """When they want to leave, and the days of the searches that are to be made."""
    for side in range(OWN):
        if sight.wanted.days[side] >= 0:
            out[sight.wanted.days[side], side] = 1
    first, end = search_numbers(sight.scene)
    for number in range(first, end):
        code = open_search(sight, number)
        if code >= 0:
            out[code_day(code), 2] = 1


@kernel
def fill_party(sight: Sight, out: Out) -> None:
    """How many fly, with how many bags."""
    out[0] = scaled(party(sight), MAX_PEOPLE)
    out[1] = scaled(max(0, sight.wanted.bags), _MOST_BAGS)
    out[2] = scaled(max(0, sight.wanted.more_bags), _MOST_BAGS)


# --- What was proposed last


@kernel
def mark_proposed(sight: Sight, reservations: Out, flights: Out, methods: Out, people: Out) -> None:
    """The last field of the rows of four tables, which their own kernels leave as it is."""
    proposed = sight.proposed
    is_any = proposed.tool >= 0
    for place in range(MAX_TRIPS):
        reservations[place, -1] = is_any and place in (proposed.trip, proposed.claim)
    for number in range(MAX_FLIGHTS):
        is_chosen = number in (proposed.flights[THERE], proposed.flights[BACK])
        flights[number, -1] = is_any and is_chosen and flights[number, 0] > 0
    for method in range(sight.customer.methods):
        methods[method, -1] = is_any and is_paying(proposed, method)
    for number in range(MAX_PEOPLE):
        people[number, -1] = is_any and is_flying(proposed, number)


@kernel
def is_paying(proposed: Draft, method: int) -> bool:
    """Whether a payment method pays for what is proposed."""
    for place in range(MAX_PAID):
        if proposed.methods[place] == method:
            return True
    return proposed.method == method


@kernel
def is_flying(proposed: Draft, person: int) -> bool:
    """Whether somebody is among the people of what is proposed."""
    for place in range(MAX_PEOPLE):
        if proposed.people[place] == person:
            return True
    return False
