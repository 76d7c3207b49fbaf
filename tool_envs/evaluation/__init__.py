"""Runs an agent over the tasks of a split, and says what came out."""

from tool_envs.evaluation.environments import find_env_ids, make_env
from tool_envs.evaluation.evaluate import evaluate
from tool_envs.evaluation.report import EpisodeResult, Report

__all__ = ["EpisodeResult", "Report", "evaluate", "find_env_ids", "make_env"]
