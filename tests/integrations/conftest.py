"""What holds for all tests of this folder: what they import from elsewhere, and how Ray runs."""

import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "examples"), str(ROOT / "benchmarks"), str(ROOT / "tests" / "trajectory")]

from compatibility_plugin import pytest_addoption, pytest_configure  # noqa: E402, F401

# Read when Ray is imported: its processes listen on loopback alone, and it reports to nobody.
os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture
def host_of(tmp_path):
    """Makes hosts of episodes over MCP, which record in a test's folder."""
    from mcp_games import recording_hosts

    with recording_hosts(tmp_path) as make:
        yield make


@pytest.fixture(scope="module")
def desk():
    """A server over HTTP."""
    from http_servers import serving
    from toy_domain import ENV_ID

    with serving(ENV_ID) as server:
        yield server
