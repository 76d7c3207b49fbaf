"""Sessions: one environment for each of those who play from afar, until they close it or fall silent."""

import asyncio
import contextlib
import math
import re
import secrets
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import Any, Literal

from tool_envs.env import Observation, ToolEnv, unwrap
from tool_envs.environments import make_env
from tool_envs.errors import InfrastructureError, UsageError
from tool_envs.json_values import is_json
from tool_envs.messages import Json
from tool_envs.trajectory.capture import record_episode
from tool_envs.trajectory.record import Trajectory
from tool_envs.trajectory.refs import AgentRef
from tool_envs.trajectory.store import TrajectoryWriter

_ID = re.compile(r"[0-9a-f]{32}")
_SEEDS = 1 << 32
_LONGEST_WAIT = 10.0


class UnknownSessionError(UsageError):
    """Raised when something is no id that any server of sessions gives out."""


class SessionGoneError(InfrastructureError):
    """Raised when a session is over: closed, silent for too long, or of a server that was started anew."""


class SessionInUseError(UsageError):
    """Raised when a session is asked for something while it still does something else."""


class TooManySessionsError(InfrastructureError):
    """Raised when no more sessions can be opened now.

    Args:
        limit: How many there can be.
        retry_after: Seconds after which it may be worth trying again.
    """

    def __init__(self, limit: int, retry_after: int) -> None:
        self.limit, self.retry_after = limit, retry_after
        super().__init__(f"All {limit} sessions are taken. Try again in {retry_after} s.")

    def __reduce__(self) -> tuple[type, tuple[int, int]]:
        return type(self), (self.limit, self.retry_after)


class ServerStoppedError(InfrastructureError):
    """What an episode failed of that still ran when its server was stopped."""


class PlayerLostError(InfrastructureError):
    """What an episode failed of whose player fell silent, where silence is a failure."""


class Session:
    """An environment and who plays in it, for one event loop; made by `Sessions.open`.

    Each episode that began is recorded when it is over, once. One that its player leaves, by a new `reset` or
    by the end of the session, is truncated, and `ended_by` says how it was left.

    Args:
        session_id: What it is called.
        env: Its environment, which nobody else uses.
        keep: Takes the records.
        clock: Seconds that go forward.
    """

    def __init__(
        self, session_id: str, env: ToolEnv, keep: Callable[[Trajectory], None], clock: Callable[[], float]
    ) -> None:
        self.id = session_id
        self.env = env
        self._keep, self._clock = keep, clock
        self._used = clock()
        self._is_busy = self._is_over = False
        # Who plays the episode and its seed, until it is recorded; None: there is nothing to record.
        self._playing: tuple[AgentRef, int] | None = None

    @property
    def silent_for(self) -> float:
        """Seconds since it last did something; 0 while it does."""
        return 0.0 if self._is_busy else self._clock() - self._used

    async def reset(
        self, agent: AgentRef, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start an episode, as `ToolEnv.areset` does.

        Args:
            agent: Who plays it, and under which version of the policy, for the record.
            seed: At least 0; None: one is drawn, since an episode without one could not be replayed.
            options: Those of the environment.

        Raises:
            UsageError: The session is in use, the agent has no name or version, or an option is unknown,
                names no task or is no JSON value.
            InfrastructureError: The session is over, the user could not be reached, or the data not be had.
        """
        if not (agent.name and agent.version):
            raise UsageError(f"A record says who acted, by name and version; expected both, not {agent}.")
        if not is_json(options):
            raise UsageError(f"Options of reset are JSON values, not {options!r:.80}.")
        with self._use():
            self._leave("reset")
            seed = secrets.randbelow(_SEEDS) if seed is None else seed
            started = await self.env.areset(seed=seed, options=options)
            self._playing = (agent, seed)
            return started

    async def step(self, action: Json) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Take an action, as `ToolEnv.astep` does.

        Raises:
            UsageError: The session is in use, or there is no running episode.
            InfrastructureError: The session is over, or something outside of the episode failed, which then
                is over and has no reward.
        """
        with self._use():
            try:
                return await self.env.astep(action)
            finally:
                self._record()

    def end(self, reason: str | InfrastructureError) -> None:
        """End the session.

        Args:
            reason: Why an episode that still runs is truncated; or the failure that ends it without a reward.

        Raises:
            SessionInUseError: It does something right now, and the reason is no failure.
            SessionGoneError: It is over, and the reason is no failure.
        """
        with contextlib.nullcontext() if isinstance(reason, InfrastructureError) else self._use():
            self._is_over = True
            self._leave(reason)
            self.env.close()

    @contextlib.contextmanager
    def _use(self) -> Iterator[None]:
        if self._is_over:
            raise _gone(self.id)
        if self._is_busy:
            raise SessionInUseError(f"The session {self.id} still does what it was asked before.")
        self._is_busy = True
        try:
            yield
        finally:
            self._is_busy, self._used = False, self._clock()

    def _leave(self, reason: str | InfrastructureError) -> None:
        if self._playing is not None and self.env.outcome is None:
            if isinstance(reason, InfrastructureError):
                self.env.fail(reason)
            else:
                self.env.truncate(reason)
        self._record()

    def _record(self) -> None:
        """Record the episode if it is over and was not recorded yet."""
        if self._playing is None or self.env.outcome is None:
            return
        (agent, seed), self._playing = self._playing, None
        self._keep(record_episode(self.env, agent.name, agent.version, seed))


class Sessions:
    """All sessions of a server, each with an environment of the same id; for one event loop.

    Args:
        env_id: Id of the environment.
        kwargs: Its arguments.
        records: Where episodes are recorded; None: nowhere. It stays the caller's to close.
        limit: How many sessions there can be at once.
        ttl: Seconds of silence after which `expire` ends a session.
        silence: What an episode comes to by that: it is truncated, when to stop is the player's own decision
            ("truncates"), or it fails, when a silent player was cut off ("fails").
        clock: Seconds that go forward.

    Raises:
        UnknownNameError: There is no such environment, or it has no such argument.
        UsageError: There is no such module, it is no environment of tools, or a number is not above 0.
    """

    def __init__(
        self,
        env_id: str,
        kwargs: Mapping[str, Json],
        *,
        records: TrajectoryWriter | None = None,
        limit: int = 1000,
        ttl: float = 600.0,
        silence: Literal["truncates", "fails"] = "truncates",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if limit < 1 or not ttl > 0:
            raise UsageError(f"Expected numbers above 0, not {limit=} and {ttl=}.")
        self.env_id, self.kwargs = env_id, dict(kwargs)
        self.limit, self.ttl = limit, ttl
        self._records, self._clock = records, clock
        self._silence = silence
        self._open: dict[str, Session] = {}
        self.example = unwrap(make_env(env_id, kwargs))
        """An environment like theirs, to ask for its tools and policy; nobody plays in it."""

    def __len__(self) -> int:
        return len(self._open)

    def open(self) -> Session:
        """Open a session, under an id that nobody can guess.

        Raises:
            TooManySessionsError: There are as many as there can be.
        """
        if len(self._open) >= self.limit:
            raise TooManySessionsError(self.limit, self._wait())
        env = unwrap(make_env(self.env_id, self.kwargs))
        session = Session(secrets.token_hex(16), env, self._keep, self._clock)
        self._open[session.id] = session
        return session

    def find(self, session_id: str) -> Session:
        """The session of an id.

        Raises:
            SessionGoneError: It is over, or of another server: nothing is kept of those that are over.
            UnknownSessionError: No server gave out such an id.
        """
        session = self._open.get(session_id)
        if session is not None:
            return session
        if _ID.fullmatch(session_id):
            raise _gone(session_id)
        raise UnknownSessionError(
            f"Expected the id of a session, 32 hexadecimal digits, not {session_id!r:.80}."
        )

    def close(self, session: Session) -> None:
        """End a session whose player is done with it.

        Raises:
            SessionInUseError: It does something right now.
            SessionGoneError: It is over.
        """
        self._end(session, "closed")

    def expire(self) -> None:
        """End the sessions that have been silent for too long, and have all records on disk."""
        for session in [each for each in self._open.values() if each.silent_for >= self.ttl]:
            lost = PlayerLostError(f"Nothing was heard of the player for {self.ttl} s.")
            self._end(session, lost if self._silence == "fails" else "silence")
        self._sync()

    async def watch(self) -> None:
        """Call `expire` again and again, until it is cancelled."""
        while True:
            await asyncio.sleep(min(self.ttl / 4, 1.0))
            self.expire()

    @contextlib.asynccontextmanager
    async def served(self) -> AsyncIterator[None]:
        """End those sessions that fall silent meanwhile, and all at the end."""
        watching = asyncio.create_task(self.watch())
        try:
            yield
        finally:
            watching.cancel()
            self.stop()

    def stop(self) -> None:
        """End all sessions, since their server stops; the episodes that still run have no reward."""
        for session in list(self._open.values()):
            self._end(session, ServerStoppedError("The server was stopped."))
        self._sync()

    def _end(self, session: Session, reason: str | InfrastructureError) -> None:
        session.end(reason)
        self._open.pop(session.id, None)

    def _sync(self) -> None:
        if self._records is not None:
            self._records.sync()

    def _keep(self, record: Trajectory) -> None:
        if self._records is not None:
            self._records.append(record)

    def _wait(self) -> int:
        """Seconds until the most silent session ends, if it stays silent, but not too many: others close."""
        soonest = self.ttl - max(session.silent_for for session in self._open.values())
        return math.ceil(min(max(soonest, 1.0), _LONGEST_WAIT))


def _gone(session_id: str) -> SessionGoneError:
    return SessionGoneError(
        f"The session {session_id} is over: it was closed, or silent for too long, or the server was started "
        "anew. Open another one."
    )
