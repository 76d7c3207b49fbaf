"""What is sent and what comes back."""

from tool_envs.integrations.openenv import ToolAction, ToolObservation, ToolState

__all__ = ["ToolAction", "ToolObservation", "ToolState"]
