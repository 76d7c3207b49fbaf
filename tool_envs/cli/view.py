"""`tool-envs view`: what a run looked like, as a page for a browser or on the terminal."""

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tool_envs.cli.options import Kwargs, read_pairs
from tool_envs.cli.screen import console, progress, show_interval, show_rate, table_of
from tool_envs.errors import UnknownNameError, UsageError
from tool_envs.evaluation.conversation import conversation_of
from tool_envs.evaluation.page import page_of
from tool_envs.evaluation.runs import Run, Stage, read_run
from tool_envs.evaluation.view import (
    conversations_of,
    episode_id,
    figure_rows,
    highest_floor,
    leading_causes,
    played_rows,
    run_title,
    view_of,
)
from tool_envs.evaluation.whole_files import write_whole
from tool_envs.messages import Json

_WIDTH = 40  # characters of the line that a score is drawn on
_DIGEST = re.compile(r"\b([0-9a-f]{12})[0-9a-f]{52}\b")  # shown by its first digits
_SHOWN = 20  # failures, or tasks that differ, in a table


def view(
    run: Annotated[Path, typer.Argument(help="Report, or store of records (a folder, or a JSONL file).")],
    second: Annotated[
        Path | None, typer.Argument(help="Another report of the same slice, to see beside the first.")
    ] = None,
    records: Annotated[
        Path | None, typer.Option(help="Store with the records of the report's episodes.")
    ] = None,
    second_records: Annotated[Path | None, typer.Option(help="Likewise, of the second report.")] = None,
    html: Annotated[
        Path | None, typer.Option(help="Write one HTML file that holds all of it and loads nothing.")
    ] = None,
    episode: Annotated[
        str | None, typer.Option(help="Show this episode of the first run: TASK_ID, or TASK_ID#TRIAL.")
    ] = None,
    kwarg: Kwargs = None,
) -> None:
    """Look at a run: its score and what it means, why episodes failed, and the episodes themselves.

    What it shows may hold what solves the tasks: keep it away from what agents are trained on.
    """
    if second is None and second_records is not None:
        raise UsageError("`--second-records` is for a second report.")
    if html and episode:
        raise UsageError("`--episode` is for the terminal; a page has all episodes.")
    with closing(Stage(read_pairs(kwarg))) as stage:
        runs = [read_run(run, records, stage)]
        if second is not None:
            runs.append(read_run(second, second_records, stage))
        if html:
            _write(runs, stage, html)
        elif episode:
            _show_episode(console(), runs[0], episode, stage)
        else:
            _show_runs(console(), runs)


def _write(runs: list[Run], stage: Stage, path: Path) -> None:
    shown = view_of(*runs)
    with progress("replaying records") as tick:
        conversations: list[dict[int, Json]] = []
        for run in runs:
            conversations.append({})
            for place, told in conversations_of(run, stage):
                conversations[-1][place] = told
                tick(None)
    write_whole(page_of(shown, conversations), path)
    typer.echo(f"{path}: {sum(len(run.results) for run in runs)} episodes; open it in a browser")


# --- On the terminal


def _show_runs(screen: Console, runs: list[Run]) -> None:
    comparison = view_of(*runs)["comparison"]
    for run in runs:
        screen.print(_run_table(run))
    if comparison:
        _show_comparison(screen, comparison)
    else:
        _show_failures(screen, runs[0])


def _run_table(run: Run) -> Table:
    scores = run.scores
    table = table_of("run", _visible(run_title(run)))
    for mark in run.marks:
        table.add_row(Text("NOT COMPARABLE", "bold red"), mark)
    table.add_row(scores.score_name, f"{show_interval(scores.score)} of {scores.graded} graded episodes")
    table.add_row("", _score_line(run))
    for cause, count, place in leading_causes(run):
        table.add_row("cause of failure", f"{count} times: {cause}; see --episode {_id(run, place)}")
    groups = (*scores.by_family.items(), *scores.by_difficulty.items())
    for name, group in ((name, group) for name, group in groups if name):
        kind = "difficulty" if isinstance(name, int) else "family"
        table.add_row(kind, f"{name}: {show_interval(group.score)} of {group.tasks} tasks")
    for k, rate in ((k, rate) for k, rate in scores.pass_hat.items() if k > 1):
        table.add_row(f"pass^{k}", show_interval(rate))
    for name, value in (*figure_rows(scores), *played_rows(run)):
        table.add_row(name, _visible(value))
    for note in run.notes:
        table.add_row("note", note)
    return table


def _score_line(run: Run) -> str:
    """The score between the trivial agents (T) and the oracle (O), with its interval."""
    rate, floor = run.scores.score, highest_floor(run.report)
    line = ["-"] * (_WIDTH + 1)
    if rate and rate.low is not None and rate.high is not None:
        for place in range(_place(rate.low), _place(rate.high) + 1):
            line[place] = "="
    line[_WIDTH] = "O"
    if floor:
        line[_place(floor[1])] = "T"
    if rate:
        line[_place(rate.value)] = "*"
    below = f"T: {floor[0]} {floor[1]:.3f}" if floor else "trivial agents were not run"
    return f"0 {''.join(line)} 1  ({below}; O: oracle)"


def _place(share: float) -> int:
    return round(_WIDTH * share)


def _show_failures(screen: Console, run: Run) -> None:
    failed = [place for place, result in enumerate(run.results) if result.failure]
    if not failed:
        return
    table = table_of("failed episode", "cause", "steps")
    for place in failed[:_SHOWN]:
        failure = run.results[place].failure
        table.add_row(_id(run, place), failure.cause if failure else "", str(run.results[place].steps))
    screen.print(table)
    _show_rest(screen, len(failed), "failed episodes")


def _show_comparison(screen: Console, comparison: dict[str, Any]) -> None:
    paired = comparison["paired"]
    difference, p_value, test = paired["difference"], paired["p_value"], paired["test"]
    screen.print(f"second minus first: {difference['value']:+.3f}, p-value {p_value:.4f} ({test})")
    changed = [task for task in comparison["tasks"] if task["first"] != task["second"]]
    table = table_of("task", "first", "second")
    for task in changed[:_SHOWN]:
        table.add_row(task["task"], show_rate(task["first"]), show_rate(task["second"]))
    if changed:
        screen.print(table)
    _show_rest(screen, len(changed), "tasks that differ")


def _show_rest(screen: Console, count: int, what: str) -> None:
    if count > _SHOWN:
        screen.print(f"... and {count - _SHOWN} {what} more; `--html FILE` has all")


def _id(run: Run, place: int) -> str:
    return episode_id(run.results[place])


# --- One episode


def _show_episode(screen: Console, run: Run, name: str, stage: Stage) -> None:
    place = _find_episode(run, name)
    if place not in run.records:
        raise UsageError(f"There is no record of {_id(run, place)}: give its store with `--records`.")
    told = conversation_of(run.records[place], stage)
    for line in _episode_lines(told):
        screen.print(line)
    outcome, result = told["outcome"], run.results[place]
    table = table_of("episode", _id(run, place))
    table.add_row("reward", f"{outcome['reward']}, {outcome['status']}, ended by {outcome['ended_by']}")
    if result.failure:
        table.add_row("cause", f"{result.failure.cause} (whose fault: {result.failure.blame})")
    for component, value in outcome["ledger"]["components"].items():
        table.add_row(component, "met" if value == 1.0 else "not met")
    for violation in outcome["violations"]:
        table.add_row("rule broken", f"{violation['rule']} at step {violation['step']}")
    for part, why in (told["why"] or {}).items():
        table.add_row(part.replace("_", " "), _visible(str(why)))
    for version, value in told["versions"]:
        table.add_row(version, _visible(value))
    for note in told["notes"]:
        table.add_row("note", note)
    screen.print(table)


def _find_episode(run: Run, name: str) -> int:
    """The place of the episode with that id; of a task, its first trial."""
    places: dict[str, int] = {}
    for place, result in enumerate(run.results):
        places.setdefault(episode_id(result), place)
        places.setdefault(result.task_id, place)
    if name not in places:
        raise UnknownNameError("episode", name, (_id(run, place) for place in range(len(run.results))))
    return places[name]


def _episode_lines(told: dict[str, Any]) -> Iterator[Text]:
    for message in told["messages"]:
        if message["role"] != "agent":
            code = f"[{message['code']}] " if message.get("code") else ""
            yield _line(message["role"], code + message["text"])
            continue
        step = f"agent, step {message['step']}"
        for rule in message["broken"]:
            yield _line(step, f"breaks the rule {rule}", "bold red")
        if message["text"] or not message["calls"]:
            yield _line(step, message["text"] or message["aside"])
        for call in message["calls"]:
            yield _line(step, f"{call['name']}({call['arguments']})")
            code = f"[{call['code']}] " if call["code"] else ""
            yield _line(call["by"], code + (call["answer"] or "not answered"))
            for change in call["changes"]:
                yield from _change_lines(change)


def _change_lines(change: dict[str, Any]) -> Iterator[Text]:
    kind = "new" if change["before"] is None else "changed"
    yield _line("database", f"{kind}: {change['table']} {change['key']}", "bold")
    for path, before, after in change["fields"]:
        yield _line("", f"{path}: {before or 'none'} -> {after or 'none'}")


def _line(who: str, text: str, style: str = "") -> Text:
    return Text(f"{who + ': ' if who else '    '}{_visible(text)}", style)


def _visible(text: str) -> str:
    """A text for the terminal: what could steer it is shown as what it is, digests by their first digits."""
    shown = (each if each.isprintable() or each == "\n" else ascii(each)[1:-1] for each in text)
    return _DIGEST.sub(r"\1", "".join(shown))
