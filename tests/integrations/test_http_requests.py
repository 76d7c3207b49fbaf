"""What a server over HTTP refuses, what it says of itself, and what else can answer on its port."""

import contextlib
import socket
import subprocess
import sys

import pytest

pytest.importorskip(
    "fastapi", reason="needs an environment of its own: make test-integrations LIBRARIES=http"
)

import httpx
import toy_domain
from http_servers import COMMAND, RETAIL, TOKEN, WHO, serving

from tool_envs.errors import InfrastructureError, UsageError
from tool_envs.serve.client import RemoteEnv
from tool_envs.serve.guard import listen

pytestmark = pytest.mark.library("fastapi")


def test_a_token_beyond_loopback():
    refused = subprocess.run(
        [COMMAND, "serve", "http", RETAIL, "--host", "0.0.0.0"],  # noqa: S104 - refused
        capture_output=True,
        text=True,
        check=False,
    )
    assert refused.returncode == 2
    assert "give a token" in refused.stderr

    with serving(toy_domain.ENV_ID, "--token-env", "TOKEN") as server:
        with pytest.raises(UsageError, match="Bearer"):
            server.env()
        assert httpx.get(f"{server.url}/health").json() == {"status": "ok"}
        with contextlib.closing(server.env(token=TOKEN)) as env:
            env.reset(seed=0)


def test_requests_that_are_refused(desk):
    def ask(path, **kwargs):
        answer = httpx.post(f"{desk.url}{path}", **kwargs)
        return answer.status_code, answer.json()["error"]["type"]

    session = httpx.post(f"{desk.url}/sessions").json()["session"]
    reset = f"/sessions/{session}/reset"

    assert ask("/sessions", headers={"host": "evil.example"}) == (403, "WrongHost")
    assert ask("/sessions", headers={"origin": "https://evil.example"}) == (403, "WrongOrigin")
    assert ask("/steps", content=b" " * ((1 << 22) + 1)) == (413, "BodyTooLarge")
    assert ask("/sessions/7/step", json={"action": ""}) == (404, "UnknownSessionError")
    assert ask(f"/sessions/{session}/step", json={"action": ""}) == (409, "EpisodeEndedError")
    assert ask(reset, json={}) == (422, "RequestError")
    assert ask(reset, json={**WHO, "sead": 0}) == (422, "RequestError")
    assert ask(reset, content=b"{", headers={"content-type": "application/json"}) == (422, "RequestError")
    assert ask(reset, json={**WHO, "seed": -1})[0] == 422


def test_the_document_of_the_api(desk):
    document = httpx.get(f"{desk.url}/openapi.json").json()

    assert document["openapi"].startswith("3.1")
    assert set(document["paths"]) == {
        "/environment",
        "/health",
        "/resets",
        "/sessions",
        "/sessions/{session}",
        "/sessions/{session}/reset",
        "/sessions/{session}/step",
        "/steps",
    }
    fields = document["components"]["schemas"]["StepAnswer"]["properties"]
    assert list(fields) == ["observation", "reward", "terminated", "truncated", "info"]


def test_answers_are_not_held_back():
    with (
        listen("127.0.0.1", 0) as listener,
        socket.create_connection(listener.getsockname()),
        listener.accept()[0] as connection,
    ):
        assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_ports_that_are_taken():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        result = subprocess.run(
            [COMMAND, "serve", "http", RETAIL, "--port", str(taken.getsockname()[1])],
            capture_output=True,
            text=True,
            check=False,
        )

    assert result.returncode == 2
    assert "Nobody can listen" in result.stderr


def test_a_server_that_speaks_otherwise(tmp_path):
    """Something else answers on the port: a failure of the infrastructure, and no mistake of ours."""
    command = [sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", tmp_path]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as other:
        port = other.stdout.readline().split(" port ")[1].split()[0]
        with pytest.raises(InfrastructureError, match="no answer that can be read"):
            RemoteEnv(f"http://127.0.0.1:{port}", agent="visitor", version="7")
        other.terminate()
