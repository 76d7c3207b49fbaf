"""Proposals of the agent read back: sentences to the choices that they were made of.

A proposal names all that it is about by its id, so the sentences that it is made from read it back.
"""

import itertools
import re
from collections.abc import Iterator, Mapping

from tool_envs.booking.airports import AIRPORT_CODES
from tool_envs.booking.rows import CABINS
from tool_envs.booking.scene.blank import (
    open_draft,
)
from tool_envs.booking.scene.reasons import due, happened
from tool_envs.booking.scene.rows import Profile, flight_code
from tool_envs.booking.scene.sight import (
    CERTIFICATE_SENT,
    MAX_FLIGHTS,
    MAX_PAID,
    MAX_PEOPLE,
    MAX_TRIPS,
    NONE,
    OWN,
    WRITE_TOOLS,
    Draft,
    Sight,
)
from tool_envs.booking.scene.ways import way
from tool_envs.booking.scene.words import days_said
from tool_envs.generated import padded
from tool_envs.simulators.booking_phrases import BOOKING_PHRASES

_METHOD = r"(?:credit_card|gift_card|certificate)_\d{7}"
_PERSON = r"[^()]+ \([^()]+\)"
_PAYMENT = rf"\$\d+ from {_METHOD}"
_NEXT = "(?:, | and )"
_FLIGHT_OR_DATE = r"(?:HAT\d{3}|[A-Z][a-z]+ \d{1,2}\b)"
_FIELDS = {
    "reservation": r"[A-Z]\d[A-Z]{2}\d[A-Z]",
    "trip": "round trip|one-way trip",
    "origin": "[A-Z]{3}",
    "destination": "[A-Z]{3}",
    "cabin": "basic economy|economy|business",
    "flights": rf"HAT\d{{3}}(?:(?:, | and | on ){_FLIGHT_OR_DATE})*",
    "people": f"{_PERSON}(?:{_NEXT}{_PERSON})*",
    "short_people": f"{_PERSON}(?:{_NEXT}{_PERSON})*",
    "payments": f"{_PAYMENT}(?:{_NEXT}{_PAYMENT})*",
    "payment": _METHOD,
    "bags": r"no checked bags|\w+ checked bags? in all \(\w+ of them paid\)",
    "insurance": "with(?:out)? travel insurance",
    "amount": r"\$\d+",
}
"""What stands in the fields of a deed, where things are named by their ids alone."""
_FIELD = re.compile(r"\\\{(\w+)\\\}")


def _pattern(deed: str) -> re.Pattern[str]:
    """A deed as it stands in a sentence; its first letter may be a capital."""
    text = _FIELD.sub(lambda field: f"(?P<{field[1]}>{_FIELDS[field[1]]})", re.escape(deed))
    return re.compile(rf"(?<!\w)(?i:{text[0]}){text[1:]}(?![\w-])")


_DEEDS = [
    (tool, _pattern(deed))
    for tool in WRITE_TOOLS
    for deed in (*BOOKING_PHRASES.deeds[tool], BOOKING_PHRASES.brief_deeds[tool])
]


def read_proposal(text: str, sight: Sight, profile: Profile) -> Draft | None:
    """The choices behind a sentence; None when it proposes nothing.

    Args:
        text: What the agent said.
        sight: What was known then.
        profile: The customer's.
    """
    for tool, deed in _DEEDS:
        found = deed.search(text)
        if found:
            return _draft(WRITE_TOOLS.index(tool), found.groupdict(), sight, profile)
    return None


def _draft(tool: int, fields: Mapping[str, str], sight: Sight, profile: Profile) -> Draft:
    draft = open_draft(tool)
    if "reservation" in fields:
        draft.trip = profile.trip_ids.index(fields["reservation"])
    if "origin" in fields:
        draft.origin, draft.destination = (AIRPORT_CODES[fields[end]] for end in ("origin", "destination"))
        draft.round_trip = int(fields["trip"] == "round trip")
        draft.insurance = int(fields["insurance"] == "without travel insurance")
    if "cabin" in fields:
        draft.cabin = CABINS.index(fields["cabin"].replace(" ", "_"))
    if "flights" in fields:
        draft.flights = _rows(list(_legs(fields["flights"])), sight, draft.trip)
    people = fields.get("people") or fields.get("short_people")
    if people:
        named = [f"{each.first_name} {each.last_name}" for each in profile.people]
        places = [named.index(name) for name in re.findall(rf"(?:^|{_NEXT})([^()]+?) \([^()]+\)", people)]
        draft.people = padded(places, MAX_PEOPLE, NONE)
    if "payments" in fields:
        methods = [profile.method_ids.index(each) for each in re.findall(_METHOD, fields["payments"])]
        draft.methods = padded(methods, MAX_PAID, NONE)
    if "payment" in fields:
        draft.method = profile.method_ids.index(fields["payment"])
    if tool == CERTIFICATE_SENT:
        draft.claim = _claim(sight, int(fields["amount"][1:]))
    return draft


def _legs(text: str) -> Iterator[tuple[int, int]]:
    """Flights and days: `HAT001 and HAT002 on July 3`."""
    numbers: list[str] = []
    for part in re.findall(_FLIGHT_OR_DATE, text):
        if part.startswith("HAT"):
            numbers.append(part)
        else:
            day = days_said()[part.lower()]
            yield from ((flight_code(number), day) for number in numbers)
            numbers = []


def _rows(legs: list[tuple[int, int]], sight: Sight, trip: int) -> list[int]:
    """The first rows among the flights to choose from that have just these flights."""
    known = {row: _legs_of(sight, trip, row) for row in range(0 if trip >= 0 else OWN, MAX_FLIGHTS)}
    known = {row: flights for row, flights in known.items() if flights}
    for first, second in itertools.product(known, (NONE, *known)):
        if known[first] + known.get(second, []) == legs:
            return [first, second]
    raise ValueError(f"these flights were not shown: {legs}")


def _legs_of(sight: Sight, trip: int, row: int) -> list[tuple[int, int]]:
    offer = way(sight, trip, row)
    return list(zip(offer.flight[: offer.legs], offer.day[: offer.legs], strict=True))


def _claim(sight: Sight, amount: int) -> int:
    """The first reservation for which so much is due, or for which it would be to somebody else."""
    places = [place for place in range(MAX_TRIPS) if sight.scene.trip_seen[place]]
    fitting = [place for place in places if due(sight, place) == amount]
    return [*fitting, *(place for place in places if happened(sight, place) == amount)][0]
