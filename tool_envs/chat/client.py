"""Asks a model's server for one chat completion after another."""

import asyncio
import json
import zlib
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple, NoReturn, Self
from urllib.parse import urlsplit

import msgspec

from tool_envs.chat.endpoint import find_key, find_url
from tool_envs.chat.failures import (
    ChatDeadlineError,
    ChatError,
    ChatReplyError,
    ChatStatusError,
    ChatTransportError,
    ContextOverflowError,
)
from tool_envs.chat.ledger import Ledger, Prices
from tool_envs.chat.pool import Pool
from tool_envs.chat.reply import (
    ChatReply,
    UnusableReplyError,
    error_text,
    is_out_of_quota,
    overflows_context,
    read_reply,
)
from tool_envs.chat.retries import backoff, is_transient, retry_after
from tool_envs.errors import UsageError
from tool_envs.messages import Json

if TYPE_CHECKING:
    import httpx

_OWN = {"model", "messages", "tools", "response_format", "stream", "n"}
_SHORTEST_KEY = 16  # characters; what is shorter stands in place of a key, where a server wants none
_KEEP_ALIVE = 30.0  # seconds


class _Failure(NamedTuple):
    """An attempt that failed: what is raised for it, and whether a later one may do better."""

    kind: type[ChatError]
    problem: str
    status: int | None
    transient: bool = False
    wait: float = 0.0  # seconds that the server asked for


class ChatClient:
    """A client of one model behind an OpenAI-compatible server.

    A request has one deadline, over all its attempts and the waits between them. It is sent again, a bounded
    number of times and after ever longer waits, when no whole answer came, when the server says that it has
    too much to do or has failed, and not for anything else. Nothing is streamed: a stream that was not asked
    for is no usable reply.

    All requests in one event loop share a pool of connections, which is opened by the first one and closed
    by `async with`, or at the end of `asyncio.run`. Another loop, in another thread or later, has another.

    The key goes into the header of requests and nowhere else: not into `repr`, errors or logs; where the body
    of an answer repeats it, `[api key]` takes its place. Pickling is refused.

    Args:
        model: The model's name.
        base_url: Where `/chat/completions` is; None: the environment's `OPENAI_BASE_URL`, and then the key is
            `OPENAI_API_KEY` if no other is given. A server named here gets no key that was not given for it.
        api_key: The key.
        api_key_env: The environment variable that holds it.
        prices: For the cost of replies; None: it is unknown.
        deadline: Seconds for a request.
        retries: How often a request is sent again at most.
        max_reply_bytes: A longer reply is refused.
        max_connections: At once, in each event loop; None: as many as there are requests.

    Raises:
        UsageError: httpx is not installed, there is no URL or no key where one was asked for, or an argument
            makes no sense.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        api_key_env: str | None = None,
        prices: Prices | None = None,
        deadline: float = 600.0,
        retries: int = 4,
        max_reply_bytes: int = 16 * 2**20,
        max_connections: int | None = None,
    ) -> None:
        httpx = _import_httpx()
        if not (deadline > 0 and retries >= 0 and max_reply_bytes > 0):
            raise UsageError(
                "Expected `deadline` and `max_reply_bytes` above 0 and `retries` of at least 0, not "
                f"{deadline!r}, {max_reply_bytes!r} and {retries!r}."
            )
        self.model = model
        self.base_url = find_url(base_url)
        self.deadline, self.retries = deadline, retries
        self.prices = prices
        self.ledger = Ledger(cost=None if prices is None else 0.0)
        self._key = find_key(api_key, api_key_env, from_environment=base_url is None)
        self._url = f"{self.base_url}/chat/completions"
        self._path = urlsplit(self._url).path
        self._max_reply_bytes = max_reply_bytes
        self._max_connections = max_connections
        self._tls = httpx.create_ssl_context(verify=self._url.startswith("https:"))
        self._pools: dict[asyncio.AbstractEventLoop, Pool] = {}

    async def complete(
        self,
        messages: Sequence[Mapping[str, Json]],
        *,
        tools: Sequence[Mapping[str, Json]] = (),
        response_format: Mapping[str, Json] | None = None,
        arguments: Mapping[str, Json] | None = None,
    ) -> ChatReply:
        """The model's reply to a conversation.

        Args:
            messages: In OpenAI's chat form.
            tools: In OpenAI's form.
            response_format: As OpenAI's: `{"type": "json_schema", ...}`, say.
            arguments: What else the request holds: `temperature`, `max_tokens`, `return_token_ids` ...

        Raises:
            ChatError: There is no usable reply: one of its subclasses.
            ContextOverflowError: The conversation does not fit into the model's context.
            UsageError: `arguments` hold what they may not, or something is no JSON value.
        """
        body = self._encode(messages, tools, response_format, arguments or {})
        self.ledger.requests += 1
        progress = _Progress()
        try:
            async with asyncio.timeout(self.deadline):
                return await self._ask(body, progress)
        except TimeoutError:
            pass  # raised below, so that nothing of what was cut hangs on the error
        last = f"; before that: {progress.failure.problem}" if progress.failure else ""
        raise self._error(ChatDeadlineError, f"no reply within {self.deadline:g} s{last}", progress)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        pool = self._pools.get(asyncio.get_running_loop())
        if pool is not None:
            await pool.aclose()

    def __repr__(self) -> str:
        return f"ChatClient({self.model!r}, base_url={self.base_url!r})"

    def __reduce__(self) -> NoReturn:
        raise UsageError("A chat client is not pickled, for its key. Make another one where it is needed.")

    # --- One request

    def _encode(
        self,
        messages: Sequence[Mapping[str, Json]],
        tools: Sequence[Mapping[str, Json]],
        response_format: Mapping[str, Json] | None,
        arguments: Mapping[str, Json],
    ) -> bytes:
        if refused := _OWN & arguments.keys():
            raise UsageError(f"Arguments of a request are not {sorted(refused)}, which the client sets.")
        body: dict[str, Json] = {"model": self.model, "messages": list(messages), **arguments}
        if tools:
            body["tools"] = list(tools)
        if response_format is not None:
            body["response_format"] = response_format
        try:
            return json.dumps(body, allow_nan=False).encode()
        except (TypeError, ValueError) as problem:
            raise UsageError(f"A request holds JSON values: {problem}.") from None

    async def _ask(self, body: bytes, progress: "_Progress") -> ChatReply:
        """Attempts until one brings a reply, the last one fails, or the deadline would pass in waiting."""
        ends = asyncio.get_running_loop().time() + self.deadline
        while True:
            left = ends - asyncio.get_running_loop().time()
            progress.attempts += 1
            self.ledger.attempts += 1
            # Connecting gets an equal share of what is left, so that one dead address is not all there is.
            answer = await self._attempt(body, connect=left / (self.retries + 2 - progress.attempts))
            if isinstance(answer, ChatReply):
                return answer
            progress.failure = answer
            if not answer.transient or progress.attempts > self.retries:
                raise self._error(answer.kind, answer.problem, progress)
            wait = max(answer.wait, backoff(zlib.crc32(body), progress.attempts))
            left = ends - asyncio.get_running_loop().time()
            if wait >= left:
                problem = f"{answer.problem}; the next attempt would come after the deadline"
                raise self._error(ChatDeadlineError, problem, progress)
            await asyncio.sleep(wait)

    async def _attempt(self, body: bytes, connect: float) -> "ChatReply | _Failure":
        """Send the request once. What goes wrong is returned: an exception would drag httpx's along."""
        import httpx

        timeout = httpx.Timeout(None, connect=max(connect, 0.001))
        pool = await self._pool()
        try:
            async with (
                pool.connection() as http,
                http.stream("POST", self._url, content=body, timeout=timeout) as response,
            ):
                received = await self._read(response)
        except (httpx.RequestError, OSError) as problem:
            return _Failure(ChatTransportError, f"{type(problem).__name__}: {problem}", None, transient=True)
        status = response.status_code
        if received is None:
            return _Failure(ChatReplyError, f"a reply of more than {self._max_reply_bytes} bytes", status)
        if response.is_success:
            return self._read_success(received, status)
        if overflows_context(status, received):
            raise ContextOverflowError(f"POST {self._path}: {error_text(received)}")
        return _Failure(
            ChatStatusError,
            error_text(received) or "no reason given",
            status,
            transient=is_transient(status) and not is_out_of_quota(received),
            wait=retry_after(response.headers.get("retry-after", ""), response.headers.get("date", "")),
        )

    async def _read(self, response: "httpx.Response") -> bytes | None:
        """The body, without the key wherever the server repeats it; None: it is too long."""
        body = bytearray()
        async for part in response.aiter_raw():
            body += part
            if len(body) > self._max_reply_bytes:
                return None
        if self._key is not None and len(self._key) >= _SHORTEST_KEY:
            body = body.replace(self._key.encode(), b"[api key]")
        return bytes(body)

    def _read_success(self, received: bytes, status: int) -> "ChatReply | _Failure":
        try:
            reply = read_reply(received)
        except UnusableReplyError as problem:
            return _Failure(ChatReplyError, str(problem), status)
        cost = self.prices.of(reply.usage) if self.prices and reply.usage else None
        self.ledger.add(reply.usage, cost)
        return msgspec.structs.replace(reply, cost=cost)

    def _error(self, kind: type[ChatError], problem: str, progress: "_Progress") -> ChatError:
        status = progress.failure.status if progress.failure else None
        return kind(problem, self._path, status, progress.attempts)

    # --- Connections

    async def _pool(self) -> Pool:
        """The connections of the running event loop."""
        loop = asyncio.get_running_loop()
        if loop not in self._pools:
            for closed in [other for other in list(self._pools) if other.is_closed()]:
                self._pools.pop(closed, None)
            pool = self._pools[loop] = Pool(self._connect, self._max_connections)
            await pool.close_with_loop(lambda: self._pools.pop(loop, None))
        return self._pools[loop]

    def _connect(self) -> "httpx.AsyncClient":
        import httpx

        # Nothing is asked to come compressed: so the limit of bytes is one of memory, too.
        headers = {"accept-encoding": "identity", "content-type": "application/json"}
        if self._key is not None:
            headers["authorization"] = f"Bearer {self._key}"
        limits = httpx.Limits(max_connections=1, keepalive_expiry=_KEEP_ALIVE)
        return httpx.AsyncClient(headers=headers, limits=limits, verify=self._tls)


class _Progress(msgspec.Struct):
    """How far a request has come."""

    attempts: int = 0
    failure: _Failure | None = None


def _import_httpx() -> ModuleType:
    try:
        import httpx
    except ModuleNotFoundError:
        raise UsageError("Chat models need httpx: pip install 'tool-envs[llm]'.") from None
    return httpx
