"""The name by which verifiers finds our tasks; what it names is in `tool_envs.integrations.verifiers`."""

from tool_envs.integrations.verifiers import CustomerEnv, ToolTaskset

__all__ = ["CustomerEnv", "ToolTaskset"]
