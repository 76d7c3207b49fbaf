"""`tool-envs list`."""

import inspect

import gymnasium
from gymnasium.envs.registration import load_env_creator

from tool_envs.cli.screen import console, table_of
from tool_envs.environments import find_env_ids


def list_environments() -> None:
    """The environments, by the id that `gymnasium.make` takes."""
    table = table_of("id", "version", "what it is")
    for env_id in find_env_ids():
        spec = gymnasium.spec(env_id)
        table.add_row(env_id, f"v{spec.version}", _first_line(spec.entry_point))
    console().print(table)


def _first_line(entry_point: object) -> str:
    creator = load_env_creator(entry_point) if isinstance(entry_point, str) else entry_point
    return (inspect.getdoc(creator) or "").partition("\n")[0]
