"""Who gets past the guard of a server, in ASGI's own messages."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tool_envs.errors import UsageError
from tool_envs.serve.guard import Guard, is_loopback, require_token

TOKEN = "s3cret"  # noqa: S105 - of a test


async def echo(scope, receive, send):  # noqa: ARG001 - ASGI's form
    message = await receive()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": message["body"]})


def ask(guard, *chunks, path="/steps", **headers):
    """(status, body) of a request."""
    chunks = chunks or (b"",)
    parts = [
        {"type": "http.request", "body": chunk, "more_body": place + 1 < len(chunks)}
        for place, chunk in enumerate(chunks)
    ]
    sent = []

    async def receive():
        return parts.pop(0)

    async def send(message):
        sent.append(message)

    lines = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    asyncio.run(guard({"type": "http", "path": path, "headers": lines}, receive, send))
    return sent[0]["status"], sent[1]["body"]


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:8000", "127.8.9.1", "[::1]:8000", "LOCALHOST:1"])
def test_names_of_this_machine(host):
    assert ask(Guard(echo, None), b"body", host=host) == (200, b"body")


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "10.0.0.1", "", "[::1", "127.0.0.1.evil"]
)
def test_other_names(host):
    assert ask(Guard(echo, None), host=host)[0] == 403


def test_no_host_at_all():
    assert ask(Guard(echo, None))[0] == 403


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://localhost:3000", 200),
        ("http://[::1]", 200),
        ("https://evil.example", 403),
        ("http://localhost.evil.example", 403),
        ("null", 403),
        ("", 403),
    ],
)
def test_pages_of_browsers(origin, status):
    assert ask(Guard(echo, None), host="localhost", origin=origin)[0] == status


@pytest.mark.parametrize(
    ("authorization", "status"),
    [
        (f"Bearer {TOKEN}", 200),
        (f"bearer {TOKEN}", 200),
        (f"Bearer {TOKEN}x", 401),
        (f"Basic {TOKEN}", 401),
        (TOKEN, 401),
        ("Bearer ", 401),
        ("Bearer é", 401),
    ],
)
def test_token(authorization, status):
    assert ask(Guard(echo, TOKEN), authorization=authorization, host="anywhere.example")[0] == status


def test_only_health_is_open():
    guard = Guard(echo, TOKEN)

    assert [ask(guard, path=path)[0] for path in ("/health", "/", "/openapi.json", "/health/")] == [
        200,
        401,
        401,
        401,
    ]


@given(st.lists(st.binary(max_size=6), min_size=1, max_size=6))
def test_bodies_come_whole_or_not_at_all(chunks):
    body = b"".join(chunks)

    status, answer = ask(Guard(echo, TOKEN, max_body=10), *chunks, authorization=f"Bearer {TOKEN}")

    assert (status, answer) == (200, body) if len(body) <= 10 else status == 413


@pytest.mark.parametrize("length", ["11", "9" * 5000, "-1", "x"])
def test_what_is_announced_as_too_large_is_refused(length):
    guard = Guard(echo, TOKEN, max_body=10)

    assert ask(guard, authorization=f"Bearer {TOKEN}", content_length=length)[0] == 413


@pytest.mark.parametrize(("chunks", "read"), [(2, 2), (5, 5), (1000, 5)])
def test_who_sends_too_much_may_send_some_of_it_before_the_answer(chunks, read):
    """Else the connection is closed under them, and many clients report that in the place of the answer."""
    taken, sent = [], []

    async def receive():
        taken.append(b"x" * 10)
        return {"type": "http.request", "body": taken[-1], "more_body": len(taken) < chunks}

    async def send(message):
        sent.append(message)

    scope = {
        "type": "http",
        "path": "/steps",
        "headers": [(b"host", b"localhost"), (b"content-length", b"11")],
    }
    asyncio.run(Guard(echo, None, max_body=10)(scope, receive, send))

    assert (sent[0]["status"], len(taken)) == (413, read)


def test_no_server_beyond_this_machine_without_a_token():
    for host in ("0.0.0.0", "::", "192.168.1.7", "example.org"):  # noqa: S104 - refused
        assert not is_loopback(host)
        require_token(host, TOKEN)
        with pytest.raises(UsageError, match="give a token"):
            require_token(host, None)
    require_token("127.0.0.1", None)
    for token in ("", "two words", "line\n", "é"):
        with pytest.raises(UsageError, match="visible ASCII"):
            require_token("127.0.0.1", token)
