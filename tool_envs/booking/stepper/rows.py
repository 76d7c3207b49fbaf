"""The rows of an episode that is played without texts: the task, the lane, and room to work in.

What the agent was shown is a `Sight`, as in the array view. A reservation stands once: a lane's own are those
of its sight, at which nobody looks before they were shown. There payment methods have the numbers in which
they came up; everywhere else they have those of the data.
"""

from typing import Annotated, Final

from tool_envs.booking.rows import (
    MAX_METHODS,
    MAX_PASSENGERS,
    MAX_SEGMENTS,
    Customer,
    Reservation,
)
from tool_envs.booking.scene.sight import (
    MAX_PAID,
    MAX_PEOPLE,
    MAX_TRIPS,
    Draft,
    Said,
    Sight,
    Wanted,
)
from tool_envs.rows import Row, Small, Tiny
from tool_envs.service.wishes import MAX_ACCEPTED
from tool_envs.simulators.agenda_core import MAX_STEPS, MAX_TURNS, Facts, Heard, State, Step
from tool_envs.simulators.booking_phrases import BOOKING_PHRASES

MAX_WISHES: Final = 4
"""Most wishes of one task."""
MAX_EVIDENCE: Final = 12
"""Most searches that a task wants to be made before answers."""
MAX_MOVED: Final = 64
"""Most cabins of departures of which an episode can move seats; one more is an error."""

UNKNOWN_WRITES: Final = -1
"""Nobody knows which writes are of use: it is to be found out when it is needed."""

FACTS: Final = ("", "amount", "status", "count")
"""Types of what a customer asks for; the first: nothing."""
NO_FACT, AMOUNT, STATUS, COUNT = range(4)

ALL_SLOTS: Final = tuple(BOOKING_PHRASES.slots)
"""What a customer can be asked for, in the order of the agenda's bits."""
IDENTITY: Final = 4
"""So many of them say who the customer is."""
PARTS: Final = ALL_SLOTS[IDENTITY:]
"""The parts of a call that a customer can speak of; each has a bit."""
(
    IN_TRIP,
    IN_ORIGIN,
    IN_DESTINATION,
    IN_KIND,
    IN_DATE,
    IN_FLIGHTS,
    IN_CABIN,
    IN_PEOPLE,
    IN_METHOD,
    IN_BAGS,
    IN_INSURANCE,
    IN_REASON,
    IN_AMOUNT,
) = range(len(PARTS))

FLIGHTS_OPEN, PAYMENTS_OPEN, PAID_BAGS_OPEN = 1, 2, 4
"""What a yes can say nothing about, as bits."""


class Call(Row):
    """A write with its arguments.

    Attributes:
        tool: The write.
        trip: Place of the reservation that it changes, or -1.
        origin: Airport code, or -1.
        destination: Airport code, or -1.
        round_trip: 1 for a round trip, 0 for one way, or -1.
        cabin: The cabin, or -1.
        flight: Codes of the flights in order; -1 behind the last.
        day: On which each leaves; -1 behind the last.
        people: Places in the profile; -1 behind the last.
        methods: Payment methods; -1 behind the last.
        amounts: What each of them pays, in cents.
        method: The one payment method of a change, or -1.
        total_bags: Checked bags, or -1.
        nonfree_bags: Those of them that are paid for, or -1.
        insurance: 1 with travel insurance, 0 without, or -1.
        amount: Of a certificate, in cents, or -1.
    """

    tool: Tiny
    trip: Tiny
    origin: Tiny
    destination: Tiny
    round_trip: Tiny
    cabin: Tiny
    flight: Annotated[list[int], MAX_SEGMENTS, "int16"]
    day: Annotated[list[int], MAX_SEGMENTS, "int8"]
    people: Annotated[list[int], MAX_PASSENGERS, "int8"]
    methods: Annotated[list[int], MAX_PAID, "int8"]
    amounts: Annotated[list[int], MAX_PAID]
    method: Tiny
    total_bags: Tiny
    nonfree_bags: Tiny
    insurance: Tiny
    amount: int


def no_call() -> Call:
    """What stands behind the last call."""
    return Call(
        tool=-1,
        trip=-1,
        origin=-1,
        destination=-1,
        round_trip=-1,
        cabin=-1,
        flight=[-1] * MAX_SEGMENTS,
        day=[-1] * MAX_SEGMENTS,
        people=[-1] * MAX_PASSENGERS,
        methods=[-1] * MAX_PAID,
        amounts=[0] * MAX_PAID,
        method=-1,
        total_bags=-1,
        nonfree_bags=-1,
        insurance=-1,
        amount=-1,
    )


class Aim(Row):
    """One step of the customer's agenda. What each turn looks at is first.

    Attributes:
        opening: What bringing it up says.
        number: Number of the wish that it belongs to.
        tool: The write that fulfils it; -1: none does.
        fact: What is asked for, of `FACTS`.
        asks: 1 when it is brought up as a question.
        complains: 1 when it is brought up as a wish for a compensation.
        reason: The reason that is told when it is brought up, of `REASONS_TOLD`, or -1.
        accepted: Bits of the accepted calls, all of them.
        worded: Bits of the parts for which the customer has words.
        opening_wanted: What that says of the wish.
        words: What the words for all of `PARTS` say; each part has fields of its own.
        flight_days: The days that the words for the flights name; -1 behind the last.
        calls: The accepted calls; `tool` is -1 behind the last.
    """

    opening: Said
    number: Tiny
    tool: Tiny
    fact: Tiny
    asks: Tiny
    complains: Tiny
    reason: Tiny
    accepted: Tiny
    worded: Small
    opening_wanted: Wanted
    words: Wanted
    flight_days: Annotated[list[int], 2, "int8"]
    calls: Annotated[list[Call], MAX_ACCEPTED]


class Due(Row):
    """What must be true of one wish at the end.

    Attributes:
        step: The step of the agenda whose write must have been made; -1: none.
        forbidden: 1 when the customer must have taken a no.
        fact: What must have been told, of `FACTS`.
        value: Cents, a status, or a count.
        trips: Bits of the reservations that must have been looked up for a fact or a no.
        searches: Bits of the searches of the task, likewise.
        profile: 1 when the profile must.
    """

    step: Tiny
    forbidden: Tiny
    fact: Tiny
    value: int
    trips: Tiny
    searches: Small
    profile: Tiny


class Errand(Row):
    """A task, and what is known of its customer before anything happened. What each turn looks at is first.

    Attributes:
        facts: The agenda.
        mute: 1 when nothing that the customer says is heard but who they are (a control).
        one_amount: 1 when they want to hear no more than one sum at a time.
        origins: Bits of the airports that the customer notices as where a trip begins.
        destinations: Bits of those that they notice as where it goes to.
        dues: The wishes; `step` is -2 behind the last.
        aims: The steps of the agenda.
        customer: The customer.
        trips: Their reservations, as in a lane's sight.
        trip_code: What the array view knows reservations by, as many as it keeps in mind.
        people: How many people there are in the profile, the customer among them.
        name: Codes of their names; -1 behind the last.
        first: For each the number of the first who has the same first name.
        last: Likewise the last name.
        birth: Likewise the date of birth.
        digits: For each payment method the last four digits of a card, or -1.
        method_number: For each that there is or may be the number in its id.
        gone: The payment method that was used up before, or -1.
        evidence: The searches that must be made for some answer, as codes of a direct one.
    """

    facts: Facts
    mute: Tiny
    one_amount: Tiny
    origins: int
    destinations: int
    dues: Annotated[list[Due], MAX_WISHES]
    aims: Annotated[list[Aim], MAX_STEPS]
    customer: Customer
    trips: Annotated[list[Reservation], MAX_TRIPS]
    trip_code: Annotated[list[int], MAX_TRIPS]
    people: Tiny
    name: Annotated[list[int], MAX_PEOPLE]
    first: Annotated[list[int], MAX_PEOPLE, "int8"]
    last: Annotated[list[int], MAX_PEOPLE, "int8"]
    birth: Annotated[list[int], MAX_PEOPLE, "int8"]
    digits: Annotated[list[int], MAX_METHODS, "int16"]
    method_number: Annotated[list[int], MAX_METHODS]
    gone: Tiny
    evidence: Annotated[list[int], MAX_EVIDENCE, "int16"]


class Lane(Row):
    """All that changes in an episode. What is looked at most stands together.

    Attributes:
        state: Where the customer stands in their agenda.
        draft: The choices of the action in the making.
        possible: Bits of the writes for which some draft fits, or `UNKNOWN_WRITES`.
        asked: Bits of the wishes whose question was asked.
        told: Bits of those that were answered.
        taken: Bits of the wishes of which the customer took a no.
        read: Bits of the reservations that were looked up.
        searched: Bits of the task's searches that were made.
        read_profile: 1 when the profile was shown.
        case: Number of the wish that was brought up last and is no question; -1: none.
        reasons: Bits of `REASONS_TOLD` that the customer gave for it.
        complained: 1 when they asked for a compensation.
        claimed: Bits of the reservations for which a certificate was sent.
        written: The write that was made last, or -1.
        written_trip: Place of the reservation that it changed, or -1.
        written_origin: Where the trip begins that it booked, or -1.
        written_destination: Where that goes to, or -1.
        written_amount: Of the certificate that it sent, in cents, or -1.
        done: Bits of the wishes whose write was made, and made right.
        wrong: 1 when there was another write.
        broken: 1 when a rule was, or what the customer demands of replies.
        reward: Of the episode; 0 before its end.
        sight: What was shown, and the reservations as they are now.
        customer: The customer as they are now.
        yeses: Open yeses, the oldest first, see `tool_envs.booking.stepper.consent`; -1 behind the last.
        numbers: For each payment method the number in which it came up, or -1.
        shown_at: For each reservation after how many others it was shown first; -1: it was not.
        moved: Departures of which seats were moved: (flight * `DAYS` + day); -1 behind the last.
        seats: Cabin of that, and how many seats were released (below 0: taken): cabin + seats * 4.
    """

    state: State
    draft: Draft
    possible: Tiny
    asked: Tiny
    told: Tiny
    taken: Tiny
    read: Tiny
    searched: Small
    read_profile: Tiny
    case: Tiny
    reasons: Tiny
    complained: Tiny
    claimed: Tiny
    written: Tiny
    written_trip: Tiny
    written_origin: Tiny
    written_destination: Tiny
    written_amount: int
    done: Tiny
    wrong: Tiny
    broken: Tiny
    reward: Tiny
    sight: Sight
    customer: Customer
    yeses: Annotated[list[int], MAX_TURNS, "int16"]
    numbers: Annotated[list[int], MAX_METHODS, "int8"]
    shown_at: Annotated[list[int], MAX_TRIPS, "int8"]
    moved: Annotated[list[int], MAX_MOVED, "int16"]
    seats: Annotated[list[int], MAX_MOVED, "int16"]


class Room(Row):
    """Room to work in during one action; nothing of it is kept.

    Attributes:
        heard: What the customer understood.
        step: What they do.
        said: What their words say.
        wanted: What those say of the wish.
        proposed: What was proposed, as it is remembered.
        call: The call that is made or proposed.
        wrong: Bits of `PARTS` in which a proposal is not what is wanted.
        added: Bits of those that a yes adds.
        trip: A reservation as it is, with the numbers of the data.
        other: As it would be.
        status: Of the departure of each flight of `other`.
        free: Seats in its cabin, likewise.
        old_status: Of the departure of each flight of `trip`.
        tells: An amount that is told, in cents, or -1.
    """

    heard: Heard
    step: Step
    said: Said
    wanted: Wanted
    proposed: Draft
    call: Call
    wrong: Small
    added: Small
    trip: Reservation
    other: Reservation
    status: Annotated[list[int], MAX_SEGMENTS, "int16"]
    free: Annotated[list[int], MAX_SEGMENTS, "int16"]
    old_status: Annotated[list[int], MAX_SEGMENTS, "int16"]
    tells: int
