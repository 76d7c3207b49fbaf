"""Wishes to cancel a reservation, or to be compensated; allowed ones."""

from collections.abc import Callable

from tool_envs.booking.dates import NOW
from tool_envs.booking.rows import BUSINESS, DAY, REGULAR, Reservation
from tool_envs.booking.rules import COVERED_REASONS, FOR_CANCELLED, FOR_DELAYED, HOURS
from tool_envs.booking.wishes.planned import wish_of
from tool_envs.booking.wishes.traveller import Traveller, segments
from tool_envs.messages import Json, ToolCall
from tool_envs.service.wishes import Planned
from tool_envs.simulators.goal import Wish

REASONS: dict[str, tuple[str, ...]] = {
    "health": ("I am ill and cannot fly", "my doctor told me not to fly", "I broke my leg"),
    "weather": ("a storm is coming up there", "a hurricane is expected there that day"),
    "airline": ("you cancelled one of the flights", "one of its flights was cancelled by you"),
    "plans": ("my plans have changed", "I have to work that week", "I do not need to go any more"),
}
"""Reasons for a cancellation -> how customers say them."""


def cancel(traveller: Traveller) -> Planned | None:
    """Cancel a reservation that can be cancelled, for one of the grounds that count."""
    grounds: tuple[tuple[Callable[[Reservation], bool], str], ...] = (
        (is_new, "plans"),
        (traveller.is_called_off, "airline"),
        (is_business, "plans"),
        (is_insured, traveller.draws.pick(COVERED_REASONS)),
    )
    counts, reason = traveller.draws.pick(grounds)
    trip = traveller.take_reservation(lambda trip: counts(trip) and not traveller.has_left(trip))
    if trip is None or not traveller.touch_balances(set(trip.payment_method[: trip.payments])):
        return None
    traveller.take_departures(segments(trip))
    wish = cancel_wish(traveller, trip, reason)
    return Planned(wish, (traveller.read(trip),), (ToolCall(wish.tool, wish.accepted[0]),))


def cancel_wish(traveller: Traveller, trip: Reservation, reason: str, **rest: Json) -> Wish:
    """A wish to cancel a reservation for a reason."""
    words = {
        "reservation_id": traveller.trip_words(trip),
        "reason": traveller.draws.pick(REASONS[reason]),
    }
    return wish_of(
        "cancel",
        traveller,
        {"trip": words["reservation_id"], "reason": words["reason"]},
        tool="cancel_reservation",
        accepted=({"reservation_id": traveller.reservation_id(trip)},),
        words=words,
        means={"reason": reason},
        **rest,
    )


def is_new(trip: Reservation) -> bool:
    """It was made lately enough to be cancelled for any reason."""
    return trip.created >= NOW - HOURS * DAY // 24


def is_business(trip: Reservation) -> bool:
    """It is in business."""
    return trip.cabin == BUSINESS


def is_insured(trip: Reservation) -> bool:
    """It has travel insurance."""
    return trip.insurance == 1


def compensation(traveller: Traveller) -> Planned | None:
    """A certificate for a cancelled or delayed flight, where it is due."""
    trip = traveller.take_reservation(lambda trip: amount_due(traveller, trip) > 0)
    if trip is None or not traveller.take_balances():
        return None
    amount = amount_due(traveller, trip)
    wish = compensation_wish(
        traveller,
        trip,
        tool="send_certificate",
        accepted=({"user_id": traveller.user_id, "amount": amount},),
    )
    return Planned(wish, (traveller.read(trip),), (ToolCall(wish.tool, wish.accepted[0]),))


def compensation_wish(traveller: Traveller, trip: Reservation, **rest: Json) -> Wish:
    """A wish to be compensated for what happened to a reservation."""
    what = "a flight was cancelled" if traveller.is_called_off(trip) else "a flight is delayed"
    words = {"reservation_id": traveller.trip_words(trip)}
    return wish_of(
        "compensation",
        traveller,
        {"trip": words["reservation_id"], "what": what},
        words=words,
        means={"reservation_id": traveller.reservation_id(trip)},
        **rest,
    )


def amount_due(traveller: Traveller, trip: Reservation) -> int:
    """The compensation that the rules give a customer for a reservation, in dollars."""
    entitled = traveller.row.membership != REGULAR or is_insured(trip) or is_business(trip)
    each = (
        FOR_CANCELLED if traveller.is_called_off(trip) else FOR_DELAYED if traveller.is_delayed(trip) else 0
    )
    return each * trip.passengers * entitled
