"""What an episode has shown: rows for kernels, and beside them the texts that calls pass on."""

from collections.abc import Sequence

import orjson

from tool_envs.booking.airports import AIRPORT_CODES
from tool_envs.booking.codes import PaymentsName
from tool_envs.booking.dates import find_date
from tool_envs.booking.desk import BOOKING_DESK
from tool_envs.booking.ids import Ids
from tool_envs.booking.rows import Reservation
from tool_envs.booking.scene.blank import (
    nothing_shown,
)
from tool_envs.booking.scene.proposals import read_proposal
from tool_envs.booking.scene.rows import (
    NO_PROFILE,
    Profile,
    name_code,
    read_offer,
    read_profile,
    read_trip,
    read_ways,
)
from tool_envs.booking.scene.search_codes import (
    search_code,
)
from tool_envs.booking.scene.seen import (
    hear,
    keep_offers,
    make_room,
    see_payments,
    see_profile,
    see_proposed,
    see_refused,
    see_search,
    see_sent,
    see_trip,
    see_written,
)
from tool_envs.booking.scene.sight import (
    BACK,
    BOOK,
    MAX_OFFERS,
    MAX_TRIPS,
    OWN,
    THERE,
    WRITE_TOOLS,
)
from tool_envs.booking.scene.ways import is_searched
from tool_envs.booking.scene.words import Reader, trip_code
from tool_envs.messages import CONTENT, RESPOND, Json, Message, ToolCall

_SEARCHES = ("search_direct_flight", "search_onestop_flight")


class Memory:
    """What was shown: a function of the messages that it was given, and of nothing else of an episode.

    Args:
        ids: What reservations are called.

    Attributes:
        sight: The rows.
        profile: The customer's, as known.
        user_id: What the customer told; empty: nothing yet.
        written: The write that was made last, as under the first schema version.
    """

    def __init__(self, ids: Ids) -> None:
        self._ids, self._reader = ids, Reader(ids)
        self.sight = nothing_shown()
        self.profile: Profile = NO_PROFILE
        self.user_id = ""
        self.written: ToolCall | None = None

    def saw(self, action: Json, messages: Sequence[Message]) -> None:
        """As `SceneView.saw`."""
        self.sight.scene.refused = 0
        if action is None:
            self._hear(messages[-1])
            return
        if action["name"] == RESPOND:
            self._say(action["arguments"][CONTENT])
            self._hear(messages[-1])
            return
        call = BOOKING_DESK.renames.first_call(ToolCall(action["name"], action["arguments"]))
        if messages[-1].code is not None:
            see_refused(self.sight, call.name in WRITE_TOOLS)
        else:
            self._see(call, orjson.loads(messages[-1].content))

    # --- What tools show

    def _see(self, call: ToolCall, shown: Json) -> None:
        match call.name:
            case "get_user_details":
                self._see_profile(shown)
            case "get_reservation_details":
                self._see_trip(shown)
            case name if name in _SEARCHES:
                self._see_search(_SEARCHES.index(name), call, shown)
            case name if name in WRITE_TOOLS:
                self._see_written(call, shown)

    def _see_profile(self, shown: Json) -> None:
        name: PaymentsName = "payments" if "payments" in shown else "payment_methods"
        self.profile = profile = read_profile(shown, self.profile, name)
        scene, self.sight.customer = self.sight.scene, profile.customer
        for place, reservation_id in enumerate(profile.trip_ids):
            scene.trip_code[place] = trip_code(self._ids, reservation_id)
        for method, method_id in enumerate(profile.method_ids):
            scene.digits[method] = profile.digits[method]
            scene.number[method] = int(method_id.rsplit("_", 1)[1])
        scene.people = len(profile.people)
        for place, person in enumerate(profile.people):
            scene.name[place] = name_code(person.first_name, person.last_name)
        see_profile(self.sight)

    def _see_trip(self, shown: Json) -> Reservation:
        """Returns its row; there may be no room to keep one that was just booked."""
        trip, reservation_id = read_trip(shown, self.profile), shown["reservation_id"]
        if reservation_id not in self.profile.trip_ids and len(self.profile.trip_ids) < MAX_TRIPS:
            self._add_trip(reservation_id)
        if reservation_id in self.profile.trip_ids:
            place = self.profile.trip_ids.index(reservation_id)
            self.sight.trips[place] = trip
            self.sight.ways[OWN * place + THERE], self.sight.ways[OWN * place + BACK] = read_ways(shown)
            see_trip(self.sight, place)
        return trip

    def _add_trip(self, reservation_id: str) -> None:
        place = len(self.profile.trip_ids)
        self.profile = self.profile._replace(trip_ids=(*self.profile.trip_ids, reservation_id))
        self.sight.scene.trip_code[place] = trip_code(self._ids, reservation_id)

    def _see_search(self, stops: int, call: ToolCall, shown: Json) -> None:
        origin, destination = (AIRPORT_CODES[call.arguments[end]] for end in ("origin", "destination"))
        code = search_code(stops, origin, destination, find_date(call.arguments["date"]) or 0)
        if is_searched(self.sight.scene, code):
            keep_offers(self.sight, False)
        found = shown["connections"] if stops else [[flight] for flight in shown["flights"]]
        first = make_room(self.sight, min(len(found), MAX_OFFERS))
        for number, flights in enumerate(found[:MAX_OFFERS]):
            self.sight.offers[first + number] = read_offer(flights)
        see_search(self.sight, code, min(len(found), MAX_OFFERS))

    def _see_written(self, call: ToolCall, shown: Json) -> None:
        self.written = call
        tool = WRITE_TOOLS.index(call.name)
        see_written(self.sight, tool)
        if "reservation_id" not in shown:
            see_sent(self.sight, int(call.arguments["amount"]))
            self._see_profile(shown)
            return
        if tool == BOOK:
            self.sight.customer.reservations += 1
        before = 0 if tool == BOOK else self._payments(shown["reservation_id"])
        see_payments(self.sight, self._see_trip(shown), before)

    def _payments(self, reservation_id: str) -> int:
        """How many payments for a reservation were shown; -1: it was not shown."""
        place = self.profile.trip_ids.index(reservation_id)
        return self.sight.trips[place].payments if self.sight.scene.trip_seen[place] else -1

    # --- What is said

    def _hear(self, turn: Message) -> None:
        words = self._reader.read(turn)
        self.user_id = words.user_id or self.user_id
        hear(self.sight, words.said, words.wanted)

    def _say(self, text: str) -> None:
        """The agent's own words: a proposal names all that it is about, and that is remembered."""
        draft = read_proposal(text, self.sight, self.profile)
        if draft is not None:
            see_proposed(self.sight, draft)
