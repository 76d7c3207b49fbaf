"""`tool-envs serve`: episodes for agents and trainers in other processes."""

import contextlib
import importlib
import os
import socket
from pathlib import Path
from typing import Annotated, Any

import typer

from tool_envs.cli.options import EnvId, Kwargs, read_pairs
from tool_envs.errors import UsageError
from tool_envs.serve.guard import listen
from tool_envs.serve.sessions import Sessions
from tool_envs.trajectory import TrajectoryWriter

serve_app = typer.Typer(help="Serve episodes to other processes.", no_args_is_help=True)

_SYNC_EVERY = 1000  # records; sessions have them on disk every second anyway

Host = Annotated[str, typer.Option(help="Where to listen; beyond loopback only with a token.")]
TokenEnv = Annotated[
    str | None, typer.Option(help="Environment variable that holds the token which requests must bear.")
]
Limit = Annotated[int, typer.Option("--sessions", min=1, help="How many sessions there can be at once.")]
Ttl = Annotated[float, typer.Option(help="Seconds of silence after which a session ends.")]


@serve_app.command("http")
def serve_http(
    env_id: EnvId,
    kwarg: Kwargs = None,
    out: Annotated[
        Path | None, typer.Option(help="Append records of the episodes to the store in this folder.")
    ] = None,
    host: Host = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any that is free.")] = 8000,
    token_env: TokenEnv = None,
    sessions: Limit = 1000,
    ttl: Ttl = 600.0,
) -> None:
    """Serve an environment over HTTP, for trainers: see /openapi.json, and tool_envs.serve.client."""
    server = load_server("http")
    token = read_token(token_env)
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(listen(host, port, token))
        records = None if out is None else stack.enter_context(TrajectoryWriter(out, sync_every=_SYNC_EVERY))
        served = Sessions(
            env_id, read_pairs(kwarg), records=records, limit=sessions, ttl=ttl, silence="fails"
        )
        typer.echo(url_of(host, listener))
        server.serve_http(served, listener, token)


def load_server(name: str) -> Any:  # noqa: ANN401 - a module, whose libraries may not be here
    """A module of `tool_envs.serve`, whose libraries are an extra of the same name.

    Raises:
        UsageError: They are not installed.
    """
    try:
        return importlib.import_module(f"tool_envs.serve.{name}")
    except ModuleNotFoundError as missing:
        raise UsageError(f"{missing}. Install it with `pip install 'tool-envs[{name}]'`.") from None


def url_of(host: str, listener: socket.socket) -> str:
    """Where a listener on a host is met."""
    return f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}"


def read_token(variable: str | None) -> str | None:
    """The token that an environment variable holds; None: none was named.

    Raises:
        UsageError: The variable is not set.
    """
    if variable is None:
        return None
    token = os.environ.get(variable)
    if not token:
        raise UsageError(f"The environment variable {variable} is to hold the token, but is not set.")
    return token
