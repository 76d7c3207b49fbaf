"""What only `make sweep` runs, since it takes minutes."""

import os

import pytest

IN_SWEEP = "SERVICE_TASKS" in os.environ

only_in_sweep = pytest.mark.skipif(not IN_SWEEP, reason="takes minutes; `make sweep` runs it")
