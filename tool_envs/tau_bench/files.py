"""Loads a tau-bench split: from our plain layout, from a tau-bench checkout, or the built-in sample.

The plain layout is `databases/<domain>/<table>.json` and `tasks/<domain>_<split>.json`, all JSON.
"""

import os
from pathlib import Path

from tool_envs.errors import DataFileError, UnknownNameError
from tool_envs.messages import Json
from tool_envs.tau_bench.checkout import find_package, load_checkout
from tool_envs.tau_bench.formats import (
    TauFiles,
    check_tasks,
    domain_format,
    parse_json,
    read_database,
    read_tasks,
)

SAMPLE = Path(__file__).parent / "sample"
"""A small task set of our own, in the plain layout."""


def load(path: str | os.PathLike[str] | None, domain: str, split: str) -> TauFiles:
    """Load one split.

    Files are read at every call and parsed when their content is new.

    Args:
        path: A folder of the plain layout, a tau-bench checkout or the `tau_bench` package in one; None: the
            built-in sample.
        domain: `retail` or `airline`.
        split: `test`, say.

    Raises:
        UnknownNameError: There is no such domain or split.
        DataFileError: The folder or a file is missing or damaged.
    """
    domain_format(domain)
    root = SAMPLE if path is None else Path(path)
    if not root.is_dir():
        raise DataFileError(root, "expected a folder, found a file" if root.exists() else "no such folder")
    if find_package(root):
        return load_checkout(root, domain, split)
    return load_folder(root, domain, split)


def load_folder(path: str | os.PathLike[str], domain: str, split: str) -> TauFiles:
    """Load one split from a folder of the plain layout; raises as `load` does."""
    root = Path(path)
    domain_format(domain)
    for name in ("databases", "tasks"):
        if not (root / name).is_dir():
            hint = "expected folders databases/ and tasks/, or a tau-bench checkout (tau_bench/envs/)"
            raise DataFileError(root, f"{hint}; there is no {name}/")
    splits = sorted(file.stem.removeprefix(f"{domain}_") for file in root.glob(f"tasks/{domain}_*.json"))
    if split not in splits:
        raise UnknownNameError("split", split, splits)
    tasks = read_tasks(root / "tasks" / f"{domain}_{split}.json", domain, split, _parse_tasks)
    return TauFiles(read_database(root / "databases" / domain, domain), tasks)


def _parse_tasks(path: Path, content: bytes) -> list[Json]:
    value = parse_json(path, content)
    check_tasks(path, value)
    tasks: list[Json] = value["tasks"]
    return tasks
