"""`tool-envs eval`."""

import functools
import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from tool_envs.agents import AGENTS, Agent, load_agent
from tool_envs.cli.options import DataPath, Kwargs, read_pairs, slice_arguments
from tool_envs.cli.policies import MODEL, ApiKeyEnv, Arguments, BaseUrl, JsonCalls, load_policy
from tool_envs.cli.screen import Tick, console, progress, show_counts, show_interval, show_rate, table_of
from tool_envs.env import ToolEnv
from tool_envs.errors import UsageError
from tool_envs.evaluation import (
    EpisodeResult,
    Report,
    evaluate,
    evaluate_slice,
    load_slice,
    write_report,
)
from tool_envs.evaluation.evaluate import OnEpisode
from tool_envs.evaluation.policies import evaluate_policy
from tool_envs.evaluation.scores import Group
from tool_envs.evaluation.slice import Slice, SliceUser
from tool_envs.evaluation.slice_files import local_of
from tool_envs.evaluation.training import training_marks
from tool_envs.evaluation.view import show_tokens
from tool_envs.messages import Json
from tool_envs.rollout import EpisodePolicy, Policy
from tool_envs.trajectory import TrajectoryWriter, record_episode
from tool_envs.trajectory.exports import read_manifest

MAX_NOT_UNDERSTOOD = 0.05
"""Above this share of messages, a score says more about the user's understanding than about the agent."""

_SYNC_EVERY = 100
"""Records on their way to disk at once: scripted agents play faster than single ones get there."""


SliceId = Annotated[
    str | None, typer.Option("--slice", help="Frozen slice, such as retail/test@1; all of its tasks.")
]
Split = Annotated[str | None, typer.Option(help="Split of the tasks; the same as -k split=SPLIT.")]
Tasks = Annotated[int | None, typer.Option(min=1, help="Only the first N tasks; default: all.")]
Trials = Annotated[int, typer.Option(min=1, help="Episodes of each task.")]
Seed = Annotated[
    int | None, typer.Option(min=0, help="Seed of the evaluation, 0 if not given; it chooses no tasks.")
]
Out = Annotated[
    Path | None, typer.Option(help="Write the report here; run again, it goes on where it was stopped.")
]
Records = Annotated[
    Path | None, typer.Option(help="Append a record of each episode to the store in this folder.")
]
Concurrency = Annotated[int, typer.Option(min=1, help="Episodes of a model at once.")]
TrainedOn = Annotated[
    Path | None, typer.Option(help="Manifest of what the agent was trained on, as `export` wrote it.")
]
AcrossVersions = Annotated[
    bool, typer.Option("--across-versions", help="Let it have been trained on other tools.")
]
AllowOverlap = Annotated[
    bool, typer.Option("--allow-overlap", help="Let it have been trained on tasks of the slice.")
]


def evaluate_agent(
    agent: Annotated[
        str,
        typer.Option(help=f"Who acts: {', '.join(AGENTS)}, or openai:MODEL, a model behind a server."),
    ],
    env_id: Annotated[str | None, typer.Argument(help="Id of the environment; or give a slice.")] = None,
    slice_id: SliceId = None,
    path: DataPath = None,
    kwarg: Kwargs = None,
    split: Split = None,
    tasks: Tasks = None,
    trials: Trials = 1,
    seed: Seed = None,
    out: Out = None,
    records: Records = None,
    concurrency: Concurrency = 32,
    base_url: BaseUrl = None,
    api_key_env: ApiKeyEnv = None,
    argument: Arguments = None,
    json_calls: JsonCalls = False,
    trained_on: TrainedOn = None,
    across_versions: AcrossVersions = False,
    allow_overlap: AllowOverlap = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as one JSON object.")] = False,
) -> None:
    """Play an agent over tasks and report how often it succeeds."""
    if (env_id is None) == (slice_id is None):
        raise UsageError("Say what to play: the id of an environment, or `--slice ID`.")
    asked = {"base_url": base_url, "api_key_env": api_key_env, "arguments": read_pairs(argument)}
    policy, version = load_policy(agent, asked, json_calls=json_calls)
    with progress(f"{agent} on {slice_id or env_id}") as tick:
        if slice_id is None:
            _refuse(path, "`--path` is for foreign slices: give an environment `-k path=...`.")
            _refuse(trained_on, "`--trained-on` holds an agent to a slice: give `--slice ID`.")
            _refuse(agent.startswith(MODEL), "A model plays a slice: give `--slice ID`.")
            kwargs = read_pairs(kwarg) | ({} if split is None else {"split": split})
            report = _play(env_id or "", kwargs, agent, tasks, trials, seed or 0, records, out, tick)
        else:
            own = split or tasks or seed is not None
            _refuse(own, "A slice has its own tasks and seed: no --split, --tasks or --seed.")
            arguments = slice_arguments(path, kwarg)
            frozen, local = load_slice(slice_id, arguments), local_of(arguments)
            marks = _marks(frozen, trained_on, across_versions, allow_overlap)
            if agent.startswith(MODEL):
                play = functools.partial(_play_by_model, policy, version, concurrency)
            else:
                play = functools.partial(_play_slice, agent)
            report = play(frozen, local, trials, marks, records, out, tick)
    _show(report, as_json=as_json)


def _refuse(given: object, problem: str) -> None:
    if given:
        raise UsageError(problem)


def _marks(
    frozen: Slice, trained_on: Path | None, across_versions: bool, allow_overlap: bool
) -> tuple[str, ...]:
    if trained_on is None:
        return ()
    manifest = read_manifest(trained_on)
    return training_marks(manifest, frozen, across_versions=across_versions, allow_overlap=allow_overlap)


def _play(
    env_id: str,
    kwargs: dict[str, Json],
    agent: str,
    tasks: int | None,
    trials: int,
    seed: int,
    records: Path | None,
    out: Path | None,
    tick: Tick,
) -> Report:
    few, chosen = range(tasks) if tasks else None, load_agent(agent)
    with _noting(chosen, None, records, tick) as note:
        return evaluate(env_id, kwargs, chosen, tasks=few, trials=trials, seed=seed, on_episode=note, out=out)


def _play_slice(
    agent: str,
    frozen: Slice,
    local: dict[str, Json],
    trials: int,
    marks: tuple[str, ...],
    records: Path | None,
    out: Path | None,
    tick: Tick,
) -> Report:
    chosen = load_agent(agent)
    with _noting(chosen, frozen.id, records, tick) as note:
        return evaluate_slice(
            frozen, chosen, local=local, trials=trials, on_episode=note, out=out, marks=marks
        )


def _play_by_model(
    policy: Policy | EpisodePolicy,
    version: str,
    concurrency: int,
    frozen: Slice,
    local: dict[str, Json],
    trials: int,
    marks: tuple[str, ...],
    records: Path | None,
    out: Path | None,
    tick: Tick,
) -> Report:
    if records is None:
        raise UsageError("The run of a model is kept, so that it can go on: give `--records DIR`.")
    report = evaluate_policy(
        frozen,
        policy,
        version,
        records,
        local=local,
        trials=trials,
        concurrency=concurrency,
        marks=marks,
        on_episode=lambda _, to_play: tick(to_play),
    )
    if out:
        write_report(report, out)
    return report


def _show(report: Report, *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(report.to_json(), allow_nan=False))
    else:
        console().print(report_table(report))
    if (report.scores.not_understood_rate or 0) > MAX_NOT_UNDERSTOOD:
        typer.echo(
            f"warning: the user did not understand {report.scores.not_understood_rate:.1%} of the agent's "
            "messages; this agent needs a user that is a language model",
            err=True,
        )


@contextmanager
def _noting(agent: Agent, slice_id: str | None, records: Path | None, tick: Tick) -> Iterator[OnEpisode]:
    """What is done after each episode of a scripted agent: it is recorded, if that is asked for."""
    with ExitStack() as stack:
        writer = stack.enter_context(TrajectoryWriter(records, sync_every=_SYNC_EVERY)) if records else None

        def note(env: ToolEnv, result: EpisodeResult) -> None:
            # An episode without a step is not recorded: the environment may hold an older one.
            if writer and result.steps:
                writer.append(record_episode(env, agent.name, agent.version, result.seed, slice_id=slice_id))
            tick(None)

        yield note


def report_table(report: Report) -> Table:
    """A report without its single episodes."""
    frozen, scores = report.slice, report.scores
    table = table_of("evaluation", f"{report.agent.name} on {frozen.id}")
    for mark in report.marks:
        table.add_row("NOT COMPARABLE", mark)
    for name, value in (
        (scores.score_name, f"{show_interval(scores.score)} of {scores.graded} graded episodes"),
        ("trivial agents", _show_floors(report)),
        *((f"pass^{k}", show_interval(rate)) for k, rate in scores.pass_hat.items() if k > 1),
        *((f"pass@{k}", show_interval(rate)) for k, rate in scores.pass_at.items() if k > 1),
        ("trials that disagree", show_rate(scores.flip_rate)),
        ("by difficulty", _show_groups(scores.by_difficulty)),
        ("by family", _show_groups(scores.by_family)),
        ("causes of failure", show_counts(scores.causes)),
        ("whose fault", show_counts(scores.blames)),
        ("mean steps", show_rate(scores.mean_steps, 2)),
        ("episodes", f"{scores.episodes}: {show_counts(scores.outcomes)}"),
        ("agent's mistakes", show_counts(scores.error_codes)),
        ("not understood by the user", show_rate(scores.not_understood_rate)),
        ("agent's tokens", show_tokens(scores.agent_tokens)),
        ("user's tokens", show_tokens(scores.user_tokens)),
        ("cost", f"{scores.cost:.4f} USD"),
        ("tasks", f"{frozen.coverage} of {frozen.env.id}, {report.trials} trials each"),
        ("interface", f"interface: {frozen.schema.interface}"),
        ("schema", f"{frozen.schema.domain} {frozen.schema.version}, sha256 {frozen.schema.sha256[:12]}"),
        ("data", f"digest {frozen.data_digest[:12]}"),
        ("reward", f"comes from {frozen.reward}"),
        ("grader", f"digest {frozen.grader_digest[:12]}"),
        ("user", _show_user(frozen.simulator)),
        ("slice", f"digest {frozen.digest[:12]}"),
        ("agent version", report.agent.version),
        ("seed", str(frozen.seed)),
        ("seconds", f"{report.seconds:.2f}"),
    ):
        table.add_row(name, value)
    return table


def _show_user(user: SliceUser) -> str:
    played_by = f", played by {user.model.name}" if user.model else ""
    return f"{user.name} {user.version}{played_by}"


def _show_floors(report: Report) -> str:
    floors = sorted(report.floors.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{name} {rate:.3f}" for name, rate in floors) or "not run"


def _show_groups(groups: Mapping[Any, Group]) -> str:
    shown = (f"{key}: {group.score.value:.3f} of {group.tasks}" for key, group in groups.items() if key)
    return ", ".join(shown) or "-"
