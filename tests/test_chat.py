"""The client of models' servers, against a real server on loopback, on virtual time where time matters."""

import asyncio
import itertools
import logging
import os
import pickle
import sys
import threading
import time
import traceback
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from chat_stub import (
    Answer,
    ChatStub,
    completion,
    cut_json,
    dropped,
    error_in_success,
    failure,
    huge,
    no_choices,
    overflow,
    refusal,
    serving,
    slow,
    streamed,
    tool_calls,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from virtual_clock import run_virtually

from tool_envs.chat import (
    ChatClient,
    ChatDeadlineError,
    ChatError,
    ChatReply,
    ChatReplyError,
    ChatStatusError,
    ChatTransportError,
    ContextOverflowError,
    Prices,
    Usage,
    total_usage,
)
from tool_envs.chat.reply import UnusableReplyError, read_reply
from tool_envs.chat.retries import retry_after
from tool_envs.errors import InfrastructureError, UsageError

HELLO = [{"role": "user", "content": "Hello?"}]
KEY = "sk-test-0123456789abcdefghij"


async def ask(answers, times=1, **options):
    """What the requests of one client brought, the stub, the client, and how many seconds went by."""
    loop = asyncio.get_running_loop()
    async with ChatStub(answers) as stub, ChatClient("m", base_url=stub.url, **options) as client:
        started = loop.time()
        outcomes = [await attempt(client) for _ in range(times)]
        return outcomes, stub, client, loop.time() - started


async def attempt(client, **request):
    try:
        return await client.complete(HELLO, **request)
    except (ChatError, ContextOverflowError) as error:
        return error


def asked(*answers, **options):
    """The outcome of one request on virtual time."""
    ((outcome,), *_) = run_virtually(ask(answers, **options))
    return outcome


# --- Laws

FAULTS = {
    "fine": completion(),
    "later": slow(completion(), delay=3.0),
    "pieces": slow(completion(), pieces=10, pause=1.0),
    "never": slow(completion(), delay=1e9),
    "dripping": slow(completion(), pieces=50, pause=5.0),
    "dropped": dropped(),
    "cut": dropped("body"),
    "500": failure(500),
    "501": failure(501),
    "503": slow(failure(503), delay=2.0),
    "429": failure(429),
    "429 after": failure(429, retry_after="4"),
    "429 long": failure(429, retry_after="4000"),
    "no quota": failure(429, code="insufficient_quota"),
    "401": failure(401),
    "context": overflow(),
    "half": cut_json(),
    "error": error_in_success(),
    "empty": no_choices(),
    "nothing": Answer(),
    "huge": huge(20_000),
    "chunked": replace(completion(), chunked=True, pieces=3),
    "chunk cut": replace(completion(), chunked=True, pieces=3, cut="body"),
    "stream": streamed("Hel", "lo."),
    "stream cut": replace(streamed("Hel", "lo."), cut="body"),
    "stream dry": slow(streamed(*["a"] * 50), pieces=51, pause=5.0),
}
TRANSIENT = {"dropped", "cut", "500", "503", "429", "429 after", "429 long", "chunk cut", "stream cut"}
REPLIES = {"fine", "later", "pieces", "chunked"}


@settings(max_examples=60)
@given(
    script=st.lists(st.sampled_from(sorted(FAULTS)), min_size=1, max_size=7),
    deadline=st.floats(0.1, 60.0),
    retries=st.integers(0, 4),
)
def test_a_request_ends_in_time_after_few_attempts_and_always_in_the_same_way(script, deadline, retries):
    answers = [FAULTS[name] for name in script]
    options = {"deadline": deadline, "retries": retries, "max_reply_bytes": 10_000}

    (outcome,), stub, client, seconds = run_virtually(ask(answers, **options))
    (again,), *_, seconds_again = run_virtually(ask(answers, **options))

    assert seconds <= deadline * 1.0001
    assert len(stub.requests) == client.ledger.attempts <= retries + 1
    used = [script[min(number, len(script) - 1)] for number in range(len(stub.requests))]
    assert all(name in TRANSIENT for name in used[:-1])
    assert isinstance(outcome, ChatReply) <= (used[-1] in REPLIES)
    assert isinstance(outcome, ContextOverflowError) <= (used[-1] == "context")
    if isinstance(outcome, ChatError):
        assert isinstance(outcome, InfrastructureError)
        assert outcome.attempts == len(stub.requests)
    assert (repr(again), seconds_again) == (repr(outcome), seconds)


bytes_of_replies = st.one_of(
    st.binary(max_size=80),
    st.builds(
        lambda body, start, cut, with_: body[:start] + with_ + body[start + cut :],
        st.sampled_from([answer.body for answer in FAULTS.values() if answer.body][:14]),
        st.integers(0, 300),
        st.integers(0, 20),
        st.sampled_from([b"", b"null", b"[", b'"', b"-1", b"{}", b"NaN", b"1e999", b"\\ud800", b"[" * 5000]),
    ),
)


@given(bytes_of_replies)
def test_a_body_is_a_reply_or_unusable(body):
    try:
        reply = read_reply(body)
    except UnusableReplyError:
        return
    assert isinstance(reply.message, dict)
    assert isinstance(reply.text, str)


counts = st.builds(Usage, st.integers(0, 10**9), st.integers(0, 10**9))


@given(st.lists(counts, min_size=1), st.lists(counts))
def test_usage_adds_up_and_is_unknown_where_a_part_is(first, second):
    whole = total_usage([*first, *second])
    assert whole == total_usage([total_usage(first), *second])
    assert whole.prompt_tokens == sum(usage.prompt_tokens for usage in first + second)
    assert whole.completion_tokens == sum(usage.completion_tokens for usage in first + second)
    assert total_usage([*first, None, *second]) is None
    assert total_usage([]) is None


@given(st.text(max_size=40), st.text(max_size=40))
def test_any_header_is_a_wait_or_none(value, date):
    assert retry_after(value, date) >= 0.0


# --- What is sent again, and what is not


@pytest.mark.parametrize(
    ("answers", "kind", "status", "attempts"),
    [
        ([failure(401, "No such key.")], ChatStatusError, 401, 1),
        ([failure(404)], ChatStatusError, 404, 1),
        ([failure(400)], ChatStatusError, 400, 1),
        ([failure(409)], ChatStatusError, 409, 1),
        ([failure(302, location="http://127.0.0.1:1/")], ChatStatusError, 302, 1),
        ([failure(501)], ChatStatusError, 501, 1),
        ([failure(500)], ChatStatusError, 500, 3),
        ([failure(529)], ChatStatusError, 529, 3),
        ([failure(408)], ChatStatusError, 408, 3),
        ([failure(429)], ChatStatusError, 429, 3),
        ([failure(429, code="insufficient_quota")], ChatStatusError, 429, 1),
        ([failure(500), failure(403)], ChatStatusError, 403, 2),
        ([Answer(b"<html>bad gateway</html>", 502)], ChatStatusError, 502, 3),
        ([dropped()], ChatTransportError, None, 3),
        ([failure(500), dropped("body")], ChatTransportError, None, 3),
        ([cut_json()], ChatReplyError, 200, 1),
        ([error_in_success()], ChatReplyError, 200, 1),
        ([Answer(b'{"object": "error", "message": "Too hot.", "code": 400}')], ChatReplyError, 200, 1),
        ([no_choices()], ChatReplyError, 200, 1),
        ([huge(20_000)], ChatReplyError, 200, 1),
        ([failure(500, "a" * 20_000)], ChatReplyError, 500, 1),
        ([Answer()], ChatReplyError, 200, 1),
        ([Answer(b"[" * 9000)], ChatReplyError, 200, 1),
        ([Answer(b'{"choices": [{"message": {"a": ' + b"[" * 9000)], ChatReplyError, 200, 1),
        ([completion(finish="abort")], ChatReplyError, 200, 1),
        ([Answer(b'{"choices": null}')], ChatReplyError, 200, 1),
        ([Answer(b'{"choices": [{"message": null}]}')], ChatReplyError, 200, 1),
        ([streamed("Hel", "lo.")], ChatReplyError, 200, 1),
        ([streamed("Hel", ends=False)], ChatReplyError, 200, 1),
        ([streamed(ends=False)], ChatReplyError, 200, 1),
        ([replace(streamed("Hel", "lo."), cut="body")], ChatTransportError, None, 3),
        ([replace(streamed("Hel"), status=500)], ChatStatusError, 500, 3),
        ([streamed(*["word "] * 200)], ChatReplyError, 200, 1),
        ([slow(streamed(*["a"] * 99), pieces=100, pause=1.0)], ChatDeadlineError, None, 1),
        ([slow(completion(), delay=31.0)], ChatDeadlineError, None, 1),
        ([slow(completion(), pieces=100, pause=1.0)], ChatDeadlineError, None, 1),
        ([failure(503), slow(completion(), delay=31.0)], ChatDeadlineError, 503, 2),
        ([failure(503, retry_after="31")], ChatDeadlineError, 503, 1),
    ],
)
def test_failures(answers, kind, status, attempts):
    error = asked(*answers, deadline=30.0, retries=2, max_reply_bytes=10_000)

    assert (type(error), error.status, error.attempts) == (kind, status, attempts)
    assert error.path == "/v1/chat/completions"
    assert str(error).startswith("POST /v1/chat/completions: ")
    assert "127.0.0.1" not in str(error)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)  # noqa: S301 - our own


@pytest.mark.parametrize("first", [failure(500), failure(429), dropped(), dropped("body"), failure(408)])
def test_a_later_attempt_may_bring_the_reply(first):
    assert asked(first, first, completion("At last.")).text == "At last."


@pytest.mark.parametrize(
    ("value", "date", "seconds"),
    [
        ("7", "", 7.0),
        (" 7 ", "", 7.0),
        ("Wed, 21 Oct 2026 07:28:30 GMT", "Wed, 21 Oct 2026 07:28:00 GMT", 30.0),
        ("Wed, 21 Oct 2026 07:28:00 GMT", "Wed, 21 Oct 2026 07:28:30 GMT", 0.0),
        ("Wed, 21 Oct 2026 07:28:30 GMT", "", 0.0),
        ("soon", "Wed, 21 Oct 2026 07:28:00 GMT", 0.0),
        ("-7", "", 0.0),
        ("", "", 0.0),
    ],
)
def test_how_long_the_server_asks_to_wait(value, date, seconds):
    assert retry_after(value, date) == seconds

    *_, waited = run_virtually(ask([failure(429, retry_after=value, date=date), completion()]))
    assert waited == seconds or (seconds == 0.0 and 0.0 < waited < 1.0)


def test_a_wait_beyond_the_deadline_is_not_begun():
    (error,), *_, seconds = run_virtually(ask([failure(503, retry_after="31")], deadline=30.0))

    assert (type(error), seconds) == (ChatDeadlineError, 0.0)


def test_waits_grow_and_differ_from_request_to_request():
    async def moments(content):
        loop, seen = asyncio.get_running_loop(), []

        def answer(_):
            seen.append(loop.time())
            return failure(500)

        async with ChatStub(answer) as stub, ChatClient("m", base_url=stub.url, retries=3) as client:
            with pytest.raises(ChatStatusError):
                await client.complete([{"role": "user", "content": content}])
        return [after - before for before, after in itertools.pairwise(seen)]

    first, other = run_virtually(moments("one")), run_virtually(moments("two"))
    assert all(0.5 * 2**k / 2 <= wait <= 0.5 * 2**k for k, wait in enumerate(first))
    assert run_virtually(moments("one")) == first != other


@pytest.mark.parametrize(
    "answer",
    [
        overflow(),
        failure(400, "the request exceeds the available context size", kind="exceed_context_size_error"),
        failure(400, "This model's maximum context length is 8 tokens."),
        Answer(b'{"object": "error", "message": "maximum context length is 8 tokens", "code": 400}', 400),
    ],
)
def test_an_overflow_of_the_context_is_no_failure(answer):
    error = asked(answer)

    assert type(error) is ContextOverflowError
    assert not isinstance(error, InfrastructureError)


def test_one_slow_request_holds_up_no_other():
    async def run():
        async with (
            ChatStub(lambda request: slow(completion(), delay=9e9 if request.number == 0 else 1.0)) as stub,
            ChatClient("m", base_url=stub.url, deadline=60.0) as client,
        ):
            outcomes = await asyncio.gather(*[attempt(client) for _ in range(40)])
            return outcomes, asyncio.get_running_loop().time()

    outcomes, seconds = run_virtually(run())
    assert (
        sorted(type(outcome).__name__ for outcome in outcomes) == ["ChatDeadlineError"] + ["ChatReply"] * 39
    )
    assert seconds == pytest.approx(60.0)


def test_a_cancelled_request_closes_its_connection():
    async def run():
        async with (
            ChatStub([slow(completion(), delay=9.0)]) as stub,
            ChatClient("m", base_url=stub.url) as client,
        ):
            request = asyncio.ensure_future(client.complete(HELLO))
            await asyncio.sleep(1.0)
            open_before = stub.open
            request.cancel()
            with pytest.raises(asyncio.CancelledError):
                await request
            await asyncio.sleep(10.0)
            return open_before, stub.open, client.ledger

    before, after, ledger = run_virtually(run())
    assert (before, after, ledger.requests, ledger.replies) == (1, 0, 1, 0)


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (streamed("Hel", "lo."), "a stream of events, which was not asked for (status 200, 1 attempt)."),
        (streamed("Hel", error="The engine died."), "not asked for, with an error: The engine died (status"),
        (
            Answer(b": still there\n\n" + streamed("Hel").body),
            "a stream of events, which was not asked for (",
        ),
        (Answer(b'event: error\ndata: {"message": "Too hot."}\n\n'), "with an error: Too hot (status"),
        (Answer(b'{"choices": [], "data": "data:"}'), "a reply without choices"),
    ],
)
def test_a_stream_that_nobody_asked_for_is_called_one(answer, problem):
    assert problem in str(asked(answer))


def test_blank_lines_that_keep_a_connection_open_are_no_part_of_the_reply():
    assert asked(Answer(b"\n\n  \n" + completion("At last.").body)).text == "At last."


# --- What a reply holds


def test_calls_are_as_the_server_gave_them():
    reply = asked(tool_calls(("a", {"x": 1}), ("b", {}), content="Two at once."))

    assert reply.finish_reason == "tool_calls"
    assert [call["function"] for call in reply.message["tool_calls"]] == [
        {"name": "a", "arguments": '{"x": 1}'},
        {"name": "b", "arguments": "{}"},
    ]
    assert reply.text == "Two at once."


def test_a_refusal_is_what_the_model_says():
    assert asked(refusal("Never.")).text == "Never."
    assert asked(completion(None)).text == ""


def test_tokens_and_logprobs_when_they_are_served():
    content = [{"token": "a", "logprob": -0.5, "top_logprobs": []}, {"token": "b", "logprob": 0}]
    body = msgspec.json.decode(completion(logprobs={"content": content}, token_ids=[5, 6]).body)
    reply = asked(Answer(msgspec.json.encode({**body, "prompt_token_ids": [1, 2, 3]})))

    assert (reply.prompt_token_ids, reply.token_ids, reply.logprobs) == ((1, 2, 3), (5, 6), (-0.5, 0.0))


def test_a_logprob_is_finite():
    body = completion(logprobs={"content": [{"logprob": 5}]}).body.replace(
        b'"logprob": 5', b'"logprob": -1e999'
    )

    assert type(asked(Answer(body))) is ChatReplyError


@pytest.mark.parametrize("token_ids", [[5], [5, 6, 7], [5, -6], [5, 0.5]])
def test_tokens_that_do_not_fit_their_logprobs_are_no_reply(token_ids):
    content = [{"token": "a", "logprob": -0.5}, {"token": "b", "logprob": -1.0}]
    error = asked(completion(logprobs={"content": content}, token_ids=token_ids))

    assert type(error) is ChatReplyError


def test_what_a_request_holds():
    async def run():
        async with ChatStub([completion()]) as stub, ChatClient("m", base_url=stub.url) as client:
            tools = [{"type": "function", "function": {"name": "f"}}]
            await client.complete(
                HELLO, tools=tools, response_format={"type": "json_object"}, arguments={"seed": 1}
            )
            await client.complete(HELLO)
            return [request.json for request in stub.requests], stub.requests[0]

    (first, second), request = run_virtually(run())
    assert first == {
        "model": "m",
        "messages": HELLO,
        "tools": [{"type": "function", "function": {"name": "f"}}],
        "response_format": {"type": "json_object"},
        "seed": 1,
    }
    assert second == {"model": "m", "messages": HELLO}
    assert request.path == "/v1/chat/completions"


@pytest.mark.parametrize(
    "arguments", [{"stream": True}, {"n": 2}, {"model": "x"}, {"seed": float("nan")}, {"a": {1}}]
)
def test_arguments_that_no_request_may_have(arguments):
    async def run():
        await ChatClient("m", base_url="http://127.0.0.1:9/v1").complete(HELLO, arguments=arguments)

    with pytest.raises(UsageError):
        asyncio.run(run())


def test_the_ledger_counts_what_is_known_and_says_how_much_is_not():
    answers = [
        completion(usage=(1000, 10)),
        completion(usage=None),
        failure(400),
        failure(500),
        completion(usage=(5, 0)),
    ]
    prices = Prices(prompt=2.0, completion=8.0)
    outcomes, _, client, _ = run_virtually(ask(answers, times=4, prices=prices))

    assert outcomes[0].usage == Usage(1000, 10)
    assert outcomes[0].cost == pytest.approx(0.00208)
    assert (outcomes[1].usage, outcomes[1].cost) == (None, None)
    assert msgspec.structs.asdict(client.ledger) == {
        "requests": 4,
        "attempts": 5,
        "replies": 3,
        "uncounted": 1,
        "prompt_tokens": 1005,
        "completion_tokens": 10,
        "cost": pytest.approx(0.00209),
    }


def test_without_prices_the_cost_is_unknown():
    (reply,), _, client, _ = run_virtually(ask([completion()]))

    assert reply.cost is None
    assert client.ledger.cost is None


# --- Connections


def test_requests_of_a_loop_share_connections():
    _, stub, *_ = run_virtually(ask([completion()], times=5))

    assert (stub.connections, len(stub.requests)) == (1, 5)


@pytest.mark.parametrize(("limit", "made"), [(None, 20), (3, 3)])
def test_connections_are_as_many_as_requests_at_once(limit, made):
    async def run():
        answer = slow(completion(), delay=1.0)
        async with (
            ChatStub([answer]) as stub,
            ChatClient("m", base_url=stub.url, max_connections=limit) as client,
        ):
            await asyncio.gather(*[client.complete(HELLO) for _ in range(20)])
            await client.complete(HELLO)
            return stub.connections, stub.open, asyncio.get_running_loop().time()

    connections, left_open, seconds = run_virtually(run())
    assert connections == left_open == made
    assert seconds == pytest.approx(-(-20 // made) + 1.0)


def test_a_request_that_outlives_its_pool_closes_its_connection():
    async def run():
        async with ChatStub([slow(completion(), delay=1.0)]) as stub:
            async with ChatClient("m", base_url=stub.url) as client:
                request = asyncio.ensure_future(client.complete(HELLO))
                await asyncio.sleep(0.5)
            reply = await request
            await asyncio.sleep(0.1)
            return reply.text, stub.open

    assert run_virtually(run()) == ("Hello.", 0)


def test_each_loop_has_connections_of_its_own_and_closes_them():
    with serving([completion()]) as stub:
        client = ChatClient("m", base_url=stub.url)
        for loops in (1, 2, 3):
            assert asyncio.run(client.complete(HELLO)).text == "Hello."
            assert asyncio.run(attempt(client)).text == "Hello."
            assert stub.connections == 2 * loops

        async def twice():
            async with client:
                await client.complete(HELLO)
            assert client._pools == {}
            await client.complete(HELLO)
            return len(client._pools)

        assert asyncio.run(twice()) == 1
        assert client._pools == {}


def descriptors():
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="counts open descriptors in /proc")
def test_loops_that_come_and_go_leave_nothing_open():
    with serving([completion(), dropped(), failure(500), slow(completion(), delay=0.2)]) as stub:
        client = ChatClient("m", base_url=stub.url, deadline=0.1, retries=0)
        asyncio.run(attempt(client))
        before, threads = descriptors(), threading.active_count()
        for _ in range(20):
            asyncio.run(attempt(client))
        for _ in range(600):  # until the server has seen that nobody waits any more
            if stub.open == 0 and descriptors() <= before:
                break
            time.sleep(0.05)
        assert descriptors() <= before
        assert threading.active_count() == threads


# --- The key


def hiding(answer, caplog):
    """All that could be seen of a request with a key, and the headers that the server was sent."""
    caplog.set_level(logging.DEBUG)
    (outcome,), stub, client, _ = run_virtually(ask([answer], api_key=KEY, retries=0, deadline=5.0))
    seen = [
        repr(outcome),
        str(outcome),
        repr(client),
        str(vars(outcome)) if isinstance(outcome, Exception) else "",
    ]
    if isinstance(outcome, Exception):
        seen += traceback.TracebackException.from_exception(outcome, capture_locals=True).format()
    else:
        seen.append(str(msgspec.to_builtins(outcome)))
    return "\n".join([*seen, caplog.text]), stub.requests[0].headers


@pytest.mark.parametrize(
    "answer",
    [
        completion(),
        completion(f"The key is {KEY}."),
        completion(message={KEY: [KEY]}),
        failure(401, f"Incorrect API key provided: {KEY}", code=KEY),
        failure(500, KEY),
        Answer(f"<html>{KEY}".encode(), 502),
        failure(400, f"maximum context length is {KEY}"),
        dropped(),
        dropped("body"),
        slow(completion(), delay=9.0),
        cut_json(),
        streamed("Hm.", error=KEY),
        Answer(KEY.encode()),
    ],
)
def test_the_key_is_seen_by_the_server_alone(answer, caplog):
    seen, headers = hiding(answer, caplog)

    assert headers["authorization"] == f"Bearer {KEY}"
    assert "chat" in seen.lower()
    assert KEY not in seen


def test_a_client_with_a_key_is_not_pickled():
    with pytest.raises(UsageError, match="not pickled"):
        pickle.dumps(ChatClient("m", base_url="http://127.0.0.1:9", api_key=KEY))


def sent_key(stub, **options):
    client = ChatClient("m", **options)
    asyncio.run(client.complete(HELLO))
    return stub.requests[-1].headers.get("authorization")


def test_a_server_gets_the_key_that_was_meant_for_it(monkeypatch):
    with serving([completion()]) as stub:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OTHER_KEY", "other")
        monkeypatch.setenv("OPENAI_BASE_URL", stub.url + "/")

        assert sent_key(stub) == f"Bearer {KEY}"
        assert sent_key(stub, base_url=stub.url) is None
        assert sent_key(stub, base_url=stub.url, api_key_env="OTHER_KEY") == "Bearer other"
        assert sent_key(stub, api_key_env="OTHER_KEY") == "Bearer other"
        assert sent_key(stub, api_key="given") == "Bearer given"
        monkeypatch.delenv("OPENAI_API_KEY")
        assert sent_key(stub) is None


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "OPENAI_BASE_URL"),
        ({"base_url": "127.0.0.1:8000"}, "the one given is not"),
        ({"base_url": f"http://me:{KEY}@127.0.0.1/v1"}, "user"),
        ({"base_url": f"http://127.0.0.1/v1?key={KEY}"}, "query"),
        ({"base_url": f"http://127.0.0.1:{KEY}/v1"}, "the one given is not"),
        ({"base_url": "http://127.0.0.1/v1", "api_key_env": "NO_SUCH_KEY"}, "NO_SUCH_KEY"),
        ({"base_url": "http://127.0.0.1/v1", "api_key": f"{KEY}\n"}, "line break"),
        ({"base_url": "http://127.0.0.1/v1", "deadline": 0}, "deadline"),
        ({"base_url": "http://127.0.0.1/v1", "retries": -1}, "retries"),
    ],
)
def test_clients_that_cannot_be_made(monkeypatch, options, words):
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(UsageError, match=words) as error:
        ChatClient("m", **options)
    assert KEY not in str(error.value)


def test_without_httpx_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(UsageError, match=r"tool-envs\[llm\]"):
        ChatClient("m", base_url="http://127.0.0.1:9")
