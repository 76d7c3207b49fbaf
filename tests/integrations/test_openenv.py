"""OpenEnv's server and client on this machine: the episodes of the environment itself, many at once."""

import asyncio
import contextlib
import dataclasses
import json
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

pytest.importorskip("openenv", reason="needs an environment of its own: make test-integrations")

import gymnasium
import openenv_retail
import served_desks
import toy_domain
import uvicorn
from hypothesis import given, settings
from hypothesis import strategies as st
from openenv.core import GenericEnvClient
from served_desks import CALLS

from tool_envs.env import unwrap
from tool_envs.environments import make_env
from tool_envs.errors import ActionTypeError, EpisodeEndedError, InfrastructureError, UsageError
from tool_envs.integrations.openenv import ToolAction, ToolClient, ToolEnvironment, make_app
from tool_envs.serve.guard import listen
from tool_envs.serve.sessions import Sessions
from tool_envs.toolkit import Toolkit
from tool_envs.trajectory import TrajectoryWriter, read_trajectories, replay

pytestmark = pytest.mark.library("openenv")

RETAIL = "tool_envs/Retail-v0"
PACKAGE = Path(openenv_retail.__file__).parent
WHO = {"agent": "visitor", "agent_version": "step-7"}
MANY = 64


@contextlib.contextmanager
def serving(env_id, kwargs=None, **options):
    """The address of a server in a thread of this process."""
    with listen("127.0.0.1", 0) as listener:
        config = uvicorn.Config(make_app(env_id, kwargs or {}, **options), log_level="warning")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


@contextlib.contextmanager
def recording(folder, env_id, kwargs=None, **options):
    with (
        TrajectoryWriter(folder, sync_every=1) as records,
        serving(env_id, kwargs, records=records, **options) as url,
    ):
        yield url


def connect(url):
    return ToolClient(base_url=url).sync()


def ends(folder):
    return [
        (each.outcome.status, each.outcome.reward, each.outcome.ended_by)
        for each in read_trajectories(folder)
    ]


@pytest.fixture(scope="module")
def desk():
    with serving(toy_domain.ENV_ID) as url:
        yield url


# --- The same as the environment itself

actions = st.one_of(
    st.sampled_from(CALLS),
    st.text(),  # lone surrogates too
    st.sampled_from(['<tool_call>{"name": "think"}</tool_call>', "{broken", "[" * 5000]),
    st.sampled_from([float("nan"), b"\xff", b"Hello.", [CALLS[0], CALLS[1]], None, 10**5000]),
)


def assert_same(result, step):
    message, reward, terminated, truncated, info = step
    observation = result.observation
    assert {name: getattr(observation, name) for name in message} == message
    assert (observation.terminated, observation.truncated) == (terminated, truncated)
    assert result.done == observation.done == (terminated or truncated)
    assert result.reward == observation.reward == reward
    met = {"messages": observation.messages, "error_code": observation.error_code, **observation.metadata}
    assert met == json.loads(json.dumps(info))


@pytest.mark.shows("its client plays what the environment itself plays")
@settings(max_examples=40)
@given(seed=st.integers(0, 1 << 40), sent=st.lists(actions, max_size=14))
def test_episodes_are_those_of_the_environment_itself(desk, seed, sent):
    here = make_env(toy_domain.ENV_ID, {})
    with connect(desk) as there:
        result = there.reset(seed=seed)
        message, info = here.reset(seed=seed)
        assert {name: getattr(result.observation, name) for name in message} == message
        assert (result.reward, result.done) == (None, False)
        assert result.observation.tools == unwrap(here).schema.to_openai()
        told = {"messages": result.observation.messages, "domain_policy": result.observation.domain_policy}
        assert {**told, **result.observation.metadata} == info
        for action in sent:
            assert_same(there.step(ToolAction(action=action)), here.step(action))
            state = there.state()
            assert state.step_count == unwrap(here).episode.steps
            assert state.task_id == unwrap(here).task.id
            if unwrap(here).outcome is not None:
                with pytest.raises(RuntimeError, match="no running episode"):
                    there.step(ToolAction(action=action))
                break


def test_what_is_no_action_does_not_reach_the_server(desk):
    with connect(desk) as there:
        there.reset(seed=0)
        with pytest.raises(ActionTypeError):
            there.step(ToolAction(action=object()))
        assert there.state().step_count == 0


@pytest.mark.shows("its client plays what the environment itself plays")
def test_the_oracle_earns_its_reward_at_the_end(tmp_path):
    kwargs = {"difficulty": 1, "split": "test"}
    here = make_env(RETAIL, kwargs)
    with recording(tmp_path, RETAIL, kwargs) as url, connect(url) as there:
        here.reset(seed=5, options={"task_index": 3})
        result = there.reset(seed=5, task_index=3, episode_id="mine", **WHO)
        rewards = []
        while not result.done:
            action = unwrap(here).domain.oracle(unwrap(here).episode)
            step = here.step(action)
            result = there.step(ToolAction(action=action))
            assert_same(result, step)
            rewards.append(result.reward)
        assert there.state().episode_id == "mine"

    assert rewards == [0.0] * (len(rewards) - 1) + [1.0]
    assert result.observation.terminated
    [record] = read_trajectories(tmp_path)
    assert (record.agent.name, record.agent.version, record.outcome.reward) == ("visitor", "step-7", 1.0)
    replay(record)


@pytest.mark.shows("mistakes are observations, and truncation is told from the end")
def test_mistakes_are_observations_and_the_limit_truncates():
    with serving(toy_domain.ENV_ID, {"max_steps": 3}) as url, connect(url) as there:
        there.reset(seed=0)
        codes = [there.step(ToolAction(action=each)).observation.error_code for each in CALLS[2:4]]
        last = there.step(ToolAction(action="{broken"))

    assert codes == ["invalid_arguments", "unknown_tool"]
    assert last.observation.error_code
    assert last.done
    assert (last.observation.terminated, last.observation.truncated) == (False, True)
    assert last.reward == 0.0


def test_a_task_that_no_rule_grades_has_no_reward():
    kwargs = {"family": "letter"}
    here = make_env(RETAIL, kwargs)
    here.reset(seed=0)
    with serving(RETAIL, kwargs) as url, connect(url) as there:
        there.reset(seed=0)
        while unwrap(here).outcome is None:
            action = unwrap(here).domain.oracle(unwrap(here).episode)
            here.step(action)
            last = there.step(ToolAction(action=action))

    assert last.done
    assert last.observation.terminated
    assert last.reward is None


# --- Many at once


@pytest.mark.shows("64 sessions at once, each with an episode of its own")
def test_many_sessions_and_no_more():
    async def play(client, task):
        here = make_env(RETAIL, {"difficulty": 1})
        here.reset(seed=task, options={"task_index": task})
        result = await client.reset(seed=task, task_index=task)
        while not result.done:
            action = unwrap(here).domain.oracle(unwrap(here).episode)
            here.step(action)
            result = await client.step(ToolAction(action=action))
        return result.reward

    async def run(url):
        async with contextlib.AsyncExitStack() as stack:
            clients = [await stack.enter_async_context(ToolClient(base_url=url)) for _ in range(MANY)]
            await asyncio.gather(*(client.reset() for client in clients))
            async with ToolClient(base_url=url) as one_more:
                with pytest.raises(RuntimeError, match="CAPACITY_REACHED"):
                    await one_more.reset()
            return await asyncio.gather(*(play(client, task) for task, client in enumerate(clients)))

    with serving(RETAIL, {"difficulty": 1}, limit=MANY) as url:
        assert asyncio.run(run(url)) == [1.0] * MANY


both_look = threading.Barrier(2)


class BlockingDeskEnv(toy_domain.DeskEnv):
    """Looks up books for as long as nobody else does, in a domain that blocks."""

    def __init__(self, **options):
        super().__init__(**options)

        def get_book(database, book_id):
            both_look.wait(timeout=300)
            return toy_domain.FUNCTIONS["get_book"](database, book_id)

        functions = {**toy_domain.FUNCTIONS, "get_book": get_book}
        toolkit = Toolkit(self.domain.toolkit.schema, functions)
        self.domain = dataclasses.replace(self.domain, toolkit=toolkit, blocking=True)


BLOCKING = "tool_envs_tests/BlockingDesk-v0"
gymnasium.register(id=BLOCKING, entry_point=BlockingDeskEnv)


def test_a_domain_that_blocks_holds_nobody_up():
    async def run(url):
        async with ToolClient(base_url=url) as one, ToolClient(base_url=url) as other:
            await asyncio.gather(one.reset(seed=0), other.reset(seed=0))
            return await asyncio.gather(*(each.step(ToolAction(action=CALLS[0])) for each in (one, other)))

    with serving(BLOCKING) as url:
        results = asyncio.run(run(url))

    assert [result.observation.error_code for result in results] == [None, None]


# --- Failures


@pytest.mark.shows("failures around an episode are errors, and never a reward")
def test_a_failure_behind_the_server_is_an_error_and_has_no_reward(tmp_path):
    kwargs = {"user": "dead_line"}
    with recording(tmp_path, toy_domain.ENV_ID, kwargs) as url, connect(url) as there:
        with pytest.raises(RuntimeError, match="The line is dead"):
            there.reset(seed=0, fails_at=0, **WHO)
        there.reset(seed=0, fails_at=1, **WHO)
        with pytest.raises(RuntimeError, match="The line is dead"):
            there.step(ToolAction(action="Hello."))
        with pytest.raises(RuntimeError, match="no running episode"):
            there.step(ToolAction(action="Hello."))
        there.reset(seed=0, fails_at=9, **WHO)
        there.reset(seed=0, fails_at=9, **WHO)

    assert ends(tmp_path) == [
        ("infrastructure", None, "InfrastructureError"),
        ("truncated", 0.0, "reset"),
        ("infrastructure", None, "PlayerLostError"),
    ]


@pytest.mark.shows("failures around an episode are errors, and never a reward")
def test_a_defect_is_an_error_and_has_no_reward(tmp_path):
    with recording(tmp_path, served_desks.DEFECTIVE) as url, connect(url) as there:
        there.reset(seed=0, **WHO)
        with pytest.raises(RuntimeError, match="the server's log"):
            there.step(ToolAction(action="Break."))
        with pytest.raises(RuntimeError, match="is over"):
            there.step(ToolAction(action="Hello."))
        assert there.reset(seed=0, **WHO).observation.role == "user"

    assert ends(tmp_path)[0] == ("infrastructure", None, "EnvironmentDefectError")


def test_a_silent_player_is_cut_off_and_may_begin_anew(tmp_path):
    with recording(tmp_path, toy_domain.ENV_ID, ttl=0.1) as url, connect(url) as there:
        there.reset(seed=0, **WHO)
        while not ends(tmp_path):
            time.sleep(0.01)
        with pytest.raises(RuntimeError, match="is over"):
            there.step(ToolAction(action="Hello."))
        assert there.reset(seed=0, **WHO).observation.role == "user"

    assert ends(tmp_path)[0] == ("infrastructure", None, "PlayerLostError")


def test_mistakes_of_the_caller(tmp_path):
    with recording(tmp_path, toy_domain.ENV_ID) as url, connect(url) as there:
        with pytest.raises(RuntimeError, match="Call `reset`"):
            there.step(ToolAction(action="Hello."))
        assert there.state().task_id is None
        for mistake, problem in (
            ({}, "by name and version"),
            ({**WHO, "agent_version": ""}, "by name and version"),
            ({**WHO, "wishes": 3}, "wishes"),
            ({**WHO, "task_id": "none"}, "none"),
        ):
            with pytest.raises(RuntimeError, match=problem):
                there.reset(seed=0, **mistake)
    for wrong in ({"limit": 0}, {"ttl": 0.0}):
        with pytest.raises(UsageError):
            make_app(toy_domain.ENV_ID, {}, **wrong)


# --- Without a server, and as a package


def test_an_environment_without_a_server():
    env = ToolEnvironment(Sessions(toy_domain.ENV_ID, {}))
    with pytest.raises(EpisodeEndedError):
        env.step(ToolAction(action="Hello."))
    env.reset(seed=0)
    assert env.step(ToolAction(action=CALLS[0])).name == "get_book"
    assert env.state.step_count == 1
    env.close()
    with pytest.raises(EpisodeEndedError):
        env.step(ToolAction(action="Hello."))

    failing = ToolEnvironment(Sessions(toy_domain.ENV_ID, {"user": "dead_line"}))
    with pytest.raises(InfrastructureError):
        failing.reset(seed=0, fails_at=0)


@pytest.fixture
def package_url():
    """The server of the package, in a process of its own."""
    with listen("127.0.0.1", 0) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "server.app", "--port", str(port)]
    with subprocess.Popen(command, cwd=PACKAGE, stderr=subprocess.PIPE, text=True) as server:
        for line in server.stderr:
            if "running on" in line:
                break
        yield f"http://127.0.0.1:{port}"
        server.terminate()


@pytest.mark.shows("a package that `openenv validate` passes, there and when it runs")
def test_the_package_is_valid_and_runs(package_url):
    openenv = Path(sys.executable).with_name("openenv")

    assert validate(openenv, str(PACKAGE), "--level", "static")["verdict"] == "pass"
    assert validate(openenv, "--url", package_url)["passed"]

    with GenericEnvClient(base_url=package_url).sync() as client:
        begun = client.reset(seed=0)
        result = client.step({"action": {"name": "respond", "arguments": {"content": "Hello!"}}})
    assert begun.observation["tools"]
    assert result.observation["role"] == "user"


def validate(openenv, *arguments):
    command = [openenv, "validate", "--json", *arguments]
    return json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
