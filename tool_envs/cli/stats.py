"""`tool-envs stats`."""

import json
from pathlib import Path
from typing import Annotated

import typer

from tool_envs.cli.screen import console, progress, show_counts, show_rate, table_of, ticked
from tool_envs.trajectory import read_trajectories, summarize


def show_stats(
    path: Annotated[Path, typer.Argument(help="Store of records, or a JSONL file.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the counts as one JSON object.")] = False,
) -> None:
    """Count what a store of records holds."""
    with progress(f"reading {path}") as tick:
        summary = summarize(ticked(read_trajectories(path), tick))
    if as_json:
        typer.echo(json.dumps(summary.to_json(), allow_nan=False))
        return
    table = table_of("records", str(path))
    for name, value in (
        ("episodes", f"{summary.episodes}: {show_counts(summary.statuses)}"),
        ("graded", f"{summary.graded} completed episodes"),
        *((f"mean reward by {source}", show_rate(mean)) for source, mean in summary.mean_rewards.items()),
        ("steps", str(summary.steps)),
        ("environments", show_counts(summary.environments)),
        ("schemas", show_counts({digest[:12]: count for digest, count in summary.schemas.items()})),
        ("policy versions", show_counts(summary.policy_versions)),
        ("agent's mistakes", show_counts(summary.tool_errors)),
    ):
        table.add_row(name, value)
    console().print(table)
