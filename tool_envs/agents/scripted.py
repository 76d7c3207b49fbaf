"""The gold agent, the oracle, and the trivial agents that no sound task rewards.

`gold`, `oracle` and `dump` are privileged: they read the hidden task. All others see what any agent sees.
"""

from collections.abc import Callable

from tool_envs.agents.agent import Agent, Policy, Script, say, source_version
from tool_envs.agents.guess import guess
from tool_envs.env import Observation, ToolEnv
from tool_envs.errors import UnknownNameError, UsageError
from tool_envs.messages import Json, ToolCall
from tool_envs.schema import Tool
from tool_envs.schema.sampling import sample_value
from tool_envs.spaces import ToolCallSpace

_NOTHING = "..."
_GOODBYE = "Goodbye, and have a nice day."
_REFUSAL = "I am sorry, but I cannot help you with that."
_TRANSFER = "The user asks for a human."


def load_agent(name: str) -> Agent:
    """A scripted agent by its name.

    Raises:
        UnknownNameError: There is none of that name; the message lists those that there are.
    """
    if name not in AGENTS:
        raise UnknownNameError("agent", name, AGENTS)
    return Agent(name, source_version(__name__), AGENTS[name])


# --- Builders


def _talking(words: Callable[[Observation], str]) -> Policy:
    """Only talks; what it says follows from what it has just seen."""

    def policy(_env: ToolEnv, observation: Observation, _key: int) -> Script:
        while True:
            observation = yield say(words(observation))

    return policy


def _planned(plan: Callable[[ToolEnv], Script]) -> Policy:
    """Carries out a plan, whatever comes back, and then says goodbye until the user hangs up."""

    def policy(env: ToolEnv, _observation: Observation, _key: int) -> Script:
        yield from plan(env)
        while True:
            yield say(_GOODBYE)

    return policy


# --- Plans


def _solve(env: ToolEnv) -> Script:
    """The task's own actions, then all its facts in one message, then the end call if it has one."""
    if env.domain.oracle and not (env.task.actions or env.task.facts):
        raise UsageError("These tasks come without actions to play; `oracle` finds those that solve them.")
    end_tools = [tool.name for tool in _end_tools(env)]
    for call in env.task.actions:
        if call.name not in end_tools:
            yield _as_action(call)
    yield from _tell_facts(env)
    for call in env.task.actions:
        if call.name in end_tools:
            yield _as_action(call)


def _tell_facts(env: ToolEnv) -> Script:
    """All the facts of the task in one message: no agent that only tells what it can read does better."""
    if env.task.facts:
        yield say(", ".join(env.task.facts))


def _transfer(env: ToolEnv) -> Script:
    """A call of the first tool that ends the episode; without one, only the words."""
    tools = _end_tools(env)
    yield {"name": tools[0].name, "arguments": _fill(tools[0])} if tools else say(_TRANSFER)


def _end_tools(env: ToolEnv) -> list[Tool]:
    return [tool for tool in env.schema.tools.values() if tool.effect == "end"]


def _fill(tool: Tool) -> dict[str, Json]:
    """The plainest valid arguments, with a short text wherever one may stand."""
    arguments: dict[str, Json] = sample_value(tool.parameters, lambda _: 0)
    for name in arguments:
        if tool.accepts(worded := {**arguments, name: _TRANSFER}):
            arguments = worded
    return arguments


def _as_action(call: ToolCall) -> Json:
    return {"name": call.name, "arguments": call.arguments}


def _oracle(env: ToolEnv, _observation: Observation, _key: int) -> Script:
    """The domain's own solver, which decides anew at each step."""
    if env.domain.oracle is None:
        raise UsageError("This environment has no oracle; `gold` plays the actions that its tasks come with.")
    while True:
        yield env.domain.oracle(env.episode)


def _random(env: ToolEnv, _observation: Observation, key: int) -> Script:
    space = ToolCallSpace(env.schema, seed=key)
    while True:
        yield space.sample()


TRIVIAL: dict[str, Policy] = {
    "silent": _talking(lambda _: _NOTHING),
    "transfer": _planned(_transfer),
    "refuse": _talking(lambda _: _REFUSAL),
    "repeat": _talking(lambda seen: (seen["role"] == "user" and seen["content"]) or _NOTHING),
    "dump": _planned(_tell_facts),
    "guess": guess,
    "random": _random,
}
"""The agents that no task may reward, by name."""

AGENTS: dict[str, Policy] = {"gold": _planned(_solve), "oracle": _oracle, **TRIVIAL}
"""All scripted agents by name."""
