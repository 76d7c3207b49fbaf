"""Wishes for another cabin, more bags, or other passengers."""

from tool_envs.booking.rows import BAG_PRICE, CABINS, MAX_BAGS, Passenger, Reservation
from tool_envs.booking.wishes.planned import free_bags, own_flights, passengers_argument, wish_of
from tool_envs.booking.wishes.traveller import Traveller, segments
from tool_envs.messages import Json, ToolCall
from tool_envs.service.wishes import Planned

_MOST_MORE_BAGS = 3


def cabin_words(cabin: int) -> str:
    """How customers speak of a cabin."""
    return CABINS[cabin].replace("_", " ")


def change_cabin(traveller: Traveller) -> Planned | None:
    """Another cabin for all flights of a reservation."""
    trip = traveller.take_reservation(traveller.is_ahead)
    return None if trip is None else cabin_of(traveller, trip)


def cabin_of(traveller: Traveller, trip: Reservation) -> Planned | None:
    """Another cabin for this reservation; None when it has no seats elsewhere, or cannot be paid."""
    cabins = [
        cabin for cabin in range(len(CABINS)) if cabin != trip.cabin and has_seats(traveller, trip, cabin)
    ]
    if not cabins or not traveller.take_departures(segments(trip)):
        return None
    cabin = traveller.draws.pick(cabins)
    number = traveller.take_method(cabin_difference(traveller, trip, cabin))
    if number is None:
        return None
    words = {
        "reservation_id": traveller.trip_words(trip),
        "cabin": cabin_words(cabin),
        "payment_method": traveller.method_words(number),
    }
    arguments: dict[str, Json] = {
        "reservation_id": traveller.reservation_id(trip),
        "cabin": CABINS[cabin],
        "flights": own_flights(traveller, trip),
        "payment_id": traveller.method_ids[number],
    }
    fields = {"trip": words["reservation_id"], "cabin": words["cabin"], "payment": words["payment_method"]}
    wish = wish_of(
        "change_cabin",
        traveller,
        fields,
        tool="update_reservation_flights",
        accepted=(arguments,),
        words=words,
    )
    return Planned(wish, (traveller.read(trip),), (ToolCall(wish.tool, arguments),))


def has_seats(traveller: Traveller, trip: Reservation, cabin: int) -> bool:
    """Every flight of a reservation can be booked for its passengers in a cabin."""
    departures = [traveller.base.departure(*segment) for segment in segments(trip)]
    return all(departure.seats[cabin] >= trip.passengers for departure in departures)


def cabin_difference(traveller: Traveller, trip: Reservation, cabin: int) -> int:
    """What another cabin costs today beyond what was paid for the flights, for all passengers, in cents."""
    today = sum(traveller.base.departure(*segment).price[cabin] for segment in segments(trip))
    return (today - sum(trip.price[: trip.segments])) * trip.passengers


def add_bags(traveller: Traveller) -> Planned | None:
    """More checked bags for a reservation."""
    trip = traveller.take_reservation(traveller.is_ahead)
    return None if trip is None else bags_of(traveller, trip)


def bags_of(traveller: Traveller, trip: Reservation) -> Planned | None:
    """More checked bags for this reservation; None when there is no room, or they cannot be paid."""
    more = 1 + traveller.draws.below(_MOST_MORE_BAGS)
    total = trip.total_bags + more
    if total > MAX_BAGS:
        return None
    number = traveller.take_method(bags_price(traveller, trip, more))
    if number is None:
        return None
    bags = f"{more} more checked bag{'s' if more > 1 else ''}, {total} in all"
    words = {
        "reservation_id": traveller.trip_words(trip),
        "baggage": bags,
        "payment_method": traveller.method_words(number),
    }
    arguments: dict[str, Json] = {
        "reservation_id": traveller.reservation_id(trip),
        "total_baggages": total,
        "nonfree_baggages": nonfree_bags(traveller, trip, more),
        "payment_id": traveller.method_ids[number],
    }
    fields = {"trip": words["reservation_id"], "bags": bags, "payment": words["payment_method"]}
    wish = wish_of(
        "add_bags",
        traveller,
        fields,
        tool="update_reservation_baggages",
        accepted=(arguments,),
        words=words,
    )
    return Planned(wish, (traveller.read(trip),), (ToolCall(wish.tool, arguments),))


def nonfree_bags(traveller: Traveller, trip: Reservation, more: int) -> int:
    """How many bags of a reservation must have been paid for when so many are added."""
    return max(trip.nonfree_bags, trip.total_bags + more - free_bags(traveller, trip))


def bags_price(traveller: Traveller, trip: Reservation, more: int) -> int:
    """What more bags cost, in cents."""
    return BAG_PRICE * (nonfree_bags(traveller, trip, more) - trip.nonfree_bags)


def change_passengers(traveller: Traveller) -> Planned | None:
    """Somebody else flies instead of a passenger."""
    trip = traveller.take_reservation(traveller.is_ahead)
    if trip is None:
        return None
    passengers = [traveller.base.passenger(code) for code in trip.passenger[: trip.passengers]]
    others = [each for each in traveller.party() if each not in passengers]
    if not others:
        return None
    place = traveller.draws.below(len(passengers))
    return _replace(traveller, trip, passengers, place, traveller.draws.pick(others))


def _replace(
    traveller: Traveller, trip: Reservation, passengers: list[Passenger], place: int, new: Passenger
) -> Planned:
    old = passengers[place]
    who = f"{new.first_name} {new.last_name}, born {new.dob}, instead of {old.first_name} {old.last_name}"
    words = {"reservation_id": traveller.trip_words(trip), "passengers": who}
    after = [*passengers[:place], new, *passengers[place + 1 :]]
    arguments: dict[str, Json] = {
        "reservation_id": traveller.reservation_id(trip),
        "passengers": passengers_argument(after),
    }
    wish = wish_of(
        "change_passengers",
        traveller,
        {"trip": words["reservation_id"], "passengers": who},
        tool="update_reservation_passengers",
        accepted=(arguments,),
        words=words,
    )
    return Planned(wish, (traveller.read(trip),), (ToolCall(wish.tool, arguments),))
