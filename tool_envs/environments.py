"""Finds and makes environments by id."""

import importlib
import inspect
from collections.abc import Mapping
from typing import Any

import gymnasium
from gymnasium.envs.registration import EnvSpec, load_env_creator

from tool_envs.errors import UnknownNameError, UsageError
from tool_envs.messages import Json

NAMESPACE = "tool_envs"
"""The namespace of our ids."""


def find_env_ids(namespace: str = NAMESPACE) -> list[str]:
    """The ids of a namespace's environments, sorted; without an argument, of this package's."""
    return sorted(spec.id for spec in gymnasium.registry.values() if spec.namespace == namespace)


def make_env(env_id: str, kwargs: Mapping[str, Json]) -> gymnasium.Env[Any, Any]:
    """Make an environment by its id.

    Args:
        env_id: A full id, `namespace/Name-vN`, or `module:namespace/Name-vN` to import a module first.
        kwargs: Arguments of the environment.

    Raises:
        UnknownNameError: There is no such environment, or it has no such argument.
        UsageError: There is no such module.
    """
    module, _, name = env_id.rpartition(":")
    if module:
        _import(module)
    if name not in gymnasium.registry:
        known = {*find_env_ids(name.partition("/")[0]), *find_env_ids()}
        raise UnknownNameError("environment", name, sorted(known))
    spec = gymnasium.registry[name]
    for argument in kwargs:
        _check_argument(spec, argument)
    # Gymnasium's checker warns about what a text environment has by design; the compliance suite checks ours.
    return gymnasium.make(spec, disable_env_checker=True, **kwargs)


def _import(module: str) -> None:
    try:
        importlib.import_module(module)
    except ModuleNotFoundError as problem:
        raise UsageError(f"{problem}. The part of an id before the colon is a module to import.") from None


def _check_argument(spec: EnvSpec, name: str) -> None:
    entry: Any = spec.entry_point
    creator = load_env_creator(entry) if isinstance(entry, str) else entry
    known = inspect.signature(creator).parameters
    if name not in known and not any(p.kind is p.VAR_KEYWORD for p in known.values()):
        raise UnknownNameError(f"argument of {spec.id}", name, known)
