"""What only `make sweep` runs, or runs on more examples, since it takes minutes."""

import os

import pytest
from hypothesis import settings

IN_SWEEP = "SERVICE_TASKS" in os.environ

only_in_sweep = pytest.mark.skipif(not IN_SWEEP, reason="takes minutes; `make sweep` runs it")


def examples(few, in_sweep):
    """How many examples a law is tried on, and on how many in a sweep."""
    return settings(max_examples=in_sweep if IN_SWEEP else few)
