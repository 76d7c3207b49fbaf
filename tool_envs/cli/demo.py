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
from tool_envs.cli.screen import Tick, console, progress, show_counts, show_rate, table_of
from tool_envs.env import ToolEnv, as_line
from tool_envs.evaluation import EpisodeResult, Report, evaluate
from tool_envs.messages import Json, Message
from tool_envs.trajectory import TrajectoryWriter, read_trajectories, record_episode, replay_each

TAU_BENCH, RETAIL = "tool_envs/TauBench-v0", "tool_envs/Retail-v0"
DOMAINS = ("retail", "airline")
_NO_DATA = """\
There is no tau-bench data here, so these are the tasks of the small built-in set.
tau-bench's own (MIT licence): git clone https://github.com/sierra-research/tau-bench
and pass the folder as --path, or set TAU_BENCH_PATH."""
_RETAIL_TASKS = 100
_ROUNDS = 5
_WIDTH = 160
_STYLES = {"user": "green", "assistant": "bold", "tool": "dim"}


class Slice(NamedTuple):
    """Tasks to show: an environment, who solves it, and how many tasks; None: all."""

    env_id: str
    kwargs: dict[str, Json]
    solver: str
    tasks: int | None


def demo(
    path: Annotated[
        Path | None, typer.Option(envvar="TAU_BENCH_PATH", help="tau-bench's data; see TauBenchEnv.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Records of the solvers' episodes; replaced.")] = Path(
        "runs/demo.jsonl"
    ),
) -> None:
    """Agents serve customers in tau-bench's tasks and in our own: rewards, speed, records, replay."""
    screen = console()
    if path is None:
        screen.print(_NO_DATA)
    tau_bench = [_tau_bench(path, domain) for domain in DOMAINS if _has_domain(path, domain)]
    retail = Slice(RETAIL, {"split": "test"}, "oracle", _RETAIL_TASKS)
    out.unlink(missing_ok=True)
    with progress("playing and replaying") as tick:
        shown = [_play(part, out, tick) for part in (*tau_bench, retail)]
        speed = [_measure(part, _database_files(path, part.kwargs["domain"])) for part in tau_bench]
        met = _replay(out, tick)
    for (solved, *others), conversation in shown:
        _show_conversation(solved, conversation)
        screen.print(_compare_agents([solved, *others]))
    for line in speed:
        screen.print(line)
    count = sum(reports[0].episodes for reports, _ in shown)
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


def _play(part: Slice, out: Path, tick: Tick) -> tuple[list[Report], list[Message]]:
    """Play and record the solver, and play the trivial agents; with the solver's first conversation."""
    agent = load_agent(part.solver)
    tasks = None if part.tasks is None else range(part.tasks)
    conversation: list[Message] = []
    with TrajectoryWriter(out) as writer:

        def note(env: ToolEnv, result: EpisodeResult) -> None:
            writer.append(record_episode(env, agent.name, agent.version, result.seed))
            conversation.extend([] if conversation else env.episode.history)
            tick(None)

        solved = evaluate(part.env_id, part.kwargs, agent, tasks=tasks, on_episode=note)
    others = [evaluate(part.env_id, part.kwargs, load_agent(name), tasks=tasks) for name in TRIVIAL]
    return [solved, *others], conversation


def _replay(path: Path, tick: Tick) -> int:
    met = 0
    for _ in replay_each(read_trajectories(path)):
        met += 1
        tick(None)
    return met


def _show_conversation(solved: Report, conversation: Sequence[Message]) -> None:
    screen = console()
    screen.print(f"\n{_name(solved)}, task {solved.results[0].task_id}, served by {solved.agent}:")
    for message in conversation:
        line = as_line(message)
        cut = line if len(line) <= _WIDTH else f"{line[:_WIDTH]}... ({len(line)} characters)"
        screen.print(Text(cut, style=_STYLES[message.role]))


def _compare_agents(reports: Sequence[Report]) -> Table:
    first = reports[0]
    table = table_of("agent", "success", "reward", "steps", "outcomes")
    table.title = f"{_name(first)}, test, {first.episodes} tasks, interface: {first.interface}"
    for report in reports:
        solved = sum(result.reward == 1.0 for result in report.results)
        table.add_row(
            report.agent,
            f"{solved}/{report.graded}",
            show_rate(report.mean_reward),
            show_rate(report.mean_steps, 1),
            show_counts(report.outcomes),
        )
    return table


def _name(report: Report) -> str:
    """The environment, and the domain where it has several."""
    domain = report.kwargs.get("domain")
    return f"{report.env_id} {domain}" if domain else report.env_id


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
        episodes.append(report.seconds / report.episodes)
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
