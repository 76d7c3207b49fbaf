"""What the tools of tau-bench's domains share: upstream's names, four tools, and the way to their records."""

from collections.abc import Callable
from typing import TypeAlias, cast

from tool_envs.database import Database, Record
from tool_envs.json_values import copy_json
from tool_envs.messages import Json
from tool_envs.tau_bench.calculate import calculate as value_of
from tool_envs.tau_bench.data import TauData

TauTool: TypeAlias = Callable[..., str]

USER_NOT_FOUND = "Error: user not found"
NO_PAYMENT_METHOD = "Error: payment method not found"


def named_as_upstream(domain: str) -> Callable[[TauTool], TauTool]:
    """Name a domain's tools as upstream does: Python names the function when arguments are missing."""

    def name(function: TauTool) -> TauTool:
        class_name = "".join(word.capitalize() for word in function.__name__.split("_"))
        function.__qualname__ = f"{class_name}.invoke"
        function.__module__ = f"tau_bench.envs.{domain}.tools.{function.__name__}"
        return function

    return name


def shared_tools(domain: str) -> tuple[TauTool, TauTool, TauTool, TauTool]:
    """`calculate`, `get_user_details`, `think` and `transfer_to_human_agents`, named for one domain."""
    named = named_as_upstream(domain)

    @named
    def calculate(data: Database, expression: str) -> str:  # noqa: ARG001 - every tool gets the database
        """The value of an arithmetic expression."""
        return value_of(expression)

    @named
    def get_user_details(data: Database, user_id: str) -> str:
        """A user's profile as JSON."""
        return details(data, "users", user_id) or USER_NOT_FOUND

    @named
    def think(data: Database, thought: str) -> str:  # noqa: ARG001 - it only leaves a trace in the conversation
        """Nothing happens and nothing is answered."""
        return ""

    @named
    def transfer_to_human_agents(data: Database, summary: str) -> str:  # noqa: ARG001 - a human would read it
        """Hand the user over to a human; the environment ends the episode."""
        return "Transfer successful"

    return calculate, get_user_details, think, transfer_to_human_agents


def shown(tool: TauTool, database: Database, arguments: Json) -> str:
    """What tau-bench's environment makes an observation of: a tool's answer, or the text of its exception.

    Upstream catches every exception of a tool in `Env.step`, so every one is an answer to the agent here.
    """
    try:
        return tool(data=database, **arguments)
    except Exception as problem:
        return f"Error: {problem}"


def find_record(data: Database, table: str, key: str) -> Record | None:
    """The record or None."""
    # The bare key is looked up first: an unhashable one gets the words that upstream's look-up gets.
    return data.get(table, key) if key in data.base.tables[table] else data.changed.get((table, key))


def get_record(data: Database, table: str, key: str) -> Record:
    """The record; raises KeyError when there is none."""
    record = data.get(table, key)
    if record is None:
        raise KeyError(key)
    return record


def details(data: Database, table: str, key: str) -> str | None:
    """JSON text of a record, or None."""
    record = find_record(data, table, key)
    if record is None:
        return None
    base = cast("TauData", data.base)
    if record is base.tables[table].get(key):
        return base.json_text(table, key)
    return base.changed_json_text(table, key, record)


def put_record(data: Database, table: str, key: str, record: Record) -> str:
    """Store a record; its JSON text."""
    data.put(table, key, record)
    return cast("TauData", data.base).changed_json_text(table, key, record)


def own(value: Json) -> Json:
    """The value, copied if the caller could change it later."""
    return copy_json(value)
