"""Runs an agent over frozen tasks, and says what came out and what it may be compared with."""

from tool_envs.evaluation.evaluate import evaluate, evaluate_slice
from tool_envs.evaluation.report import Report, read_report, write_report
from tool_envs.evaluation.results import EpisodeResult
from tool_envs.evaluation.slice import Slice
from tool_envs.evaluation.slice_files import load_slice, slice_ids

__all__ = [
    "EpisodeResult",
    "Report",
    "Slice",
    "evaluate",
    "evaluate_slice",
    "load_slice",
    "read_report",
    "slice_ids",
    "write_report",
]
