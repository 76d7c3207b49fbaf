"""`tool-envs schema`: list, show and compare the tool schemas, and lock new ones."""

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from tool_envs.arrays.layout import layout_problems
from tool_envs.errors import ToolEnvsError
from tool_envs.schema import ToolSchema, load_schema
from tool_envs.schema.files import SchemaFiles, shipped_files
from tool_envs.schema.lock import lock_problems, unreleased, write_lock

schema_app = typer.Typer(help="The versioned tool schemas.", no_args_is_help=True)

Domain = Annotated[str, typer.Argument(help="Domain, such as retail.")]
Root = Annotated[
    Path | None,
    typer.Option(help="Folder of schema files; default: the ones of this package.", file_okay=False),
]


@schema_app.command("list")
def list_schemas() -> None:
    """All domains and their versions."""
    files = shipped_files()
    table = _table("domain", "version", "tools", "sha256")
    for domain in files.domains():
        for version in files.versions(domain):
            schema = load_schema(domain, version)
            table.add_row(domain, version, str(len(schema.tools)), schema.sha256[:12])
    _console().print(table)


@schema_app.command()
def show(
    domain: Domain,
    version: Annotated[str, typer.Argument(help="Version, such as 1.0.0.")],
    openai: Annotated[
        bool, typer.Option("--openai", help="Print the OpenAI-style tool list as JSON.")
    ] = False,
) -> None:
    """The tools of one schema."""
    schema = load_schema(domain, version)
    if openai:
        typer.echo(json.dumps(schema.to_openai(), indent=2, ensure_ascii=False))
        return
    console = _console()
    console.print(f"{domain} {version}, sha256 {schema.sha256}")
    console.print(_tool_table(schema))


@schema_app.command()
def diff(
    domain: Domain,
    old: Annotated[str, typer.Argument(help="Version to go from.")],
    new: Annotated[str, typer.Argument(help="Version to go to.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the changes as JSON.")] = False,
) -> None:
    """What changes between two versions, and how large a step of the version number that demands."""
    changes = load_schema(domain, old).diff(load_schema(domain, new))
    if as_json:
        values = [dataclasses.asdict(change) for change in changes.changes]
        typer.echo(json.dumps({"demands": changes.demands, "changes": values}, indent=2, ensure_ascii=False))
        return
    table = _table("tool", "where", "what", "breaking")
    for change in changes.changes:
        where = change.path or "the tool"
        table.add_row(change.tool, where, f"{change.kind} {change.action}", "yes" if change.breaking else "")
    console = _console()
    console.print(table)
    console.print(f"demands: {changes.demands}")


@schema_app.command()
def lock(
    check: Annotated[bool, typer.Option("--check", help="Write nothing; exit 1 if anything is off.")] = False,
    root: Root = None,
) -> None:
    """Release new schema files: their digests go into LOCK.json, and they never change again."""
    files = SchemaFiles(root) if root else shipped_files()
    if check:
        _check(files)
        return
    for problem in _problems(files):
        raise problem
    added = write_lock(files)
    for key in added:
        typer.echo(f"released {key}")
    typer.echo(f"{len(added)} new, {len(files.lock())} released in all")


def _problems(files: SchemaFiles) -> Sequence[ToolEnvsError]:
    return lock_problems(files) or layout_problems(files)


def _check(files: SchemaFiles) -> None:
    problems = [str(problem) for problem in _problems(files)]
    problems += [f"{files.path(key)}: not released; run `tool-envs schema lock`" for key in unreleased(files)]
    for problem in problems:
        typer.echo(problem, err=True)
    if problems:
        raise typer.Exit(1)
    typer.echo(f"{len(files.lock())} files are as they were released")


def _tool_table(schema: ToolSchema) -> Table:
    table = _table("tool", "effect", "parameters", "description")
    for tool in schema.tools.values():
        needed = tool.parameters.get("required", [])
        names = [name if name in needed else f"[{name}]" for name in tool.parameters.get("properties", {})]
        table.add_row(tool.name, tool.effect, ", ".join(names), tool.description)
    return table


def _table(*columns: str) -> Table:
    table = Table()
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def _console() -> Console:
    return Console(markup=False, highlight=False)
