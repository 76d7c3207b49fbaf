"""Running Python in a sandbox, for tests."""

import sys
import textwrap

import pytest

from tool_envs.repo.sandbox import Limits, SandboxError, find_sandbox

LIMITS = Limits(
    cpu_seconds=20,
    wall_seconds=120.0,
    memory_bytes=256 << 20,
    processes=32,
    output_bytes=4096,
    file_bytes=8 << 20,
    disk_bytes=32 << 20,
)


def sandbox_or_skip(name):
    """The sandbox of that name; skips where it cannot be had."""
    try:
        return find_sandbox(name)
    except SandboxError as error:
        pytest.skip(str(error))


def run_python(sandbox, folder, code, *arguments, limits=LIMITS, **options):
    """Run code in a sandbox, with the interpreter that runs the tests."""
    command = [sys.executable, "-I", "-c", textwrap.dedent(code), *map(str, arguments)]
    return sandbox.run(command, folder, limits=limits, **options)
