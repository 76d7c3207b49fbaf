"""The core of the agenda user: what they do next, a plain function over small integers and tuples of them.

Sets of slots, of accepted argument sets and of moves are bit masks. Text becomes `Heard` before it, and moves
become acts and text after it.
"""

from typing import NamedTuple

MAX_TURNS = 25
MAX_RESTATED = 8
MAX_MISSED = 3
LIMITS = (MAX_TURNS, MAX_RESTATED, MAX_MISSED)
"""Messages, repetitions without progress, and messages not understood in a row, before they hang up."""

# What a user does in one turn, in the order in which it is said.
THANK = 1 << 0
DENY = 1 << 1
AFFIRM = 1 << 2
CORRECT = 1 << 3
CHANGE = 1 << 4
INFORM = 1 << 5
HOLD_BACK = 1 << 6
ASK_DETAILS = 1 << 7
ASK_AGAIN = 1 << 8
WAIT = 1 << 9
INSIST = 1 << 10
ACCEPT_NO = 1 << 11
NEXT = 1 << 12
OTHERWISE = 1 << 13
AGAIN = 1 << 14
BYE = 1 << 15

SAME, UNKNOWN, OTHER = 1, 0, 2
"""How the write of a proposal compares with the one wanted."""


class WishFacts(NamedTuple):
    """One wish. `otherwise` and `next` are numbers of wishes, -1 for none."""

    sets: int
    question: bool
    forbidden: bool
    otherwise: int
    next: int


class Facts(NamedTuple):
    """What does not change in an episode; `identity` are the slots that say who the user is."""

    wishes: tuple[WishFacts, ...]
    identity: int
    insists: bool
    reluctant: bool
    changes_mind: bool


class Heard(NamedTuple):
    """What was understood of the agent, with the eyes of the current wish.

    Attributes:
        asks: Slots asked for.
        intent: They ask what the user wants, or leave them a choice.
        confirms: They ask for a yes.
        tool: SAME, OTHER or UNKNOWN.
        identified: The proposal says which record it is about.
        complete: It leaves nothing open that the user has a wish about.
        agrees: Accepted sets that the values in the message do not contradict; all of them when it has none.
        others: Accepted sets that someone wants who changes their mind now.
        correctable: The user can say which value was wrong.
        informs: They tell something.
        done: They say that something was done.
        answers: They tell something of the type that was asked for.
        pending: They say that they will do something.
        denies: They say that it cannot be done.
        transfers: They hand the user over.
        closes: They offer more help.
        small_talk: They are being polite.
    """

    asks: int = 0
    intent: bool = False
    confirms: bool = False
    tool: int = UNKNOWN
    identified: bool = False
    complete: bool = False
    agrees: int = 0
    others: int = 0
    correctable: bool = False
    informs: bool = False
    done: bool = False
    answers: bool = False
    pending: bool = False
    denies: bool = False
    transfers: bool = False
    closes: bool = False
    small_talk: bool = False


class State(NamedTuple):
    """All that changes.

    Attributes:
        wish: The current one.
        sets: Accepted sets of it that are still wanted.
        agreed: They said yes, and wait for the result.
        insisted: They asked again after a no.
        changed: They changed their mind.
        held_back: They kept their data to themselves once.
        restated: How often they repeated themselves since anything moved.
        missed: Messages not understood in a row.
        not_understood: All messages not understood.
        turns: Messages heard.
        ended: They have hung up.
    """

    wish: int = 0
    sets: int = 0
    agreed: bool = False
    insisted: bool = False
    changed: bool = False
    held_back: bool = False
    restated: int = 0
    missed: int = 0
    not_understood: int = 0
    turns: int = 0
    ended: bool = False


class Step(NamedTuple):
    """What the user does: the state after it, the moves, and the slots that they speak of."""

    state: State
    moves: int
    slots: int = 0


def start(facts: Facts) -> State:
    """Before the first message."""
    return State(sets=facts.wishes[0].sets)


def is_offered(state: State, heard: Heard) -> bool:
    """The message proposes just what the user wants."""
    named = heard.tool == SAME or (heard.tool == UNKNOWN and heard.complete)
    return heard.confirms and named and heard.identified and heard.agrees & state.sets > 0


def turn_to(state: State, wish: int, facts: Facts) -> State:
    """Nothing happened yet with that wish."""
    return state._replace(wish=wish, sets=facts.wishes[wish].sets, agreed=False, insisted=False, restated=0)


def react(state: State, heard: Heard, facts: Facts) -> Step:
    """What the user does after a message."""
    step = _decide(state, heard, facts)
    missed = step.moves & ASK_AGAIN > 0
    after = step.state._replace(
        turns=state.turns + 1,
        missed=state.missed + 1 if missed else 0,
        not_understood=state.not_understood + missed,
    )
    if step.moves & BYE:
        return Step(after._replace(ended=True), step.moves, step.slots)
    if after.turns >= MAX_TURNS or after.restated >= MAX_RESTATED or after.missed >= MAX_MISSED:
        return Step(after._replace(ended=True, agreed=False), BYE)
    return Step(after, step.moves, step.slots)


def _decide(state: State, heard: Heard, facts: Facts) -> Step:
    wish = facts.wishes[state.wish]
    right = is_offered(state, heard)
    if _is_fulfilled(state, heard, wish):
        return _go_on(state, facts, THANK, heard.asks & facts.identity)
    if heard.denies and not _is_aside(heard, right, facts):
        return _hear_no(state, heard, facts)
    if heard.confirms:
        return _answer_proposal(state, heard, facts, right)
    if heard.asks or heard.intent:
        return _answer_questions(state, heard, facts, 0)
    if heard.pending or heard.transfers:
        return Step(_restated(state), WAIT)
    if heard.informs or heard.closes or heard.small_talk or heard.denies:
        return Step(_restated(state), WAIT if state.agreed else AGAIN)
    return Step(state, ASK_AGAIN)


def _is_fulfilled(state: State, heard: Heard, wish: WishFacts) -> bool:
    """The agent reports that the wish is fulfilled, or answers the question."""
    idle = not (heard.confirms or heard.asks or heard.intent)
    if wish.question:
        return heard.answers and idle and not heard.pending and (heard.informs or not heard.denies)
    if state.agreed and heard.done:
        return heard.tool == SAME or not heard.denies
    if heard.denies or not idle:
        return False
    if state.agreed:
        return not heard.pending and (heard.informs or heard.closes)
    return heard.done and heard.tool == SAME and heard.agrees & state.sets > 0


def _is_aside(heard: Heard, right: bool, facts: Facts) -> bool:
    """A no beside an offer of what the user wants, or for want of data, is not the answer to their wish."""
    offered = right or (heard.confirms and heard.tool == SAME)
    return offered or heard.asks & facts.identity > 0


def _go_on(state: State, facts: Facts, moves: int, slots: int = 0) -> Step:
    """The current wish is closed: on to the next one."""
    following = facts.wishes[state.wish].next
    if following < 0:
        return Step(state._replace(agreed=False), moves | BYE)
    return Step(turn_to(state, following, facts), moves | NEXT | (INFORM if slots else 0), slots)


def _restated(state: State) -> State:
    return state._replace(restated=state.restated + 1)


def _hear_no(state: State, heard: Heard, facts: Facts) -> Step:
    """The agent says that it cannot be done; with an offer of something else, that is turned down, too."""
    wish = facts.wishes[state.wish]
    state = state._replace(agreed=False)
    turned_down = DENY if heard.confirms else 0
    if facts.insists and wish.forbidden and not state.insisted:
        return Step(_restated(state._replace(insisted=True)), turned_down | INSIST)
    if wish.otherwise >= 0:
        return Step(turn_to(state, wish.otherwise, facts), turned_down | OTHERWISE)
    if wish.forbidden:
        return _go_on(state, facts, turned_down | ACCEPT_NO)
    if heard.asks or heard.intent:
        return _answer_questions(state, heard, facts, turned_down)
    if state.insisted:
        return _go_on(state, facts, turned_down | ACCEPT_NO)
    return Step(_restated(state._replace(insisted=True)), turned_down | INSIST | AGAIN)


def _answer_proposal(state: State, heard: Heard, facts: Facts, right: bool) -> Step:
    wish = facts.wishes[state.wish]
    if not right:
        return _turn_down(state, heard, facts)
    if facts.changes_mind and not state.changed:
        if heard.others & state.sets:
            return Step(
                state._replace(sets=heard.others & state.sets, changed=True, agreed=False), DENY | CHANGE
            )
        if wish.otherwise >= 0:
            return Step(turn_to(state._replace(changed=True), wish.otherwise, facts), DENY | OTHERWISE)
    agreed = state._replace(agreed=True, restated=0)
    return _answer_questions(agreed, heard._replace(intent=False), facts, AFFIRM)


def _turn_down(state: State, heard: Heard, facts: Facts) -> Step:
    """A proposal that is not what the user wants, or not enough of one."""
    wish = facts.wishes[state.wish]
    contradicted = not heard.agrees & state.sets
    wrong = heard.tool == OTHER or contradicted or wish.question
    moves = ASK_DETAILS
    if wish.forbidden and not wish.sets:
        moves = AGAIN  # perhaps it is what they want: they cannot tell, and would not say no to it
    elif wrong:
        moves = DENY | (CORRECT if heard.tool != OTHER and contradicted and heard.correctable else AGAIN)
    return _answer_questions(
        _restated(state._replace(agreed=False)), heard._replace(intent=False), facts, moves
    )


def _answer_questions(state: State, heard: Heard, facts: Facts, moves: int) -> Step:
    """All questions of a message, beside the moves that it led to."""
    guarded = heard.asks & facts.identity
    if facts.reluctant and guarded and not state.held_back:
        state, moves = state._replace(held_back=True), moves | HOLD_BACK
        heard = heard._replace(asks=heard.asks & ~facts.identity)
    if heard.asks:
        moves |= INFORM
    elif heard.intent:
        state, moves = _restated(state), moves | AGAIN
    return Step(state, moves, heard.asks)
