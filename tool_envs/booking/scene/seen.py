"""Taking in what is shown: an answer of a tool, the words of the customer. Kernels, as in `sight`."""

from tool_envs.booking.rows import MAX_SEGMENTS, Reservation
from tool_envs.booking.scene.reasons import due
from tool_envs.booking.scene.sight import (
    AFFIRMS,
    BACK,
    BOOK,
    CABIN_COUNT,
    CANCEL,
    CORRECTS,
    DENIES,
    FLIGHTS,
    MAX_LEGS,
    MAX_OFFERS,
    MAX_PAID,
    MAX_PEOPLE,
    MAX_SEARCHED,
    MAX_TRIPS,
    OWN,
    TAKES_NO,
    THANKS,
    THERE,
    UNKNOWN,
    Draft,
    Offer,
    Said,
    Sight,
    Wanted,
)
from tool_envs.booking.scene.ways import side_of, wanted_search
from tool_envs.booking.writes import settle
from tool_envs.row_lists import replace
from tool_envs.rows import kernel

# --- Tools


@kernel
def see_profile(sight: Sight) -> None:
    """The profile was shown: `customer`, and codes, names and numbers in the scene, are filled in already."""
    sight.scene.profile = 1
    sight.scene.stale = 0


@kernel
def see_trip(sight: Sight, place: int) -> None:
    """A reservation was shown: its row and its ways are filled in already."""
    sight.scene.trip_seen[place] = 1
    sight.scene.shown_last = place
    for number in range(sight.scene.offers):
        learn_prices(sight, place, sight.offers[number])


@kernel
def learn_prices(sight: Sight, place: int, offer: Offer) -> None:
    """Today's prices and seats of the flights of a reservation that are in a way that a search showed."""
    for row in range(OWN):
        own = sight.ways[OWN * place + row]
        for leg in range(own.legs):
            for other in range(offer.legs):
                if offer.flight[other] == own.flight[leg] and offer.day[other] == own.day[leg]:
                    for cabin in range(CABIN_COUNT):
                        own.price[leg * CABIN_COUNT + cabin] = offer.price[other * CABIN_COUNT + cabin]
                        own.seats[leg * CABIN_COUNT + cabin] = offer.seats[other * CABIN_COUNT + cabin]


@kernel
def make_room(sight: Sight, count: int) -> int:
    """Where so many more itineraries go; without room for them, some or all of those before are forgotten."""
    if sight.scene.offers + count > MAX_OFFERS:
        keep_offers(sight, True)
    if sight.scene.offers + count > MAX_OFFERS:
        keep_offers(sight, False)
    return sight.scene.offers


@kernel
def keep_offers(sight: Sight, wanted: bool) -> None:
    """Forget itineraries and searches, and a yes to one of them.

    Args:
        sight: What is known.
        wanted: Keep what the wish at hand asks for; else nothing.
    """
    scene = sight.scene
    kept = 0
    for number in range(scene.offers):
        if wanted and side_of(sight, number) >= 0:
            copy_offer(sight.offers[number], sight.offers[kept])
            scene.found_by[kept] = scene.found_by[number]
            kept += 1
    for number in range(kept, scene.offers):
        sight.offers[number].legs = 0
        scene.found_by[number] = -1
    scene.offers = kept
    for number in range(MAX_SEARCHED):
        code = scene.searched[number]
        is_wanted = code in (wanted_search(sight, THERE), wanted_search(sight, BACK))
        if not (wanted and is_wanted):
            scene.searched[number] = -1
    if sight.proposed.tool in (BOOK, FLIGHTS):
        for number in range(OWN):
            if sight.proposed.flights[number] >= OWN:
                scene.yes = 0
                sight.proposed.tool = -1


@kernel
def copy_offer(offer: Offer, out: Offer) -> None:
    """Make one row like another."""
    out.legs, out.origin, out.destination, out.stop = offer.legs, offer.origin, offer.destination, offer.stop
    out.statuses = offer.statuses
    out.departs, out.arrives, out.paid = offer.departs, offer.arrives, offer.paid
    for leg in range(MAX_LEGS):
        out.flight[leg], out.day[leg], out.status[leg] = offer.flight[leg], offer.day[leg], offer.status[leg]
    for number in range(MAX_LEGS * CABIN_COUNT):
        out.price[number], out.seats[number] = offer.price[number], offer.seats[number]


@kernel
def see_search(sight: Sight, code: int, count: int) -> None:
    """A search showed so many itineraries, whose rows are filled in behind the others already."""
    scene = sight.scene
    first = scene.offers
    scene.offers += count
    scene.searched[scene.searches % MAX_SEARCHED] = code
    scene.searches += 1
    for number in range(first, scene.offers):
        scene.found_by[number] = code
    for place in range(MAX_TRIPS):
        for number in range(first, scene.offers if scene.trip_seen[place] else first):
            learn_prices(sight, place, sight.offers[number])


@kernel
def see_proposed(sight: Sight, draft: Draft) -> None:
    """The agent proposed a call; a yes to another one is not relied on any more."""
    proposed = sight.proposed
    proposed.tool, proposed.trip, proposed.claim = draft.tool, draft.trip, draft.claim
    proposed.origin, proposed.destination = draft.origin, draft.destination
    proposed.round_trip, proposed.cabin = draft.round_trip, draft.cabin
    proposed.method, proposed.insurance = draft.method, draft.insurance
    for number in range(OWN):
        proposed.flights[number] = draft.flights[number]
    for number in range(MAX_PEOPLE):
        proposed.people[number] = draft.people[number]
    for number in range(MAX_PAID):
        proposed.methods[number] = draft.methods[number]
    sight.scene.yes = 0


@kernel
def see_refused(sight: Sight, is_write: int) -> None:
    """A tool refused a call; a yes to what it refused leads nowhere."""
    sight.scene.refused = 1
    if is_write:
        sight.scene.yes = 0


@kernel
def see_written(sight: Sight, tool: int) -> None:
    """A write was made, which uses up its yes. Those that move seats make what searches showed obsolete."""
    scene = sight.scene
    scene.yes = 0
    scene.unreported = tool
    sight.proposed.tool = -1
    if tool in (BOOK, CANCEL, FLIGHTS):
        keep_offers(sight, False)
        for row in range(OWN * MAX_TRIPS):
            for number in range(MAX_LEGS * CABIN_COUNT):
                sight.ways[row].price[number] = sight.ways[row].seats[number] = UNKNOWN


@kernel
def see_payments(sight: Sight, trip: Reservation, before: int) -> None:
    """Move the balances for the payments and refunds of a reservation behind its first ones.

    Args:
        sight: What is known.
        trip: The reservation.
        before: How many payments it had before; -1: nobody knows.
    """
    if before < 0:
        sight.scene.stale = 1
        return
    for number in range(before, trip.payments):
        method = trip.payment_method[number]
        if method < 0:
            sight.scene.stale = 1  # a certificate that was used up holds something again
        else:
            settle(sight.customer, method, trip.payment_amount[number])


@kernel
def see_sent(sight: Sight, amount: int) -> None:
    """A certificate over so many dollars was sent: for the first reservation for which it was due."""
    for place in range(MAX_TRIPS):
        if sight.scene.trip_seen[place] and amount > 0 and due(sight, place) == amount:
            sight.scene.trip_paid[place] = 1
            return


# --- Words

NEW_REST, NEW_WISH = 1, 2
"""What `hear` answers."""


@kernel
def hear(sight: Sight, said: Said, wanted: Wanted) -> int:
    """The customer took their turn. What was said of a wish is forgotten when another one is brought up.

    Returns:
        `NEW_WISH`: something of the wish at hand may have changed, which all tables may show; `NEW_REST`:
        something else has that masks look at; 0: neither.
    """
    scene = sight.scene
    user, yes, unreported = scene.user, scene.yes, scene.unreported
    scene.moves = said.moves
    if said.moves & (DENIES | CORRECTS):
        scene.yes = 0
    if said.moves & AFFIRMS and sight.proposed.tool >= 0 and not names_something(wanted):
        scene.yes = 1
    if said.moves & (THANKS | TAKES_NO):
        scene.unreported = -1
    scene.user |= said.user
    is_new, is_wish_new = said.unknown & ~scene.unknown > 0, False
    scene.unknown |= said.unknown
    scene.demands |= said.demands
    if said.wish >= 0 or said.question >= 0:
        if not is_repeated(sight, said, wanted):
            forget_wanted(sight.wanted)
            is_wish_new = True
        scene.wish, scene.question = said.wish, said.question
        scene.yes = 0
    is_wish_new |= note(sight.wanted, wanted)
    if is_wish_new:
        return NEW_WISH
    is_new |= scene.user != user or scene.yes != yes or scene.unreported != unreported
    return NEW_REST if is_new else 0


@kernel
def is_repeated(sight: Sight, said: Said, wanted: Wanted) -> bool:
    """Whether what is brought up is the wish or question at hand: of the same kind, about the same trip."""
    scene, before = sight.scene, sight.wanted
    if said.wish != scene.wish or said.question != scene.question or wanted.trip != before.trip:
        return False
    own = wanted.trip_from == before.trip_from and wanted.trip_to == before.trip_to
    new = wanted.origin == before.origin and wanted.destination == before.destination
    return own and new and wanted.days[0] == before.days[0] and wanted.days[1] == before.days[1]


@kernel
def names_something(wanted: Wanted) -> bool:
    """Whether anything of a wish is named; with a yes, that is what was missing in what was proposed."""
    named = wanted.trip >= 0 or wanted.trip_from >= 0 or wanted.origin >= 0 or wanted.days[0] >= 0
    which = wanted.cabin >= 0 or wanted.best >= 0 or wanted.flights[0] >= 0 or wanted.methods > 0
    who = wanted.people[0] >= 0 or wanted.bags >= 0 or wanted.insurance >= 0 or wanted.reason >= 0
    return named or which or who


@kernel
def forget_wanted(wanted: Wanted) -> None:
    """A wish is brought up: nothing is known of it yet."""
    wanted.trip = wanted.trip_from = wanted.trip_to = wanted.origin = wanted.destination = -1
    wanted.cabin = wanted.stops = wanted.best = wanted.leaves_after = wanted.arrives_before = -1
    wanted.at_most = wanted.bags = wanted.more_bags = wanted.instead = -1
    wanted.insurance = wanted.reason = wanted.days[0] = wanted.days[1] = -1
    wanted.methods = 0
    for number in range(MAX_SEGMENTS):
        wanted.flights[number] = -1
    for number in range(MAX_PEOPLE):
        wanted.people[number] = -1


@kernel
def note(wanted: Wanted, said: Wanted) -> bool:
    """Keep what is said of the wish at hand, in place of what was said before of the same.

    Returns:
        Whether that changed something.
    """
    is_new = False
    if said.trip >= 0 or said.trip_from >= 0:
        is_new |= wanted.trip != said.trip
        is_new |= wanted.trip_from != said.trip_from or wanted.trip_to != said.trip_to
        wanted.trip, wanted.trip_from, wanted.trip_to = said.trip, said.trip_from, said.trip_to
    if said.origin >= 0:
        is_new |= wanted.origin != said.origin or wanted.destination != said.destination
        wanted.origin, wanted.destination = said.origin, said.destination
    if said.days[0] >= 0:
        is_new |= replace(wanted.days, said.days)
    if said.cabin >= 0:
        is_new |= wanted.cabin != said.cabin
        wanted.cabin = said.cabin
    if said.best >= 0 or said.flights[0] >= 0:
        is_new |= _note_flights(wanted, said)
    if said.bags >= 0:
        is_new |= wanted.bags != said.bags
        wanted.bags = said.bags
    if said.more_bags >= 0:
        is_new |= wanted.more_bags != said.more_bags
        wanted.more_bags = said.more_bags
    if said.people[0] >= 0:
        is_new |= replace(wanted.people, said.people) or wanted.instead != said.instead
        wanted.instead = said.instead
    if said.insurance >= 0:
        is_new |= wanted.insurance != said.insurance
        wanted.insurance = said.insurance
    if said.reason >= 0:
        is_new |= wanted.reason != said.reason
        wanted.reason = said.reason
    if said.methods > 0:
        is_new |= _note_methods(wanted, said)
    return is_new


@kernel
def _note_flights(wanted: Wanted, said: Wanted) -> bool:
    is_new = replace(wanted.flights, said.flights)
    if said.best >= 0:
        is_new |= wanted.stops != said.stops or wanted.best != said.best or wanted.at_most != said.at_most
        is_new |= wanted.leaves_after != said.leaves_after or wanted.arrives_before != said.arrives_before
        wanted.stops, wanted.best, wanted.at_most = said.stops, said.best, said.at_most
        wanted.leaves_after, wanted.arrives_before = said.leaves_after, said.arrives_before
    return is_new


@kernel
def _note_methods(wanted: Wanted, said: Wanted) -> bool:
    is_new = wanted.methods != said.methods
    wanted.methods = said.methods
    is_new |= replace(wanted.method_kind, said.method_kind)
    is_new |= replace(wanted.method_how, said.method_how)
    return is_new | replace(wanted.method_mark, said.method_mark)
