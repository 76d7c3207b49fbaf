"""A person at a terminal as the agent."""

import json
from collections.abc import Callable

from tool_envs.agents.agent import Agent, Script, source_version
from tool_envs.env import Observation, ToolEnv

HELP = """\
What you type is said to the user. A tool is called as {"name": ..., "arguments": {...}}, in one line.
/tools: all tools; /tools NAME: one tool and its parameters; /policy: your orders; /help; /quit."""


def human(read: Callable[[], str], show: Callable[[str], None]) -> Agent:
    """The agent who acts as someone types.

    Args:
        read: Returns the next line; raises EOFError when there will be none.
        show: Shows a text to the person.
    """

    def policy(env: ToolEnv, observation: Observation, _key: int) -> Script:
        show(HELP)
        while True:
            show(f"{observation['name']}: {observation['content']}")
            line = _next_action(env, read, show)
            if line is None:
                return
            observation = yield line

    return Agent("human", source_version(__name__), policy)


def _next_action(env: ToolEnv, read: Callable[[], str], show: Callable[[str], None]) -> str | None:
    """The next line that is an action, after what was asked for before it; None: they quit."""
    while True:
        try:
            line = read().strip()
        except EOFError:
            return None
        if line == "/quit":
            return None
        if line.startswith("/"):
            show(_answer(env, line))
        elif line:
            return line


def _answer(env: ToolEnv, command: str) -> str:
    name, _, argument = command.partition(" ")
    if name == "/policy":
        return env.domain.policy_text
    if name != "/tools":
        return HELP
    if argument.strip() in env.schema.tools:
        tool = env.schema.tools[argument.strip()]
        return f"{tool.name}: {tool.description}\n{json.dumps(tool.parameters, indent=2, ensure_ascii=False)}"
    return "\n".join(f"{tool.name} [{tool.effect}]: {tool.description}" for tool in env.schema.tools.values())
