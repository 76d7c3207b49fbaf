"""The forms that records are exported in: a new one is a file with a function, and a line here."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from tool_envs.errors import UnknownNameError, UsageError
from tool_envs.trajectory.exports import areal, atif, openai, skyrl, trl, verl
from tool_envs.trajectory.exports.source import Row, Source

Use: TypeAlias = Literal["archive", "imitation", "reinforcement"]
"""What rows are for: all records are kept; or trained on, without infrastructure failures; or trained on by
their reward, so that those without one are left out too."""


@dataclass(frozen=True, kw_only=True)
class Format:
    """How records are exported.

    Attributes:
        version: The version of the rows; goes up with any change of them.
        use: What the rows are for.
        of_tokens: Whether the rows are made of tokens, and so take a tokenizer for records without.
        rows: The rows of a record; none when it has nothing to train on. Changes nothing.
        file: The name of the file.
        write: Writes rows to it.
    """

    version: int
    use: Use
    of_tokens: bool
    rows: Callable[[Source], list[Any]]
    file: str = "rows.jsonl"
    write: Callable[[Iterable[Any], Path], None]


def write_jsonl(rows: Iterable[Row], path: Path) -> None:
    """Write rows as lines of ASCII JSON, which any text survives.

    Raises:
        ValueError: A row holds what JSON cannot: NaN, or an integer of thousands of digits.
    """
    with path.open("w", encoding="ascii", newline="\n") as file:
        for row in rows:
            file.write(json.dumps(row, allow_nan=False, separators=(",", ":")) + "\n")


def _write_parquet(records: Iterable[Any], path: Path) -> None:
    try:
        from tool_envs.trajectory.parquet import write_parquet
    except ModuleNotFoundError as problem:
        raise UsageError(f"{problem}. For Parquet: pip install 'tool-envs[parquet]'.") from None
    write_parquet(records, path)


def _messages(use: Use, rows: Callable[[Source], list[Row]]) -> Format:
    return Format(version=1, use=use, of_tokens=False, rows=rows, write=write_jsonl)


def _tokens(use: Use, rows: Callable[[Source], list[Row]]) -> Format:
    return Format(version=1, use=use, of_tokens=True, rows=rows, write=write_jsonl)


_PARQUET = Format(
    version=1,
    use="archive",
    of_tokens=False,
    rows=lambda source: [source.record],
    file="records.parquet",
    write=_write_parquet,
)

FORMATS: dict[str, Format] = {
    "openai": _messages("imitation", openai.rows),
    "trl": _messages("imitation", trl.message_rows),
    "trl-tokens": _tokens("imitation", trl.token_rows),
    "verl": _tokens("reinforcement", verl.rows),
    "skyrl": _tokens("reinforcement", skyrl.rows),
    "areal": _tokens("reinforcement", areal.rows),
    "atif": _messages("archive", atif.rows),
    "parquet": _PARQUET,
}
"""By name."""


def find_format(name: str) -> Format:
    """A format by its name.

    Raises:
        UnknownNameError: There is none of that name.
    """
    if name not in FORMATS:
        raise UnknownNameError("format", name, FORMATS)
    return FORMATS[name]
