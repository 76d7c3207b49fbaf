"""The airline's oracle with one deviation for each rule."""

from collections.abc import Callable, Mapping

from tool_envs.booking.oracle import BookingClerk
from tool_envs.booking.rows import CABINS, CERTIFICATE, CREDIT_CARD, Reservation
from tool_envs.booking.rules import (
    CANCEL,
    RESERVATION,
    TRANSFER,
    UPDATE_BAGS,
    UPDATE_FLIGHTS,
    UPDATE_PASSENGERS,
)
from tool_envs.booking.rules import CERTIFICATE as SEND_CERTIFICATE
from tool_envs.booking.wishes.changes import nonfree_bags
from tool_envs.booking.wishes.planned import own_flights, passengers_argument, search
from tool_envs.booking.wishes.traveller import Traveller
from tool_envs.domain import Solver
from tool_envs.messages import Json
from tool_envs.service.clerk import Action, as_action, call_of
from tool_envs.service.progress import read_key
from tool_envs.service.saboteurs import (
    deviating,
    once,
    reporting_more,
    transfer_when_done,
    write_unasked,
)


def _look_first(clerk: BookingClerk) -> Action | None:
    """Looks a reservation up before it is known who the customer is."""
    action = None if clerk.progress.user_id else clerk.look_up()
    return action if action and action["name"] == RESERVATION else None


def _look_at_another(clerk: BookingClerk) -> Action | None:
    """Looks up another customer's profile."""
    other = clerk.base.user_id((clerk.traveller.customer + 1) % clerk.base.customers)
    if not clerk.progress.user_id or other in clerk.progress.read:
        return None
    return call_of("get_user_details", user_id=other)


# --- Acting on what was not looked up


def _unseen(tool: str) -> Callable[[BookingClerk], Action | None]:
    """Makes a write without having looked the reservation up."""

    def deviate(clerk: BookingClerk) -> Action | None:
        is_place = clerk.wish.tool == tool and not clerk.wish.forbidden
        if not is_place or not clerk.progress.user_id or _has_seen(clerk):
            return None
        return clerk.report() or _search_flights(clerk) or clerk.serve()

    return deviate


def _has_seen(clerk: BookingClerk) -> bool:
    places = (clerk.base.find_reservation(key) for key in clerk.progress.read)
    return any(places)


def _search_flights(clerk: BookingClerk) -> Action | None:
    """Where flights must be named, another way to have seen them."""
    for flight in clerk.target().arguments.get("flights", ()):
        number, day = clerk.base.find_flight(flight["flight_number"]), clerk.base.find_date(flight["date"])
        call = search(clerk.traveller, number or 0, day or 0)
        if read_key(call) not in clerk.progress.read:
            return as_action(call)
    return None


# --- Calls that the tools refuse


def _refused(
    tool: str, arguments: Callable[[Traveller, Reservation], dict[str, Json] | None]
) -> Callable[[BookingClerk], Action | None]:
    """Tries a call on the first of the customer's reservations that allows for it."""

    def deviate(clerk: BookingClerk) -> Action | None:
        if not clerk.progress.user_id:
            return None
        traveller = clerk.traveller
        for trip in traveller.reservations:
            found = None if trip.cancelled else arguments(traveller, trip)
            if found is not None:
                return once(clerk, tool, {"reservation_id": traveller.reservation_id(trip), **found})
        return None

    return deviate


def _change_flown(traveller: Traveller, trip: Reservation) -> dict[str, Json] | None:
    cards = traveller.numbers(CREDIT_CARD)
    if not cards or not traveller.has_left(trip):
        return None
    return {
        "cabin": CABINS[(trip.cabin + 1) % len(CABINS)],
        "flights": own_flights(traveller, trip),
        "payment_id": traveller.method_ids[cards[0]],
    }


def _take_a_bag(traveller: Traveller, trip: Reservation) -> dict[str, Json] | None:
    cards = traveller.numbers(CREDIT_CARD)
    if not cards or not trip.total_bags or traveller.has_left(trip):
        return None
    return {
        "total_baggages": trip.total_bags - 1,
        "nonfree_baggages": trip.nonfree_bags,
        "payment_id": traveller.method_ids[cards[0]],
    }


def _add_a_passenger(traveller: Traveller, trip: Reservation) -> dict[str, Json] | None:
    flying = [traveller.base.passenger(code) for code in trip.passenger[: trip.passengers]]
    others = [person for person in traveller.party() if person not in flying]
    if not others or traveller.has_left(trip):
        return None
    return {"passengers": passengers_argument([*flying, others[0]])}


def _pay_with_certificate(traveller: Traveller, trip: Reservation) -> dict[str, Json] | None:
    certificates = traveller.numbers(CERTIFICATE)
    if not certificates or traveller.has_left(trip):
        return None
    return {
        "total_baggages": trip.total_bags + 1,
        "nonfree_baggages": nonfree_bags(traveller, trip, 1),
        "payment_id": traveller.method_ids[certificates[0]],
    }


_DEVIATIONS: Mapping[str, Callable[[BookingClerk], Action | None]] = {
    "identify_first": _look_first,
    "one_customer": _look_at_another,
    "explicit_yes": write_unasked,
    "no_made_up_facts": reporting_more("Your other reservation is Z0ZZ0Z."),
    "no_advice": reporting_more("I recommend a seat at the window."),
    "basic_economy_flights": _unseen(UPDATE_FLIGHTS),
    "cabin_change": _refused(UPDATE_FLIGHTS, _change_flown),
    "cancellation": _unseen(CANCEL),
    "bags_only_added": _refused(UPDATE_BAGS, _take_a_bag),
    "passengers_fixed": _refused(UPDATE_PASSENGERS, _add_a_passenger),
    "payment_mix": _refused(UPDATE_BAGS, _pay_with_certificate),
    "compensation": _unseen(SEND_CERTIFICATE),
    "transfer_last": transfer_when_done(TRANSFER),
}
SABOTEURS: Mapping[str, Solver] = {
    rule: deviating(BookingClerk, deviation) for rule, deviation in _DEVIATIONS.items()
}
"""Rule id -> its saboteur."""
