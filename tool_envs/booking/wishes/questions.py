"""Wishes to know a figure, most of which must be worked out."""

from tool_envs.booking.rows import CABINS, CERTIFICATE, GIFT_CARD, STATUSES, Reservation
from tool_envs.booking.wishes.changes import bags_price, cabin_difference, cabin_words, has_seats
from tool_envs.booking.wishes.planned import free_bags, search
from tool_envs.booking.wishes.traveller import Traveller, segments
from tool_envs.messages import Json, ToolCall
from tool_envs.service.wishes import Planned
from tool_envs.simulators.goal import Fact, Wish

_MOST_MORE_BAGS = 5


def question(traveller: Traveller) -> Planned | None:
    """A question about reservations, prices or the profile."""
    makers = (_ask_paid, _ask_upgrade, _ask_bags, _ask_credit, _ask_free_bags, _ask_trips, _ask_status)
    return traveller.draws.pick(makers)(traveller)


def _ask(kind: str, value: Json, question: str, words: dict[str, str], *reads: ToolCall) -> Planned:
    fact = Fact(kind, value, question)
    return Planned(Wish(kind="question", opening=question, fact=fact, words=words), reads)


def _ask_trip(
    traveller: Traveller,
    trip: Reservation,
    kind: str,
    value: Json,
    questions: tuple[str, ...],
    *more: ToolCall,
) -> Planned:
    """A question with the field `{trip}`."""
    trip_words = traveller.trip_words(trip)
    asked = traveller.draws.pick(questions).format(trip=trip_words)
    return _ask(kind, value, asked, {"reservation_id": trip_words}, traveller.read(trip), *more)


def _ask_paid(traveller: Traveller) -> Planned | None:
    trip = traveller.take_reservation(lambda trip: trip.payments > 0)
    if trip is None:
        return None
    questions = (
        "How much did I pay for {trip} in total?",
        "What was the total price of {trip}?",
        "Can you tell me what {trip} cost me in all?",
    )
    return _ask_trip(traveller, trip, "amount", sum(trip.payment_amount[: trip.payments]), questions)


def _ask_upgrade(traveller: Traveller) -> Planned | None:
    """What another, dearer cabin would cost today."""
    trip = traveller.take_reservation(traveller.is_ahead)
    if trip is None:
        return None
    dearer = [cabin for cabin in range(trip.cabin + 1, len(CABINS)) if has_seats(traveller, trip, cabin)]
    costly = [cabin for cabin in dearer if cabin_difference(traveller, trip, cabin) > 0]
    if not costly or not traveller.take_departures(segments(trip)):
        return None
    cabin = traveller.draws.pick(costly)
    words = cabin_words(cabin)
    questions = (
        f"What would it cost in total to change {{trip}} to {words}?",
        f"How much more would I pay in all for {words} on {{trip}}?",
    )
    searches = dict.fromkeys(_search_key(search(traveller, *segment)) for segment in segments(trip))
    reads = [ToolCall("search_direct_flight", dict(arguments)) for arguments in searches]
    difference = cabin_difference(traveller, trip, cabin)
    return _ask_trip(traveller, trip, "amount", difference, questions, *reads)


def _search_key(call: ToolCall) -> tuple[tuple[str, Json], ...]:
    return tuple(call.arguments.items())


def _ask_bags(traveller: Traveller) -> Planned | None:
    more = 2 + traveller.draws.below(_MOST_MORE_BAGS - 1)
    trip = traveller.take_reservation(
        lambda trip: traveller.is_ahead(trip) and bags_price(traveller, trip, more) > 0
    )
    if trip is None:
        return None
    questions = (
        f"What would {more} more checked bags cost me in total on {{trip}}?",
        f"How much would I pay in all for {more} more checked bags on {{trip}}?",
    )
    return _ask_trip(traveller, trip, "amount", bags_price(traveller, trip, more), questions)


def _ask_credit(traveller: Traveller) -> Planned | None:
    """What all gift cards, or all certificates, hold together."""
    kind, noun = traveller.draws.pick(((GIFT_CARD, "gift cards"), (CERTIFICATE, "certificates")))
    numbers = traveller.numbers(kind)
    if len(numbers) < 2 or not traveller.touch_balances(numbers):
        return None
    total = sum(traveller.row.balance[number] for number in numbers)
    asked = traveller.draws.pick(
        (f"How much is on my {noun} in total?", f"What are my {noun} worth, all together?")
    )
    return _ask("amount", total, asked, {}, ToolCall("get_user_details", {"user_id": traveller.user_id}))


def _ask_free_bags(traveller: Traveller) -> Planned | None:
    trip = traveller.take_reservation(traveller.is_ahead)
    if trip is None:
        return None
    questions = (
        "How many checked bags may all of us take on {trip} for free?",
        "How many free checked bags are there on {trip}, for everybody together?",
    )
    return _ask_trip(traveller, trip, "count", free_bags(traveller, trip), questions)


def _ask_trips(traveller: Traveller) -> Planned | None:
    """How many reservations are in a cabin; none of them is changed by another wish."""
    if not traveller.take_all_reservations():
        return None
    cabin = traveller.draws.pick(sorted({trip.cabin for trip in traveller.reservations}))
    count = sum(trip.cabin == cabin and not trip.cancelled for trip in traveller.reservations)
    words = cabin_words(cabin)
    asked = traveller.draws.pick(
        (
            f"How many of my reservations are in {words}, without the cancelled ones?",
            f"Not counting cancelled ones, how many reservations do I have in {words}?",
        )
    )
    return _ask("count", count, asked, {}, *map(traveller.read, traveller.reservations))


def _ask_status(traveller: Traveller) -> Planned | None:
    """How a flight stands, of a reservation with one flight."""
    trip = traveller.take_reservation(lambda trip: trip.segments == 1)
    if trip is None:
        return None
    questions = ("What is the status of the flight of {trip}?", "How does the flight of {trip} stand?")
    return _ask_trip(traveller, trip, "status", STATUSES[traveller.statuses(trip)[0]], questions)
