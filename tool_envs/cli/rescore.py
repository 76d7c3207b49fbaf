"""`tool-envs rescore`."""

import json
from pathlib import Path
from typing import Annotated

import typer

from tool_envs.cli.evaluate import report_table
from tool_envs.cli.options import DataPath, SliceArguments, slice_arguments
from tool_envs.cli.screen import console, progress, ticked
from tool_envs.evaluation import load_slice, write_report
from tool_envs.evaluation.rescore import rescore
from tool_envs.evaluation.slice_files import local_of
from tool_envs.trajectory import read_trajectories


def rescore_records(
    path: Annotated[Path, typer.Argument(help="Store of records, or a JSONL file.")],
    slice_id: Annotated[str, typer.Option("--slice", help="Frozen slice, such as retail/test@1.")],
    data_path: DataPath = None,
    kwarg: SliceArguments = None,
    out: Annotated[Path | None, typer.Option(help="Write the report here.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as one JSON object.")] = False,
) -> None:
    """Compute anew what recorded episodes earn on a slice, under its grader; no agent plays."""
    arguments = slice_arguments(data_path, kwarg)
    frozen = load_slice(slice_id, arguments)
    with progress(f"rescoring {path}") as tick:
        report = rescore(ticked(read_trajectories(path), tick), frozen, local_of(arguments))
    if out:
        write_report(report, out)
    if as_json:
        typer.echo(json.dumps(report.to_json(), allow_nan=False))
    else:
        console().print(report_table(report))
