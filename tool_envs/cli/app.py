"""Puts the commands together, and turns errors made on purpose into messages."""

from typing import Any

import gymnasium
import typer
from typer.core import TyperGroup

from tool_envs.cli.audit import audit_environment
from tool_envs.cli.compare import attribute_change, compare
from tool_envs.cli.demo import demo
from tool_envs.cli.evaluate import evaluate_agent
from tool_envs.cli.export import export_store
from tool_envs.cli.filter import filter_records
from tool_envs.cli.list import list_environments
from tool_envs.cli.play import play_as_human
from tool_envs.cli.replay import replay_records
from tool_envs.cli.repo import repo_app
from tool_envs.cli.rescore import rescore_records
from tool_envs.cli.rollout import roll_out
from tool_envs.cli.schema import schema_app
from tool_envs.cli.serve import serve_app
from tool_envs.cli.serve_mcp import serve_mcp
from tool_envs.cli.slices import slice_app
from tool_envs.cli.stats import show_stats
from tool_envs.cli.tasks import list_tasks
from tool_envs.cli.validate import validate_records
from tool_envs.cli.view import view
from tool_envs.errors import ReplayMismatchError, ToolEnvsError


class _Commands(TyperGroup):
    """Shows an error that was raised on purpose as its message: exit code 1 for a mismatch, else 2."""

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - Click's types, whose module depends on Typer's version
        try:
            return super().invoke(ctx)
        except (ToolEnvsError, gymnasium.error.Error) as problem:
            typer.echo(f"tool-envs: {problem}", err=True)
            raise typer.Exit(1 if isinstance(problem, ReplayMismatchError) else 2) from None


app = typer.Typer(
    cls=_Commands,
    help="Environments for agents that use tools.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("list")(list_environments)
app.command("play")(play_as_human)
app.command("eval")(evaluate_agent)
app.command("rescore")(rescore_records)
app.command("compare")(compare)
app.command("attribute")(attribute_change)
app.command("rollout")(roll_out)
app.command("view")(view)
app.command("replay")(replay_records)
app.command("stats")(show_stats)
app.command("validate")(validate_records)
app.command("filter")(filter_records)
app.command("export")(export_store)
app.command("tasks")(list_tasks)
app.command("audit")(audit_environment)
app.command("demo")(demo)
app.add_typer(schema_app, name="schema")
app.add_typer(slice_app, name="slice")
app.add_typer(repo_app, name="repo")
app.add_typer(serve_app, name="serve")
serve_app.command("mcp")(serve_mcp)


def main() -> None:
    """Run the command line."""
    app()
