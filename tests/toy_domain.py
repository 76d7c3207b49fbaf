"""A library desk: what a third party writes to have an environment of their own.

Everything here is made of public pieces. The id is `toy_domain:tool_envs_tests/Desk-v0`.
"""

import functools
from collections.abc import Mapping
from typing import Any

import gymnasium

from tool_envs.canonical import digest
from tool_envs.database import BaseData, Database
from tool_envs.domain import Domain
from tool_envs.env import ToolEnv
from tool_envs.episode import Episode
from tool_envs.errors import InfrastructureError
from tool_envs.messages import ToolCall
from tool_envs.reward import Verdict, grade
from tool_envs.schema import ToolSchema
from tool_envs.simulators import ReplayUser, Turn
from tool_envs.task import Task, TaskList
from tool_envs.toolkit import Refusal, Toolkit

ENV_ID = "toy_domain:tool_envs_tests/Desk-v0"
POLICY = "Find the member before you lend. A member has at most two loans. Tell the shelf of a book."
MAX_LOANS = 2

TABLES = {
    "books": {
        "B1": {"title": "Emma", "shelf": "North-12", "lent": False},
        "B2": {"title": "Ulysses", "shelf": "South-40", "lent": True},
        "B3": {"title": "Dune", "shelf": "Cellar-7", "lent": False},
    },
    "members": {
        "M1": {"email": "ada@example.org", "loans": ["L1"]},
        "M2": {"email": "bob@example.org", "loans": []},
    },
    "loans": {"L1": {"book_id": "B2", "member_id": "M1", "days": 14}},
}


def _tool(name, effect, description, result, required=True, **properties):
    """One tool of the schema document."""
    parameters = {"type": "object", "properties": properties, "additionalProperties": False}
    if properties and required:
        parameters["required"] = list(properties)
    return {
        "name": name,
        "effect": effect,
        "description": description,
        "parameters": parameters,
        "result": result,
    }


_TEXT = {"type": "string", "maxLength": 2_000_000}
_BOOK_ID = {"type": "string", "pattern": "^B[0-9]$", "x-entity": "book"}
_MEMBER_ID = {"type": "string", "pattern": "^M[0-9]$", "x-entity": "member"}
_LOAN_ID = {"type": "string", "pattern": "^L[0-9]+$", "x-entity": "loan"}
_RECORD = {"type": "object", "properties": {}, "additionalProperties": _TEXT}
_DAYS = {"type": "integer", "enum": [7, 14, 28]}

DOCUMENT = {
    "format": "tool_schema/1.0.0",
    "domain": "desk",
    "version": "1.0.0",
    "description": "The desk of a small library.",
    "tools": [
        _tool("find_member", "read", "Find a member by email.", _MEMBER_ID, email=_TEXT),
        _tool("get_book", "read", "Look up a book.", _RECORD, book_id=_BOOK_ID),
        _tool("think", "read", "Write down a thought.", {"type": "null"}, required=False, thought=_TEXT),
        _tool("lend", "write", "Lend a book.", _LOAN_ID, member_id=_MEMBER_ID, book_id=_BOOK_ID, days=_DAYS),
        _tool("take_back", "write", "Take a book back.", _RECORD, loan_id=_LOAN_ID),
        _tool("close_desk", "end", "Close the desk; the episode ends.", {"type": "null"}),
        _tool("respond", "message", "Talk to the visitor.", _TEXT, content=_TEXT),
    ],
}


def find_member(database: Database, email: str) -> str | Refusal:
    found = [key for key, member in database.items("members") if member["email"] == email]
    return found[0] if found else Refusal("no_such_member", "No member has that email.")


def get_book(database: Database, book_id: str) -> dict[str, Any] | Refusal:
    return database.get("books", book_id) or Refusal("no_such_book", "There is no such book.")


def think(database: Database, thought: str = "") -> None:
    """Nothing happens."""


def lend(database: Database, member_id: str, book_id: str, days: int) -> str | Refusal:
    member, book = database.get("members", member_id), database.get("books", book_id)
    if member is None or book is None:
        return Refusal("no_such_record", "There is no such member or book.")
    loan_id = f"L{sum(1 for _ in database.items('loans')) + 1}"
    # The guard comes after the first write on purpose: a refusal must take it back.
    database.put("books", book_id, {**book, "lent": True})
    if book["lent"]:
        return Refusal("book_is_lent", "The book is not on its shelf.")
    if len(member["loans"]) >= MAX_LOANS:
        return Refusal("too_many_loans", "The member has too many loans.")
    database.put("members", member_id, {**member, "loans": [*member["loans"], loan_id]})
    database.put("loans", loan_id, {"book_id": book_id, "member_id": member_id, "days": days})
    return loan_id


def take_back(database: Database, loan_id: str) -> dict[str, Any] | Refusal:
    loan = database.get("loans", loan_id)
    if loan is None or loan["days"] == 0:
        return Refusal("no_such_loan", "There is no such loan.")
    book, member = database.get("books", loan["book_id"]), database.get("members", loan["member_id"])
    rest = [other for other in member["loans"] if other != loan_id]
    database.put("books", loan["book_id"], {**book, "lent": False})
    database.put("members", loan["member_id"], {**member, "loans": rest})
    database.put("loans", loan_id, {**loan, "days": 0})
    return loan


def close_desk(database: Database) -> None:
    """The episode ends because the schema says so."""


FUNCTIONS = {f.__name__: f for f in (find_member, get_book, think, lend, take_back, close_desk)}


class DeadLineUser:
    """A user whose line dies: at the first word (`fails_at` 0) or at the n-th answer."""

    name, version = "dead_line", "1.0.0"

    def __init__(self, fails_at: int) -> None:
        self._left = fails_at

    not_understood = 0

    @property
    def digest(self) -> str:
        return digest({"name": self.name, "version": self.version})

    def reset(self, goal: Any, key: int) -> Turn:  # noqa: ARG002 - the interface of a user
        return self.respond("")

    def respond(self, agent_text: str) -> Turn:  # noqa: ARG002 - the interface of a user
        if self._left == 0:
            raise InfrastructureError("The line is dead.")
        self._left -= 1
        return Turn("Are you there?")

    def snapshot(self) -> int:
        return self._left

    def restore(self, snapshot: int) -> None:
        self._left = snapshot


def _task(task_id, turns, *actions, facts=()):
    """One task; `actions` are (tool, arguments)."""
    goal = {"wish": f"The visitor wants what the task {task_id} says.", "turns": turns}
    return Task(task_id, goal, tuple(ToolCall(*action) for action in actions), facts)


_ADA, _BOB = {"email": "ada@example.org"}, {"email": "bob@example.org"}
TASKS = (
    _task(
        "lend-emma",
        ["I am bob@example.org and want Emma for a week.", "Yes.", "Thanks."],
        ("find_member", _BOB),
        ("lend", {"member_id": "M2", "book_id": "B1", "days": 7}),
    ),
    _task(
        "swap",
        ["ada@example.org here. I bring Ulysses back and take Dune for two weeks.", "Please do."],
        ("find_member", _ADA),
        ("take_back", {"loan_id": "L1"}),
        ("lend", {"member_id": "M1", "book_id": "B3", "days": 14}),
    ),
    _task("where", ["Where is Dune?", "Thanks."], ("get_book", {"book_id": "B3"}), facts=("Cellar-7",)),
    _task("refuse", ["I want Ulysses.", "Pity."], ("get_book", {"book_id": "B2"}), facts=("South-40",)),
)


def grade_desk(episode: Episode) -> Verdict:
    wanted = Database(episode.database.base)
    for call in episode.task.actions:
        load().toolkit.call(wanted, call)
    told = all(any(fact in text for text in episode.said) for fact in episode.task.facts)
    return Verdict(grade({"data": episode.database.digest() == wanted.digest(), "told": told}))


def scripted_user(task: Task, options: Mapping[str, Any]) -> ReplayUser:
    return ReplayUser(options.get("user_turns", task.goal["turns"]))


def silent_user(_: Task, __: Mapping[str, Any]) -> ReplayUser:
    return ReplayUser(["Hello."])


def dead_line_user(_: Task, options: Mapping[str, Any]) -> DeadLineUser:
    return DeadLineUser(options.get("fails_at", 1))


@functools.cache
def load() -> Domain:
    """The bundle, once in a process."""
    return Domain(
        toolkit=Toolkit(ToolSchema.from_document(DOCUMENT, "toy_domain.py"), FUNCTIONS),
        base=BaseData(TABLES),
        tasks=TaskList(TASKS),
        policy_text=POLICY,
        simulators={"scripted": scripted_user, "silent": silent_user, "dead_line": dead_line_user},
        grade=grade_desk,
        load=load,
        load_arguments=(),
        reset_options=frozenset({"user_turns", "fails_at"}),
    )


class DeskEnv(ToolEnv):
    """The desk of a small library."""

    def __init__(self, *, user: str = "scripted", max_steps: int = 12, **options: Any) -> None:
        super().__init__(load(), user=user, max_steps=max_steps, **options)


gymnasium.register(id="tool_envs_tests/Desk-v0", entry_point="toy_domain:DeskEnv")
