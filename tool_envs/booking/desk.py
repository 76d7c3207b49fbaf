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
    """What differs from the base data; the order in which passengers are named makes no difference."""
    return frozenset(
        (table, key, orjson.dumps(_compared(record), option=orjson.OPT_SORT_KEYS))
        for (table, key), record in changed_records(database).items()
    )


def _compared(record: Json) -> Json:
    if "passengers" not in record:
        return record
    return {**record, "passengers": sorted(record["passengers"], key=lambda each: sorted(each.items()))}


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
    renames=Renames({"payment_methods": "payments"}),
)
BOOKING_GRADER = Grader(BOOKING_DESK)
