"""What a report's page shows, as one JSON value: of one run, or of two side by side."""

import json
from collections.abc import Iterator, Sequence

import msgspec

from tool_envs.errors import UsageError
from tool_envs.evaluation.compare import compare_reports
from tool_envs.evaluation.conversation import conversation_of
from tool_envs.evaluation.report import Report
from tool_envs.evaluation.results import EpisodeResult
from tool_envs.evaluation.runs import Run, Stage
from tool_envs.evaluation.scores import Group, MeanTokens, Scores, mean_by_task
from tool_envs.messages import Json
from tool_envs.trajectory.record import Trajectory

MOST_CAUSES = 3
"""How many causes of failure stand on the first screen."""


def view_of(first: Run, second: Run | None = None) -> dict[str, Json]:
    """All of the page but for the conversations.

    Returns:
        `title`; `runs`, one or two; `comparison`, None for one run.

    Raises:
        SliceMismatchError: Two runs are of other slices; names every field in which they differ.
        UsageError: One of two runs is no report, or they share no task with a graded trial.
    """
    runs = [first] if second is None else [first, second]
    return {
        "title": " and ".join(dict.fromkeys(run_title(run) for run in runs)),
        "runs": [_run(run) for run in runs],
        "comparison": None if second is None else _comparison(first, second),
    }


def conversations_of(run: Run, stage: Stage) -> Iterator[tuple[int, dict[str, Json]]]:
    """The episodes of a run that have a record: the place of each, and its conversation."""
    for place, record in run.records.items():
        yield place, conversation_of(record, stage)


def run_title(run: Run) -> str:
    """A run in a few words: who acted, on what."""
    if run.report:
        return f"{run.agent.name} on {run.report.slice.id}"
    return f"{run.agent.name} on {next(iter(run.records.values())).env.id}"


def episode_id(result: EpisodeResult) -> str:
    """Names an episode among those of its run: its task and the number of the trial."""
    return f"{result.task_id}#{result.trial}"


def leading_causes(run: Run) -> list[tuple[str, int, int]]:
    """The most frequent causes of failure, each with its count and an episode, if possible a recorded one."""
    places: dict[str, list[int]] = {}
    for place, result in enumerate(run.results):
        if result.failure:
            places.setdefault(result.failure.cause, []).append(place)
    return [
        (cause, count, next((place for place in places[cause] if place in run.records), places[cause][0]))
        for cause, count in list(run.scores.causes.items())[:MOST_CAUSES]
    ]


def highest_floor(report: Report | None) -> tuple[str, float] | None:
    """The trivial agent that earned most, and what; None: none was run."""
    floors = report.floors if report else {}
    return max(floors.items(), key=lambda item: item[1], default=None)


def played_rows(run: Run) -> list[tuple[str, str]]:
    """What was played, as names and texts: all that a score depends on."""
    if run.report:
        return _slice_rows(run.report)
    return _record_rows(next(reversed(run.records.values())), len(run.records))


def _run(run: Run) -> dict[str, Json]:
    scores = run.scores
    floor = highest_floor(run.report)
    return {
        "title": run_title(run),
        "agent": msgspec.to_builtins(run.agent),
        "marks": list(run.marks),
        "notes": list(run.notes),
        "reward": scores.reward,
        "score_name": scores.score_name,
        "score": msgspec.to_builtins(scores.score),
        "graded": scores.graded,
        "floor": None if floor is None else {"name": floor[0], "value": floor[1]},
        "floors": dict(run.report.floors) if run.report else {},
        "causes": [
            {"cause": cause, "count": count, "episode": place} for cause, count, place in leading_causes(run)
        ],
        "failures": sum(scores.causes.values()),
        "played": [list(row) for row in played_rows(run)],
        "figures": [list(row) for row in figure_rows(scores)],
        "families": [_group(name, group) for name, group in scores.by_family.items()],
        "difficulties": [_group(str(level), group) for level, group in scores.by_difficulty.items()],
        "pass_hat": [{"k": k, **msgspec.to_builtins(rate)} for k, rate in scores.pass_hat.items()],
        "pass_at": [{"k": k, **msgspec.to_builtins(rate)} for k, rate in scores.pass_at.items()],
        "episodes": [_episode(run, place) for place in range(len(run.results))],
    }


def figure_rows(scores: Scores) -> list[tuple[str, str]]:
    """Figures beside the score, as names and texts."""
    rows = [
        ("episodes", f"{scores.episodes}: {_counts(scores.outcomes)}"),
        ("whose fault", _counts(scores.blames)),
        ("mean steps", "-" if scores.mean_steps is None else f"{scores.mean_steps:.2f}"),
        ("agent's mistakes", _counts(scores.error_codes)),
        ("trials that disagree", _share(scores.flip_rate)),
        ("not understood by the user", _share(scores.not_understood_rate)),
        ("agent's tokens", show_tokens(scores.agent_tokens)),
        ("user's tokens", show_tokens(scores.user_tokens)),
        ("cost", f"{scores.cost:.4f} USD"),
    ]
    return [row for row in rows if row[1] != "-"]


def show_tokens(tokens: MeanTokens | None) -> str:
    """Tokens as a text; `-` where they were counted in no episode."""
    if tokens is None:
        return "-"
    return f"{tokens.prompt:.1f} sent, {tokens.completion:.1f} sampled; means of {tokens.episodes} episodes"


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items()) or "none"


def _share(rate: float | None) -> str:
    return "-" if rate is None else f"{rate:.3f}"


def _slice_rows(report: Report) -> list[tuple[str, str]]:
    frozen, schema, user = report.slice, report.slice.schema, report.slice.simulator
    return [
        ("slice", frozen.id),
        ("tasks", f"{frozen.coverage}, trials of each: {report.trials}"),
        *([("upstream", frozen.upstream.state)] if frozen.upstream else []),
        ("interface", schema.interface),
        ("agent", f"{report.agent.name} {report.agent.version}"),
        ("environment", frozen.env.id),
        ("arguments", json.dumps(frozen.env.kwargs)),
        ("schema", f"{schema.domain} {schema.version}, sha256 {schema.sha256}"),
        ("domain policy", f"digest {frozen.policy_digest}"),
        ("user", f"{user.name} {user.version}, digest {user.digest}"),
        ("reward", frozen.reward),
        ("grader", f"digest {frozen.grader_digest}"),
        ("data", f"digest {frozen.data_digest}"),
        ("limits", f"{frozen.limits.max_steps} steps, several calls: {frozen.limits.parallel_calls}"),
        ("seed", str(frozen.seed)),
        ("slice digest", frozen.digest),
    ]


def _record_rows(record: Trajectory, count: int) -> list[tuple[str, str]]:
    schema, user = record.schema, record.simulator
    return [
        ("slice", "none: a store of records has no manifest"),
        ("records", str(count)),
        ("interface", schema.interface),
        ("agent", f"{record.agent.name} {record.agent.version}"),
        ("environment", record.env.id),
        ("arguments", json.dumps(record.env.kwargs)),
        ("schema", f"{schema.domain} {schema.version}, sha256 {schema.sha256}"),
        ("user", f"{user.name} {user.version}, digest {user.digest}"),
        ("reward", record.outcome.ledger.terminal_source),
        ("grader", f"digest {record.grader_digest}"),
        ("data", f"digest {record.data.base_digest}"),
    ]


def _episode(run: Run, place: int) -> dict[str, Json]:
    result = run.results[place]
    return {
        "id": episode_id(result),
        "task": result.task_id,
        "trial": result.trial,
        "status": result.status,
        "reward": result.reward,
        "steps": result.steps,
        "family": result.family,
        "difficulty": result.difficulty,
        "blame": result.failure.blame if result.failure else "",
        "cause": result.failure.cause if result.failure else "",
        "codes": result.error_codes,
        "seed": str(result.seed),
        "recorded": place in run.records,
    }


def _group(name: str, group: Group) -> dict[str, Json]:
    return {"name": name, "tasks": group.tasks, **msgspec.to_builtins(group.score)}


# --- Two runs


def _comparison(first: Run, second: Run) -> dict[str, Json]:
    if first.report is None or second.report is None:
        raise UsageError(
            "Two runs are compared by their reports, whose manifests say whether they may be: "
            "write them with `tool-envs eval --out`."
        )
    found = compare_reports(first.report, second.report)
    return {
        "paired": msgspec.to_builtins(found.paired),
        "marks": list(found.marks),
        "tasks": _tasks(first.results, second.results),
    }


def _tasks(first: Sequence[EpisodeResult], second: Sequence[EpisodeResult]) -> list[dict[str, Json]]:
    """Every task of the slice: its score in both runs, and its episodes; what lost most comes first."""
    means = [mean_by_task(results) for results in (first, second)]
    places: dict[str, tuple[list[int], list[int]]] = {}
    for side, results in enumerate((first, second)):
        for place, result in enumerate(results):
            places.setdefault(result.task_id, ([], []))[side].append(place)
    tasks = [
        {"task": task, "first": means[0].get(task), "second": means[1].get(task), "episodes": list(both)}
        for task, both in places.items()
    ]
    return sorted(tasks, key=_change_of_task)


def _change_of_task(task: dict[str, Json]) -> float:
    """Losses first, then gains, then tasks that are alike, then those without two scores."""
    if task["first"] is None or task["second"] is None:
        return 3.0
    change: float = task["second"] - task["first"]
    return change or 2.0
