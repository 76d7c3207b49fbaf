"""Serves episodes over the Model Context Protocol's streamable HTTP; it needs the extra `mcp`.

Only versions of the protocol with sessions are spoken, those that begin with `initialize`: the stateless ones
have nothing that tells the requests of one episode from those of another. Clients that know both fall back.
"""

import logging
import math
from typing import Any

import mcp_types as types
import uvicorn
from mcp.shared.exceptions import MCPError
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tool_envs.serve.guard import Application, Guard
from tool_envs.serve.mcp import FAILED, Conversation, Host, build_server
from tool_envs.serve.sessions import TooManySessionsError

PATH = "/mcp"
"""Where clients connect."""
_SESSION_ID = "mcp-session-id"
_CONVERSATION = "tool_envs.conversation"
_SECONDS_TO_STOP = 2

_log = logging.getLogger(__name__)


class Door:
    """Puts the conversation of each request into its scope: that of its session, or a new one.

    Args:
        app: The application inside, which gives sessions their ids.
        host: Whose episodes are played.
    """

    def __init__(self, app: ASGIApp, host: Host) -> None:
        self._app, self._host = app, host
        self._conversations: dict[str, Conversation] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, as ASGI has it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        session_id = Headers(scope=scope).get(_SESSION_ID, "")
        conversation = self._conversations.get(session_id) or Conversation(self._host)
        statuses: list[int] = []

        async def watch(message: Message) -> None:
            if message["type"] == "http.response.start":
                statuses.append(message["status"])
                self._note(Headers(raw=message["headers"]), conversation)
            await send(message)

        await self._app({**scope, _CONVERSATION: conversation}, receive, watch)
        if scope["method"] == "DELETE" and statuses == [200]:
            self._conversations.pop(session_id, None)
            await conversation.leave()

    def _note(self, headers: Headers, conversation: Conversation) -> None:
        """Remember whose a new session is, and forget those whose episodes are over."""
        session_id = headers.get(_SESSION_ID)
        if session_id is None or session_id in self._conversations or not conversation.is_running:
            return
        running = {key: other for key, other in self._conversations.items() if other.is_running}
        self._conversations = running | {session_id: conversation}


def http_app(host: Host, token: str | None = None) -> Application:
    """The application that serves a host's episodes at `PATH`, and ends all sessions when it is shut down.

    Args:
        host: Whose episodes are played.
        token: What requests must bear; None: they come from this machine, and from no page of a browser.
    """
    server = build_server(host, _conversation, lifespan=lambda _: host.sessions.served())
    server.middleware.append(_begin)
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        session_idle_timeout=host.sessions.ttl if math.isfinite(host.sessions.ttl) else None,
        host="",  # else it would check hosts itself, which is the guard's to do
    )
    return Guard(Door(app, host), token)


def _conversation(context: Any) -> Conversation:  # noqa: ANN401 - a `ServerRequestContext`
    conversation: Conversation = context.request.scope[_CONVERSATION]
    return conversation


async def _begin(context: Any, go_on: Any) -> Any:  # noqa: ANN401 - the library's types
    """Begin the conversation with the session, and refuse requests that have none."""
    if context.protocol_version not in HANDSHAKE_PROTOCOL_VERSIONS:
        data = {"supported": list(HANDSHAKE_PROTOCOL_VERSIONS), "requested": context.protocol_version}
        raise MCPError(types.UNSUPPORTED_PROTOCOL_VERSION, "An episode needs a session.", data)
    if context.method != "initialize":
        return await go_on(context)
    try:
        instructions = await _conversation(context).begin()
    except TooManySessionsError as full:
        raise MCPError(types.INTERNAL_ERROR, str(full), {"retryAfter": full.retry_after}) from None
    except Exception as failure:
        _log.exception("an episode could not begin", exc_info=failure)
        raise MCPError(types.INTERNAL_ERROR, FAILED) from None
    return {**await go_on(context), "instructions": instructions}


def http_server(host: Host, token: str | None = None) -> uvicorn.Server:
    """A server of that application, until a signal ends the process; arguments as there."""
    app = http_app(host, token)
    # Clients keep a connection open, so one that waited for them would not stop.
    config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=_SECONDS_TO_STOP)
    return uvicorn.Server(config)
