"""What was shown, as text with ids, for people."""

from collections.abc import Iterator

from tool_envs.booking.airports import AIRPORTS
from tool_envs.booking.dates import clock_text, date_text
from tool_envs.booking.ids import flight_number
from tool_envs.booking.rows import CABINS, CREDIT_CARD, DAY, STATUSES
from tool_envs.booking.scene.memory import Memory
from tool_envs.booking.scene.payments import is_method_named
from tool_envs.booking.scene.sight import (
    OWN,
    QUESTIONS,
    UNKNOWN,
    WISHES,
    WRITE_TOOLS,
    Offer,
)
from tool_envs.booking.scene.ways import fare, is_wanted, room, trip_at_hand


def describe(memory: Memory) -> str:
    """What was shown, one line for each thing; what the words of the wish at hand name is marked with `*`."""
    parts = (_conversation, _people, _methods, _reservations, _offers)
    return "\n".join(line for part in parts for line in part(memory))


def _conversation(memory: Memory) -> Iterator[str]:
    scene = memory.sight.scene
    yield f"customer: {memory.user_id or 'not known'}{', profile shown' if scene.profile else ''}"
    if scene.wish >= 0:
        yield f"wish: {WISHES[scene.wish]}"
    if scene.question >= 0:
        yield f"question: {QUESTIONS[scene.question]}"
    if scene.yes:
        yield f"yes to: {WRITE_TOOLS[memory.sight.proposed.tool]}"
    if scene.unreported >= 0:
        yield f"to be reported: {WRITE_TOOLS[scene.unreported]}"


def _people(memory: Memory) -> Iterator[str]:
    for place, person in enumerate(memory.profile.people):
        mark = "*" if memory.sight.scene.name[place] in memory.sight.wanted.people else ""
        yield f"person {place}{mark}: {person.first_name} {person.last_name}, born {person.dob}"


def _methods(memory: Memory) -> Iterator[str]:
    customer = memory.sight.customer
    for method, method_id in enumerate(memory.profile.method_ids):
        mark = "*" if is_method_named(memory.sight, method) else ""
        is_card = customer.method_kind[method] == CREDIT_CARD
        balance = "" if is_card else f", ${customer.balance[method] // 100}"
        yield f"payment method {method}{mark}: {method_id}{balance}"


def _reservations(memory: Memory) -> Iterator[str]:
    sight = memory.sight
    at_hand = trip_at_hand(sight)
    for place, reservation_id in enumerate(memory.profile.trip_ids):
        mark = "*" if place == at_hand else ""
        if not sight.scene.trip_seen[place]:
            yield f"reservation {place}{mark}: {reservation_id}"
            continue
        trip = sight.trips[place]
        facts = [CABINS[trip.cabin], f"{trip.passengers} passengers", f"{trip.total_bags} bags"]
        facts += ["insured"] * trip.insurance + ["cancelled"] * trip.cancelled
        yield f"reservation {place}{mark}: {reservation_id}, {', '.join(facts)}"
        for own in sight.ways[OWN * place : OWN * (place + 1)]:
            if own.legs:
                status = " and ".join(STATUSES[status] for status in own.status[: own.legs])
                yield f"  {_way_text(own)}, {status}"


def _offers(memory: Memory) -> Iterator[str]:
    sight = memory.sight
    for number in range(sight.scene.offers):
        offer = sight.offers[number]
        mark = "*" if is_wanted(sight, number) else ""
        prices = (
            f"{name} ${fare(offer, cabin) // 100} ({room(offer, cabin)} seats)"
            for cabin, name in enumerate(CABINS)
            if fare(offer, cabin) != UNKNOWN
        )
        yield f"flights {OWN + number}{mark}: {_way_text(offer)}, {', '.join(prices)}"


def _way_text(offer: Offer) -> str:
    numbers = " and ".join(flight_number(flight) for flight in offer.flight[: offer.legs])
    midnight = offer.day[0] * DAY
    times = f"{clock_text(offer.departs - midnight)} to {clock_text(offer.arrives - midnight)}"
    route = f"{AIRPORTS[offer.origin].iata} to {AIRPORTS[offer.destination].iata}"
    return f"{numbers}, {route} on {date_text(offer.day[0])}, {times}"
