"""`tool-envs serve mcp`."""

import asyncio
from pathlib import Path
from typing import Annotated, Literal

import typer

from tool_envs.cli.options import EnvId, Kwargs, read_pairs
from tool_envs.cli.serve import Host, Limit, TokenEnv, Ttl, load_server, read_token, url_of
from tool_envs.serve.guard import listen
from tool_envs.serve.sessions import Sessions
from tool_envs.trajectory import TrajectoryWriter
from tool_envs.trajectory.refs import AgentRef


def serve_mcp(
    env_id: EnvId,
    out: Annotated[Path, typer.Option(help="Append records of the episodes to the store in this folder.")],
    kwarg: Kwargs = None,
    transport: Annotated[
        Literal["stdio", "http"],
        typer.Option(help="stdio: one episode, for who began this process; http: one for each client."),
    ] = "stdio",
    agent: Annotated[str, typer.Option(help="Who plays, for the records.")] = "mcp",
    agent_version: Annotated[str, typer.Option(help="The version of its policy.")] = "unknown",
    first_task: Annotated[int, typer.Option(min=0, help="Index of the first episode's task.")] = 0,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all episodes; it never chooses tasks.")] = 0,
    host: Host = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any that is free.")] = 8000,
    token_env: TokenEnv = None,
    sessions: Limit = 200,
    ttl: Ttl = 600.0,
) -> None:
    """Serve episodes over the Model Context Protocol, for agents: the schema's tools, and no score."""
    server = load_server("mcp")
    token = read_token(token_env)
    with TrajectoryWriter(out) as records:
        played = Sessions(env_id, read_pairs(kwarg), records=records, limit=sessions, ttl=ttl)
        player = AgentRef(name=agent, version=agent_version)
        episodes = server.Host(played, player, first_task=first_task, seed=seed)
        if transport == "stdio":
            asyncio.run(server.serve_stdio(episodes))
            return
        over_http = load_server("mcp_http")
        with listen(host, port, token) as listener:
            typer.echo(f"{url_of(host, listener)}{over_http.PATH}")
            over_http.http_server(episodes, token).run(sockets=[listener])
