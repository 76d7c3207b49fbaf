"""The requests and answers of a server of sessions, as its OpenAPI document describes them.

A request with a member that stands here nowhere is refused: a misspelt one would do nothing.
"""

from dataclasses import dataclass
from typing import Any

_STRICT = {"extra": "forbid"}


@dataclass(frozen=True)
class Who:
    """Who plays an episode, for its record: an agent, and the version of its policy."""

    name: str
    version: str
    __pydantic_config__ = _STRICT


@dataclass(frozen=True)
class ResetRequest:
    """How an episode starts: `seed` and `options` as `ToolEnv.reset` takes them; no seed: one is drawn."""

    agent: Who
    seed: int | None = None
    options: dict[str, Any] | None = None
    __pydantic_config__ = _STRICT


@dataclass(frozen=True)
class StepRequest:
    """An action: a tool call as a JSON value, or text as a model wrote it (see `tool_envs.actions`)."""

    action: Any
    __pydantic_config__ = _STRICT


@dataclass(frozen=True, kw_only=True)
class SessionStep(StepRequest):
    """An action in one of several sessions."""

    session: str


@dataclass(frozen=True)
class StepsRequest:
    """Actions, each in another session."""

    steps: list[SessionStep]
    __pydantic_config__ = _STRICT


@dataclass(frozen=True, kw_only=True)
class SessionReset(ResetRequest):
    """How an episode starts in one of several sessions."""

    session: str


@dataclass(frozen=True)
class ResetsRequest:
    """Starts of episodes, each in another session."""

    resets: list[SessionReset]
    __pydantic_config__ = _STRICT


@dataclass(frozen=True)
class EnvironmentAnswer:
    """What is served: the environment's id, whose interface it has, and its tool schema as a document."""

    env_id: str
    interface: str
    schema_sha256: str
    tool_schema: dict[str, Any]


@dataclass(frozen=True)
class SessionAnswer:
    """A session that was opened, and the seconds of silence after which it ends."""

    session: str
    ttl: float


@dataclass(frozen=True)
class ResetAnswer:
    """What `ToolEnv.reset` returns."""

    observation: dict[str, str]
    info: dict[str, Any]


@dataclass(frozen=True)
class StepAnswer:
    """What `ToolEnv.step` returns."""

    observation: dict[str, str]
    reward: float
    terminated: bool
    truncated: bool
    info: dict[str, Any]


@dataclass(frozen=True)
class Problem:
    """What failed: the class of an exception, and its message."""

    type: str
    message: str


@dataclass(frozen=True)
class Failure:
    """The failure of a request."""

    error: Problem


@dataclass(frozen=True)
class OneFailure:
    """The failure of one of several, with the status that a request for it alone would be answered with."""

    error: Problem
    status: int


@dataclass(frozen=True)
class ResetsAnswer:
    """What each reset came to, in the order of the request."""

    results: list[ResetAnswer | OneFailure]


@dataclass(frozen=True)
class StepsAnswer:
    """What each step came to, in the order of the request."""

    results: list[StepAnswer | OneFailure]
