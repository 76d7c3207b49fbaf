"""`tool-envs demo`: what the package does, in a few seconds."""

import json
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from rich.table import Table
from rich.text import Text

from tool_envs.agents import TRIVIAL, load_agent
from tool_envs.chat_form import as_line
from tool_envs.cli.screen import Tick, console, progress, show_rate
from tool_envs.env import ToolEnv
from tool_envs.evaluation import EpisodeResult, Report, evaluate
from tool_envs.messages import Json, Message
from tool_envs.trajectory import (
    TrajectoryWriter,
    clear_store,
    read_trajectories,
    record_episode,
    replay_each,
)

TAU_BENCH = "tool_envs/TauBench-v0"
DOMAINS = ("retail", "airline")
_NO_DATA = """\
There is no tau-bench data here, so these are the tasks of the small built-in set.
tau-bench's own (MIT licence): git clone https://github.com/sierra-research/tau-bench
and pass the folder as --path, or set TAU_BENCH_PATH."""
_ROUNDS = 5
_LINES = 16  # of a conversation that is shown
_STYLES = {"user": "green", "assistant": "bold", "tool": "dim"}


class Slice(NamedTuple):
    """Tasks to show: an environment, who solves it, and how many tasks; None: all."""

    env_id: str
    kwargs: dict[str, Json]
    solver: str
    tasks: int | None


OURS = (
    Slice("tool_envs/Retail-v0", {"split": "test"}, "oracle", 100),
    Slice("tool_envs/Booking-v0", {"split": "test"}, "oracle", 100),
)
"""What is shown of our own domains."""


class Played(NamedTuple):
    """A slice that was played: the reports, that of the solver first, and the solver's first conversation."""

    reports: list[Report]
    conversation: list[Message]


def demo(
    path: Annotated[
        Path | None, typer.Option(envvar="TAU_BENCH_PATH", help="tau-bench's data; see TauBenchEnv.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Store of the solvers' episodes, a folder; replaced.")] = Path(
        "runs/demo"
    ),
) -> None:
    """Agents serve customers in our own tasks and in tau-bench's: rewards, speed, records, replay."""
    screen = console()
    if path is None:
        screen.print(_NO_DATA)
    tau_bench = [_tau_bench(path, domain) for domain in DOMAINS if _has_domain(path, domain)]
    clear_store(out)
    with progress("playing and replaying") as tick:
        shown = [_play(part, out, tick) for part in (*OURS, *tau_bench)]
        speed = [_measure(part, _database_files(path, part.kwargs["domain"])) for part in tau_bench]
        met = _replay(out, tick)
    for played in shown:
        _show_conversation(played)
    screen.print()
    screen.print(_compare_agents([played.reports for played in shown]))
    for line in speed:
        screen.print(line)
    count = sum(len(played.reports[0].results) for played in shown)
    screen.print(f"{met} of {count} episodes, replayed from {out}, met every observation and reward.")


def _tau_bench(path: Path | None, domain: str) -> Slice:
    place: dict[str, Json] = {} if path is None else {"path": str(path)}
    return Slice(TAU_BENCH, {"domain": domain, "split": "test", "user": "silent", **place}, "gold", None)


def _has_domain(path: Path | None, domain: str) -> bool:
    """Whether to show a domain: the first one in any case, so that a wrong path is told."""
    if path is None or domain == DOMAINS[0]:
        return True
    tasks = (f"tasks/{domain}_test.json", f"**/envs/{domain}/tasks_test.py")
    return any(found for pattern in tasks for found in path.glob(pattern))


def _play(part: Slice, out: Path, tick: Tick) -> Played:
    """Play and record the solver, and play the trivial agents."""
    agent = load_agent(part.solver)
    tasks = None if part.tasks is None else range(part.tasks)
    conversation: list[Message] = []
    with TrajectoryWriter(out, sync_every=100) as writer:

        def note(env: ToolEnv, result: EpisodeResult) -> None:
            writer.append(record_episode(env, agent.name, agent.version, result.seed))
            conversation.extend([] if conversation else env.episode.history)
            tick(None)

        solved = evaluate(part.env_id, part.kwargs, agent, tasks=tasks, on_episode=note)
    others = [evaluate(part.env_id, part.kwargs, load_agent(name), tasks=tasks) for name in TRIVIAL]
    return Played([solved, *others], conversation)


def _replay(path: Path, tick: Tick) -> int:
    met = 0
    for _ in replay_each(read_trajectories(path)):
        met += 1
        tick(None)
    return met


def _show_conversation(played: Played) -> None:
    """One line for each message, as wide as the screen, and not too many of them."""
    screen, solved = console(), played.reports[0]
    screen.print(f"\n{_name(solved)}, task {solved.results[0].task_id}, served by {solved.agent.name}:")
    for message in played.conversation[:_LINES]:
        line = Text(" ".join(as_line(message).split()), style=_STYLES[message.role])
        screen.print(line, no_wrap=True, overflow="ellipsis")
    if len(played.conversation) > _LINES:
        screen.print(f"... and {len(played.conversation) - _LINES} messages more")


def _compare_agents(shown: Sequence[Sequence[Report]]) -> Table:
    """A column for each slice, a row for each agent: how many tasks it solved, and its mean reward."""
    table = Table(title="Tasks solved, and mean reward")
    table.add_column("agent", overflow="fold")
    for solved, *_ in shown:
        table.add_column(_title(solved), justify="right", overflow="fold")
    table.add_row("solver", *(_score(solved) for solved, *_ in shown), end_section=True)
    for name, *reports in zip(TRIVIAL, *(others for _, *others in shown), strict=True):
        table.add_row(name, *map(_score, reports))
    return table


def _title(report: Report) -> str:
    return (
        f"{_name(report)}\ntest, {len(report.results)} tasks\n"
        f"interface: {report.slice.schema.interface}\nsolver: {report.agent.name}"
    )


def _score(report: Report) -> str:
    solved = sum(result.reward == 1.0 for result in report.results)
    return f"{solved}/{report.scores.graded} {show_rate(report.scores.rate)}"


def _name(report: Report) -> str:
    """The environment without its namespace, and the domain where it has several."""
    domain, name = report.slice.env.kwargs.get("domain"), report.slice.env.id.partition("/")[2]
    return f"{name} {domain}" if domain else name


def _database_files(path: Path | None, domain: str) -> list[Path]:
    """The files of the database in either layout of tau-bench's data; none for the built-in set."""
    if path is None:
        return []
    return sorted([*path.glob(f"databases/{domain}/*.json"), *path.glob(f"**/envs/{domain}/data/*.json")])


def _measure(part: Slice, files: Sequence[Path]) -> str:
    """How fast the gold agent plays, beside one reading of the database: medians, measured in turns."""
    episodes, reads = [], []
    for _ in range(_ROUNDS):
        report = evaluate(part.env_id, part.kwargs, load_agent(part.solver))
        episodes.append(report.seconds / len(report.results))
        reads.append(_time_reading(files))
    episode, read = statistics.median(episodes), statistics.median(reads)
    name = f"{part.env_id} {part.kwargs['domain']}"
    speed = f"Speed: {1 / episode:,.0f} episodes of {name} a second on one core, agent included."
    if not files:
        return speed
    return f"{speed} One takes 1/{read / episode:.0f} of json.load of the database ({read * 1000:.0f} ms)."


def _time_reading(files: Sequence[Path]) -> float:
    """Seconds that `json.load` takes for all the files."""
    began = time.perf_counter()
    for path in files:
        with path.open(encoding="utf-8") as file:
            json.load(file)
    return time.perf_counter() - began
