"""`tool-envs filter`."""

import json
from pathlib import Path
from typing import Annotated

import typer

from tool_envs.chat import ChatClient
from tool_envs.cli.options import Kwargs, read_pairs
from tool_envs.cli.screen import console, progress, show_counts, table_of
from tool_envs.errors import UnknownNameError
from tool_envs.judging import (
    CONCURRENCY,
    ChatFilterJudge,
    ChecklistJudge,
    FilterJudge,
    RubricOf,
    TaskRubrics,
    filter_store,
    read_rubric,
)

_MOST_REASONS = 8


def filter_records(
    path: Annotated[Path, typer.Argument(help="Store of records, or a JSONL file.")],
    judge: Annotated[str, typer.Option(help="Who judges: checklist, which asks no model, or openai:MODEL.")],
    out: Annotated[Path, typer.Option(help="Folder for the records with their verdicts.")],
    rubric: Annotated[
        Path | None, typer.Option(help="Rubric of the kind filter for all records; default: each task's own.")
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(help="Where MODEL is served; default: OPENAI_BASE_URL and OPENAI_API_KEY.")
    ] = None,
    api_key_env: Annotated[
        str | None, typer.Option(help="Environment variable that holds the key to --base-url.")
    ] = None,
    concurrency: Annotated[int, typer.Option(min=1, help="Records judged at once.")] = CONCURRENCY,
    kwarg: Kwargs = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the counts as one JSON object.")] = False,
) -> None:
    """Judge which records are worth fine-tuning on; the verdict is no reward. Run again, it goes on."""
    chosen, rubric_of = _find_judge(judge, base_url, api_key_env), _find_rubrics(rubric, kwarg)
    with progress(f"filtering {path}") as tick:
        filtered = filter_store(
            path, out, rubric_of, chosen, concurrency=concurrency, on_record=lambda _: tick(None)
        )
    if as_json:
        typer.echo(json.dumps(filtered.to_json()))
    else:
        table = table_of("records", f"{path}, judged by {chosen.name} {chosen.version}")
        table.add_row("kept", str(filtered.kept))
        table.add_row("dropped", str(filtered.dropped))
        table.add_row("not judged", str(filtered.not_judged))
        most = dict(list(filtered.reasons.items())[:_MOST_REASONS])
        more = len(filtered.reasons) - len(most)
        table.add_row("reasons", show_counts(most) + (f", and {more} more" if more else ""))
        console().print(table)
    if filtered.not_judged:
        typer.echo(f"warning: the judge failed on {filtered.not_judged} records: no verdict", err=True)


def _find_judge(name: str, base_url: str | None, api_key_env: str | None) -> FilterJudge:
    if name == ChecklistJudge.name:
        return ChecklistJudge()
    provider, _, model = name.partition(":")
    if provider == "openai" and model:
        return ChatFilterJudge(ChatClient(model, base_url=base_url, api_key_env=api_key_env))
    raise UnknownNameError("judge", name, [ChecklistJudge.name, "openai:MODEL"])


def _find_rubrics(path: Path | None, kwarg: list[str] | None) -> RubricOf:
    if path is None:
        return TaskRubrics(**read_pairs(kwarg)).filter_of
    rubric = read_rubric(path, "filter")
    return lambda _: rubric
