"""`tool-envs play`."""

import secrets
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from tool_envs.agents import Agent, human, play
from tool_envs.chat_form import as_line
from tool_envs.cli.options import EnvId, Kwargs, read_pairs
from tool_envs.cli.screen import show_counts
from tool_envs.env import ToolEnv, unwrap
from tool_envs.environments import make_env
from tool_envs.trajectory import TrajectoryWriter, Turn, record_episode


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
    records: Annotated[
        Path | None, typer.Option(help="Append a record of the episode to the store in this folder.")
    ] = None,
) -> None:
    """Be the agent yourself."""
    options = read_pairs(option) | ({} if task is None else {"task_index": task})
    seed = secrets.randbelow(1 << 32) if seed is None else seed
    with closing(make_env(env_id, read_pairs(kwarg))) as env:
        observation, info = env.reset(seed=seed, options=options)
        typer.echo(f"task {info['task_id']}, interface: {info['interface']}")
        person = human(lambda: input("> "), typer.echo)
        if play(env, person, observation, key=0):
            _show_end(unwrap(env))
            if records:
                _keep(records, unwrap(env), person, seed)
        else:
            typer.echo("You left; the episode has no reward.")


def _keep(store: Path, env: ToolEnv, person: Agent, seed: int) -> None:
    """Append a record in which a person, and no policy, wrote the agent's side: nothing is trainable."""
    typed = Turn(policy_version=(), author="human", trainable=False)
    written = sum(message.role == "assistant" for message in env.episode.history)
    record = record_episode(env, person.name, person.version, seed, turns=[typed] * written)
    with TrajectoryWriter(store) as writer:
        writer.append(record)
    typer.echo(f"recorded in {store}: see it with `tool-envs view {store}`")


def _show_end(env: ToolEnv) -> None:
    typer.echo(as_line(env.episode.history[-1]))
    outcome = env.outcome
    if outcome is not None:
        parts = show_counts({name: int(value) for name, value in outcome.ledger.components.items()})
        typer.echo(f"{outcome.status} after {outcome.steps} steps, reward {outcome.reward} ({parts})")
