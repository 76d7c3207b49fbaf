"""`tool-envs compare` and `tool-envs attribute`: what evaluations say about each other."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from tool_envs.cli.screen import console, show_interval, show_rate, table_of
from tool_envs.evaluation import read_report
from tool_envs.evaluation.compare import attribute, compare_reports
from tool_envs.evaluation.report import Report
from tool_envs.evaluation.view import show_tokens

AsJson = Annotated[bool, typer.Option("--json", help="Print the figures as one JSON object.")]

_SHOWN = 20


def compare(
    first: Annotated[Path, typer.Argument(help="Report of an evaluation.")],
    second: Annotated[Path, typer.Argument(help="Report of another one, of the same slice.")],
    as_json: AsJson = False,
) -> None:
    """Compare two evaluations task by task; refused unless their slices are equal."""
    before, after = read_report(first), read_report(second)
    found = compare_reports(before, after)
    if as_json:
        typer.echo(json.dumps(msgspec.to_builtins(found)))
        return
    paired = found.paired
    table = table_of("comparison", f"{_name(before)} and {_name(after)}")
    for mark in found.marks:
        table.add_row("NOT COMPARABLE", mark)
    for name, value in (
        ("slice", f"{before.slice.id}, {before.slice.coverage}, digest {before.slice.digest[:12]}"),
        (before.scores.score_name, f"{_show_score(before)} and {_show_score(after)}"),
        ("reward", f"comes from {found.reward}"),
        ("difference", show_interval(paired.difference)),
        ("p-value", f"{paired.p_value:.4f} ({paired.test})"),
        ("tasks that flip", show_rate(paired.flips)),
        ("smallest difference to be seen", show_rate(paired.smallest_difference)),
        *((name, f"{one} and {other}") for name, one, other in _show_effort(before, after)),
    ):
        table.add_row(name, value)
    screen = console()
    screen.print(table)
    if not found.changes:
        return
    changes = table_of("task", "first", "second")
    for change in found.changes[:_SHOWN]:
        changes.add_row(change.task_id, show_rate(change.first), show_rate(change.second))
    screen.print(changes)
    if len(found.changes) > _SHOWN:
        screen.print(f"... and {len(found.changes) - _SHOWN} tasks more")


def attribute_change(
    old_old: Annotated[Path, typer.Argument(help="Report of the old model on the old schema.")],
    new_old: Annotated[Path, typer.Argument(help="Of the new model on the old schema.")],
    old_new: Annotated[Path, typer.Argument(help="Of the old model on the new schema.")],
    new_new: Annotated[Path, typer.Argument(help="Of the new model on the new schema.")],
    as_json: AsJson = False,
) -> None:
    """Split a change of the score into what the model, the schema and both together did."""
    reports = [read_report(path) for path in (old_old, new_old, old_new, new_new)]
    found = attribute(*reports)
    if as_json:
        typer.echo(json.dumps(msgspec.to_builtins(found)))
        return
    table = table_of(f"change of the {reports[0].scores.score_name}", f"{found.tasks} tasks")
    for name in ("model", "schema", "interaction", "total"):
        table.add_row(name, show_interval(getattr(found, name)))
    console().print(table)


def _name(report: Report) -> str:
    return f"{report.agent.name} {report.agent.version[:12]}"


def _show_score(report: Report) -> str:
    return show_interval(report.scores.score)


def _show_effort(before: Report, after: Report) -> Iterator[tuple[str, str, str]]:
    """What both took beside their success: a name, and the figure of each."""
    first, second = before.scores, after.scores
    yield "mean steps", show_rate(first.mean_steps, 2), show_rate(second.mean_steps, 2)
    yield "agent's tokens", show_tokens(first.agent_tokens), show_tokens(second.agent_tokens)
    yield "user's tokens", show_tokens(first.user_tokens), show_tokens(second.user_tokens)
    yield "cost", f"{first.cost:.4f} USD", f"{second.cost:.4f} USD"
