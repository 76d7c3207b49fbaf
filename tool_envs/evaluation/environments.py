"""Finds and makes environments by id."""

import inspect
from collections.abc import Mapping
from typing import Any

import gymnasium
from gymnasium.envs.registration import EnvSpec, load_env_creator

from tool_envs.errors import UnknownNameError
from tool_envs.messages import Json

NAMESPACE = "tool_envs"
"""The namespace of our ids."""


def find_env_ids() -> list[str]:
    """The ids of this package's environments, sorted."""
    return sorted(spec.id for spec in gymnasium.registry.values() if spec.namespace == NAMESPACE)


def make_env(env_id: str, kwargs: Mapping[str, Json]) -> gymnasium.Env[Any, Any]:
    """Make an environment by its id.

    Args:
        env_id: An id of Gymnasium's registry, or `module:id` to import a module first.
        kwargs: Arguments of the environment.

    Raises:
        UnknownNameError: There is no such environment, or it has no such argument.
        gymnasium.error.Error: Gymnasium's own complaint about an id.
    """
    if ":" not in env_id and env_id not in gymnasium.registry:
        raise UnknownNameError("environment", env_id, find_env_ids())
    spec = gymnasium.spec(env_id)
    for name in kwargs:
        _check_argument(spec, name)
    # Gymnasium's checker warns about what a text environment has by design; the compliance suite checks ours.
    return gymnasium.make(spec, disable_env_checker=True, **kwargs)


def _check_argument(spec: EnvSpec, name: str) -> None:
    creator = spec.entry_point
    known = inspect.signature(load_env_creator(creator) if isinstance(creator, str) else creator).parameters
    if name not in known and not any(p.kind is p.VAR_KEYWORD for p in known.values()):
        raise UnknownNameError(f"argument of {spec.id}", name, known)
