"""The same calls through tau-bench's own code and ours; runs that code, only if TAU_BENCH_CHECKOUT is set."""

import copy
import importlib
import json
import os
import sys
import types
from pathlib import Path

import pytest
from tau_calls import CallMaker, answer

from tool_envs.database import Database
from tool_envs.messages import ToolCall
from tool_envs.tau_bench.checkout import find_package
from tool_envs.tau_bench.data import RetailData, state_hash
from tool_envs.tau_bench.files import load
from tool_envs.tau_bench.grading import Grader
from tool_envs.tau_bench.retail import RETAIL_TOOLS

SEEDS = int(os.environ.get("TAU_BENCH_SEEDS", "60"))
EVERY = int(os.environ.get("TAU_BENCH_EVERY", "10"))


@pytest.fixture(scope="module")
def checkout():
    path = os.environ.get("TAU_BENCH_CHECKOUT")
    if not path:
        pytest.skip("TAU_BENCH_CHECKOUT is not set to a tau-bench checkout")
    return Path(path)


class ScriptedUser:
    def reset(self, instruction=None):  # noqa: ARG002 - their interface
        return "hello"

    def step(self, content):  # noqa: ARG002 - their interface
        return "###STOP###"

    def get_total_cost(self):
        return 0.0


@pytest.fixture(scope="module")
def upstream(checkout):
    """tau-bench's modules without its users and the packages' `__init__`, which import model clients."""
    package = find_package(checkout)
    kept = {name: module for name, module in sys.modules.items() if name.split(".")[0] == "tau_bench"}
    for name, folder in (
        ("tau_bench", ""),
        ("tau_bench.envs", "envs"),
        ("tau_bench.envs.retail", "envs/retail"),
    ):
        module = types.ModuleType(name)
        module.__path__ = [str(package / folder)]
        sys.modules[name] = module
    user = types.ModuleType("tau_bench.envs.user")
    user.load_user, user.UserStrategy = lambda **_: ScriptedUser(), str
    sys.modules["tau_bench.envs.user"] = user
    modules = types.SimpleNamespace(
        base=importlib.import_module("tau_bench.envs.base"),
        types=importlib.import_module("tau_bench.types"),
        tools=importlib.import_module("tau_bench.envs.retail.tools").ALL_TOOLS,
    )
    yield modules
    for name in [name for name in sys.modules if name.split(".")[0] == "tau_bench"]:
        del sys.modules[name]
    sys.modules.update(kept)


@pytest.fixture(scope="module")
def world(checkout):
    """A part of the database that is quick to hash: some users and all that they refer to."""
    tables = load(checkout, "retail", "test").data.tables
    users = dict(list(tables["users"].items())[:12])
    orders = {key: order for key, order in tables["orders"].items() if order["user_id"] in users}
    products = {item["product_id"] for order in orders.values() for item in order["items"]}
    return {
        "orders": orders,
        "products": {key: product for key, product in tables["products"].items() if key in products},
        "users": users,
    }


def environment(upstream, tables, task):
    text = json.dumps(tables)
    env = upstream.base.Env(
        lambda: json.loads(text), upstream.tools, [task], "", [], "human", "none", task_index=0
    )
    env.terminate_tools = ["transfer_to_human_agents"]
    return env


def nothing_to_do(upstream):
    return upstream.types.Task(user_id="", actions=[], instruction="", outputs=[])


def test_get_info_is_read_as_upstream_gives_it(checkout, upstream):
    files = load(checkout, "retail", "test")

    assert files.tools == [tool.get_info() for tool in upstream.tools]
    assert list(RETAIL_TOOLS) == [tool.get_info()["function"]["name"] for tool in upstream.tools]


@pytest.mark.filterwarnings("ignore::SyntaxWarning")  # upstream evaluates "2(3)"
@pytest.mark.parametrize("wild", [0.0, 0.3, 0.9])
def test_random_calls_have_the_same_answers_and_hashes(upstream, world, wild):
    base = RetailData(world)
    env = environment(upstream, world, nothing_to_do(upstream))
    for seed in range(SEEDS):
        database = Database(base)
        env.data = env.data_load_func()
        maker = CallMaker(seed, database, wild)
        for number in range(40):
            call = maker.call()
            name, arguments = call.name, copy.deepcopy(call.arguments)
            expected = upstream_answer(env, name, arguments)

            assert answer(database, call) == expected, (seed, number, call)
            assert call.arguments == arguments
            if number % 4 == 0 or not expected.startswith("Error"):
                assert state_hash(database) == env.get_data_hash(), (seed, number, call)


def upstream_answer(env, name, arguments):
    try:
        return env.tools_map[name].invoke(data=env.data, **arguments)
    except Exception as problem:
        return f"Error: {problem}"


@pytest.mark.parametrize("split", ["dev", "test", "train"])
def test_rewards_are_upstreams(checkout, upstream, split):
    files = load(checkout, "retail", split)
    grader = Grader(RETAIL_TOOLS)
    for index, task in enumerate(files.tasks[:: EVERY if split == "train" else 1]):
        actions = [
            upstream.types.Action(name=call.name, kwargs=copy.deepcopy(call.arguments))
            for call in task.actions
        ]
        theirs = upstream.types.Task(
            user_id="", actions=actions, instruction=task.goal["instruction"], outputs=list(task.facts)
        )
        env = environment(upstream, files.data.tables, theirs)
        database = Database(files.data)
        calls = task.actions if index % 3 else task.actions[:-1]
        said = ["; ".join(task.facts)] if index % 5 else ["no, nothing"]
        for call in calls:
            if call.name != "transfer_to_human_agents":
                seen = env.step(upstream.types.Action(name=call.name, kwargs=copy.deepcopy(call.arguments)))

                assert (
                    answer(database, ToolCall(call.name, copy.deepcopy(call.arguments))) == seen.observation
                )
        end = env.step(upstream.types.Action(name="respond", kwargs={"content": said[0]}))

        assert end.done
        assert grader.grade(task, database, said).terminal == end.reward, task.id
