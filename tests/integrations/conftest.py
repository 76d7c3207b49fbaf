"""The tests of this folder import the examples, the benchmarks, and what makes records."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "examples"), str(ROOT / "benchmarks"), str(ROOT / "tests" / "trajectory")]

from compatibility_plugin import pytest_addoption, pytest_configure  # noqa: E402, F401
