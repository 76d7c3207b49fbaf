"""What all tests share: Hypothesis profiles and the place of tau-bench's data."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# How fast a machine draws examples is no law of ours, nor how long one may take.
patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
# On CI the same examples every time, so that a change is judged by what it changed; elsewhere new ones.
settings.register_profile("ci", patient, derandomize=True)
settings.register_profile("default", patient)
settings.load_profile("ci" if os.environ.get("CI") else "default")


@pytest.fixture(scope="session")
def tau_bench_path() -> Path:
    """The folder with tau-bench's databases, tasks and golden values; skips where there is none."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "tau_bench"
    path = Path(os.environ.get("TAU_BENCH_PATH") or beside).resolve()
    if not (path / "golden").is_dir():
        pytest.skip(f"no tau-bench data with golden values at {path}; set TAU_BENCH_PATH")
    return path
