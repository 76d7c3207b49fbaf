"""The airline: what models did there in the past, and the schema that stands for its tools."""

import json
from itertools import pairwise

import gymnasium

import tool_envs  # noqa: F401 - registers the environment
from tool_envs.messages import ToolCall
from tool_envs.schema import load_schema
from tool_envs.tau_bench.airline import AIRLINE_TOOLS
from tool_envs.tau_bench.data import state_hash
from tool_envs.tau_bench.files import load


def read_golden(path, name):
    return json.loads((path / "golden" / f"{name}.json").read_bytes())


def actions_of(conversation):
    """What the model did, each with what came back: (action, observation or None at the end)."""
    messages = [*conversation["messages"], {"content": None}]
    for message, reply in pairwise(messages):
        if message.get("role") != "assistant":
            continue
        if message.get("tool_calls"):
            call = message["tool_calls"][0]
            yield {"name": call["name"], "arguments": json.loads(call["arguments"])}, reply["content"]
        else:
            yield {"name": "respond", "arguments": {"content": message["content"]}}, reply["content"]


def test_recorded_conversations_replay_to_their_rewards(tau_bench_path):
    conversations = read_golden(tau_bench_path, "gpt4o_airline_trajectories")
    env = gymnasium.make("tool_envs/TauBench-v0", path=str(tau_bench_path), domain="airline").unwrapped
    cut = 0
    for conversation in conversations:
        turns = [message["content"] for message in conversation["messages"] if message["role"] == "user"]
        options = {"task_index": conversation["task_index"], "user_turns": turns}
        observation, _ = env.reset(options=options)
        assert observation["content"] == turns[0]
        for action, recorded in actions_of(conversation):
            observation, reward, terminated, truncated, _ = env.step(action)
            if recorded is not None:
                assert observation["content"] == as_of_today(action, recorded)

        assert (terminated, truncated) != (False, False)
        assert reward == env.outcome.reward == conversation["reward_replayed"] == conversation["reward"]
        assert state_hash(env.episode.database) == conversation["data_hash"]
        if truncated:
            assert (env.episode.steps, reward) == (30, 0.0)
            cut += 1

    assert (len(conversations), cut) == (50, 1)


def as_of_today(action, recorded):
    """The recorded observation with the key of an address that was renamed since."""
    if action["name"] != "get_user_details":
        return recorded
    return recorded.replace('"province": ', '"state": ')


def test_the_schema_accepts_every_golden_call(tau_bench_path):
    episodes = read_golden(tau_bench_path, "airline_random")["episodes"]
    schema = load_schema("tau_airline", "1.0.0")
    calls = [ToolCall(c["name"], c["arguments"]) for e in episodes for c in e["calls"]]
    calls += [call for task in load(tau_bench_path, "airline", "test").tasks for call in task.actions]

    assert len(calls) > 500
    assert [call for call in calls if not schema.tools[call.name].accepts(call.arguments)] == []


def test_the_schema_has_the_tools_of_tau_bench_in_order():
    schema = load_schema("tau_airline", "1.0.0")

    assert list(schema.tools) == [*AIRLINE_TOOLS, "respond"]
    assert not schema.tools["respond"].listed
    for tool in schema.tools.values():
        assert (tool.effect == "write") == ("explicit yes" in tool.description)
