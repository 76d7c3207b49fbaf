"""What an agent was shown of a customer and their reservations, as the rules remember it."""

from collections.abc import Mapping
from typing import NamedTuple

import orjson

from tool_envs.booking.rows import (
    BASIC_ECONOMY,
    BUSINESS,
    CABINS,
    CALLED_OFF,
    DELAYED,
    MEMBERSHIPS,
    REGULAR,
    STATUSES,
)
from tool_envs.messages import Json
from tool_envs.rules import Event, succeeded

PROFILE = "get_user_details"
_FLIGHT_CANCELLED, _FLIGHT_DELAYED = STATUSES[CALLED_OFF], STATUSES[DELAYED]


class Trip(NamedTuple):
    """A reservation as it was shown last.

    Attributes:
        user: Whose it is.
        cabin: Name of the cabin.
        created: When it was made, as text.
        insured: It has travel insurance.
        passengers: How many fly.
        flights: Number and date of each flight.
        statuses: Status of each flight.
    """

    user: str
    cabin: str
    created: str
    insured: bool
    passengers: int
    flights: tuple[tuple[str, str], ...]
    statuses: tuple[str, ...]

    @property
    def is_basic(self) -> bool:
        """It is in basic economy."""
        return self.cabin == CABINS[BASIC_ECONOMY]

    @property
    def is_business(self) -> bool:
        """It is in business."""
        return self.cabin == CABINS[BUSINESS]

    @property
    def is_called_off(self) -> bool:
        """The airline cancelled one of its flights."""
        return _FLIGHT_CANCELLED in self.statuses

    @property
    def is_delayed(self) -> bool:
        """One of its flights is delayed."""
        return _FLIGHT_DELAYED in self.statuses


class Seen(NamedTuple):
    """The membership of the customer who was looked up first (empty: nobody), and reservations by id."""

    membership: str = ""
    trips: tuple[tuple[str, Trip], ...] = ()

    def trip(self, reservation_id: str) -> Trip | None:
        """A reservation; None when it was not shown."""
        return dict(self.trips).get(reservation_id)

    @property
    def is_regular(self) -> bool:
        """The customer is a member without privileges, or was not looked up."""
        return self.membership in ("", MEMBERSHIPS[REGULAR])


def look(seen: Seen, event: Event) -> Seen:
    """What was shown after an event: profiles and reservations are results of reads and of writes."""
    if not succeeded(event):
        return seen
    result = orjson.loads(event.result)
    if event.call.name == PROFILE:
        return seen._replace(membership=seen.membership or result["membership"])
    if "reservation_id" not in result:
        return seen
    trips = dict(seen.trips) | {result["reservation_id"]: _trip(result)}
    return seen._replace(trips=tuple(trips.items()))


def flights_of(flights: Json) -> tuple[tuple[str, str], ...]:
    """Number and date of each flight of an argument or a reservation; none of what is no list of flights."""
    if not isinstance(flights, list) or not all(isinstance(flight, dict) for flight in flights):
        return ()
    return tuple((flight.get("flight_number"), flight.get("date")) for flight in flights)


def _trip(reservation: Mapping[str, Json]) -> Trip:
    return Trip(
        user=reservation["user_id"],
        cabin=reservation["cabin"],
        created=reservation["created_at"],
        insured=reservation["insurance"] == "yes",
        passengers=len(reservation["passengers"]),
        flights=flights_of(reservation["flights"]),
        statuses=tuple(flight["status"] for flight in reservation["flights"]),
    )
