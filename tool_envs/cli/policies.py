"""Policies by their names on the command line: scripted agents, and models behind servers."""

from typing import Annotated, Any

import typer

from tool_envs.agents import load_agent
from tool_envs.agents.llm import ChatPolicy
from tool_envs.chat import ChatClient
from tool_envs.errors import UsageError
from tool_envs.rollout import EpisodePolicy, Policy, ScriptedPolicy

MODEL = "openai:"
"""What the name of a model stands after, in that of a policy."""

BaseUrl = Annotated[
    str | None,
    typer.Option(help="Of the model's server; default: OPENAI_BASE_URL, with OPENAI_API_KEY."),
]
ApiKeyEnv = Annotated[
    str | None, typer.Option(help="Environment variable that holds the key to the model's server.")
]
Arguments = Annotated[
    list[str] | None,
    typer.Option(
        "-a", "--argument", metavar="KEY=VALUE", help="Argument of each request, such as temperature=0."
    ),
]
JsonCalls = Annotated[
    bool, typer.Option("--json-calls", help="For models without calls: replies held to a JSON Schema.")
]


def load_policy(name: str, asked: dict[str, Any], *, json_calls: bool) -> tuple[Policy | EpisodePolicy, str]:
    """A policy by its name, and its version.

    Args:
        name: Of a scripted agent, or `openai:MODEL`.
        asked: How a model is asked, and where: `base_url`, `api_key_env`, `arguments`.
        json_calls: Whether its replies are held to a JSON Schema, for want of calls.

    Raises:
        UnknownNameError: There is no such agent.
        UsageError: An agent that asks no model is told how to.
    """
    if name.startswith(MODEL):
        arguments = asked.pop("arguments")
        client = ChatClient(name.removeprefix(MODEL), **asked)
        policy = ChatPolicy(client, calls="json" if json_calls else "native", arguments=arguments)
        return policy, policy.version
    if json_calls or any(asked.values()):
        raise UsageError(f"The policy {name!r} asks no model: --base-url and the like go with openai:MODEL.")
    agent = load_agent(name)
    return ScriptedPolicy(agent), agent.version
