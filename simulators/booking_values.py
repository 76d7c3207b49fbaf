"""Lexicon entries for what an airline's customers speak of: people and airports."""

from collections.abc import Iterable, Mapping
from typing import Literal

from tool_envs.simulators.dates import date_forms
from tool_envs.simulators.goal import Value


def passenger_values(people: Iterable[tuple[str, str, str]]) -> dict[str, tuple[Value, ...]]:
    """The entries `first_name`, `last_name` and `dob` for people.

    Names count when they stand together: many a name alone is a word, or the code of an airport.

    Args:
        people: First name, last name, date of birth such as `1990-05-12`.
    """
    named: dict[str, dict[str, list[str]]] = {"first_name": {}, "last_name": {}}
    births: dict[str, None] = {}
    for first, last, birth in people:
        together = f"{first} {last}".lower()
        named["first_name"].setdefault(first, []).append(together)
        named["last_name"].setdefault(last, []).append(together)
        births[birth] = None
    dates = tuple(Value(birth, date_forms(birth, year_needed=True)) for birth in births)
    return {**{slot: _values(forms) for slot, forms in named.items()}, "dob": dates}


def airport_values(slot: Literal["origin", "destination"], cities: Mapping[str, str]) -> tuple[Value, ...]:
    """The entry `origin` or `destination`: airports count where the words around them say which they are.

    Args:
        slot: Of which of the two.
        cities: Code of an airport -> its city: those that trips may begin at, or go to.
    """
    around = _FROM if slot == "origin" else _TO
    return tuple(
        Value(code, tuple(form.format(place=place) for place in _places(code, city) for form in around))
        for code, city in cities.items()
    )


_FROM = (
    "from {place}",
    "{place} to",
    "{place} ->",
    "{place} \u2192",
    "origin: {place}",
    "departure: {place}",
)
_TO = ("to {place}", "-> {place}", "\u2192 {place}", "destination: {place}")


def _places(code: str, city: str) -> tuple[str, ...]:
    code, city = code.lower(), city.lower()
    return (f"{city} ({code})", f"{code} ({city})", city, code)


def _values(forms: Mapping[str, list[str]]) -> tuple[Value, ...]:
    return tuple(Value(value, tuple(dict.fromkeys(texts))) for value, texts in forms.items())
