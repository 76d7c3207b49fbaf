"""The airline's desk: what the shared parts of customer service must know of it."""

import re

import orjson

from tool_envs.booking.codes import changed_records
from tool_envs.booking.rows import STATUSES
from tool_envs.booking.rules import FACTS, RULES, WRITES, found_user
from tool_envs.booking.toolkit import booking_toolkit
from tool_envs.database import Database
from tool_envs.messages import Json
from tool_envs.service.desk import Desk, State
from tool_envs.service.grading import Grader
from tool_envs.service.versions import Renames
from tool_envs.simulators.booking_phrases import BOOKING_PHRASES

_REASONS = re.compile(
    r"basic economy|policy|24 hours|insurance|business|flown|left|already|added|removed?|number of passengers"
    r"|member|available|budget|seats?",
    re.IGNORECASE,
)


def state_of(database: Database) -> State:
    """What differs from the base data.

    The order in which passengers are named makes no difference, nor that in which new reservations are made,
    and so their ids.
    """
    old: list[tuple[str, str, bytes]] = []
    new: list[bytes] = []
    for (table, key), record in changed_records(database).items():
        if table == "reservations" and key not in database.base.tables[table]:
            new.append(_text({**record, "reservation_id": ""}))
        else:
            old.append((table, key, _text(record)))
    return frozenset([*old, *(("reservations", f"new {k}", text) for k, text in enumerate(sorted(new)))])


def _text(record: Json) -> bytes:
    """A record as far as it counts."""
    compared = dict(record)
    if "passengers" in record:
        compared["passengers"] = sorted(record["passengers"], key=orjson.dumps)
    if "reservations" in record:
        compared["reservations"] = len(record["reservations"])
    return orjson.dumps(compared, option=orjson.OPT_SORT_KEYS)


BOOKING_DESK = Desk(
    grader="booking/1",
    toolkit=booking_toolkit("1.0.0"),
    rules=RULES,
    writes=WRITES,
    record="reservation_id",
    found=found_user,
    state=state_of,
    phrases=BOOKING_PHRASES,
    facts=FACTS,
    reasons=_REASONS,
    words={"status": STATUSES},
    ordered={"flights"},
    renames=Renames({"payment_methods": "payments"}),
)
BOOKING_GRADER = Grader(BOOKING_DESK)
