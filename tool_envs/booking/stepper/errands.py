"""Tasks as rows: all that an episode needs, read off texts and ids once."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeVar

from tool_envs.booking.codes import FLIGHT_TYPES, YES_NO, is_used_up
from tool_envs.booking.customers import PASSENGER_CODES
from tool_envs.booking.data import BookingBase
from tool_envs.booking.desk import BOOKING_DESK
from tool_envs.booking.ids import Ids
from tool_envs.booking.rows import (
    CABINS,
    CERTIFICATE,
    CREDIT_CARD,
    MAX_METHODS,
    MAX_PASSENGERS,
    MAX_PAYMENTS,
    MAX_SEGMENTS,
    STATUSES,
    Passenger,
    Reservation,
)
from tool_envs.booking.scene.blank import (
    blank_trip,
    nothing_said,
    nothing_wanted,
)
from tool_envs.booking.scene.rows import name_code
from tool_envs.booking.scene.search_codes import (
    search_code,
)
from tool_envs.booking.scene.seen import hear
from tool_envs.booking.scene.sight import (
    DEMANDS,
    DIRECT,
    FOR_COMPENSATION,
    MAX_PAID,
    MAX_PEOPLE,
    MAX_TRIPS,
    REASONS_TOLD,
    WISHES,
    WRITE_TOOLS,
    Wanted,
)
from tool_envs.booking.scene.words import Reader, Words, trip_code
from tool_envs.booking.stepper.answering import bring_up, mute
from tool_envs.booking.stepper.blank import blank_lane, no_aim, no_due
from tool_envs.booking.stepper.rows import (
    FACTS,
    IN_BAGS,
    IN_CABIN,
    IN_DATE,
    IN_FLIGHTS,
    IN_INSURANCE,
    IN_METHOD,
    IN_PEOPLE,
    IN_REASON,
    IN_TRIP,
    MAX_EVIDENCE,
    MAX_WISHES,
    PARTS,
    Aim,
    Call,
    Due,
    Errand,
    Lane,
    no_call,
)
from tool_envs.booking.stepper.turns import learn_wish
from tool_envs.generated import padded
from tool_envs.messages import Json, Message
from tool_envs.row_lists import as_bits, filled
from tool_envs.service.desk import goal_of
from tool_envs.service.grading import attainable
from tool_envs.service.wishes import MAX_ACCEPTED
from tool_envs.simulators.agenda_core import MAX_STEPS, Facts, WishFacts, start
from tool_envs.simulators.agenda_plan import Node, plan
from tool_envs.simulators.comparing import said_as
from tool_envs.simulators.goal import UserGoal, Wish
from tool_envs.simulators.speech import opening_of
from tool_envs.task import Task

R = TypeVar("R")

_NO_STEP = WishFacts(0, 0, 0, -1, -1)
_FIELDS: Mapping[int, tuple[str, ...]] = {
    IN_TRIP: ("trip", "trip_from", "trip_to"),
    IN_DATE: ("days",),
    IN_FLIGHTS: ("stops", "best", "leaves_after", "arrives_before", "at_most", "flights"),
    IN_CABIN: ("cabin",),
    IN_PEOPLE: ("people", "instead"),
    IN_METHOD: ("methods", "method_kind", "method_how", "method_mark"),
    IN_BAGS: ("bags", "more_bags"),
    IN_INSURANCE: ("insurance",),
    IN_REASON: ("reason",),
}
"""What the words for a part say."""


class Begun(NamedTuple):
    """A task, and the lane of its episode when the customer has said their first words."""

    errand: Errand
    lane: Lane


class ErrandMaker:
    """Makes rows of the tasks of an airline.

    Args:
        base: Its data.
    """

    def __init__(self, base: BookingBase) -> None:
        self._base, self._ids = base, Ids(base.seed)
        self._reader = Reader(self._ids)

    def make(self, task: Task, words: Task | None) -> Begun:
        """A task as rows.

        Args:
            task: The task.
            words: The one whose customer's words are heard; for controls another one, or None for no words.

        Raises:
            ValueError: The task has something that rows have no place for.
        """
        errand = self._errand(task)
        errand.mute = int(words is None)
        if words not in (task, None):
            _speak_like(errand, self._errand(words))
        return Begun(errand, _new_lane(errand, goal_of(task)))

    def _errand(self, task: Task) -> Errand:
        return _Maker(self._base, self._ids, self._reader, goal_of(task)).errand()


def _speak_like(errand: Errand, other: Errand) -> None:
    """Let a customer say the words of another one for their own wishes."""
    steps = [aim for aim in other.aims if aim.number >= 0]
    for number, aim in enumerate(errand.aims):
        spoken = steps[min(number, len(steps) - 1)]
        aim.opening, aim.opening_wanted = spoken.opening, spoken.opening_wanted
        aim.words, aim.flight_days = spoken.words, spoken.flight_days


def _new_lane(errand: Errand, goal: UserGoal) -> Lane:
    """The episode after the opening."""
    lane = blank_lane(errand.customer.copy())
    lane.sight.trips = [trip.copy() for trip in errand.trips]
    start(lane.state, errand.facts)
    learn_wish(lane, errand.aims[0])
    said, wanted = nothing_said(), nothing_wanted()
    bring_up(said, wanted, errand.aims[0])
    said.user = errand.aims[0].opening.user
    said.demands = as_bits(k for k, demand in enumerate(DEMANDS) if goal.conditions.get(demand))
    if errand.mute:
        mute(said, wanted)
    hear(lane.sight, said, wanted)
    return lane


class _Maker:
    """Makes the rows of one task."""

    def __init__(self, base: BookingBase, ids: Ids, reader: Reader, goal: UserGoal) -> None:
        self._base, self._ids, self._reader, self._goal = base, ids, reader, goal
        self._phrases = BOOKING_DESK.phrases
        self._nodes, self._facts = plan(goal, self._phrases)
        self._customer = self._find_customer()
        self._row = base.customer(self._customer)
        self._method_ids = base.method_ids(self._customer)
        self._reservation_ids = base.reservation_ids(self._customer)
        own = Passenger(*base.name(self._customer), base.dob(self._customer))
        self._people = [own, *base.saved_passengers(self._customer)]
        self._shown = [m for m in range(self._row.methods) if not is_used_up(self._row, m)]
        self._evidence = self._searches()

    def errand(self) -> Errand:
        codes = [trip_code(self._ids, self._base.reservation_id(self._customer, n)) for n in range(MAX_TRIPS)]
        firsts, lasts, births = zip(*self._people, strict=True)
        names = [name_code(person.first_name, person.last_name) for person in self._people]
        gone = [method for method in range(self._row.methods) if method not in self._shown]
        if len(gone) > 1:
            raise ValueError(f"several payment methods were used up before: {gone}")
        return Errand(
            customer=self._row.copy(),
            trips=filled(
                [self._trip(number) for number in range(self._row.reservations)], MAX_TRIPS, blank_trip
            ),
            trip_code=codes,
            people=len(self._people),
            name=padded(names, MAX_PEOPLE, -1),
            first=_numbered(firsts),
            last=_numbered(lasts),
            birth=_numbered(births),
            digits=[self._digits(method) for method in range(MAX_METHODS)],
            method_number=[self._method_number(method) for method in range(MAX_METHODS)],
            gone=gone[0] if gone else -1,
            origins=self._airports("origin"),
            destinations=self._airports("destination"),
            one_amount=int(bool(self._goal.conditions.get("only_the_total"))),
            evidence=padded(self._evidence, MAX_EVIDENCE, -1),
            facts=self._agenda(),
            aims=filled([self._aim(node) for node in self._nodes], MAX_STEPS, no_aim),
            dues=filled([self._due(wish) for wish in self._goal.wishes], MAX_WISHES, no_due),
            mute=0,
        )

    # --- The customer

    def _find_customer(self) -> int:
        found = self._base.find_user(self._goal.knows.get("user_id", ""))
        if found is None:
            raise ValueError(f"the customer {self._goal.knows} is not found by their user id")
        return found

    def _trip(self, number: int) -> Reservation:
        """A reservation as it is shown first, with places in the profile and methods as they come up."""
        trip = self._base.reservation(self._customer, number).copy()
        trip.customer = trip.number = -1
        places = [code - self._customer * PASSENGER_CODES for code in trip.passenger[: trip.passengers]]
        if any(not 0 <= place < len(self._people) for place in places):
            raise ValueError(f"somebody of {trip.passenger} is not in the profile")
        shown = [
            self._shown.index(m) if m in self._shown else -1 for m in trip.payment_method[: trip.payments]
        ]
        trip.passenger = padded(places, MAX_PASSENGERS, -1)
        trip.payment_method = padded(shown, MAX_PAYMENTS, -1)
        return trip

    def _kind(self, method: int) -> int:
        """The kind of a payment method; those that are added later are certificates."""
        return self._row.method_kind[method] if method < self._row.methods else CERTIFICATE

    def _digits(self, method: int) -> int:
        if self._kind(method) != CREDIT_CARD:
            return -1
        return int(self._base.card(self._customer, method)[1])

    def _method_number(self, method: int) -> int:
        method_id = self._base.method_id(self._customer, method, self._kind(method))
        return int(method_id.rsplit("_", 1)[1])

    def _airports(self, end: str) -> int:
        """Bits of the airports that the customer notices at one end of a trip."""
        codes = self._base.airport_codes
        return sum(1 << codes[value.value] for value in self._goal.lexicon.get(end, ()))

    def _agenda(self) -> Facts:
        agenda = self._facts
        return Facts(
            wishes=filled(agenda.wishes, MAX_STEPS, _NO_STEP.copy),
            identity=agenda.identity,
            insists=int(agenda.insists),
            reluctant=int(agenda.reluctant),
            changes_mind=int(agenda.changes_mind),
        )

    # --- One step of the agenda

    def _aim(self, node: Node) -> Aim:
        wish = node.wish
        calls = [self._call(wish.tool, arguments) for arguments in wish.accepted]
        _require_alike(calls)
        texts = [said_as(node, part, (1 << len(calls)) - 1, self._goal, self._phrases) for part in PARTS]
        opening = self._read(node.opening, *opening_of(node, self._goal, self._phrases)[0])
        reason = wish.means.get("reason", "")
        words, flight_days = self._words(texts)
        return Aim(
            number=node.number,
            tool=WRITE_TOOLS.index(wish.tool) if wish.tool else -1,
            fact=FACTS.index(wish.fact.type if wish.fact else ""),
            asks=int(node.asks),
            complains=int(wish.kind == WISHES[FOR_COMPENSATION] and not node.asks),
            reason=REASONS_TOLD.index(reason) if reason else -1,
            accepted=(1 << len(calls)) - 1,
            worded=as_bits(part for part, text in enumerate(texts) if text),
            opening=opening.said,
            opening_wanted=opening.wanted,
            words=words,
            flight_days=flight_days,
            calls=filled(calls, MAX_ACCEPTED, no_call),
        )

    def _read(self, text: str, *acts: Json) -> Words:
        return self._reader.read(Message(role="user", content=text, acts=acts))

    def _words(self, texts: Sequence[str]) -> tuple[Wanted, list[int]]:
        """What the words for all parts say, and the days that those for the flights name."""
        words, flight_days = nothing_wanted(), [-1, -1]
        for part, text in enumerate(texts):
            told, rest = self._read(text).wanted, nothing_wanted()
            for field in _FIELDS.get(part, ()):
                setattr(words, field, getattr(told, field))
                setattr(rest, field, getattr(told, field))
            if part == IN_FLIGHTS:
                flight_days = rest.days = told.days
            if told != rest:
                raise ValueError(f"the words {text!r} for {PARTS[part]} say something of another part, too")
        return words, flight_days

    def _call(self, tool: str, arguments: Mapping[str, Json]) -> Call:
        base, call = self._base, no_call()
        call.tool = WRITE_TOOLS.index(tool)
        if "reservation_id" in arguments:
            call.trip = self._reservation_ids.index(arguments["reservation_id"])
        if "origin" in arguments:
            call.origin = base.airport_codes[arguments["origin"]]
            call.destination = base.airport_codes[arguments["destination"]]
            call.round_trip = FLIGHT_TYPES.index(arguments["flight_type"])
            call.insurance = YES_NO.index(arguments["insurance"])
        if "cabin" in arguments:
            call.cabin = CABINS.index(arguments["cabin"])
        legs = arguments.get("flights", ())
        call.flight = padded(
            [_found(base.find_flight(leg["flight_number"])) for leg in legs], MAX_SEGMENTS, -1
        )
        call.day = padded([_found(base.find_date(leg["date"])) for leg in legs], MAX_SEGMENTS, -1)
        people = [self._people.index(Passenger(**each)) for each in arguments.get("passengers", ())]
        call.people = padded(people, MAX_PASSENGERS, -1)
        payments = arguments.get("payment_methods", ())
        call.methods = padded([self._method_ids.index(each["payment_id"]) for each in payments], MAX_PAID, -1)
        call.amounts = padded([each["amount"] * 100 for each in payments], MAX_PAID, 0)
        if "payment_id" in arguments:
            call.method = self._method_ids.index(arguments["payment_id"])
        call.total_bags = arguments.get("total_baggages", -1)
        call.nonfree_bags = arguments.get("nonfree_baggages", -1)
        call.amount = arguments["amount"] * 100 if "amount" in arguments else -1
        return call

    # --- What must be true at the end

    def _due(self, wish: Wish) -> Due:
        possible = attainable(wish)
        steps = [node.wish for node in self._nodes]
        due = Due(
            step=steps.index(possible) if possible is not None and possible.tool else -1,
            forbidden=int(wish.forbidden),
            fact=FACTS.index(wish.fact.type if wish.fact else ""),
            value=_value(wish),
            trips=0,
            searches=0,
            profile=0,
        )
        for record in wish.evidence:
            if record in self._reservation_ids:
                due.trips |= 1 << self._reservation_ids.index(record)
            elif record == self._base.user_id(self._customer):
                due.profile = 1
            elif wish.fact or wish.forbidden:
                due.searches |= 1 << self._evidence.index(self._search(record))
        return due

    def _searches(self) -> list[int]:
        """The searches that are evidence for an answer or a no."""
        wishes = [wish for wish in self._goal.wishes if wish.fact or wish.forbidden]
        records = [record for wish in wishes for record in wish.evidence if record.count(" ") == 2]
        found = list(dict.fromkeys(map(self._search, records)))
        if len(found) > MAX_EVIDENCE:
            raise ValueError(f"there is room for {MAX_EVIDENCE} searches, not for {len(found)}")
        return found

    def _search(self, record: str) -> int:
        """The code of a search, by its arguments in order of their names."""
        date, destination, origin = record.split(" ")
        codes = self._base.airport_codes
        return search_code(DIRECT, codes[origin], codes[destination], _found(self._base.find_date(date)))


def _numbered(texts: Sequence[str]) -> list[int]:
    """For each text the place of the first that is the same."""
    return padded([texts.index(text) for text in texts], MAX_PEOPLE, -1)


def _found(code: int | None) -> int:
    if code is None:
        raise ValueError("a task speaks of a flight or a day that there is not")
    return code


def _value(wish: Wish) -> int:
    """The answer to a question: cents, a status, a count."""
    if wish.fact is None:
        return 0
    return STATUSES.index(wish.fact.value) if wish.fact.type == "status" else abs(int(wish.fact.value))


def _require_alike(calls: Sequence[Call]) -> None:
    """Accepted calls differ in flights and payments only: the words of customers are made for that."""
    for call in calls:
        other = call.copy()
        other.flight, other.day, other.amounts = calls[0].flight, calls[0].day, calls[0].amounts
        if other != calls[0]:
            raise ValueError(f"accepted calls differ in more than their flights: {calls}")
