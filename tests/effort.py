"""How long something takes, as a ratio to a reference that runs just before it; never in seconds."""

import time
from collections.abc import Callable, Iterable, Sequence

import jsonschema_rs
import orjson

from tool_envs.database import BaseData, Database
from tool_envs.messages import Json, ToolCall
from tool_envs.toolkit import Toolkit

MOST_OF_PARTS = 6.5
"""How many times as long as its parts a tool call may take.

`benchmarks/json_view.py` has the aim, 5. The ratio lies near it, below at one hour and above at another, on
the same machine; a test that must not fail by chance leaves room for that.
"""


def effort(work: Callable[[], object]) -> float:
    """Time of `work` over that of adding up a million numbers, in the quietest of three runs."""

    def reference() -> None:
        sum(number for number in range(1_000_000))

    return min(_seconds(work) / _seconds(reference) for _ in range(3))


def effort_ratio(work: Callable[[], object], reference: Callable[[], object], windows: int = 8) -> float:
    """Time of `work` over that of `reference`, in the quietest of several windows of time.

    What else a machine does comes in bursts, which slow down the one more than the other when it uses more
    memory. Work that has grown takes longer in all windows.
    """
    rounds = [[(_seconds(work), _seconds(reference)) for _ in range(5)] for _ in range(windows)]
    return min(min(whole for whole, _ in each) / min(part for _, part in each) for each in rounds)


def _seconds(work: Callable[[], object]) -> float:
    start = time.thread_time()
    work()
    return time.thread_time() - start


def call_ratio(toolkit: Toolkit, base: BaseData, episodes: Iterable[Iterable[tuple[str, Json]]]) -> float:
    """Time of calls, bytes to text, over that of parsing, validating and writing the same JSON alone.

    Args:
        toolkit: The tools.
        base: The data that each episode starts from.
        episodes: Name and arguments of each call.
    """
    played = [[(name, orjson.dumps(arguments)) for name, arguments in calls] for calls in episodes]
    validators = {
        name: jsonschema_rs.Draft202012Validator(tool.parameters)
        for name, tool in toolkit.schema.tools.items()
    }

    def play() -> list[str]:
        return [text for calls in played for text in _answers(toolkit, Database(base), calls)]

    results = [orjson.loads(text) for text in play()]
    calls = [call for calls in played for call in calls]

    def bare() -> None:
        for (name, arguments), result in zip(calls, results, strict=True):
            validators[name].is_valid(orjson.loads(arguments))
            orjson.dumps(result)

    return effort_ratio(play, bare)


def _answers(toolkit: Toolkit, database: Database, calls: Sequence[tuple[str, bytes]]) -> list[str]:
    return [toolkit.call(database, ToolCall(name, orjson.loads(raw))).content for name, raw in calls]
