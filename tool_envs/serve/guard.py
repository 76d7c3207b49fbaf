"""What stands before a server: where it listens, who may ask it, by what name, and how much they may send.

In ASGI's form (https://asgi.readthedocs.io/en/latest/specs/www.html), so that it fits any application.
"""

import ipaddress
import json
import secrets
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from tool_envs.errors import UsageError

_Map: TypeAlias = MutableMapping[str, Any]
_Receive: TypeAlias = Callable[[], Awaitable[_Map]]
_Send: TypeAlias = Callable[[_Map], Awaitable[None]]
Application: TypeAlias = Callable[[_Map, _Receive, _Send], Awaitable[None]]

OPEN_PATH = "/health"
"""Answers without a token, and tells nothing but that the server runs."""

MAX_BODY = 1 << 22
"""Bytes of a request's body."""

_READ_TO_ANSWER = 4
"""How many times as much of a body that is too large is read before the request is refused."""


def require_token(host: str, token: str | None) -> None:
    """Refuse to listen beyond this machine without a token, or with one that no header can hold.

    Raises:
        UsageError: The host is not loopback and there is no token, or the token has other characters than
            visible ones of ASCII.
    """
    if token is not None and not (token and token.isascii() and token.isprintable() and " " not in token):
        raise UsageError("A token is of visible ASCII characters, without spaces or line breaks.")
    if token is None and not is_loopback(host):
        raise UsageError(
            f"The host {host!r} can be reached from other machines: give a token, or listen on 127.0.0.1."
        )


def listen(host: str, port: int, token: str | None = None) -> socket.socket:
    """A socket that listens; for port 0, at one that is free.

    Raises:
        UsageError: The host can be reached from elsewhere and there is no token, or nobody can listen there.
    """
    require_token(host, token)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=2048)
    except OSError as problem:
        raise UsageError(f"Nobody can listen on {host}, port {port}: {problem.strerror}.") from None
    # Connections inherit it. Without it the body of an answer waits 40 ms for the client to confirm the head.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def is_loopback(host: str) -> bool:
    """Whether a host's name or address is of this machine alone."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Guard:
    """Lets requests through to an application.

    With a token, those that bear it (RFC 6750: `Authorization: Bearer TOKEN`). Without one, those that name
    this machine as their `Host`, and as their `Origin` if they have one: pages in a browser can send requests
    here, and have their own names lead here (DNS rebinding), but cannot choose these two headers.

    Args:
        application: What it guards.
        token: What requests bear; None: the server is reached from this machine alone.
        max_body: Bytes of a body; larger ones are refused with 413.
    """

    def __init__(self, application: Application, token: str | None, max_body: int = MAX_BODY) -> None:
        self._application = application
        self._token = token
        self._max_body = max_body

    async def __call__(self, scope: _Map, receive: _Receive, send: _Send) -> None:
        """Handle a connection, as ASGI has it."""
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
        refusal = self._refusal(scope["path"], headers)
        body = None if refusal else await self._read(headers, receive)
        if refusal is None and body is None:
            refusal = (413, "BodyTooLarge", f"A request has at most {self._max_body} bytes.")
        if refusal is not None:
            await _refuse(send, *refusal)
            return
        await self._application(scope, _once(body or b"", receive), send)

    def _refusal(self, path: str, headers: dict[bytes, str]) -> tuple[int, str, str] | None:
        if self._token is None:
            if not is_loopback(_host("//" + headers.get(b"host", ""))):
                return 403, "WrongHost", "Without a token this server answers to this machine's names only."
            if b"origin" in headers and not is_loopback(_host(headers[b"origin"])):
                return 403, "WrongOrigin", "Without a token this server answers no pages of other machines."
        elif path != OPEN_PATH and not self._bears_token(headers.get(b"authorization", "")):
            return 401, "TokenMissing", "Expected the header `Authorization: Bearer TOKEN` with the token."
        return None

    def _bears_token(self, authorization: str) -> bool:
        scheme, _, token = authorization.partition(" ")
        wanted = (self._token or "").encode()
        return scheme.lower() == "bearer" and secrets.compare_digest(token.encode(), wanted)

    async def _read(self, headers: dict[bytes, str], receive: _Receive) -> bytes | None:
        """The whole body; None: it is too large.

        Much of one that is too large is read and thrown away: who still sends when the connection is closed
        may never see the answer.
        """
        announced = headers.get(b"content-length", "0")
        fits = announced.isdigit() and int(announced[:20]) <= self._max_body
        body, size, more = bytearray(), 0, True
        while more and size <= _READ_TO_ANSWER * self._max_body:
            message = await receive()
            part = message.get("body", b"")
            size += len(part)
            fits = fits and size <= self._max_body
            if fits:
                body += part
            more = message.get("more_body", False)
        return bytes(body) if fits else None


def _host(url: str) -> str:
    """The host that a URL names; empty: none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _once(body: bytes, receive: _Receive) -> _Receive:
    """Gives the body, and then whatever else comes."""
    messages = iter([{"type": "http.request", "body": body, "more_body": False}])

    async def next_message() -> _Map:
        return next(messages, None) or await receive()

    return next_message


async def _refuse(send: _Send, status: int, kind: str, message: str) -> None:
    headers = [(b"content-type", b"application/json")]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    if status == 413:
        headers.append((b"connection", b"close"))
    body = json.dumps({"error": {"type": kind, "message": message}}).encode()
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
