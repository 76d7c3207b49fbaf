"""The Python in which the tests of a repository run: one that the user names, with pytest in it."""

import functools
import json
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

from tool_envs.errors import UsageError
from tool_envs.repo.sandbox import Limits, Sandbox, SandboxError

_WHERE = "import json, sys; print(json.dumps([sys.prefix, sys.base_prefix]))"


class Interpreter(NamedTuple):
    """An interpreter.

    Attributes:
        path: Its absolute path; links are kept, since a virtual environment is told by them.
        folders: What it must be able to read: its own installation, and the one that it was made from.
    """

    path: Path
    folders: tuple[Path, ...]


@functools.cache
def find_interpreter(python: str) -> Interpreter:
    """The interpreter of that path or name.

    Raises:
        UsageError: It is none that can be run.
    """
    found = shutil.which(python)
    try:
        if found is None:
            raise FileNotFoundError("there is none of that name")
        said = subprocess.run([found, "-I", "-c", _WHERE], capture_output=True, check=True, timeout=60)  # noqa: S603 - the user's own
        folders = {Path(prefix) for prefix in json.loads(said.stdout)}
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise UsageError(f"python={python!r} is expected to be a Python interpreter: {error}") from error
    return Interpreter(Path(found).absolute(), tuple(sorted(folders)))


def check_pytest(interpreter: Interpreter, sandbox: Sandbox) -> None:
    """Hold an interpreter to importing pytest in a sandbox, so that runs which do not are the code's fault.

    Raises:
        SandboxError: It cannot; the message says what to do.
    """
    with tempfile.TemporaryDirectory(prefix="tool-envs-") as folder:
        done = sandbox.run(
            [str(interpreter.path), "-s", "-c", "import pytest, unittest.mock"],
            Path(folder),
            limits=Limits(),
            readable=interpreter.folders,
        )
    if done.exit_code != 0:
        raise SandboxError(
            f"{interpreter.path} cannot import pytest in the sandbox {sandbox.name!r}: install pytest, and "
            "what the project needs, in it (no editable installs), or name another python. It said: "
            f"{done.output.strip()}"
        )
