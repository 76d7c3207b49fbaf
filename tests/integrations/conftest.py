"""The tests of this folder import the examples, the benchmark of learning, and what makes records."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "examples"), str(ROOT / "benchmarks"), str(ROOT / "tests" / "trajectory")]
