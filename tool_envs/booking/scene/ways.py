"""What follows from what was shown about ways and flights: kernels, as in `sight`.

Which reservation the words mean, what a way costs, which of the flights that were found are wanted, and which
searches are still to be made for that.
"""

from typing import Final

from tool_envs.booking.itineraries import has_left
from tool_envs.booking.rows import (
    BUSINESS,
    CALLED_OFF,
    DAY,
    DELAYED,
    MAX_SEGMENTS,
    STATUSES,
    Reservation,
)
from tool_envs.booking.scene.search_codes import (
    search_code,
)
from tool_envs.booking.scene.sight import (
    ANY,
    ARRIVES_FIRST,
    ASKS_UPGRADE,
    BACK,
    CABIN_COUNT,
    CHEAPEST,
    DIRECT,
    FOR_FLIGHTS,
    FOR_ONE_STOP,
    LEAVES_FIRST,
    MAX_PEOPLE,
    MAX_SEARCHED,
    MAX_TRIPS,
    OWN,
    THERE,
    UNKNOWN,
    Offer,
    Scene,
    Sight,
    Wanted,
)
from tool_envs.row_lists import as_bits
from tool_envs.rows import kernel

SEARCHES: Final = OWN + MAX_SEGMENTS
"""Most searches that a wish asks for: there and back, and one for each flight of a reservation."""
NO_RANK: Final = 1 << 30
"""More than any rank."""
_LEFT: Final = as_bits(status for status in range(len(STATUSES)) if has_left(status))
"""Bits of the statuses of departures that took place."""


# --- One way


@kernel
def way(sight: Sight, place: int, row: int) -> Offer:
    """A row among the flights to choose from; the first ones are those of a reservation."""
    if row < OWN:
        return sight.ways[OWN * place + row]
    return sight.offers[row - OWN]


@kernel
def fare(offer: Offer, cabin: int) -> int:
    """Today's price of a way for one passenger, in cents, or `UNKNOWN`."""
    amount = 0
    for leg in range(offer.legs):
        price = offer.price[leg * CABIN_COUNT + cabin]
        if price == UNKNOWN:
            return UNKNOWN
        amount += price
    return amount


@kernel
def room(offer: Offer, cabin: int) -> int:
    """How many can be seated on all flights of a way, or `UNKNOWN`."""
    least = offer.seats[cabin]
    for leg in range(offer.legs):
        seats = offer.seats[leg * CABIN_COUNT + cabin]
        if seats == UNKNOWN:
            return UNKNOWN
        least = min(least, seats)
    return least


@kernel
def any_left(offer: Offer) -> bool:
    """Whether some flight of a way left."""
    return offer.statuses & _LEFT > 0


@kernel
def is_same(offer: Offer, other: Offer) -> bool:
    """Whether two ways are by the same flights."""
    if offer.legs != other.legs:
        return False
    for leg in range(offer.legs):
        if offer.flight[leg] != other.flight[leg] or offer.day[leg] != other.day[leg]:
            return False
    return True


# --- Reservations


@kernel
def is_named(sight: Sight, place: int) -> bool:
    """Whether the words of the wish name a listed reservation by its id."""
    return sight.wanted.trip >= 0 and sight.wanted.trip == sight.scene.trip_code[place]


@kernel
def is_on_route(sight: Sight, place: int) -> bool:
    """Whether a reservation was shown and goes where the words of the wish say."""
    trip, wanted = sight.trips[place], sight.wanted
    if wanted.trip_from < 0 or not sight.scene.trip_seen[place]:
        return False
    return trip.origin == wanted.trip_from and trip.destination == wanted.trip_to


@kernel
def trip_at_hand(sight: Sight) -> int:
    """The place of the reservation that the words mean: by id, or by where it goes; -1: none is known."""
    if sight.wanted.trip >= 0:
        for place in range(MAX_TRIPS):
            if is_named(sight, place):
                return place
    if sight.wanted.trip_from >= 0:
        for place in range(MAX_TRIPS):
            if is_on_route(sight, place):
                return place
    return -1


@kernel
def seen_at_hand(sight: Sight) -> int:
    """The same, if it was shown; else -1."""
    place = trip_at_hand(sight)
    return place if place >= 0 and sight.scene.trip_seen[place] else -1


@kernel
def trip_statuses(sight: Sight, place: int) -> int:
    """Bits of the statuses of the flights of a reservation."""
    return sight.ways[OWN * place + THERE].statuses | sight.ways[OWN * place + BACK].statuses


@kernel
def is_called_off(sight: Sight, place: int) -> bool:
    """Whether the airline cancelled a flight of a reservation."""
    return trip_statuses(sight, place) >> CALLED_OFF & 1 > 0


@kernel
def is_delayed(sight: Sight, place: int) -> bool:
    """Whether a flight of a reservation is delayed."""
    return trip_statuses(sight, place) >> DELAYED & 1 > 0


@kernel
def is_under_way(sight: Sight, place: int) -> bool:
    """Whether some flight of a reservation left."""
    return trip_statuses(sight, place) & _LEFT > 0


@kernel
def is_business(trip: Reservation) -> bool:
    """Whether a reservation is in business."""
    return trip.cabin == BUSINESS


# --- Searches that are wanted


@kernel
def is_booking(wish: int) -> bool:
    """Whether a kind of wish is for a new reservation."""
    return 0 <= wish <= FOR_ONE_STOP


@kernel
def wanted_search(sight: Sight, number: int) -> int:
    """The code of a search that the wish or question at hand asks for, or -1.

    Args:
        sight: What is known.
        number: 0: for the way there; 1: for the way back; from 2: for a flight of the reservation.
    """
    scene, wanted = sight.scene, sight.wanted
    if is_booking(scene.wish):
        if number > BACK or wanted.origin < 0 or wanted.stops < 0 or wanted.days[number] < 0:
            return -1
        if number == BACK:
            return search_code(wanted.stops, wanted.destination, wanted.origin, wanted.days[BACK])
        return search_code(wanted.stops, wanted.origin, wanted.destination, wanted.days[THERE])
    is_change = scene.wish == FOR_FLIGHTS and number == THERE
    if not is_change and not (scene.question == ASKS_UPGRADE and number >= OWN):
        return -1
    place = seen_at_hand(sight)
    if place < 0:
        return -1
    if not is_change:
        return _segment_search(sight, place, number - OWN)
    if wanted.stops < 0 or wanted.days[THERE] < 0:
        return -1
    trip = sight.trips[place]
    return search_code(wanted.stops, trip.origin, trip.destination, wanted.days[THERE])


@kernel
def _segment_search(sight: Sight, place: int, segment: int) -> int:
    """The search that shows what a flight of a reservation costs today, unless that is known; else -1."""
    row, leg = THERE, segment
    if segment >= sight.ways[OWN * place + THERE].legs:
        row, leg = BACK, segment - sight.ways[OWN * place + THERE].legs
    offer = sight.ways[OWN * place + row]
    if leg >= offer.legs or offer.price[leg * CABIN_COUNT] != UNKNOWN:
        return -1
    start, end = offer.origin, offer.destination
    if offer.legs > 1:
        if leg:
            start = offer.stop
        else:
            end = offer.stop
    return search_code(DIRECT, start, end, offer.day[leg])


@kernel
def is_searched(scene: Scene, code: int) -> bool:
    """Whether the answer to a search is kept in mind."""
    for number in range(MAX_SEARCHED):
        if scene.searched[number] == code:
            return True
    return False


@kernel
def search_numbers(scene: Scene) -> tuple[int, int]:
    """The numbers of `wanted_search` that there may be for what is at hand: the first, and the one behind."""
    if is_booking(scene.wish):
        return THERE, OWN
    first = THERE if scene.wish == FOR_FLIGHTS else OWN
    return first, SEARCHES if scene.question == ASKS_UPGRADE else THERE + 1


@kernel
def open_search(sight: Sight, number: int) -> int:
    """The code of a search that is asked for and was not made yet, or -1."""
    code = wanted_search(sight, number)
    return -1 if code >= 0 and is_searched(sight.scene, code) else code


# --- Flights that are wanted


@kernel
def people_named(wanted: Wanted) -> int:
    """How many people the words name."""
    count = 0
    for number in range(MAX_PEOPLE):
        count += wanted.people[number] >= 0
    return count


@kernel
def party(sight: Sight) -> int:
    """How many fly with the wish at hand; 0: nobody knows yet."""
    if is_booking(sight.scene.wish):
        return people_named(sight.wanted)
    place = seen_at_hand(sight)
    return sight.trips[place].passengers if place >= 0 else 0


@kernel
def cabin_at_hand(sight: Sight) -> int:
    """The cabin that the words name, or else that of the reservation; -1: nobody knows yet."""
    if sight.wanted.cabin >= 0 or is_booking(sight.scene.wish):
        return sight.wanted.cabin
    place = seen_at_hand(sight)
    return sight.trips[place].cabin if place >= 0 else -1


@kernel
def side_of(sight: Sight, number: int) -> int:
    """Whether an itinerary that was found is one that is looked for there or back; -1: neither."""
    return side_by(sight.scene.found_by[number], wanted_search(sight, THERE), wanted_search(sight, BACK))


@kernel
def side_by(code: int, there: int, back: int) -> int:
    """The same by codes of searches: of the one that shows it, and of those that are wanted, or -1."""
    if code < 0:
        return -1
    if code == there:
        return THERE
    return BACK if code == back else -1


@kernel
def search_for(offer: Offer) -> int:
    """The code of the search that shows a way, or -1 for no way."""
    if offer.legs == 0:
        return -1
    return search_code(offer.legs - 1, offer.origin, offer.destination, offer.day[0])


@kernel
def is_late_enough(sight: Sight, offer: Offer) -> bool:
    """Whether it leaves after what the words say."""
    after = sight.wanted.leaves_after
    return after < 0 or offer.departs > int(offer.day[0]) * DAY + int(after)


@kernel
def is_early_enough(sight: Sight, offer: Offer) -> bool:
    """Whether it arrives before what the words say."""
    before = sight.wanted.arrives_before
    return before < 0 or offer.arrives < int(offer.day[0]) * DAY + int(before)


@kernel
def is_cheap_enough(sight: Sight, offer: Offer, cabin: int, size: int) -> bool:
    """Whether it costs no more for so many than what the words say."""
    most = sight.wanted.at_most
    return most < 0 or (cabin >= 0 and fare(offer, cabin) * size <= most)


@kernel
def has_room(offer: Offer, cabin: int, size: int) -> bool:
    """Whether so many can be seated in a cabin."""
    return cabin >= 0 and room(offer, cabin) >= max(1, size)


@kernel
def is_within(sight: Sight, offer: Offer, cabin: int, size: int) -> bool:
    """Whether a way is within all limits that the words set, and has seats for so many in a cabin."""
    if not is_late_enough(sight, offer) or not is_early_enough(sight, offer):
        return False
    return is_cheap_enough(sight, offer, cabin, size) and has_room(offer, cabin, size)


@kernel
def rank(sight: Sight, offer: Offer, cabin: int) -> int:
    """A number that is least for what the words call best."""
    best = sight.wanted.best
    if best == CHEAPEST:
        return fare(offer, cabin)
    if best == LEAVES_FIRST:
        return offer.departs
    return offer.arrives if best == ARRIVES_FIRST else -offer.departs


@kernel
def is_wanted(sight: Sight, number: int) -> bool:
    """Whether an itinerary is one that the words of the wish ask for, among all that were found."""
    side, cabin, size = side_of(sight, number), cabin_at_hand(sight), party(sight)
    if side < 0 or size == 0:
        return False
    return is_among_best(sight, sight.offers[number], cabin, size, least_rank(sight, side, cabin, size))


@kernel
def least_rank(sight: Sight, side: int, cabin: int, size: int) -> int:
    """The rank of the best way on a side within all limits; `NO_RANK`: there is none, or no way is best.

    Args:
        sight: What is known.
        side: `THERE` or `BACK`.
        cabin: The cabin at hand.
        size: How many fly.
    """
    least = NO_RANK
    if sight.wanted.best in (-1, ANY) or sight.wanted.flights[0] >= 0:
        return least
    there, back = wanted_search(sight, THERE), wanted_search(sight, BACK)
    for number in range(sight.scene.offers):
        if side_by(sight.scene.found_by[number], there, back) == side:
            offer = sight.offers[number]
            if is_within(sight, offer, cabin, size):
                least = min(least, rank(sight, offer, cabin))
    return least


@kernel
def is_among_best(sight: Sight, offer: Offer, cabin: int, size: int, least: int) -> bool:
    """Whether a way that is looked for is one that is asked for, by the rank of the best one on its side."""
    if not _is_suitable(sight, offer, cabin, size):
        return False
    is_chosen = sight.wanted.flights[0] >= 0 or sight.wanted.best == ANY
    return is_chosen or rank(sight, offer, cabin) <= least


@kernel
def _is_suitable(sight: Sight, offer: Offer, cabin: int, size: int) -> bool:
    """Whether a way is named by its flights, or else within all limits."""
    if sight.wanted.flights[0] >= 0:
        return _is_flight_named(sight.wanted, offer)
    return sight.wanted.best >= 0 and is_within(sight, offer, cabin, size)


@kernel
def wanted_sides(sight: Sight) -> int:
    """For which sides searches found some way that the words of the wish ask for, as bits."""
    sides = 0
    if sight.scene.offers == 0:
        return sides
    there, back = wanted_search(sight, THERE), wanted_search(sight, BACK)
    cabin, size = cabin_at_hand(sight), party(sight)
    if size == 0 or (there < 0 and back < 0):
        return sides
    for number in range(sight.scene.offers):
        side = side_by(sight.scene.found_by[number], there, back)
        # Where some way is within all limits, one of those is the best.
        if side >= 0 and not sides >> side & 1 and _is_suitable(sight, sight.offers[number], cabin, size):
            sides |= 1 << side
    return sides


@kernel
def _is_flight_named(wanted: Wanted, offer: Offer) -> bool:
    """Whether the words name all flights of a way by their numbers."""
    for leg in range(offer.legs):
        named = False
        for number in range(MAX_SEGMENTS):
            if wanted.flights[number] == offer.flight[leg]:
                named = True
        if not named:
            return False
    return True
