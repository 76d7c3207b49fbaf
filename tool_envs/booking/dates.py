"""Days and minutes of the airline's world <-> texts. All times are EST, the whole year."""

import datetime

from tool_envs.booking.rows import DAY

FIRST_DAY = datetime.date(2025, 6, 16)
"""The date of day 0."""
DAYS = 30
"""How many days have flights; day 29 is 2025-07-15."""
NOW = 14 * DAY + 15 * 60
"""What time it is in every episode: 2025-06-30T15:00:00, in minutes since the start of day 0."""

_MIDNIGHT = datetime.datetime.combine(FIRST_DAY, datetime.time())


def date_text(day: int) -> str:
    """Such as `2025-06-16`; days outside of the window have dates too."""
    return (FIRST_DAY + datetime.timedelta(days=day)).isoformat()


DATES = tuple(map(date_text, range(DAYS)))
"""The texts of the days of the window."""
_DAY_OF = {text: day for day, text in enumerate(DATES)}


def find_date(text: str) -> int | None:
    """The day of a text such as `2025-06-16`; None outside of the window."""
    return _DAY_OF.get(text)


def instant_text(minutes: int) -> str:
    """Such as `2025-06-30T15:00:00`, from minutes since the start of day 0."""
    return (_MIDNIGHT + datetime.timedelta(minutes=minutes)).isoformat()


def clock_text(minutes: int) -> str:
    """Such as `07:05:00`, or `00:10:00+1` on the next day, from minutes after midnight."""
    days, minutes = divmod(minutes, DAY)
    return f"{minutes // 60:02}:{minutes % 60:02}:00" + (f"+{days}" if days else "")
