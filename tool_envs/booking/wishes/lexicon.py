"""What may be spoken of with a customer."""

import itertools
from collections.abc import Iterator, Sequence

from tool_envs.booking.dates import DATES
from tool_envs.booking.wishes.traveller import Traveller
from tool_envs.service.progress import alternatives
from tool_envs.simulators.booking_values import airport_values, passenger_values
from tool_envs.simulators.dates import date_forms
from tool_envs.simulators.goal import Value, Wish


def lexicon(traveller: Traveller, wishes: Sequence[Wish]) -> dict[str, tuple[Value, ...]]:
    """All values that may come up with a customer, so that they notice a wrong one."""
    methods = enumerate(traveller.method_ids)
    return {
        "reservation_id": tuple(Value(traveller.reservation_id(trip)) for trip in traveller.reservations),
        "payment_id": tuple(Value(method, traveller.method_forms(number)) for number, method in methods),
        "date": tuple(Value(date, date_forms(date)) for date in DATES),
        "origin": airport_values("origin", _cities(traveller, wishes, "origin")),
        "destination": airport_values("destination", _cities(traveller, wishes, "destination")),
        **passenger_values(traveller.party()),
    }


def _cities(traveller: Traveller, wishes: Sequence[Wish], end: str) -> dict[str, str]:
    """The airports at that end of the trips that they want: one on the way is none of their business."""
    airports, codes = traveller.base.airports, traveller.base.airport_codes
    accepted = (arguments for wish in _all(wishes) for arguments in wish.accepted if end in arguments)
    return {arguments[end]: airports[codes[arguments[end]]].city for arguments in accepted}


def _all(wishes: Sequence[Wish]) -> Iterator[Wish]:
    """The wishes with what is wanted instead of them."""
    return itertools.chain.from_iterable(map(alternatives, wishes))
