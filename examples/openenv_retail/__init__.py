"""An online store behind OpenEnv's server."""

from tool_envs.integrations.openenv import ToolAction, ToolClient, ToolObservation, ToolState

__all__ = ["ToolAction", "ToolClient", "ToolObservation", "ToolState"]
