"""Releasing a slice: trivial agents earn nothing on it, the oracle earns everything, and it is locked."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from tool_envs.agents import TRIVIAL, load_agent
from tool_envs.env import unwrap
from tool_envs.errors import UsageError
from tool_envs.evaluation.evaluate import evaluate
from tool_envs.evaluation.slice import Slice
from tool_envs.evaluation.slice_files import released_slices
from tool_envs.schema.lock import write_lock


def release_slice(frozen: Slice) -> Path:
    """Write the manifest of a slice into this package, and lock it.

    Raises:
        UsageError: There is such a slice, the package lies in no folder that can be written to, a trivial
            agent earns something on it, or the oracle does not solve it.
    """
    files = released_slices()
    path = files.path(frozen.id)
    if not isinstance(path, Path):
        raise UsageError(f"{path} is not in a folder, and so it cannot be written.")
    if path.exists():
        raise UsageError(f"{frozen.id} is released, and never changes: release the next one.")
    problems = list(release_problems(frozen))
    if problems:
        raise UsageError(f"{frozen.id} cannot be released: {'; '.join(problems)}.")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(frozen.to_json(), indent=1) + "\n", encoding="ascii")
    write_lock(files)
    return path


def release_problems(frozen: Slice) -> Iterator[str]:
    """What forbids to release a slice: trivial agents that earn something, and what the oracle misses."""
    for name in TRIVIAL:
        earned = [task for task, reward in rewards_of(frozen, name).items() if reward]
        if earned:
            yield f"`{name}` earns something on {', '.join(earned)}"
    solver = _solver_of(frozen)
    rewards = rewards_of(frozen, solver)
    missed = sorted(task.id for task in frozen.tasks if rewards[task.id] != 1.0)
    if missed:
        yield f"`{solver}` does not solve {', '.join(missed)}"


def rewards_of(frozen: Slice, agent: str) -> dict[str, float | None]:
    """Task id -> what a scripted agent earns on it, in the order of the slice."""
    with closing(frozen.make()) as env:
        tasks = unwrap(env).domain.tasks
        indexes = [tasks.index(task.id) for task in frozen.tasks]
    report = evaluate(frozen.env.id, frozen.env.kwargs, load_agent(agent), tasks=indexes, seed=frozen.seed)
    return {result.task_id: result.reward for result in report.results}


def _solver_of(frozen: Slice) -> str:
    """The agent that solves every task: the domain's own, or one that plays the tasks' actions."""
    with closing(frozen.make()) as env:
        return "oracle" if unwrap(env).domain.oracle else "gold"
