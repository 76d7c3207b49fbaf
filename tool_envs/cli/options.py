"""Arguments and options that several commands take."""

from collections.abc import Iterable
from typing import Annotated

import typer

from tool_envs.errors import UsageError
from tool_envs.json_values import parse_json
from tool_envs.messages import Json

EnvId = Annotated[str, typer.Argument(help="Id of the environment, such as tool_envs/TauBench-v0.")]
Kwargs = Annotated[
    list[str] | None,
    typer.Option(
        "-k",
        "--kwarg",
        metavar="KEY=VALUE",
        help="Argument of the environment; the value as JSON or as text.",
    ),
]
DataPath = Annotated[
    str | None, typer.Option("--path", help="Where the files of a foreign slice lie (tau-bench's, say).")
]

SliceArguments = Annotated[
    list[str] | None,
    typer.Option(
        "-k",
        "--kwarg",
        metavar="KEY=VALUE",
        help="Of a foreign slice: its user (user=llm, user_model=NAME ...), where things are (mirrors=FILE).",
    ),
]


def slice_arguments(path: str | None, pairs: Iterable[str] | None) -> dict[str, Json]:
    """The arguments of `load_slice`, from `--path` and `-k`."""
    return read_pairs(pairs) | ({} if path is None else {"path": path})


def read_pairs(pairs: Iterable[str] | None) -> dict[str, Json]:
    """The pairs `key=value` as a dict; a value that is not JSON is a text.

    Raises:
        UsageError: One is not of that form.
    """
    return dict(_read_pair(pair) for pair in pairs or ())


def _read_pair(pair: str) -> tuple[str, Json]:
    key, equals, value = pair.partition("=")
    if not (key and equals):
        raise UsageError(f"Expected KEY=VALUE, such as split=test, not {pair!r}.")
    try:
        return key, parse_json(value)
    except ValueError:
        return key, value
