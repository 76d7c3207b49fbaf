"""Episodes for trainers' loops, and what the oracle does in them."""

import asyncio
import json

from toy_domain import ENV_ID as DESK

from tool_envs.agents import load_agent
from tool_envs.integrations.episode_rows import episode_rows, play_row, read_row
from tool_envs.rollout import Plan, ScriptedPolicy, Versions
from tool_envs.trajectory.record import PolicyVersion, assistant_messages

ORACLE = load_agent("oracle")
KWARGS = {"split": "test", "difficulty": 1}
ROWS = [
    {"episode": row}
    for env_id in ("tool_envs/Retail-v0", "tool_envs/Booking-v0")
    for row in episode_rows(env_id, KWARGS, Plan(range(3)))
]
"""Rows of a data set, in which other columns may stand too."""

(DEAD,) = [{"episode": row} for row in episode_rows(DESK, {"user": "dead_line"}, Plan([0]))]
"""An episode whose user cannot be reached once they are spoken to."""


def first_version(name="step-0"):
    return Versions(PolicyVersion(version=name, number=0))


def oracle_record(row):
    """The record of the oracle's episode."""
    return asyncio.run(play_row(read_row(row), ScriptedPolicy(ORACLE), first_version()))


def oracle_actions(row):
    """What the oracle does, as calls of tools."""
    return [message.action for _, message in assistant_messages(oracle_record(row))]


def as_text(action):
    """A call as Hermes-style models write it."""
    return f"<tool_call>\n{json.dumps(action)}\n</tool_call>"


def conversation(record):
    """The conversation of a record without what differs by who acted: ids of calls."""
    return [
        (type(m).__name__, m.content, [(c.name, c.arguments) for c in getattr(m, "tool_calls", ())])
        for m in record.messages
    ]
