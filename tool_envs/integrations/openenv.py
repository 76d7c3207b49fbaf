"""OpenEnv: our environments behind its server, and a client. Needs the extra `[openenv]`.

    app = make_app("tool_envs/Retail-v0", {"split": "train"})  # `uvicorn MODULE:app`

    with ToolClient(base_url="http://127.0.0.1:8000").sync() as client:
        result = client.reset(seed=0, task_index=3)
        while not result.done:
            result = client.step(ToolAction(action=text_of_the_model))

`examples/openenv_retail` is a package in the form that `openenv validate` and `openenv push` take. Each
connection has an environment of its own. The agent's mistakes are observations. What fails around an episode
is an error, which OpenEnv's client raises as `RuntimeError`; the episode is over then, and has no reward.
"""

import asyncio
import contextlib
import functools
import logging
from collections.abc import AsyncIterator, Mapping
from typing import Any, Literal

from fastapi import FastAPI
from openenv.core.client_types import StepResult
from openenv.core.env_client import EnvClient
from openenv.core.env_server.http_server import create_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, EnvironmentMetadata, Observation, State
from pydantic import Field

from tool_envs.actions import parse_action
from tool_envs.env import Observation as Message
from tool_envs.errors import EpisodeEndedError, InfrastructureError, ToolEnvsError
from tool_envs.messages import Json
from tool_envs.serve.sessions import PlayerLostError, Session, SessionGoneError, Sessions
from tool_envs.trajectory.refs import AgentRef
from tool_envs.trajectory.store import TrajectoryWriter

_LOG = logging.getLogger(__name__)
_NOBODY = AgentRef(name="unnamed", version="unnamed")  # never recorded


class ToolAction(Action):
    """One action, in any form that `tool_envs.actions` reads; what it cannot read is the agent's mistake."""

    action: Any = Field(
        description="A model's text as it was written, a call such as "
        '{"name": ..., "arguments": {...}}, a list of calls, or an assistant message in OpenAI\'s form'
    )


class ToolObservation(Observation):
    """The newest message. `reward` is 0.0 on every step but the last; there None if no rule grades the task.

    `metadata` holds what else `ToolEnv` says in its infos: at the start the task's id and digests, at the end
    the `outcome`.
    """

    role: Literal["user", "tool"] = Field(description="Who wrote it")
    name: str = Field(description="The tool's name, or `user`")
    content: str = Field(description="What it says")
    terminated: bool = Field(default=False, description="The episode came to its end")
    truncated: bool = Field(default=False, description="The episode was cut, at the limit of steps say")
    error_code: str | None = Field(default=None, description="Code of the agent's mistake, or of a refusal")
    messages: list[dict[str, Any]] = Field(description="All new messages, in OpenAI's chat form")
    domain_policy: str | None = Field(default=None, description="At the start: the rules for the agent")
    tools: list[dict[str, Any]] | None = Field(default=None, description="At the start: the tools")


class ToolState(State):
    """Which episode runs, or ran last, and how many actions it has had."""

    task_id: str | None = Field(default=None, description="Id of its task; None before the first episode")


class ToolEnvironment(Environment[ToolAction, ToolObservation, ToolState]):
    """The episodes of one connection, one after the other.

    Args:
        sessions: Where they are played and recorded.
        recorded: Whether they are recorded, so that `reset` must say who plays.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, sessions: Sessions, *, recorded: bool = False) -> None:
        super().__init__()
        self._sessions, self._recorded = sessions, recorded
        self._session: Session | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._episode_id: str | None = None

    async def reset_async(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        *,
        agent: str = "",
        agent_version: str = "",
        **options: Json,
    ) -> ToolObservation:
        """Start an episode; one that still runs is truncated.

        Args:
            seed: At least 0; None: one is drawn.
            episode_id: What `state` calls it.
            agent: Who plays, for the record.
            agent_version: Under which version of the policy.
            options: Those of `ToolEnv.reset`: `task_index`, `task_id`, and what the domain's users take.

        Raises:
            UsageError: An option is unknown or names no task, or the record would not say who acted.
            InfrastructureError: The user could not be reached, the data not be had, or no session was free.
        """
        who = AgentRef(name=agent, version=agent_version) if self._recorded else _NOBODY
        message, info = await self._start(who, seed, options)
        self._episode_id = episode_id
        env = self._opened().env
        return ToolObservation(
            **message,
            messages=info.pop("messages"),
            domain_policy=info.pop("domain_policy"),
            tools=env.schema.to_openai(),
            metadata=info,
        )

    async def step_async(
        self,
        action: ToolAction,
        timeout_s: float | None = None,  # noqa: ARG002 - OpenEnv's server never passes it on from a connection
        **_: object,
    ) -> ToolObservation:
        """Take an action.

        Raises:
            EpisodeEndedError: There is no running episode.
            InfrastructureError: Something outside of the episode failed; it is over and has no reward.
        """
        session = self._opened()
        try:
            message, reward, terminated, truncated, info = await session.step(action.action)
        except ToolEnvsError:
            raise
        except Exception:
            _LOG.exception("A defect of the environment")
            defect = EnvironmentDefectError("The environment has a defect; see the server's log.")
            self._end(session, defect)
            raise defect from None
        return ToolObservation(
            **message,
            messages=info.pop("messages"),
            error_code=info.pop("error_code"),
            reward=info["outcome"]["reward"] if "outcome" in info else reward,
            done=terminated or truncated,
            terminated=terminated,
            truncated=truncated,
            metadata=info,
        )

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, **kwargs: Json
    ) -> ToolObservation:
        """`reset_async`, outside of an event loop."""
        return asyncio.run(self.reset_async(seed, episode_id, **kwargs))

    def step(self, action: ToolAction, timeout_s: float | None = None, **kwargs: object) -> ToolObservation:
        """`step_async`, outside of an event loop."""
        return asyncio.run(self.step_async(action, timeout_s, **kwargs))

    @property
    def state(self) -> ToolState:
        """The episode that runs or ran last, without anything that the agent may not know."""
        try:
            episode = self._opened().env.episode
        except EpisodeEndedError:
            return ToolState()
        return ToolState(episode_id=self._episode_id, step_count=episode.steps, task_id=episode.task.id)

    def get_metadata(self) -> EnvironmentMetadata:
        """What is served."""
        schema = self._sessions.example.schema
        return EnvironmentMetadata(
            name=self._sessions.env_id,
            description=f"An agent with tools serves a user ({schema.domain}); one reward at the end.",
            version=schema.version,
        )

    def close(self) -> None:
        """Leave. An episode that still runs has no reward: who left cannot be told from who was lost.

        OpenEnv calls it in a thread, while sessions are of the event loop.
        """
        session, self._session = self._session, None
        if session is None or self._loop is None:
            return
        lost = PlayerLostError("The connection was closed.")
        try:
            self._loop.call_soon_threadsafe(self._end, session, lost)
        except RuntimeError:  # that loop is closed, and so nobody is at work
            self._end(session, lost)

    async def _start(
        self, who: AgentRef, seed: int | None, options: dict[str, Json]
    ) -> tuple[Message, dict[str, Any]]:
        """Reset the session, or a new one in the place of one that fell silent."""
        self._loop = asyncio.get_running_loop()
        if self._session is not None:
            with contextlib.suppress(SessionGoneError):
                return await self._session.reset(who, seed=seed, options=options)
        self._session = self._sessions.open()
        return await self._session.reset(who, seed=seed, options=options)

    def _opened(self) -> Session:
        if self._session is None:
            raise EpisodeEndedError("There is no episode. Call `reset`, over the same connection.")
        return self._session

    def _end(self, session: Session, failure: InfrastructureError) -> None:
        """End a session, and an episode that still runs in it, without a reward."""
        with contextlib.suppress(EpisodeEndedError):  # there is none
            session.env.fail(failure)
        with contextlib.suppress(SessionGoneError):
            self._sessions.close(session)


class EnvironmentDefectError(InfrastructureError):
    """Raised when an environment raised what it should not; the server's log alone says what that was."""


class ToolClient(EnvClient[ToolAction, ToolObservation, ToolState]):
    """A connection to such a server: `reset`, `step` and `state`, or `.sync()` of them."""

    def _step_payload(self, action: ToolAction) -> dict[str, Any]:
        # In strict JSON, which reads the same.
        return {"action": parse_action(action.action).action, "metadata": action.metadata}

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[ToolObservation]:
        end = {"reward": payload["reward"], "done": payload["done"]}
        observation = ToolObservation(**payload["observation"], **end)
        return StepResult(observation=observation, **end, metadata=observation.metadata)

    def _parse_state(self, payload: dict[str, Any]) -> ToolState:
        return ToolState(**payload)


def make_app(
    env_id: str,
    kwargs: Mapping[str, Json],
    *,
    records: TrajectoryWriter | None = None,
    limit: int = 256,
    ttl: float = 3600.0,
) -> FastAPI:
    """OpenEnv's server of an environment; with its web interface if `ENABLE_WEB_INTERFACE` is set to true.

    Args:
        env_id: Id of the environment.
        kwargs: Its arguments.
        records: Where episodes are recorded; None: nowhere. It stays the caller's to close.
        limit: How many connections there can be at once.
        ttl: Seconds of silence after which an episode ends, without a reward.

    Raises:
        UnknownNameError: There is no such environment, or it has no such argument.
        UsageError: There is no such module, it is no environment of tools, or a number is not above 0.
    """
    # Twice as many sessions, since one of a connection that was closed just now may still be there.
    sessions = Sessions(env_id, kwargs, records=records, limit=2 * limit, ttl=ttl, silence="fails")
    app = create_app(
        functools.partial(ToolEnvironment, sessions, recorded=records is not None),
        ToolAction,
        ToolObservation,
        env_name=env_id.rpartition("/")[2],
        max_concurrent_envs=limit,
        state_cls=ToolState,
    )
    inner = app.router.lifespan_context

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[Any]:
        async with sessions.served(), inner(app) as state:
            yield state

    app.router.lifespan_context = lifespan
    return app
