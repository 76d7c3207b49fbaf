"""Schema versions that call a parameter by another name: calls to and from the names of the first version."""

from collections.abc import Mapping, Sequence

import msgspec

from tool_envs.domain import Solver
from tool_envs.episode import Episode
from tool_envs.messages import Json, Message, ToolCall
from tool_envs.schema import Tool, ToolSchema


class Renames:
    """What later schema versions call the parameters of the first one.

    Args:
        names: Name in the first version -> its name in later ones. No version uses a later name for
            something else.
    """

    def __init__(self, names: Mapping[str, str]) -> None:
        self._later = dict(names)
        self._first = {later: first for first, later in names.items()}

    def first_call(self, call: ToolCall) -> ToolCall:
        """The call as under the first version."""
        if not self._first.keys() & call.arguments.keys():
            return call
        return ToolCall(call.name, _renamed(call.arguments, self._first), call.id)

    def first_history(self, history: Sequence[Message]) -> Sequence[Message]:
        """The history with calls as under the first version."""
        if not any(self._first.keys() & call.arguments.keys() for m in history for call in m.tool_calls):
            return history
        return [
            msgspec.structs.replace(message, tool_calls=tuple(map(self.first_call, message.tool_calls)))
            for message in history
        ]

    def solver_for(self, schema: ToolSchema, solver: Solver) -> Solver:
        """A solver that speaks the first version, as one that speaks another."""

        def solve(episode: Episode) -> Json:
            action = solver(episode)
            arguments = self.arguments_for(schema.tools[action["name"]], action["arguments"])
            return {"name": action["name"], "arguments": arguments}

        return solve

    def arguments_for(self, tool: Tool, arguments: Mapping[str, Json]) -> dict[str, Json]:
        """Arguments with the names of the first version, as a tool of any version calls them."""
        known = tool.parameters.get("properties", {})
        return _renamed(arguments, {first: later for first, later in self._later.items() if later in known})


NO_RENAMES = Renames({})
"""Of a domain whose versions all use the same names."""


def _renamed(arguments: Mapping[str, Json], names: Mapping[str, str]) -> dict[str, Json]:
    return {names.get(name, name): value for name, value in arguments.items()}
