"""The core of the agenda user: what they do next, on rows of small integers. Kernels (see `tool_envs.rows`).

Sets of slots, of accepted argument sets and of moves are bit masks; a field that is true or false is 1 or 0.
Text becomes `Heard` before it, and moves become acts and text after it.

Who checks what they are offered answers guesses, too: with enough of them a wish is found out without a word
of it being heard. So a user bears few wrong proposals (`MAX_TURNED_DOWN`), enough to correct a mistake.
"""

from typing import Annotated

from tool_envs.rows import Row, Tiny, kernel

MAX_TURNS = 25
MAX_RESTATED = 8
MAX_TURNED_DOWN = 3
MAX_MISSED = 3
LIMITS = (MAX_TURNS, MAX_RESTATED, MAX_TURNED_DOWN, MAX_MISSED)
"""Messages, repetitions without progress, wrong proposals, and messages not understood in a row, before they
hang up."""

MAX_STEPS = 8
"""Most steps of an agenda in compiled code; Python runs any number."""

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


class WishFacts(Row):
    """One step of the agenda.

    Attributes:
        sets: The accepted sets of arguments.
        question: It is a question.
        forbidden: A no is the right answer.
        otherwise: Number of the step that is wanted instead after a no, or -1.
        next: Number of the step after it, or -1.
    """

    sets: int
    question: Tiny
    forbidden: Tiny
    otherwise: Tiny
    next: Tiny


class Facts(Row):
    """What does not change in an episode.

    Attributes:
        wishes: The steps.
        identity: The slots that say who the user is.
        insists: They do not take a first no.
        reluctant: They do not tell who they are at first.
        changes_mind: They want something else when they are first offered what they want.
    """

    wishes: Annotated[list[WishFacts], MAX_STEPS]
    identity: int
    insists: Tiny
    reluctant: Tiny
    changes_mind: Tiny


class Heard(Row):
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
    intent: Tiny = 0
    confirms: Tiny = 0
    tool: Tiny = UNKNOWN
    identified: Tiny = 0
    complete: Tiny = 0
    agrees: int = 0
    others: int = 0
    correctable: Tiny = 0
    informs: Tiny = 0
    done: Tiny = 0
    answers: Tiny = 0
    pending: Tiny = 0
    denies: Tiny = 0
    transfers: Tiny = 0
    closes: Tiny = 0
    small_talk: Tiny = 0


@kernel
def copy_heard(source: Heard, target: Heard) -> None:
    """Write what was understood of one message over that of another."""
    target.asks, target.intent, target.confirms = source.asks, source.intent, source.confirms
    target.tool, target.identified, target.complete = source.tool, source.identified, source.complete
    target.agrees, target.others, target.correctable = source.agrees, source.others, source.correctable
    target.informs, target.done, target.answers = source.informs, source.done, source.answers
    target.pending, target.denies, target.transfers = source.pending, source.denies, source.transfers
    target.closes, target.small_talk = source.closes, source.small_talk


class State(Row):
    """All that changes.

    Attributes:
        wish: The current step.
        sets: Accepted sets of it that are still wanted.
        agreed: They said yes, and wait for the result.
        insisted: They asked again after a no.
        changed: They changed their mind.
        held_back: They kept their data to themselves once.
        restated: How often they repeated themselves since anything moved.
        turned_down: How many wrong proposals they turned down since.
        missed: Messages not understood in a row.
        not_understood: All messages not understood.
        turns: Messages heard.
        ended: They have hung up.
    """

    wish: Tiny = 0
    sets: int = 0
    agreed: Tiny = 0
    insisted: Tiny = 0
    changed: Tiny = 0
    held_back: Tiny = 0
    restated: Tiny = 0
    turned_down: Tiny = 0
    missed: Tiny = 0
    not_understood: Tiny = 0
    turns: Tiny = 0
    ended: Tiny = 0


class Step(Row):
    """What the user does: the moves, and the slots that they speak of."""

    moves: int = 0
    slots: int = 0


@kernel
def start(state: State, facts: Facts) -> None:
    """Before the first message; the state is a fresh one."""
    state.sets = facts.wishes[0].sets


@kernel
def is_offered(state: State, heard: Heard) -> bool:
    """The message proposes just what the user wants."""
    named = heard.tool == SAME or (heard.tool == UNKNOWN and heard.complete > 0)
    return heard.confirms > 0 and named and heard.identified > 0 and heard.agrees & state.sets > 0


@kernel
def turn_to(state: State, wish: int, facts: Facts) -> None:
    """Nothing happened yet with that wish."""
    state.wish, state.sets = wish, facts.wishes[wish].sets
    state.agreed = state.insisted = state.restated = state.turned_down = 0


@kernel
def react(state: State, heard: Heard, facts: Facts, step: Step) -> None:
    """What the user does after a message.

    Args:
        state: Before it; afterwards, after it.
        heard: The message.
        facts: The agenda.
        step: What they do is written here.
    """
    step.moves = step.slots = 0
    _decide(state, heard, facts, step)
    missed = int(step.moves & ASK_AGAIN > 0)
    state.turns += 1
    state.missed = state.missed + 1 if missed else 0
    state.not_understood += missed
    if step.moves & BYE:
        state.ended = 1
    elif _is_out_of_patience(state):
        state.ended, state.agreed = 1, 0
        step.moves, step.slots = BYE, 0


@kernel
def _is_out_of_patience(state: State) -> bool:
    if state.turns >= MAX_TURNS or state.restated >= MAX_RESTATED:
        return True
    return state.turned_down >= MAX_TURNED_DOWN or state.missed >= MAX_MISSED


@kernel
def _decide(state: State, heard: Heard, facts: Facts, step: Step) -> None:
    wish = facts.wishes[state.wish]
    right = is_offered(state, heard)
    if _is_fulfilled(state, heard, wish):
        _go_on(state, facts, step, THANK, heard.asks & facts.identity)
    elif heard.denies and not _is_aside(heard, right, facts):
        _hear_no(state, heard, facts, step)
    elif heard.confirms:
        _answer_proposal(state, heard, facts, step, right)
    elif heard.asks or heard.intent:
        _answer_questions(state, heard.asks, heard.intent, facts, step)
    elif heard.pending or heard.transfers:
        state.restated += 1
        step.moves = WAIT
    elif heard.informs or heard.closes or heard.small_talk or heard.denies:
        state.restated += 1
        step.moves = WAIT if state.agreed else AGAIN
    else:
        step.moves = ASK_AGAIN


@kernel
def _is_fulfilled(state: State, heard: Heard, wish: WishFacts) -> bool:
    """The agent reports that the wish is fulfilled, or answers the question."""
    idle = not (heard.confirms or heard.asks or heard.intent)
    if wish.question:
        said = heard.informs > 0 or not heard.denies
        return heard.answers > 0 and idle and not heard.pending and said
    if state.agreed and heard.done:
        return heard.tool == SAME or not heard.denies
    if heard.denies or not idle:
        return False
    if state.agreed:
        return not heard.pending and (heard.informs > 0 or heard.closes > 0)
    return heard.done > 0 and heard.tool == SAME and heard.agrees & state.sets > 0


@kernel
def _is_aside(heard: Heard, right: bool, facts: Facts) -> bool:
    """A no beside an offer of what the user wants, or for want of data, is not the answer to their wish."""
    offered = right or (heard.confirms > 0 and heard.tool == SAME)
    return offered or heard.asks & facts.identity > 0


@kernel
def _go_on(state: State, facts: Facts, step: Step, moves: int, slots: int) -> None:
    """The current wish is closed: on to the next one."""
    following = facts.wishes[state.wish].next
    if following < 0:
        state.agreed = 0
        step.moves = moves | BYE
        return
    turn_to(state, following, facts)
    step.moves, step.slots = moves | NEXT | (INFORM if slots else 0), slots


@kernel
def _hear_no(state: State, heard: Heard, facts: Facts, step: Step) -> None:
    """The agent says that it cannot be done; with an offer of something else, that is turned down, too."""
    wish = facts.wishes[state.wish]
    state.agreed = 0
    step.moves = DENY if heard.confirms else 0
    if facts.insists and wish.forbidden and not state.insisted:
        state.insisted = 1
        state.restated += 1
        step.moves |= INSIST
    elif wish.otherwise >= 0:
        turn_to(state, wish.otherwise, facts)
        step.moves |= OTHERWISE
    elif wish.forbidden:
        _go_on(state, facts, step, step.moves | ACCEPT_NO, 0)
    elif heard.asks or heard.intent:
        _answer_questions(state, heard.asks, heard.intent, facts, step)
    elif state.insisted:
        _go_on(state, facts, step, step.moves | ACCEPT_NO, 0)
    else:
        state.insisted = 1
        state.restated += 1
        step.moves |= INSIST | AGAIN


@kernel
def _answer_proposal(state: State, heard: Heard, facts: Facts, step: Step, right: bool) -> None:
    wish = facts.wishes[state.wish]
    if not right:
        _turn_down(state, heard, facts, step)
        return
    if facts.changes_mind and not state.changed:
        if heard.others & state.sets:
            state.sets &= heard.others
            state.changed, state.agreed = 1, 0
            step.moves = DENY | CHANGE
            return
        if wish.otherwise >= 0:
            turn_to(state, wish.otherwise, facts)
            state.changed = 1
            step.moves = DENY | OTHERWISE
            return
    state.agreed, state.restated, state.turned_down = 1, 0, 0
    step.moves = AFFIRM
    _answer_questions(state, heard.asks, 0, facts, step)


@kernel
def _turn_down(state: State, heard: Heard, facts: Facts, step: Step) -> None:
    """A proposal that is not what the user wants, or not enough of one."""
    wish = facts.wishes[state.wish]
    contradicted = not heard.agrees & state.sets
    wrong = heard.tool == OTHER or contradicted or wish.question > 0
    step.moves = ASK_DETAILS
    if wish.forbidden and not wish.sets:
        step.moves = AGAIN  # perhaps it is what they want: they cannot tell, and would not say no to it
    elif wrong:
        state.turned_down += 1
        step.moves = DENY | (
            CORRECT if heard.tool != OTHER and contradicted and heard.correctable > 0 else AGAIN
        )
    state.agreed = 0
    state.restated += 1
    _answer_questions(state, heard.asks, 0, facts, step)


@kernel
def _answer_questions(state: State, asks: int, intent: int, facts: Facts, step: Step) -> None:
    """All questions of a message, beside the moves that it led to."""
    if facts.reluctant and asks & facts.identity and not state.held_back:
        state.held_back = 1
        step.moves |= HOLD_BACK
        asks &= ~facts.identity
    if asks:
        step.moves |= INFORM
    elif intent:
        state.restated += 1
        step.moves |= AGAIN
    step.slots = asks
