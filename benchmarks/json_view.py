"""Speed and memory of the JSON view on tau-bench's retail tasks, as ratios within the same run.

    python benchmarks/json_view.py [--data PATH] [--tau-bench CHECKOUT] [--rounds N] [--json]

References: the bare cost of reading, validating and writing the same bytes (`orjson.loads` +
`jsonschema_rs.is_valid` + `orjson.dumps`), and `json.load` of the domain's database. Rounds of what is
measured and of its reference alternate, and the medians are compared, so that a drifting machine drifts in
both.

`--data` is tau-bench's data (default: TAU_BENCH_PATH, else the small built-in set, on which the ratio to
`json.load` says little). `--tau-bench` runs a checkout's own code beside it on the same tasks: that executes
the checkout (which needs pydantic), with a stand-in for `litellm`, whose models are not called.
"""

import argparse
import gc
import importlib
import json
import os
import statistics
import sys
import time
import tracemalloc
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import jsonschema_rs
import orjson
from rich.console import Console
from rich.table import Table

import tool_envs
from tool_envs.actions import parse_action
from tool_envs.database import Database
from tool_envs.env import ToolEnv
from tool_envs.task import Task
from tool_envs.toolkit import Toolkit

Actions = list[dict[str, Any]]


def main() -> None:
    options = _arguments()
    env = make_env(options.data)
    tasks = [env.domain.tasks[index] for index in range(len(env.domain.tasks))]
    rows = {
        **measure_calls(env, tasks, options.rounds),
        **measure_episodes(env, tasks, options.data, options.rounds),
        **measure_forks(env),
        **measure_memory(options.data),
    }
    if options.tau_bench:
        rows |= measure_checkout(options.tau_bench, env, tasks, rows["episode_us"])
    print(json.dumps(rows)) if options.json else _print(rows)


def make_env(data: str | None) -> ToolEnv:
    env = gymnasium.make("tool_envs/TauBench-v0", path=data, max_steps=1000).unwrapped
    assert isinstance(env, ToolEnv)
    return env


def solution(task: Task) -> Actions:
    """A task's gold calls without transfers, then its facts told, which ends the episode."""
    calls = [call for call in task.actions if call.name != "transfer_to_human_agents"]
    actions = [{"name": call.name, "arguments": call.arguments} for call in calls]
    return [*actions, {"name": "respond", "arguments": {"content": ". ".join(task.facts) or "Goodbye."}}]


# --- One call


def measure_calls(env: ToolEnv, tasks: list[Task], rounds: int) -> dict[str, float]:
    """`toolkit.call` (bytes in, text out, validated) and `env.step` over all gold calls, beside the bare."""
    toolkit = Toolkit(env.schema, validated_functions(env))
    episodes = [[orjson.dumps(action) for action in solution(task)[:-1]] for task in tasks]
    bare_calls = [bare_call(env, toolkit, raw) for raws in episodes for raw in raws]

    def bare() -> None:
        for raw, valid, result in bare_calls:
            valid(orjson.loads(raw)["arguments"])
            orjson.dumps(result)

    def call() -> None:
        for raws in episodes:
            database = Database(env.domain.base)
            for raw in raws:
                toolkit.call(database, parse_action(raw).calls[0])

    def reset() -> None:
        for index in range(len(tasks)):
            env.reset(options={"task_index": index})

    def reset_and_step() -> None:
        for index, raws in enumerate(episodes):
            env.reset(options={"task_index": index})
            for raw in raws:
                env.step(raw)

    bare_s, call_s, reset_s, step_s = interleave(rounds, bare, call, reset, reset_and_step)
    count = len(bare_calls)
    return {
        "calls": count,
        "bare_us": 1e6 * bare_s / count,
        "toolkit_call_us": 1e6 * call_s / count,
        "toolkit_call_ratio": call_s / bare_s,
        "reset_us": 1e6 * reset_s / len(tasks),
        "step_us": 1e6 * (step_s - reset_s) / count,
        "step_ratio": (step_s - reset_s) / bare_s,
        "steps_per_s": count / (step_s - reset_s),
    }


def validated_functions(env: ToolEnv) -> dict[str, Callable[..., Any]]:
    """tau-bench's functions for a toolkit that validates; it writes their text as it is."""
    return dict(env.domain.toolkit.functions)


def bare_call(env: ToolEnv, toolkit: Toolkit, raw: bytes) -> tuple[bytes, Callable[[Any], bool], Any]:
    """What the bare sum needs of one call: its bytes, a validator of its arguments, its result as a value."""
    call = parse_action(raw).calls[0]
    text = env.domain.toolkit.call(Database(env.domain.base), call).content
    validator = jsonschema_rs.validator_for(toolkit.schema.tools[call.name].parameters)
    try:
        return raw, validator.is_valid, json.loads(text)
    except json.JSONDecodeError:
        return raw, validator.is_valid, text


# --- Whole episodes


def measure_episodes(env: ToolEnv, tasks: list[Task], data: str | None, rounds: int) -> dict[str, float]:
    """Reset, gold actions, exact reward; against `json.load` of the database's files."""
    solutions = [solution(task) for task in tasks]
    files = database_files(data)

    def episodes() -> None:
        for index, actions in enumerate(solutions):
            env.reset(options={"task_index": index})
            for action in actions:
                _, reward, terminated, _, _ = env.step(action)
            assert terminated
            assert reward == 1.0, f"the gold actions of task {index} earned {reward}"

    def load() -> None:
        for path in files:
            with path.open() as file:
                json.load(file)

    episodes_s, load_s = interleave(rounds, episodes, load)
    return {
        "episodes": len(tasks),
        "episode_us": 1e6 * episodes_s / len(tasks),
        "episodes_per_s": len(tasks) / episodes_s,
        "json_load_us": 1e6 * load_s,
        "json_load_per_episode": load_s / (episodes_s / len(tasks)),
    }


def database_files(data: str | None) -> list[Path]:
    sample = Path(tool_envs.__file__).parent / "tau_bench" / "sample"
    root = Path(data) if data else sample
    folders = [root / "databases" / "retail", root / "tau_bench" / "envs" / "retail" / "data"]
    return sorted(path for folder in folders for path in folder.glob("*.json"))


def measure_forks(env: ToolEnv, repeats: int = 2000) -> dict[str, float]:
    """Snapshot and restore in the middle of an episode that has written something."""
    env.reset(options={"task_index": 0})
    for action in solution(env.task)[:-1]:
        env.step(action)
    snapshot = env.snapshot()
    snapshot_s, restore_s = interleave(
        5,
        lambda: [env.snapshot() for _ in range(repeats)],
        lambda: [env.restore(snapshot) for _ in range(repeats)],
    )
    return {"snapshot_us": 1e6 * snapshot_s / repeats, "restore_us": 1e6 * restore_s / repeats}


def measure_memory(data: str | None, count: int = 200) -> dict[str, float]:
    """Bytes of one more running episode, each played to before its end, beside the first one."""
    first = make_env(data)
    played = [solution(first.domain.tasks[i % len(first.domain.tasks)])[:-1] for i in range(count)]
    for index, actions in enumerate(played):  # fills what is shared
        play(first, index, actions)
    envs = [make_env(data) for _ in range(count)]
    gc.collect()
    tracemalloc.start()
    for index, (env, actions) in enumerate(zip(envs, played, strict=True)):
        play(env, index, actions)
    gc.collect()
    used = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return {"episode_bytes": used / count}


def play(env: ToolEnv, index: int, actions: Actions) -> None:
    env.reset(options={"task_index": index % len(env.domain.tasks)})
    for action in actions:
        env.step(action)


# --- tau-bench itself


def measure_checkout(checkout: str, env: ToolEnv, tasks: list[Task], ours_us: float) -> dict[str, float]:
    """The same tasks through a checkout's own environment, with a user who hangs up at the first reply."""
    upstream = load_checkout(checkout)
    upstream.user = ScriptedUser()
    action_type = importlib.import_module("tau_bench.types").Action
    start = time.perf_counter()
    rewards = []
    for index, task in enumerate(tasks):
        upstream.reset(index)
        for action in solution(task):
            response = upstream.step(action_type(name=action["name"], kwargs=action["arguments"]))
        rewards.append(response.reward)
    theirs_us = 1e6 * (time.perf_counter() - start) / len(tasks)
    assert all(reward == 1.0 for reward in rewards), "tau-bench disagrees with its own gold actions"
    assert env.domain.data_digest(Database(env.domain.base)) == upstream.data_load_hash, (
        "not the same database"
    )
    return {"tau_bench_episode_us": theirs_us, "times_faster": theirs_us / ours_us}


class ScriptedUser:
    """A user for tau-bench's environment that needs no model."""

    def reset(self, instruction: str | None = None) -> str:  # noqa: ARG002 - tau-bench's interface
        return ""

    def step(self, content: str) -> str:  # noqa: ARG002 - tau-bench's interface
        return "###STOP###"

    def get_total_cost(self) -> float:
        return 0.0


def load_checkout(checkout: str) -> Any:  # noqa: ANN401 - tau-bench's own class
    """tau-bench's retail environment, imported from a checkout."""
    litellm = types.ModuleType("litellm")
    litellm.completion = None  # type: ignore[attr-defined]
    sys.modules.setdefault("litellm", litellm)
    sys.path.insert(0, checkout)
    module = importlib.import_module("tau_bench.envs.retail.env")
    upstream = module.MockRetailDomainEnv(user_strategy="human", task_split="test", task_index=0)
    upstream.data_load_hash = upstream.get_data_hash()
    return upstream


# --- Timing and printing


def interleave(rounds: int, *functions: Callable[[], Any]) -> list[float]:
    """Median seconds of each function over `rounds` rounds, in which they take turns, after a warm-up."""
    for function in functions:
        function()
    times: list[list[float]] = [[] for _ in functions]
    for _ in range(rounds):
        for slot, function in zip(times, functions, strict=True):
            start = time.perf_counter()
            function()
            slot.append(time.perf_counter() - start)
    return [statistics.median(slot) for slot in times]


LIMITS = {
    "toolkit_call_ratio": ("at most", 5.0),
    "step_ratio": ("at most", 12.0),
    "json_load_per_episode": ("at least", 100.0),
    "episode_bytes": ("at most", 20_000.0),
}


def _print(rows: dict[str, float]) -> None:
    table = Table("figure", "value", "aim")
    for name, value in rows.items():
        word, limit = LIMITS.get(name, ("", None))
        table.add_row(name, f"{value:,.2f}", f"{word} {limit:,.0f}" if limit else "")
    Console().print(table)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--data", default=os.environ.get("TAU_BENCH_PATH"))
    parser.add_argument("--tau-bench", metavar="CHECKOUT")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    options.data = options.data or None
    return options


if __name__ == "__main__":
    main()
