"""What customers of the airline can want: a maker for each kind of wish, and what is right for it."""

from collections.abc import Callable, Mapping

from tool_envs.booking.wishes.bookings import book_one_stop, book_one_way, book_round_trip
from tool_envs.booking.wishes.changes import add_bags, change_cabin, change_passengers
from tool_envs.booking.wishes.flight_changes import change_flights
from tool_envs.booking.wishes.forbidden import forbidden
from tool_envs.booking.wishes.lexicon import lexicon
from tool_envs.booking.wishes.questions import question
from tool_envs.booking.wishes.refunds import cancel, compensation
from tool_envs.booking.wishes.traveller import Traveller
from tool_envs.service.wishes import Planned

FAMILIES: Mapping[str, Callable[[Traveller], Planned | None]] = {
    "book_one_way": book_one_way,
    "book_round_trip": book_round_trip,
    "book_one_stop": book_one_stop,
    "change_flights": change_flights,
    "change_cabin": change_cabin,
    "add_bags": add_bags,
    "change_passengers": change_passengers,
    "cancel": cancel,
    "compensation": compensation,
    "question": question,
    "forbidden": forbidden,
}
"""Makers of wishes by family; None when this customer can have none."""

__all__ = ["FAMILIES", "Traveller", "lexicon"]
