"""`tool-envs validate`."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from tool_envs.cli.screen import console, progress, show_counts, table_of
from tool_envs.errors import UsageError
from tool_envs.trajectory import ValidationReport, validate
from tool_envs.trajectory.chat_tokenizer import ChatTokenizer


def validate_records(
    path: Annotated[Path, typer.Argument(help="Store of records, or a JSONL file.")],
    tokenizer: Annotated[
        Path | None,
        typer.Option(help="Folder of a tokenizer with a chat template: proves records without token ids."),
    ] = None,
    end: Annotated[
        str | None, typer.Option(help="Text that ends a turn, if it is not the tokenizer's end of sequence.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as one JSON object.")] = False,
) -> None:
    """Check every record and prove its loss mask; exit code 1 when one fails."""
    loaded = _load(tokenizer, end)
    with progress(f"validating {path}") as tick:
        report = validate(path, loaded, on_record=lambda: tick(None))
    if as_json:
        typer.echo(json.dumps(report.to_json(), allow_nan=False))
    else:
        _show(report, path)
    raise typer.Exit(1 if report.failed else 0)


def _load(folder: Path | None, end: str | None) -> ChatTokenizer | None:
    if folder is None:
        if end is not None:
            raise UsageError("`--end` is for the turns that `--tokenizer` makes; give that too.")
        return None
    try:
        from tool_envs.integrations.transformers import load_tokenizer
    except ModuleNotFoundError as missing:
        raise UsageError(
            f"`--tokenizer` needs the library {missing.name}: pip install 'tool-envs[tokenizers]'."
        ) from None
    return load_tokenizer(folder, end=end)


def _show(report: ValidationReport, path: Path) -> None:
    proven = {"sampled": report.sampled, "supervised": report.supervised}
    table = table_of("validation", str(path))
    table.add_row("records", str(report.records))
    table.add_row("proven", show_counts(proven))
    if report.unproven:
        table.add_row("not proven", f"{report.unproven} without token ids: --tokenizer proves their masks")
    table.add_row("tokens", f"{report.tokens}, of which {report.trained_tokens} are trained on")
    table.add_row("failed", f"{report.failed}: {show_counts(report.kinds)}")
    console().print(table)
    if report.problems:
        console().print(_table_of_problems(report))


def _table_of_problems(report: ValidationReport) -> Table:
    table = table_of("file", "line", "kind", "problem")
    for problem in report.problems:
        table.add_row(Path(problem.path).name, str(problem.line), problem.kind, problem.text)
    if report.failed > len(report.problems):
        table.add_row("...", "", "", f"and {report.failed - len(report.problems)} more")
    return table
