"""Gymnasium-compatible environments for agents that use tools."""

import gymnasium

from tool_envs.env import ToolEnv
from tool_envs.errors import ToolEnvsError
from tool_envs.schema import ToolSchema, load_schema

__all__ = ["ToolEnv", "ToolEnvsError", "ToolSchema", "load_schema"]

# `ToolEnv` itself refuses steps outside of an episode, so Gymnasium need not.
gymnasium.register(
    id="tool_envs/Booking-v0",
    entry_point="tool_envs.booking.env:BookingEnv",
    vector_entry_point="tool_envs.booking.env:BookingVectorEnv",
    order_enforce=False,
)
gymnasium.register(
    id="tool_envs/BookingArray-v0",
    entry_point="tool_envs.arrays.env:ArrayEnv",
    vector_entry_point="tool_envs.arrays.vector:ArrayVectorEnv",
    order_enforce=False,
    kwargs={"env_id": "tool_envs/Booking-v0"},
)
gymnasium.register(
    id="tool_envs/RepoSimilarity-v0",
    entry_point="tool_envs.repo.env:RepoSimilarityEnv",
    vector_entry_point="tool_envs.repo.env:RepoSimilarityVectorEnv",
    order_enforce=False,
)
gymnasium.register(
    id="tool_envs/RepoTests-v0",
    entry_point="tool_envs.repo.env:RepoTestsEnv",
    vector_entry_point="tool_envs.repo.env:RepoTestsVectorEnv",
    order_enforce=False,
)
gymnasium.register(
    id="tool_envs/Retail-v0",
    entry_point="tool_envs.retail.env:RetailEnv",
    vector_entry_point="tool_envs.retail.env:RetailVectorEnv",
    order_enforce=False,
)
gymnasium.register(
    id="tool_envs/RetailArray-v0",
    entry_point="tool_envs.arrays.env:ArrayEnv",
    vector_entry_point="tool_envs.arrays.vector:ArrayVectorEnv",
    order_enforce=False,
    kwargs={"env_id": "tool_envs/Retail-v0"},
)
gymnasium.register(
    id="tool_envs/TauBench-v0",
    entry_point="tool_envs.tau_bench.env:TauBenchEnv",
    vector_entry_point="tool_envs.tau_bench.env:TauBenchVectorEnv",
    order_enforce=False,
)
