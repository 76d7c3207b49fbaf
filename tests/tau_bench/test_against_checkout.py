"""The same calls through tau-bench's own code and ours; runs that code, only if TAU_BENCH_CHECKOUT is set."""

import copy
import importlib
import importlib.util
import json
import os
import sys
import types
from collections.abc import Callable, Mapping
from itertools import product
from pathlib import Path
from typing import NamedTuple

import pytest
from tau_calls import AirlineCallMaker, CallMaker, answer

from tool_envs.chat import ChatReply
from tool_envs.database import Database
from tool_envs.messages import ToolCall
from tool_envs.tau_bench.airline import AIRLINE_TOOLS
from tool_envs.tau_bench.checkout import find_package
from tool_envs.tau_bench.data import AirlineData, RetailData, TauData, state_hash
from tool_envs.tau_bench.files import load
from tool_envs.tau_bench.grading import Grader
from tool_envs.tau_bench.official_user import OfficialUser
from tool_envs.tau_bench.retail import RETAIL_TOOLS
from tool_envs.tau_bench.user_prompt import read_user_prompt

SEEDS = int(os.environ.get("TAU_BENCH_SEEDS", "60"))
NO_MORE_CERTIFICATES = "Error: no more certificates can be sent to this user"  # upstream: None, and a crash
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


class Side(NamedTuple):
    """Our side of one domain."""

    tools: Mapping[str, Callable[..., str]]
    data: type[TauData]
    maker: type[CallMaker]


SIDES = {
    "retail": Side(RETAIL_TOOLS, RetailData, CallMaker),
    "airline": Side(AIRLINE_TOOLS, AirlineData, AirlineCallMaker),
}


@pytest.fixture(scope="module", params=SIDES)
def domain(request):
    return request.param


@pytest.fixture(scope="module")
def upstream(checkout, domain):
    """tau-bench's modules without its users and the packages' `__init__`, which import model clients."""
    package = find_package(checkout)
    kept = {name: module for name, module in sys.modules.items() if name.split(".")[0] == "tau_bench"}
    for name, folder in (
        ("tau_bench", ""),
        ("tau_bench.envs", "envs"),
        (f"tau_bench.envs.{domain}", f"envs/{domain}"),
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
        tools=importlib.import_module(f"tau_bench.envs.{domain}.tools").ALL_TOOLS,
    )
    yield modules
    for name in [name for name in sys.modules if name.split(".")[0] == "tau_bench"]:
        del sys.modules[name]
    sys.modules.update(kept)


@pytest.fixture(scope="module")
def world(checkout, domain):
    """A part of the database that is quick to hash: some users and all that they refer to."""
    tables = load(checkout, domain, "test").data.tables
    return {"retail": retail_world, "airline": airline_world}[domain](tables)


def retail_world(tables):
    users = dict(list(tables["users"].items())[:12])
    orders = {key: order for key, order in tables["orders"].items() if order["user_id"] in users}
    products = {item["product_id"] for order in orders.values() for item in order["items"]}
    return {
        "orders": orders,
        "products": {key: product for key, product in tables["products"].items() if key in products},
        "users": users,
    }


def airline_world(tables):
    """Some flights of four days, of which every third lacks the first, and the flights that are booked."""
    users = dict(list(tables["users"].items())[:5])
    reservations = {key: one for key, one in tables["reservations"].items() if one["user_id"] in users}
    booked = {
        (flight["flight_number"], flight["date"])
        for one in reservations.values()
        for flight in one["flights"]
    }
    flights = {}
    for index, (number, flight) in enumerate(tables["flights"].items()):
        days = {day for name, day in booked if name == number}
        if days or index % 9 == 0 or "+1" in flight["scheduled_arrival_time_est"]:
            days.update(("2024-05-09", "2024-05-10", "2024-05-20", "2024-05-21")[index % 3 == 0 :])
            flights[number] = flight | {"dates": {day: flight["dates"][day] for day in sorted(days)}}
    return {"flights": flights, "reservations": reservations, "users": users}


def environment(upstream, tables, task):
    text = json.dumps(tables)
    env = upstream.base.Env(
        lambda: json.loads(text), upstream.tools, [task], "", [], "human", "none", task_index=0
    )
    env.terminate_tools = ["transfer_to_human_agents"]
    return env


def nothing_to_do(upstream):
    return upstream.types.Task(user_id="", actions=[], instruction="", outputs=[])


def test_get_info_is_read_as_upstream_gives_it(checkout, domain, upstream):
    files = load(checkout, domain, "test")

    assert files.tools == [tool.get_info() for tool in upstream.tools]
    assert list(SIDES[domain].tools) == [tool.get_info()["function"]["name"] for tool in upstream.tools]


@pytest.mark.filterwarnings("ignore::SyntaxWarning")  # upstream evaluates "2(3)"
@pytest.mark.parametrize("wild", [0.0, 0.3, 0.9])
def test_random_calls_have_the_same_answers_and_hashes(domain, upstream, world, wild):
    base = SIDES[domain].data(world)
    env = environment(upstream, world, nothing_to_do(upstream))
    for seed in range(SEEDS):
        database = Database(base)
        env.data = env.data_load_func()
        maker = SIDES[domain].maker(seed, database, wild)
        for number in range(40):
            call = maker.call()
            name, arguments = call.name, copy.deepcopy(call.arguments)
            expected = upstream_answer(env, name, arguments)

            assert answer(database, call) == expected, (seed, number, call)
            assert call.arguments == arguments
            if number % 4 == 0 or not expected.startswith("Error"):
                assert state_hash(database) == env.get_data_hash(), (seed, number, call)


def test_searches_have_the_same_answers(checkout, domain, upstream):
    if domain == "retail":
        pytest.skip("the store has no searches")
    data = load(checkout, "airline", "test").data
    env = environment(upstream, data.tables, nothing_to_do(upstream))
    database = Database(data)
    airports = sorted(data.flights_from)
    dates = ["2024-05-08", "2024-05-15", "2024-05-16", "2024-05-29", "2024-05-30", "2024-05-31", "2024-05-3x"]
    for origin, destination, date in product(airports, airports, dates):
        for name in ("search_direct_flight", "search_onestop_flight"):
            arguments = {"origin": origin, "destination": destination, "date": date}

            assert answer(database, ToolCall(name, arguments)) == upstream_answer(env, name, arguments), (
                arguments
            )


def upstream_answer(env, name, arguments):
    try:
        text = env.tools_map[name].invoke(data=env.data, **arguments)
        return NO_MORE_CERTIFICATES if name == "send_certificate" and text is None else text
    except Exception as problem:
        return f"Error: {problem}"


@pytest.mark.parametrize("split", ["dev", "test", "train"])
def test_rewards_are_upstreams(checkout, domain, upstream, split):
    if domain == "airline" and split != "test":
        pytest.skip("the airline has one split")
    files = load(checkout, domain, split)
    grader = Grader(SIDES[domain].tools)
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


def test_our_user_asks_what_theirs_asks(checkout, monkeypatch):
    """Through the same conversation both send a model the same messages, but for members that are null."""
    asked = []
    litellm = types.ModuleType("litellm")

    def complete(model, custom_llm_provider, messages):  # noqa: ARG001 - their interface
        asked.append([{name: each[name] for name in ("role", "content")} for each in messages])
        message = types.SimpleNamespace(content=f"reply {len(asked)}")
        message.model_dump = lambda: {"role": "assistant", "content": message.content, "tool_calls": None}
        return types.SimpleNamespace(
            choices=[types.SimpleNamespace(message=message)], _hidden_params={"response_cost": 0.0}
        )

    litellm.completion = complete
    monkeypatch.setitem(sys.modules, "litellm", litellm)
    spec = importlib.util.spec_from_file_location("theirs", find_package(checkout) / "envs" / "user.py")
    spec.loader.exec_module(module := importlib.util.module_from_spec(spec))
    theirs = module.load_user("llm", "m", "p")
    del asked[:]  # their constructor asks once for nothing
    said = [theirs.reset("Buy a lamp."), theirs.step("What is it?"), theirs.step("It is yours.")]
    theirs_asked = asked[:]

    class Model:
        model = "m"

        async def complete(self, messages, **_):
            asked.append(json.loads(json.dumps(messages)))
            return ChatReply(message={"content": said[len(asked) - 1]})

    del asked[:]
    ours = OfficialUser(read_user_prompt(str(checkout)), Model())
    turns = [ours.reset({"instruction": "Buy a lamp."}, 0)]
    turns += [ours.respond("What is it?"), ours.respond("It is yours.")]
    assert [turn.text for turn in turns] == said
    assert asked == theirs_asked
