"""`tool-envs rollout`."""

import asyncio
import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from tool_envs.agents import AGENTS, load_agent
from tool_envs.agents.llm import ChatPolicy
from tool_envs.chat import ChatClient
from tool_envs.cli.options import EnvId, Kwargs, read_pairs
from tool_envs.cli.screen import console, progress, show_counts, show_rate, table_of
from tool_envs.errors import UsageError
from tool_envs.rollout import (
    EndedEpisode,
    Engine,
    EpisodePolicy,
    Plan,
    Policy,
    RolloutSummary,
    ScriptedPolicy,
    Versions,
)
from tool_envs.trajectory.record import PolicyVersion

_INTERRUPTED = 130
"""The exit code of what Ctrl-C ended, as in shells."""

_MODEL = "openai:"
"""What the name of a model stands after, in that of a policy."""


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
    base_url: Annotated[
        str | None, typer.Option(help="Of the model's server; default: OPENAI_BASE_URL, with OPENAI_API_KEY.")
    ] = None,
    api_key_env: Annotated[
        str | None, typer.Option(help="Environment variable that holds the key to the model's server.")
    ] = None,
    argument: Annotated[
        list[str] | None,
        typer.Option(
            "-a", "--argument", metavar="KEY=VALUE", help="Argument of each request, such as temperature=0."
        ),
    ] = None,
    json_calls: Annotated[
        bool, typer.Option("--json-calls", help="For models without calls: replies held to a JSON Schema.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as one JSON object.")] = False,
) -> None:
    """Play many episodes at once and record them; exit code 1 if some failed, 130 after Ctrl-C."""
    if episodes % group_size:
        raise UsageError(f"Expected a multiple of the group size {group_size} as --episodes, not {episodes}.")
    asked = {"base_url": base_url, "api_key_env": api_key_env, "arguments": read_pairs(argument)}
    actor, version = _load_policy(policy, asked, json_calls=json_calls)
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


def _load_policy(name: str, asked: dict[str, Any], *, json_calls: bool) -> tuple[Policy | EpisodePolicy, str]:
    """A policy by its name, and its version; `asked` says how a model is asked, and where."""
    if name.startswith(_MODEL):
        arguments = asked.pop("arguments")
        client = ChatClient(name.removeprefix(_MODEL), **asked)
        policy = ChatPolicy(client, calls="json" if json_calls else "native", arguments=arguments)
        return policy, policy.version
    if json_calls or any(asked.values()):
        raise UsageError(f"The policy {name!r} asks no model: --base-url and the like go with openai:MODEL.")
    agent = load_agent(name)
    return ScriptedPolicy(agent), agent.version


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
