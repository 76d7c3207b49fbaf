"""`tool-envs repo`: issues in repositories, and what resolves them."""

import importlib
import json
import os
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from rich.table import Table

from tool_envs.cli.screen import console, progress, table_of
from tool_envs.errors import DataFileError
from tool_envs.evaluation.whole_files import write_whole
from tool_envs.messages import Json

repo_app = typer.Typer(help="Issues in repositories, and what resolves them.", no_args_is_help=True)

SandboxName = Annotated[str, typer.Option(help="bubblewrap, or subprocess for code that you trust.")]


@repo_app.command("run")
def run_predictions(
    instances: Annotated[
        Path, typer.Argument(help="SWE-bench's rows (JSONL, JSON or Parquet), or a folder of tasks.")
    ],
    predictions: Annotated[
        Path, typer.Option(help="JSONL or JSON: instance_id, model_patch, model_name_or_path.")
    ],
    out: Annotated[
        Path, typer.Option(help="Folder of the results. The same command goes on with what is left.")
    ],
    mirrors: Annotated[
        Path | None, typer.Option(help="Folder or manifest of repositories; default: beside INSTANCES.")
    ] = None,
    sandbox: SandboxName = "bubblewrap",
    python: Annotated[
        str, typer.Option(help="Interpreter of the tests where the manifest names none; default: this one.")
    ] = sys.executable,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as one JSON object.")] = False,
) -> None:
    """Grade patches by the tests of their instances; exit code 1 if some could not be graded."""
    domain: Any = importlib.import_module("tool_envs.repo.predictions")
    found = domain.load_instances(instances)
    answers = domain.load_predictions(predictions, found)
    places = domain.Mirrors(mirrors or domain.mirrors_beside(instances))
    grader = domain.PredictionGrader(found, places, sandbox=sandbox, python=python)
    results = _graded(answers, grader, _Kept(out, domain.Result))
    report = domain.report(found, results, grader.grader)
    write_whole(json.dumps(report, indent=2, allow_nan=False) + "\n", out / "report.json")
    if as_json:
        typer.echo(json.dumps(report, allow_nan=False))
    else:
        console().print(_table(report, str(predictions)))
    if errors := report["error_instances"]:
        typer.echo(
            f"{errors} predictions could not be graded; {out / 'report.json'} says why. "
            "The same command tries them again.",
            err=True,
        )
        raise typer.Exit(1)


@repo_app.command("make")
def make_instance(
    repository: Annotated[Path, typer.Option("--repo", help="Git repository, bundle or fast-export stream.")],
    fix: Annotated[str, typer.Option(help="The commit that fixed the bug, and changed tests that show it.")],
    issue: Annotated[
        Path | None, typer.Option(help="File with the issue's text; default: the commit's message.")
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="OWNER/NAME of the repository; default: the name of its folder.")
    ] = None,
    instance_id: Annotated[
        str | None, typer.Option("--id", help="Id of the instance; default: of name and commit.")
    ] = None,
    tests: Annotated[
        list[str] | None, typer.Option(help="File or folder of tests; default: all that pytest finds.")
    ] = None,
    repeats: Annotated[
        int, typer.Option(min=1, help="How often the tests run before the fix and after it.")
    ] = 3,
    sandbox: SandboxName = "bubblewrap",
    python: Annotated[
        str, typer.Option(help="Interpreter of the tests; default: this one.")
    ] = sys.executable,
    out: Annotated[
        Path | None, typer.Option(help="*.jsonl that the row is added to; default: print the row.")
    ] = None,
) -> None:
    """Make an instance from a commit that fixed a bug: one row, as SWE-bench has them."""
    domain: Any = importlib.import_module("tool_envs.repo.make")
    if out:
        domain.check_free(out, instance_id)
    made = domain.make_instance(
        repository,
        fix,
        sandbox=domain.find_sandbox(sandbox),
        python=python,
        name=name,
        instance_id=instance_id,
        issue=_read_text(issue) if issue else None,
        tests=tests or (),
        repeats=repeats,
    )
    if out:
        domain.append_instance(out, made.instance)
    else:
        typer.echo(domain.as_row(made.instance), nl=False)
    for line in domain.describe(made):
        typer.echo(line, err=True)


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as problem:
        raise DataFileError(path, f"cannot be read: {problem.strerror}") from None
    except UnicodeDecodeError:
        raise DataFileError(path, "expected text in UTF-8") from None


def _graded(answers: Sequence[Any], grader: Any, kept: "_Kept") -> list[Any]:  # noqa: ANN401 - the domain's
    """The results in order; as many are made at once as there are cores, since the sandbox runs no more."""
    results = []
    with progress("grading") as tick, ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for result in pool.map(lambda answer: kept.result(answer, grader), answers):
            results.append(result)
            tick(len(answers))
    return results


class _Kept:
    """Results in files, by instance; one that was made of something else is not taken for the result."""

    def __init__(self, out: Path, kind: type) -> None:
        self._folder, self._kind = out / "results", kind
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise DataFileError(self._folder, f"cannot be made: {problem.strerror}") from None

    def result(self, answer: Any, grader: Any) -> Any:  # noqa: ANN401 - the domain's
        """The result of a prediction: that which is there, or a new one, which is kept if it is no error."""
        file = self._folder / f"{answer.instance_id}.json"
        if (found := self._read(file)) is not None and found.digest == grader.digest(answer):
            return found
        result = grader.grade(answer)
        if result.state != "error":
            write_whole(json.dumps(msgspec.to_builtins(result), indent=2) + "\n", file)
        return result

    def _read(self, file: Path) -> Any:  # noqa: ANN401 - the domain's
        try:
            return msgspec.json.decode(file.read_bytes(), type=self._kind)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.DecodeError) as problem:
            raise DataFileError(
                file, f"expected a result; delete the file to have it made anew. {problem}"
            ) from None


def _table(report: dict[str, Json], title: str) -> Table:
    table = table_of("predictions", title)
    for name in ("total", "submitted", "completed", "resolved", "unresolved", "empty_patch", "error"):
        table.add_row(name.replace("_", " "), str(report[f"{name}_instances"]))
    table.add_row("grader", f"digest {report['grader']['digest'][:12]}, {report['grader']['sandbox']}")
    return table
