"""What may be spoken of with a customer."""

from collections.abc import Iterator, Sequence

from tool_envs.booking.dates import DATES
from tool_envs.booking.rows import MAX_BAGS
from tool_envs.booking.wishes.traveller import Traveller
from tool_envs.messages import Json
from tool_envs.service.progress import alternatives
from tool_envs.simulators.dates import date_forms
from tool_envs.simulators.goal import Value, Wish


def lexicon(traveller: Traveller, wishes: Sequence[Wish]) -> dict[str, tuple[Value, ...]]:
    """All values that may come up with a customer, so that they notice a wrong one."""
    found: dict[str, dict[Json, Value]] = {}
    for slot, value in (*_own_values(traveller), *_wished_airports(traveller, wishes)):
        found.setdefault(slot, {}).setdefault(value.value, value)
    return {slot: tuple(values.values()) for slot, values in found.items()}


def _own_values(traveller: Traveller) -> Iterator[tuple[str, Value]]:
    for trip in traveller.reservations:
        yield "reservation_id", Value(traveller.reservation_id(trip))
    for number, method in enumerate(traveller.method_ids):
        yield "payment_id", Value(method, traveller.method_forms(number))
    others = traveller.base.saved_passengers(traveller.customer)
    for person in others:  # not the customer's own name: an agent may greet them by it
        yield "first_name", Value(person.first_name, (person.first_name.lower(),))
    for person in (traveller.themselves, *others):
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
    for wish in (each for one in wishes for each in alternatives(one)):
        for slot in ("origin", "destination"):
            for arguments in wish.accepted:
                if slot in arguments:
                    airport = airports[codes[arguments[slot]]]
                    yield slot, Value(airport.iata, (airport.iata.lower(), airport.city.lower()))
