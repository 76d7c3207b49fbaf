"""One action of the agent, on rows: a call, or a sentence and the customer's answer. Kernels."""

from typing import Final

from tool_envs.array_rows import ALL_CHANGED, ENDED, OPENED, TABLES
from tool_envs.retail.scene.masks import (
    ASK,
    FIND_BY_EMAIL,
    FIND_BY_NAME,
    PROPOSE,
    READ_CATALOG,
    READ_PRODUCT,
    REFUSE,
    REPORT,
    TELL_CHEAPEST,
    TELL_COUNT,
    TELL_STATUS,
    TELL_TOTAL,
    TRANSFER,
)
from tool_envs.retail.scene.reasons import (
    NO_TOOL,
    available,
    cheapest,
    order_at_hand,
    paid,
    reason_against,
    was_sent,
)
from tool_envs.retail.scene.seen import hear, see_proposed
from tool_envs.retail.scene.sight import (
    ADDRESS,
    CANCEL,
    EXCHANGE,
    FOR_SWAP,
    ITEMS,
    MAX_CHANGED,
    NONE,
    OPEN,
    RETURN,
    USER_ADDRESS,
    Draft,
    Scene,
    Shelves,
    Sight,
)
from tool_envs.retail.stepper.answering import answer, mute
from tool_envs.retail.stepper.calls import copy_call, run_call, to_call
from tool_envs.retail.stepper.grading import earned, note_facts
from tool_envs.retail.stepper.hearing import (
    hear_proposal,
    hear_report,
    missing_parts,
    nearest_wrong,
    shares_news,
    worded,
)
from tool_envs.retail.stepper.rows import Errand, Known, Lane, Room, Wanted
from tool_envs.retail.stepper.sentences import (
    SAYS_AMOUNT,
    SAYS_COUNT,
    SAYS_MORE,
    SAYS_PROPOSAL,
    SAYS_REFUSAL,
    SAYS_REPORT,
    SAYS_STATUS,
    WHYS,
    Book,
)
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

_EXCHANGES: Final = 6
_QUESTIONS: Final = 7
"""Kinds of wishes, behind those of `WISHES`, as refusals know them."""


CONVERSATION: Final = 1 << TABLES
ORDERS: Final = CONVERSATION << 1
LINES: Final = ORDERS << 1
VARIANTS: Final = LINES << 1
METHODS: Final = VARIANTS << 1
PRODUCTS_TABLE: Final = METHODS << 1
"""Bits of the tables that an action may change."""
_PROPOSED: Final = CONVERSATION | ORDERS | LINES | VARIANTS | METHODS


@kernel
def act(lane: Lane, errand: Errand, shelves: Shelves, book: Book, verb: int, room: Room) -> int:
    """Carry out the action of a verb with what the draft has chosen; as `array_steps` has it."""
    if verb == TRANSFER:
        lane.sight.scene.refused = 0
        return ENDED | CONVERSATION  # it breaks a rule: no wish is beyond the tools
    if verb < PROPOSE or (FIND_BY_EMAIL <= verb < TELL_TOTAL):
        was_refused = lane.sight.scene.refused
        run_call(lane, errand, shelves, verb, room)
        changed = _changed_by(lane.sight, lane.draft, verb)
        return changed | CONVERSATION if was_refused != lane.sight.scene.refused else changed
    changed = _speak(lane, errand, shelves, book, verb, room)
    if lane.state.ended:
        lane.reward = earned(lane, errand, shelves, room)
        return changed | ENDED
    return changed


@kernel
def _changed_by(sight: Sight, draft: Draft, verb: int) -> int:
    """What a call may change in what is seen, beside that it was refused."""
    if verb in (FIND_BY_EMAIL, FIND_BY_NAME):
        return OPENED | CONVERSATION
    if verb == READ_CATALOG:
        return OPENED | CONVERSATION | PRODUCTS_TABLE
    if verb == READ_PRODUCT:
        changed = OPENED | PRODUCTS_TABLE
        if sight.scene.profile:
            changed |= LINES
        return (
            changed | VARIANTS if draft.product in (sight.scene.things[0], sight.scene.things[1]) else changed
        )
    return ALL_CHANGED & ~ENDED


@kernel
def _speak(lane: Lane, errand: Errand, shelves: Shelves, book: Book, verb: int, room: Room) -> int:
    """Say something and hear the answer; tells what may have changed in what is seen."""
    sight = lane.sight
    sight.scene.refused = 0
    keep_known(sight.scene, room.known)
    before = lane.state.wish
    wanted = errand.wanted[before]
    sentence = _sentence(sight, shelves, lane.draft, verb)
    counts = book.sentences[sentence].counts
    copy_heard(book.sentences[sentence].heard[wanted.fact], room.heard)
    changed = CONVERSATION
    if verb < ASK:
        changed = OPENED | _PROPOSED
        to_call(lane.draft, sight, wanted.told_address, room.call)
        if room.call.address:
            counts |= wanted.address_counts
        remember(lane.draft, sight, room.proposed)
        see_proposed(sight, room.proposed)
        hear_proposal(lane, errand, shelves, room)
    elif verb == REPORT:
        hear_report(lane, errand, room, sight.scene.unreported, lane.written)
    note_facts(
        lane, errand, _amount(sight, shelves, lane.draft, verb), book.sentences[sentence].statuses, counts
    )
    react(lane.state, room.heard, errand.facts, room.step)
    _learn(lane, errand, shelves, before, room)
    answer(errand, before, lane.state.wish, lane.state.sets, room)
    if errand.mute:
        mute(room.said)
    hear(sight, room.said)
    if not is_wish_known(sight.scene, room.known):
        return ALL_CHANGED & ~ENDED
    return changed if is_rest_known(sight.scene, room.known) else changed | OPENED


@kernel
def keep_known(scene: Scene, known: Known) -> None:
    """Keep what a turn can change."""
    known.told, known.unknown = scene.told, scene.unknown
    for place in range(MAX_CHANGED):
        known.orders[place], known.things[place] = scene.orders[place], scene.things[place]
        known.wants[place], known.same[place] = scene.wants[place], scene.same[place]
        known.variants[place] = scene.variants[place]
    known.wish, known.question, known.sign = scene.wish, scene.question, scene.sign
    known.method_kind, known.method_digits = scene.method_kind, scene.method_digits
    known.reason, known.address = scene.reason, scene.address
    known.yes, known.unreported = scene.yes, scene.unreported


@kernel
def is_wish_known(scene: Scene, known: Known) -> bool:
    """Whether nothing has changed of what was said of the wish, which all tables may show."""
    if scene.wish != known.wish or scene.question != known.question or scene.sign != known.sign:
        return False
    if scene.method_kind != known.method_kind or scene.method_digits != known.method_digits:
        return False
    if scene.reason != known.reason or scene.address != known.address:
        return False
    for place in range(MAX_CHANGED):
        if scene.orders[place] != known.orders[place] or scene.things[place] != known.things[place]:
            return False
        if scene.wants[place] != known.wants[place] or scene.same[place] != known.same[place]:
            return False
        if scene.variants[place] != known.variants[place]:
            return False
    return True


@kernel
def is_rest_known(scene: Scene, known: Known) -> bool:
    """Whether nothing else has changed."""
    if scene.told != known.told or scene.unknown != known.unknown:
        return False
    return scene.yes == known.yes and scene.unreported == known.unreported


# --- What the agent says


@kernel
def _sentence(sight: Sight, shelves: Shelves, draft: Draft, verb: int) -> int:
    """Which of the sentences it is."""
    if verb < ASK:
        return SAYS_PROPOSAL + verb - PROPOSE
    if verb < FIND_BY_EMAIL:
        return verb - ASK
    if verb in (TELL_TOTAL, TELL_CHEAPEST):
        return SAYS_AMOUNT
    if verb == TELL_STATUS:
        return SAYS_STATUS + sight.orders[draft.order].status
    if verb == TELL_COUNT:
        return SAYS_COUNT + available(shelves, draft.product)
    if verb == REPORT:
        return SAYS_REPORT + sight.scene.unreported
    if verb == REFUSE:
        reason = reason_against(sight, shelves)
        return SAYS_REFUSAL + _kind_at_hand(sight, shelves) * WHYS + (reason if reason >= 0 else NO_TOOL)
    return SAYS_MORE


@kernel
def _amount(sight: Sight, shelves: Shelves, draft: Draft, verb: int) -> int:
    """The amount that is told, or -1."""
    if verb == TELL_TOTAL:
        return paid(sight.orders[draft.order])
    return cheapest(shelves, draft.product) if verb == TELL_CHEAPEST else -1


@kernel
def _kind_at_hand(sight: Sight, shelves: Shelves) -> int:
    """The kind of the wish at hand, as refusals know it."""
    wish = sight.scene.wish
    if wish < 0:
        return _QUESTIONS
    place = order_at_hand(sight, shelves)
    if wish == FOR_SWAP and place >= 0 and was_sent(sight.orders[place]):
        return _EXCHANGES
    return wish


@kernel
def remember(draft: Draft, sight: Sight, proposed: Draft) -> None:
    """What the words of a proposal leave in memory: ids, and so of equal items the first one.

    Args:
        draft: What is proposed.
        sight: What was shown.
        proposed: It is written here.
    """
    tool = draft.tool
    proposed.tool = tool
    proposed.order = draft.order if tool != USER_ADDRESS else OPEN
    proposed.reason = draft.reason if tool == CANCEL else OPEN
    proposed.method = draft.method if tool not in (CANCEL, ADDRESS, USER_ADDRESS) else OPEN
    has_items = tool in (ITEMS, RETURN, EXCHANGE)
    for place in range(MAX_CHANGED):
        proposed.items[place] = proposed.news[place] = NONE if has_items else OPEN
    if not has_items:
        return
    order = sight.orders[draft.order]
    for place in range(MAX_CHANGED):
        if draft.items[place] < 0:
            continue
        for line in range(order.item_count):
            is_taken = place > 0 and proposed.items[0] == line
            if order.items[line] == order.items[draft.items[place]] and not is_taken:
                proposed.items[place] = line
                break
        if tool != RETURN:
            proposed.news[place] = draft.news[place]


# --- What follows from what the customer does


@kernel
def _learn(lane: Lane, errand: Errand, shelves: Shelves, before: int, room: Room) -> None:
    """Yeses given and taken back, a no taken, a wish brought up."""
    moves, after = room.step.moves, lane.state.wish
    wanted = errand.wanted[before]
    room.added = 0
    if moves & DENY:
        lane.yeses[0].tool = -1
    if moves & CHANGE:
        room.wrong = nearest_wrong(errand, shelves, wanted, room.call, lane.state.sets)
    if moves & AFFIRM:
        _affirm(lane, wanted, room)
    if moves & ACCEPT_NO or (moves & OTHERWISE and errand.wanted[after].number == wanted.number):
        lane.taken |= 1 << wanted.number
    if moves & (NEXT | OTHERWISE | AGAIN):
        learn_wish(lane, errand.wanted[after])


@kernel
def learn_wish(lane: Lane, wanted: Wanted) -> None:
    """A wish is brought up, with the reason for it; or its question."""
    if wanted.fact and wanted.tool < 0:
        lane.asked |= 1 << wanted.number
    if wanted.calls[0].reason >= 0:
        lane.reasons |= 1 << wanted.calls[0].reason


@kernel
def _affirm(lane: Lane, wanted: Wanted, room: Room) -> None:
    """A yes to the accepted call that was proposed, of which the customer adds what was not named."""
    sets = lane.state.sets & room.heard.agrees
    first = 0
    while not sets >> first & 1:
        first += 1
    room.added = missing_parts(room.call, wanted.calls[first]) & worded(wanted, lane.state.sets)
    for number in range(len(lane.yeses)):
        if lane.yeses[number].tool < 0:
            copy_call(wanted.calls[first], lane.yeses[number])
            lane.yeses[number].any_news = int(
                wanted.calls[first].news[0] >= 0 and shares_news(wanted, sets) < 0
            )
            if number + 1 < len(lane.yeses):
                lane.yeses[number + 1].tool = -1
            return
