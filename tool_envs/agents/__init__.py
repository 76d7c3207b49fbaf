"""Agents that act by a script: the gold solution, the trivial agents, and a person at a terminal."""

from tool_envs.agents.agent import Agent, Policy, Script, play
from tool_envs.agents.human import human
from tool_envs.agents.scripted import AGENTS, TRIVIAL, load_agent

__all__ = ["AGENTS", "TRIVIAL", "Agent", "Policy", "Script", "human", "load_agent", "play"]
