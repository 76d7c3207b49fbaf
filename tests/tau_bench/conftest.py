"""Golden values of tau-bench, and its data where it is at hand."""

import json

import pytest

from tool_envs.tau_bench.files import load


@pytest.fixture(scope="session")
def golden(tau_bench_path):
    return {
        name: json.loads((tau_bench_path / "golden" / f"retail_{name}.json").read_bytes())
        for name in ("test", "dev", "random")
    }


@pytest.fixture(scope="session")
def splits(tau_bench_path):
    return {split: load(tau_bench_path, "retail", split) for split in ("test", "dev")}


@pytest.fixture(scope="session")
def data(splits):
    return splits["test"].data


@pytest.fixture(scope="session")
def sample():
    return load(None, "retail", "test")
