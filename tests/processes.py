"""What comes out of the same code in several processes, each with another hash seed."""

import os
import subprocess
import sys

HASH_SEEDS = ("0", "1", "4242")


def outputs(code: str, *arguments: object) -> set[bytes]:
    """All that is printed; one text where nothing depends on the order of sets or on `hash`."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return {
        subprocess.check_output(command, env={**os.environ, "PYTHONHASHSEED": seed}) for seed in HASH_SEEDS
    }
