"""`tool-envs eval`."""

import json
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from tool_envs.agents import AGENTS, load_agent
from tool_envs.cli.options import EnvId, Kwargs, read_pairs
from tool_envs.cli.screen import console, progress, show_counts, show_rate, table_of
from tool_envs.env import ToolEnv
from tool_envs.evaluation import EpisodeResult, Report, evaluate
from tool_envs.trajectory import TrajectoryWriter, record_episode

MAX_NOT_UNDERSTOOD = 0.05
"""Above this share of messages, a score says more about the user's understanding than about the agent."""

_SYNC_EVERY = 100
"""Records on their way to disk at once: scripted agents play faster than single ones get there."""


def evaluate_agent(
    env_id: EnvId,
    agent: Annotated[str, typer.Option(help=f"Who acts: {', '.join(AGENTS)}.")],
    kwarg: Kwargs = None,
    split: Annotated[str | None, typer.Option(help="Split of the tasks; the same as -k split=SPLIT.")] = None,
    tasks: Annotated[int | None, typer.Option(min=1, help="Only the first N tasks; default: all.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the evaluation; it never chooses tasks.")] = 0,
    out: Annotated[
        Path | None, typer.Option(help="Append a record of each episode to the store in this folder.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as one JSON object.")] = False,
) -> None:
    """Play an agent over tasks and report how often it succeeds."""
    kwargs = read_pairs(kwarg) | ({} if split is None else {"split": split})
    chosen = load_agent(agent)
    with ExitStack() as stack:
        tick = stack.enter_context(progress(f"{agent} on {env_id}"))
        writer = stack.enter_context(TrajectoryWriter(out, sync_every=_SYNC_EVERY)) if out else None

        def note(env: ToolEnv, result: EpisodeResult) -> None:
            # An episode without a step is not recorded: the environment may hold an older one.
            if writer and result.steps:
                writer.append(record_episode(env, chosen.name, chosen.version, result.seed))
            tick(tasks or len(env.domain.tasks))

        report = evaluate(
            env_id, kwargs, chosen, tasks=range(tasks) if tasks else None, seed=seed, on_episode=note
        )
    if as_json:
        typer.echo(json.dumps(report.to_json(), allow_nan=False))
    else:
        console().print(report_table(report))
    if (report.not_understood_rate or 0) > MAX_NOT_UNDERSTOOD:
        typer.echo(
            f"warning: the user did not understand {report.not_understood_rate:.1%} of the agent's messages; "
            "this agent needs a user that is a language model",
            err=True,
        )


def report_table(report: Report) -> Table:
    """A report without its single episodes."""
    table = table_of("evaluation", f"{report.agent} on {report.env_id}")
    user = report.user or {"name": "nobody", "version": ""}
    for name, value in (
        ("success rate", f"{show_rate(report.success_rate)} of {report.graded} graded episodes"),
        ("mean reward", show_rate(report.mean_reward)),
        ("mean steps", show_rate(report.mean_steps, 2)),
        ("episodes", f"{report.episodes}: {show_counts(report.outcomes)}"),
        ("agent's mistakes", show_counts(report.error_codes)),
        ("not understood by the user", show_rate(report.not_understood_rate)),
        ("interface", f"interface: {report.interface}"),
        ("schema", f"{report.schema_version}, sha256 {report.schema_sha256[:12]}"),
        ("data", f"digest {report.data_digest[:12]}"),
        ("grader", f"digest {report.grader_digest[:12]}"),
        ("user", f"{user['name']} {user['version']}"),
        ("agent version", report.agent_version),
        ("seed", str(report.seed)),
        ("seconds", f"{report.seconds:.2f}"),
    ):
        table.add_row(name, value)
    return table
