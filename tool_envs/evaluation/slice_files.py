"""Which slices there are: released ones, whose files never change, and foreign ones over a user's files."""

import functools
import importlib.resources
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import NamedTuple

import msgspec

from tool_envs.env import unwrap
from tool_envs.environments import make_env
from tool_envs.errors import DataFileError, SliceMismatchError, UnknownNameError, UsageError
from tool_envs.evaluation.slice import (
    FORMAT_VERSIONS,
    LOCAL,
    Slice,
    Upstream,
    describe_differences,
    differences,
    freeze,
    freeze_again,
)
from tool_envs.messages import Json
from tool_envs.schema.files import SchemaFiles, read_json
from tool_envs.schema.forms import check_form


class Foreign(NamedTuple):
    """A slice over files that the user has.

    Attributes:
        env_id: The environment.
        kwargs: Its arguments, without where the files lie.
        families: The families that its tasks are of; empty: any. Files with others are of something else.
        whole: What it is of, where no state of it is known by its digests: it is taken at its word.
        human_verified: People have checked of each task that its tests hold what its text asks for.
    """

    env_id: str
    kwargs: dict[str, Json]
    families: frozenset[str] = frozenset()
    whole: Upstream | None = None
    human_verified: bool = False


_TAU_BENCH = {"user": "scripted", "max_steps": 30, "parallel_calls": "run"}
_SWE_BENCH_VERIFIED = Foreign(
    "tool_envs/RepoTests-v0",
    {"split": "test", "sandbox": "bubblewrap", "max_steps": 100, "parallel_calls": "run"},
    families=frozenset(
        {"astropy/astropy", "django/django", "matplotlib/matplotlib", "mwaskom/seaborn", "pallets/flask"}
        | {"psf/requests", "pydata/xarray", "pylint-dev/pylint", "pytest-dev/pytest"}
        | {"scikit-learn/scikit-learn", "sphinx-doc/sphinx", "sympy/sympy"}
    ),
    whole=Upstream("SWE-bench Verified (2024-08-13)", 500),
    human_verified=True,
)
FOREIGN: Mapping[str, Foreign] = {
    "swe_bench/verified": _SWE_BENCH_VERIFIED,
    **{
        f"tau_bench/{domain}/test": Foreign(
            "tool_envs/TauBench-v0", {"domain": domain, "split": "test", **_TAU_BENCH}
        )
        for domain in ("retail", "airline")
    },
}
"""The slices over files that the user has, by their ids."""

_PREFIX = 16  # digits of a digest by which known tasks are found: 64 bits


def slice_ids() -> list[str]:
    """The ids of all slices, sorted."""
    return sorted([*released_slices().all_keys(), *FOREIGN])


def load_slice(slice_id: str, arguments: Mapping[str, Json] | None = None) -> Slice:
    """A slice that was verified: the environment has here what the manifest froze.

    Args:
        slice_id: Its id.
        arguments: Of the environment, for a foreign slice: the `path` where its files lie, what else says
            where something is (`LOCAL`), and whose name begins with `user`, for another user than the usual
            one. A released slice takes none.

    Raises:
        UnknownNameError: There is no such slice.
        UsageError: `path` is missing, or an argument is given that the slice does not take.
        DataFileError: A manifest or a file of the slice is missing, damaged or was changed.
        SliceMismatchError: Something here is not what was frozen; names each such field.
    """
    if slice_id in FOREIGN:
        return _freeze_foreign(slice_id, arguments or {})
    if slice_id not in released_slices().all_keys():
        raise UnknownNameError("slice", slice_id, slice_ids())
    if arguments:
        raise UsageError(f"The slice {slice_id} is frozen as a whole: it takes no path and no other user.")
    frozen = read_slice(slice_id)
    verify_slice(frozen)
    return frozen


def read_slice(slice_id: str) -> Slice:
    """The manifest of a released slice, which is the one that was released; what is here is not looked at.

    Raises:
        DataFileError: It is missing or damaged, or is not the one that was released.
    """
    files = released_slices()
    return parse_slice(files.read_released(slice_id), str(files.path(slice_id)))


def parse_slice(value: Json, path: str) -> Slice:
    """The slice that a JSON object describes.

    Raises:
        DataFileError: It is not of the form, or its digest is not that of its content.
    """
    version = value.get("format_version") if isinstance(value, dict) else None
    if version not in FORMAT_VERSIONS:
        known = " or ".join(FORMAT_VERSIONS)
        raise DataFileError(path, f"expected a slice of format_version {known}, not {version!r:.40}")
    check_form("slice", version, value, path)
    found = msgspec.convert({name: part for name, part in value.items() if name != "digest"}, Slice)
    if found.digest != value["digest"]:
        raise DataFileError(path, f"its digest says {value['digest']}, but its content has {found.digest}")
    return found


def verify_slice(frozen: Slice, local: Mapping[str, Json] | None = None) -> None:
    """Refuse a slice that is not what is here; `local`: see `Slice.make`. Raises as `load_slice` does."""
    found = differences(frozen, freeze_again(frozen, local))
    if found:
        raise SliceMismatchError(
            f"The slice {frozen.id} is not what it was (frozen and here): {describe_differences(found)}. "
            "Scores on it would not be comparable: take the version of this package that released it."
        )


@functools.cache
def released_slices() -> SchemaFiles:
    """The files of the released slices, and the lock that keeps them as they are."""
    return SchemaFiles(importlib.resources.files("tool_envs.evaluation") / "slices")


def local_of(arguments: Mapping[str, Json]) -> dict[str, Json]:
    """Those of the arguments of `load_slice` that are in no manifest; see `Slice.make`."""
    return {name: value for name, value in arguments.items() if name in LOCAL}


def _freeze_foreign(slice_id: str, arguments: Mapping[str, Json]) -> Slice:
    if arguments.get("path") is None:
        raise UsageError(f"The slice {slice_id} is over files that you have: say where they lie (path).")
    foreign = FOREIGN[slice_id]
    fixed = [name for name in arguments if not (name in LOCAL or name.startswith("user"))]
    if fixed:
        raise UsageError(
            f"The slice {slice_id} takes where its files lie and its user, and has its own {fixed[0]!r}."
        )
    kwargs = {**foreign.kwargs, **arguments}
    with closing(make_env(foreign.env_id, kwargs)) as env:
        tasks = unwrap(env).domain.tasks
        _check_foreign(slice_id, [tasks[index].family for index in range(len(tasks))])
    found = freeze(slice_id, foreign.env_id, kwargs, range(len(tasks)))
    upstream = foreign.whole or _known_state(found)
    return msgspec.structs.replace(found, upstream=upstream, human_verified=foreign.human_verified)


def _check_foreign(slice_id: str, families: Sequence[str]) -> None:
    """Refuse files whose tasks cannot be those of the slice."""
    foreign = FOREIGN[slice_id]
    if strange := sorted(set(families) - foreign.families) if foreign.families else []:
        raise UsageError(
            f"{slice_id} has tasks of {', '.join(sorted(foreign.families))}, not of {strange[0]}."
        )
    if foreign.whole and len(families) > foreign.whole.tasks:
        raise UsageError(f"{slice_id} has {foreign.whole.tasks} tasks; your files have {len(families)}.")


def _known_state(found: Slice) -> Upstream | None:
    """The known state that has all these tasks, over this data; the newest one if several have."""
    have = {task.id: task.digest for task in found.tasks}
    for state in _known_states()[found.id]:
        same = all(state["tasks"].get(name) == sha256[:_PREFIX] for name, sha256 in have.items())
        if same and state["data_digest"] == found.data_digest:
            return Upstream(state["name"], len(state["tasks"]))
    return None


def slice_of_task(task_digest: str) -> str | None:
    """The slice that a task is of, which makes it one for evaluation only; None: it is of none.

    Args:
        task_digest: Digest of the task.
    """
    return _slices_of_tasks().get(task_digest[:_PREFIX])


@functools.cache
def _slices_of_tasks() -> dict[str, str]:
    """First digits of the digest of a task -> a slice, released or foreign, in any known state."""
    found: dict[str, str] = {}
    for slice_id, states in _known_states().items():
        found |= {prefix: slice_id for state in states for prefix in state["tasks"].values()}
    for slice_id in released_slices().all_keys():
        found |= {task.digest[:_PREFIX]: slice_id for task in read_slice(slice_id).tasks}
    return found


@functools.cache
def _known_states() -> dict[str, list[dict[str, Json]]]:
    """Slice id -> states, newest first: name, data digest, task id -> first 16 digits of its digest."""
    file = importlib.resources.files("tool_envs.evaluation") / "upstream_states.json"
    states: dict[str, list[dict[str, Json]]] = read_json(file)
    return states
