"""What the words of a customer say, as codes.

Nothing is read but words: of the acts behind them only which moves a turn holds and of which kind its wish
is, and the words say both. Of the airline only what everybody knows is used: its airports, its calendar, and
what ids look like.
"""

import functools
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from tool_envs import names
from tool_envs.booking.airports import AIRPORT_CODES
from tool_envs.booking.dates import DATES
from tool_envs.booking.ids import Ids
from tool_envs.booking.rows import CABINS, CERTIFICATE, CREDIT_CARD, GIFT_CARD, MAX_RESERVATIONS, METHOD_KINDS
from tool_envs.booking.scene.blank import (
    nothing_said,
    nothing_wanted,
)
from tool_envs.booking.scene.rows import flight_code, name_code
from tool_envs.booking.scene.sight import (
    ANY,
    BEST,
    BY_DIGITS,
    BY_ID,
    BY_WORD,
    BY_WORTH,
    DIRECT,
    MAX_PAID,
    MOVES,
    ONE_STOP,
    QUESTIONS,
    REASONS_TOLD,
    SLOTS,
    WISHES,
    Said,
    Wanted,
)
from tool_envs.booking.wishes.refunds import REASONS
from tool_envs.messages import Message
from tool_envs.row_lists import as_bits
from tool_envs.simulators.dates import DATE_STYLES, date_forms, say_date


class Words(NamedTuple):
    """One turn of a customer.

    Attributes:
        said: What it says, as codes.
        wanted: What it says of the wish.
        user_id: The user id that is told; empty: none is.
    """

    said: Said
    wanted: Wanted
    user_id: str


class Reader:
    """Reads what customers of an airline say.

    Args:
        ids: What its reservations are called.
    """

    def __init__(self, ids: Ids) -> None:
        self._ids = ids

    def read(self, turn: Message) -> Words:
        """What a turn says."""
        words = turn.content.lower()
        user = _USER.search(words)
        said, wanted = nothing_said(), nothing_wanted()
        said.user = int(user is not None)
        said.demands = as_bits(k for k, demand in enumerate(_DEMANDS) if demand.search(turn.content))
        _read_acts(said, words, turn)
        self._read_trip(wanted, words)
        _read_route(wanted, words)
        _read_flights(wanted, words)
        _read_methods(wanted, words)
        _read_bags(wanted, words)
        _read_people(wanted, words)
        _read_choices(wanted, words)
        return Words(said, wanted, user.group() if user else "")

    def _read_trip(self, wanted: Wanted, words: str) -> None:
        """A reservation, by its id or by where it goes."""
        trip = _TRIP.search(words)
        if trip:
            wanted.trip = trip_code(self._ids, trip.group().upper())
        route = _TRIP_ROUTE.search(words)
        if route:
            wanted.trip_from, wanted.trip_to = map(_airport, route.groups())


def trip_code(ids: Ids, reservation_id: str) -> int:
    """What kernels know a reservation by; -1 for a text that is no reservation's id."""
    place = ids.of_reservation_id(reservation_id)
    return -1 if place is None else place[0] * MAX_RESERVATIONS + place[1]


def _airport(code: str) -> int:
    return AIRPORT_CODES.get(code.upper(), -1)


def _any_of(texts: Iterable[str]) -> str:
    """A pattern of texts, the longest first."""
    return "|".join(map(re.escape, sorted(texts, key=lambda text: (-len(text), text))))


def _fill(row: list[int], codes: Iterable[int]) -> None:
    """Write codes into a list of fixed length; there are never more in what customers say."""
    for place, code in enumerate(codes):
        if place < len(row):
            row[place] = code


_USER = re.compile(r"\b[a-z]+_[a-z]+_\d{4}\b")
_TRIP = re.compile(r"\b[a-z]\d[a-z]{2}\d[a-z]\b")
_ROUTE = r"[^()]{1,40} \(([a-z]{3})\) to [^()]{1,40} \(([a-z]{3})\)"
_TRIP_ROUTE = re.compile(rf"\bmy trip from {_ROUTE}")
_NEW_ROUTE = re.compile(rf"\bfrom {_ROUTE}")
_BORN = re.compile(r"\bborn \d{4}-\d\d-\d\d")


@functools.cache
def days_said() -> Mapping[str, int]:
    """Day by all that customers call it, in lower case."""
    return {
        text.lower(): day
        for day, date in enumerate(DATES)
        for text in (*(say_date(date, style) for style in DATE_STYLES), date_forms(date)[0])
    }


@functools.cache
def _day_pattern() -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{_any_of(days_said())})(?!\w)")


def _read_route(wanted: Wanted, words: str) -> None:
    """Where a new trip goes, and the days of a trip."""
    route = _NEW_ROUTE.search(_TRIP_ROUTE.sub(" ", words))
    if route:
        wanted.origin, wanted.destination = map(_airport, route.groups())
    named = _day_pattern().findall(_BORN.sub(" ", words))
    _fill(wanted.days, (days_said()[day] for day in named))


_STOPS = {"direct flight": DIRECT, "connection with one stop": ONE_STOP}
_WANTED_FLIGHT = re.compile(rf"\b(?:the )?({_any_of(BEST)}) ({_any_of(_STOPS)})\b")
_SOME_FLIGHT = re.compile(r"\ba flight (?:earlier that day|(?:one day|two days) later)\b")
_CLOCK = r"(noon|\d{1,2} [ap]m)\b"
_AFTER = re.compile(rf"\bleaves after {_CLOCK}")
_BEFORE = re.compile(rf"\barrives before {_CLOCK}")
_AT_MOST = re.compile(r"\bat most \$([\d,]+)")
_FLIGHT = re.compile(r"\bhat\d{3}\b")


def _read_flights(wanted: Wanted, words: str) -> None:
    """What the flights are to be like, or which they are."""
    flight = _WANTED_FLIGHT.search(words)
    if flight:
        wanted.best, wanted.stops = BEST.index(flight[1]), _STOPS[flight[2]]
    elif _SOME_FLIGHT.search(words):
        wanted.best = ANY
    after, before, most = _AFTER.search(words), _BEFORE.search(words), _AT_MOST.search(words)
    if after:
        wanted.leaves_after = _minutes(after[1])
    if before:
        wanted.arrives_before = _minutes(before[1])
    if most:
        wanted.at_most = int(most[1].replace(",", "")) * 100
    _fill(wanted.flights, (flight_code(number.upper()) for number in _FLIGHT.findall(words)))


def _minutes(clock: str) -> int:
    """Minutes after midnight of `noon` or `8 pm`."""
    if clock == "noon":
        return 12 * 60
    hour, half = clock.split(" ")
    return (int(hour) + 12 * (half == "pm")) * 60


_METHOD = re.compile(
    r"\bmy (?P<kind>gift card|certificate)\b(?: with \$(?P<worth>[\d,]+))?"
    r"|\bending in (?P<digits>\d{4})\b"
    r"|\b(?P<named>gift_card|certificate|credit_card)_(?P<number>\d{7})\b"
)
_METHOD_KINDS = {"gift card": GIFT_CARD, "certificate": CERTIFICATE}


def _read_methods(wanted: Wanted, words: str) -> None:
    """What is paid with, in order."""
    for place, method in enumerate(_METHOD.finditer(words)):
        if place == MAX_PAID:
            return
        kind, how, mark = _method(method)
        wanted.method_kind[place], wanted.method_how[place], wanted.method_mark[place] = kind, how, mark
        wanted.methods = place + 1


def _method(method: re.Match[str]) -> tuple[int, int, int]:
    """Kind, how it is named, and by what."""
    if method["digits"]:
        return CREDIT_CARD, BY_DIGITS, int(method["digits"])
    if method["named"]:
        return METHOD_KINDS.index(method["named"]), BY_ID, int(method["number"])
    if method["worth"]:
        return _METHOD_KINDS[method["kind"]], BY_WORTH, int(method["worth"].replace(",", ""))
    return _METHOD_KINDS[method["kind"]], BY_WORD, -1


_MORE_BAGS = re.compile(r"\b(\d{1,2}) more checked bags?\b")
_BAGS = re.compile(r"(?<![\w$,])(\d{1,2})(?: checked bags?)? in all\b|\b(no) checked bags\b")


def _read_bags(wanted: Wanted, words: str) -> None:
    more, total = _MORE_BAGS.search(words), _BAGS.search(words)
    if more:
        wanted.more_bags = int(more[1])
    if total:
        wanted.bags = 0 if total[2] else int(total[1])


_NAME = re.compile(
    rf"\b({_any_of(name.lower() for name in names.FIRST_NAMES)})"
    rf" ({_any_of(name.lower() for name in names.LAST_NAMES)})\b"
)
_NAMES = {name.lower(): name for name in (*names.FIRST_NAMES, *names.LAST_NAMES)}


def _read_people(wanted: Wanted, words: str) -> None:
    """Who flies, and who does not fly any more."""
    before, _, after = words.partition(" instead of ")
    _fill(wanted.people, dict.fromkeys(map(_name, _NAME.findall(before))))
    for name in _NAME.findall(after)[:1]:
        wanted.instead = _name(name)


def _name(name: tuple[str, str]) -> int:
    first, last = name
    return name_code(_NAMES[first], _NAMES[last])


_CABIN = re.compile(r"\b(basic economy|economy|business)\b")
_INSURANCE = re.compile(r"\bwith(out)? travel insurance\b")
_REASONS = {words.lower(): REASONS_TOLD.index(code) for code, said in REASONS.items() for words in said}
_REASON = re.compile(_any_of(_REASONS))


def _read_choices(wanted: Wanted, words: str) -> None:
    """Cabin, insurance, and the reason."""
    cabin, insurance, reason = _CABIN.search(words), _INSURANCE.search(words), _REASON.search(words)
    if cabin:
        wanted.cabin = CABINS.index(cabin[1].replace(" ", "_"))
    if insurance:
        wanted.insurance = int(insurance[1] is None)
    if reason:
        wanted.reason = _REASONS[reason.group()]


_DEMANDS = (
    re.compile(r"\d characters\b"),
    re.compile(r"(?<!formal )\bEnglish\b"),
    re.compile(r"\bcontract"),
    re.compile(r"(?i)\b(?:only|just|name|hear) the total\b|\bthe total (?:is the only|alone|and no other)\b"),
)
"""How each of `DEMANDS` is said."""
_QUESTIONS = (
    ("bags", re.compile(r"\bmore checked bags?\b")),
    ("upgrade", re.compile(r"\bto change\b|\bhow much more\b")),
    ("gift_cards", re.compile(r"\bgift cards\b")),
    ("certificates", re.compile(r"\bcertificates\b")),
    ("free_bags", re.compile(r"\bfree\b")),
    ("trips", re.compile(r"\bhow many (?:of my )?reservations\b")),
    ("status", re.compile(r"\bflight of\b")),
    ("paid", re.compile(r"\bdid i pay for\b|\btotal price of\b|\bcost me in all\b")),
)
"""How each of `QUESTIONS` is asked; the first that fits."""


def _read_acts(said: Said, words: str, turn: Message) -> None:
    """Moves, the wish, the question, and what they do not know."""
    for act in turn.acts:
        move = act["act"]
        if move in MOVES:
            said.moves |= 1 << MOVES.index(move)
        if move == "wish":
            said.wish = WISHES.index(act["kind"]) if act["kind"] in WISHES else -1
        elif move == "ask":
            said.question = next(
                (QUESTIONS.index(kind) for kind, asks in _QUESTIONS if asks.search(words)), -1
            )
        elif move == "unknown" and act["slot"] in SLOTS:
            said.unknown |= 1 << SLOTS.index(act["slot"])
