"""What can be done, on what was shown. Kernels, as in `sight`.

An action is a verb and a draft. `fits` says whether a draft that is open in parts can be completed to an
allowed action; so a choice is allowed when the draft with it fits.

Without `policy` all is allowed that can be expressed: with any entity of the right kind that was shown;
airports and days are known to everybody. With `policy`, as far as it follows from what was shown, no call
that a tool would refuse or the rules forbid, no look-up of what was seen or what the wish at hand has nothing
to do with, no question that was answered, no refusal of what was not looked up or of flights that there are,
and nothing that ends a conversation too early by being polite. A booking has the route, the cabin and the
insurance that the customer told, and who wants other flights keeps the cabin.
"""

from collections.abc import MutableSequence
from typing import Final

from tool_envs.booking.rows import MAX_SEGMENTS
from tool_envs.booking.scene.reasons import may_be_refused, upgrade_cost
from tool_envs.booking.scene.search_codes import (
    code_day,
    code_destination,
    code_origin,
    code_stops,
)
from tool_envs.booking.scene.sight import (
    ASKS_BAGS,
    ASKS_CERTIFICATES,
    ASKS_FREE_BAGS,
    ASKS_GIFT_CARDS,
    ASKS_PAID,
    ASKS_TRIPS,
    ASKS_UPGRADE,
    BAGGAGE,
    CABIN,
    CABIN_COUNT,
    FOR_BAGS,
    FOR_CABIN,
    FOR_CANCEL,
    FOR_FLIGHTS,
    FOR_PASSENGERS,
    INSURANCE,
    MAX_PAID,
    MAX_PEOPLE,
    MAX_TRIPS,
    METHOD,
    OTHER,
    OWN,
    QUESTIONS,
    REASON,
    RESERVATION,
    SLOTS,
    USER,
    WHICH_FLIGHTS,
    WHO,
    WISHES,
    WRITE_TOOLS,
    Draft,
    Scene,
    Sight,
    may_be,
)
from tool_envs.booking.scene.ways import is_booking, open_search, search_numbers
from tool_envs.booking.scene.writes import fits_write
from tool_envs.row_lists import as_bits
from tool_envs.rows import kernel

# Verbs: the writes, their proposals, and so on; those of a schema version are some of them.
CALL: Final = 0
"""First of the verbs that call a write, in the order of `WRITE_TOOLS`."""
PROPOSE: Final = CALL + len(WRITE_TOOLS)
"""First of the verbs that propose a write."""
ASK: Final = PROPOSE + len(WRITE_TOOLS)
"""First of the verbs that ask for one of `SLOTS`."""
OTHERS: Final = (
    *("get_user_details", "get_reservation_details", "search_direct_flight", "search_onestop_flight"),
    *("list_all_airports", "get_flight_status", "transfer_to_human_agents"),
    *(f"tell_{question}" for question in QUESTIONS),
    *("refuse", "report", "more"),
)
"""The verbs after them."""
READ_PROFILE: Final = ASK + len(SLOTS)
_, READ_TRIP, SEARCH_DIRECT, SEARCH_ONE_STOP, READ_AIRPORTS, READ_STATUS, TRANSFER = range(
    READ_PROFILE, READ_PROFILE + 7
)
TELL: Final = TRANSFER + 1
"""First of the verbs that answer one of `QUESTIONS`."""
REFUSE, REPORT, MORE = range(TELL + len(QUESTIONS), TELL + len(QUESTIONS) + 3)

_OF_BOOKINGS = (WHICH_FLIGHTS, CABIN, WHO, METHOD, BAGGAGE, INSURANCE)
_OF_OTHERS = {
    FOR_FLIGHTS: (RESERVATION, WHICH_FLIGHTS, CABIN, METHOD),
    FOR_CABIN: (RESERVATION, CABIN, METHOD),
    FOR_BAGS: (RESERVATION, METHOD, BAGGAGE),
    FOR_PASSENGERS: (RESERVATION, WHO),
    FOR_CANCEL: (RESERVATION, REASON),
}
_NEEDED: Final = (
    *(
        as_bits(_OF_BOOKINGS if is_booking(wish) else _OF_OTHERS.get(wish, (RESERVATION,)))
        for wish in range(len(WISHES))
    ),
    0,
)
"""For each kind of wish, and then for none: bits of the slots that it has."""
_ALL_SLOTS: Final = (1 << len(SLOTS)) - 1


@kernel
def fits(sight: Sight, policy: bool, verb: int, draft: Draft) -> bool:
    """Whether the open parts of a draft can be chosen so that an allowed action comes of it."""
    if verb < PROPOSE:
        return _fits_call(sight, policy, draft)
    if verb < ASK:
        return _fits_proposal(sight, policy, draft)
    if verb < READ_PROFILE:
        return not policy or _worth_asking(sight) >> (verb - ASK) & 1 > 0
    if verb >= TELL:
        return _fits_talk(sight, policy, verb, draft)
    return _fits_read(sight, policy, verb, draft)


@kernel
def allowed_verbs(sight: Sight, policy: bool, draft: Draft, possible: int) -> int:
    """Bits of the verbs for which an open draft fits: what `fits` says of each of them, in one pass.

    Args:
        sight: What is known.
        policy: The level.
        draft: An open one.
        possible: What `possible_writes` says of it.
    """
    found = _allowed_writes(sight, policy, possible) | _allowed_talk(sight, policy, draft)
    found |= (_worth_asking(sight) if policy else _ALL_SLOTS) << ASK
    for verb in (READ_PROFILE, READ_TRIP, READ_AIRPORTS, READ_STATUS, TRANSFER):
        if _fits_read(sight, policy, verb, draft):
            found |= 1 << verb
    if not policy:
        return found | 1 << SEARCH_DIRECT | 1 << SEARCH_ONE_STOP
    first, end = search_numbers(sight.scene)
    for number in range(first, end):
        code = open_search(sight, number)
        if code >= 0:
            found |= 1 << (SEARCH_DIRECT + code_stops(code))
    return found


@kernel
def _allowed_writes(sight: Sight, policy: bool, possible: int) -> int:
    """Bits of the calls and proposals of writes, of which these are possible."""
    if not policy:
        return possible << CALL | possible << PROPOSE
    agreed = 0
    if sight.scene.yes and sight.proposed.tool >= 0:
        agreed = 1 << int(sight.proposed.tool)
    return (possible & ~agreed) << PROPOSE | agreed << CALL


@kernel
def _allowed_talk(sight: Sight, policy: bool, draft: Draft) -> int:
    """Bits of the answers and of the other things to say."""
    found = 0
    for verb in (REFUSE, REPORT, MORE):
        if _fits_talk(sight, policy, verb, draft):
            found |= 1 << verb
    if policy and sight.scene.question < 0:
        return found
    for verb in range(TELL, REFUSE):
        if _fits_talk(sight, policy, verb, draft):
            found |= 1 << verb
    return found


# --- Looking up


@kernel
def _fits_read(sight: Sight, policy: bool, verb: int, draft: Draft) -> bool:
    scene = sight.scene
    if verb == READ_PROFILE:
        return scene.user > 0 and not (policy and scene.profile and not scene.stale)
    if verb == READ_TRIP:
        return _is_trip_listed(sight, policy, draft)
    if verb in (SEARCH_DIRECT, SEARCH_ONE_STOP):
        return not policy or _is_search_open(sight, verb - SEARCH_DIRECT, draft)
    if verb == READ_STATUS:
        return not policy and _is_leg_shown(sight, draft)
    return not policy  # the words name airports by their codes, and no wish is beyond the tools


@kernel
def _is_trip_listed(sight: Sight, policy: bool, draft: Draft) -> bool:
    """Whether there is a reservation to look up, and it is of use."""
    for place in range(MAX_TRIPS):
        if may_be(draft.trip, place) and _may_be_read(sight, policy, place):
            return True
    return False


@kernel
def _may_be_read(sight: Sight, policy: bool, place: int) -> bool:
    scene = sight.scene
    if scene.trip_code[place] < 0:
        return False
    return not (policy and (scene.trip_seen[place] or is_booking(scene.wish)))


@kernel
def mask_unseen(sight: Sight, out: MutableSequence[int]) -> None:
    """The reservations that it is of use to look up."""
    for place in range(MAX_TRIPS):
        out[place] = _may_be_read(sight, True, place)


@kernel
def _is_search_open(sight: Sight, stops: int, draft: Draft) -> bool:
    """Whether the wish asks for a search, and it was not made yet."""
    first, end = search_numbers(sight.scene)
    for number in range(first, end):
        if may_search(sight, number, stops, draft) >= 0:
            return True
    return False


@kernel
def may_search(sight: Sight, number: int, stops: int, draft: Draft) -> int:
    """The code of an open search that can come of a draft, or -1."""
    code = open_search(sight, number)
    if code < 0 or code_stops(code) != stops or not may_be(draft.day, code_day(code)):
        return -1
    is_route = may_be(draft.origin, code_origin(code)) and may_be(draft.destination, code_destination(code))
    return code if is_route else -1


@kernel
def _is_leg_shown(sight: Sight, draft: Draft) -> bool:
    place = sight.scene.shown_last
    for leg in range(MAX_SEGMENTS if place >= 0 else 0):
        if leg < sight.trips[place].segments and may_be(draft.leg, leg):
            return True
    return False


# --- Talking


@kernel
def _worth_asking(sight: Sight) -> int:
    """Bits of the slots that are open and serve to find the customer or the wish; more details always do."""
    scene = sight.scene
    slots = _NEEDED[int(scene.wish)]
    for slot in range(RESERVATION, OTHER):
        if slots >> slot & 1 and is_told(sight, slot):
            slots &= ~(1 << slot)
    if not scene.user:
        slots |= 1 << USER
    return slots & ~int(scene.unknown) | 1 << OTHER


@kernel
def is_told(sight: Sight, slot: int) -> bool:
    """Whether something was said of a slot of the wish at hand."""
    wanted = sight.wanted
    if slot == RESERVATION:
        return wanted.trip >= 0 or wanted.trip_from >= 0
    if slot == WHICH_FLIGHTS:
        return wanted.best >= 0 or wanted.flights[0] >= 0
    if slot == CABIN:
        return wanted.cabin >= 0
    if slot == WHO:
        return wanted.people[0] >= 0
    if slot == METHOD:
        return wanted.methods > 0
    if slot == BAGGAGE:
        return wanted.bags >= 0
    if slot == INSURANCE:
        return wanted.insurance >= 0
    return wanted.reason >= 0


@kernel
def _fits_talk(sight: Sight, policy: bool, verb: int, draft: Draft) -> bool:
    """Somebody who waits for what they said yes to takes whatever they are told for the result."""
    scene = sight.scene
    if verb == REPORT:
        return scene.unreported >= 0
    if policy and is_waited_for(scene):
        return False
    if verb == REFUSE:
        return may_be_refused(sight) if policy else scene.wish >= 0 or scene.question >= 0
    if verb == MORE:
        return True
    return _fits_answer(sight, policy, verb - TELL, draft)


@kernel
def is_waited_for(scene: Scene) -> bool:
    """Whether the customer waits for what they said yes to, or to hear that it is done."""
    return scene.yes > 0 or scene.unreported >= 0


@kernel
def _fits_answer(sight: Sight, policy: bool, question: int, draft: Draft) -> bool:
    """Whether an answer follows from what was shown; with `policy` only while some question is open."""
    scene = sight.scene
    if not scene.profile or (policy and not _is_answer_asked_for(scene.question, question)):
        return False
    if question in (ASKS_GIFT_CARDS, ASKS_CERTIFICATES):
        return True
    if question == ASKS_TRIPS:
        return not policy or _are_all_seen(scene)
    for place in range(MAX_TRIPS):
        if (
            may_be(draft.trip, place)
            and scene.trip_seen[place]
            and _has_answer(sight, question, place, draft)
        ):
            return True
    return False


@kernel
def _is_answer_asked_for(asked: int, question: int) -> bool:
    """Whether a question is about the same as another one: cards, all reservations, or one of them."""
    if asked in (ASKS_GIFT_CARDS, ASKS_CERTIFICATES):
        return question in (ASKS_GIFT_CARDS, ASKS_CERTIFICATES)
    if asked < 0 or question in (ASKS_GIFT_CARDS, ASKS_CERTIFICATES):
        return False
    return (asked == ASKS_TRIPS) == (question == ASKS_TRIPS)


@kernel
def _are_all_seen(scene: Scene) -> bool:
    for place in range(MAX_TRIPS):
        if scene.trip_code[place] >= 0 and not scene.trip_seen[place]:
            return False
    return True


@kernel
def _has_answer(sight: Sight, question: int, place: int, draft: Draft) -> bool:
    """Whether a question about a reservation that was shown has an answer."""
    if question == ASKS_UPGRADE:
        for cabin in range(CABIN_COUNT):
            if may_be(draft.cabin, cabin) and upgrade_cost(sight, place, cabin) > 0:
                return True
        return False
    if question == ASKS_BAGS:
        return sight.wanted.more_bags >= 0
    return question in (ASKS_PAID, ASKS_FREE_BAGS) or sight.trips[place].segments == 1


# --- Writing


@kernel
def _fits_call(sight: Sight, policy: bool, draft: Draft) -> bool:
    """With `policy` just what the customer said yes to."""
    if policy:
        return sight.scene.yes > 0 and agrees(draft, sight.proposed)
    return fits_write(sight, False, draft)


@kernel
def _fits_proposal(sight: Sight, policy: bool, draft: Draft) -> bool:
    return may_be_proposed(sight, policy, draft) and fits_write(sight, policy, draft)


@kernel
def may_be_proposed(sight: Sight, policy: bool, draft: Draft) -> bool:
    """Whether a write may be, whatever its arguments; with `policy` not one that has a yes."""
    if policy and sight.scene.yes and draft.tool == sight.proposed.tool:
        return False
    return sight.scene.profile > 0


@kernel
def agrees(draft: Draft, other: Draft) -> bool:
    """Whether all that is chosen in a draft is so in the other one, too."""
    if draft.tool != other.tool:
        return False
    for number in range(OWN):
        if not may_be(draft.flights[number], other.flights[number]):
            return False
    for number in range(MAX_PEOPLE):
        if not may_be(draft.people[number], other.people[number]):
            return False
    for number in range(MAX_PAID):
        if not may_be(draft.methods[number], other.methods[number]):
            return False
    route = may_be(draft.origin, other.origin) and may_be(draft.destination, other.destination)
    kind = may_be(draft.round_trip, other.round_trip) and may_be(draft.cabin, other.cabin)
    rest = may_be(draft.method, other.method) and may_be(draft.insurance, other.insurance)
    return route and kind and rest and may_be(draft.trip, other.trip) and may_be(draft.claim, other.claim)
