"""What holds for all tests of this folder: what they import from elsewhere, and how Ray runs."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "examples"), str(ROOT / "benchmarks"), str(ROOT / "tests" / "trajectory")]

from compatibility_plugin import pytest_addoption, pytest_configure  # noqa: E402, F401

# Read when Ray is imported: its processes listen on loopback alone, and it reports to nobody.
os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
