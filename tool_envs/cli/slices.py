"""`tool-envs slice`: list, show, verify and release frozen slices."""

import json
from typing import Annotated

import typer

from tool_envs.cli.options import DataPath, EnvId, Kwargs, SliceArguments, read_pairs, slice_arguments
from tool_envs.cli.screen import console, table_of
from tool_envs.evaluation.release import release_slice
from tool_envs.evaluation.slice import Slice, freeze
from tool_envs.evaluation.slice_files import FOREIGN, load_slice, read_slice, slice_ids

slice_app = typer.Typer(help="Frozen slices: what can be compared.", no_args_is_help=True)

SliceId = Annotated[str, typer.Argument(help="Id of the slice, such as retail/test@1.")]


@slice_app.command("list")
def list_slices() -> None:
    """All slices of this package, and the foreign ones over files of yours."""
    table = table_of("slice", "environment", "schema", "tasks", "digest")
    for slice_id in slice_ids():
        if slice_id in FOREIGN:
            table.add_row(slice_id, FOREIGN[slice_id].env_id, "-", "of your files", "-")
        else:
            found = read_slice(slice_id)
            schema = f"{found.schema.domain} {found.schema.version}"
            table.add_row(slice_id, found.env.id, schema, str(len(found.tasks)), found.digest[:12])
    console().print(table)


@slice_app.command("show")
def show_slice(
    slice_id: SliceId,
    path: DataPath = None,
    kwarg: SliceArguments = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the manifest as one JSON object.")] = False,
) -> None:
    """What a slice froze."""
    found = load_slice(slice_id, slice_arguments(path, kwarg))
    if as_json:
        typer.echo(json.dumps(found.to_json()))
        return
    table = table_of("slice", found.id)
    for name, value in _rows_of(found):
        table.add_row(name, value)
    console().print(table)


@slice_app.command("verify")
def verify(
    slice_id: Annotated[str | None, typer.Argument(help="Id of the slice; none: all released ones.")] = None,
    path: DataPath = None,
    kwarg: SliceArguments = None,
) -> None:
    """Check that what a slice froze is what is here; names what differs."""
    chosen = [slice_id] if slice_id else [each for each in slice_ids() if each not in FOREIGN]
    for each in chosen:
        found = load_slice(each, slice_arguments(path, kwarg))
        typer.echo(f"{each}: {found.coverage}, digest {found.digest[:12]}: as frozen")


@slice_app.command("release")
def release(
    slice_id: SliceId,
    env_id: EnvId,
    tasks: Annotated[int, typer.Option(min=1, help="The first N tasks.")],
    kwarg: Kwargs = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the evaluation.")] = 0,
) -> None:
    """Freeze tasks of an environment, once trivial agents earn nothing and the oracle everything."""
    frozen = freeze(slice_id, env_id, read_pairs(kwarg), range(tasks), seed=seed)
    typer.echo(f"{release_slice(frozen)}: {frozen.coverage}, digest {frozen.digest[:12]}")


def _rows_of(found: Slice) -> list[tuple[str, str]]:
    return [
        ("environment", found.env.id),
        ("arguments", json.dumps(found.env.kwargs)),
        ("schema", f"{found.schema.domain} {found.schema.version}, sha256 {found.schema.sha256[:12]}"),
        ("interface", f"interface: {found.schema.interface}"),
        ("domain policy", f"digest {found.policy_digest[:12]}"),
        ("data", f"digest {found.data_digest[:12]}"),
        ("user", f"{found.simulator.name} {found.simulator.version}, digest {found.simulator.digest[:12]}"),
        *_model_rows(found),
        ("grader", f"digest {found.grader_digest[:12]}"),
        ("limits", f"{found.limits.max_steps} steps, several calls: {found.limits.parallel_calls}"),
        ("seed", str(found.seed)),
        ("tasks", found.coverage),
        ("upstream", found.upstream.state if found.upstream else "-"),
        ("digest", found.digest),
    ]


def _model_rows(found: Slice) -> list[tuple[str, str]]:
    model = found.simulator.model
    if model is None:
        return []
    return [
        ("user's model", f"{model.name}, {json.dumps(model.arguments)}"),
        ("user's prompt", f"digest {model.prompt_digest[:12]}"),
    ]
