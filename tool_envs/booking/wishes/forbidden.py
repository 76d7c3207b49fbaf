"""Wishes that the rules forbid."""

from collections.abc import Callable

from tool_envs.booking.rows import BASIC_ECONOMY, MAX_PASSENGERS, Reservation
from tool_envs.booking.wishes.changes import bags_of, cabin_of
from tool_envs.booking.wishes.planned import wish_of
from tool_envs.booking.wishes.refunds import (
    amount_due,
    cancel_wish,
    compensation_wish,
    is_business,
    is_insured,
    is_new,
)
from tool_envs.booking.wishes.traveller import Traveller
from tool_envs.messages import Json
from tool_envs.service.wishes import Planned

_LATER = ("a flight one day later", "a flight two days later", "a flight earlier that day")


def forbidden(traveller: Traveller) -> Planned | None:
    """One of the wishes that are forbidden, each for another reason."""
    makers = (
        _cancel,
        _cancel_or_else,
        _cancel_flown,
        _change_basic,
        _remove_bags,
        _add_passenger,
        _insure,
        _compensate,
    )
    return traveller.draws.pick(makers)(traveller)


def cannot_cancel(traveller: Traveller, trip: Reservation) -> bool:
    """No ground counts for a reservation whose flights are all ahead, except perhaps its insurance."""
    return traveller.is_ahead(trip) and not is_new(trip) and not is_business(trip)


def _cancel(traveller: Traveller) -> Planned | None:
    """Nothing allows it: no insurance, or the reason is not covered."""
    trip = traveller.take_reservation(lambda trip: cannot_cancel(traveller, trip))
    if trip is None:
        return None
    reason = "plans" if is_insured(trip) else traveller.draws.pick(("plans", "health", "weather"))
    return Planned(cancel_wish(traveller, trip, reason, forbidden=True), (traveller.read(trip),))


def _cancel_or_else(traveller: Traveller) -> Planned | None:
    """Nothing allows it; if so, they want a change of it."""
    trip = traveller.take_reservation(lambda trip: cannot_cancel(traveller, trip))
    if trip is None:
        return None
    instead = traveller.draws.pick((cabin_of, bags_of))(traveller, trip)
    if instead is None:
        return None
    wish = cancel_wish(traveller, trip, "plans", forbidden=True, otherwise=instead.wish)
    return Planned(wish, instead.reads, instead.writes)


def _cancel_flown(traveller: Traveller) -> Planned | None:
    """Some of it was flown."""
    trip = traveller.take_reservation(traveller.has_left)
    if trip is None:
        return None
    return Planned(cancel_wish(traveller, trip, "plans", forbidden=True), (traveller.read(trip),))


def _change_basic(traveller: Traveller) -> Planned | None:
    """Flights in basic economy stay as they are."""

    def is_basic(trip: Reservation) -> bool:
        return trip.cabin == BASIC_ECONOMY and traveller.is_ahead(trip)

    wanted = traveller.draws.pick(_LATER)
    number = traveller.take_method(0)
    if number is None:
        return None
    payment = traveller.method_words(number)
    words = {"flights": wanted, "payment_method": payment}
    return _forbid(traveller, "change_flights", is_basic, words, {"wanted": wanted, "payment": payment})


def _remove_bags(traveller: Traveller) -> Planned | None:
    """Bags are only added."""

    def has_bags(trip: Reservation) -> bool:
        return trip.total_bags > 0 and traveller.is_ahead(trip)

    bags = "one checked bag less"
    return _forbid(traveller, "remove_bags", has_bags, {"baggage": bags}, {"bags": bags})


def _add_passenger(traveller: Traveller) -> Planned | None:
    """The number of passengers is fixed."""
    saved = traveller.draws.pick(traveller.base.saved_passengers(traveller.customer))
    who = f"{saved.first_name} {saved.last_name}"

    def has_room(trip: Reservation) -> bool:
        flying = [traveller.base.passenger(code) for code in trip.passenger[: trip.passengers]]
        return trip.passengers < MAX_PASSENGERS and saved not in flying and traveller.is_ahead(trip)

    return _forbid(traveller, "add_passenger", has_room, {"passengers": who}, {"passengers": who})


def _insure(traveller: Traveller) -> Planned | None:
    """Insurance is bought with the booking, or never."""

    def is_uninsured(trip: Reservation) -> bool:
        return not is_insured(trip) and traveller.is_ahead(trip)

    return _forbid(traveller, "insurance", is_uninsured, {"insurance": "travel insurance"}, {})


def _compensate(traveller: Traveller) -> Planned | None:
    """Something happened, and nothing is due to this customer."""

    def is_not_due(trip: Reservation) -> bool:
        happened = traveller.is_called_off(trip) or traveller.is_delayed(trip)
        return happened and amount_due(traveller, trip) == 0

    trip = traveller.take_reservation(is_not_due)
    if trip is None:
        return None
    return Planned(compensation_wish(traveller, trip, forbidden=True), (traveller.read(trip),))


def _forbid(
    traveller: Traveller,
    kind: str,
    fits: Callable[[Reservation], bool],
    words: dict[str, str],
    fields: dict[str, str],
) -> Planned | None:
    trip = traveller.take_reservation(fits)
    if trip is None:
        return None
    about: dict[str, Json] = {"reservation_id": traveller.trip_words(trip), **words}
    wish = wish_of(kind, traveller, {"trip": about["reservation_id"], **fields}, words=about, forbidden=True)
    return Planned(wish, (traveller.read(trip),))
