"""What only `make sweep` runs, since it takes minutes."""

import os

import pytest

only_in_sweep = pytest.mark.skipif(
    "SERVICE_TASKS" not in os.environ, reason="compiles for a minute or more; `make sweep` runs it"
)
