"""The store's desk: what the shared parts of customer service must know of it."""

import re

import orjson

from tool_envs.database import Database
from tool_envs.messages import Json
from tool_envs.retail.codes import changed_records
from tool_envs.retail.rows import STATUSES
from tool_envs.retail.rules import FACTS, PAIRS, RULES, WRITES, found_user
from tool_envs.retail.toolkit import retail_toolkit
from tool_envs.service.desk import Desk, State
from tool_envs.service.grading import Grader
from tool_envs.service.versions import Renames
from tool_envs.simulators.retail_phrases import RETAIL_PHRASES

# Whether a reason for a cancellation is the customer's own is a rule's affair, and not the state's.
_LEFT_OUT = "cancel_reason"
_REASONS = re.compile(
    r"pending|processed|delivered|shipped|status|reason|original payment|gift card|available|stock|policy",
    re.IGNORECASE,
)


def state_of(database: Database) -> State:
    """What differs from the base data."""
    return frozenset(
        (table, key, orjson.dumps(_compared(record), option=orjson.OPT_SORT_KEYS))
        for (table, key), record in changed_records(database).items()
    )


def _compared(record: Json) -> Json:
    return {name: value for name, value in record.items() if name != _LEFT_OUT}


RETAIL_DESK = Desk(
    grader="retail/1",
    toolkit=retail_toolkit("1.0.0"),
    rules=RULES,
    writes=WRITES,
    record="order_id",
    found=found_user,
    state=state_of,
    phrases=RETAIL_PHRASES,
    facts=FACTS,
    reasons=_REASONS,
    words={"status": STATUSES},
    pairs=PAIRS,
    renames=Renames({"zip": "postal_code"}),
)
RETAIL_GRADER = Grader(RETAIL_DESK)
