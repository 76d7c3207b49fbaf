"""The `tool-envs` command."""

from tool_envs.cli.app import main

__all__ = ["main"]
