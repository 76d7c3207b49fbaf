"""The oracle: it makes the reference change, from any state, and hands it in."""

import functools
from collections.abc import Mapping
from typing import cast

from tool_envs.domain import Solver
from tool_envs.episode import Episode
from tool_envs.repo.instances import Instance
from tool_envs.repo.patches import apply_patch, touched_paths
from tool_envs.repo.site import IssueWorkspace, Site
from tool_envs.repo.steering import solver
from tool_envs.repo.workspace import Workspace


def make_oracle(site: Site) -> Solver:
    """A solver that turns the files into those of the reference change; what else was changed is undone."""

    @functools.lru_cache(maxsize=256)
    def reference(instance: Instance) -> Mapping[str, bytes | None]:
        return reference_files(site.open(instance), instance)

    def wanted(episode: Episode) -> Mapping[str, bytes | None]:
        workspace = cast("IssueWorkspace", episode.database)
        original = Workspace(workspace.base)
        undone = {path: original.read(path) for _, path in workspace.changed}
        return {**undone, **reference(workspace.instance)}

    return solver(wanted)


def reference_files(base: Workspace, instance: Instance) -> Mapping[str, bytes | None]:
    """What the reference change makes of the files that it touches; None: it deletes one.

    Args:
        base: The files at the base commit.
        instance: The instance.

    Raises:
        DataFileError: The patch does not fit the base commit.
    """
    before = {path: base.read(path) for path in touched_paths(instance.patch)}
    return apply_patch({path: each for path, each in before.items() if each is not None}, instance.patch)
