"""The built-in tasks in tau-bench's form."""

import pytest

from tool_envs.tau_bench.files import load


@pytest.fixture(scope="session")
def sample():
    return load(None, "retail", "test")
