"""tau-bench's way of calling a tool: no validation, every exception a text, no rollback."""

from tool_envs.database import Database
from tool_envs.errors import Code
from tool_envs.messages import CONTENT, RESPOND, ToolCall, ToolResult
from tool_envs.tau_bench.tools import shown
from tool_envs.toolkit import Toolkit, error

TOOL_ERROR = "tool_error"
"""The code of every answer that tau-bench begins with "Error"."""


class TauToolkit(Toolkit):
    """Calls tools as tau-bench's `Env.step` does.

    Arguments are not validated: bad ones reach the tool, whose exception becomes the observation. What the
    tool changed before it failed stays changed. Only a `respond` without text, on which tau-bench itself
    crashes, is answered with a code.
    """

    def check(self, call: ToolCall) -> ToolResult | None:
        """What is said to a `respond` without text."""
        if call.name == RESPOND and not isinstance(call.arguments.get(CONTENT), str):
            return error(Code.INVALID_ARGUMENTS, f"$.{CONTENT}: expected a string")
        return None

    def call(self, database: Database, call: ToolCall) -> ToolResult:
        """Run one call; an exception of the tool is the observation."""
        function = self.functions.get(call.name)
        if function is None:
            return ToolResult(f"Unknown action {call.name}", Code.UNKNOWN_TOOL)
        text = shown(function, database, call.arguments)
        return ToolResult(text, TOOL_ERROR if text.startswith("Error") else None)
