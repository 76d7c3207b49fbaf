"""Holds what an agent was trained on to what it is evaluated on: the same tools, and none of the tasks."""

from tool_envs.errors import UsageError
from tool_envs.evaluation.slice import Slice
from tool_envs.trajectory.exports import Manifest

_SHOWN = 3


def training_marks(
    trained: Manifest, frozen: Slice, *, across_versions: bool = False, allow_overlap: bool = False
) -> tuple[str, ...]:
    """What must stand beside the scores of an agent because of what it was trained on; empty: nothing.

    Args:
        trained: The manifest of what it was trained on, as `export` writes it.
        frozen: The slice that it is evaluated on.
        across_versions: Let the tools differ, and say so in every table.
        allow_overlap: Let tasks of the slice be among those it was trained on, and say so.

    Raises:
        UsageError: The tools differ, or tasks overlap, and it is not let.
    """
    marks = []
    for problem, allowed, option in (
        (_other_tools(trained, frozen), across_versions, "--across-versions"),
        (_overlap(trained, frozen), allow_overlap, "--allow-overlap"),
    ):
        if problem and not allowed:
            raise UsageError(f"These scores would mislead: {problem}. `{option}` lets it, marked as such.")
        marks += [problem] if problem else []
    return tuple(marks)


def _other_tools(trained: Manifest, frozen: Slice) -> str:
    of_domain = {schema.sha256 for schema in trained.schemas if schema.domain == frozen.schema.domain}
    if of_domain == {frozen.schema.sha256}:
        return ""
    names = ", ".join(f"{schema.domain} {schema.version}" for schema in trained.schemas)
    return f"trained on {names}, evaluated on {frozen.schema.domain} {frozen.schema.version}"


def _overlap(trained: Manifest, frozen: Slice) -> str:
    seen = {task.digest for task in trained.tasks}
    both = [task.id for task in frozen.tasks if task.digest in seen]
    if not both:
        return ""
    shown = ", ".join(both[:_SHOWN]) + (", ..." if len(both) > _SHOWN else "")
    return f"trained on {len(both)} of the {len(frozen.tasks)} tasks of {frozen.id}: {shown}"
