"""`tool-envs export`."""

import json
from pathlib import Path
from typing import Annotated

import typer

from tool_envs.cli.options import Kwargs, read_pairs
from tool_envs.cli.screen import console, progress, show_counts, table_of, ticked
from tool_envs.errors import UsageError
from tool_envs.trajectory import read_trajectories
from tool_envs.trajectory.exports import FORMATS, Tokenizer, export_records


def export_store(
    path: Annotated[Path, typer.Argument(help="Store of records, or a JSONL file.")],
    format_name: Annotated[str, typer.Option("--format", help=f"One of {', '.join(FORMATS)}.")],
    out: Annotated[Path, typer.Option(help="Folder to write to, missing or empty.")],
    tokenizer: Annotated[
        Path | None,
        typer.Option(help="Folder with a tokenizer and its chat template, for records without token ids."),
    ] = None,
    end: Annotated[
        str | None, typer.Option(help="Text that ends a turn, if it is not the tokenizer's end of sequence.")
    ] = None,
    kwarg: Kwargs = None,
    allow_slice_tasks: Annotated[
        bool,
        typer.Option(
            "--allow-slice-tasks", help="Export tasks that are for evaluation; the manifest says so."
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the manifest as one JSON object.")] = False,
) -> None:
    """Write records in the form that another system trains on, with a manifest beside them."""
    if end is not None and tokenizer is None:
        raise UsageError("`--end` is for the turns that `--tokenizer` makes; give that too.")
    chosen = None if tokenizer is None else _load_tokenizer(tokenizer, end)
    with progress(f"exporting {path}") as tick:
        records = ticked(read_trajectories(path), tick)
        manifest = export_records(
            records,
            format_name,
            out,
            tokenizer=chosen,
            overrides=read_pairs(kwarg),
            allow_slice_tasks=allow_slice_tasks,
        )
    if as_json:
        typer.echo(json.dumps(manifest.to_json(), allow_nan=False))
        return
    counts = manifest.counts
    table = table_of("export", str(out))
    for name, value in (
        ("format", f"{manifest.format.name}, version {manifest.format.version}"),
        ("records", f"{counts.exported} of {counts.read}: {show_counts(counts.statuses)}"),
        ("left out", show_counts(counts.left_out)),
        ("rows", str(counts.rows)),
        ("tasks", str(len(manifest.tasks))),
        ("policy versions", ", ".join(f"{v.agent} {v.version}" for v in manifest.policy_versions)),
        ("files", ", ".join(manifest.files)),
    ):
        table.add_row(name, value)
    console().print(table)


def _load_tokenizer(folder: Path, end: str | None) -> Tokenizer:
    try:
        from tool_envs.integrations.export_tokenizer import ExportTokenizer
    except ModuleNotFoundError as missing:
        raise UsageError(
            f"`--tokenizer` needs the library {missing.name}: pip install 'tool-envs[tokenizers]'."
        ) from None
    return ExportTokenizer(folder, end=end)
