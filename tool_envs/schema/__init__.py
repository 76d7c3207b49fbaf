"""Tool schemas: the versioned action space of a domain."""

from tool_envs.schema.arrays_file import load_arrays, read_arrays
from tool_envs.schema.diff import SchemaDiff
from tool_envs.schema.tool_schema import Effect, Tool, ToolSchema, load_schema

__all__ = ["Effect", "SchemaDiff", "Tool", "ToolSchema", "load_arrays", "load_schema", "read_arrays"]
