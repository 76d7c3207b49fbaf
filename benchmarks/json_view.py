"""Speed and memory of the JSON view, as ratios within the same run: tau-bench's tasks, and our own.

    python benchmarks/json_view.py [--data PATH] [--tau-bench CHECKOUT] [--rounds N] [--tasks N] [--json]

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
from collections.abc import Callable, Iterator
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
from tool_envs.messages import RESPOND
from tool_envs.task import Task
from tool_envs.toolkit import Toolkit

Actions = list[dict[str, Any]]
Valid = Callable[[Any], bool]


def main() -> None:
    options = _arguments()
    figures = {
        "tau_bench": measure_tau_bench("retail", options),
        "tau_bench_airline": measure_tau_bench("airline", options),
        "retail": measure_own("tool_envs/Retail-v0", options),
        "booking": measure_own("tool_envs/Booking-v0", options),
    }
    print(json.dumps(figures)) if options.json else _print(figures)


def measure_own(env_id: str, options: argparse.Namespace) -> dict[str, float]:
    env = make_env(env_id, split="test")
    oracle = oracle_episodes(env, options.tasks)
    return {
        **measure_calls(env, oracle, options.rounds),
        **measure_steps(env, oracle, options.rounds),
        **measure_forks(env, oracle),
        **measure_memory(oracle, env_id, split="test"),
        **measure_sizes(env_id, options.rounds),
    }


def measure_tau_bench(domain: str, options: argparse.Namespace) -> dict[str, float]:
    env = make_env("tool_envs/TauBench-v0", path=options.data, domain=domain)
    gold = gold_episodes(env)
    figures = {
        **measure_calls(env, gold, options.rounds),
        **measure_episodes(env, gold, database_files(options.data, domain), options.rounds),
        **measure_forks(env, gold),
        **measure_memory(gold, "tool_envs/TauBench-v0", path=options.data, domain=domain),
    }
    if options.tau_bench:
        figures |= measure_checkout(options.tau_bench, domain, env, figures["episode_us"])
    return figures


def make_env(env_id: str, **kwargs: Any) -> ToolEnv:  # noqa: ANN401 - whatever gymnasium.make takes
    env = gymnasium.make(env_id, max_steps=1000, **kwargs).unwrapped
    assert isinstance(env, ToolEnv)
    return env


# --- Episodes to measure: for each task its actions, of which the last one ends the episode


def gold_episodes(env: ToolEnv) -> list[Actions]:
    """tau-bench's own solutions: a task's gold calls without transfers, then its facts told."""
    return [solution(env.domain.tasks[index]) for index in range(len(env.domain.tasks))]


def solution(task: Task) -> Actions:
    calls = [call for call in task.actions if call.name != "transfer_to_human_agents"]
    actions = [{"name": call.name, "arguments": call.arguments} for call in calls]
    return [*actions, {"name": "respond", "arguments": {"content": ". ".join(task.facts) or "Goodbye."}}]


def oracle_episodes(env: ToolEnv, count: int) -> list[Actions]:
    """What the oracle does in the first tasks."""
    episodes = []
    for index in range(count):
        env.reset(seed=index, options={"task_index": index})
        actions = []
        while env.outcome is None:
            assert env.domain.oracle is not None
            actions.append(env.domain.oracle(env.episode))
            env.step(actions[-1])
        episodes.append(actions)
    return episodes


# --- One call


def measure_calls(env: ToolEnv, episodes: list[Actions], rounds: int) -> dict[str, float]:
    """`toolkit.call` (bytes in, text out, validated) and `env.step` over all tool calls, beside the bare."""
    toolkit = Toolkit(env.schema, env.domain.toolkit.functions)
    played = [[orjson.dumps(action) for action in actions] for actions in episodes]
    called = [[raw for raw in raws if parse_action(raw).calls[0].name != RESPOND] for raws in played]
    bare_calls = [each for raws in called for each in bare_of(toolkit, env, raws)]

    def bare() -> None:
        for raw, valid, result in bare_calls:
            valid(orjson.loads(raw)["arguments"])
            orjson.dumps(result)

    def call() -> None:
        for raws in called:
            database = Database(env.domain.base)
            for raw in raws:
                toolkit.call(database, parse_action(raw).calls[0])

    def reset() -> None:
        for index in range(len(episodes)):
            env.reset(seed=index, options={"task_index": index})

    def reset_and_step() -> None:
        for index, raws in enumerate(called):
            env.reset(seed=index, options={"task_index": index})
            for raw in raws:
                env.step(raw)

    bare_s, call_s, reset_s, step_s = interleave(rounds, bare, call, reset, reset_and_step)
    count = len(bare_calls)
    return {
        "calls": count,
        "bare_us": 1e6 * bare_s / count,
        "toolkit_call_us": 1e6 * call_s / count,
        "toolkit_call_ratio": call_s / bare_s,
        "reset_us": 1e6 * reset_s / len(episodes),
        "step_us": 1e6 * (step_s - reset_s) / count,
        "step_ratio": (step_s - reset_s) / bare_s,
        "calls_per_s": count / (step_s - reset_s),
    }


def bare_of(toolkit: Toolkit, env: ToolEnv, raws: list[bytes]) -> Iterator[tuple[bytes, Valid, Any]]:
    """What the bare sum needs of each call: its bytes, a validator of its arguments, its result."""
    database = Database(env.domain.base)
    for raw in raws:
        call = parse_action(raw).calls[0]
        text = env.domain.toolkit.call(database, call).content
        validator = jsonschema_rs.validator_for(toolkit.schema.tools[call.name].parameters)
        yield raw, validator.is_valid, as_value(text)


def as_value(text: str) -> Any:  # noqa: ANN401 - a JSON value
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


# --- Whole episodes


def measure_steps(env: ToolEnv, episodes: list[Actions], rounds: int) -> dict[str, float]:
    """Whole episodes of an agent that has its actions at hand, user and grading included."""

    def play_all() -> None:
        for index, actions in enumerate(episodes):
            env.reset(seed=index, options={"task_index": index})
            for action in actions:
                env.step(action)
            assert env.outcome is not None
            assert env.outcome.reward == 1.0

    (seconds,) = interleave(rounds, play_all)
    steps = sum(map(len, episodes))
    return {
        "episodes": len(episodes),
        "episode_us": 1e6 * seconds / len(episodes),
        "episodes_per_s": len(episodes) / seconds,
        "steps_per_s": steps / seconds,
    }


def measure_episodes(
    env: ToolEnv, episodes: list[Actions], files: list[Path], rounds: int
) -> dict[str, float]:
    """Reset, gold actions, exact reward; against `json.load` of the database's files."""

    def play_all() -> None:
        for index, actions in enumerate(episodes):
            env.reset(options={"task_index": index})
            for action in actions:
                _, reward, terminated, _, _ = env.step(action)
            assert terminated
            assert reward == 1.0, f"the gold actions of task {index} earned {reward}"

    def load() -> None:
        for path in files:
            with path.open() as file:
                json.load(file)

    episodes_s, load_s = interleave(rounds, play_all, load)
    return {
        "episodes": len(episodes),
        "episode_us": 1e6 * episodes_s / len(episodes),
        "episodes_per_s": len(episodes) / episodes_s,
        "steps_per_s": sum(map(len, episodes)) / episodes_s,
        "json_load_us": 1e6 * load_s,
        "json_load_per_episode": load_s / (episodes_s / len(episodes)),
    }


def database_files(data: str | None, domain: str) -> list[Path]:
    sample = Path(tool_envs.__file__).parent / "tau_bench" / "sample"
    root = Path(data) if data else sample
    folders = [root / "databases" / domain, root / "tau_bench" / "envs" / domain / "data"]
    return sorted(path for folder in folders for path in folder.glob("*.json"))


def measure_forks(env: ToolEnv, episodes: list[Actions], repeats: int = 2000) -> dict[str, float]:
    """Snapshot and restore in the middle of an episode, before its last action."""
    env.reset(seed=0, options={"task_index": 0})
    for action in episodes[0][:-1]:
        env.step(action)
    snapshot = env.snapshot()
    snapshot_s, restore_s = interleave(
        5,
        lambda: [env.snapshot() for _ in range(repeats)],
        lambda: [env.restore(snapshot) for _ in range(repeats)],
    )
    return {"snapshot_us": 1e6 * snapshot_s / repeats, "restore_us": 1e6 * restore_s / repeats}


def measure_memory(episodes: list[Actions], env_id: str, **kwargs: Any) -> dict[str, float]:  # noqa: ANN401
    """Bytes of one more running episode, each played to before its end, beside the first one."""
    count = 200
    first = make_env(env_id, **kwargs)
    for number in range(count):  # fills what is shared
        play(first, number % len(episodes), episodes)
    envs = [make_env(env_id, **kwargs) for _ in range(count)]
    gc.collect()
    tracemalloc.start()
    for number, env in enumerate(envs):
        play(env, number % len(episodes), episodes)
    gc.collect()
    used = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return {"episode_bytes": used / count}


def play(env: ToolEnv, index: int, episodes: list[Actions]) -> None:
    env.reset(seed=index, options={"task_index": index})
    for action in episodes[index][:-1]:
        env.step(action)


def measure_sizes(env_id: str, rounds: int) -> dict[str, float]:
    """A world of 100,000 customers against one of 500: made, and the oracle's episodes in it."""
    small, large = (make_env(env_id, customers=500), make_env(env_id, customers=100_000))
    small_s, large_s = interleave(
        rounds, lambda: oracle_episodes(small, 20), lambda: oracle_episodes(large, 20)
    )
    return {"large_world_ratio": large_s / small_s}


# --- tau-bench itself


def measure_checkout(checkout: str, domain: str, env: ToolEnv, ours_us: float) -> dict[str, float]:
    """The same tasks through a checkout's own environment, with a user who hangs up at the first reply."""
    upstream = load_checkout(checkout, domain)
    upstream.user = ScriptedUser()
    action_type = importlib.import_module("tau_bench.types").Action
    ours = env.domain.data_digest(Database(env.domain.base))
    assert ours == upstream.get_data_hash(), "the checkout has another database"
    episodes = gold_episodes(env)
    start = time.perf_counter()
    rewards = []
    for index, actions in enumerate(episodes):
        upstream.reset(index)
        for action in actions:
            response = upstream.step(action_type(name=action["name"], kwargs=action["arguments"]))
        rewards.append(response.reward)
    theirs_us = 1e6 * (time.perf_counter() - start) / len(episodes)
    assert all(reward == 1.0 for reward in rewards), "tau-bench disagrees with its own gold actions"
    return {"tau_bench_episode_us": theirs_us, "times_faster": theirs_us / ours_us}


class ScriptedUser:
    """A user for tau-bench's environment that needs no model."""

    def reset(self, instruction: str | None = None) -> str:  # noqa: ARG002 - tau-bench's interface
        return ""

    def step(self, content: str) -> str:  # noqa: ARG002 - tau-bench's interface
        return "###STOP###"

    def get_total_cost(self) -> float:
        return 0.0


def load_checkout(checkout: str, domain: str) -> Any:  # noqa: ANN401 - tau-bench's own class
    """tau-bench's environment of a domain, imported from a checkout."""
    litellm = types.ModuleType("litellm")
    litellm.completion = None  # type: ignore[attr-defined]
    sys.modules.setdefault("litellm", litellm)
    sys.path.insert(0, checkout)
    module = importlib.import_module(f"tau_bench.envs.{domain}.env")
    env_class = getattr(module, f"Mock{domain.capitalize()}DomainEnv")
    return env_class(user_strategy="human", task_split="test", task_index=0)


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
    "large_world_ratio": ("at most", 1.5),
}


def _print(figures: dict[str, dict[str, float]]) -> None:
    for name, rows in figures.items():
        table = Table("figure", "value", "aim", title=name)
        for figure, value in rows.items():
            word, limit = LIMITS.get(figure, ("", None))
            table.add_row(figure, f"{value:,.2f}", f"{word} {limit:,.1f}" if limit else "")
        Console().print(table)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--data", default=os.environ.get("TAU_BENCH_PATH"))
    parser.add_argument("--tau-bench", metavar="CHECKOUT")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--tasks", type=int, default=100, help="Tasks of our own domains.")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    options.data = options.data or None
    return options


if __name__ == "__main__":
    main()
