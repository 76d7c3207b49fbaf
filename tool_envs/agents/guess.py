"""An agent that looks nothing up: it proposes one write after the other until the user says yes."""

import re
from collections.abc import Iterator

from tool_envs.agents.agent import Script, say
from tool_envs.env import Observation, ToolEnv
from tool_envs.messages import Json
from tool_envs.schema import Tool
from tool_envs.schema.sampling import sample_value

_YES = re.compile(r"\s*(yes|sure|ok|okay|correct|please do|go ahead|that is right|exactly)\b", re.IGNORECASE)
_PROPOSAL = "I will {act} with {details}. Shall I go ahead (yes or no)?"


def guess(env: ToolEnv, observation: Observation, _key: int) -> Script:
    """Proposes each write with what the user's words hold, and makes it when the answer sounds like a yes."""
    heard = [observation["content"]]
    writes = [tool for tool in env.schema.tools.values() if tool.effect == "write"]
    while True:
        if not writes:
            observation = yield say("Shall I go ahead (yes or no)?")
        for tool in writes:
            arguments = dict(_guess_arguments(tool, " ".join(heard)))
            details = ", ".join(f"{name} {value}" for name, value in arguments.items())
            observation = yield say(_PROPOSAL.format(act=tool.name.replace("_", " "), details=details))
            heard.append(observation["content"])
            if _YES.match(observation["content"]):
                yield {"name": tool.name, "arguments": dict(_guess_arguments(tool, " ".join(heard)))}


def _guess_arguments(tool: Tool, heard: str) -> Iterator[tuple[str, Json]]:
    """For each parameter what the user's words hold of its form; else the plainest valid value."""
    for name, schema in tool.parameters.get("properties", {}).items():
        found = _find(schema, heard)
        yield name, found if found is not None else sample_value(schema, lambda _: 0)


def _find(schema: dict[str, Json], heard: str) -> Json:
    if "enum" in schema:
        return next((value for value in schema["enum"] if str(value) in heard), None)
    if schema.get("type") == "array":
        found = _find_all(schema["items"], heard)
        return found[: schema.get("maxItems", 1)] or None
    found = _find_all(schema, heard)
    return found[0] if found else None


def _find_all(schema: dict[str, Json], heard: str) -> list[str]:
    pattern = schema.get("pattern", "").removeprefix("^").removesuffix("$")
    return [match[0] for match in re.finditer(pattern, heard)] if pattern else []
