"""What may be spoken of with a customer."""

import itertools
from collections.abc import Iterator, Sequence

from tool_envs.booking.dates import DATES
from tool_envs.booking.rows import MAX_BAGS, Passenger
from tool_envs.booking.wishes.traveller import Traveller
from tool_envs.messages import Json
from tool_envs.service.progress import alternatives
from tool_envs.simulators.dates import date_forms
from tool_envs.simulators.goal import Value, Wish


def lexicon(traveller: Traveller, wishes: Sequence[Wish]) -> dict[str, tuple[Value, ...]]:
    """All values that may come up with a customer, so that they notice a wrong one."""
    found: dict[str, dict[Json, Value]] = {}
    people = traveller.base.saved_passengers(traveller.customer)
    if _always_flies(
        traveller, wishes
    ):  # else an agent who greets them by their name names a wrong passenger
        people = (traveller.themselves, *people)
    named = _own_values(traveller, people)
    for slot, value in (*named, *_wished_airports(traveller, wishes)):
        found.setdefault(slot, {}).setdefault(value.value, value)
    return {slot: tuple(values.values()) for slot, values in found.items()}


def _always_flies(traveller: Traveller, wishes: Sequence[Wish]) -> bool:
    """The customer is one of the passengers whenever some are named."""
    themselves = traveller.themselves._asdict()
    accepted = (arguments for wish in _all(wishes) for arguments in wish.accepted)
    return all(themselves in arguments["passengers"] for arguments in accepted if "passengers" in arguments)


def _all(wishes: Sequence[Wish]) -> Iterator[Wish]:
    """The wishes with what is wanted instead of them."""
    return itertools.chain.from_iterable(map(alternatives, wishes))


def _own_values(traveller: Traveller, people: Sequence[Passenger]) -> Iterator[tuple[str, Value]]:
    for trip in traveller.reservations:
        yield "reservation_id", Value(traveller.reservation_id(trip))
    for number, method in enumerate(traveller.method_ids):
        yield "payment_id", Value(method, traveller.method_forms(number))
    for person in people:
        yield "first_name", Value(person.first_name, (person.first_name.lower(),))
    for person in (traveller.themselves, *people):
        yield "dob", Value(person.dob, date_forms(person.dob, year_needed=True))
    for date in DATES:
        yield "date", Value(date, date_forms(date))
    for bags in range(MAX_BAGS + 1):
        yield "total_baggages", Value(bags, _bags_in_all(bags))


def _bags_in_all(bags: int) -> tuple[str, ...]:
    """What says how many bags there are in all, and not how many are added or free."""
    noun = "checked bag" if bags == 1 else "checked bags"
    return (
        f"{bags} {noun} in all",
        f"{bags} {noun} in total",
        f"{bags} in all",
        f"{bags} in total",
        f"total of {bags} {noun}",
    )


def _wished_airports(traveller: Traveller, wishes: Sequence[Wish]) -> Iterator[tuple[str, Value]]:
    """Where they want to go from and to: an airport on the way is none of their business."""
    airports, codes = traveller.base.airports, traveller.base.airport_codes
    for wish in _all(wishes):
        for slot in ("origin", "destination"):
            for arguments in wish.accepted:
                if slot in arguments:
                    airport = airports[codes[arguments[slot]]]
                    yield slot, Value(airport.iata, (airport.iata.lower(), airport.city.lower()))
