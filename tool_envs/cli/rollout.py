"""`tool-envs rollout`."""

import asyncio
import json
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from tool_envs.agents import AGENTS
from tool_envs.cli.options import EnvId, Kwargs, read_pairs
from tool_envs.cli.policies import ApiKeyEnv, Arguments, BaseUrl, JsonCalls, load_policy
from tool_envs.cli.screen import console, progress, show_counts, show_rate, table_of
from tool_envs.errors import UsageError
from tool_envs.rollout import EndedEpisode, Engine, Plan, RolloutSummary, Versions
from tool_envs.trajectory.record import PolicyVersion

_INTERRUPTED = 130
"""The exit code of what Ctrl-C ended, as in shells."""


def roll_out(
    env_id: EnvId,
    policy: Annotated[
        str,
        typer.Option(help=f"Who acts: {', '.join(AGENTS)}, or openai:MODEL, a model behind a server."),
    ],
    episodes: Annotated[int, typer.Option(min=1, help="How many in all: those of the first tasks.")],
    out: Annotated[
        Path, typer.Option(help="Folder of the run. The same command goes on with what is left of it.")
    ],
    kwarg: Kwargs = None,
    group_size: Annotated[int, typer.Option(min=1, help="Episodes of each task.")] = 1,
    concurrency: Annotated[int, typer.Option(min=1, help="Episodes at once.")] = 64,
    retries: Annotated[int, typer.Option(min=0, help="How often a failed episode is tried again.")] = 2,
    deadline: Annotated[float | None, typer.Option(help="Seconds for an episode; default: any time.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the run; it never chooses tasks.")] = 0,
    base_url: BaseUrl = None,
    api_key_env: ApiKeyEnv = None,
    argument: Arguments = None,
    json_calls: JsonCalls = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as one JSON object.")] = False,
) -> None:
    """Play many episodes at once and record them; exit code 1 if some failed, 130 after Ctrl-C."""
    if episodes % group_size:
        raise UsageError(f"Expected a multiple of the group size {group_size} as --episodes, not {episodes}.")
    asked = {"base_url": base_url, "api_key_env": api_key_env, "arguments": read_pairs(argument)}
    actor, version = load_policy(policy, asked, json_calls=json_calls)
    engine = Engine(
        env_id,
        read_pairs(kwarg),
        actor,
        Versions(PolicyVersion(version=version, number=0)),
        Plan(range(episodes // group_size), group_size, seed),
        out=out,
        concurrency=concurrency,
        retries=retries,
        deadline=deadline,
    )
    summary = _run(engine, f"{policy} on {env_id}")
    if as_json:
        typer.echo(json.dumps(summary.to_json(), allow_nan=False))
    else:
        console().print(summary_table(summary, f"{policy} on {env_id}"))
    if summary.failed:
        typer.echo(
            f"{summary.failed} episodes failed; {out / 'failures.jsonl'} says why. "
            "The same command tries them again.",
            err=True,
        )
        raise typer.Exit(1)


def _run(engine: Engine, title: str) -> RolloutSummary:
    try:
        with progress(title) as tick:

            def note(_: EndedEpisode, to_play: int) -> None:
                tick(to_play)

            return asyncio.run(engine.run(note))
    except KeyboardInterrupt:
        typer.echo("interrupted; the same command goes on with what is left", err=True)
        raise typer.Exit(_INTERRUPTED) from None


def summary_table(summary: RolloutSummary, title: str) -> Table:
    """A summary to be read."""
    table = table_of("rollout", title)
    for name, value in (
        ("episodes", str(summary.episodes)),
        (
            "recorded",
            f"{summary.recorded}, {summary.resumed} of them before: {show_counts(summary.statuses)}",
        ),
        ("failed", str(summary.failed)),
        ("mean reward", f"{show_rate(summary.mean_reward)} of {summary.graded} completed episodes"),
        ("failed attempts", show_counts(summary.failed_attempts)),
        ("cost in US dollars", f"{summary.cost:.4f}"),
        ("seconds", f"{summary.seconds:.2f}"),
    ):
        table.add_row(name, value)
    return table
