"""Dates as people write them: one way to say a date, and all ways to mean it."""

import datetime
from typing import Literal, get_args

DateStyle = Literal["month_first", "ordinal", "day_first", "with_year", "iso"]
"""July 3; July 3rd; 3 July; July 3, 2025; 2025-07-03."""
DATE_STYLES: tuple[DateStyle, ...] = get_args(DateStyle)
"""All of them."""

_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


def say_date(date: str, style: DateStyle = "month_first") -> str:
    """A date as people say it.

    Args:
        date: Such as `2025-07-03`.
        style: In which way.

    Raises:
        ValueError: It is no date.
    """
    day = datetime.date.fromisoformat(date)
    month = _MONTHS[day.month - 1]
    match style:
        case "month_first":
            return f"{month} {day.day}"
        case "ordinal":
            return f"{month} {_ordinal(day.day)}"
        case "day_first":
            return f"{day.day} {month}"
        case "with_year":
            return f"{month} {day.day}, {day.year}"
        case "iso":
            return date


def date_forms(date: str, year_needed: bool = False) -> tuple[str, ...]:
    """The texts that mean a date, in lower case, for a lexicon; the most usual one first.

    Args:
        date: Such as `2025-07-03`.
        year_needed: Only those with the year: for dates of birth.

    Raises:
        ValueError: It is no date.
    """
    day = datetime.date.fromisoformat(date)
    names = dict.fromkeys((_MONTHS[day.month - 1].lower(), _MONTHS[day.month - 1][:3].lower()))
    numbers = (str(day.day), _ordinal(day.day))
    without = [f"{month} {number}" for month in names for number in numbers]
    without += [f"{number} {month}" for month in names for number in numbers]
    without += [f"{_ordinal(day.day)} of {month}" for month in names]
    short, padded = f"{day.month}/{day.day}", f"{day.month:02}/{day.day:02}"
    if year_needed:
        forms = [f"{form}{comma} {day.year}" for form in without for comma in (",", "")]
        forms += [f"{padded}/{day.year}"]
    else:
        forms = [*without, padded]  # these are found in the longer ones with the year, too
    return tuple(dict.fromkeys((*forms, date, f"{short}/{day.year}")))


def _ordinal(number: int) -> str:
    if number in (11, 12, 13):
        return f"{number}th"
    return f"{number}{('th', 'st', 'nd', 'rd')[number % 10] if number % 10 < 4 else 'th'}"
