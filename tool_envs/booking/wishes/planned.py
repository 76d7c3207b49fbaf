"""What the makers of wishes share: openings, searches, and the arguments that several writes have."""

from collections.abc import Mapping, Sequence

from tool_envs.booking.rows import FREE_BAGS, Passenger, Reservation
from tool_envs.booking.wishes.traveller import Traveller, segments
from tool_envs.messages import Json, ToolCall
from tool_envs.service.wishes import make_wish
from tool_envs.simulators.booking_openings import OPENINGS
from tool_envs.simulators.goal import Wish


def wish_of(kind: str, traveller: Traveller, fields: Mapping[str, str], **rest: Json) -> Wish:
    """A wish with one of the openings of its kind."""
    return make_wish(kind, traveller.draws, OPENINGS[kind], fields, **rest)


def search(traveller: Traveller, flight: int, day: int) -> ToolCall:
    """The search that shows a flight on a day."""
    flights, airports = traveller.base.flights, traveller.base.airports
    return ToolCall(
        "search_direct_flight",
        {
            "origin": airports[flights.origin[flight]].iata,
            "destination": airports[flights.destination[flight]].iata,
            "date": traveller.base.date(day),
        },
    )


def flights_argument(traveller: Traveller, legs: Sequence[tuple[int, int]]) -> list[dict[str, Json]]:
    """Flights and days as the tools take them."""
    base = traveller.base
    return [{"flight_number": base.flight_number(flight), "date": base.date(day)} for flight, day in legs]


def own_flights(traveller: Traveller, trip: Reservation) -> list[dict[str, Json]]:
    """The flights of a reservation as the tools take them."""
    return flights_argument(traveller, segments(trip))


def passengers_argument(passengers: Sequence[Passenger]) -> list[dict[str, Json]]:
    """People as the tools take them."""
    return [each._asdict() for each in passengers]


def free_bags(traveller: Traveller, trip: Reservation) -> int:
    """How many free checked bags all passengers of a reservation have."""
    return FREE_BAGS[traveller.row.membership][trip.cabin] * trip.passengers
