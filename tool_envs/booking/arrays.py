"""The airline's array view: choices to calls and sentences, what comes of them to rows and tables."""

from collections.abc import Callable, Sequence

import numpy as np

from tool_envs.array_view import Layout, Level, Mask, Slot, Table, Told, Verb, call_arguments
from tool_envs.booking.airports import AIRPORTS
from tool_envs.booking.data import BookingBase
from tool_envs.booking.dates import DATES
from tool_envs.booking.desk import BOOKING_DESK
from tool_envs.booking.ids import Ids, flight_number
from tool_envs.booking.scene.blank import (
    open_draft,
)
from tool_envs.booking.scene.choices import ROLES, choose, mask_choices, mask_reachable, mask_verbs
from tool_envs.booking.scene.masks import ASK, CALL, OTHERS, PROPOSE, READ_PROFILE
from tool_envs.booking.scene.memory import Memory
from tool_envs.booking.scene.payments import booking_price, new_nonfree_bags, payment
from tool_envs.booking.scene.reasons import happened, nonfree_bags
from tool_envs.booking.scene.sight import (
    BOOK,
    NONE,
    SLOTS,
    WRITE_TOOLS,
    Draft,
)
from tool_envs.booking.scene.speech import Speaker
from tool_envs.booking.scene.tables import (
    FIELDS,
    SHAPES,
    fill_airports,
    fill_days,
    fill_flights,
    fill_legs,
    fill_methods,
    fill_party,
    fill_people,
    fill_reservations,
    fill_turn,
    fill_wish,
    mark_proposed,
)
from tool_envs.booking.scene.text import describe
from tool_envs.booking.scene.ways import fare, way
from tool_envs.booking.scene.writes import possible_writes
from tool_envs.episode import Episode
from tool_envs.messages import CONTENT, RESPOND, Json, Message, ToolCall
from tool_envs.schema import load_arrays

_DOCUMENT = 1  # number of the arrays document


class BookingArrays:
    """The array view of an airline, under any schema version.

    Flights are chosen as ways: one choice is a direct flight or a pair with one stop, found by a search, or
    the way there or back of a reservation as it is. People are chosen from the profile. What a payment method
    pays follows from the price: each pays what it holds, and the last one the rest. The sum of a certificate
    is chosen as the reservation that it is due for. Bags are what the customer told, and those to be paid for
    follow from it.

    All tasks of an airline of the usual size can be solved. What a search finds beyond the first 20
    itineraries cannot be chosen: that leaves out some connections of airlines with many more flights.

    Args:
        base: The airline.
    """

    shapes = SHAPES
    fields = FIELDS

    def __init__(self, base: BookingBase) -> None:
        self._ids = Ids(base.seed)

    @property
    def document(self) -> Json:
        """As of `ArrayView`."""
        return load_arrays("booking", _DOCUMENT)

    def scene(self, episode: Episode, layout: Layout) -> "BookingScene":  # noqa: ARG002 - the same for all
        """As of `ArrayView`."""
        return BookingScene(Memory(self._ids), layout)


class BookingScene:
    """The scene of one episode.

    Args:
        memory: What was shown so far.
        layout: The verbs.
    """

    def __init__(self, memory: Memory, layout: Layout) -> None:
        self.memory, self._layout = memory, layout
        self._verbs = [verb_code(verb) for verb in layout.verbs]
        self._tools = [verb_tool(verb) for verb in layout.verbs]

    def saw(self, action: Json, messages: Sequence[Message]) -> None:
        """As of `SceneView`."""
        self.memory.saw(action, messages)

    # --- Masks

    def allowed(self, level: Level, verb: int, chosen: tuple[int, ...]) -> Mask:
        """As of `SceneView`."""
        if verb < 0:
            out = [0] * len(self._verbs)
            sight, policy, draft = self.memory.sight, level == "policy", open_draft()
            possible = possible_writes(sight, policy, draft)
            mask_verbs(sight, policy, self._verbs, draft, possible, out)
            return np.array(out, np.bool_)
        slot = self._layout.verbs[verb].slots[len(chosen)]
        return self._mask(mask_choices, level, verb, self._draft(verb, chosen), slot)

    def possible(self, level: Level, verb: int) -> tuple[Mask, ...]:
        """As of `SceneView`."""
        draft, slots = open_draft(self._tools[verb]), self._layout.verbs[verb].slots
        return tuple(self._mask(mask_reachable, level, verb, draft, slot) for slot in slots)

    def _mask(self, fill: Callable[..., None], level: Level, verb: int, draft: Draft, slot: Slot) -> Mask:
        out = [0] * slot.choices
        role, place = slot_role(slot)
        code = self._verbs[verb]
        fill(self.memory.sight, level == "policy", code, draft, role, place, slot.width, out)
        return np.array(out, np.bool_)

    def _draft(self, verb: int, chosen: tuple[int, ...]) -> Draft:
        draft = open_draft(self._tools[verb])
        for slot, choice in zip(self._layout.verbs[verb].slots, chosen, strict=False):
            choose(draft, *slot_role(slot), NONE if slot.ends(choice) else choice)
        return draft

    # --- What choices stand for

    def value(self, verb: int, chosen: tuple[int, ...]) -> Json:
        """As of `SceneView`; of a way all its flights, and of a payment the method alone."""
        slot, choice = self._layout.verbs[verb].slots[len(chosen) - 1], chosen[-1]
        if ROLES[slot_role(slot)[0]] == "payment_methods":
            return self.memory.profile.method_ids[choice]
        return slot.values[choice] if slot.values else self._value(self._draft(verb, chosen), slot, choice)

    def _value(self, draft: Draft, slot: Slot, choice: int) -> Json:
        """What a choice of a slot stands for in a draft."""
        role, place = slot_role(slot)
        profile = self.memory.profile
        match ROLES[role]:
            case "reservation_id":
                return profile.trip_ids[choice]
            case "origin" | "destination":
                return AIRPORTS[choice].iata
            case "date":
                return DATES[choice]
            case "flights":
                return self._flights(draft, choice)
            case "passengers":
                return profile.people[choice]._asdict()
            case "payment_methods":
                amount = payment(self.memory.sight, draft, self._price(draft), place)
                return {"payment_id": profile.method_ids[choice], "amount": amount // 100}
            case "payment_id":
                return profile.method_ids[choice]
            case "amount":
                return happened(self.memory.sight, choice)
            case _:
                trip = self.memory.sight.trips[self.memory.sight.scene.shown_last]
                return flight_number(trip.flight[choice])

    def _flights(self, draft: Draft, row: int) -> list[dict[str, Json]]:
        """The flights of a way."""
        offer = way(self.memory.sight, draft.trip, row)
        legs = zip(offer.flight[: offer.legs], offer.day[: offer.legs], strict=True)
        return [{"flight_number": flight_number(flight), "date": DATES[day]} for flight, day in legs]

    def _price(self, draft: Draft) -> int:
        """What a booking of which all is chosen costs, in cents."""
        sight = self.memory.sight
        ways = [way(sight, draft.trip, row) for row in draft.flights if row >= 0]
        fares = sum(fare(each, draft.cabin) for each in ways)
        return booking_price(sight, fares, draft.cabin, _size(draft), 1 - draft.insurance)

    def action(self, verb: int, chosen: tuple[int, ...]) -> Json:
        """As of `SceneView`."""
        form = self._layout.verbs[verb]
        if form.kind == "call":
            return {"name": form.tool, "arguments": self._arguments(verb, chosen)}
        return {"name": RESPOND, "arguments": {CONTENT: self._text(verb, chosen)}}

    def _text(self, verb: int, chosen: tuple[int, ...]) -> str:
        form, speaker = self._layout.verbs[verb], Speaker(self.memory)
        if form.kind == "ask":
            return speaker.ask(form.asked)
        if form.kind == "propose":
            call = ToolCall(form.tool, self._arguments(verb, chosen))
            return speaker.propose(BOOKING_DESK.renames.first_call(call))
        return speaker.say(form.name, self._draft(verb, chosen))

    def _arguments(self, verb: int, chosen: tuple[int, ...]) -> dict[str, Json]:
        form, draft = self._layout.verbs[verb], self._draft(verb, chosen)
        arguments = call_arguments(
            form,
            chosen,
            lambda slot, choice: self._value(draft, slot, choice),
            lambda told: self._told(told, draft),
        )
        if "flights" in arguments:
            arguments["flights"] = [flight for each in arguments["flights"] for flight in each]
        return arguments

    def _told(self, told: Told, draft: Draft) -> Json:
        """What fills a parameter that is not chosen."""
        sight = self.memory.sight
        if told.name == "user_id":
            return self.memory.user_id
        if told.name == "total_baggages":
            return sight.wanted.bags
        if draft.tool == BOOK:
            return new_nonfree_bags(sight, draft.cabin, _size(draft))
        return nonfree_bags(sight, draft.trip, sight.wanted.bags)

    # --- What is shown

    def tables(self) -> dict[str, Table]:
        """As of `SceneView`."""
        sight = self.memory.sight
        tables: dict[str, Table] = {name: np.zeros(*form) for name, form in SHAPES.items()}
        fill_turn(sight, tables["conversation"])
        fill_wish(sight, tables["conversation"])
        fill_reservations(sight, tables["reservations"])
        fill_flights(sight, tables["flights"], tables["times"])
        fill_legs(sight, tables["legs"])
        fill_methods(sight, tables["methods"], tables["balances"])
        fill_people(sight, tables["people"])
        fill_airports(sight, tables["airports"])
        fill_days(sight, tables["days"])
        fill_party(sight, tables["party"])
        with_proposed = ("reservations", "flights", "methods", "people")
        mark_proposed(sight, *(tables[name] for name in with_proposed))
        return tables

    def describe(self) -> str:
        """As of `SceneView`."""
        return describe(self.memory)


def verb_code(verb: Verb) -> int:
    """What kernels know a verb by."""
    if verb.tool in WRITE_TOOLS:
        return (CALL if verb.kind == "call" else PROPOSE) + WRITE_TOOLS.index(verb.tool)
    return ASK + SLOTS.index(verb.asked) if verb.asked else READ_PROFILE + OTHERS.index(verb.name)


def verb_tool(verb: Verb) -> int:
    """The write that a verb calls or proposes, or -1."""
    return WRITE_TOOLS.index(verb.tool) if verb.tool in WRITE_TOOLS else -1


def slot_role(slot: Slot) -> tuple[int, int]:
    """What kernels know a slot by: role and place."""
    return ROLES.index(slot.name.split("[")[0]), max(slot.place, 0)


def _size(draft: Draft) -> int:
    """How many people are chosen."""
    return sum(person >= 0 for person in draft.people)
