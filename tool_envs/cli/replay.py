"""`tool-envs replay`."""

from pathlib import Path
from typing import Annotated

import typer

from tool_envs.cli.options import Kwargs, read_pairs
from tool_envs.cli.screen import progress
from tool_envs.errors import ReplayMismatchError
from tool_envs.trajectory import read_trajectories, replay_each


def replay_records(
    path: Annotated[Path, typer.Argument(help="Store of records, or a JSONL file.")],
    kwarg: Kwargs = None,
) -> None:
    """Run recorded actions again; every observation, reward and digest must be met."""
    met = 0
    with progress(f"replaying {path}") as tick:
        try:
            for _ in replay_each(read_trajectories(path), **read_pairs(kwarg)):
                met += 1
                tick(None)
        except ReplayMismatchError as mismatch:
            raise ReplayMismatchError(f"{path}, episode {met + 1}: {mismatch}") from None
    typer.echo(f"{met} episodes replayed; every observation, reward and digest was met again")
