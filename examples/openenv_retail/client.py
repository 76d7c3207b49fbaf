"""The client of a server of this package."""

from tool_envs.integrations.openenv import ToolClient

__all__ = ["ToolClient"]
