"""Sessions over HTTP, for those who train or evaluate from another process (`pip install -e '.[http]'`).

A failure is `{"error": {"type": ..., "message": ...}}`, the type being the class of the exception:

| status | type | whose failure |
|---|---|---|
| 401, 403, 413 | `TokenMissing`, `WrongHost`, `WrongOrigin`, `BodyTooLarge` | the caller's: see `guard.py` |
| 404 | `UnknownSessionError` | the caller's: that is no id of a session |
| 409 | `SessionInUseError`, `EpisodeEndedError` | the caller's: too early, or too late |
| 410 | `SessionGoneError` | nobody's: open another session |
| 422 | `RequestError`, and other `UsageError`s | the caller's |
| 429 | `TooManySessionsError` | nobody's: wait for as long as `Retry-After` says |
| 500 | `DefectError`, `DataFileError` | a defect of the environment, or of the server's disk |
| 502 | `InfrastructureError`s | something behind the server; the episode has no reward |

The agent's own mistakes are no failures: they are observations, as in `ToolEnv`.
"""

import asyncio
import contextlib
import logging
import socket
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any, TypeVar

import gymnasium.error
import uvicorn
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response

from tool_envs.errors import EpisodeEndedError, InfrastructureError, ToolEnvsError, UsageError
from tool_envs.serve.guard import OPEN_PATH, Guard
from tool_envs.serve.http_forms import (
    EnvironmentAnswer,
    Failure,
    ResetAnswer,
    ResetRequest,
    ResetsAnswer,
    ResetsRequest,
    SessionAnswer,
    SessionReset,
    SessionStep,
    StepAnswer,
    StepRequest,
    StepsAnswer,
    StepsRequest,
)
from tool_envs.serve.sessions import (
    SessionGoneError,
    SessionInUseError,
    Sessions,
    TooManySessionsError,
    UnknownSessionError,
)
from tool_envs.trajectory.refs import AgentRef


class DefectError(ToolEnvsError):
    """Raised when an environment raised what it should not; the server's log alone says what that was."""


_STATUS: tuple[tuple[type[Exception], int], ...] = (  # the first that fits
    (UnknownSessionError, 404),
    (SessionInUseError, 409),
    (EpisodeEndedError, 409),
    (SessionGoneError, 410),
    (TooManySessionsError, 429),
    (DefectError, 500),
    (InfrastructureError, 502),
    (UsageError, 422),
    (gymnasium.error.Error, 422),
    (Exception, 500),
)
_LOG = logging.getLogger(__name__)
_One = TypeVar("_One", SessionReset, SessionStep)


class _Service:
    """What is done for each request."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    async def health(self) -> JSONResponse:
        """That the server runs."""
        return JSONResponse({"status": "ok"})

    async def environment(self) -> JSONResponse:
        """What is served."""
        env = self._sessions.example
        return JSONResponse(
            {
                "env_id": self._sessions.env_id,
                "interface": env.domain.interface,
                "schema_sha256": env.schema.sha256,
                "tool_schema": env.schema.document,
            }
        )

    async def open(self) -> JSONResponse:
        """Open a session. It ends by closing it, or after `ttl` seconds without a request."""
        session = self._sessions.open()
        return JSONResponse({"session": session.id, "ttl": self._sessions.ttl}, 201)

    async def reset(self, session: str, request: ResetRequest) -> JSONResponse:
        """Start an episode; one that still runs is truncated."""
        return JSONResponse(await self._reset(session, request))

    async def resets(self, request: ResetsRequest) -> JSONResponse:
        """Start an episode in each of several sessions, at once; one that fails harms no other."""
        return await self._each(request.resets, lambda one: self._reset(one.session, one))

    async def step(self, session: str, request: StepRequest) -> JSONResponse:
        """Take an action."""
        return JSONResponse(await self._step(session, request.action))

    async def steps(self, request: StepsRequest) -> JSONResponse:
        """Take an action in each of several sessions, at once; one that fails harms no other."""
        return await self._each(request.steps, lambda one: self._step(one.session, one.action))

    async def close(self, session: str) -> Response:
        """Close a session; an episode that still runs is truncated."""
        self._sessions.close(self._sessions.find(session))
        return Response(status_code=204)

    async def _reset(self, session: str, request: ResetRequest) -> dict[str, Any]:
        who = AgentRef(name=request.agent.name, version=request.agent.version)
        found = self._sessions.find(session)
        with _logged_defect():
            observation, info = await found.reset(who, seed=request.seed, options=request.options)
        return {"observation": observation, "info": info}

    async def _step(self, session: str, action: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON value
        with _logged_defect():
            observation, reward, terminated, truncated, info = await self._sessions.find(session).step(action)
        return {
            "observation": observation,
            "reward": reward,
            "terminated": terminated,
            "truncated": truncated,
            "info": info,
        }

    async def _each(
        self, requests: Sequence[_One], do: Callable[[_One], Awaitable[dict[str, Any]]]
    ) -> JSONResponse:
        if len({one.session for one in requests}) < len(requests):
            raise UsageError("A session stands there twice: what a request asks of several is done at once.")

        async def result(one: _One) -> dict[str, Any]:
            try:
                return await do(one)
            except (ToolEnvsError, gymnasium.error.Error) as problem:
                return {**_failure(type(problem).__name__, str(problem)), "status": _status(problem)}

        return JSONResponse({"results": await asyncio.gather(*map(result, requests))})


def make_app(sessions: Sessions, token: str | None = None) -> Guard:
    """The application that serves sessions, and stops them when it is shut down.

    Args:
        sessions: The sessions.
        token: What requests must bear; None: they come from this machine.
    """
    service = _Service(sessions)
    app = FastAPI(
        title="tool-envs",
        description="Episodes of agents that use tools.",
        version="1.0.0",
        lifespan=lambda _: sessions.served(),
        docs_url=None,  # these pages load scripts from elsewhere
        redoc_url=None,
        responses={422: {"model": Failure}},
    )
    gone: dict[int | str, dict[str, Any]] = {code: {"model": Failure} for code in (404, 409, 410, 502)}
    full: dict[int | str, dict[str, Any]] = {429: {"model": Failure}}
    add = app.add_api_route
    add(OPEN_PATH, service.health, methods=["GET"], response_model=dict[str, str])
    add("/environment", service.environment, methods=["GET"], response_model=EnvironmentAnswer)
    add(
        "/sessions",
        service.open,
        methods=["POST"],
        response_model=SessionAnswer,
        status_code=201,
        responses=full,
    )
    add(
        "/sessions/{session}/reset",
        service.reset,
        methods=["POST"],
        response_model=ResetAnswer,
        responses=gone,
    )
    add("/sessions/{session}/step", service.step, methods=["POST"], response_model=StepAnswer, responses=gone)
    add("/sessions/{session}", service.close, methods=["DELETE"], status_code=204, responses=gone)
    add("/resets", service.resets, methods=["POST"], response_model=ResetsAnswer)
    add("/steps", service.steps, methods=["POST"], response_model=StepsAnswer)
    app.add_exception_handler(RequestValidationError, _answer_invalid)
    app.add_exception_handler(ToolEnvsError, _answer_failure)
    app.add_exception_handler(gymnasium.error.Error, _answer_failure)
    return Guard(app, token)


def serve_http(sessions: Sessions, listener: socket.socket, token: str | None = None) -> None:
    """Serve sessions until a signal ends the process; the episodes that then run have no reward.

    Args:
        sessions: The sessions.
        listener: Where it listens: see `tool_envs.serve.guard.listen`.
        token: What requests must bear; None: they come from this machine.
    """
    config = uvicorn.Config(
        make_app(sessions, token),
        log_level="warning",
        access_log=False,
        timeout_keep_alive=75,  # longer than clients keep connections: one that closes meets no request
        timeout_graceful_shutdown=5,
    )
    uvicorn.Server(config).run(sockets=[listener])


@contextlib.contextmanager
def _logged_defect() -> Iterator[None]:
    """Makes a `DefectError` of what nobody foresaw: a bare exception would cost the client its connection."""
    try:
        yield
    except (ToolEnvsError, gymnasium.error.Error):
        raise
    except Exception:
        _LOG.exception("A defect of the environment")
        raise DefectError("The environment has a defect; the server's log says which.") from None


async def _answer_failure(_: Request, problem: Exception) -> JSONResponse:
    headers = {}
    if isinstance(problem, TooManySessionsError):
        headers["Retry-After"] = str(problem.retry_after)
    return JSONResponse(_failure(type(problem).__name__, str(problem)), _status(problem), headers)


async def _answer_invalid(_: Request, problem: RequestValidationError) -> JSONResponse:
    # Without what came, which may hold anything.
    found = [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in problem.errors()]
    return JSONResponse(_failure("RequestError", "; ".join(found)), 422)


def _status(problem: Exception) -> int:
    return next(status for kind, status in _STATUS if isinstance(problem, kind))


def _failure(kind: str, message: str) -> dict[str, Any]:
    return {"error": {"type": kind, "message": message}}
