"""What kernels know a search by: one number for its stops, airports and day."""

from tool_envs.booking.dates import DAYS
from tool_envs.booking.scene.sight import (
    PLACES,
)
from tool_envs.rows import kernel


@kernel
def search_code(stops: int, origin: int, destination: int, day: int) -> int:
    """What kernels know a search by."""
    return ((int(stops) * PLACES + int(origin)) * PLACES + int(destination)) * DAYS + int(day)


@kernel
def code_stops(code: int) -> int:
    """The stops of a search, by its code."""
    return code // (DAYS * PLACES * PLACES)


@kernel
def code_origin(code: int) -> int:
    """Where it begins."""
    return code // (DAYS * PLACES) % PLACES


@kernel
def code_destination(code: int) -> int:
    """Where it ends."""
    return code // DAYS % PLACES


@kernel
def code_day(code: int) -> int:
    """Its day."""
    return code % DAYS
