"""AReaL's agent workflow plays whole episodes against a proxy that keeps completions as AReaL's does."""

import asyncio
import inspect
import itertools
import json
import pickle
from dataclasses import replace

import pytest
from chat_stub import Answer, ChatStub, completion, failure
from oracle_episodes import DEAD, ROWS, conversation, first_version, oracle_actions, oracle_record

from tool_envs.chat import ChatStatusError
from tool_envs.errors import InfrastructureError, UsageError
from tool_envs.integrations.areal import ToolEnvAgent

pytestmark = pytest.mark.library("areal", fake="it wants PyTorch below 2.11 and packages for CUDA")

KEY = "the-key-of-a-session"
TOO_LONG = "len of prompt tokens 40 exceeds max_total_tokens 32"


class Proxy:
    """What an agent sees of AReaL's proxy, and what the proxy keeps of a session.

    As AReaL 1.0 does, it gives messages with members that are null, and takes none of them.

    Args:
        actions: What the model does, one after the other: calls, or whole answers.
        talks: Whether what is said to the user comes as plain content.
    """

    def __init__(self, actions, *, talks=True):
        self._actions, self._talks = list(actions), talks
        self.kept = {}  # by the completion's id: the messages that it was asked with, and its own

    def __call__(self, request):
        assert request.headers["authorization"] == f"Bearer {KEY}"
        assert request.path == "/v1/chat/completions"
        assert None not in [value for message in request.json["messages"] for value in message.values()]
        action = self._actions.pop(0)
        if isinstance(action, Answer) and action.status != 200:
            return action
        answer = action if isinstance(action, Answer) else self._answer(action)
        body = {**json.loads(answer.body), "id": f"chatcmpl-{len(self.kept)}"}
        message = body["choices"][0]["message"]
        body["choices"][0]["message"] = {**dict.fromkeys(["tool_calls", "refusal", "audio"]), **message}
        self.kept[body["id"]] = (request.json["messages"], without_none(message))
        return replace(answer, body=json.dumps(body).encode())

    def _answer(self, action):
        name, arguments = action["name"], action["arguments"]
        if self._talks and name == "respond":
            return completion(arguments["content"])
        # Arguments as a model wrote them, and the empty text that is left when the calls are taken out.
        function = {"name": name, "arguments": json.dumps(arguments, indent=1)}
        call = {"id": f"call_{len(self.kept)}", "type": "function", "function": function}
        return completion("", finish="tool_calls", message={"tool_calls": [call]})


def without_none(message):
    return {name: value for name, value in message.items() if value is not None}


def run(agent, row, proxy, **extra):
    """What AReaL does with an agent in its mode `inline`."""

    async def serve():
        async with ChatStub(proxy) as stub:
            return await agent.run(
                row, **{"base_url": stub.url, "api_key": KEY, "http_client": None, **extra}
            )

    return asyncio.run(serve())


def test_it_is_what_areal_takes():
    agent = ToolEnvAgent()

    assert inspect.iscoroutinefunction(agent.run)
    assert isinstance(pickle.loads(pickle.dumps(agent)), ToolEnvAgent)  # noqa: S301 - its own


@pytest.mark.shows("agent workflow with reward by completion id")
@pytest.mark.parametrize("talks", [True, False])
@pytest.mark.parametrize("row", ROWS, ids=range(len(ROWS)))
def test_the_oracle_is_rewarded_for_its_last_completion(row, talks):
    proxy = Proxy(oracle_actions(row), talks=talks)

    rewards = run(ToolEnvAgent(), row, proxy)

    assert rewards == {list(proxy.kept)[-1]: 1.0}
    assert [type(reward) for reward in rewards.values()] == [float]


@pytest.mark.shows("export style concat")
@pytest.mark.parametrize("row", ROWS, ids=range(len(ROWS)))
def test_each_conversation_begins_with_all_of_the_one_before(row):
    proxy = Proxy(oracle_actions(row))
    run(ToolEnvAgent(), row, proxy)

    kept = list(proxy.kept.values())
    assert len(kept) > 2
    for (before, said), (messages, _) in itertools.pairwise(kept):
        assert messages[: len(before) + 1] == [*before, said]


@pytest.mark.parametrize(
    "strange",
    [
        {"name": "no_such_tool", "arguments": {"a": 1}},
        completion(
            '<tool_call>{"name": "find_user_id_by_email", "arguments": {"email": "a@b.c"}}</tool_call>'
        ),
        completion("<think>Hm.</think>What is your email address?"),
        completion("", finish="tool_calls", message={"tool_calls": ["none"]}),
    ],
    ids=["unknown", "as text", "thought", "broken"],
)
def test_a_message_is_sent_back_as_it_came_however_it_was_read(strange):
    proxy = Proxy([strange, *oracle_actions(ROWS[0])])
    run(ToolEnvAgent(), ROWS[0], proxy)

    (before, said), (messages, _) = list(proxy.kept.values())[:2]
    assert messages[: len(before) + 1] == [*before, said]


def test_what_each_request_holds():
    asked = []

    def answer(request):
        asked.append(request.json)
        return proxy(request)

    proxy = Proxy(oracle_actions(ROWS[0]))
    run(ToolEnvAgent(arguments={"temperature": 0.7, "max_completion_tokens": 64}), ROWS[0], answer)

    for body in asked:
        assert (body["temperature"], body["top_p"], body["max_completion_tokens"]) == (0.7, 1.0, 64)
        assert body["messages"][0]["role"] == "system"
        assert {tool["function"]["name"] for tool in body["tools"]} >= {"find_user_id_by_email"}


def test_the_proxy_of_a_process_of_its_own_stands_in_its_environment(monkeypatch):
    async def serve():
        async with ChatStub(proxy) as stub:
            monkeypatch.setenv("OPENAI_BASE_URL", stub.url)
            monkeypatch.setenv("OPENAI_API_KEY", KEY)
            return await ToolEnvAgent().run(ROWS[0])

    proxy = Proxy(oracle_actions(ROWS[0]))
    assert list(asyncio.run(serve()).values()) == [1.0]


@pytest.mark.shows("policy versions in records")
def test_records_have_the_versions_that_the_trainer_published():
    records, versions = [], first_version()
    agent = ToolEnvAgent(versions=versions, on_record=records.append)
    for row in ROWS[:2]:
        run(agent, row, Proxy(oracle_actions(row)))
        versions.publish(f"step-{versions.current.number + 1}")

    assert [record.head_version.version for record in records] == ["step-0", "step-1"]
    assert [record.outcome.reward for record in records] == [1.0, 1.0]
    assert [conversation(record) for record in records] == [
        conversation(oracle_record(row)) for row in ROWS[:2]
    ]


def test_a_record_without_a_version_is_refused():
    with pytest.raises(UsageError, match="`versions`"):
        ToolEnvAgent(on_record=print)


@pytest.mark.shows("failures rejected, never a reward of 0")
def test_a_failure_of_the_proxy_is_raised_and_nothing_is_sent_again():
    async def serve():
        async with ChatStub(proxy) as stub:
            with pytest.raises(ChatStatusError, match="paused"):
                await ToolEnvAgent().run(ROWS[0], base_url=stub.url, api_key=KEY)
            return len(stub.requests)

    proxy = Proxy([*oracle_actions(ROWS[0])[:2], failure(503, "It is paused.")])
    assert asyncio.run(serve()) == 3


@pytest.mark.shows("failures rejected, never a reward of 0")
def test_a_failure_of_the_user_is_raised():
    proxy = Proxy([{"name": "respond", "arguments": {"content": "Hello."}}])
    with pytest.raises(InfrastructureError, match="line is dead"):
        run(ToolEnvAgent(), DEAD, proxy)


@pytest.mark.parametrize("cut", [completion("I wou", finish="length"), failure(500, TOO_LONG)])
def test_an_episode_that_is_cut_is_truncated(cut):
    proxy = Proxy([*oracle_actions(ROWS[0])[:3], cut])

    assert run(ToolEnvAgent(), ROWS[0], proxy) == {list(proxy.kept)[-1]: 0.0}


def test_an_episode_of_which_nothing_was_sampled_has_no_reward():
    with pytest.raises(UsageError, match="nothing was sampled"):
        run(ToolEnvAgent(), ROWS[0], Proxy([failure(500, TOO_LONG)]))


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"prompt": "Hello."}, "column `episode`, not \\['prompt'\\]"),
        ({"episode": 3}, "what `episode_rows` writes"),
        ({"episode": '{"env_id": "tool_envs/Retail-v0"}'}, "kwargs"),
        ({"episode": ROWS[0]["episode"].replace("retail/test/1/0", "nobody")}, "nobody"),
    ],
)
def test_a_row_that_names_no_episode_is_refused(row, problem):
    with pytest.raises(UsageError, match=problem):
        run(ToolEnvAgent(), row, Proxy([]))
