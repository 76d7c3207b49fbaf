"""Where this package keeps on disk what is costly to make and can be made again."""

import contextlib
import os
import tempfile
from pathlib import Path


def cache_folder(kind: str, *parts: str) -> Path:
    """A folder of the user's cache that can be written to, made where there was none.

    It is in `XDG_CACHE_HOME` or `~/.cache`; where that cannot be, among the temporary files.
    """
    places = [os.environ.get("XDG_CACHE_HOME", ""), os.path.expanduser("~/.cache")]
    for place in filter(os.path.isabs, places):
        folder = Path(place, "tool-envs", kind, *parts)
        with contextlib.suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            if os.access(folder, os.W_OK):
                return folder
    folder = Path(tempfile.gettempdir(), f"tool-envs-{os.getuid()}", kind, *parts)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder
