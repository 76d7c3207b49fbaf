"""An environment that another process serves over HTTP, as a `gymnasium.Env` (`pip install -e '.[http]'`)."""

import contextlib
import time
from collections.abc import Sequence
from typing import Any, TypeAlias

import gymnasium
import httpx

from tool_envs.actions import parse_action
from tool_envs.chat.retries import retry_after
from tool_envs.env import Observation
from tool_envs.errors import DataFileError, EpisodeEndedError, InfrastructureError, UsageError
from tool_envs.json_values import is_json
from tool_envs.messages import Json
from tool_envs.schema import ToolSchema
from tool_envs.serve.guard import require_token
from tool_envs.serve.sessions import SessionGoneError, SessionInUseError
from tool_envs.spaces import MessageSpace, ToolCallSpace

_Start: TypeAlias = tuple[Observation, dict[str, Any]]
_Step: TypeAlias = tuple[Observation, float, bool, bool, dict[str, Any]]
_KNOWN: dict[str, type[Exception]] = {
    kind.__name__: kind for kind in (EpisodeEndedError, SessionGoneError, SessionInUseError)
}
_TOO_MANY, _MISTAKES = 429, range(400, 500)


class ServerError(InfrastructureError):
    """Raised when the server did not answer, or something behind it failed; the episode has no reward."""


class ServerFullError(ServerError):
    """Raised when the server has no session left.

    Args:
        message: What the server says.
        wait: Seconds after which it may be worth trying again.
    """

    def __init__(self, message: str, wait: float) -> None:
        self.message, self.wait = message, wait
        super().__init__(message)

    def __reduce__(self) -> tuple[type, tuple[str, float]]:
        return type(self), (self.message, self.wait)


class RemoteEnv(gymnasium.Env[Observation, Json]):
    """An environment behind a server.

    ## Description
    `ToolEnv`, played in the process of `tool-envs serve http`: the same seeds and options give the same
    observations, rewards and infos, but for `reset` without a seed, which draws one here. The server keeps
    the records.

    ## Action Space
    `ToolCallSpace` of the server's tool schema; `step` takes all forms that `ToolEnv.step` takes.

    ## Observation Space
    `MessageSpace`.

    ## Rewards
    As the server's environment has them.

    ## Episode End
    As there. A failure of the server or of the line ends the episode too, without a reward: `step` raises
    `ServerError`, or `SessionGoneError` when the server was started anew. The next `reset` opens another
    session.

    ## Arguments
    * `url`: where the server is: `http://127.0.0.1:8000`.
    * `agent`, `version`: who plays, and under which version of the policy, for the records. Set the attribute
      `version` before `reset` when the policy was updated.
    * `token`: the server's token; None: it has none.
    * `timeout`: seconds until an answer.
    * `patience`: seconds to go on asking a server that has no session left.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - Gymnasium's form

    def __init__(
        self,
        url: str,
        *,
        agent: str,
        version: str,
        token: str | None = None,
        timeout: float = 60.0,
        patience: float = 60.0,
    ) -> None:
        self.agent, self.version = agent, version
        self._line = _Line(url, token, timeout)
        self._patience = patience
        self._session: str | None = None
        self._is_running = False
        try:
            served = self._line.ask("GET", "/environment")
            self.env_id: str = served["env_id"]
            self.schema = _read_schema(served["tool_schema"], served["schema_sha256"], url)
        except BaseException:
            self._line.close()
            raise
        self.action_space = ToolCallSpace(self.schema)
        self.observation_space = MessageSpace()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> _Start:
        """Start an episode; one that still runs is truncated.

        Raises:
            UsageError: An option is unknown or names no task, or the agent has no name or version.
            ServerError: The server failed.
            ServerFullError: It has no session left, and patience has run out.
        """
        body = self._start(seed, options)
        try:
            answer = self._ask_session("reset", body)
        except SessionGoneError:
            answer = self._ask_session("reset", body)
        return self._read_reset(answer)

    def step(self, action: Json) -> _Step:
        """Take one action: text, bytes or a JSON value (see `tool_envs.actions`).

        Raises:
            EpisodeEndedError: There is no running episode.
            ActionTypeError: The action is nothing that an agent can have written.
            ServerError: The server, or something behind it, failed; the episode is over and has no reward.
            SessionGoneError: The session is over, and so is the episode.
        """
        self._require_running()
        return self._read_step(self._ask_session("step", {"action": _portable(action)}))

    def close(self) -> None:
        """Close the session; an episode that still runs is truncated. Again, it does nothing."""
        if self._session is not None:
            # A server that is not there any more has nothing to close.
            with contextlib.suppress(InfrastructureError):
                self._line.ask("DELETE", f"/sessions/{self._session}")
        self._session, self._is_running = None, False
        self._line.close()

    def _start(self, seed: int | None, options: dict[str, Any] | None) -> dict[str, Json]:
        """Leave the episode, and say how the next one starts."""
        super().reset(seed=seed)
        if not is_json(options):
            raise UsageError(f"Options of reset are JSON values, not {options!r:.80}.")
        # Raw output of the bit generator: the distributions on top of it may change with numpy.
        seed = int(self.np_random.bit_generator.random_raw()) >> 32 if seed is None else seed
        self._is_running = False
        return {"agent": {"name": self.agent, "version": self.version}, "seed": seed, "options": options}

    def _ask_session(self, what: str, body: Json) -> Json:
        self._session = self._session or self._open()
        try:
            return self._line.ask("POST", f"/sessions/{self._session}/{what}", body)
        except InfrastructureError:
            self._lose()
            raise

    def _lose(self) -> None:
        """After a failure nobody knows what the session holds: it is left to fall silent."""
        self._session, self._is_running = None, False

    def _open(self) -> str:
        """Open a session, and wait for one while there is none and patience lasts."""
        until = time.monotonic() + self._patience
        while True:
            try:
                session: str = self._line.ask("POST", "/sessions")["session"]
            except ServerFullError as full:
                if time.monotonic() + full.wait > until:
                    raise
                time.sleep(full.wait)
            else:
                return session

    def _require_running(self) -> None:
        if not self._is_running:
            raise EpisodeEndedError("There is no running episode. Call `reset` before `step`.")

    def _read_reset(self, answer: Json) -> _Start:
        self._is_running = True
        return answer["observation"], answer["info"]

    def _read_step(self, answer: Json) -> _Step:
        self._is_running = not (answer["terminated"] or answer["truncated"])
        names = ("observation", "reward", "terminated", "truncated", "info")
        observation, reward, terminated, truncated, info = (answer[name] for name in names)
        return observation, reward, terminated, truncated, info


def reset_each(
    envs: Sequence[RemoteEnv],
    *,
    seeds: Sequence[int | None] | None = None,
    options: Sequence[dict[str, Any] | None] | None = None,
) -> list[_Start | InfrastructureError]:
    """Start an episode in each of several environments of one server, in one request.

    Args:
        envs: The environments, each once.
        seeds: A seed for each of them, as `reset` takes it; None: no seed for any.
        options: Options for each of them, likewise.

    Returns:
        For each what `reset` returns; in the place of one that failed the failure, and it has no episode.

    Raises:
        UsageError: There are not as many seeds or options as environments, an environment stands there twice,
            or one of them cannot start so; none of them has an episode then.
        ServerError: The server did not answer; none of them has an episode.
        ServerFullError: It has no session left for one of them, and patience has run out; likewise.
    """
    seeds = [None] * len(envs) if seeds is None else seeds
    options = [None] * len(envs) if options is None else options
    _require_one_each(envs, seeds, "a seed")
    _require_one_each(envs, options, "options")
    bodies = [env._start(seed, each) for env, seed, each in zip(envs, seeds, options, strict=True)]
    answers = _open_and_reset(envs, bodies)
    gone = [place for place, answer in enumerate(answers) if isinstance(answer, SessionGoneError)]
    anew = _open_and_reset([envs[place] for place in gone], [bodies[place] for place in gone])
    for place, answer in zip(gone, anew, strict=True):
        answers[place] = answer
    return [
        answer if isinstance(answer, InfrastructureError) else env._read_reset(answer)
        for env, answer in zip(envs, answers, strict=True)
    ]


def _open_and_reset(envs: Sequence[RemoteEnv], bodies: Sequence[Json]) -> list[Json]:
    for env in envs:
        env._session = env._session or env._open()
    return _ask_each(envs, "resets", bodies)


def step_each(envs: Sequence[RemoteEnv], actions: Sequence[Json]) -> list[_Step | InfrastructureError]:
    """Take a step in each of several environments of one server, in one request.

    Args:
        envs: The environments, each once.
        actions: An action for each of them.

    Returns:
        For each what `step` returns; in the place of one that failed the failure, and its episode is over.

    Raises:
        UsageError: There are not as many actions as environments, or one stands there twice.
        EpisodeEndedError: One of them has no running episode; no step was taken.
        ActionTypeError: An action is nothing that an agent can have written; no step was taken.
        ServerError: The server did not answer; all of these episodes are over.
    """
    _require_one_each(envs, actions, "an action")
    for env in envs:
        env._require_running()
    answers = _ask_each(envs, "steps", [{"action": _portable(action)} for action in actions])
    return [
        answer if isinstance(answer, InfrastructureError) else env._read_step(answer)
        for env, answer in zip(envs, answers, strict=True)
    ]


def _require_one_each(envs: Sequence[RemoteEnv], given: Sequence[Json], what: str) -> None:
    if len(envs) != len(given):
        raise UsageError(f"Expected {what} for each of {len(envs)} environments, not {len(given)}.")


def _ask_each(envs: Sequence[RemoteEnv], what: str, bodies: Sequence[Json]) -> list[Json]:
    """For each environment, whose session is open, the answer, or the failure of the infrastructure."""
    if not envs:
        return []
    asked = [{"session": env._session, **body} for env, body in zip(envs, bodies, strict=True)]
    try:
        results = envs[0]._line.ask("POST", f"/{what}", {what: asked})["results"]
    except InfrastructureError:
        for env in envs:
            env._lose()
        raise
    answers = [_failure(each["status"], each) if "error" in each else each for each in results]
    for env, answer in zip(envs, answers, strict=True):
        if isinstance(answer, InfrastructureError):
            env._lose()
    for answer in answers:
        if isinstance(answer, Exception) and not isinstance(answer, InfrastructureError):
            raise answer
    return answers


def _portable(action: Json) -> Json:
    """The action in strict JSON, which reads the same."""
    return parse_action(action).action


def _read_schema(document: Json, sha256: str, url: str) -> ToolSchema:
    """The schema of a document; of a foreign tool list, which says what its tools do in `effects`, too."""
    if "effects" in document:
        schema = ToolSchema.from_openai(
            *(document[name] for name in ("domain", "version", "tools", "effects"))
        )
    else:
        schema = ToolSchema.from_document(document, url)
    if schema.sha256 != sha256:
        raise DataFileError(url, f"the tool schema has the digest {schema.sha256}, not {sha256} as it says")
    return schema


class _Line:
    """The connection to a server: sends requests, and raises what it answers to those that fail."""

    def __init__(self, url: str, token: str | None, timeout: float) -> None:
        if not url.startswith(("http://", "https://")):
            raise UsageError(f"Expected the URL of a server, such as http://127.0.0.1:8000, not {url!r:.80}.")
        require_token("localhost", token)
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        # Certificates take long to load, and there may be a thousand of these.
        verify = url.startswith("https://")
        self._http = httpx.Client(base_url=url, headers=headers, timeout=timeout, verify=verify)

    def ask(self, method: str, path: str, body: Json = None) -> Json:
        """The answer to a request; None: it has no content.

        Raises:
            UsageError: The server says that the request is wrong.
            InfrastructureError: There was no answer, or something failed.
        """
        try:
            answer = self._http.request(method, path, json=body)
            content = answer.json() if answer.content else None
        except (httpx.HTTPError, ValueError) as problem:
            kind = type(problem).__name__
            raise ServerError(f"{method} {path}: no answer that can be read ({kind}).") from None
        if answer.is_success:
            return content
        raise _failure(answer.status_code, content, answer.headers.get("retry-after", ""))

    def close(self) -> None:
        """Close it."""
        self._http.close()


def _failure(status: int, content: Json, wait: str = "") -> Exception:
    """What a failed request raises here: the exception that the server raised, or one of the same kind."""
    match content:
        case {"error": {"type": str(kind), "message": str(message)}}:
            pass
        case _:
            kind, message = "", f"status {status}, and no word why"
    if kind in _KNOWN:
        return _KNOWN[kind](message)
    if status == _TOO_MANY:
        return ServerFullError(message, retry_after(wait, "") or 1.0)
    return UsageError(message) if status in _MISTAKES else ServerError(message)
