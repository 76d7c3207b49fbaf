"""verifiers plays our tasks with its own harness and a server on loopback, and scores what it recorded."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip(
    "verifiers", reason="needs an environment of its own: make test-integrations LIBRARIES=verifiers"
)

import verifiers.v1 as vf
from chat_stub import ChatStub, failure, overflow, serving, slow, streamed
from toy_domain import ENV_ID as DESK
from verifiers.v1.utils.loaders import environment_class, taskset_class

from tool_envs.env import unwrap
from tool_envs.environments import make_env
from tool_envs.errors import UsageError
from tool_envs.evaluation.seeds import episode_seed
from tool_envs.evaluation.slice_files import load_slice
from tool_envs.integrations.verifiers import CustomerEnvConfig, ToolTasksetConfig, read_record
from tool_envs.messages import RESPOND
from tool_envs.trajectory.record import Trajectory, assistant_messages
from tool_envs.trajectory.replay import replay
from tool_envs_verifiers import CustomerEnv, ToolTaskset

ID = "tool-envs-verifiers"
RETAIL = "tool_envs/Retail-v0"
SMOKE = "retail/smoke@1"
KEY = "TOOL_ENVS_TEST_KEY"

pytestmark = [pytest.mark.anyio, pytest.mark.library("verifiers")]


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture(autouse=True)
def _found(monkeypatch):
    """The programs of this environment, with which the library starts its own; and a key for the server."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv(KEY, "none")


def say(text, finish="stop"):
    return streamed(*([text] if text else []), finish=finish)


def oracle(env_id, kwargs, indexes):
    """Answers of a model that does in each episode what the oracle does, knowing it by what it was told."""
    scripts = {}
    for index in indexes:
        env = unwrap(make_env(env_id, kwargs))
        observation, _ = env.reset(seed=episode_seed(0, index), options={"task_index": index})
        told = [observation["content"]]
        while env.outcome is None:
            action = env.domain.oracle(env.episode)
            is_said = action["name"] == RESPOND
            scripts[tuple(told)] = action["arguments"]["content"] if is_said else json.dumps(action)
            observation, *_ = env.step(action)
            name, content = observation["name"], observation["content"]
            told.append(content if observation["role"] == "user" else f"Result of {name}: {content}")

    def answer(request):
        messages = request.json["messages"]
        return say(scripts[tuple(each["content"] for each in messages if each["role"] == "user")])

    return answer


async def play(answers, count=1, player=None, **taskset):
    """The episodes of the first tasks of a set, all at once."""
    player = {"harness": {"id": "null"}, "runtime": {"type": "subprocess"}, **(player or {})}
    config = CustomerEnvConfig(taskset=ToolTasksetConfig(id=ID, count=count, **taskset), player=player)
    env = vf.load_environment(config)
    async with ChatStub(answers) as stub, env.serving():
        client = vf.EvalClientConfig(base_url=stub.url, api_key_var=KEY)
        context = vf.ModelContext(model="m", client=client, sampling=vf.SamplingConfig(temperature=0.5))
        return await asyncio.gather(*(env.run_episode(task, context) for task in env.taskset.take(count)))


def rewards_of(trace):
    return {name: reward and reward.value for name, reward in trace.rewards.items()}


# --- Tasks


@pytest.mark.shows("a taskset that is loaded by its id")
def test_the_taskset_and_its_environment_are_found_by_their_id():
    assert taskset_class(ID) is ToolTaskset
    assert environment_class(ID) is CustomerEnv


@pytest.mark.shows("a taskset that is loaded by its id")
def test_a_slice_is_all_of_its_tasks_under_its_digest():
    frozen = load_slice(SMOKE)

    tasks = list(ToolTaskset(ToolTasksetConfig(id=ID, slice_id=SMOKE)))

    assert [(task.data.id, task.key) for task in tasks] == [(each.id, each.digest) for each in frozen.tasks]
    assert {task.data.frozen["digest"] for task in tasks} == {frozen.digest}
    assert tasks[0].data.frozen["schema"]["sha256"] == frozen.schema.sha256
    for name in ("find_user_id_by_email", RESPOND):
        assert f'"name": "{name}"' in tasks[0].data.system_prompt


@pytest.mark.parametrize(
    "which",
    [
        {},
        {"slice_id": SMOKE, "env_id": RETAIL},
        {"env_id": RETAIL, "arguments": {"family": "letter"}},
        {"env_id": "tool_envs/Retail-v9"},
        {"env_id": RETAIL, "count": 0},
    ],
)
def test_what_is_refused(which):
    with pytest.raises(UsageError):
        list(ToolTaskset(ToolTasksetConfig(id=ID, **which)))


# --- Episodes


@pytest.mark.shows("episodes with a user turn by turn, and the environment's reward")
async def test_tasks_that_are_solved():
    frozen = load_slice(SMOKE)

    episodes = await play(oracle(frozen.env.id, frozen.env.kwargs, range(3)), count=3, slice_id=SMOKE)

    for episode, reference in zip(episodes, frozen.tasks, strict=False):
        [trace] = episode.traces
        record = read_record(trace)
        assert (episode.ok, trace.errors, trace.stop_condition) == (True, [], "user_closed")
        assert rewards_of(trace) == {"terminal": 1.0}
        assert trace.metrics["steps"] == record.outcome.steps
        assert trace.metrics["end_state"] == 1.0
        assert (record.task.id, record.task.digest) == (reference.id, reference.digest)
        assert (record.agent.name, record.agent.version, record.sampling.temperature) == ("m", "m", 0.5)
        assert record.usage.agent.completion == 5 * trace.num_turns
        assert json.loads(trace.model_dump_json())["info"]["tool_envs"] == record.to_json()
        replay(record)


@pytest.mark.shows("episodes with a user turn by turn, and the environment's reward")
async def test_nothing_that_is_said_gets_nothing():
    [episode] = await play([say("")], env_id=RETAIL, arguments={"difficulty": 1, "max_steps": 3})

    [trace] = episode.traces
    assert episode.ok
    assert (rewards_of(trace), trace.reward) == ({"terminal": 0.0}, 0.0)
    assert trace.metrics["truncated"] == 1.0
    replay(read_record(trace))


async def test_what_was_sampled_is_what_was_done():
    said = ["<think>Hm.</think> Who are you? ", '{"name": "find_user_id_by_email", "arguments": {}}', "{"]

    [episode] = await play(
        [say(text) for text in said], env_id=RETAIL, arguments={"difficulty": 1, "max_steps": 3}
    )

    [trace] = episode.traces
    record = read_record(trace)
    assert [message.content for message in trace.assistant_messages] == said
    assert [message.action for _, message in assistant_messages(record)] == said
    assert [node.sampled for node in trace.nodes] == [False, False, True, False, True, False, True]


# --- Limits and failures


@pytest.mark.parametrize(
    ("answers", "player", "ended_by"),
    [
        ([say("Hello?")], {"max_turns": 2}, "length"),
        ([say("Hello?"), say("I wi", "length")], {}, "length"),
        ([say("Hello?"), overflow()], {}, "context"),
    ],
)
async def test_a_limit_of_the_agent_truncates(answers, player, ended_by):
    [episode] = await play(answers, env_id=RETAIL, arguments={"difficulty": 1}, player=player)

    [trace] = episode.traces
    outcome = read_record(trace).outcome
    assert (episode.ok, rewards_of(trace)) == (True, {"terminal": 0.0})
    assert (outcome.status, outcome.ended_by) == ("truncated", ended_by)


@pytest.mark.shows("an infrastructure failure as an episode that is not ok, without a reward")
@pytest.mark.parametrize(
    ("answers", "env_id", "arguments", "player", "message"),
    [
        ([say("Hello?"), failure(401, "Wrong key.")], RETAIL, {}, {}, "Wrong key."),
        ([say("Hello?")], DESK, {"user": "dead_line"}, {}, "The line is dead."),
        ([slow(say("Hello?"), delay=600.0)], RETAIL, {}, {"timeout": {"rollout": 2.0}}, "stopped by a clock"),
    ],
)
async def test_a_failure_has_no_reward(answers, env_id, arguments, player, message):
    [episode] = await play(answers, env_id=env_id, arguments=arguments, player=player)

    [trace] = episode.traces
    record = read_record(trace)
    assert (episode.ok, trace.ok) == (False, False)
    assert all(reward is None for reward in trace.rewards.values())
    assert message in trace.last_error.message
    assert (record.outcome.status, record.outcome.reward) == ("infrastructure", None)
    assert not any(each.trainable for _, each in assistant_messages(record))


async def test_a_customer_who_cannot_be_met():
    with serving([failure(401)]) as down:
        user = {"user": "llm", "user_model": "m", "user_base_url": down.url, "user_client": {"retries": 0}}
        [episode] = await play([say("Hello?")], env_id=RETAIL, arguments=user)

    [trace] = episode.traces
    assert not episode.ok
    assert trace.rewards == {}
    with pytest.raises(UsageError, match="no record"):
        read_record(trace)


@pytest.mark.shows("`vf-eval tool-envs-verifiers` on the command line")
def test_the_command_line(tmp_path):
    taskset = ["--env.taskset.env-id", RETAIL, "--env.taskset.arguments", '{"max_steps": 1}']
    with serving([say("Hello?")]) as stub:
        command = [str(Path(sys.executable).with_name("vf-eval")), ID, *taskset, "--env.taskset.count", "2"]
        command += ["-m", "m", "--client.base-url", stub.url, "--client.api-key-var", KEY]
        done = subprocess.run(
            [*command, "--output-dir", str(tmp_path)], capture_output=True, text=True, check=False
        )

    assert done.returncode == 0, done.stdout + done.stderr
    [written] = tmp_path.rglob("traces.jsonl")
    episodes = [json.loads(line) for line in written.read_text(encoding="utf-8").splitlines()]
    traces = [trace for episode in episodes for trace in episode["traces"]]
    assert [episode["ok"] for episode in episodes] == [True, True]
    assert [trace["rewards"]["terminal"]["score"] for trace in traces] == [0.0, 0.0]
    assert len({trace["task"]["key"] for trace in traces}) == 2
    for trace in traces:
        replay(Trajectory.from_json(trace["info"]["tool_envs"]))
