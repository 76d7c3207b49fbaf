"""The tests of this folder import the examples, and the benchmark of learning."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "examples"), str(ROOT / "benchmarks")]
