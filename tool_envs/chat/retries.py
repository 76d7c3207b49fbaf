"""When a request is sent again: which answers a later one may better, and how long to wait before."""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from tool_envs.randomness import splitmix64

_FIRST_WAIT = 0.5  # seconds
_LONGEST_WAIT = 30.0


def is_transient(status: int) -> bool:
    """Whether a server that answered with this status may answer otherwise to the same request later.

    408 and 429 say so, and so do the server's own errors, but for 501 and 505, which never change. All other
    4xx mean that the request is wrong, and stays so.
    """
    return status in (408, 429) or (status >= 500 and status not in (501, 505))


def backoff(key: int, attempt: int) -> float:
    """Seconds to wait after a failed attempt: doubled each time, and from half to all of that.

    Args:
        key: What the share depends on, so that requests that failed together do not all come back together.
        attempt: How many attempts failed; at least 1.
    """
    share = 0.5 + splitmix64(key, attempt, 0, 0) / 2**65
    return min(_LONGEST_WAIT, _FIRST_WAIT * 2.0 ** min(attempt - 1, 16)) * share


def retry_after(value: str, date: str) -> float:
    """Seconds that a server asks a client to wait; 0.0 when it does not, or not in a form that can be read.

    Args:
        value: The header `Retry-After`: seconds, or an HTTP date (RFC 9110, section 10.2.3).
        date: The header `Date`, by which an HTTP date is reckoned, so that clocks need not agree.
    """
    if value.strip().isascii() and value.strip().isdigit():
        return float(value.strip()[:9])
    until, now = _read_date(value), _read_date(date)
    return 0.0 if until is None or now is None else max(0.0, (until - now).total_seconds())


def _read_date(text: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)
