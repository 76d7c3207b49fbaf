"""Comparing evaluations: only what is comparable, task by task, and with what chance alone would show."""

import msgspec

from tool_envs.errors import SliceMismatchError, UsageError
from tool_envs.evaluation.metrics import Interval, mean_over_tasks
from tool_envs.evaluation.paired import Paired, compare_means, compare_paired
from tool_envs.evaluation.report import Report
from tool_envs.evaluation.scores import mean_by_task, trials_by_task
from tool_envs.evaluation.slice import Slice, describe_differences, differences
from tool_envs.reward import TerminalSource

_SCHEMA_FIELDS = ("schema/", "env/kwargs/schema_version")
"""What differs between two slices of the same tasks under two versions of a schema."""


class TaskChange(msgspec.Struct, frozen=True):
    """A task on which two evaluations differ: its success rates, or mean similarities, in both."""

    task_id: str
    first: float
    second: float


class Comparison(msgspec.Struct, frozen=True):
    """Two evaluations of equal slices.

    Attributes:
        reward: What their terminal rewards come from.
        paired: The difference and its test.
        changes: The tasks on which they differ, those that lost most first.
        marks: Why one of them has no plain scores.
    """

    reward: TerminalSource
    paired: Paired
    changes: tuple[TaskChange, ...]
    marks: tuple[str, ...]


class Attribution(msgspec.Struct, frozen=True):
    """What changed a score between an old model on an old schema and a new one on a new one.

    `total` is the sum of the other three, each a mean over tasks with its interval.

    Attributes:
        tasks: Tasks that all four evaluations have graded trials of.
        total: New model, new schema minus old model, old schema.
        model: New minus old model, on the old schema.
        schema: New minus old schema, with the old model.
        interaction: What the new schema does to the new model beyond what it does to the old one.
    """

    tasks: int
    total: Interval
    model: Interval
    schema: Interval
    interaction: Interval


def compare_reports(first: Report, second: Report) -> Comparison:
    """Compare two evaluations.

    Raises:
        SliceMismatchError: Their rewards come from two sources, or their manifests are not equal; names
            every field in which they differ.
        UsageError: They share no task with a graded trial.
    """
    _require_equal(first.slice, second.slice)
    before, after = mean_by_task(first.results), mean_by_task(second.results)
    changes = [
        TaskChange(task, before[task], after[task])
        for task in before
        if task in after and before[task] != after[task]
    ]
    if first.slice.reward == "similarity":
        paired = compare_means(before, after)
    else:
        paired = compare_paired(trials_by_task(first.results), trials_by_task(second.results))
    return Comparison(
        reward=first.slice.reward,
        paired=paired,
        changes=tuple(sorted(changes, key=lambda change: change.second - change.first)),
        marks=tuple(dict.fromkeys([*first.marks, *second.marks])),
    )


def attribute(old_old: Report, new_old: Report, old_new: Report, new_new: Report) -> Attribution:
    """Split the change of a score into model, schema and interaction.

    Args:
        old_old: The old model on the old schema.
        new_old: The new model on the old schema.
        old_new: The old model on the new schema.
        new_new: The new model on the new schema.

    Raises:
        SliceMismatchError: The two on one schema are not of equal slices, or the two slices differ in more
            than the version of the schema, in their rewards above all.
        UsageError: A model is not the same on both schemas, or the four share no task with graded trials.
    """
    _require_equal(old_old.slice, new_old.slice)
    _require_equal(old_new.slice, new_new.slice)
    _require_same_but_for_schema(old_old.slice, old_new.slice)
    for first, second in ((old_old, old_new), (new_old, new_new)):
        if first.agent != second.agent:
            raise UsageError(f"Expected one model on both schemas, not {first.agent} and {second.agent}.")
    tables = [mean_by_task(report.results) for report in (old_old, new_old, old_new, new_new)]
    shared = [task for task in tables[0] if all(task in table for table in tables)]
    if not shared:
        raise UsageError("The four evaluations share no task with graded trials.")
    means = [[table[task] for table in tables] for task in shared]
    return Attribution(
        tasks=len(shared),
        total=mean_over_tasks([d - a for a, _, _, d in means]),
        model=mean_over_tasks([b - a for a, b, _, _ in means]),
        schema=mean_over_tasks([c - a for a, _, c, _ in means]),
        interaction=mean_over_tasks([d - b - c + a for a, b, c, d in means]),
    )


def _require_one_reward(first: Slice, second: Slice) -> None:
    if first.reward != second.reward:
        raise SliceMismatchError(
            f"Rewards of two kinds never stand in one table: that of {first.id} comes from {first.reward}, "
            f"that of {second.id} from {second.reward}."
        )


def _require_equal(first: Slice, second: Slice) -> None:
    _require_one_reward(first, second)
    found = differences(first, second)
    if found:
        raise SliceMismatchError(
            f"These scores are not comparable: {describe_differences(found, len(found))}."
        )


def _require_same_but_for_schema(first: Slice, second: Slice) -> None:
    _require_one_reward(first, second)
    # The id names a slice of one schema version; the digests of tasks are compared, whatever their slice.
    found = [
        each for each in differences(first, second) if each.field != "id" and not _is_of_schema(each.field)
    ]
    if found:
        raise SliceMismatchError(
            f"More than the version of the schema differs: {describe_differences(found, len(found))}."
        )


def _is_of_schema(field: str) -> bool:
    return any(field.startswith(each) for each in _SCHEMA_FIELDS)
