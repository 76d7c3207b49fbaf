"""The desk: what the shared parts of customer service must know of the library."""

import re

from library_desk.language import PHRASES
from library_desk.rules import FACTS, RULES, WRITES, found_user
from library_desk.tools import TOOLKIT
from tool_envs.canonical import canonical_json
from tool_envs.database import Database
from tool_envs.service.desk import Desk, State
from tool_envs.service.grading import Grader


def state_of(database: Database) -> State:
    """The records that differ from the base data."""
    tables = database.base.tables
    return frozenset(
        (table, key, canonical_json(record))
        for (table, key), record in database.changed.items()
        if record != tables[table].get(key)
    )


DESK = Desk(
    grader="library/1",
    toolkit=TOOLKIT,
    rules=RULES,
    writes=WRITES,
    record="loan_id",
    found=found_user,
    state=state_of,
    phrases=PHRASES,
    facts=FACTS,
    reasons=re.compile("renewed|once", re.IGNORECASE),
)
GRADER = Grader(DESK)
