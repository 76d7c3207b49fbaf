"""`tool-envs play`."""

from contextlib import closing
from typing import Annotated

import typer

from tool_envs.agents import human, play
from tool_envs.cli.options import EnvId, Kwargs, read_pairs
from tool_envs.cli.screen import show_counts
from tool_envs.env import ToolEnv, as_line, unwrap
from tool_envs.environments import make_env


def play_as_human(
    env_id: EnvId,
    kwarg: Kwargs = None,
    option: Annotated[
        list[str] | None, typer.Option("-o", "--option", metavar="KEY=VALUE", help="Option of reset.")
    ] = None,
    task: Annotated[int | None, typer.Option(help="Index of the task; default: drawn with the seed.")] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Seed of reset; default: another one each time.")
    ] = None,
) -> None:
    """Be the agent yourself."""
    options = read_pairs(option) | ({} if task is None else {"task_index": task})
    with closing(make_env(env_id, read_pairs(kwarg))) as env:
        observation, info = env.reset(seed=seed, options=options)
        typer.echo(f"task {info['task_id']}, interface: {info['interface']}")
        if play(env, human(lambda: input("> "), typer.echo), observation, key=0):
            _show_end(unwrap(env))
        else:
            typer.echo("You left; the episode has no reward.")


def _show_end(env: ToolEnv) -> None:
    typer.echo(as_line(env.episode.history[-1]))
    outcome = env.outcome
    if outcome is not None:
        parts = show_counts({name: int(value) for name, value in outcome.ledger.components.items()})
        typer.echo(f"{outcome.status} after {outcome.steps} steps, reward {outcome.reward} ({parts})")
