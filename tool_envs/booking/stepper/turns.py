"""One action of the agent, on rows: a call, or a sentence and the customer's answer. Kernels."""

from tool_envs.array_rows import ALL_CHANGED, ENDED, OPENED, TABLES
from tool_envs.booking.rows import CERTIFICATE, GIFT_CARD, MAX_SEGMENTS
from tool_envs.booking.scene.masks import (
    ASK,
    MORE,
    PROPOSE,
    READ_AIRPORTS,
    READ_PROFILE,
    READ_STATUS,
    READ_TRIP,
    REFUSE,
    REPORT,
    SEARCH_DIRECT,
    SEARCH_ONE_STOP,
    TELL,
    TRANSFER,
)
from tool_envs.booking.scene.reasons import (
    bags_cost,
    credit,
    due,
    free_bags,
    happened,
    paid,
    reason_against,
    trips_in,
    upgrade_cost,
)
from tool_envs.booking.scene.seen import NEW_WISH, hear, see_proposed
from tool_envs.booking.scene.sight import (
    ASKS_BAGS,
    ASKS_FREE_BAGS,
    ASKS_GIFT_CARDS,
    ASKS_PAID,
    ASKS_STATUS,
    ASKS_TRIPS,
    ASKS_UPGRADE,
    BAGS,
    BOOK,
    CERTIFICATE_SENT,
    FLIGHTS,
    MAX_FLIGHTS,
    MAX_PAID,
    MAX_PEOPLE,
    MAX_TRIPS,
    NONE,
    OPEN,
    OWN,
    PASSENGERS,
    THERE,
    Draft,
    Sight,
)
from tool_envs.booking.scene.ways import way
from tool_envs.booking.stepper.answering import answer, mute
from tool_envs.booking.stepper.calls import run_call, to_call
from tool_envs.booking.stepper.consent import affirm, revoke_all
from tool_envs.booking.stepper.grading import earned, note_facts
from tool_envs.booking.stepper.hearing import hear_proposal, hear_report, nearest_wrong
from tool_envs.booking.stepper.rows import Aim, Call, Errand, Lane, Room
from tool_envs.booking.stepper.sentences import (
    MOST_COUNTED,
    QUESTION_KIND,
    SAYS_AMOUNT,
    SAYS_COUNT,
    SAYS_MORE,
    SAYS_PROPOSAL,
    SAYS_REFUSAL,
    SAYS_REPORT,
    SAYS_STATUS,
    WHYS,
)
from tool_envs.booking.stepper.timetable import Store
from tool_envs.rows import kernel
from tool_envs.simulators.agenda_core import (
    ACCEPT_NO,
    AFFIRM,
    AGAIN,
    CHANGE,
    DENY,
    NEXT,
    OTHERWISE,
    copy_heard,
    react,
)

TURN = 1 << TABLES
"""Bit of what every action may change in the conversation."""
WISH = TURN << 1
"""Of the rest of it."""
RESERVATIONS = WISH << 1
FLIGHTS_TABLE = RESERVATIONS << 1
LEGS = FLIGHTS_TABLE << 1
METHODS = LEGS << 1
PEOPLE = METHODS << 1
AIRPORTS = PEOPLE << 1
DAYS_TABLE = AIRPORTS << 1
PARTY = DAYS_TABLE << 1
"""Of the tables."""
PROPOSED = PARTY << 1
"""Of what tables show of the proposal."""
_PROFILE = OPENED | TURN | WISH | RESERVATIONS | METHODS | PEOPLE
# A search may make room, and what was proposed is forgotten with the flights that it had.
_SEARCHED = OPENED | TURN | WISH | RESERVATIONS | FLIGHTS_TABLE | LEGS | AIRPORTS | DAYS_TABLE | PROPOSED


@kernel
def act(lane: Lane, errand: Errand, store: Store, verb: int, room: Room) -> int:
    """Carry out the action of a verb with what the draft has chosen; as `array_steps` has it."""
    if verb == TRANSFER:
        lane.sight.scene.refused = 0
        return ENDED | TURN  # it breaks a rule: no wish is beyond the tools
    if verb < PROPOSE or READ_PROFILE <= verb < TELL:
        run_call(lane, errand, store.table, verb, room)
        return _changed_by(verb)
    changed = _speak(lane, errand, store, verb, room)
    if lane.state.ended:
        lane.reward = earned(lane, errand)
        return changed | ENDED
    return changed


@kernel
def _changed_by(verb: int) -> int:
    """What a call may change in what is seen."""
    if verb in (READ_AIRPORTS, READ_STATUS):
        return TURN
    if verb == READ_PROFILE:
        return _PROFILE
    if verb == READ_TRIP:
        return ALL_CHANGED & ~(ENDED | METHODS)
    if verb in (SEARCH_DIRECT, SEARCH_ONE_STOP):
        return _SEARCHED
    return ALL_CHANGED & ~ENDED


@kernel
def _speak(lane: Lane, errand: Errand, store: Store, verb: int, room: Room) -> int:
    """Say something and hear the answer; tells what may have changed in what is seen."""
    sight = lane.sight
    sight.scene.refused = 0
    before = lane.state.wish
    sentence = store.book.sentences[_sentence(lane, verb, room)]
    counts = sentence.counts
    copy_heard(sentence.heard[errand.aims[before].fact], room.heard)
    changed = TURN
    if verb < ASK:
        changed = OPENED | TURN | PROPOSED
        to_call(lane, errand, room.call)
        counts |= _bags_told(room.call)
        room.tells = room.call.amount
        remember(lane.draft, sight, room.call, room.proposed)
        see_proposed(sight, room.proposed)
        hear_proposal(lane, errand, room)
    elif verb == REPORT:
        room.tells = lane.written_amount
        hear_report(lane, errand, room)
    note_facts(lane, errand, room, sentence.statuses, counts, verb < ASK)
    react(lane.state, room.heard, errand.facts, room.step)
    _learn(lane, errand, before, room)
    answer(errand, before, lane.state.wish, lane.state.sets, room)
    if errand.mute:
        mute(room.said, room.wanted)
    news = hear(sight, room.said, room.wanted)
    if news == NEW_WISH:
        return ALL_CHANGED & ~ENDED
    return changed | OPENED if news else changed


# --- What the agent says


@kernel
def _sentence(lane: Lane, verb: int, room: Room) -> int:
    """Which of the sentences it is; an amount that it tells is written down."""
    room.tells = -1
    if verb < ASK:
        return SAYS_PROPOSAL + verb - PROPOSE
    if verb < READ_PROFILE:
        return verb - ASK
    if verb == REPORT:
        return SAYS_REPORT + int(lane.sight.scene.unreported)
    if verb == REFUSE:
        wish = int(lane.sight.scene.wish)
        kind = wish if wish >= 0 else QUESTION_KIND
        return SAYS_REFUSAL + kind * WHYS + reason_against(lane.sight)
    return SAYS_MORE if verb == MORE else _answer(lane.sight, lane.draft, verb - TELL, room)


@kernel
def _answer(sight: Sight, draft: Draft, question: int, room: Room) -> int:
    """Which of the sentences answers a question."""
    trip = draft.trip
    if question == ASKS_STATUS:
        return SAYS_STATUS + int(sight.ways[OWN * trip + THERE].status[0])
    if question == ASKS_FREE_BAGS:
        return SAYS_COUNT + free_bags(sight, trip)
    if question == ASKS_TRIPS:
        return SAYS_COUNT + trips_in(sight, draft.cabin)
    if question == ASKS_PAID:
        room.tells = paid(sight.trips[trip])
    elif question == ASKS_UPGRADE:
        room.tells = upgrade_cost(sight, trip, draft.cabin)
    elif question == ASKS_BAGS:
        room.tells = bags_cost(sight, trip)
    else:
        room.tells = credit(sight, GIFT_CARD if question == ASKS_GIFT_CARDS else CERTIFICATE)
    return SAYS_AMOUNT


@kernel
def _bags_told(call: Call) -> int:
    """Bits of the counts that a proposal tells: of bags, those that are none are told by a word."""
    counts = 0
    if 0 < call.total_bags <= MOST_COUNTED:
        counts |= 1 << int(call.total_bags)
    if 0 < call.nonfree_bags <= MOST_COUNTED:
        counts |= 1 << int(call.nonfree_bags)
    return counts


@kernel
def remember(draft: Draft, sight: Sight, call: Call, proposed: Draft) -> None:
    """What the words of a proposal leave in memory: of ways with the same flights the first one.

    Args:
        draft: What is proposed.
        sight: What was shown.
        call: The call that is proposed.
        proposed: It is written here.
    """
    tool = draft.tool
    books, changes = tool == BOOK, tool == FLIGHTS
    proposed.tool = tool
    proposed.trip = draft.trip if tool not in (BOOK, CERTIFICATE_SENT) else OPEN
    proposed.origin = draft.origin if books else OPEN
    proposed.destination = draft.destination if books else OPEN
    proposed.round_trip = draft.round_trip if books else OPEN
    proposed.insurance = draft.insurance if books else OPEN
    proposed.cabin = draft.cabin if books or changes else OPEN
    proposed.method = draft.method if changes or tool == BAGS else OPEN
    proposed.claim = _first_claim(sight, draft.claim) if tool == CERTIFICATE_SENT else OPEN
    for place in range(MAX_PEOPLE):
        proposed.people[place] = draft.people[place] if books or tool == PASSENGERS else OPEN
    for place in range(MAX_PAID):
        proposed.methods[place] = draft.methods[place] if books else OPEN
    for side in range(OWN):
        proposed.flights[side] = OPEN
    if books or changes:
        _remember_flights(draft, sight, call, proposed)


@kernel
def _first_claim(sight: Sight, claim: int) -> int:
    """The first reservation for which as much is due, or for which it would be to somebody else."""
    amount = happened(sight, claim)
    for place in range(MAX_TRIPS):
        if sight.scene.trip_seen[place] and due(sight, place) == amount:
            return place
    for place in range(MAX_TRIPS):
        if sight.scene.trip_seen[place] and happened(sight, place) == amount:
            return place
    return claim


@kernel
def _remember_flights(draft: Draft, sight: Sight, call: Call, proposed: Draft) -> None:
    """The first ways, or the first way, with all these flights."""
    legs = 0
    for place in range(MAX_SEGMENTS):
        legs += call.flight[place] >= 0
    start = 0 if draft.trip >= 0 else OWN
    for first in range(start, MAX_FLIGHTS):
        count = way(sight, draft.trip, first).legs
        if not 0 < count <= legs or not _has_legs(sight, draft.trip, first, call, 0):
            continue
        if count == legs:
            proposed.flights[0], proposed.flights[1] = first, NONE
            return
        for second in range(start, MAX_FLIGHTS):
            is_rest = way(sight, draft.trip, second).legs == legs - count
            if is_rest and _has_legs(sight, draft.trip, second, call, count):
                proposed.flights[0], proposed.flights[1] = first, second
                return


@kernel
def _has_legs(sight: Sight, trip: int, row: int, call: Call, start: int) -> bool:
    """Whether the flights of a way are those of a call from a place on; there are enough of these."""
    offer = way(sight, trip, row)
    for leg in range(offer.legs):
        if offer.flight[leg] != call.flight[start + leg] or offer.day[leg] != call.day[start + leg]:
            return False
    return True


@kernel
def _learn(lane: Lane, errand: Errand, before: int, room: Room) -> None:
    """Yeses given and taken back, a no taken, a wish brought up."""
    moves, after = room.step.moves, lane.state.wish
    aim = errand.aims[before]
    room.added = 0
    if moves & DENY:
        revoke_all(lane)
    if moves & CHANGE:
        room.wrong = nearest_wrong(errand, aim, room.call, lane.state.sets)
    if moves & AFFIRM:
        affirm(lane, errand, room)
    if moves & ACCEPT_NO or (moves & OTHERWISE and errand.aims[after].number == aim.number):
        lane.taken |= 1 << aim.number
    if moves & (NEXT | OTHERWISE | AGAIN):
        learn_wish(lane, errand.aims[after])


@kernel
def learn_wish(lane: Lane, aim: Aim) -> None:
    """A wish is brought up, with the reason for it; or its question."""
    if aim.asks:
        lane.asked |= 1 << aim.number
        return
    if lane.case != aim.number:
        lane.case, lane.reasons = aim.number, 0
    if aim.reason >= 0:
        lane.reasons |= 1 << aim.reason
    lane.complained |= aim.complains
